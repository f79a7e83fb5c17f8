//! A random stick: it points another way several times a second, and the entity follows at once.

use super::controls::ARENA;
use super::{Mover, Sample};
use evenkeel::{Duration, GlobalTime, Pose, Vec3};
use evenkeel_link::Noise;

/// With the stick all the way out, metres per second.
const FULL: f64 = 10.0;
/// How long the stick stays as it is, on average, beyond the shortest time.
const MEAN_SPELL: f64 = 0.25;
const SHORTEST_SPELL: f64 = 0.05;

pub(super) struct Stick {
    noise: Noise,
    spell: i64,
    until: GlobalTime,
    at: GlobalTime,
    position: Vec3,
    heading: f64,
    velocity: Vec3,
}

impl Stick {
    pub(super) fn new(seed: u64, number: u64) -> Self {
        let noise = Noise::new(seed, 0x571C ^ number);
        let spread = |lane| (noise.uniform(0, lane) - 0.5) * ARENA;
        let position = Vec3::new(spread(0), spread(1), 0.0);
        let start = GlobalTime::ZERO;
        Self { spell: 0, until: start, at: start, position, heading: 0.0, velocity: Vec3::ZERO, noise }
    }

    fn go(&mut self, to: GlobalTime) {
        self.position += self.velocity * to.since(self.at).as_secs_f64();
        self.at = to;
    }

    fn decide(&mut self) {
        self.spell += 1;
        let spell = SHORTEST_SPELL + MEAN_SPELL * self.noise.exponential(self.spell, 2);
        self.until += Duration::from_secs_f64(spell);
        self.heading = self.noise.uniform(self.spell, 3) * core::f64::consts::TAU;
        if self.position.length() > ARENA {
            self.heading = libm::atan2(-self.position.y, -self.position.x);
        }
        // Evenly over the disc.
        self.velocity = Vec3::from_heading(self.heading) * (FULL * self.noise.uniform(self.spell, 4).sqrt());
    }
}

impl Mover for Stick {
    fn sample(&mut self, now: GlobalTime) -> Sample {
        while self.until <= now {
            self.go(self.until);
            self.decide();
        }
        self.go(now);
        let pose = Pose::at(self.position).facing(self.heading).moving(self.velocity).turning(0.0);
        Sample { at: now, pose, accelerated: false }
    }
}
