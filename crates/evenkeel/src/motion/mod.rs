//! Motions: the extrapolable states that DR vectors carry.
//!
//! A [`Motion`] says where an entity was at one moment and how it goes on from there: a [`Course`] for its position and
//! an [`Attitude`] for its orientation. [`Motion::at`] is a pure function of the seconds since that moment, computed by
//! `libm`, so that sender and receiver agree bit for bit on any machine.
//!
//! | paper or standard | here |
//! |---|---|
//! | linear DR vector (paper, section 3) | [`Course::Linear`] |
//! | quadratic DR vector (paper, footnote 1) | [`Course::Accelerated`] |
//! | cubic spline DR vector (paper, footnote 1) | [`Course::Spline`] |
//! | circular motion (thesis, appendix B, with the arc instead of its chord) | [`Course::Circular`] |
//! | the nine models of DIS (IEEE 1278.1) | [`dis`] |

pub mod dis;
mod law;
mod pose;

pub use law::{LAW_PARAMETERS, Law, LawRef};
pub use pose::{MotionKind, Pose};

use crate::geometry::{Quat, Vec3, wrap_angle};

/// Where an entity is at one moment and how it goes on.
///
/// ```
/// use evenkeel::{Motion, Vec3};
/// let tank = Motion::circular(Vec3::ZERO, 0.0, 25.0, 0.785);
/// let in_a_second = tank.at(1.0);
/// assert!((in_a_second.velocity.length() - 25.0).abs() < 1e-9);
/// assert!((in_a_second.attitude.heading() - 0.785).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Motion {
    /// Where it is at the start.
    pub position: Vec3,
    /// How the position goes on.
    pub course: Course,
    /// How it is oriented, and how that goes on.
    pub attitude: Attitude,
}

/// How a position goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Course {
    /// It stays.
    Stationary,
    /// Straight on at constant velocity.
    Linear {
        /// Metres per second.
        velocity: Vec3,
    },
    /// Constant acceleration; a ballistic path is one.
    Accelerated {
        /// At the start, metres per second.
        velocity: Vec3,
        /// Metres per second squared.
        acceleration: Vec3,
    },
    /// Along the heading of the [`Attitude`] while it turns at its turn rate: an arc, or a line if the rate is zero.
    Circular {
        /// Along the heading; negative when reversing.
        speed: f64,
        /// Upwards, metres per second.
        climb: f64,
    },
    /// Velocity and acceleration fixed in the body, which turns with the angular velocity of the [`Attitude`].
    Turning {
        /// At the start, in world axes.
        velocity: Vec3,
        /// At the start, in world axes.
        acceleration: Vec3,
    },
    /// The cubic that leads to a given place and velocity, and straight on from there.
    Spline {
        /// At the start.
        velocity: Vec3,
        /// Where it leads.
        end: Vec3,
        /// The velocity there, kept from then on.
        end_velocity: Vec3,
        /// How many seconds it takes; must be above zero.
        duration: f64,
    },
    /// A law of the game's own. Both ends must know it: see [`Law`].
    #[cfg_attr(feature = "serde", serde(skip))]
    Custom {
        /// The law.
        law: LawRef,
        /// Whatever the law makes of them.
        parameters: [f64; LAW_PARAMETERS],
    },
}

/// How an entity is oriented, and how that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Attitude {
    /// It has no orientation, or none worth sending.
    #[default]
    None,
    /// It faces somewhere in the horizontal plane.
    Heading {
        /// Radians, counter-clockwise from x.
        heading: f64,
        /// Radians per second.
        turn_rate: f64,
    },
    /// It is oriented in space.
    Full {
        /// From body axes to world axes.
        orientation: Quat,
        /// Radians per second, in body axes.
        angular_velocity: Vec3,
    },
}

impl Attitude {
    /// The heading: exact for [`Attitude::Heading`], that of the body's x axis for [`Attitude::Full`], 0 for none.
    pub fn heading(&self) -> f64 {
        match *self {
            Self::None => 0.0,
            Self::Heading { heading, .. } => heading,
            Self::Full { orientation, .. } => orientation.heading(),
        }
    }

    /// The rate at which the heading turns; for [`Attitude::Full`] the body's own rate about its z axis.
    pub fn turn_rate(&self) -> f64 {
        match *self {
            Self::None => 0.0,
            Self::Heading { turn_rate, .. } => turn_rate,
            Self::Full { angular_velocity, .. } => angular_velocity.z,
        }
    }

    /// The rotation from body axes to world axes.
    pub fn orientation(&self) -> Quat {
        match *self {
            Self::None => Quat::IDENTITY,
            Self::Heading { heading, .. } => Quat::from_heading(heading),
            Self::Full { orientation, .. } => orientation,
        }
    }

    /// The angular velocity in world axes.
    pub fn angular_velocity(&self) -> Vec3 {
        match *self {
            Self::None => Vec3::ZERO,
            Self::Heading { turn_rate, .. } => Vec3::new(0.0, 0.0, turn_rate),
            Self::Full { orientation, angular_velocity } => orientation.rotate(angular_velocity),
        }
    }

    /// The attitude `dt` seconds later.
    pub fn at(&self, dt: f64) -> Self {
        match *self {
            Self::None => Self::None,
            Self::Heading { heading, turn_rate } => {
                Self::Heading { heading: wrap_angle(heading + turn_rate * dt), turn_rate }
            }
            Self::Full { orientation, angular_velocity } => {
                let turned = orientation * Quat::from_rotation_vector(angular_velocity * dt);
                Self::Full { orientation: turned.normalized(), angular_velocity }
            }
        }
    }

    /// The same attitude, no longer turning.
    pub fn held(&self) -> Self {
        match *self {
            Self::None => Self::None,
            Self::Heading { heading, .. } => Self::Heading { heading, turn_rate: 0.0 },
            Self::Full { orientation, .. } => Self::Full { orientation, angular_velocity: Vec3::ZERO },
        }
    }

    /// The angle between two attitudes, 0 to pi, wrapped the short way round. Zero if either is unoriented.
    pub fn angle_to(&self, other: &Self) -> f64 {
        match (self, other) {
            (Self::None, _) | (_, Self::None) => 0.0,
            (Self::Heading { heading: a, .. }, Self::Heading { heading: b, .. }) => libm::fabs(wrap_angle(a - b)),
            _ => self.orientation().angle_to(other.orientation()),
        }
    }

    fn is_finite(&self) -> bool {
        match *self {
            Self::None => true,
            Self::Heading { heading, turn_rate } => heading.is_finite() && turn_rate.is_finite(),
            Self::Full { orientation, angular_velocity } => orientation.is_finite() && angular_velocity.is_finite(),
        }
    }
}

/// A motion evaluated at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State {
    /// Where it is.
    pub position: Vec3,
    /// How fast it goes.
    pub velocity: Vec3,
    /// How it is oriented.
    pub attitude: Attitude,
}

impl Motion {
    /// It stays where it is.
    pub fn stationary(position: Vec3) -> Self {
        Self { position, course: Course::Stationary, attitude: Attitude::None }
    }

    /// Straight on at constant velocity.
    pub fn linear(position: Vec3, velocity: Vec3) -> Self {
        Self { position, course: Course::Linear { velocity }, attitude: Attitude::None }
    }

    /// Constant acceleration.
    pub fn accelerated(position: Vec3, velocity: Vec3, acceleration: Vec3) -> Self {
        Self { position, course: Course::Accelerated { velocity, acceleration }, attitude: Attitude::None }
    }

    /// Along its heading at a signed speed while the heading turns at a constant rate.
    pub fn circular(position: Vec3, heading: f64, speed: f64, turn_rate: f64) -> Self {
        Self {
            position,
            course: Course::Circular { speed, climb: 0.0 },
            attitude: Attitude::Heading { heading, turn_rate },
        }
    }

    /// The cubic from here to `end`, arriving after `duration` seconds with `end_velocity`.
    pub fn spline(position: Vec3, velocity: Vec3, end: Vec3, end_velocity: Vec3, duration: f64) -> Self {
        Self { position, course: Course::Spline { velocity, end, end_velocity, duration }, attitude: Attitude::None }
    }

    /// A law of the game's own.
    pub fn custom(position: Vec3, law: &'static dyn Law, parameters: [f64; LAW_PARAMETERS]) -> Self {
        Self { position, course: Course::Custom { law: LawRef(law), parameters }, attitude: Attitude::None }
    }

    /// The same motion facing along `heading` and turning.
    pub fn facing(self, heading: f64, turn_rate: f64) -> Self {
        Self { attitude: Attitude::Heading { heading, turn_rate }, ..self }
    }

    /// The same motion with a full orientation; the angular velocity is in body axes.
    pub fn oriented(self, orientation: Quat, angular_velocity: Vec3) -> Self {
        Self { attitude: Attitude::Full { orientation: orientation.normalized(), angular_velocity }, ..self }
    }

    /// The state `dt` seconds after the start. Negative times extrapolate backwards.
    pub fn at(&self, dt: f64) -> State {
        State { position: self.position_at(dt), velocity: self.velocity_at(dt), attitude: self.attitude.at(dt) }
    }

    /// How fast it is at the start: the length of its velocity there, found without its direction.
    pub(crate) fn speed(&self) -> f64 {
        match self.course {
            Course::Circular { speed, climb: 0.0 } => libm::fabs(speed),
            Course::Circular { speed, climb } => libm::sqrt(speed * speed + climb * climb),
            _ => self.velocity_at(0.0).length(),
        }
    }

    /// The position `dt` seconds after the start.
    pub fn position_at(&self, dt: f64) -> Vec3 {
        let start = self.position;
        match self.course {
            Course::Stationary => start,
            Course::Linear { velocity } => start + velocity * dt,
            Course::Accelerated { velocity, acceleration } => start + (velocity + acceleration * (0.5 * dt)) * dt,
            Course::Circular { speed, climb } => start + self.arc(speed, climb, dt),
            Course::Turning { velocity, acceleration } => {
                let spin = Spin::new(self.attitude.angular_velocity());
                start + spin.integrate(velocity, dt) + spin.integrate_ramp(acceleration, dt)
            }
            Course::Spline { .. } => self.spline_at(dt).0,
            Course::Custom { law, parameters } => start + law.0.displacement(&parameters, dt),
        }
    }

    /// The velocity `dt` seconds after the start.
    pub fn velocity_at(&self, dt: f64) -> Vec3 {
        match self.course {
            Course::Stationary => Vec3::ZERO,
            Course::Linear { velocity } => velocity,
            Course::Accelerated { velocity, acceleration } => velocity + acceleration * dt,
            Course::Circular { speed, climb } => {
                let (sin, cos) = libm::sincos(self.attitude.heading() + self.attitude.turn_rate() * dt);
                Vec3::new(cos * speed, sin * speed, climb)
            }
            Course::Turning { velocity, acceleration } => {
                Spin::new(self.attitude.angular_velocity()).rotate(velocity + acceleration * dt, dt)
            }
            Course::Spline { .. } => self.spline_at(dt).1,
            Course::Custom { law, parameters } => law.0.velocity(&parameters, dt),
        }
    }

    /// The motion as seen from `dt` seconds later: the same path, started there.
    pub fn advanced(&self, dt: f64) -> Self {
        let State { position, velocity, attitude } = self.at(dt);
        let course = match self.course {
            Course::Accelerated { acceleration, .. } => Course::Accelerated { velocity, acceleration },
            Course::Turning { acceleration, .. } => Course::Turning {
                velocity,
                acceleration: Spin::new(self.attitude.angular_velocity()).rotate(acceleration, dt),
            },
            Course::Spline { end, end_velocity, duration, .. } if dt < duration => {
                Course::Spline { velocity, end, end_velocity, duration: duration - dt }
            }
            Course::Spline { end_velocity, .. } => Course::Linear { velocity: end_velocity },
            Course::Custom { law, parameters } => Course::Custom { law, parameters: law.0.advanced(&parameters, dt) },
            unchanged => unchanged,
        };
        Self { position, course, attitude }
    }

    /// The motion stopped where it is `dt` seconds after the start.
    pub fn frozen(&self, dt: f64) -> Self {
        Self { position: self.position_at(dt), course: Course::Stationary, attitude: self.attitude.at(dt).held() }
    }

    /// The constant velocity, where the motion is a straight line at constant speed.
    pub fn constant_velocity(&self) -> Option<Vec3> {
        match self.course {
            Course::Stationary => Some(Vec3::ZERO),
            Course::Linear { velocity } => Some(velocity),
            Course::Circular { .. } if self.attitude.turn_rate() == 0.0 => Some(self.velocity_at(0.0)),
            _ => None,
        }
    }

    /// Whether every number in it is finite and every spline leads somewhere.
    pub fn is_valid(&self) -> bool {
        let course_is_valid = match self.course {
            Course::Stationary => true,
            Course::Linear { velocity } => velocity.is_finite(),
            Course::Accelerated { velocity, acceleration } | Course::Turning { velocity, acceleration } => {
                velocity.is_finite() && acceleration.is_finite()
            }
            Course::Circular { speed, climb } => speed.is_finite() && climb.is_finite(),
            Course::Spline { velocity, end, end_velocity, duration } => {
                velocity.is_finite()
                    && end.is_finite()
                    && end_velocity.is_finite()
                    && duration.is_finite()
                    && duration > 0.0
            }
            Course::Custom { parameters, .. } => parameters.iter().all(|p| p.is_finite()),
        };
        self.position.is_finite() && self.attitude.is_finite() && course_is_valid
    }

    /// The displacement along an arc: the chord, written so that a vanishing turn rate loses no digits.
    fn arc(&self, speed: f64, climb: f64, dt: f64) -> Vec3 {
        let half_turn = 0.5 * self.attitude.turn_rate() * dt;
        let chord = speed * dt * sinc(half_turn);
        let (sin, cos) = libm::sincos(self.attitude.heading() + half_turn);
        Vec3::new(chord * cos, chord * sin, climb * dt)
    }

    fn spline_at(&self, dt: f64) -> (Vec3, Vec3) {
        let Course::Spline { velocity, end, end_velocity, duration } = self.course else {
            return (self.position, Vec3::ZERO);
        };
        if dt >= duration {
            return (end + end_velocity * (dt - duration), end_velocity);
        }
        // Cubic Hermite form, with u from 0 to 1.
        let u = dt / duration;
        let chord = end - self.position;
        let c2 = chord * 3.0 - (velocity * 2.0 + end_velocity) * duration;
        let c3 = (velocity + end_velocity) * duration - chord * 2.0;
        let position = self.position + (velocity * duration + (c2 + c3 * u) * u) * u;
        (position, velocity + (c2 * 2.0 + c3 * (3.0 * u)) * (u * (1.0 / duration)))
    }
}

/// A constant rotation, and the integrals over it that DIS calls R1 and R2.
struct Spin {
    axis: Vec3,
    rate: f64,
}

impl Spin {
    fn new(angular_velocity: Vec3) -> Self {
        let rate = angular_velocity.length();
        let axis = if rate > 0.0 { angular_velocity * (1.0 / rate) } else { Vec3::ZERO };
        Self { axis, rate }
    }

    /// Splits `v` in the parts along the axis, across it, and across both.
    fn split(&self, v: Vec3) -> (Vec3, Vec3, Vec3) {
        let along = self.axis * self.axis.dot(v);
        (along, v - along, self.axis.cross(v))
    }

    fn rotate(&self, v: Vec3, dt: f64) -> Vec3 {
        let (along, across, third) = self.split(v);
        let (sin, cos) = libm::sincos(self.rate * dt);
        along + across * cos + third * sin
    }

    /// The integral of the rotating `v` from 0 to `dt`.
    fn integrate(&self, v: Vec3, dt: f64) -> Vec3 {
        let (along, across, third) = self.split(v);
        let half = 0.5 * self.rate * dt;
        let chord = dt * sinc(half);
        let (sin, cos) = libm::sincos(half);
        along * dt + across * (chord * cos) + third * (chord * sin)
    }

    /// The integral of the rotating `a s` over s from 0 to `dt`.
    fn integrate_ramp(&self, a: Vec3, dt: f64) -> Vec3 {
        let (along, across, third) = self.split(a);
        let angle = self.rate * dt;
        let (c, s) = ramp_integrals(angle);
        (along * 0.5 + across * c + third * s) * (dt * dt)
    }
}

/// sin(x) / x, also where x vanishes.
fn sinc(x: f64) -> f64 {
    // Below this the next term of the series is beyond double precision.
    if libm::fabs(x) < 1e-4 { 1.0 - x * x / 6.0 } else { libm::sin(x) / x }
}

/// The integrals of u cos(x u) and u sin(x u) over u from 0 to 1.
fn ramp_integrals(x: f64) -> (f64, f64) {
    if libm::fabs(x) < 0.05 {
        // The closed forms cancel here; five terms of the series are exact to the last digits.
        let q = x * x;
        let c = 1.0 / 2.0 - q * (1.0 / 8.0 - q * (1.0 / 144.0 - q * (1.0 / 5760.0 - q / 403_200.0)));
        let s = x * (1.0 / 3.0 - q * (1.0 / 30.0 - q * (1.0 / 840.0 - q * (1.0 / 45_360.0 - q / 3_991_680.0))));
        return (c, s);
    }
    let (sin, cos) = libm::sincos(x);
    ((cos + x * sin - 1.0) / (x * x), (sin - x * cos) / (x * x))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vector() -> impl Strategy<Value = Vec3> {
        prop::array::uniform3(-30.0..30.0f64).prop_map(Vec3::from)
    }

    fn attitude() -> impl Strategy<Value = Attitude> {
        prop_oneof![
            Just(Attitude::None),
            (-3.0..3.0f64, prop_oneof![Just(0.0), -2.0..2.0f64, -1e-9..1e-9f64])
                .prop_map(|(heading, turn_rate)| Attitude::Heading { heading, turn_rate }),
            (vector(), vector()).prop_map(|(q, w)| Attitude::Full {
                orientation: Quat::from_rotation_vector(q),
                angular_velocity: w * 0.1,
            }),
        ]
    }

    fn course() -> impl Strategy<Value = Course> {
        prop_oneof![
            Just(Course::Stationary),
            vector().prop_map(|velocity| Course::Linear { velocity }),
            (vector(), vector()).prop_map(|(velocity, acceleration)| Course::Accelerated { velocity, acceleration }),
            (-30.0..30.0f64, -5.0..5.0f64).prop_map(|(speed, climb)| Course::Circular { speed, climb }),
            (vector(), vector()).prop_map(|(velocity, acceleration)| Course::Turning { velocity, acceleration }),
            (vector(), vector(), vector(), 0.2..3.0f64).prop_map(|(velocity, end, end_velocity, duration)| {
                Course::Spline { velocity, end, end_velocity, duration }
            }),
        ]
    }

    fn motion() -> impl Strategy<Value = Motion> {
        (vector(), course(), attitude())
            .prop_map(|(position, course, attitude)| Motion { position, course, attitude })
            .prop_filter("an arc needs a level heading", |m| {
                !matches!((m.course, m.attitude), (Course::Circular { .. }, Attitude::Full { .. }))
            })
    }

    proptest! {
        #[test]
        fn velocity_is_the_derivative_of_position(m in motion(), t in 0.0..3.0f64) {
            let h = 1e-5;
            let slope = (m.position_at(t + h) - m.position_at(t - h)) * (0.5 / h);
            prop_assert!(slope.distance(m.velocity_at(t)) < 1e-3, "{slope:?} {:?}", m.velocity_at(t));
        }

        #[test]
        fn advancing_does_not_change_the_path(m in motion(), a in 0.0..2.0f64, b in 0.0..2.0f64) {
            let (straight, twice) = (m.at(a + b), m.advanced(a).at(b));
            prop_assert!(straight.position.distance(twice.position) < 1e-8);
            prop_assert!(straight.velocity.distance(twice.velocity) < 1e-8);
            prop_assert!(straight.attitude.angle_to(&twice.attitude) < 1e-8);
        }

        #[test]
        fn the_small_angle_series_meets_the_closed_form(x in 0.04..0.06f64) {
            let (sin, cos) = libm::sincos(x);
            let (c, s) = ramp_integrals(x);
            prop_assert!((c - (cos + x * sin - 1.0) / (x * x)).abs() < 1e-12);
            prop_assert!((s - (sin - x * cos) / (x * x)).abs() < 1e-12);
        }
    }

    #[test]
    fn an_arc_keeps_its_radius_and_reverses_with_the_sign_of_speed() {
        let forward = Motion::circular(Vec3::ZERO, 0.0, 10.0, 2.0);
        let centre = Vec3::new(0.0, 5.0, 0.0);
        let backward = Motion::circular(Vec3::ZERO, 0.0, -10.0, -2.0);
        for i in 0..50 {
            let t = f64::from(i) * 0.1;
            assert!((forward.position_at(t).distance(centre) - 5.0).abs() < 1e-12);
            assert!((backward.position_at(t).distance(centre) - 5.0).abs() < 1e-12);
            assert!((forward.position_at(t).x + backward.position_at(t).x).abs() < 1e-12);
        }
    }

    #[test]
    fn a_spline_arrives_and_goes_straight_on() {
        let (end, end_velocity) = (Vec3::new(5.0, 5.0, 0.0), Vec3::new(0.0, 3.0, 0.0));
        let m = Motion::spline(Vec3::ZERO, Vec3::new(4.0, 0.0, 0.0), end, end_velocity, 2.0);
        assert!(m.position_at(2.0).distance(end) < 1e-12);
        assert!(m.velocity_at(2.0 - 1e-12).distance(end_velocity) < 1e-9);
        assert!(m.position_at(3.0).distance(end + end_velocity) < 1e-12);
    }
}
