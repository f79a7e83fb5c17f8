//! The nine dead-reckoning models of Distributed Interactive Simulation (IEEE 1278.1, annex E), as [`Motion`]s.
//!
//! The three letters are: orientation Fixed or Rotating, Position (constant velocity) or Velocity (constant acceleration)
//! extrapolated, World or Body axes. Where the orientation is fixed the body's axes do not turn, so 6 and 9 are 2 and 5
//! with their inputs given in body axes; we read the standard so.

use super::{Attitude, Course, Motion};
use crate::geometry::{Quat, Vec3};

/// A DIS dead-reckoning model by its number in the standard.
///
/// ```
/// use evenkeel::motion::dis::{DisEntity, DisModel};
/// use evenkeel::{Quat, Vec3};
/// let entity = DisEntity {
///     position: Vec3::ZERO,
///     velocity: Vec3::new(10.0, 0.0, 0.0), // body axes, for a body model
///     acceleration: Vec3::ZERO,
///     orientation: Quat::IDENTITY,
///     angular_velocity: Vec3::new(0.0, 0.0, 1.0),
/// };
/// // Driving ahead while turning is a circle of radius 10.
/// let half_turn = entity.motion(DisModel::Rpb).position_at(core::f64::consts::PI);
/// assert!(half_turn.distance(Vec3::new(0.0, 20.0, 0.0)) < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DisModel {
    /// 1: it stays.
    Static = 1,
    /// 2: fixed orientation, constant velocity, world axes.
    Fpw,
    /// 3: rotating, constant velocity, world axes.
    Rpw,
    /// 4: rotating, constant acceleration, world axes.
    Rvw,
    /// 5: fixed orientation, constant acceleration, world axes.
    Fvw,
    /// 6: fixed orientation, constant velocity, body axes.
    Fpb,
    /// 7: rotating, constant velocity, body axes.
    Rpb,
    /// 8: rotating, constant acceleration, body axes.
    Rvb,
    /// 9: fixed orientation, constant acceleration, body axes.
    Fvb,
}

impl DisModel {
    /// All nine, in the standard's order.
    pub const ALL: [Self; 9] =
        [Self::Static, Self::Fpw, Self::Rpw, Self::Rvw, Self::Fvw, Self::Fpb, Self::Rpb, Self::Rvb, Self::Fvb];

    /// The model with this number, if there is one.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number).checked_sub(1)?).copied()
    }

    /// The standard's number, 1 to 9.
    pub fn number(self) -> u8 {
        self as u8
    }

    fn rotates(self) -> bool {
        matches!(self, Self::Rpw | Self::Rvw | Self::Rpb | Self::Rvb)
    }

    fn accelerates(self) -> bool {
        matches!(self, Self::Rvw | Self::Fvw | Self::Rvb | Self::Fvb)
    }

    fn in_body_axes(self) -> bool {
        matches!(self, Self::Fpb | Self::Rpb | Self::Rvb | Self::Fvb)
    }
}

/// The fields of an entity state PDU that dead reckoning reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DisEntity {
    /// World axes.
    pub position: Vec3,
    /// World axes for models 2 to 5, body axes for 6 to 9.
    pub velocity: Vec3,
    /// World axes for models 2 to 5, body axes for 6 to 9.
    pub acceleration: Vec3,
    /// From body axes to world axes.
    pub orientation: Quat,
    /// Body axes, always.
    pub angular_velocity: Vec3,
}

impl DisEntity {
    /// The motion that the given model extrapolates.
    pub fn motion(&self, model: DisModel) -> Motion {
        let to_world = |v: Vec3| if model.in_body_axes() { self.orientation.rotate(v) } else { v };
        let velocity = to_world(self.velocity);
        let acceleration = if model.accelerates() { to_world(self.acceleration) } else { Vec3::ZERO };
        let angular_velocity = if model.rotates() { self.angular_velocity } else { Vec3::ZERO };
        let course = match model {
            DisModel::Static => Course::Stationary,
            _ if model.rotates() && model.in_body_axes() => Course::Turning { velocity, acceleration },
            _ if model.accelerates() => Course::Accelerated { velocity, acceleration },
            _ => Course::Linear { velocity },
        };
        let attitude = Attitude::Full { orientation: self.orientation.normalized(), angular_velocity };
        Motion { position: self.position, course, attitude }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTITY: DisEntity = DisEntity {
        position: Vec3::new(100.0, 200.0, 300.0),
        velocity: Vec3::new(20.0, -3.0, 1.0),
        acceleration: Vec3::new(0.5, 2.0, -1.0),
        orientation: Quat::new(0.8, 0.0, 0.6, 0.0),
        angular_velocity: Vec3::new(0.1, 0.2, -0.4),
    };

    /// Integrates the equations of motion in small steps, independently of the closed forms.
    fn stepped(model: DisModel, seconds: f64) -> (Vec3, Quat) {
        let steps = 200_000;
        let dt = seconds / f64::from(steps);
        let spin = if model.rotates() { ENTITY.angular_velocity } else { Vec3::ZERO };
        let acceleration = if model.accelerates() { ENTITY.acceleration } else { Vec3::ZERO };
        let moving = if model == DisModel::Static { 0.0 } else { 1.0 };
        let (mut position, mut q) = (ENTITY.position, ENTITY.orientation);
        for i in 0..steps {
            let t = (f64::from(i) + 0.5) * dt;
            let q_mid = q * Quat::from_rotation_vector(spin * (0.5 * dt));
            let v = (ENTITY.velocity + acceleration * t) * moving;
            position += if model.in_body_axes() { q_mid.rotate(v) } else { v } * dt;
            q = q * Quat::from_rotation_vector(spin * dt);
        }
        (position, q)
    }

    #[test]
    fn every_model_follows_its_equations_of_motion() {
        for model in DisModel::ALL {
            let end = ENTITY.motion(model).at(3.0);
            let (position, orientation) = stepped(model, 3.0);
            assert!(end.position.distance(position) < 1e-6, "{model:?}: {:?} {position:?}", end.position);
            assert!(end.attitude.orientation().angle_to(orientation) < 1e-6, "{model:?}");
            assert_eq!(DisModel::from_number(model.number()), Some(model));
        }
        assert_eq!(DisModel::from_number(0), None);
        assert_eq!(DisModel::from_number(10), None);
    }
}
