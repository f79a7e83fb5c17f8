//! How soon does one see what one does, and how often is it taken back?

mod case;
mod claims;
mod echo;
mod findings;
mod gauge;
mod play;
mod show;

use super::measure::{over, settings_of};
use super::{Brief, Entry, Study, Watch};
use anyhow::Result;
use case::Case;
use echo::{ECHO_LAGS_MS, Echo, echo};
use evenkeel::Duration;
use evenkeel_games::operations::record;
use evenkeel_games::{Arena, Recording, Setup, TankPilot, arena};
use gauge::Take;

pub(super) const ENTRY: Entry = Entry {
    name: "prediction",
    question: "How soon does one see what one does, and how often is it taken back?",
    reproduces: "managing latency and fairness: client-side prediction and revocation",
    needs: &[],
    run,
};

/// A game is this much shorter than a run of a synthetic motion: every state from the authority is a replay.
const SHORTER: f64 = 3.0;
const PLAYERS: u32 = 8;
/// Half the side of the arena: small, so that much happens to the player.
const HALF_SIDE_M: u16 = 80;
/// All delays and lags are whole steps: recorded operations then come to the same game with every lag.
const STEP: Duration = Duration::from_millis(25);

/// What came of a case, by seed.
struct Cell {
    case: Case,
    takes: Vec<Take>,
}

/// What came of a case that was run.
fn takes(cells: &[Cell], case: Case) -> &[Take] {
    let cell = cells.iter().find(|cell| cell.case == case);
    &cell.expect("every case that is asked for is run").takes
}

/// Runs it.
fn run(brief: &Brief, watch: &Watch<'_>) -> Result<Study> {
    let size = brief.size;
    let seconds = size.seconds / SHORTER;
    let seeds: Vec<u64> = size.each_seed().collect();
    let games = over(&seeds, watch, |seed| game(*seed, seconds))?;
    let cases = case::all();
    let keys: Vec<(Case, usize)> = cases.iter().flat_map(|case| (0..seeds.len()).map(|n| (*case, n))).collect();
    let takes = over(&keys, watch, |(case, n)| play::play(&games[*n], case, seeds[*n]))?;
    let by_case = takes.chunks(seeds.len()).zip(&cases);
    let cells: Vec<Cell> = by_case.map(|(takes, case)| Cell { case: *case, takes: takes.to_vec() }).collect();
    let echoes = over(&games, watch, |game| ECHO_LAGS_MS.iter().map(|lag_ms| echo(game, *lag_ms)).collect())?;
    Ok(study(brief, seconds, &cells, &echoes))
}

fn game(seed: u64, seconds: f64) -> Result<Recording<Arena>> {
    let rules = arena::Rules { half_side: HALF_SIDE_M, step_length: STEP, ..arena::Rules::default() };
    let ticks = (seconds / rules.step_length.as_secs_f64()).round() as u32;
    Ok(record::<Arena, TankPilot>(Setup { rules, players: PLAYERS, seed, ticks })?)
}

fn study(brief: &Brief, seconds: f64, cells: &[Cell], echoes: &[Vec<Echo>]) -> Study {
    let size = brief.size;
    let more =
        [("game_seconds", seconds.to_string()), ("players", PLAYERS.to_string()), ("state_every_ms", "50".into())];
    Study {
        name: "prediction",
        settings: settings_of(size, &more),
        summary: show::summary(cells, echoes),
        exhibits: show::exhibits(cells, echoes),
        findings: findings::findings(cells),
        rows: show::rows(cells),
        simulated_seconds: seconds * size.seeds as f64 * (cells.len() + ECHO_LAGS_MS.len()) as f64,
    }
}
