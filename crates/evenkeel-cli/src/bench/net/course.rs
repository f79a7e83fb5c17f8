//! Where entities are: everybody can tell at any time, so that what is shown can be compared with what is so.

use evenkeel::{GlobalTime, Vec3};
use std::f64::consts::TAU;

/// After so long everything is where it was: numbers stay small enough to be exact.
const ROUND: i64 = 3_600;
/// How long a straight leg takes, in seconds; a round is made of whole ones.
const LEG: f64 = 4.0;
/// How far from home entities go.
const FAR: f64 = 10.0;

/// How entities move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Course {
    /// From one place to another, straight on: a vector or two a second.
    Legs,
    /// Never straight on: about three vectors a second.
    Curves,
}

impl Course {
    /// Where an entity is: it wanders about a home of its own, at a few metres per second.
    pub(super) fn place(self, entity: usize, time: GlobalTime) -> Vec3 {
        let seconds = time.as_nanos().rem_euclid(ROUND * 1_000_000_000) as f64 / 1e9;
        let home = Vec3::new(20.0 * (entity % 10) as f64, 0.0, 20.0 * (entity / 10) as f64);
        home + match self {
            Self::Legs => leg(entity, seconds),
            Self::Curves => curve(entity, seconds),
        }
    }
}

fn leg(entity: usize, seconds: f64) -> Vec3 {
    // Not all turn at once.
    let since = (seconds + entity as f64 * 0.37) % ROUND as f64 / LEG;
    let legs = (ROUND as f64 / LEG) as u64;
    let (from, to) = (corner(entity, since as u64), corner(entity, (since as u64 + 1) % legs));
    from + (to - from) * since.fract()
}

/// A place that looks as if it were by chance.
fn corner(entity: usize, number: u64) -> Vec3 {
    let angle = (entity as f64 * 1.7 + number as f64 * 2.4) % TAU;
    let far = FAR * (0.4 + 0.6 * (number as f64 * 0.618).fract());
    Vec3::new(far * angle.cos(), 0.0, far * angle.sin())
}

fn curve(entity: usize, seconds: f64) -> Vec3 {
    let phase = entity as f64 * 0.7;
    // Whole numbers of turns within a round.
    let turn = |turns: f64, shift: f64| (TAU * turns * seconds / ROUND as f64 + shift).sin();
    let x = FAR * turn(200.0, phase) + 3.0 * turn(451.0, 2.0 * phase);
    let z = FAR * turn(230.0, phase + 1.0) + 3.0 * turn(397.0, 3.0 * phase);
    Vec3::new(x, 0.0, z)
}
