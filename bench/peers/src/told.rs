//! What the receivers of the load half must show: what the server was told, as late as the network makes it.

use evenkeel::{GlobalTime, Motion, MotionKind, Pose, Vec3};
use std::collections::VecDeque;

/// How many ticks older than the newest a shown state may be, where datagrams get lost.
const LATE: usize = 10;

/// What the server was told of one entity, and when.
#[derive(Clone)]
struct State {
    at: GlobalTime,
    motion: Motion,
}

/// What the server has been told in the last ticks, the newest first.
pub struct Told {
    ticks: VecDeque<Vec<State>>,
    depth: usize,
    /// Whether receivers move things on since they were told, or show where they were told to be.
    extrapolates: bool,
}

/// What a receiver shows, beside what the server was told.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shown {
    /// How many entities are shown.
    pub entities: usize,
    /// How many are where the newest state that can have arrived has them.
    pub newest: usize,
    /// How many are where none of the states that a loss excuses has them.
    pub wrong: usize,
    /// How far the worst is from the newest state that can have arrived, in metres.
    pub worst: f64,
}

impl Shown {
    /// Both together.
    pub fn and(self, other: Self) -> Self {
        Self {
            entities: self.entities + other.entities,
            newest: self.newest + other.newest,
            wrong: self.wrong + other.wrong,
            worst: self.worst.max(other.worst),
        }
    }
}

impl Told {
    /// Nothing yet. States are kept as long as the most delayed receiver needs them.
    pub fn new(longest_lag: usize, extrapolates: bool) -> Self {
        Self { ticks: VecDeque::new(), depth: longest_lag + LATE + 1, extrapolates }
    }

    /// Another tick. `poses` has every entity in order, and whether the server was told; of the others it still has
    /// what it was told last.
    pub fn tick(&mut self, poses: impl Iterator<Item = (Pose, bool)>, now: GlobalTime) {
        let mut next = if self.ticks.len() == self.depth { self.ticks.pop_back() } else { None }.unwrap_or_default();
        next.clear();
        let before = self.ticks.front();
        next.extend(poses.enumerate().map(|(id, (pose, told))| match before {
            Some(before) if !told => before[id].clone(),
            _ => State { at: now, motion: pose.motion(MotionKind::Auto) },
        }));
        self.ticks.push_front(next);
    }

    /// Where an entity is to be shown now, by what was told so many ticks ago; nothing if that is not known.
    fn expected(&self, id: u32, ticks_ago: usize, now: GlobalTime) -> Option<Vec3> {
        let State { at, motion } = self.ticks.get(ticks_ago)?.get(id as usize)?;
        Some(if self.extrapolates { motion.position_at(now.since(*at).as_secs_f64()) } else { motion.position })
    }

    /// Judges one shown entity at a receiver whose newest state is `lag` ticks old.
    pub fn judge(&self, id: u32, place: Vec3, lag: usize, now: GlobalTime, tolerance: f64) -> Shown {
        let off = |ticks_ago| self.expected(id, ticks_ago, now).map_or(f64::INFINITY, |there| place.distance(there));
        let worst = off(lag);
        let newest = worst <= tolerance;
        let excused = newest || (lag + 1..=lag + LATE).any(|ticks_ago| off(ticks_ago) <= tolerance);
        Shown { entities: 1, newest: usize::from(newest), wrong: usize::from(!excused), worst }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::TICK;

    /// One entity that goes 20 m/s to the east and is told in the first 30 ticks; it is tick 40 now.
    fn told(extrapolates: bool) -> (Told, GlobalTime) {
        let mut told = Told::new(13, extrapolates);
        let at = |tick: i64| GlobalTime::ZERO + TICK * tick;
        for tick in 0..=40 {
            let x = 20.0 * (at(tick).as_nanos() as f64 / 1e9);
            let motion = Motion::circular(Vec3::new(x, 0.0, 0.0), 0.0, 20.0, 0.0);
            told.tick(std::iter::once((Pose::from(motion.at(0.0)), tick < 30)), at(tick));
        }
        (told, at(40))
    }

    #[test]
    fn a_peer_must_show_what_was_told_one_delay_ago_and_nothing_newer_or_much_older() {
        let (told, now) = told(false);
        let metres = |tick: f64| Vec3::new(20.0 * TICK.as_secs_f64() * tick, 0.0, 0.0);
        let judge = |tick, lag| told.judge(0, metres(tick), lag, now, 0.12);
        // 13 ticks ago is tick 27; from tick 29 on nothing new was told.
        assert_eq!((judge(27.0, 13).newest, judge(29.0, 0).newest, judge(29.0, 11).newest), (1, 1, 1));
        let late = judge(26.0, 13);
        assert!(late.newest == 0 && late.wrong == 0 && (late.worst - 1.0 / 3.0).abs() < 1e-6, "{late:?}");
        assert_eq!((judge(28.0, 13).wrong, judge(17.0, 13).wrong, judge(16.0, 13).wrong), (1, 0, 1));
    }

    #[test]
    fn whoever_extrapolates_must_show_it_where_it_has_got_to() {
        let (told, now) = told(true);
        let metres = |tick: f64| Vec3::new(20.0 * TICK.as_secs_f64() * tick, 0.0, 0.0);
        assert_eq!(told.judge(0, metres(40.0), 13, now, 0.12).newest, 1);
        assert_eq!(told.judge(0, metres(27.0), 13, now, 0.12).wrong, 1);
        // An entity that the server was never told of.
        assert_eq!(told.judge(1, metres(40.0), 13, now, 0.12).wrong, 1);
    }
}
