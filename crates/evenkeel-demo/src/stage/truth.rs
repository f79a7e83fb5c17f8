//! Where a craft really is, and was.

use evenkeel::{Course, Duration, GlobalTime, Motion, MotionKind, Pose, State};
use std::collections::VecDeque;

/// Longer than the longest lag.
const KEPT: Duration = Duration::from_millis(1_500);
/// At 50 a second these are more than enough.
const MAX_SAMPLES: usize = 128;

/// The recent way of a craft: where it was at times, and how it went on; nothing while it was out of the game.
#[derive(Clone, Debug, Default)]
pub(super) struct Track {
    samples: VecDeque<(GlobalTime, Option<Motion>)>,
}

impl Track {
    /// From this time on it goes like this.
    pub(super) fn note(&mut self, at: GlobalTime, motion: Option<Motion>) {
        let old = |samples: &VecDeque<(GlobalTime, _)>| samples.get(1).is_some_and(|(next, _)| at.since(*next) > KEPT);
        while self.samples.len() >= MAX_SAMPLES || old(&self.samples) {
            self.samples.pop_front();
        }
        // What is said again about the same moment holds.
        while self.samples.back().is_some_and(|(last, _)| *last >= at) {
            self.samples.pop_back();
        }
        self.samples.push_back((at, motion));
    }

    /// Where it was at a time; nothing if it was out of the game, or if that is too long ago.
    pub(super) fn at(&self, time: GlobalTime) -> Option<State> {
        let (since, motion) = self.samples.iter().rev().find(|(since, _)| *since <= time)?;
        motion.as_ref().map(|motion| motion.at(time.since(*since).as_secs_f64()))
    }

    /// How it goes on at a time, for a sender to export.
    pub(super) fn pose(&self, time: GlobalTime) -> Option<Pose> {
        let (since, motion) = self.samples.back()?;
        motion.as_ref().map(|motion| pose(&motion.advanced(time.since(*since).max(Duration::ZERO).as_secs_f64())))
    }
}

/// A motion as a game would say it.
fn pose(motion: &Motion) -> Pose {
    let pose = Pose::from(motion.at(0.0));
    match motion.course {
        Course::Turning { acceleration, .. } => pose.accelerating(acceleration),
        _ => pose,
    }
}

/// How something goes on that is in this state.
pub(super) fn onwards(state: State) -> Motion {
    Pose::from(state).motion(MotionKind::Auto)
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel::Vec3;

    #[test]
    fn the_past_is_known_for_a_while_and_bounded() {
        let at = GlobalTime::from_millis;
        let mut track = Track::default();
        for step in 0..500 {
            let x = f64::from(step) * 0.5;
            track.note(
                at(20 * i64::from(step)),
                Some(Motion::linear(Vec3::new(x, 0.0, 0.0), Vec3::new(25.0, 0.0, 0.0))),
            );
        }
        let x = |ms| track.at(at(ms)).map(|state| state.position.x);
        assert_eq!(x(9_000), Some(225.0));
        assert_eq!(x(9_010), Some(225.25), "between two steps");
        assert_eq!(x(10_000), Some(250.0), "a little ahead");
        assert_eq!(x(2_000), None, "forgotten");
        assert!(track.samples.len() <= MAX_SAMPLES);
        track.note(at(9_990), None);
        assert!(track.pose(at(9_995)).is_none() && track.at(at(9_995)).is_none() && track.at(at(9_980)).is_some());
    }
}
