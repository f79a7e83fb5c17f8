//! The trigger: the moment at which a new DR vector becomes due.
//!
//! The real path is compared with the *exported* path, the newest vector as receivers decode it, never with the state of
//! the tick before: many small steps in one direction add up to a large deviation.

use crate::motion::State;
use crate::time::Duration;

/// How far the real path may leave the exported path, and for how long, before a new DR vector is due.
///
/// ```
/// use evenkeel::{Duration, Threshold};
/// let tank = Threshold::within(0.1).turning(0.05).at_least_every(Duration::from_secs(1));
/// let like_bzflag = Threshold::per_axis(0.09).turning(0.05).at_most_every(Duration::from_millis(33));
/// # let _ = (tank, like_bzflag);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Threshold {
    /// How far the position may be off.
    pub tolerance: Tolerance,
    /// How far the orientation may be off, in radians.
    pub angle: f64,
    /// The time threshold: a vector is due after this long even if nothing deviates (the heartbeat).
    pub time: Duration,
    /// No vector is due sooner than this after the one before, whatever deviates.
    pub min_gap: Duration,
}

/// How a deviation in position is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Tolerance {
    /// The distance in space: the deviation never exceeds what was configured.
    Distance(f64),
    /// The largest deviation along any one axis, as BZFlag does: the distance may reach sqrt(3) times as much.
    PerAxis(f64),
}

impl Tolerance {
    /// The configured number, whichever way it is measured.
    pub fn value(self) -> f64 {
        match self {
            Self::Distance(d) | Self::PerAxis(d) => d,
        }
    }
}

/// Why a DR vector became due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The first vector of an entity.
    First,
    /// The position left the exported path.
    Distance,
    /// The orientation left the exported path.
    Angle,
    /// The time threshold passed.
    Time,
    /// It was relayed: another host generated it, and nobody here knows why.
    Forced,
    /// The application announced it: everybody is told, whatever the policy says.
    Announced,
    /// The policy asked for it: nothing was due, but somebody is to be told, and the last vector is no longer the best to tell.
    Wanted,
}

impl Default for Threshold {
    /// 0.1 m, 0.05 rad, a heartbeat every second, no minimum gap.
    fn default() -> Self {
        Self::within(0.1)
    }
}

impl Threshold {
    /// At most this distance off, measured in space; the rest as in [`Threshold::default`].
    pub fn within(distance: f64) -> Self {
        Self {
            tolerance: Tolerance::Distance(distance),
            angle: 0.05,
            time: Duration::from_secs(1),
            min_gap: Duration::ZERO,
        }
    }

    /// At most this far off along each axis; the rest as in [`Threshold::default`].
    pub fn per_axis(distance: f64) -> Self {
        Self { tolerance: Tolerance::PerAxis(distance), ..Self::within(distance) }
    }

    /// At most this many radians off.
    pub fn turning(self, angle: f64) -> Self {
        Self { angle, ..self }
    }

    /// With this time threshold.
    pub fn at_least_every(self, time: Duration) -> Self {
        Self { time, ..self }
    }

    /// With this minimum gap.
    pub fn at_most_every(self, min_gap: Duration) -> Self {
        Self { min_gap, ..self }
    }

    /// Whether the numbers make sense: none negative or not-a-number, a time threshold above zero.
    pub fn is_valid(&self) -> bool {
        let nonnegative = |x: f64| x >= 0.0;
        nonnegative(self.tolerance.value())
            && nonnegative(self.angle)
            && self.time > Duration::ZERO
            && self.min_gap >= Duration::ZERO
    }

    /// Whether a vector is due: `real` is compared with `exported`, whose vector is `age` old. `scale` stretches distance
    /// and angle, which is how a policy thins triggers.
    pub fn check(&self, real: &State, exported: &State, age: Duration, scale: f64) -> Option<Cause> {
        if age < self.min_gap {
            return None;
        }
        let off = real.position - exported.position;
        let too_far = match self.tolerance {
            Tolerance::Distance(d) => off.length() > d * scale,
            Tolerance::PerAxis(d) => off.max_axis() > d * scale,
        };
        if too_far {
            Some(Cause::Distance)
        } else if real.attitude.angle_to(&exported.attitude) > self.angle * scale {
            Some(Cause::Angle)
        } else if age >= self.time {
            Some(Cause::Time)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Attitude, Vec3};

    fn state(position: Vec3, heading: f64) -> State {
        State { position, velocity: Vec3::ZERO, attitude: Attitude::Heading { heading, turn_rate: 0.0 } }
    }

    #[test]
    fn a_true_distance_is_not_a_cube() {
        let (here, there) = (state(Vec3::ZERO, 0.0), state(Vec3::new(0.09, 0.09, 0.0), 0.0));
        let age = Duration::from_millis(10);
        assert_eq!(Threshold::within(0.1).check(&there, &here, age, 1.0), Some(Cause::Distance));
        assert_eq!(Threshold::per_axis(0.1).check(&there, &here, age, 1.0), None);
        assert_eq!(Threshold::within(0.1).check(&there, &here, age, 2.0), None);
    }

    #[test]
    fn angles_are_compared_the_short_way_round() {
        let (a, b) = (state(Vec3::ZERO, 3.13), state(Vec3::ZERO, -3.13));
        let age = Duration::from_millis(10);
        assert_eq!(Threshold::default().check(&a, &b, age, 1.0), None);
        assert_eq!(Threshold::default().turning(0.01).check(&a, &b, age, 1.0), Some(Cause::Angle));
    }

    #[test]
    fn the_gap_wins_over_everything_and_the_heartbeat_needs_no_deviation() {
        let threshold = Threshold::within(0.1).at_most_every(Duration::from_millis(50));
        let (here, there) = (state(Vec3::ZERO, 0.0), state(Vec3::new(9.0, 0.0, 0.0), 0.0));
        assert_eq!(threshold.check(&there, &here, Duration::from_millis(49), 1.0), None);
        assert_eq!(threshold.check(&there, &here, Duration::from_millis(50), 1.0), Some(Cause::Distance));
        assert_eq!(threshold.check(&here, &here, Duration::from_secs(1), 1.0), Some(Cause::Time));
    }
}
