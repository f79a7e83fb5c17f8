//! What do late operations cost when they are executed after all?
//!
//! Bots play the spaceship game and the tank arena. Every player's host executes the operations of all, rolls back for those
//! that come late, and is compared with the game executed in order. Dead reckoning with local lag, which transmits states and
//! never rolls back, is asked the same.

mod account;
mod claims;
mod copies;
mod findings;
mod grid;
mod show;
mod sites;
mod states;

pub(super) use account::Account;
pub(super) use sites::{Terms, Truth};

use super::measure::{percent, settings_of, text};
use super::{Brief, Entry, Study, Watch};
use anyhow::Result;
use grid::{DELAYS_MS, Grid, HALF, JITTER, MORE, NONE, SPIKES, Which, game_seconds};

pub(super) const ENTRY: Entry = Entry {
    name: "timewarp",
    question: "What do late operations cost when they are executed after all?",
    reproduces: "managing latency and fairness: roll back; local lag against the number and depth of roll backs",
    needs: &[],
    run,
};

/// Runs it.
fn run(brief: &Brief, watch: &Watch<'_>) -> Result<Study> {
    let size = brief.size;
    let grid = Grid::run(size, watch)?;
    // States need less: there are no rare verdicts to count.
    let states_seconds = game_seconds(size.seconds) / 2.0;
    let states = states::find(size, states_seconds, watch)?;
    let states_simulated = states_seconds * (states.len() * states::kinds().len()) as f64;
    let settings = [
        ("games", "spaceship (2 players), arena (4 players), 50 ticks a second".into()),
        ("delays_ms", DELAYS_MS.map(|ms| ms.to_string()).join(", ")),
        ("jitter", format!("none, and ±{} of the delay with 2 % held back by half of it", percent(JITTER))),
        ("spikes", SPIKES.into()),
        ("game_seconds", game_seconds(size.seconds).to_string()),
    ];
    Ok(Study {
        name: "timewarp",
        settings: settings_of(size, &settings),
        summary: summary(&grid),
        exhibits: show::exhibits(&grid, &states),
        findings: findings::findings(&grid, &states),
        rows: show::rows(&grid, &states),
        simulated_seconds: grid.simulated_seconds() + states_simulated,
    })
}

fn summary(grid: &Grid) -> String {
    let at = |share: usize| grid.all(grid.cell(Which::Arena, 200.0, true, share));
    let (none, half, more) = (at(NONE), at(HALF), at(MORE));
    let unhealed: f64 = (0..grid.cells.len()).map(|cell| grid.all(cell).unhealed).sum();
    format!(
        "In an arena of four at 200 ms and without lag, a host rolls back {} times a second, {} ticks deep, executes {} of its \
         ticks again, and {} of verdicts are revoked or told late. A lag of half the delay makes that {} of ticks and {} of \
         verdicts, one of one and a half times the delay {} and {}. Wherever the history reached back as far as operations were \
         late, {} verdicts were wrong in the end.",
        text(none.per_second(none.rollbacks)),
        text(none.depth()),
        percent(none.replay_share()),
        percent(none.paradoxes()),
        percent(half.replay_share()),
        percent(half.paradoxes()),
        percent(more.replay_share()),
        percent(more.paradoxes()),
        if unhealed == 0.0 { "no".to_owned() } else { text(unhealed) },
    )
}
