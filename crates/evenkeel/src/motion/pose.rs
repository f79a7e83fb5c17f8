//! What a game says about an entity at one moment, and how that becomes a [`Motion`].

use super::{Attitude, Course, Motion, State};
use crate::geometry::{Quat, Vec3, wrap_angle};

/// What a game knows about an entity at one moment. Only the position is needed; what is left out and can be derived
/// from the pose before is derived by the sender.
///
/// ```
/// use evenkeel::{Pose, Vec3};
/// let tank = Pose::at(Vec3::new(10.0, 20.0, 0.0)).facing(1.2).moving(Vec3::new(9.0, 23.3, 0.0)).turning(0.785);
/// let ghost = Pose::at(Vec3::ZERO); // the sender derives the velocity
/// # let _ = (tank, ghost);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    pub(crate) position: Vec3,
    pub(crate) velocity: Option<Vec3>,
    pub(crate) acceleration: Option<Vec3>,
    pub(crate) facing: Facing,
}

/// The orientation part of a [`Pose`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Facing {
    None,
    Heading { heading: f64, turn_rate: Option<f64> },
    Full { orientation: Quat, angular_velocity: Option<Vec3> },
}

/// Which [`Motion`] an entity's DR vectors carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum MotionKind {
    /// Whatever fits the pose best: accelerated if an acceleration was given, and turning with the body if that is along a
    /// heading that changes; an arc if the entity moves along its heading; a line if it moves otherwise; stationary if it
    /// does not move.
    #[default]
    Auto,
    /// The position alone.
    Stationary,
    /// A straight line.
    Linear,
    /// A straight line with the acceleration given in the pose.
    Accelerated,
    /// An arc along the heading.
    Circular,
    /// Velocity and acceleration that turn with the body.
    Turning,
}

/// How far off its heading an entity may move, in radians, and still count as driven along it. Games that turn first and
/// move then report a velocity that lags the heading by up to a frame's turn.
const ALONG_HEADING: f64 = 0.03;

impl Pose {
    /// An entity at a place. Add to it what the game knows.
    #[inline]
    pub fn at(position: Vec3) -> Self {
        Self { position, velocity: None, acceleration: None, facing: Facing::None }
    }

    /// With this velocity.
    #[inline]
    pub fn moving(self, velocity: Vec3) -> Self {
        Self { velocity: Some(velocity), ..self }
    }

    /// With this acceleration. Without one, [`MotionKind::Auto`] takes it as none.
    pub fn accelerating(self, acceleration: Vec3) -> Self {
        Self { acceleration: Some(acceleration), ..self }
    }

    /// Facing along a heading (radians, counter-clockwise from x).
    #[inline]
    pub fn facing(self, heading: f64) -> Self {
        let turn_rate = match self.facing {
            Facing::Heading { turn_rate, .. } => turn_rate,
            _ => None,
        };
        Self { facing: Facing::Heading { heading, turn_rate }, ..self }
    }

    /// Turning at this rate (radians per second). Call it after [`facing`](Self::facing).
    #[inline]
    pub fn turning(self, turn_rate: f64) -> Self {
        let heading = match self.facing {
            Facing::Heading { heading, .. } => heading,
            _ => 0.0,
        };
        Self { facing: Facing::Heading { heading, turn_rate: Some(turn_rate) }, ..self }
    }

    /// Oriented in space.
    pub fn oriented(self, orientation: Quat) -> Self {
        let facing = Facing::Full { orientation: orientation.normalized(), angular_velocity: None };
        Self { facing, ..self }
    }

    /// Oriented in space and spinning; the angular velocity is in body axes.
    #[inline]
    pub fn spinning(self, orientation: Quat, angular_velocity: Vec3) -> Self {
        let orientation = orientation.normalized();
        Self { facing: Facing::Full { orientation, angular_velocity: Some(angular_velocity) }, ..self }
    }

    /// Where the entity is.
    pub fn position(&self) -> Vec3 {
        self.position
    }

    /// The orientation, with what is unknown of its change as zero.
    pub fn attitude(&self) -> Attitude {
        match self.facing {
            Facing::None => Attitude::None,
            Facing::Heading { heading, turn_rate } => {
                Attitude::Heading { heading: wrap_angle(heading), turn_rate: turn_rate.unwrap_or(0.0) }
            }
            Facing::Full { orientation, angular_velocity } => {
                Attitude::Full { orientation, angular_velocity: angular_velocity.unwrap_or(Vec3::ZERO) }
            }
        }
    }

    /// Whether every number in it is finite.
    pub fn is_finite(&self) -> bool {
        let optional = |v: Option<Vec3>| v.is_none_or(Vec3::is_finite);
        let facing = match self.facing {
            Facing::None => true,
            Facing::Heading { heading, turn_rate } => heading.is_finite() && turn_rate.is_none_or(f64::is_finite),
            Facing::Full { orientation, angular_velocity } => orientation.is_finite() && optional(angular_velocity),
        };
        self.position.is_finite() && optional(self.velocity) && optional(self.acceleration) && facing
    }

    /// The pose with what it leaves out derived from the pose `dt` seconds before it.
    pub fn derived_from(&self, before: Option<(&Pose, f64)>) -> Self {
        let mut pose = *self;
        if let Some((old, 0.0)) = before {
            // The same moment said twice: what was known still holds.
            pose.velocity = pose.velocity.or(old.velocity);
            pose.facing = match (pose.facing, old.facing) {
                (Facing::Heading { heading, turn_rate: None }, Facing::Heading { turn_rate, .. }) => {
                    Facing::Heading { heading, turn_rate }
                }
                (Facing::Full { orientation, angular_velocity: None }, Facing::Full { angular_velocity, .. }) => {
                    Facing::Full { orientation, angular_velocity }
                }
                (facing, _) => facing,
            };
        }
        let before = before.filter(|(_, dt)| *dt > 0.0);
        if pose.velocity.is_none() {
            pose.velocity = Some(before.map_or(Vec3::ZERO, |(old, dt)| (self.position - old.position) * (1.0 / dt)));
        }
        match &mut pose.facing {
            Facing::Heading { heading, turn_rate: rate @ None } => {
                *rate = Some(match before {
                    Some((Pose { facing: Facing::Heading { heading: old, .. }, .. }, dt)) => {
                        wrap_angle(*heading - old) / dt
                    }
                    _ => 0.0,
                });
            }
            Facing::Full { orientation, angular_velocity: spin @ None } => {
                *spin = Some(match before {
                    Some((Pose { facing: Facing::Full { orientation: old, .. }, .. }, dt)) => {
                        rotation_vector(old.conjugate() * *orientation) * (1.0 / dt)
                    }
                    _ => Vec3::ZERO,
                });
            }
            _ => {}
        }
        pose
    }

    /// The motion of the given kind that goes on from this pose.
    pub fn motion(&self, kind: MotionKind) -> Motion {
        let attitude = self.attitude();
        let velocity = self.velocity.unwrap_or(Vec3::ZERO);
        let acceleration = self.acceleration.unwrap_or(Vec3::ZERO);
        let (along, across) = along_heading(&attitude, velocity);
        let course = match kind {
            MotionKind::Auto if acceleration != Vec3::ZERO => {
                let (thrust, sideways) = along_heading(&attitude, acceleration);
                let driven =
                    across <= ALONG_HEADING * libm::fabs(along) && sideways <= ALONG_HEADING * libm::fabs(thrust);
                let turns = driven && acceleration.z == 0.0 && attitude.turn_rate() != 0.0;
                if turns {
                    Course::Turning { velocity, acceleration }
                } else {
                    Course::Accelerated { velocity, acceleration }
                }
            }
            MotionKind::Auto if velocity == Vec3::ZERO => Course::Stationary,
            MotionKind::Auto if across <= ALONG_HEADING * libm::fabs(along) => {
                Course::Circular { speed: libm::copysign(libm::hypot(along, across), along), climb: velocity.z }
            }
            MotionKind::Auto | MotionKind::Linear => Course::Linear { velocity },
            MotionKind::Stationary => Course::Stationary,
            MotionKind::Accelerated => Course::Accelerated { velocity, acceleration },
            MotionKind::Circular => Course::Circular { speed: along, climb: velocity.z },
            MotionKind::Turning => Course::Turning { velocity, acceleration },
        };
        Motion { position: self.position, course, attitude }
    }
}

impl Pose {
    /// The same place and orientation, with everything else to be derived from the pose before.
    ///
    /// ```
    /// use evenkeel::{Pose, Vec3};
    /// let tank = Pose::at(Vec3::ZERO).facing(1.2).moving(Vec3::new(3.0, 0.0, 0.0)).turning(0.5);
    /// assert_eq!(tank.without_rates(), Pose::at(Vec3::ZERO).facing(1.2));
    /// ```
    pub fn without_rates(mut self) -> Self {
        (self.velocity, self.acceleration) = (None, None);
        match &mut self.facing {
            Facing::None => {}
            Facing::Heading { turn_rate, .. } => *turn_rate = None,
            Facing::Full { angular_velocity, .. } => *angular_velocity = None,
        }
        self
    }
}

impl From<State> for Pose {
    #[inline]
    fn from(state: State) -> Self {
        let pose = Self::at(state.position).moving(state.velocity);
        match state.attitude {
            Attitude::None => pose,
            Attitude::Heading { heading, turn_rate } => pose.facing(heading).turning(turn_rate),
            Attitude::Full { orientation, angular_velocity } => pose.spinning(orientation, angular_velocity),
        }
    }
}

/// The signed speed along the heading and the speed across it; infinitely far across if there is no heading.
fn along_heading(attitude: &Attitude, velocity: Vec3) -> (f64, f64) {
    match attitude {
        Attitude::Heading { heading, .. } => {
            let ahead = Vec3::from_heading(*heading);
            (ahead.dot(velocity), libm::fabs(ahead.x * velocity.y - ahead.y * velocity.x))
        }
        _ => (0.0, f64::INFINITY),
    }
}

/// The rotation vector of a unit quaternion, the short way round.
fn rotation_vector(q: Quat) -> Vec3 {
    let v = Vec3::new(q.x, q.y, q.z);
    let sine = v.length();
    if sine < 1e-12 {
        return v * 2.0;
    }
    let signed = if q.w < 0.0 { -1.0 } else { 1.0 };
    v * (signed * 2.0 * libm::atan2(sine, libm::fabs(q.w)) / sine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn velocity_and_turn_rate_are_derived_across_the_wrap() {
        let before = Pose::at(Vec3::ZERO).facing(3.1);
        let now = Pose::at(Vec3::new(1.0, 0.0, 0.0)).facing(-3.1).derived_from(Some((&before, 0.1)));
        let motion = now.motion(MotionKind::Linear);
        assert!(motion.velocity_at(0.0).distance(Vec3::new(10.0, 0.0, 0.0)) < 1e-12);
        assert!((motion.attitude.turn_rate() - (core::f64::consts::TAU - 6.2) / 0.1).abs() < 1e-9);
    }

    #[test]
    fn spin_is_derived_in_body_axes() {
        let spin = Vec3::new(0.3, -0.2, 0.5);
        let start = Quat::from_rotation_vector(Vec3::new(1.0, 2.0, 0.5));
        let end = start * Quat::from_rotation_vector(spin * 0.1);
        let pose = Pose::at(Vec3::ZERO).oriented(end).derived_from(Some((&Pose::at(Vec3::ZERO).oriented(start), 0.1)));
        let Attitude::Full { angular_velocity, .. } = pose.attitude() else { panic!() };
        assert!(angular_velocity.distance(spin) < 1e-12);
    }

    #[test]
    fn auto_picks_the_arc_for_what_drives_along_its_heading() {
        let reversing = Pose::at(Vec3::ZERO).facing(0.5).moving(Vec3::from_heading(0.5) * -12.5).turning(0.4);
        let Course::Circular { speed, .. } = reversing.motion(MotionKind::Auto).course else { panic!() };
        assert!((speed + 12.5).abs() < 1e-12);
        let sliding = reversing.moving(Vec3::new(0.0, 3.0, 0.0));
        assert!(matches!(sliding.motion(MotionKind::Auto).course, Course::Linear { .. }));
        let falling = sliding.accelerating(Vec3::new(0.0, 0.0, -9.8));
        assert!(matches!(falling.motion(MotionKind::Auto).course, Course::Accelerated { .. }));
        assert!(matches!(Pose::at(Vec3::ZERO).motion(MotionKind::Auto).course, Course::Stationary));
    }
}
