//! What is run: two games, networks and lags, and how far back the past is kept.

use super::{Account, Terms, Truth};
use crate::study::measure::{millis, over};
use crate::study::{Size, Watch};
use anyhow::Result;
use evenkeel::Duration;
use evenkeel_games::operations::record;
use evenkeel_games::{Arena, Game, Pilot, Recording, Setup, ShipPilot, Spaceship, TankPilot};
use evenkeel_games::{arena, spaceship};
use evenkeel_link::{Conditions, Jitter};

/// All delays.
pub(super) const DELAYS_MS: [f64; 5] = [50.0, 100.0, 200.0, 300.0, 400.0];
/// Lags as shares of the delay, to the nearest tick.
pub(super) const SHARES: [f64; 6] = [0.0, 0.25, 0.5, 0.75, 1.0, 1.5];
/// Their numbers by name.
pub(super) const NONE: usize = 0;
pub(super) const HALF: usize = 2;
pub(super) const WHOLE: usize = 4;
pub(super) const MORE: usize = 5;
/// The uniform jitter either way, as a share of the delay.
pub(super) const JITTER: f64 = 0.25;
/// The share of packets that are held back, by half of the delay.
const HELD_BACK: f64 = 0.02;
/// Half the side of the arena, in metres: small enough for a hit every few seconds.
const HALF_SIDE: u16 = 75;
/// Ships have so many lives that nobody is out before the end.
const LIVES: u8 = 255;
/// How far back the past is kept, in the network whose delay now and then is far beyond its usual one.
pub(super) const HISTORIES_MS: [i64; 4] = [250, 500, 1000, 2000];
/// That network: usually 100 ms, and 700 ms more for one packet in fifty.
pub(super) const SPIKES: &str = "delay=100ms,jitter=bursts:2%:700ms:0ms";

/// A game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Spaceship,
    Arena,
}

impl Which {
    pub(super) const ALL: [Self; 2] = [Self::Spaceship, Self::Arena];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Spaceship => Spaceship::NAME,
            Self::Arena => Arena::NAME,
        }
    }

    /// What its lengths are measured in.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Spaceship => "px",
            Self::Arena => "m",
        }
    }
}

/// A game in a network with a lag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    pub(super) game: Which,
    pub(super) delay_ms: f64,
    /// Whether delays vary and packets overtake each other.
    pub(super) jittery: bool,
    /// Which of [`SHARES`].
    pub(super) share: usize,
}

impl Cell {
    /// The lag, in whole ticks.
    pub(super) fn lag(&self) -> Duration {
        let step = match self.game {
            Which::Spaceship => spaceship::Rules::default().step_length,
            Which::Arena => arena::Rules::default().step_length,
        };
        let lag = self.delay_ms / 1e3 * SHARES[self.share];
        step * (lag / step.as_secs_f64()).round() as i64
    }

    /// How operations travel.
    pub(super) fn network(&self) -> Conditions {
        let delay = millis(self.delay_ms);
        if !self.jittery {
            return Conditions::delay(delay);
        }
        let jitter = Jitter::Uniform { plus_minus: delay.mul_f64(JITTER) };
        Conditions::delay(delay).with_jitter(jitter).with_reorder(HELD_BACK, delay / 2)
    }
}

fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for game in Which::ALL {
        for delay_ms in DELAYS_MS {
            for jittery in [false, true] {
                cells.extend((0..SHARES.len()).map(|share| Cell { game, delay_ms, jittery, share }));
            }
        }
    }
    cells
}

/// What was found: by seed, and within it by cell or history.
pub(super) struct Grid {
    pub(super) cells: Vec<Cell>,
    pub(super) seeds: Vec<Vec<Account>>,
    /// The arena over [`SPIKES`], by [`HISTORIES_MS`].
    pub(super) histories: Vec<Vec<Account>>,
}

/// Both games with one seed.
struct Games {
    spaceship: Recording<Spaceship>,
    arena: Recording<Arena>,
}

/// A quarter of the time is enough: every host executes the whole game.
pub(super) fn game_seconds(seconds: f64) -> f64 {
    seconds / 4.0
}

impl Grid {
    pub(super) fn run(size: Size, watch: &Watch<'_>) -> Result<Self> {
        let (cells, seeds): (Vec<Cell>, Vec<u64>) = (cells(), size.each_seed().collect());
        let games = over(&seeds, watch, |seed| Games::new(game_seconds(size.seconds), *seed))?;
        let all: Vec<(usize, u64)> = seeds.iter().copied().enumerate().collect();
        let keys: Vec<(usize, u64, Cell)> =
            all.iter().flat_map(|(n, seed)| cells.iter().map(move |cell| (*n, *seed, *cell))).collect();
        let found = over(&keys, watch, |(n, seed, cell)| games[*n].play(cell, *seed))?;
        let keys: Vec<(usize, u64, i64)> =
            all.iter().flat_map(|(n, seed)| HISTORIES_MS.map(|history| (*n, *seed, history))).collect();
        let histories = over(&keys, watch, |(n, seed, history)| games[*n].spikes(*history, *seed))?;
        let by_seed = |all: &[Account], count: usize| all.chunks(count).map(<[Account]>::to_vec).collect();
        let (seeds, histories) = (by_seed(&found, cells.len()), by_seed(&histories, HISTORIES_MS.len()));
        Ok(Self { cells, seeds, histories })
    }

    /// Which cell that is.
    pub(super) fn cell(&self, game: Which, delay_ms: f64, jittery: bool, share: usize) -> usize {
        let wanted = Cell { game, delay_ms, jittery, share };
        self.cells.iter().position(|cell| *cell == wanted).unwrap_or_default()
    }

    /// All seeds of a cell.
    pub(super) fn all(&self, cell: usize) -> Account {
        Account::of_all(self.seeds.iter().map(|seed| &seed[cell]))
    }

    /// All seeds of a history.
    pub(super) fn history(&self, history: usize) -> Account {
        Account::of_all(self.histories.iter().map(|seed| &seed[history]))
    }

    /// How many seconds were simulated, those of each host.
    pub(super) fn simulated_seconds(&self) -> f64 {
        self.seeds.iter().chain(&self.histories).flatten().map(|account| account.seconds).sum()
    }
}

impl Games {
    fn new(seconds: f64, seed: u64) -> Result<Self> {
        let ships = spaceship::Rules { life: LIVES, ..Default::default() };
        let tanks = arena::Rules { half_side: HALF_SIDE, ..Default::default() };
        let ticks = |step: Duration| (seconds / step.as_secs_f64()) as u32;
        Ok(Self {
            spaceship: recorded::<_, ShipPilot>(ships, 2, ticks(ships.step_length), seed)?,
            arena: recorded::<_, TankPilot>(tanks, 4, ticks(tanks.step_length), seed)?,
        })
    }

    fn play(&self, cell: &Cell, seed: u64) -> Result<Account> {
        let terms = terms(cell.network(), cell.lag(), Duration::from_secs(1));
        match cell.game {
            Which::Spaceship => play(&self.spaceship, &terms, seed),
            Which::Arena => play(&self.arena, &terms, seed),
        }
    }

    /// The arena in a network with spikes.
    fn spikes(&self, history_ms: i64, seed: u64) -> Result<Account> {
        let terms = terms(SPIKES.parse()?, Duration::ZERO, Duration::from_millis(history_ms));
        play(&self.arena, &terms, seed)
    }
}

fn recorded<G: Game, P: Pilot<G>>(rules: G::Rules, players: u32, ticks: u32, seed: u64) -> Result<Recording<G>> {
    Ok(record::<G, P>(Setup { rules, players, seed, ticks })?)
}

fn terms(network: Conditions, lag: Duration, history: Duration) -> Terms {
    Terms { network, lag, verdict_lags: vec![Duration::ZERO], history }
}

fn play<G: Game>(game: &Recording<G>, terms: &Terms, seed: u64) -> Result<Account> {
    let accounts = Truth::new(game, terms.lag)?.play(terms, seed)?;
    Ok(Account::of_all(&accounts))
}
