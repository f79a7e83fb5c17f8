//! Where tanks come into the game.

use super::{Field, RADIUS, Tank};
use crate::noise::Noise;
use evenkeel::Vec3;

/// How many places with room there are to choose from.
const CHOICES: usize = 4;
/// How many places are looked at, at most, for room.
const LOOKS: u64 = 64;

/// Where a tank comes in, and where it points: of a few places with room, the one that is farthest from everybody.
///
/// It follows from the seed, the player, how often it was hit, and where the others are, so that all sites agree.
pub(super) fn place(seed: u64, player: u32, deaths: u32, field: &Field, tanks: &[Tank]) -> (Vec3, f64) {
    let noise = Noise::new(seed, u64::from(player) << 32 | u64::from(deaths));
    let reach = field.half_side() - RADIUS;
    let spread = |counter| (2.0 * noise.uniform(counter) - 1.0) * reach;
    let places = (0..LOOKS).map(|look| Vec3::new(spread(2 * look), spread(2 * look + 1), 0.0));
    let free = places.filter(|place| !field.blocks(*place)).take(CHOICES);
    let apart = free.map(|place| (room(place, tanks), place));
    let best = apart.max_by(|a, b| a.0.total_cmp(&b.0));
    // Most of the arena is free, so there is a best place; should there be none, this corner always is.
    let position = best.map_or(Vec3::new(reach, reach, 0.0), |(_, place)| place);
    // Towards the middle, where the others are.
    (position, libm::atan2(-position.y, -position.x))
}

/// The squared distance to the nearest tank in the game.
fn room(place: Vec3, tanks: &[Tank]) -> f64 {
    let living = tanks.iter().filter(|tank| tank.is_alive());
    living.map(|tank| (tank.position - place).length_squared()).fold(f64::INFINITY, f64::min)
}
