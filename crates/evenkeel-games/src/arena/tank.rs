//! A tank and its driver's wishes.

use super::{ACCELERATION, FULL_SPEED, Field, REVERSE_SPEED, Rules, SLOTS, TURN_ACCELERATION, TURN_RATE};
use core::hash::Hasher;
use evenkeel::{Attitude, Motion, State, Vec3, wrap_angle};

/// A tank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tank {
    /// Where its middle is. Metres.
    pub position: Vec3,
    /// Where it points, radians counter-clockwise from x.
    pub heading: f64,
    /// How fast it drives where it points, if no wall is in the way; negative when it reverses. Metres per second.
    pub speed: f64,
    /// How fast it turns. Radians per second.
    pub turn_rate: f64,
    /// What its driver wants: speed and turn in percent.
    pub wanted: (i8, i8),
    /// Steps until it comes back, or 0 while it is in the game.
    pub out: u32,
    /// Steps until each of its shots is loaded.
    pub slots: [u32; SLOTS],
    /// How many shots it has fired.
    pub fired: u32,
    /// How many tanks it has hit.
    pub kills: u32,
    /// How often it was hit.
    pub deaths: u32,
}

/// Where a tank is after a step.
struct Next {
    position: Vec3,
    heading: f64,
    speed: f64,
    turn_rate: f64,
    /// Whether a wall held it where it was.
    blocked: bool,
}

impl Tank {
    pub(super) fn new(position: Vec3, heading: f64) -> Self {
        Self {
            position,
            heading,
            speed: 0.0,
            turn_rate: 0.0,
            wanted: (0, 0),
            out: 0,
            slots: [0; SLOTS],
            fired: 0,
            kills: 0,
            deaths: 0,
        }
    }

    /// Whether it is in the game.
    pub fn is_alive(&self) -> bool {
        self.out == 0
    }

    /// How many of its shots are loaded.
    pub fn loaded(&self) -> usize {
        self.slots.iter().filter(|steps| **steps == 0).count()
    }

    /// The speed and the turn rate that the driver wants.
    fn wishes(&self) -> (f64, f64) {
        let [speed, turn] = [self.wanted.0, self.wanted.1].map(|percent| f64::from(percent) / 100.0);
        (speed * if speed < 0.0 { REVERSE_SPEED } else { FULL_SPEED }, turn * TURN_RATE)
    }

    pub(super) fn want(&mut self, speed: i8, turn: i8, rules: &Rules) {
        self.wanted = (speed.clamp(-100, 100), turn.clamp(-100, 100));
        if !rules.inertia {
            (self.speed, self.turn_rate) = self.wishes();
        }
    }

    /// Where it is after the next step.
    fn next(&self, rules: &Rules, field: &Field) -> Next {
        let dt = rules.step_length.as_secs_f64();
        let towards = |now: f64, wanted: f64, rate: f64| now + (wanted - now).clamp(-rate * dt, rate * dt);
        let (mut speed, mut turn_rate) = self.wishes();
        if rules.inertia {
            speed = towards(self.speed, speed, ACCELERATION);
            turn_rate = towards(self.turn_rate, turn_rate, TURN_ACCELERATION);
        }
        let (mean_speed, mean_rate) = ((self.speed + speed) / 2.0, (self.turn_rate + turn_rate) / 2.0);
        let position = Motion::circular(self.position, self.heading, mean_speed, mean_rate).position_at(dt);
        let heading = wrap_angle(self.heading + mean_rate * dt);
        if mean_speed != 0.0 && field.blocks(position) {
            // A driver who wants on keeps the engine running; what has inertia has lost it.
            let speed = if rules.inertia { 0.0 } else { speed };
            return Next { position: self.position, heading, speed, turn_rate, blocked: true };
        }
        Next { position, heading, speed, turn_rate, blocked: false }
    }

    fn drive(&mut self, rules: &Rules, field: &Field) {
        let next = self.next(rules, field);
        (self.position, self.heading) = (next.position, next.heading);
        (self.speed, self.turn_rate) = (next.speed, next.turn_rate);
    }

    fn reload(&mut self) {
        self.slots = self.slots.map(|steps| steps.saturating_sub(1));
    }

    /// Drives for a step, or waits. Answers whether its time out ends with it: then it needs a place.
    pub(super) fn step(&mut self, rules: &Rules, field: &Field) -> bool {
        self.reload();
        let alive = self.is_alive();
        if alive {
            self.drive(rules, field);
        }
        !alive && self.is_back()
    }

    /// How it is to be shown, whether it is in the game or not. It has no velocity if it stands against a wall, whatever its
    /// driver wants.
    pub(super) fn state(&self, rules: &Rules, field: &Field) -> State {
        let stands = self.next(rules, field).blocked;
        State {
            position: self.position,
            velocity: if stands { Vec3::ZERO } else { Vec3::from_heading(self.heading) * self.speed },
            attitude: Attitude::Heading { heading: self.heading, turn_rate: self.turn_rate },
        }
    }

    /// Whether it fires: it is in the game, and a shot is loaded.
    pub(super) fn fire(&mut self, reload: u32) -> bool {
        let slot = self.slots.iter_mut().find(|steps| **steps == 0).filter(|_| self.out == 0);
        let Some(slot) = slot else { return false };
        *slot = reload;
        self.fired += 1;
        true
    }

    pub(super) fn die(&mut self, out: u32) {
        self.out = out;
        self.deaths += 1;
        (self.speed, self.turn_rate) = (0.0, 0.0);
    }

    /// Whether its time out ends with this step.
    fn is_back(&mut self) -> bool {
        self.out = self.out.saturating_sub(1);
        self.out == 0
    }

    /// Back in the game, the driver's hands where they are.
    pub(super) fn come_back(&mut self, position: Vec3, heading: f64, rules: &Rules) {
        (self.position, self.heading) = (position, heading);
        self.want(self.wanted.0, self.wanted.1, rules);
    }

    pub(super) fn write(&self, hasher: &mut dyn Hasher) {
        for number in [self.position.x, self.position.y, self.heading, self.speed, self.turn_rate] {
            hasher.write_u64(number.to_bits());
        }
        hasher.write_i8(self.wanted.0);
        hasher.write_i8(self.wanted.1);
        for number in self.slots.into_iter().chain([self.out, self.fired, self.kills, self.deaths]) {
            hasher.write_u32(number);
        }
    }
}
