//! A ship and its pilot's keys.

use super::{BEAM_LENGTH, RADIUS, THRUST, TOP_SPEED, TURN_RATE};
use core::hash::Hasher;
use evenkeel::{Attitude, Course, Motion, Pose, State, Vec3};

/// How far from the middle of the field ships start. Pixels.
const START_RADIUS: f64 = 200.0;

/// Which way a ship turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Turn {
    /// Straight on.
    #[default]
    None,
    /// Counter-clockwise.
    Left,
    /// Clockwise.
    Right,
}

impl Turn {
    /// Radians per second.
    pub fn rate(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Left => TURN_RATE,
            Self::Right => -TURN_RATE,
        }
    }
}

/// A ship.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ship {
    /// Where its middle is. Pixels.
    pub position: Vec3,
    /// Where its nose points, radians counter-clockwise from x.
    pub heading: f64,
    /// How fast it flies where its nose points. Pixels per second.
    pub speed: f64,
    /// Whether its pilot holds the key to accelerate.
    pub accelerates: bool,
    /// Whether its pilot holds the key to decelerate.
    pub decelerates: bool,
    /// Which way its pilot turns it.
    pub turn: Turn,
    /// Life points; removed at 0.
    pub life: u8,
    /// Steps until the laser is ready.
    pub reload: u32,
    /// Whether its laser fires at this tick.
    pub fires: bool,
}

impl Ship {
    pub(super) fn new(number: u32, of: u32, life: u8) -> Self {
        // On a circle around the middle, noses inwards.
        let bearing = core::f64::consts::TAU * f64::from(number) / f64::from(of);
        Self {
            position: Vec3::from_heading(bearing) * -START_RADIUS,
            heading: evenkeel::wrap_angle(bearing),
            speed: 0.0,
            accelerates: false,
            decelerates: false,
            turn: Turn::None,
            life,
            reload: 0,
            fires: false,
        }
    }

    /// Whether it is still in the game.
    pub fn is_alive(&self) -> bool {
        self.life > 0
    }

    /// The beam of this tick, from end to end, if its laser fires.
    pub fn beam(&self) -> Option<(Vec3, Vec3)> {
        let ahead = Vec3::from_heading(self.heading);
        let nose = self.position + ahead * RADIUS;
        self.fires.then(|| (nose, nose + ahead * BEAM_LENGTH))
    }

    /// The speed after so many seconds, if the keys stay as they are.
    fn speed_after(&self, dt: f64) -> f64 {
        let thrust = THRUST * (f64::from(u8::from(self.accelerates)) - f64::from(u8::from(self.decelerates)));
        (self.speed + thrust * dt).clamp(0.0, TOP_SPEED)
    }

    /// How it goes on in the next step: exactly what dead reckoning with a turning acceleration extrapolates.
    pub(super) fn motion(&self, dt: f64) -> Motion {
        let ahead = Vec3::from_heading(self.heading);
        let acceleration = ahead * ((self.speed_after(dt) - self.speed) / dt);
        Motion {
            position: self.position,
            course: Course::Turning { velocity: ahead * self.speed, acceleration },
            attitude: Attitude::Heading { heading: self.heading, turn_rate: self.turn.rate() },
        }
    }

    /// For a sender to export: with the acceleration and the turn rate of a motion that began at this ship.
    pub(super) fn pose(motion: &Motion) -> Pose {
        let pose = Pose::at(motion.position).facing(motion.attitude.heading()).turning(motion.attitude.turn_rate());
        match motion.course {
            Course::Turning { velocity, acceleration } => pose.moving(velocity).accelerating(acceleration),
            _ => pose.moving(motion.velocity_at(0.0)),
        }
    }

    /// How it is to be shown, whether it is in the game or not.
    pub(super) fn state(&self) -> State {
        State {
            position: self.position,
            velocity: Vec3::from_heading(self.heading) * self.speed,
            attitude: Attitude::Heading { heading: self.heading, turn_rate: self.turn.rate() },
        }
    }

    pub(super) fn fly(&mut self, dt: f64) {
        let motion = self.motion(dt);
        self.position = motion.position_at(dt);
        self.heading = motion.attitude.at(dt).heading();
        self.speed = self.speed_after(dt);
        self.reload = self.reload.saturating_sub(1);
    }

    pub(super) fn write(&self, hasher: &mut dyn Hasher) {
        for number in [self.position.x, self.position.y, self.heading, self.speed] {
            hasher.write_u64(number.to_bits());
        }
        hasher.write_u32(self.reload);
        let turn = match self.turn {
            Turn::None => 0,
            Turn::Left => 1,
            Turn::Right => 2,
        };
        for small in [self.accelerates.into(), self.decelerates.into(), turn, self.life, self.fires.into()] {
            hasher.write_u8(small);
        }
    }
}
