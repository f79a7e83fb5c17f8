//! What came of it: a table, and JSON for programs.

use super::player::Player;
use super::tally::Tally;
use serde_json::{Map, Value, json};

/// The version of the JSON.
const VERSION: u32 = 1;

/// Errors and more, as a table.
pub(super) fn table(players: &[Player]) -> String {
    let head = ["player", "mean m", "p99 m", "max m", "export m", "vectors", "sent", "bytes", "clock ms", "delay ms"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(players.iter().map(row));
    if players.len() > 1 {
        rows.push(total(players));
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate();
        let cell = |(n, (text, width)): (usize, (&String, &usize))| match n {
            0 => format!(" {text:<width$}"),
            _ => format!("  {text:>width$}"),
        };
        cells.map(cell).collect::<String>() + "\n"
    };
    let unknown: u64 = players.iter().map(|player| player.seen.entities.1).sum();
    let note = match unknown {
        0 => String::new(),
        n => format!(" Of {n} entities nobody says how they move: how far off those are is not known.\n"),
    };
    rows.iter().map(line).collect::<String>() + &note
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "–".into(), |value| format!("{value:.digits$}"))
}

fn errors(real: &Tally, export: &Tally) -> [String; 4] {
    [number(real.mean(), 3), number(real.quantile(0.99), 3), number(real.max(), 3), number(export.mean(), 3)]
}

fn row(player: &Player) -> Vec<String> {
    let standing = &player.standing;
    let mut row = vec![player.name.clone()];
    row.extend(errors(&player.seen.real, &player.seen.export));
    row.extend([player.seen.vectors, standing.sent.0, standing.sent.1].map(|count| count.to_string()));
    row.extend([number(standing.uncertainty_ms, 2), number(standing.delay_ms, 1)]);
    row
}

fn together(players: &[Player]) -> (Tally, Tally) {
    let (mut real, mut export) = (Tally::default(), Tally::default());
    for player in players {
        real.merge(&player.seen.real);
        export.merge(&player.seen.export);
    }
    (real, export)
}

fn total(players: &[Player]) -> Vec<String> {
    let (real, export) = together(players);
    let sum = |of: fn(&Player) -> u64| players.iter().map(of).sum::<u64>().to_string();
    let most = |of: fn(&Player) -> Option<f64>| players.iter().filter_map(of).fold(None, larger);
    let mut row = vec!["all".to_owned()];
    row.extend(errors(&real, &export));
    row.extend([sum(|p| p.seen.vectors), sum(|p| p.standing.sent.0), sum(|p| p.standing.sent.1)]);
    row.extend([number(most(|p| p.standing.uncertainty_ms), 2), number(most(|p| p.standing.delay_ms), 1)]);
    row
}

fn larger(most: Option<f64>, value: f64) -> Option<f64> {
    Some(most.map_or(value, |most: f64| most.max(value)))
}

/// Everything, for programs. `rows` has one entry per player.
pub(super) fn json(url: &str, rate: f64, players: &[Player]) -> Value {
    let rows: Vec<Value> = players.iter().map(|player| Value::Object(entry(player, rate))).collect();
    let (real, export) = together(players);
    json!({
        "version": VERSION,
        "program": concat!("evenkeel ", env!("CARGO_PKG_VERSION")),
        "url": url,
        "rows": rows,
        "all": { "real_m": distances(&real), "export_m": distances(&export) },
    })
}

fn distances(tally: &Tally) -> Value {
    json!({ "mean": tally.mean(), "p99": tally.quantile(0.99), "max": tally.max(), "samples": tally.count() })
}

fn entry(player: &Player, rate: f64) -> Map<String, Value> {
    let (seen, standing) = (&player.seen, &player.standing);
    let mut entry = Map::new();
    let mut put = |name: &str, value: Value| entry.insert(name.into(), value);
    put("player", json!(player.name));
    put("host", json!(standing.host));
    put("real_m", distances(&seen.real));
    put("export_m", distances(&seen.export));
    put("shown_s", json!(seen.real.count() as f64 / rate));
    put("entities", json!(seen.entities.0));
    put("entities_unknown", json!(seen.entities.1));
    put("vectors_seen", json!(seen.vectors));
    put("vectors_sent", json!(standing.sent.0));
    put("bytes_sent", json!(standing.sent.1));
    put("datagrams_sent", json!(standing.datagrams.0));
    put("datagrams_received", json!(standing.datagrams.1));
    put("clock_uncertainty_ms", json!(standing.uncertainty_ms));
    put("delay_ms", json!(standing.delay_ms));
    put("round_trip_ms", json!(standing.round_trip_ms));
    put("connections_lost", json!(player.lost));
    put("looks_interrupted", json!(seen.interrupted));
    if let Some(pairs) = &seen.clock {
        put("clock_unix_ns_session_ns", json!(pairs));
    }
    entry
}
