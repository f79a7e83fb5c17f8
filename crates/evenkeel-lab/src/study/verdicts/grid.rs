//! What is run: networks and lags, for vectors and for operations.

use super::range::{Tally, shoot};
use crate::bench::default_data;
use crate::experiment::paths;
use crate::study::measure::{millis, over};
use crate::study::timewarp::{Account, Terms, Truth};
use crate::study::{Brief, Watch};
use anyhow::{Context, Result};
use evenkeel::Duration;
use evenkeel_games::arena::Rules;
use evenkeel_games::operations::record;
use evenkeel_games::{Arena, Recording, Setup, TankPilot};
use std::path::Path;

/// The delay at which everything is looked at closely.
pub(super) const DELAY_MS: f64 = 200.0;
/// All delays.
pub(super) const DELAYS_MS: [f64; 5] = [50.0, 100.0, DELAY_MS, 300.0, 400.0];
/// The jitter there is besides none, evenly spread either way.
pub(super) const JITTER_MS: f64 = 50.0;
/// How long movements wait: whole ticks of the arena.
pub(super) const MOVEMENT_LAGS_MS: [f64; 4] = [0.0, 60.0, 120.0, 220.0];
/// How long verdicts wait.
pub(super) const VERDICT_LAGS_MS: [f64; 7] = [0.0, 50.0, 100.0, 150.0, 200.0, 220.0, 300.0];

/// Half the side of the bots' arena, in metres: small enough for a hit every few seconds.
const HALF_SIDE: u16 = 75;

/// A network, and how long movements wait in it. Each is looked at with every verdict lag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Case {
    pub(super) delay_ms: f64,
    pub(super) jitter_ms: f64,
    pub(super) movement_lag_ms: f64,
}

impl Case {
    /// The network and the movement lag, as tables have them.
    pub(super) fn cells(&self) -> [String; 2] {
        let Self { delay_ms, jitter_ms, movement_lag_ms } = self;
        let jitter = if *jitter_ms == 0.0 { String::new() } else { format!(" ± {jitter_ms}") };
        [format!("{delay_ms}{jitter} ms"), format!("{movement_lag_ms} ms")]
    }

    /// Both in one.
    pub(super) fn name(&self) -> String {
        let [network, lag] = self.cells();
        format!("{network}, movement lag {lag}")
    }
}

/// All cases: the delay looked at closely with every movement lag, without and with jitter; every other delay without lag.
pub(super) fn cases() -> Vec<Case> {
    let close = |jitter_ms| {
        MOVEMENT_LAGS_MS.map(|movement_lag_ms| Case { delay_ms: DELAY_MS, jitter_ms, movement_lag_ms }).to_vec()
    };
    let others = DELAYS_MS.into_iter().filter(|delay| *delay != DELAY_MS);
    let sweep = others.map(|delay_ms| Case { delay_ms, jitter_ms: 0.0, movement_lag_ms: 0.0 });
    close(0.0).into_iter().chain(close(JITTER_MS)).chain(sweep).collect()
}

/// What was found with one seed.
pub(super) struct Seed {
    /// By case.
    pub(super) states: Vec<Tally>,
    /// By case and verdict lag.
    pub(super) operations: Vec<Vec<Account>>,
}

/// What was found.
pub(super) struct Grid {
    pub(super) cases: Vec<Case>,
    pub(super) seeds: Vec<Seed>,
    /// The recorded game, by case and verdict lag; nothing if its file is not there.
    pub(super) recorded: Option<Vec<Vec<Account>>>,
}

/// Half of the time is enough for the arena: each of its four hosts executes the whole game.
pub(super) fn fight_seconds(seconds: f64) -> f64 {
    seconds / 2.0
}

impl Grid {
    pub(super) fn run(brief: &Brief, watch: &Watch<'_>) -> Result<Self> {
        let (size, cases) = (brief.size, cases());
        let seeds: Vec<u64> = size.each_seed().collect();
        let states = over(&seeds, watch, |seed| shoot(&cases, size.seconds, *seed))?;
        let mut games = over(&seeds, watch, |seed| Ok((*seed, game(fight_seconds(size.seconds), *seed)?)))?;
        games.extend(recorded_game(&brief.data)?.map(|game| (size.seed, game)));
        let keys: Vec<(usize, Case)> =
            (0..games.len()).flat_map(|game| cases.iter().map(move |case| (game, *case))).collect();
        let fights = over(&keys, watch, |(game, case)| fight(&games[*game].1, case, games[*game].0))?;
        let mut fights = fights.chunks(cases.len()).map(<[Vec<Account>]>::to_vec);
        let both = states.into_iter().zip(&mut fights);
        let seeds = both.map(|(states, operations)| Seed { states, operations }).collect();
        Ok(Self { cases, seeds, recorded: fights.next() })
    }

    /// How many seconds were simulated: those of each host of an arena count.
    pub(super) fn simulated_seconds(&self, seconds: f64) -> f64 {
        let fights = self.seeds.iter().map(|seed| &seed.operations).chain(&self.recorded).flatten();
        let hosts: f64 = fights.filter_map(|lags| lags.first()).map(|account| account.seconds).sum();
        seconds * self.seeds.len() as f64 + hosts
    }

    /// All shots of a case.
    pub(super) fn states(&self, case: usize) -> Tally {
        self.seeds.iter().fold(Tally::default(), |sum, seed| sum.and(&seed.states[case]))
    }

    /// All games of a case with a verdict lag.
    pub(super) fn operations(&self, case: usize, verdict_lag: usize) -> Account {
        Account::of_all(self.seeds.iter().map(|seed| &seed.operations[case][verdict_lag]))
    }

    /// Which case that is.
    pub(super) fn case(&self, delay_ms: f64, jitter_ms: f64, movement_lag_ms: f64) -> usize {
        let wanted = Case { delay_ms, jitter_ms, movement_lag_ms };
        self.cases.iter().position(|case| *case == wanted).unwrap_or_default()
    }
}

/// Four bots fight.
fn game(seconds: f64, seed: u64) -> Result<Recording<Arena>> {
    let rules = Rules { half_side: HALF_SIDE, ..Rules::default() };
    let ticks = (seconds / rules.step_length.as_secs_f64()) as u32;
    Ok(record::<Arena, TankPilot>(Setup { rules, players: 4, seed, ticks })?)
}

/// The fight among the project's data.
fn recorded_game(data: &Path) -> Result<Option<Recording<Arena>>> {
    let path = |folder: &Path| folder.join("operations/arena-four.csv");
    let Some(path) = [path(data), path(&default_data())].into_iter().find(|path| path.is_file()) else {
        return Ok(None);
    };
    let text = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(Some(Recording::parse(&text).with_context(|| path.display().to_string())?))
}

/// A game in one case, by verdict lag.
fn fight(game: &Recording<Arena>, case: &Case, seed: u64) -> Result<Vec<Account>> {
    let lag = millis(case.movement_lag_ms);
    let network = paths(&[case.delay_ms], case.jitter_ms, 0.0).pop().context("a path")?;
    let verdict_lags = VERDICT_LAGS_MS.map(millis).to_vec();
    Truth::new(game, lag)?.play(&Terms { network, lag, verdict_lags, history: Duration::from_secs(1) }, seed)
}
