//! Games.
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
pub mod spaceship;
mod touch;

pub use arena::Arena;
pub use game::{Game, SetupError};
pub use operations::{Recording, Replay, Setup};
pub use pilots::{Pilot, ShipPilot, TankPilot, View};
pub use spaceship::Spaceship;
