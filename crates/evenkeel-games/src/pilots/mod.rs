//! Bots that play by looking: seeded, at a human pace, and honest.
//!
//! A bot sees what a player sees: its own craft, and the others as they are shown, right or wrong. It knows no keys but a
//! player's. It looks a few times a second, holds a turn for about as long as it takes, and strikes the trigger some time
//! after it has seen a target in line, when that may have gone. Equal views at equal times give equal acts.

mod hands;
mod ship;
mod tank;

pub use ship::ShipPilot;
pub use tank::TankPilot;

use crate::game::Game;
use alloc::vec::Vec;
use evenkeel::{GlobalTime, HostId, State, Vec3, wrap_angle};

/// What a player sees.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The player's own craft, as it is shown; nothing while it is not in the game.
    pub own: Option<State>,
    /// Everybody's in the game, as they are shown. The player's own may be among them.
    pub shown: &'a [(HostId, State)],
}

/// A bot that plays a game.
pub trait Pilot<G: Game> {
    /// A bot for a player. Different players of one seed play differently.
    fn seated(seed: u64, player: HostId, game: &G) -> Self;

    /// What it does, having looked. Times of calls must not go backwards; calls once a tick are enough.
    fn act(&mut self, view: &View<'_>, now: GlobalTime) -> Vec<G::Act>;
}

/// The nearest of the others.
fn nearest(player: HostId, own: &State, view: &View<'_>) -> Option<State> {
    let distance = |state: &State| (state.position - own.position).length_squared();
    let others = view.shown.iter().filter(|(other, _)| *other != player);
    others.map(|(_, state)| *state).min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// How far a craft must turn, counter-clockwise, to point at a place.
fn off(own: &State, place: Vec3) -> f64 {
    let way = place - own.position;
    wrap_angle(libm::atan2(way.y, way.x) - own.attitude.heading())
}
