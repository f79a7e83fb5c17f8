//! What there is to look at: tables, plots, rows.

use super::case::{Case, JITTER_MS, MAPS, SHARES, Twist};
use super::gauge::Take;
use super::{Cell, Cells};
use crate::study::measure::{cells as texts, percent, text};
use crate::study::{Exhibit, Row, Series};
use serde_json::json;

impl Cell {
    /// The average over seeds.
    fn mean(&self, of: impl Fn(&Take) -> f64) -> f64 {
        self.takes.iter().map(of).sum::<f64>() / self.takes.len() as f64
    }

    fn lag_ms(&self) -> f64 {
        1e3 * self.case.lag().as_secs_f64()
    }

    fn healed(&self) -> bool {
        self.takes.iter().all(|take| take.healed == 1.0)
    }

    fn line(&self) -> Vec<String> {
        vec![
            format!("{}, {}", self.case.map.servers, self.case.map.delay_ms),
            self.case.name(),
            format!("{:.0}", self.lag_ms()),
            format!("{:.0} ± {:.0}", self.mean(Take::response), self.mean(Take::response_std)),
            format!("{:.0}", self.mean(Take::critical_response)),
            text(self.mean(Take::paradoxes_per_minute)),
            percent(self.mean(Take::paradox_share)),
            text(self.mean(Take::rollbacks_per_s)),
            text(self.mean(Take::depth)),
            percent(self.mean(|take| take.inconsistent_share)),
            text(self.mean(|take| take.inconsistency)),
        ]
    }
}

const NOTE: &str = "Averages over seeds. Servers: how many, and the longest delay between them in ms, one way. Lag in ms. Response: the \
                    time from an operation to its result on the player's terminal in ms, mean and standard deviation over \
                    players; worst: the worst-off player's. Paradoxes per minute and their share of verdicts, rollbacks per \
                    second and their depth in ticks of 20 ms: at each server. Apart: share of ticks at which servers have \
                    different states; the last column is the mean distance between the same craft at two servers at the same \
                    tick. What players do is recorded: it does not depend on what they see.";

/// One line for each cell. What is the same for all is said in the note.
fn table(title: &str, note: &str, length: &str, cells: &[&Cell]) -> Exhibit {
    let healed = cells.iter().filter(|cell| cell.healed()).count();
    let healed = if healed == cells.len() { "all lines".into() } else { format!("{healed} of {} lines", cells.len()) };
    let head =
        ["servers", "sync", "lag", "response", "worst", "paradoxes", "share", "rollbacks", "depth", "apart", length];
    Exhibit::Table {
        title: title.into(),
        note: format!(
            "{note} Healed, that is all servers ended with exactly the states and verdicts of all operations executed in order, \
             in every seed: {healed}."
        ),
        head: texts(head),
        rows: cells.iter().map(|cell| cell.line()).collect(),
    }
}

pub(super) fn exhibits(tanks: &Cells, ships: &Cells) -> Vec<Exhibit> {
    let with = |jitter_ms: f64| -> Vec<&Cell> {
        let usual = tanks.0.iter().filter(|cell| cell.case.twist == Twist::None);
        usual.filter(|cell| cell.case.map.jitter_ms == jitter_ms).collect()
    };
    let ships: Vec<&Cell> = ships.0.iter().collect();
    let shaken = format!("Servers of an arena, ±{JITTER_MS} ms between regions");
    vec![
        table("Servers of an arena, no jitter", NOTE, "metres", &with(0.0)),
        table(
            &shaken,
            "As above. \"+ jitter\": the lag is for the longest delay that occurs.",
            "metres",
            &with(JITTER_MS),
        ),
        trade_off(tanks),
        apart(tanks),
        table("Servers of spaceships, no jitter", "As above, in pixels.", "pixels", &ships),
        mishaps(tanks),
    ]
}

/// A curve for each map, over all lags.
fn curves(tanks: &Cells, jitters: &[f64], point: impl Fn(&Cell) -> (f64, f64)) -> Vec<Series> {
    let keys = jitters.iter().flat_map(|jitter| MAPS.map(|(servers, delay)| (servers, delay, *jitter)));
    let one = |(servers, delay, jitter): (usize, f64, f64)| {
        let jittery = if jitter > 0.0 { format!(", ±{jitter} ms") } else { String::new() };
        let cells = SHARES.map(|share| tanks.cell(&Case::mirrors(servers, delay, jitter, share)));
        Series { name: format!("{servers} servers, {delay} ms{jittery}"), points: cells.map(&point).to_vec() }
    };
    keys.map(one).collect()
}

fn trade_off(tanks: &Cells) -> Exhibit {
    let central = [40.0, 80.0, 120.0].map(|delay| tanks.cell(&Case::central(delay, 0.0)).mean(Take::response));
    let [near, mid, far] = central.map(|ms| format!("{ms:.0}"));
    Exhibit::Curves {
        title: "Response against paradoxes".into(),
        note: format!(
            "From left to right: no lag, a quarter, a half, three quarters and all of the longest delay between servers. No \
             jitter. A central server has no paradoxes, and responds in {near}, {mid} and {far} ms where the longest delay is \
             40, 80 and 120 ms."
        ),
        x: "mean response time (ms)".into(),
        y: "paradoxes per minute and server".into(),
        series: curves(tanks, &[0.0], |cell| (cell.mean(Take::response), cell.mean(Take::paradoxes_per_minute))),
    }
}

fn apart(tanks: &Cells) -> Exhibit {
    Exhibit::Curves {
        title: "Time apart against lag".into(),
        note: "Share of ticks at which servers have different states. With jitter, the longest delay is not enough."
            .into(),
        x: "lag (ms)".into(),
        y: "time apart (%)".into(),
        series: curves(tanks, &[0.0, JITTER_MS], |cell| {
            (cell.lag_ms(), 100.0 * cell.mean(|take| take.inconsistent_share))
        }),
    }
}

fn mishaps(tanks: &Cells) -> Exhibit {
    let row = |(name, cell): (&str, &Cell)| {
        let states = cell.takes.iter().all(|take| take.healed_states == 1.0);
        vec![
            name.to_owned(),
            text(cell.mean(|take| take.missed)),
            text(cell.mean(|take| take.briefings)),
            if cell.mean(|take| take.briefings) > 0.0 { text(cell.mean(|take| take.apart_s)) } else { "–".into() },
            percent(cell.mean(|take| take.inconsistent_share)),
            text(cell.mean(|take| take.inconsistency)),
            if states { "yes" } else { "no" }.into(),
            if cell.healed() { "yes" } else { "no" }.into(),
        ]
    };
    let cases = [
        ("nothing unusual", Case::mirrors(3, 80.0, 0.0, 0.0)),
        ("late is refused", Case::twisted(Twist::NoRollback)),
        ("a spike of 1.5 s", Case::twisted(Twist::Spike)),
    ];
    Exhibit::Table {
        title: "What cannot be rolled back".into(),
        note: "Three optimistic servers, 80 ms, a history of 1 s. In the second line late operations are refused rather than \
               rolled back for. In the last packets from one server to another are held \
               up for longer than the history, once for a second: the server that misses operations says so, asks for a \
               briefing and takes it, so many seconds after the first operation that it missed. That mends its states from then on; verdicts that it missed meanwhile stay missed."
            .into(),
        head: texts(["", "missed", "briefings", "seconds until", "apart", "metres", "states healed", "verdicts too"]),
        rows: cases.iter().map(|(name, case)| row((name, tanks.cell(case)))).collect(),
    }
}

/// For programs.
pub(super) fn rows(game: &str, cells: &Cells) -> Vec<Row> {
    let row = |cell: &Cell| {
        let (case, mean) = (&cell.case, |of: fn(&Take) -> f64| cell.mean(of));
        let twist = match case.twist {
            Twist::None => "none",
            Twist::NoRollback => "no rollback",
            Twist::Spike => "spike",
        };
        let row = json!({
            "game": game,
            "servers": case.map.servers,
            "synchronisation": case.name(),
            "twist": twist,
            "lag_ms": cell.lag_ms(),
            "delay_ms": case.map.delay_ms,
            "jitter_ms": case.map.jitter_ms,
            "response_ms": mean(Take::response),
            "response_std_ms": mean(Take::response_std),
            "response_max_ms": mean(Take::critical_response),
            "paradoxes_per_minute": mean(Take::paradoxes_per_minute),
            "paradox_share": mean(Take::paradox_share),
            "rollbacks_per_s": mean(Take::rollbacks_per_s),
            "depth_mean_ticks": mean(Take::depth),
            "inconsistency_mean_m": mean(|take| take.inconsistency),
            "inconsistent_share": mean(|take| take.inconsistent_share),
            "missed_operations": mean(|take| take.missed),
            "briefings": mean(|take| take.briefings),
            "healed": cell.healed(),
            "healed_states": cell.takes.iter().all(|take| take.healed_states == 1.0),
        });
        row.as_object().cloned().unwrap_or_default()
    };
    cells.0.iter().map(row).collect()
}

pub(super) fn summary(tanks: &Cells) -> String {
    let cell = |share: f64| tanks.cell(&Case::mirrors(4, 80.0, 0.0, share));
    let central = tanks.cell(&Case::central(80.0, 0.0));
    let response = |cell: &Cell| format!("{:.0}", cell.mean(Take::response));
    let worst = |cell: &Cell| format!("{:.0}", cell.mean(Take::critical_response));
    let (none, half, all) = (cell(0.0), cell(0.5), cell(1.0));
    format!(
        "With regions up to 80 ms apart, a central server responds in {} ms ({} ms to the worst-off player). Four mirrors without \
         lag respond in {} ({}) ms, and {} of their verdicts are paradoxes; with half the longest delay as lag {} ({}) ms and {}; \
         with all of it {} ({}) ms and none. Whatever the lag, rolling back leaves every mirror with exactly the states and \
         verdicts of the operations in order.",
        response(central),
        worst(central),
        response(none),
        worst(none),
        percent(none.mean(Take::paradox_share)),
        response(half),
        worst(half),
        percent(half.mean(Take::paradox_share)),
        response(all),
        worst(all),
    )
}
