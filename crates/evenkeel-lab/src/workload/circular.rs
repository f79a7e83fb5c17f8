//! Circles at constant speed: nothing ever changes, which only arcs can say in one vector.

use super::controls::ARENA;
use super::{Mover, Sample};
use evenkeel::{GlobalTime, Pose, Vec3};
use evenkeel_link::Noise;

pub(super) struct Circle {
    motion: evenkeel::Motion,
}

impl Circle {
    pub(super) fn new(seed: u64, number: u64) -> Self {
        let noise = Noise::new(seed, 0xC12C ^ number);
        let spread = |lane| (noise.uniform(0, lane) - 0.5) * ARENA;
        let heading = noise.uniform(0, 2) * core::f64::consts::TAU;
        let (speed, turn_rate) = (5.0 + 20.0 * noise.uniform(0, 3), 0.2 + 0.8 * noise.uniform(0, 4));
        let turn_rate = if noise.chance(0, 5, 0.5) { turn_rate } else { -turn_rate };
        Self { motion: evenkeel::Motion::circular(Vec3::new(spread(0), spread(1), 0.0), heading, speed, turn_rate) }
    }
}

impl Mover for Circle {
    fn sample(&mut self, now: GlobalTime) -> Sample {
        let state = self.motion.at(now.since(GlobalTime::ZERO).as_secs_f64());
        Sample { at: now, pose: Pose::from(state), accelerated: false }
    }
}
