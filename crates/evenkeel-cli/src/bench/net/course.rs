//! Where entities are: everybody can tell at any time, so that what is shown can be compared with what is so.

use evenkeel::{GlobalTime, Vec3};
use std::f64::consts::TAU;

/// After so long everything is where it was: numbers stay small enough to be exact.
const ROUND: i64 = 3_600;

/// Where an entity is: it wanders about a place of its own at about four metres per second, never in a straight line for long.
pub(super) fn place(entity: usize, time: GlobalTime) -> Vec3 {
    let seconds = time.as_nanos().rem_euclid(ROUND * 1_000_000_000) as f64 / 1e9;
    let phase = entity as f64 * 0.7;
    // Whole numbers of turns within a round.
    let turn = |turns: f64, shift: f64| (TAU * turns * seconds / ROUND as f64 + shift).sin();
    let home = Vec3::new(20.0 * (entity % 10) as f64, 0.0, 20.0 * (entity / 10) as f64);
    let x = 10.0 * turn(200.0, phase) + 3.0 * turn(451.0, 2.0 * phase);
    let z = 10.0 * turn(230.0, phase + 1.0) + 3.0 * turn(397.0, 3.0 * phase);
    home + Vec3::new(x, 0.0, z)
}
