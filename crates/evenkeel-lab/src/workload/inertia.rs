//! A tank whose speed and turn rate follow the driver's wishes only so fast.

use super::controls::Controls;
use super::{Mover, Sample};
use evenkeel::{Duration, GlobalTime, Pose, Vec3};

/// Metres per second, per second.
const ACCELERATION: f64 = 20.0;
/// Radians per second, per second.
const TURN_ACCELERATION: f64 = 3.0;
/// So close to the speed wanted, in metres per second, it counts as reached.
const NEARLY: f64 = 0.05;
/// Within such a step, speed and turn rate count as constant.
const STEP: Duration = Duration::from_millis(2);

/// A driver and a tank with mass.
#[derive(Clone, Debug)]
pub struct InertTank {
    controls: Controls,
    at: GlobalTime,
    position: Vec3,
    heading: f64,
    speed: f64,
    turn_rate: f64,
}

impl InertTank {
    /// A driver of its own for every seed and number: the one that [`Tank`](super::Tank) has.
    pub fn new(seed: u64, number: u64) -> Self {
        let controls = Controls::new(seed, number);
        let (position, heading) = controls.start();
        Self { controls, at: GlobalTime::ZERO, position, heading, speed: 0.0, turn_rate: 0.0 }
    }

    fn drive(&mut self, to: GlobalTime) {
        while self.at < to {
            let end = to.min(self.at + STEP);
            let dt = end.since(self.at).as_secs_f64();
            let towards = |now: f64, wanted: f64, rate: f64| now + (wanted - now).clamp(-rate * dt, rate * dt);
            let (speed, turn_rate) = (self.speed, self.turn_rate);
            self.speed = towards(speed, self.controls.speed, ACCELERATION);
            self.turn_rate = towards(turn_rate, self.controls.turn_rate, TURN_ACCELERATION);
            let (mean_speed, mean_rate) = ((speed + self.speed) / 2.0, (turn_rate + self.turn_rate) / 2.0);
            let state = evenkeel::Motion::circular(self.position, self.heading, mean_speed, mean_rate).at(dt);
            (self.position, self.heading, self.at) = (state.position, state.attitude.heading(), end);
        }
    }
}

impl Mover for InertTank {
    fn sample(&mut self, now: GlobalTime) -> Sample {
        while self.controls.until <= now {
            self.drive(self.controls.until);
            self.controls.decide(self.position, self.heading);
        }
        self.drive(now);
        let velocity = Vec3::from_heading(self.heading) * self.speed;
        let pose = Pose::at(self.position).facing(self.heading).moving(velocity).turning(self.turn_rate);
        // A tank knows that it is getting faster, and its vectors may as well say so.
        let missing = self.controls.speed - self.speed;
        let speeds_up = missing.abs() > NEARLY;
        let thrust = Vec3::from_heading(self.heading) * ACCELERATION.copysign(missing);
        let pose = if speeds_up { pose.accelerating(thrust) } else { pose };
        Sample { at: now, pose, accelerated: false }
    }
}
