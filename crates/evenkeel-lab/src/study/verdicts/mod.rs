//! How often is a hit decided wrongly, by how long movement and verdicts wait?
//!
//! Two ways to share a game are put to the same question. With dead reckoning, a shooter decides about its shot by what it
//! knows of the target, at once or some time later; what is true is where the target really was. With operations, every host
//! executes the game and rolls back for what comes late; what is true is the game executed in order.

mod claims;
mod findings;
mod grid;
mod range;
mod show;

use super::measure::settings_of;
use super::{Brief, Entry, Study, Watch};
use anyhow::Result;
use grid::{DELAY_MS, DELAYS_MS, Grid, JITTER_MS, MOVEMENT_LAGS_MS, VERDICT_LAGS_MS, fight_seconds};
use show::{operations, states, wrong};

pub(super) const ENTRY: Entry = Entry {
    name: "verdicts",
    question: "How often is a hit decided wrongly, by how long movement and verdicts wait?",
    reproduces: "managing latency and fairness: different parameters for different actions",
    needs: &[],
    run,
};

/// Runs it.
fn run(brief: &Brief, watch: &Watch<'_>) -> Result<Study> {
    let grid = Grid::run(brief, watch)?;
    let list = |ms: &[f64]| ms.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
    let recorded = if grid.recorded.is_some() { "operations/arena-four.csv" } else { "not found, left out" };
    let settings = [
        ("delays_ms", list(&DELAYS_MS)),
        ("jitter_ms", list(&[0.0, JITTER_MS])),
        ("movement_lags_ms", list(&MOVEMENT_LAGS_MS)),
        ("verdict_lags_ms", list(&VERDICT_LAGS_MS)),
        ("target_m", "2.8 x 6".into()),
        ("arena_seconds", fight_seconds(brief.size.seconds).to_string()),
        ("recorded_game", recorded.into()),
    ];
    Ok(Study {
        name: "verdicts",
        settings: settings_of(brief.size, &settings),
        summary: summary(&grid),
        exhibits: show::exhibits(&grid),
        findings: findings::findings(&grid),
        rows: show::rows(&grid),
        simulated_seconds: grid.simulated_seconds(brief.size.seconds),
    })
}

fn summary(grid: &Grid) -> String {
    let (at_once, lagged) = (grid.case(DELAY_MS, 0.0, 0.0), grid.case(DELAY_MS, 0.0, 220.0));
    let late = VERDICT_LAGS_MS.iter().position(|lag| *lag == 220.0).unwrap_or_default();
    let healed: f64 = (0..grid.cases.len()).map(|case| grid.operations(case, 0).unhealed).sum();
    format!(
        "At a delay of 200 ms, if nothing waits, {} of shots are decided wrongly with dead reckoning, and {} of verdicts are \
         announced wrongly or too late with operations. If only verdicts wait, 220 ms, it is {} and {}, and controls respond at \
         once; if everything waits 220 ms, {} and {}. After rolling back for the last late operation, {} verdicts are wrong at \
         any host.",
        wrong(states(grid, at_once, 0)),
        wrong(operations(grid, at_once, 0)),
        wrong(states(grid, at_once, late)),
        wrong(operations(grid, at_once, late)),
        wrong(states(grid, lagged, 0)),
        wrong(operations(grid, lagged, 0)),
        if healed == 0.0 { "no".to_owned() } else { format!("{healed}") },
    )
}
