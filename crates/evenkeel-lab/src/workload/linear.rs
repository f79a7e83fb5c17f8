//! Straight lines at constant speed, reflected at the border of the arena.

use super::controls::ARENA;
use super::{Mover, Sample};
use evenkeel::{GlobalTime, Pose, Vec3};
use evenkeel_link::Noise;

pub(super) struct Straight {
    at: GlobalTime,
    position: Vec3,
    velocity: Vec3,
}

impl Straight {
    pub(super) fn new(seed: u64, number: u64) -> Self {
        let noise = Noise::new(seed, 0x11EA ^ number);
        let spread = |lane| (noise.uniform(0, lane) - 0.5) * ARENA;
        let heading = noise.uniform(0, 2) * core::f64::consts::TAU;
        let velocity = Vec3::from_heading(heading) * (5.0 + 20.0 * noise.uniform(0, 3));
        Self { at: GlobalTime::ZERO, position: Vec3::new(spread(0), spread(1), 0.0), velocity }
    }
}

/// One coordinate and its velocity after `dt`, reflected at the border.
fn reflected(x: f64, v: f64, dt: f64) -> (f64, f64) {
    let there = x + v * dt;
    if there.abs() <= ARENA { (there, v) } else { (2.0 * ARENA.copysign(there) - there, -v) }
}

impl Mover for Straight {
    fn sample(&mut self, now: GlobalTime) -> Sample {
        let dt = now.since(self.at).as_secs_f64();
        (self.position.x, self.velocity.x) = reflected(self.position.x, self.velocity.x, dt);
        (self.position.y, self.velocity.y) = reflected(self.position.y, self.velocity.y, dt);
        self.at = now;
        let heading = libm::atan2(self.velocity.y, self.velocity.x);
        let pose = Pose::at(self.position).facing(heading).moving(self.velocity).turning(0.0);
        Sample { at: now, pose, accelerated: false }
    }
}
