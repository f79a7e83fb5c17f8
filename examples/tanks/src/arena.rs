//! What moves, and how.

use bevy::prelude::*;
use bevy_replicon::prelude::Replicated;
use evenkeel_bevy::prelude::*;
use serde::{Deserialize, Serialize};
use std::f32::consts::TAU;

/// Half of the arena's size, in metres.
pub const HALF: Vec2 = Vec2::new(40.0, 24.0);
/// Metres a second.
const SPEED: f32 = 14.0;
/// Metres a second, each second.
const ACCELERATION: f32 = 40.0;
/// Radians a second.
const TURNING: f32 = 1.8;

/// A tank. Its colour and where it begins follow from its number.
#[derive(Component, Clone, Copy, Serialize, Deserialize)]
#[require(Transform, Visibility, Moving)]
pub struct Tank(pub u8);

impl Tank {
    /// What a server spawns.
    pub fn bundle(number: u8) -> impl Bundle {
        let tank = Self(number);
        (tank, tank.home(), DeadReckoned::within(0.2).turning(0.05).upright(), Replicated)
    }

    /// Where it begins: on a ring, looking inwards.
    pub fn home(self) -> Transform {
        let angle = f32::from(self.0) * 0.382 * TAU;
        let at = Vec2::from_angle(angle) * HALF * 0.7;
        Transform::from_translation(at.extend(0.0)).with_rotation(Quat::from_rotation_z(angle + TAU / 2.0))
    }

    /// Far apart in hue, whatever the number.
    pub fn colour(self) -> Color {
        Color::oklch(0.74, 0.16, f32::from(self.0) * 137.5 % 360.0)
    }
}

/// What a driver wants: both from -1 to 1.
#[derive(Clone, Copy, Default)]
pub struct Pedals {
    throttle: f32,
    steering: f32,
}

impl Pedals {
    /// What the arrow keys or WASD ask for.
    pub fn pressed(keys: &ButtonInput<KeyCode>) -> Self {
        let any = |pressed: [KeyCode; 2]| f32::from(u8::from(keys.any_pressed(pressed)));
        Self {
            throttle: any([KeyCode::ArrowUp, KeyCode::KeyW]) - any([KeyCode::ArrowDown, KeyCode::KeyS]),
            steering: any([KeyCode::ArrowLeft, KeyCode::KeyA]) - any([KeyCode::ArrowRight, KeyCode::KeyD]),
        }
    }

    /// Whether nothing is pressed.
    pub fn idle(self) -> bool {
        self.throttle == 0.0 && self.steering == 0.0
    }

    /// Drives a tank for a while. `Moving` says what it does now, so that nothing has to be guessed between frames.
    pub fn drive(self, transform: &mut Transform, moving: &mut Moving, seconds: f32) {
        let heading = transform.rotation.to_euler(EulerRot::ZYX).0;
        let before = moving.velocity.truncate().dot(Vec2::from_angle(heading));
        let change = ACCELERATION * seconds;
        let speed = before + (self.throttle * SPEED - before).clamp(-change, change);
        let turn = self.steering * TURNING * seconds;
        let from = transform.translation.truncate();
        let free = from + Vec2::from_angle(heading + turn / 2.0) * speed * seconds;
        let to = free.clamp(-HALF, HALF);
        transform.translation = to.extend(0.0);
        transform.rotation = Quat::from_rotation_z(heading + turn);
        let velocity = match to == free || seconds == 0.0 {
            true => Vec2::from_angle(heading + turn) * speed,
            false => (to - from) / seconds,
        };
        *moving = Moving { velocity: velocity.extend(0.0), turning: Vec3::Z * self.steering * TURNING };
    }
}

/// A driver who turns, stops and goes as dice fall.
#[derive(Component)]
pub struct Bot {
    pedals: Pedals,
    seconds_left: f32,
    dice: u64,
}

impl Bot {
    /// Each number is another driver.
    pub fn new(number: u8) -> Self {
        Self { pedals: Pedals::default(), seconds_left: 0.0, dice: u64::from(number) + 1 }
    }

    fn roll(&mut self, sides: u64) -> u64 {
        self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.dice >> 33) % sides
    }

    /// What to do next, near a wall to turn away from it.
    pub fn decide(&mut self, transform: &Transform, seconds: f32) -> Pedals {
        self.seconds_left -= seconds;
        if self.seconds_left <= 0.0 {
            self.seconds_left = 0.4 + self.roll(12) as f32 * 0.1;
            self.pedals.throttle = [1.0, 1.0, 1.0, 0.5, 0.0][self.roll(5) as usize];
            self.pedals.steering = [-1.0, 0.0, 0.0, 1.0][self.roll(4) as usize];
        }
        let (at, ahead) = (transform.translation.truncate(), (transform.rotation * Vec3::X).truncate());
        let outside = (at + ahead * 10.0).abs().cmpgt(HALF).any();
        match outside {
            true => Pedals { throttle: 0.5, steering: if ahead.perp_dot(-at) < 0.0 { -1.0 } else { 1.0 } },
            false => self.pedals,
        }
    }
}

/// Lets bots drive what this app owns.
pub fn drive_bots(time: Res<Time>, mut bots: Query<(&mut Bot, &mut Transform, &mut Moving), With<Owned>>) {
    for (mut bot, mut transform, mut moving) in &mut bots {
        bot.decide(&transform, time.delta_secs()).drive(&mut transform, &mut moving, time.delta_secs());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_leaves_the_arena_nor_stands_in_a_corner() {
        for number in 0..16 {
            let (mut bot, mut transform, mut moving) = (Bot::new(number), Tank(number).home(), Moving::default());
            let mut gone = 0.0;
            for _ in 0..60 * 60 {
                let before = transform.translation;
                bot.decide(&transform, 1.0 / 60.0).drive(&mut transform, &mut moving, 1.0 / 60.0);
                assert!(transform.translation.truncate().abs().cmple(HALF).all(), "{transform:?}");
                gone += before.distance(transform.translation);
            }
            assert!(gone > 60.0 * 5.0, "tank {number} went {gone} m in a minute");
        }
    }

    #[test]
    fn what_is_told_of_a_movement_is_how_it_goes_on() {
        let (mut transform, mut moving) = (Transform::default(), Moving::default());
        let pedals = Pedals { throttle: 1.0, steering: 1.0 };
        for _ in 0..100 {
            pedals.drive(&mut transform, &mut moving, 0.01);
        }
        assert!((moving.velocity.length() - SPEED).abs() < 0.01, "{moving:?}");
        let expected = transform.translation + moving.velocity * 0.001;
        pedals.drive(&mut transform, &mut moving, 0.001);
        assert!(transform.translation.distance(expected) < 1e-4);
    }
}
