//! A tank that does what its driver wants in an instant, as in BZFlag.

use super::controls::Controls;
use super::{Mover, Sample};
use evenkeel::{GlobalTime, Pose, Vec3};

/// A driver and its tank.
#[derive(Clone, Debug)]
pub struct Tank {
    controls: Controls,
    at: GlobalTime,
    position: Vec3,
    heading: f64,
}

impl Tank {
    /// A driver of its own for every seed and number.
    pub fn new(seed: u64, number: u64) -> Self {
        let controls = Controls::new(seed, number);
        let (position, heading) = controls.start();
        Self { controls, at: GlobalTime::ZERO, position, heading }
    }

    /// Drives on to a time and says where the tank is then.
    pub fn to(&mut self, now: GlobalTime) -> Pose {
        while self.controls.until <= now {
            self.drive(self.controls.until);
            self.controls.decide(self.position, self.heading);
        }
        self.drive(now);
        Pose::at(self.position)
            .facing(self.heading)
            .moving(Vec3::from_heading(self.heading) * self.controls.speed)
            .turning(self.controls.turn_rate)
    }

    fn drive(&mut self, to: GlobalTime) {
        let seconds = to.since(self.at).as_secs_f64();
        let Controls { speed, turn_rate, .. } = self.controls;
        let state = evenkeel::Motion::circular(self.position, self.heading, speed, turn_rate).at(seconds);
        (self.position, self.heading, self.at) = (state.position, state.attitude.heading(), to);
    }
}

impl Mover for Tank {
    fn sample(&mut self, now: GlobalTime) -> Sample {
        Sample { at: now, pose: self.to(now), accelerated: false }
    }
}
