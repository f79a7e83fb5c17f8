//! Kinds of motion, and how long each lasts.

use crate::ledger::Vector;
use crate::motion::Course;
use crate::time::Duration;

/// Bounds of the speeds that are told apart, as shares of the highest: standing still, crawling, slow, cruising and full speed.
/// With BZFlag's tanks these are 0.1, 3, 10 and 20 m/s.
const SPEEDS: [f64; 4] = [0.004, 0.12, 0.4, 0.8];
/// Bounds of the turn rates, likewise: straight on, a bend, a full turn.
const TURNS: [f64; 2] = [0.06, 0.64];
/// How many kinds there are: speeds x turn rates, and falling.
pub(super) const CLASSES: usize = (SPEEDS.len() + 1) * (TURNS.len() + 1) + 1;
/// By how much the highest speed and turn rate fade with each vector: somebody may have been thrown far once.
const FADING: f64 = 1.0 - 1e-4;
/// What a dwell is taken for while little is known, in seconds, and how many observations that is worth.
const PRIOR: f64 = 0.6;
const PRIOR_WEIGHT: f64 = 3.0;
/// A longer spell counts for this, in seconds.
const LONGEST: f64 = 10.0;
/// About so many observations of each kind are remembered.
const REMEMBERED: f64 = 1000.0;

/// Tells kinds of motion apart, by what is slow and fast for this sender's entities, and learns the *dwell* of each: the mean
/// time to the next change.
#[derive(Clone, Debug)]
pub(super) struct Kinds {
    speed: f64,
    turn: f64,
    seconds: [f64; CLASSES],
    counts: [f64; CLASSES],
}

impl Kinds {
    pub(super) fn new() -> Self {
        let (seconds, counts) = ([PRIOR * PRIOR_WEIGHT; CLASSES], [PRIOR_WEIGHT; CLASSES]);
        Self { speed: 0.0, turn: 0.0, seconds, counts }
    }

    /// The kind of a vector.
    pub(super) fn of(&self, vector: &Vector) -> usize {
        if let Course::Accelerated { .. } = vector.motion.course {
            return CLASSES - 1;
        }
        let (speed, turn) = pace(vector);
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
        let (speed, turn) = pace(vector);
        (self.speed, self.turn) = ((self.speed * FADING).max(speed), (self.turn * FADING).max(turn));
    }

    /// Something moved in this way for so long before it changed.
    pub(super) fn lasted(&mut self, kind: usize, span: Duration) {
        let keep = 1.0 - 1.0 / REMEMBERED;
        self.seconds[kind] = self.seconds[kind] * keep + span.as_secs_f64().clamp(0.0, LONGEST);
        self.counts[kind] = self.counts[kind] * keep + 1.0;
    }

    /// How long it may be expected to last, in seconds.
    pub(super) fn dwell(&self, kind: usize) -> f64 {
        self.seconds[kind] / self.counts[kind]
    }
}

/// Speed and turn rate.
fn pace(vector: &Vector) -> (f64, f64) {
    (vector.motion.velocity_at(0.0).length(), libm::fabs(vector.motion.attitude.turn_rate()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dwells_are_learned_per_kind_of_motion() {
        let mut kinds = Kinds::new();
        for _ in 0..200 {
            kinds.lasted(0, Duration::from_secs(2));
            kinds.lasted(1, Duration::from_millis(200));
        }
        assert!(kinds.dwell(0) > 1.8 && kinds.dwell(1) < 0.25 && kinds.dwell(2) == PRIOR);
    }
}
