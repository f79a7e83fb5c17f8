//! Recorded operations: what players did, when, and in which game. Replayed, they give the game again, bit for bit.
//!
//! As text, a recording is a few lines about the game and then a row for every operation:
//!
//! ```text
//! # evenkeel operations 1
//! # game: spaceship
//! # players: 2
//! # seed: 7
//! # ticks: 3250
//! # step_ns: 20000000
//! # life: 10
//! t_s,player,sequence,act,value
//! 0.163042,1,0,accelerate,1
//! 0.204417,0,0,turn,left
//! ```
//!
//! | column | meaning |
//! |---|---|
//! | `t_s` | when it takes effect: seconds with up to nine decimals, none lost; it is executed at the first tick not before |
//! | `player` | whose operation it is, from 0 |
//! | `sequence` | its number among the player's operations, rising |
//! | `act`, `value` | what is done; each game has its own |
//!
//! Rows are in order of time. Lines that begin with `#` after the rows have begun, and empty lines, are skipped.

mod error;
mod read;
mod record;
mod replay;
mod write;

pub use error::{ParseError, RecordingError};
pub use read::game_of;
pub use record::record;
pub use replay::{Frame, Replay};

use crate::game::{Game, SetupError};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use evenkeel::{GlobalTime, Operation};

/// The most operations in a recording.
pub const MAX_OPERATIONS: usize = 1_000_000;
/// The most ticks in a recording: more than two days of the longest games' steps.
pub const MAX_TICKS: u32 = 10_000_000;
/// The longest text that is read, in bytes.
pub const MAX_BYTES: usize = 64 << 20;

/// How a game starts and how long it is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setup<R> {
    /// What was chosen.
    pub rules: R,
    /// How many players there are.
    pub players: u32,
    /// The seed of whatever the game leaves to chance.
    pub seed: u64,
    /// How many steps it is played.
    pub ticks: u32,
}

/// A game as its players' operations tell it. It can be played: whoever made it has seen to that.
pub struct Recording<G: Game> {
    setup: Setup<G::Rules>,
    operations: Vec<Operation<G::Act>>,
}

impl<G: Game> Recording<G> {
    /// A recording of these operations, which must be in order of time, and each player's in order of sequence.
    pub fn new(setup: Setup<G::Rules>, operations: Vec<Operation<G::Act>>) -> Result<Self, RecordingError> {
        check_setup::<G>(&setup)?;
        let mut order = Order::new(setup.players);
        operations.iter().try_for_each(|operation| order.check(operation))?;
        Ok(Self { setup, operations })
    }

    /// How the game starts and how long it is played.
    pub fn setup(&self) -> &Setup<G::Rules> {
        &self.setup
    }

    /// The operations in order of time.
    pub fn operations(&self) -> &[Operation<G::Act>] {
        &self.operations
    }

    /// The game as it starts.
    pub fn start(&self) -> Result<G, SetupError> {
        G::start(&self.setup.rules, self.setup.players, self.setup.seed)
    }

    /// The game again, tick by tick.
    pub fn replay(&self) -> Result<Replay<'_, G>, SetupError> {
        Replay::new(self)
    }
}

// Derived, these would ask for the same of the game itself.

impl<G: Game> Clone for Recording<G> {
    fn clone(&self) -> Self {
        Self { setup: self.setup.clone(), operations: self.operations.clone() }
    }
}

impl<G: Game> PartialEq for Recording<G> {
    fn eq(&self, other: &Self) -> bool {
        self.setup == other.setup && self.operations == other.operations
    }
}

impl<G: Game> fmt::Debug for Recording<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Recording");
        debug.field("game", &G::NAME).field("setup", &self.setup).field("operations", &self.operations.len()).finish()
    }
}

/// Whether a game can be played like this.
fn check_setup<G: Game>(setup: &Setup<G::Rules>) -> Result<(), RecordingError> {
    if setup.ticks > MAX_TICKS {
        return Err(RecordingError::Ticks(setup.ticks));
    }
    G::check(&setup.rules, setup.players).map_err(RecordingError::Setup)
}

/// The order that operations must be in.
struct Order {
    operations: usize,
    latest: GlobalTime,
    /// The least sequence that each player's next operation may have.
    least: Vec<u64>,
}

impl Order {
    fn new(players: u32) -> Self {
        Self { operations: 0, latest: GlobalTime::ZERO, least: vec![0; players as usize] }
    }

    fn check<O>(&mut self, operation: &Operation<O>) -> Result<(), RecordingError> {
        let players = self.least.len() as u32;
        let player = operation.issuer.0;
        let sequence = u64::from(operation.sequence);
        self.operations += 1;
        if self.operations > MAX_OPERATIONS {
            return Err(RecordingError::Operations);
        }
        let Some(least) = self.least.get_mut(player as usize) else {
            return Err(RecordingError::Player { player, players });
        };
        if operation.at < self.latest {
            return Err(RecordingError::Time { at: operation.at, after: self.latest });
        }
        if sequence < *least {
            return Err(RecordingError::Sequence { player, sequence: operation.sequence });
        }
        *least = sequence + 1;
        self.latest = operation.at;
        Ok(())
    }
}
