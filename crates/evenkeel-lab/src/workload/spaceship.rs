//! A spaceship: it turns, it thrusts along its nose, and nothing slows it down.

use super::controls::ARENA;
use super::{Mover, Sample};
use evenkeel::{Duration, GlobalTime, Pose, Vec3, wrap_angle};
use evenkeel_link::Noise;

/// Metres per second squared.
const THRUST: f64 = 12.0;
/// Radians per second.
const TURN_RATE: f64 = 2.0;
/// The pilot brakes above this speed.
const FAST: f64 = 30.0;
/// How long the pilot keeps at one thing, on average, in seconds.
const MEAN_SPELL: f64 = 0.6;
/// Within such a step the nose counts as fixed.
const STEP: Duration = Duration::from_millis(4);

pub(super) struct Ship {
    noise: Noise,
    spell: i64,
    until: GlobalTime,
    at: GlobalTime,
    position: Vec3,
    velocity: Vec3,
    heading: f64,
    turn_rate: f64,
    thrusts: bool,
}

impl Ship {
    pub(super) fn new(seed: u64, number: u64) -> Self {
        let noise = Noise::new(seed, 0x5BAC ^ number);
        let spread = |lane| (noise.uniform(0, lane) - 0.5) * ARENA;
        Self {
            spell: 0,
            until: GlobalTime::ZERO,
            at: GlobalTime::ZERO,
            position: Vec3::new(spread(0), spread(1), 0.0),
            velocity: Vec3::ZERO,
            heading: noise.uniform(0, 2) * core::f64::consts::TAU,
            turn_rate: 0.0,
            thrusts: false,
            noise,
        }
    }

    fn acceleration(&self) -> Vec3 {
        if self.thrusts { Vec3::from_heading(self.heading) * THRUST } else { Vec3::ZERO }
    }

    fn fly(&mut self, to: GlobalTime) {
        while self.at < to {
            let end = to.min(self.at + STEP);
            let dt = end.since(self.at).as_secs_f64();
            let acceleration = self.acceleration();
            self.position += self.velocity * dt + acceleration * (dt * dt / 2.0);
            self.velocity += acceleration * dt;
            self.heading = wrap_angle(self.heading + self.turn_rate * dt);
            self.at = end;
        }
    }

    fn decide(&mut self) {
        self.spell += 1;
        let draw = |lane| self.noise.uniform(self.spell, lane);
        self.until += Duration::from_secs_f64(0.1 + MEAN_SPELL * self.noise.exponential(self.spell, 3));
        self.thrusts = draw(4) < 0.5;
        self.turn_rate = match draw(5) {
            d if d < 0.5 => 0.0,
            d if d < 0.75 => TURN_RATE,
            _ => -TURN_RATE,
        };
        let wanted = if self.velocity.length() > FAST {
            self.velocity * -1.0
        } else if self.position.length() > ARENA {
            self.position * -1.0
        } else {
            return;
        };
        // Nose first, then thrust.
        let off = wrap_angle(libm::atan2(wanted.y, wanted.x) - self.heading);
        self.thrusts = off.abs() < 0.5;
        self.turn_rate = if self.thrusts { 0.0 } else { TURN_RATE.copysign(off) };
        let spell = if self.thrusts { 0.5 } else { off.abs() / TURN_RATE };
        self.until = self.at + Duration::from_secs_f64(spell);
    }
}

impl Mover for Ship {
    fn sample(&mut self, now: GlobalTime) -> Sample {
        while self.until <= now {
            self.fly(self.until);
            self.decide();
        }
        self.fly(now);
        let pose = Pose::at(self.position).facing(self.heading).moving(self.velocity).turning(self.turn_rate);
        Sample { at: now, pose: pose.accelerating(self.acceleration()), accelerated: self.thrusts }
    }
}
