//! One's own entity as one shows it oneself, for games that have poses and no operations.

use super::Lag;
use crate::motion::{MotionKind, Pose, State};
use crate::time::GlobalTime;
use alloc::collections::VecDeque;

/// So many poses are kept: sixteen seconds of lag at sixty a second.
const MAX_POSES: usize = 1_024;

/// Where one's own entity was, so that its owner can show it a lag later, like everybody else does.
///
/// ```
/// use evenkeel::lag::{Lag, OwnView};
/// use evenkeel::{Duration, GlobalTime, Pose, Vec3};
/// let lag = Lag::constant(Duration::from_millis(100))?;
/// let mut view = OwnView::default();
/// for tick in 0..60 {
///     let now = GlobalTime::from_millis(tick * 20);
///     let pose = Pose::at(Vec3::new(3.0 * now.as_secs_f64(), 0.0, 0.0)).moving(Vec3::new(3.0, 0.0, 0.0));
///     view.record(pose, now); // and sender.observe(tank, pose, now)
///     if let Some(shown) = view.shown(&lag, now) {
///         assert!((shown.position.x - 3.0 * (now.as_secs_f64() - 0.1)).abs() < 1e-9);
///     }
/// }
/// # Ok::<(), evenkeel::lag::LagError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct OwnView {
    /// In order of time.
    poses: VecDeque<(GlobalTime, Pose)>,
}

impl OwnView {
    /// Notes where the entity really is. One that is no later than the last is left out.
    pub fn record(&mut self, pose: Pose, now: GlobalTime) {
        let last = self.poses.back();
        if !pose.is_finite() || last.is_some_and(|(at, _)| *at >= now) {
            return;
        }
        let before = last.map(|(at, pose)| (pose, now.since(*at).as_secs_f64()));
        let pose = pose.derived_from(before);
        if self.poses.len() == MAX_POSES {
            self.poses.pop_front();
        }
        self.poses.push_back((now, pose));
    }

    /// Where to show it at a global time; `None` if that was before its first pose.
    pub fn shown(&self, lag: &Lag, now: GlobalTime) -> Option<State> {
        let shown = lag.shown(now);
        let after = self.poses.partition_point(|(at, _)| *at <= shown);
        let (at, pose) = self.poses.get(after.checked_sub(1)?)?;
        Some(pose.motion(MotionKind::Auto).at(shown.since(*at).as_secs_f64()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Vec3;
    use crate::time::Duration;

    #[test]
    fn there_is_nothing_before_the_first_pose_and_memory_is_bounded() {
        let mut view = OwnView::default();
        let at = GlobalTime::from_millis;
        let lag = Lag::constant(Duration::from_millis(100)).unwrap();
        view.record(Pose::at(Vec3::new(f64::NAN, 0.0, 0.0)), at(0));
        for tick in 0..3_000 {
            view.record(Pose::at(Vec3::new(tick as f64, 0.0, 0.0)), at(tick * 10));
        }
        assert_eq!(view.poses.len(), MAX_POSES);
        assert!(view.shown(&lag, at(99)).is_none());
        assert_eq!(view.shown(&lag, at(29_100)).unwrap().position.x, 2_900.0);
    }
}
