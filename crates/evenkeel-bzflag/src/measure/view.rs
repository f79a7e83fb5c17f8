//! What one client shows of one tank.

use crate::rules::{Rules, grounded, vec3};
use evenkeel::{Duration, GlobalTime, Motion, State, Vec3};
use std::collections::VecDeque;

/// So many updates under way, or shown within the time that is still to be judged, are kept of one tank; more come from nobody who
/// means well.
const MOST: usize = 1024;

/// One client's picture of one tank: by the game's rule, from what arrives and when.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    anchors: VecDeque<Anchor>,
}

/// From where a client moves a tank on.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    /// From when it is shown.
    from: GlobalTime,
    /// From when it counts.
    epoch: GlobalTime,
    motion: Motion,
}

impl View {
    /// An update with this motion arrives.
    pub(crate) fn arrives(&mut self, motion: Motion, at: GlobalTime, early: Duration) {
        self.push(Anchor { from: at, epoch: at - early, motion });
    }

    /// A shot of the tank arrives: the client moves the tank back to where the shot began, and on from there.
    pub(crate) fn shot(&mut self, muzzle: [f32; 3], rules: &Rules, at: GlobalTime, early: Duration) {
        let Some(anchor) = self.in_use(at) else { return };
        let mut motion = anchor.motion.advanced(at.since(anchor.epoch).as_secs_f64());
        let front = Vec3::from_heading(motion.attitude.heading()) * rules.muzzle_front;
        motion.position = vec3(muzzle) - front - Vec3::new(0.0, 0.0, rules.muzzle_height);
        self.push(Anchor { from: at, epoch: at - early, motion });
    }

    /// Where the tank is shown, if it is.
    pub(crate) fn place(&self, t: GlobalTime) -> Option<State> {
        let anchor = self.in_use(t)?;
        Some(grounded(anchor.motion.at(t.since(anchor.epoch).as_secs_f64())))
    }

    /// Forgets what is no longer shown by then.
    pub(crate) fn forget_before(&mut self, t: GlobalTime) {
        while self.anchors.get(1).is_some_and(|next| next.from <= t) {
            self.anchors.pop_front();
        }
    }

    fn in_use(&self, t: GlobalTime) -> Option<&Anchor> {
        self.anchors.iter().rfind(|anchor| anchor.from <= t)
    }

    /// Takes in what was sent last. What it overtakes on the way is dropped by the game, for its order is lower.
    fn push(&mut self, anchor: Anchor) {
        while self.anchors.back().is_some_and(|last| last.from > anchor.from) {
            self.anchors.pop_back();
        }
        if self.anchors.len() == MOST {
            self.anchors.pop_front();
        }
        self.anchors.push_back(anchor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> GlobalTime {
        GlobalTime::from_millis(ms)
    }

    #[test]
    fn a_shot_moves_the_tank_to_where_it_was_fired() {
        let mut view = View::default();
        view.arrives(Motion::linear(Vec3::ZERO, Vec3::new(20.0, 0.0, 0.0)).facing(0.0, 0.0), at(0), Duration::ZERO);
        let rules = Rules::default();
        let muzzle = [8.0 + rules.muzzle_front as f32, 1.0, rules.muzzle_height as f32];
        view.shot(muzzle, &rules, at(500), Duration::ZERO);
        let x = |ms| view.place(at(ms)).expect("it is shown").position.x;
        assert!((x(499) - 9.98).abs() < 1e-9);
        assert!((x(500) - 8.0).abs() < 1e-5 && (x(600) - 10.0).abs() < 1e-5);
    }

    #[test]
    fn what_is_overtaken_is_dropped_as_the_game_does() {
        let mut view = View::default();
        view.arrives(Motion::stationary(Vec3::new(1.0, 0.0, 0.0)), at(50), Duration::ZERO);
        view.arrives(Motion::stationary(Vec3::new(2.0, 0.0, 0.0)), at(40), Duration::ZERO);
        assert!(view.place(at(39)).is_none());
        assert_eq!(view.place(at(60)).map(|s| s.position.x), Some(2.0));
    }
}
