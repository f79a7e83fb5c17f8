//! The games that Evenkeel's laboratory and demonstration play, as deterministic simulations.
//!
//! - [`spaceship`]: ships that accelerate, decelerate, turn and shoot at each other with laser beams, in pixels;
//! - [`arena`]: tanks with the dynamics of BZFlag, among obstacles, with shots that take their time, in metres;
//! - [`pilots`]: bots that play either, by what they are shown;
//! - [`operations`]: what players did, recorded as text and replayed bit for bit;
//! - [`solo`]: one player's own craft of either, where owners move what is theirs, and [`words`]: what they and a referee tell
//!   each other.
//!
//! Both games are [`Simulation`](evenkeel::Simulation)s: whoever applies the same operations at the same ticks gets the same
//! state, on every machine. There is no clock and no randomness that is not part of the state or looked up by a seed, and
//! every transcendental function comes from `libm`. Both also give the [`Pose`](evenkeel::Pose) of every craft, for a
//! [`Sender`](evenkeel::Sender) to export.
//!
//! ```
//! use evenkeel::{HostId, Simulation};
//! use evenkeel_games::operations::{Setup, record};
//! use evenkeel_games::spaceship::{Rules, Verdict};
//! use evenkeel_games::{Recording, ShipPilot, Spaceship};
//!
//! // Two bots fight for twenty seconds.
//! let setup = Setup { rules: Rules::default(), players: 2, seed: 1, ticks: 1_000 };
//! let duel = record::<Spaceship, ShipPilot>(setup)?;
//! let again = Recording::<Spaceship>::parse(duel.to_text().as_bytes())?;
//! assert_eq!(duel, again);
//!
//! // Replayed, the fight takes the same course.
//! let mut hits = 0;
//! let mut replay = again.replay()?;
//! while replay.advance().is_some() {
//!     hits += replay.verdicts().iter().filter(|verdict| matches!(verdict, Verdict::Hit { .. })).count();
//! }
//! assert!(hits > 0);
//! assert_eq!(Some(replay.game().digest()), duel.replay()?.last().map(|frame| frame.game.digest()));
//! println!("{:?}", replay.game().ship(HostId(0)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod arena;
pub mod game;
mod noise;
pub mod operations;
pub mod pilots;
pub mod solo;
pub mod spaceship;
mod touch;
pub mod words;

pub use arena::Arena;
pub use game::{Game, SetupError};
pub use operations::{Recording, Replay, Setup};
pub use pilots::{Pilot, ShipPilot, TankPilot, View};
pub use solo::Craft;
pub use spaceship::Spaceship;
