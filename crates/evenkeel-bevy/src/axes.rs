//! Bevy's axes and the heart's.

use crate::components::{Moving, Turns};
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_transform::prelude::*;
use evenkeel::{Attitude, Pose, State};
use std::f32::consts::{FRAC_PI_2, PI};
use std::hint::select_unpredictable;

/// What lies between Bevy's -z and the heart's x.
const QUARTER_TURN: f64 = std::f64::consts::FRAC_PI_2;

/// Which way is up, for entities that stand [upright](Turns::Upright). All apps of a session need the same.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Axes {
    /// Three dimensions as Bevy has them: up is y, and things drive along their own -z.
    #[default]
    YUp,
    /// Two dimensions: things turn in the plane of x and y, and drive along their own x.
    Flat,
}

impl Axes {
    fn to_heart(self, v: Vec3) -> evenkeel::Vec3 {
        let (x, y, z) = (f64::from(v.x), f64::from(v.y), f64::from(v.z));
        match self {
            Self::YUp => evenkeel::Vec3::new(x, -z, y),
            Self::Flat => evenkeel::Vec3::new(x, y, z),
        }
    }

    fn to_bevy(self, v: evenkeel::Vec3) -> Vec3 {
        match self {
            Self::YUp => Vec3::new(v.x as f32, v.z as f32, -v.y as f32),
            Self::Flat => Vec3::new(v.x as f32, v.y as f32, v.z as f32),
        }
    }

    /// How far it has turned about the vertical axis. Only that one of its angles, because it is asked of everything in every frame.
    fn heading(self, rotation: Quat) -> f64 {
        let [x, y, z, w] = rotation.to_array();
        match self {
            Self::YUp => angle(w * y + x * z, 0.5 - x * x - y * y) + QUARTER_TURN,
            Self::Flat => angle(w * z + x * y, 0.5 - y * y - z * z),
        }
    }

    fn rotation(self, heading: f64) -> Quat {
        match self {
            Self::YUp => Quat::from_rotation_y((heading - QUARTER_TURN) as f32),
            Self::Flat => Quat::from_rotation_z(heading as f32),
        }
    }

    /// What the owner's game says of an entity. `speed` is how fast the game's time goes in comparison to the real one.
    #[inline]
    pub(crate) fn pose(self, transform: &Transform, moving: Option<&Moving>, turns: Turns, speed: f32) -> Pose {
        let position = self.to_heart(transform.translation);
        let orientation = || {
            let [x, y, z, w] = transform.rotation.to_array();
            let imaginary = self.to_heart(Vec3::new(x, y, z));
            evenkeel::Quat::new(f64::from(w), imaginary.x, imaginary.y, imaginary.z)
        };
        let Some(moving) = moving else {
            let at = Pose::at(position);
            return match turns {
                Turns::Never => at,
                Turns::Upright => at.facing(self.heading(transform.rotation)),
                Turns::Freely => at.oriented(orientation()),
            };
        };
        let turning = self.to_heart(moving.turning * speed);
        let attitude = match turns {
            Turns::Never => Attitude::None,
            Turns::Upright => Attitude::Heading { heading: self.heading(transform.rotation), turn_rate: turning.z },
            Turns::Freely => Attitude::Full { orientation: orientation(), angular_velocity: turning },
        };
        State { position, velocity: self.to_heart(moving.velocity * speed), attitude }.into()
    }

    /// The transform of an entity that is to be shown so, scaled as it was.
    pub(crate) fn transform(self, state: &State, before: &Transform) -> Transform {
        let rotation = match state.attitude {
            Attitude::Heading { heading, .. } => self.rotation(heading),
            Attitude::Full { orientation: q, .. } => {
                let imaginary = self.to_bevy(evenkeel::Vec3::new(q.x, q.y, q.z));
                Quat::from_xyzw(imaginary.x, imaginary.y, imaginary.z, q.w as f32)
            }
            Attitude::None => before.rotation,
        };
        Transform { translation: self.to_bevy(state.position), rotation, scale: before.scale }
    }

    /// How it moves.
    pub(crate) fn moving(self, state: &State) -> Moving {
        let turning = match state.attitude {
            Attitude::None => evenkeel::Vec3::ZERO,
            Attitude::Heading { turn_rate, .. } => evenkeel::Vec3::new(0.0, 0.0, turn_rate),
            Attitude::Full { angular_velocity, .. } => angular_velocity,
        };
        Moving { velocity: self.to_bevy(state.velocity), turning: self.to_bevy(turning) }
    }
}

/// The arctangent of `t` from 0 to 1 is `t` times this polynomial in the square of `t`, to 1.2e-7: as far as an `f32` tells.
const ARCTANGENT: [f32; 8] = [
    0.999_999_88,
    -0.333_318_13,
    0.199_669_62,
    -0.140_032_9,
    0.098_688_655,
    -0.058_829_753,
    0.023_780_519,
    -0.004_559_792,
];

/// The angle of a direction, as `atan2` has it. Things face wherever they like, and whoever guesses the octant guesses wrong most of the
/// time: here nobody guesses.
fn angle(y: f32, x: f32) -> f64 {
    let (high, wide) = (y.abs(), x.abs());
    let steep = high > wide;
    let (short, long) = (select_unpredictable(steep, wide, high), select_unpredictable(steep, high, wide));
    let slope = if long == 0.0 { 0.0 } else { short / long };
    let square = slope * slope;
    let fourth = square * square;
    let [p0, p1, p2, p3] = std::array::from_fn(|i| ARCTANGENT[2 * i] + ARCTANGENT[2 * i + 1] * square);
    let angle = slope * (p0 + p1 * fourth + (p2 + p3 * fourth) * (fourth * fourth));
    let angle = select_unpredictable(steep, FRAC_PI_2 - angle, angle);
    // Behind, it is what is missing to half a turn.
    let half_turn = select_unpredictable(x < 0.0, PI, 0.0);
    f64::from((half_turn - angle).copysign(y))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_math::EulerRot;
    use evenkeel::MotionKind;

    #[test]
    fn a_heading_is_the_angle_about_the_vertical() {
        for turned in [-3.0, -1.0, 0.0, 0.5, 2.0, 3.1] {
            for (a, b) in [(0.0, 0.0), (0.3, -0.2), (-1.0, 0.7)] {
                let upright = Quat::from_euler(EulerRot::YXZ, turned, a, b);
                assert!(
                    (Axes::YUp.heading(upright) - QUARTER_TURN - f64::from(turned)).abs() < 1e-5,
                    "{turned} {a} {b}"
                );
                let flat = Quat::from_euler(EulerRot::ZYX, turned, a, b);
                assert!((Axes::Flat.heading(flat) - f64::from(turned)).abs() < 1e-5, "{turned} {a} {b}");
            }
        }
    }

    #[test]
    fn an_angle_is_what_atan2_has() {
        let circle = (-1000..=1000).map(|i| (i as f32 * PI / 1000.0).sin_cos());
        for (y, x) in circle.chain([(0.0, 1.0), (0.0, -1.0), (1.0, 0.0), (-1.0, 0.0), (1e-30, -1e-30), (3e37, 2e37)]) {
            let expected = f64::from(y).atan2(f64::from(x));
            assert!((angle(y, x) - expected).abs() < 5e-7, "{y} {x}: {} is not {expected}", angle(y, x));
        }
        assert_eq!(angle(0.0, 0.0), 0.0);
        for (y, x) in [(f32::NAN, 1.0), (1.0, f32::NAN), (0.0, f32::NAN)] {
            assert!(angle(y, x).is_nan(), "what is not a number is not told as one");
        }
    }

    #[test]
    fn what_goes_to_the_heart_comes_back() {
        let rotation = Quat::from_euler(EulerRot::YXZ, 2.5, 0.4, -0.3);
        let transform = Transform::from_xyz(1.0, 2.0, -3.0).with_rotation(rotation).with_scale(Vec3::splat(2.0));
        let moving = Moving { velocity: Vec3::new(4.0, -5.0, 6.0), turning: Vec3::new(0.1, 0.2, 0.3) };
        for axes in [Axes::YUp, Axes::Flat] {
            let state = axes.pose(&transform, Some(&moving), Turns::Freely, 1.0).motion(MotionKind::Linear).at(0.0);
            let back = axes.transform(&state, &Transform { translation: Vec3::ZERO, ..transform });
            assert!(back.translation.distance(transform.translation) < 1e-6, "{axes:?}: {back:?}");
            assert!(back.rotation.angle_between(rotation) < 1e-3, "{axes:?}: {back:?}");
            assert_eq!(back.scale, transform.scale);
            assert!(axes.moving(&state).velocity.distance(moving.velocity) < 1e-5);
            assert!(axes.moving(&state).turning.distance(moving.turning) < 1e-5);
        }
    }

    #[test]
    fn what_drives_forward_drives_along_its_heading() {
        for (axes, forward, turn) in [(Axes::YUp, Vec3::NEG_Z, Vec3::Y), (Axes::Flat, Vec3::X, Vec3::Z)] {
            let rotation = Quat::from_axis_angle(turn, 2.0);
            let transform = Transform::from_rotation(rotation);
            let moving = Moving { velocity: rotation * forward * 3.0, turning: turn * 0.5 };
            let motion = axes.pose(&transform, Some(&moving), Turns::Upright, 1.0).motion(MotionKind::Auto);
            let later = axes.transform(&motion.at(1.0), &transform);
            assert!(later.rotation.angle_between(Quat::from_axis_angle(turn, 2.5)) < 1e-3, "{axes:?}");
            // An arc, seen from its beginning: a line would end at 3.
            let gone = rotation.inverse() * later.translation;
            assert!((2.8..2.95).contains(&gone.dot(forward)), "{axes:?}: {gone}");
        }
    }

    #[test]
    fn a_paused_game_does_not_move() {
        let moving = Moving { velocity: Vec3::X, turning: Vec3::Y };
        let pose = Axes::YUp.pose(&Transform::IDENTITY, Some(&moving), Turns::Upright, 0.0);
        assert_eq!(pose.motion(MotionKind::Auto).at(1.0).position, evenkeel::Vec3::ZERO);
    }
}
