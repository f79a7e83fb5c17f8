//! What a driver wants from moment to moment: full speed, stops, turns and reversals, by seed.

use evenkeel::{Duration, GlobalTime, Vec3};
use evenkeel_link::Noise;

pub(super) const FULL_SPEED: f64 = 25.0;
const REVERSE_SPEED: f64 = -12.5;
const TURN_RATE: f64 = core::f64::consts::FRAC_PI_4;
/// How long a driver keeps at one thing, on average, in seconds.
const MEAN_SPELL: f64 = 0.7;
/// Half the side of the arena: drivers turn back towards the middle when they get there.
pub(super) const ARENA: f64 = 300.0;

/// A driver at the controls.
#[derive(Clone, Debug)]
pub(super) struct Controls {
    noise: Noise,
    spell: i64,
    /// When the driver decides again.
    pub(super) until: GlobalTime,
    /// The speed wanted.
    pub(super) speed: f64,
    /// The turn rate wanted.
    pub(super) turn_rate: f64,
}

impl Controls {
    /// A driver of its own for every seed and number.
    pub(super) fn new(seed: u64, number: u64) -> Self {
        let noise = Noise::new(seed, 0xD51F ^ number);
        Self { noise, spell: 0, until: GlobalTime::ZERO, speed: 0.0, turn_rate: 0.0 }
    }

    /// Where it starts, and which way it looks.
    pub(super) fn start(&self) -> (Vec3, f64) {
        let spread = |lane| (self.noise.uniform(0, lane) - 0.5) * ARENA;
        (Vec3::new(spread(1), spread(2), 0.0), self.noise.uniform(0, 3) * core::f64::consts::TAU)
    }

    /// Decides what to do next.
    pub(super) fn decide(&mut self, position: Vec3, heading: f64) {
        self.spell += 1;
        let draw = |lane| self.noise.uniform(self.spell, lane);
        let length = 0.1 + MEAN_SPELL * self.noise.exponential(self.spell, 4);
        self.until += Duration::from_secs_f64(length);
        self.speed = match draw(5) {
            d if d < 0.2 => 0.0,
            d if d < 0.3 => REVERSE_SPEED * draw(6),
            d if d < 0.7 => FULL_SPEED,
            _ => FULL_SPEED * draw(6),
        };
        self.turn_rate = match draw(7) {
            d if d < 0.45 => 0.0,
            d => TURN_RATE * if d < 0.72 { 1.0 } else { -1.0 },
        };
        if position.length() > ARENA {
            let home = libm::atan2(-position.y, -position.x);
            let off = evenkeel::wrap_angle(home - heading);
            (self.speed, self.turn_rate) = (FULL_SPEED, TURN_RATE.copysign(off));
        }
    }
}
