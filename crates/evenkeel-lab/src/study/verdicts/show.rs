//! What was found, as tables, plots and rows.

use super::grid::{Case, DELAY_MS, DELAYS_MS, Grid, JITTER_MS, MOVEMENT_LAGS_MS, VERDICT_LAGS_MS};
use super::range::Tally;
use crate::study::timewarp::Account;
use crate::study::{Exhibit, Row, Series};
use serde_json::{Value, json};

/// A share of wrong verdicts: they are small.
pub(super) fn wrong(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// How a method's wrong share of a case and a verdict lag is looked up.
type Share = fn(&Grid, usize, usize) -> f64;

pub(super) fn states(grid: &Grid, case: usize, verdict_lag: usize) -> f64 {
    let tally = grid.states(case);
    tally.wrong[verdict_lag] / tally.shots
}

pub(super) fn operations(grid: &Grid, case: usize, verdict_lag: usize) -> f64 {
    grid.operations(case, verdict_lag).paradoxes()
}

pub(super) fn exhibits(grid: &Grid) -> Vec<Exhibit> {
    let close = |jitter| MOVEMENT_LAGS_MS.map(|lag| grid.case(DELAY_MS, jitter, lag)).to_vec();
    let (plain, jittered): (Vec<usize>, Vec<usize>) = (close(0.0), close(JITTER_MS));
    let sweep: Vec<usize> = DELAYS_MS.map(|delay| grid.case(delay, 0.0, 0.0)).to_vec();
    let note_states = "A shooter fires at what it sees of a tank, with a hand that hits every other time, and decides so much \
                       later where the tank was when it fired. Share of shots about which it was wrong. A movement shows after \
                       the movement lag, a hit is told the verdict lag after the shot.";
    let note_operations = "Four tanks in an arena, the same operations executed at four hosts. Verdicts announced and revoked \
                           or announced too late, in percent of the true ones. A movement shows after the movement lag, a hit \
                           is told the verdict lag after it happened.";
    let both: [(&str, &str, Share); 2] =
        [("dead reckoning", note_states, states), ("operations and rollback", note_operations, operations)];
    let mut all = Vec::new();
    for (name, note, share) in both {
        all.push(table(format!("Wrong verdicts at 200 ms, {name}"), note, grid, &plain, share));
        all.push(curves(format!("Wrong verdicts at 200 ms by lags, {name}"), grid, &plain, share));
    }
    all.push(waiting(grid));
    for (name, note, share) in both {
        all.push(table(format!("Wrong verdicts at 200 ± 50 ms, {name}"), note, grid, &jittered, share));
        all.push(table(format!("Wrong verdicts by delay, movements do not wait, {name}"), note, grid, &sweep, share));
        all.push(curves(format!("Wrong verdicts by delay, {name}"), grid, &sweep, share));
    }
    all.push(paradoxes(grid));
    all.extend(grid.recorded.as_ref().map(|recorded| recorded_game(grid, recorded, &plain)));
    all
}

/// A row for each case, a column for each verdict lag.
fn table(title: String, note: &str, grid: &Grid, cases: &[usize], share: Share) -> Exhibit {
    let lags = VERDICT_LAGS_MS.map(|lag| format!("{lag} ms"));
    let row = |case: &usize| {
        let shares = (0..VERDICT_LAGS_MS.len()).map(|lag| wrong(share(grid, *case, lag)));
        grid.cases[*case].cells().into_iter().chain(shares).collect()
    };
    Exhibit::Table {
        title,
        note: format!("One column for each verdict lag. {note}"),
        head: ["delay", "movement lag"].map(str::to_owned).into_iter().chain(lags).collect(),
        rows: cases.iter().map(row).collect(),
    }
}

fn curves(title: String, grid: &Grid, cases: &[usize], share: Share) -> Exhibit {
    let series = |case: &usize| {
        let point = |(lag, ms): (usize, f64)| (ms, 100.0 * share(grid, *case, lag));
        let points = VERDICT_LAGS_MS.into_iter().enumerate().map(point).collect();
        Series { name: grid.cases[*case].name(), points }
    };
    Exhibit::Curves {
        title,
        note: "Once movement lag and verdict lag together are as long as the delay, nothing more is to be gained."
            .into(),
        x: "verdict lag (ms)".into(),
        y: "wrong verdicts, %".into(),
        series: cases.iter().map(series).collect(),
    }
}

/// What it costs to be right: three ways to wait.
fn waiting(grid: &Grid) -> Exhibit {
    let ways = [("nothing", 0.0, 0.0), ("everything", 220.0, 0.0), ("verdicts only", 0.0, 220.0)];
    let mixed = [("movements a little, verdicts the rest", 60.0, 150.0), ("both about half", 120.0, 100.0)];
    let row = |(name, movement, verdict): (&str, f64, f64)| {
        let case = grid.case(DELAY_MS, 0.0, movement);
        let lag = VERDICT_LAGS_MS.iter().position(|lag| *lag == verdict).unwrap_or_default();
        vec![
            name.to_owned(),
            format!("{movement} ms"),
            format!("{verdict} ms"),
            wrong(states(grid, case, lag)),
            wrong(operations(grid, case, lag)),
        ]
    };
    Exhibit::Table {
        title: "What waits, and what it buys, at 200 ms".into(),
        note: "Controls respond after the movement lag: that is the response time which players feel.".into(),
        head: ["what waits", "controls respond after", "verdicts wait", "wrong, dead reckoning", "wrong, operations"]
            .map(str::to_owned)
            .to_vec(),
        rows: ways.into_iter().chain(mixed).map(row).collect(),
    }
}

/// What kind of wrong verdicts operations come to, and that nothing is left of them.
fn paradoxes(grid: &Grid) -> Exhibit {
    let row = |case: usize| {
        let account = grid.operations(case, 0);
        let share = |count: f64| wrong(count / account.verdicts);
        let figures = [
            format!("{:.0}", account.verdicts),
            share(account.revoked),
            share(account.untrue),
            share(account.announced_late),
            format!("{:.0}", account.unhealed),
        ];
        grid.cases[case].cells().into_iter().chain(figures).collect()
    };
    Exhibit::Table {
        title: "Operations: what was announced at once, and what became of it".into(),
        note: "Verdicts added up over hosts, without a verdict lag. Untrue are those revoked that held at no other tick either; \
               most wrong verdicts are hits that a host learnt of too late. Wrong in the end are those that differ from the \
               game executed in order, once all operations are in."
            .into(),
        head: ["delay", "movement lag", "verdicts", "revoked", "of these untrue", "told late", "wrong in the end"]
            .map(str::to_owned)
            .to_vec(),
        rows: (0..grid.cases.len()).map(row).collect(),
    }
}

/// The same operations in the same order every time, whatever the seed.
fn recorded_game(grid: &Grid, recorded: &[Vec<Account>], cases: &[usize]) -> Exhibit {
    let lags = VERDICT_LAGS_MS.map(|lag| format!("{lag} ms"));
    let row = |case: &usize| {
        let shares = recorded[*case].iter().map(|account| wrong(account.paradoxes()));
        grid.cases[*case].cells().into_iter().chain(shares).collect()
    };
    let verdicts = cases.first().and_then(|case| recorded[*case].first()).map_or(0.0, |account| account.verdicts);
    Exhibit::Table {
        title: "Wrong verdicts at 200 ms, the recorded game arena-four".into(),
        note: format!("One column for each verdict lag. One minute of four tanks, {verdicts} verdicts over all hosts."),
        head: ["delay", "movement lag"].map(str::to_owned).into_iter().chain(lags).collect(),
        rows: cases.iter().map(row).collect(),
    }
}

/// The figures for programs.
pub(super) fn rows(grid: &Grid) -> Vec<Row> {
    let mut rows = Vec::new();
    for (n, case) in grid.cases.iter().enumerate() {
        let tally = grid.states(n);
        rows.extend((0..VERDICT_LAGS_MS.len()).map(|lag| state_row(case, lag, &tally)));
        let of = |lag| operation_row("bots", case, lag, &grid.operations(n, lag));
        rows.extend((0..VERDICT_LAGS_MS.len()).map(of));
        if let Some(recorded) = &grid.recorded {
            let of = |(lag, account)| operation_row("arena-four", case, lag, account);
            rows.extend(recorded[n].iter().enumerate().map(of));
        }
    }
    rows
}

fn row(method: &str, case: &Case, verdict_lag: usize, more: Value) -> Row {
    let common = json!({
        "method": method,
        "delay_ms": case.delay_ms,
        "jitter_ms": case.jitter_ms,
        "movement_lag_ms": case.movement_lag_ms,
        "verdict_lag_ms": VERDICT_LAGS_MS[verdict_lag],
        "movement_response_ms": case.movement_lag_ms,
    });
    [common, more].into_iter().filter_map(|value| value.as_object().cloned()).flatten().collect()
}

fn state_row(case: &Case, verdict_lag: usize, tally: &Tally) -> Row {
    let wrong = tally.wrong[verdict_lag];
    let more = json!({
        "game": "tank",
        "shots": tally.shots,
        "hit_share": tally.hits / tally.shots,
        "wrong": wrong,
        "wrong_share": wrong / tally.shots,
    });
    row("states", case, verdict_lag, more)
}

fn operation_row(game: &str, case: &Case, verdict_lag: usize, account: &Account) -> Row {
    let more = json!({
        "game": game,
        "verdicts": account.verdicts,
        "announced": account.announced,
        "revoked": account.revoked,
        "untrue": account.untrue,
        "announced_late": account.announced_late,
        "wrong": account.revoked + account.announced_late,
        "wrong_share": account.paradoxes(),
        "wrong_after_healing": account.unhealed,
        "hosts": account.hosts,
        "hosts_in_another_state_at_the_end": account.ended_elsewhere,
    });
    row("operations", case, verdict_lag, more)
}
