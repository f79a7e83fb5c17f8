//! A tank driven by a seeded driver: full speed, stops, turns and reversals, changed in an instant as in BZFlag.

use evenkeel::{Duration, GlobalTime, Pose, Vec3};
use evenkeel_link::Noise;

const FULL_SPEED: f64 = 25.0;
const REVERSE_SPEED: f64 = -12.5;
const TURN_RATE: f64 = core::f64::consts::FRAC_PI_4;
/// How long a driver keeps at one thing, on average, in seconds.
const MEAN_SPELL: f64 = 0.7;
/// Half the side of the arena: drivers turn back towards the middle when they get there.
const ARENA: f64 = 300.0;

/// A driver and its tank.
#[derive(Clone, Debug)]
pub struct Drive {
    noise: Noise,
    spell: i64,
    until: GlobalTime,
    at: GlobalTime,
    position: Vec3,
    heading: f64,
    speed: f64,
    turn_rate: f64,
}

impl Drive {
    /// A driver of its own for every seed and number.
    pub fn new(seed: u64, number: u64) -> Self {
        let noise = Noise::new(seed, 0xD51F ^ number);
        let spread = |lane| (noise.uniform(0, lane) - 0.5) * ARENA;
        Self {
            spell: 0,
            until: GlobalTime::ZERO,
            at: GlobalTime::ZERO,
            position: Vec3::new(spread(1), spread(2), 0.0),
            heading: noise.uniform(0, 3) * core::f64::consts::TAU,
            speed: 0.0,
            turn_rate: 0.0,
            noise,
        }
    }

    /// Drives on to a time and says where the tank is then.
    pub fn to(&mut self, now: GlobalTime) -> Pose {
        while self.until <= now {
            self.drive(self.until);
            self.decide();
        }
        self.drive(now);
        Pose::at(self.position)
            .facing(self.heading)
            .moving(Vec3::from_heading(self.heading) * self.speed)
            .turning(self.turn_rate)
    }

    fn drive(&mut self, to: GlobalTime) {
        let seconds = to.since(self.at).as_secs_f64();
        let motion = evenkeel::Motion::circular(self.position, self.heading, self.speed, self.turn_rate);
        let state = motion.at(seconds);
        (self.position, self.heading, self.at) = (state.position, state.attitude.heading(), to);
    }

    fn decide(&mut self) {
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
        if self.position.length() > ARENA {
            let home = libm::atan2(-self.position.y, -self.position.x);
            let off = evenkeel::wrap_angle(home - self.heading);
            (self.speed, self.turn_rate) = (FULL_SPEED, TURN_RATE.copysign(off));
        }
    }
}
