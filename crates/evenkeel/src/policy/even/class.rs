//! Kinds of motion, and how long each lasts.

use crate::ledger::Vector;
use crate::motion::{Course, Motion};

/// Bounds of the speeds that are told apart, as shares of the highest: standing still, crawling, slow, cruising and full speed.
const SPEEDS: [f64; 4] = [0.004, 0.12, 0.4, 0.8];
/// Bounds of the turn rates, likewise: straight on, a bend, a full turn.
const TURNS: [f64; 2] = [0.06, 0.64];
/// How many kinds there are: speeds x turn rates, and falling.
pub(super) const CLASSES: usize = (SPEEDS.len() + 1) * (TURNS.len() + 1) + 1;
/// By how much the highest speed and turn rate fade with each vector: somebody may have been thrown far once.
const FADING: f64 = 1.0 - 1e-4;
/// For how many spells of its own kind the mean over all kinds counts.
const GENERAL: f64 = 3.0;
/// About so many spells of each kind are remembered.
const REMEMBERED: f64 = 1000.0;

/// Tells kinds of motion apart, by what is slow and fast for this sender's entities, and learns the *dwell* of each: the mean
/// time to the next change.
#[derive(Clone, Debug)]
pub(super) struct Kinds {
    speed: f64,
    turn: f64,
    spells: [Spells; CLASSES],
    all: Spells,
    assumed: f64,
}

/// How long something has lasted, and how often.
#[derive(Clone, Copy, Debug, Default)]
struct Spells {
    seconds: f64,
    count: f64,
}

impl Spells {
    fn add(&mut self, seconds: f64) {
        let keep = 1.0 - 1.0 / REMEMBERED;
        (self.seconds, self.count) = (self.seconds * keep + seconds, self.count * keep + 1.0);
    }
}

impl Kinds {
    pub(super) fn new() -> Self {
        Self { speed: 0.0, turn: 0.0, spells: [Spells::default(); CLASSES], all: Spells::default(), assumed: 0.0 }
    }

    /// The kind of a motion.
    pub(super) fn of(&self, motion: &Motion) -> usize {
        self.at_speed(motion, motion.speed())
    }

    /// The same, for those who have found its speed.
    pub(super) fn at_speed(&self, motion: &Motion, speed: f64) -> usize {
        if let Course::Accelerated { .. } = motion.course {
            return CLASSES - 1;
        }
        let turn = libm::fabs(motion.attitude.turn_rate());
        let band = |bounds: &[f64], value: f64, most: f64| bounds.iter().filter(|b| value >= **b * most).count();
        let standing = if self.speed > 0.0 { band(&SPEEDS, speed, self.speed) } else { 0 };
        let straight = if self.turn > 0.0 { band(&TURNS, turn, self.turn) } else { 0 };
        standing * (TURNS.len() + 1) + straight
    }

    /// Takes note of how fast things go.
    pub(super) fn observe(&mut self, vector: &Vector) {
        if let Course::Accelerated { .. } = vector.motion.course {
            return;
        }
        let (speed, turn) = pace(&vector.motion);
        (self.speed, self.turn) = ((self.speed * FADING).max(speed), (self.turn * FADING).max(turn));
    }

    /// Something moved in this way for so many seconds before it changed.
    pub(super) fn lasted(&mut self, kind: usize, seconds: f64) {
        self.spells[kind].add(seconds);
        self.all.add(seconds);
    }

    /// How long this kind may be expected to last, in seconds.
    pub(super) fn dwell(&self, kind: usize) -> f64 {
        let spells = self.spells[kind];
        (spells.seconds + GENERAL * self.mean()) / (spells.count + GENERAL)
    }

    /// Sets how long any motion lasts as long as nothing is known, in seconds.
    pub(super) fn assume(&mut self, seconds: f64) {
        self.assumed = seconds;
    }

    /// How long any motion lasts, in seconds.
    pub(super) fn mean(&self) -> f64 {
        if self.all.seconds > 0.0 { self.all.seconds / self.all.count } else { self.assumed }
    }
}

/// Speed and turn rate.
fn pace(motion: &Motion) -> (f64, f64) {
    (motion.speed(), libm::fabs(motion.attitude.turn_rate()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dwells_are_learned_per_kind_of_motion() {
        let mut kinds = Kinds::new();
        for _ in 0..200 {
            kinds.lasted(0, 2.0);
            kinds.lasted(1, 0.2);
        }
        let mean = kinds.mean();
        assert!(kinds.dwell(0) > 1.8 && kinds.dwell(1) < 0.25 && kinds.dwell(2) == mean, "{mean}");
    }
}
