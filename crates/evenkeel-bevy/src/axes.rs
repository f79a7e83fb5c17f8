//! Bevy's axes and the heart's.

use crate::prelude::*;
use bevy_math::{Quat, Vec3};
use evenkeel::{Attitude, Pose, State, quick_heading};
use std::f64::consts::FRAC_PI_2;

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
        let [x, y, z] = v.as_dvec3().to_array();
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
            Self::YUp => quick_heading(0.5 - x * x - y * y, w * y + x * z) + FRAC_PI_2,
            Self::Flat => quick_heading(0.5 - y * y - z * z, w * z + x * y),
        }
    }

    /// What the owner's game says of an entity. `speed` is how fast the game's time goes in comparison to the real one.
    #[inline]
    pub(crate) fn pose(self, transform: &Transform, moving: Option<&Moving>, turns: Turns, speed: f32) -> Pose {
        let position = self.to_heart(transform.translation);
        // It is done for everything in every frame: a pose is best made in one go.
        let Moving { velocity, turning } = moving.copied().unwrap_or_default();
        let (velocity, turning) = (self.to_heart(velocity * speed), self.to_heart(turning * speed));
        let attitude = match turns {
            Turns::Never => Attitude::None,
            Turns::Upright => Attitude::Heading { heading: self.heading(transform.rotation), turn_rate: turning.z },
            Turns::Freely => {
                let q = self.to_heart(transform.rotation.xyz());
                let orientation = evenkeel::Quat::new(f64::from(transform.rotation.w), q.x, q.y, q.z);
                Attitude::Full { orientation, angular_velocity: turning }
            }
        };
        let pose = Pose::from(State { position, velocity, attitude });
        if moving.is_some() { pose } else { pose.without_rates() }
    }

    /// The transform of an entity that is to be shown so, scaled as it was.
    pub(crate) fn transform(self, state: &State, before: &Transform) -> Transform {
        let rotation = match (state.attitude, self) {
            (Attitude::Heading { heading, .. }, Self::YUp) => Quat::from_rotation_y((heading - FRAC_PI_2) as f32),
            (Attitude::Heading { heading, .. }, Self::Flat) => Quat::from_rotation_z(heading as f32),
            (Attitude::Full { orientation: q, .. }, _) => {
                let imaginary = self.to_bevy(evenkeel::Vec3::new(q.x, q.y, q.z));
                Quat::from_xyzw(imaginary.x, imaginary.y, imaginary.z, q.w as f32)
            }
            (Attitude::None, _) => before.rotation,
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
                assert!((Axes::YUp.heading(upright) - FRAC_PI_2 - f64::from(turned)).abs() < 1e-5, "{turned} {a} {b}");
                let flat = Quat::from_euler(EulerRot::ZYX, turned, a, b);
                assert!((Axes::Flat.heading(flat) - f64::from(turned)).abs() < 1e-5, "{turned} {a} {b}");
            }
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
