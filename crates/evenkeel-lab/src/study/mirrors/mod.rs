//! What do several servers that decide the same game disagree about, and what does agreement cost?

mod case;
mod claims;
mod findings;
mod gauge;
mod map;
mod play;
mod show;

use super::measure::{over, settings_of};
use super::{Brief, Entry, Study, Watch};
use anyhow::Result;
use case::Case;
use evenkeel_games::operations::record;
use evenkeel_games::{Arena, Game, Pilot, Recording, Setup, ShipPilot, Spaceship, TankPilot, arena, spaceship};
use gauge::Take;
use map::PLAYERS;

pub(super) const ENTRY: Entry = Entry {
    name: "mirrors",
    question: "What do several servers that decide the same game disagree about, and what does agreement cost?",
    reproduces: "managing latency and fairness, figure 1: conservative, partial and optimistic synchronisation",
    needs: &[],
    run,
};

/// A game is this much shorter than a run of a synthetic motion: it has many players and several servers.
const SHORTER: f64 = 6.0;
/// Half the side of the arena: small, so that there is much to decide.
const HALF_SIDE_M: u16 = 80;

/// What came of a case, by seed.
struct Cell {
    case: Case,
    takes: Vec<Take>,
}

/// All cases of a game.
struct Cells(Vec<Cell>);

impl Cells {
    /// The cell of a case that was run.
    fn cell(&self, case: &Case) -> &Cell {
        self.0.iter().find(|cell| cell.case == *case).expect("every case that is asked for is run")
    }

    /// What came of it, by seed.
    fn of(&self, case: &Case) -> &[Take] {
        &self.cell(case).takes
    }
}

/// Runs it.
fn run(brief: &Brief, watch: &Watch<'_>) -> Result<Study> {
    let size = brief.size;
    let seconds = size.seconds / SHORTER;
    let tanks = cells::<Arena, TankPilot>(
        arena::Rules { half_side: HALF_SIDE_M, ..arena::Rules::default() },
        &case::all(),
        seconds,
        brief,
        watch,
    )?;
    // Ships that last: a game with fewer players at its end is another game.
    let rules = spaceship::Rules { life: u8::MAX, ..spaceship::Rules::default() };
    let ships = cells::<Spaceship, ShipPilot>(rules, &case::ships(), seconds, brief, watch)?;
    Ok(Study {
        name: "mirrors",
        settings: settings_of(
            size,
            &[
                ("game_seconds", seconds.to_string()),
                ("players", PLAYERS.to_string()),
                ("access_ms", "10, 20, 30, 40".into()),
                ("regions", "4 in a row".into()),
            ],
        ),
        summary: show::summary(&tanks),
        exhibits: show::exhibits(&tanks, &ships),
        findings: findings::findings(&tanks, &ships),
        rows: [show::rows("arena", &tanks), show::rows("spaceship", &ships)].concat(),
        simulated_seconds: seconds * ((tanks.0.len() + ships.0.len()) as f64 * size.seeds as f64),
    })
}

/// Every case on the same games, one game per seed.
fn cells<G: Game, P: Pilot<G>>(
    rules: G::Rules,
    cases: &[Case],
    seconds: f64,
    brief: &Brief,
    watch: &Watch<'_>,
) -> Result<Cells>
where
    G::Rules: Sync,
    Recording<G>: Sync + Send,
{
    let step = G::start(&rules, PLAYERS, 1)?.step_length();
    let ticks = (seconds / step.as_secs_f64()).round() as u32;
    let seeds: Vec<u64> = brief.size.each_seed().collect();
    let setup = |seed: u64| Setup { rules: rules.clone(), players: PLAYERS, seed, ticks };
    let games = over(&seeds, watch, |seed| Ok(record::<G, P>(setup(*seed))?))?;
    let keys: Vec<(Case, usize)> = cases.iter().flat_map(|case| (0..seeds.len()).map(|n| (*case, n))).collect();
    let takes = over(&keys, watch, |(case, n)| play::play(&games[*n], case, seeds[*n]))?;
    let by_case = takes.chunks(seeds.len()).zip(cases);
    Ok(Cells(by_case.map(|(takes, case)| Cell { case: *case, takes: takes.to_vec() }).collect()))
}
