//! What was found, as tables, plots and rows.

use super::account::Account;
use super::grid::{Cell, DELAYS_MS, Grid, HALF, HISTORIES_MS, MORE, NONE, SHARES, SPIKES, WHOLE, Which};
use super::states::{Kind, Shown, kinds};
use crate::study::measure::{percent, text};
use crate::study::{Exhibit, Row, Series};
use serde_json::{Value, json};

pub(super) fn exhibits(grid: &Grid, states: &[Vec<Shown>]) -> Vec<Exhibit> {
    let mut all = Vec::new();
    for game in Which::ALL {
        all.extend([costs(grid, game), sights(grid, game)]);
        all.push(curves(grid, game, "Rollbacks", "rollbacks per second and host", |a| a.per_second(a.rollbacks)));
        all.push(curves(grid, game, "Ticks executed again", "ticks again, % of ticks", |a| 100.0 * a.replay_share()));
        all.push(curves(grid, game, "Inconsistency", "time in another state, %", |a| 100.0 * a.time_apart()));
        all.push(curves(grid, game, "Paradoxes", "paradoxes, % of true verdicts", |a| 100.0 * a.paradoxes()));
    }
    all.extend([against_states(grid, states), histories(grid)]);
    all
}

/// A whole number.
fn count(value: f64) -> String {
    format!("{value:.0}")
}

fn heads<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}

/// How the network of these tables is.
const NETWORK: &str =
    "The delay varies by a quarter either way, and one packet in fifty is held back by half of it more.";

/// A row for each delay and some of the lags.
fn by_lag(title: String, note: String, head: &[&str], grid: &Grid, game: Which, of: Cells) -> Exhibit {
    let row = |(delay, share): (f64, usize)| {
        let cell = grid.cell(game, delay, true, share);
        let names = [format!("{delay} ms"), format!("{} ms", grid.cells[cell].lag().as_millis())];
        names.into_iter().chain(of(&grid.all(cell))).collect()
    };
    let shares = [NONE, HALF, WHOLE, MORE];
    let rows = DELAYS_MS.into_iter().flat_map(|delay| shares.map(|share| (delay, share))).map(row).collect();
    Exhibit::Table {
        title,
        note,
        head: ["delay", "lag"].iter().chain(head).map(|&name| name.to_owned()).collect(),
        rows,
    }
}

type Cells = fn(&Account) -> [String; 5];

/// What late operations cost a host.
fn costs(grid: &Grid, game: Which) -> Exhibit {
    let title = format!("What late operations cost a host, {}", game.name());
    let note = format!(
        "{NETWORK} Late: of others' operations. Depth: ticks of a rollback, on average and at most. Ticks again: executed again, \
         of those executed."
    );
    by_lag(title, note, &["late", "rollbacks/s", "depth", "deepest", "ticks again"], grid, game, |account| {
        [
            percent(account.late_share()),
            text(account.per_second(account.rollbacks)),
            text(account.depth()),
            count(account.deepest),
            percent(account.replay_share()),
        ]
    })
}

/// Why some corrections are longer than any way that a tank can go in a delay.
const RETURNS: &str =
    " The farthest are tanks that come back into the game: where they do depends on where the others are.";

/// What its player sees of them.
fn sights(grid: &Grid, game: Which) -> Exhibit {
    let title = format!("What a player sees of late operations, {}", game.name());
    let unit = game.unit();
    let note = format!(
        "{NETWORK} Corrections: crafts moved by a rollback, how far on average and at most. Time apart: in which the state was \
         not the true one. Paradoxes: verdicts revoked or told late, of the true ones.{}",
        if game == Which::Arena { RETURNS } else { "" },
    );
    let (mean, most) = (format!("mean, {unit}"), format!("most, {unit}"));
    by_lag(title, note, &["corrections/s", &mean, &most, "time apart", "paradoxes"], grid, game, |account| {
        [
            text(account.per_second(account.corrections)),
            text(account.correction()),
            text(account.farthest),
            percent(account.time_apart()),
            percent(account.paradoxes()),
        ]
    })
}

/// Something over the lag, a curve for each delay.
fn curves(grid: &Grid, game: Which, what: &str, y: &str, of: fn(&Account) -> f64) -> Exhibit {
    let series = |delay: f64| {
        let point = |share: usize| {
            let cell = grid.cell(game, delay, true, share);
            (grid.cells[cell].lag().as_millis() as f64, of(&grid.all(cell)))
        };
        Series { name: format!("{delay} ms"), points: (0..SHARES.len()).map(point).collect() }
    };
    Exhibit::Curves {
        title: format!("{what} by local lag, {}", game.name()),
        note: "One curve for each delay, which varies by a quarter either way.".into(),
        x: "local lag (ms)".into(),
        y: y.into(),
        series: DELAYS_MS.map(series).to_vec(),
    }
}

fn mean_of(states: &[Vec<Shown>], kind: usize, of: fn(&Shown) -> f64) -> f64 {
    states.iter().map(|seed| of(&seed[kind])).sum::<f64>() / states.len() as f64
}

/// Operations against states, with a lag of a quarter of the delay and with one of the delay.
fn against_states(grid: &Grid, states: &[Vec<Shown>]) -> Exhibit {
    let row = |(n, kind): (usize, &Kind)| {
        let game = if kind.motion.name() == "spaceship" { Which::Spaceship } else { Which::Arena };
        let share = SHARES.iter().position(|share| *share == kind.share).unwrap_or_default();
        let account = grid.all(grid.cell(game, kind.delay_ms, false, share));
        vec![
            game.name().to_owned(),
            format!("{} ms", kind.delay_ms),
            format!("{} ms", kind.delay_ms * kind.share),
            text(account.per_second(account.rollbacks)),
            percent(account.replay_share()),
            text(mean_of(states, n, |shown| shown.vectors)),
            format!("{} {}", text(mean_of(states, n, |shown| shown.off)), game.unit()),
        ]
    };
    Exhibit::Table {
        title: "A short lag with operations and with states".into(),
        note: "Without jitter. Left, operations: rollbacks of a host per second, and the ticks it executes again; its lag is that \
               of the nearest tick of 20 ms. Right, states: vectors that a receiver of dead reckoning with local lag takes in per \
               second, and how far off it shows a craft on average. The motions are alike, but not the same."
            .into(),
        head: heads([
            "game",
            "delay",
            "lag",
            "rollbacks/s",
            "ticks again",
            "vectors/s",
            "off, mean",
        ]),
        rows: kinds().iter().enumerate().map(row).collect(),
    }
}

/// What becomes of operations from before the history.
fn histories(grid: &Grid) -> Exhibit {
    let row = |(n, history): (usize, i64)| {
        let account = grid.history(n);
        vec![
            format!("{history} ms"),
            count(account.refused),
            percent(account.refused / account.foreign),
            count(account.deepest),
            format!("{:.0} of {:.0}", account.ended_elsewhere, account.hosts),
            count(account.unhealed),
            count(account.verdicts),
            format!("{:.1} kB", account.saved_bytes / 1e3),
        ]
    };
    Exhibit::Table {
        title: "Operations from before the history, arena".into(),
        note: "Operations usually take 100 ms, and one in fifty 700 ms more. What is older than the history is refused and \
               counted, and the host stays wrong to the end: a history must reach back as far as operations may be late, or somebody must \
               overrule. Verdicts wrong: missing or too many in the end. Memory: the states that one host has saved, of four tanks each."
            .into(),
        head: heads([
            "history",
            "refused",
            "share",
            "deepest",
            "hosts wrong at the end",
            "verdicts wrong",
            "true ones",
            "memory",
        ]),
        rows: HISTORIES_MS.into_iter().enumerate().map(row).collect(),
    }
}

/// The figures for programs.
pub(super) fn rows(grid: &Grid, states: &[Vec<Shown>]) -> Vec<Row> {
    let cells = grid.cells.iter().enumerate().map(|(n, cell)| cell_row(cell, &grid.all(n)));
    let kinds = kinds();
    let states = kinds.iter().enumerate().map(|(n, kind)| state_row(kind, n, states));
    let histories = HISTORIES_MS.into_iter().enumerate().map(|(n, history)| {
        let about = json!({ "game": "arena", "network": SPIKES, "lag_ms": 0.0, "history_ms": history });
        merged([about, figures(&grid.history(n))])
    });
    cells.chain(states).chain(histories).collect()
}

fn merged<const N: usize>(parts: [Value; N]) -> Row {
    parts.into_iter().filter_map(|part| part.as_object().cloned()).flatten().collect()
}

fn cell_row(cell: &Cell, account: &Account) -> Row {
    let about = json!({
        "game": cell.game.name(),
        "network": cell.network().to_string(),
        "delay_ms": cell.delay_ms,
        "jittery": cell.jittery,
        "lag_ms": cell.lag().as_secs_f64() * 1e3,
        "lag_per_delay": SHARES[cell.share],
        "history_ms": 1000,
    });
    merged([about, figures(account)])
}

/// What is known of operations, whatever was asked.
fn figures(account: &Account) -> Value {
    json!({
        "method": "timewarp",
        "operations": account.foreign,
        "late_share": account.late_share(),
        "refused_before_history": account.refused,
        "rollbacks_per_second": account.per_second(account.rollbacks),
        "depth_mean_ticks": account.depth(),
        "depth_max_ticks": account.deepest,
        "replayed_share": account.replay_share(),
        "corrections_per_second": account.per_second(account.corrections),
        "correction_mean": account.correction(),
        "correction_max": account.farthest,
        "time_apart_share": account.time_apart(),
        "verdicts": account.verdicts,
        "revoked": account.revoked,
        "announced_late": account.announced_late,
        "paradox_share": account.paradoxes(),
        "wrong_after_healing": account.unhealed,
        "hosts": account.hosts,
        "hosts_in_another_state_at_the_end": account.ended_elsewhere,
        "history_bytes": account.saved_bytes,
    })
}

fn state_row(kind: &Kind, n: usize, states: &[Vec<Shown>]) -> Row {
    merged([json!({
        "method": "gs-dr-ll",
        "game": kind.motion.name(),
        "delay_ms": kind.delay_ms,
        "jittery": false,
        "lag_ms": kind.delay_ms * kind.share,
        "lag_per_delay": kind.share,
        "vectors_per_second": mean_of(states, n, |shown| shown.vectors),
        "mean_distance_off": mean_of(states, n, |shown| shown.off),
    })])
}
