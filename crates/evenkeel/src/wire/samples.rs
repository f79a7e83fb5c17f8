//! Formats and motions of every sort, for the tests of this module.

use super::{Format, Laws};
use crate::geometry::{Quat, Vec3};
use crate::motion::{Attitude, Course, LAW_PARAMETERS, Law, LawRef, Motion};
use crate::time::Duration;
use proptest::prelude::*;

/// Constant velocity and a number that does nothing.
pub struct Drift(pub u8);

impl Law for Drift {
    fn id(&self) -> u8 {
        self.0
    }
    fn displacement(&self, p: &[f64; LAW_PARAMETERS], dt: f64) -> Vec3 {
        Vec3::new(p[0], p[1], p[2]) * dt
    }
    fn velocity(&self, p: &[f64; LAW_PARAMETERS], _: f64) -> Vec3 {
        Vec3::new(p[0], p[1], p[2])
    }
    fn advanced(&self, p: &[f64; LAW_PARAMETERS], dt: f64) -> [f64; LAW_PARAMETERS] {
        [p[0], p[1], p[2], p[3] + dt, p[4], p[5]]
    }
}

pub static LAWS: [&dyn Law; 2] = [&Drift(3), &Drift(200)];
pub static CLASHING: [&dyn Law; 2] = [&Drift(3), &Drift(3)];

/// The named formats and the extremes of what is valid.
pub fn formats() -> [Format; 5] {
    let laws = Laws::new(&LAWS);
    let coarse = Format {
        position_step: 0.3,
        velocity_step: 0.7,
        acceleration_step: 2.0,
        angle_step: 0.1, // an odd number of steps in a turn
        angular_velocity_step: 0.05,
        quaternion_bits: 4,
        time_step: Duration::from_nanos(16_666_667),
        parameter_step: 1000.0,
        usual_speeds: [0.0, 25.2, 0.0],
        ..Format::default()
    };
    let finest = Format {
        position_step: 1e-6,
        lower: Vec3::new(-1e9, -1e9, -1e9),
        upper: Vec3::new(1e9, 1e9, 1e9),
        velocity_step: 1e-6,
        acceleration_step: 1e-6,
        angle_step: 1e-6,
        angular_velocity_step: 1e-6,
        quaternion_bits: 24,
        time_step: Duration::from_nanos(1),
        parameter_step: 1e-6,
        ..Format::default()
    };
    [Format::default(), Format::bzflag(), coarse, finest, Format::lossless()].map(|f| Format { laws, ..f })
}

pub fn format() -> impl Strategy<Value = Format> {
    (0..5usize).prop_map(|i| formats()[i])
}

/// Numbers from everyday to far out of bounds.
fn wild() -> BoxedStrategy<f64> {
    prop_oneof![3 => Just(0.0), 2 => Just(25.0), 10 => -40.0..40.0f64, 3 => -3e3..3e3f64, 1 => -1e8..1e8f64].boxed()
}

fn triple(number: &BoxedStrategy<f64>) -> impl Strategy<Value = Vec3> + use<> {
    [number.clone(), number.clone(), number.clone()].prop_map(Vec3::from)
}

fn attitude(rate: &BoxedStrategy<f64>) -> impl Strategy<Value = Attitude> + use<> {
    prop_oneof![
        Just(Attitude::None),
        (-7.0..7.0f64, rate.clone()).prop_map(|(heading, turn_rate)| Attitude::Heading { heading, turn_rate }),
        (prop::array::uniform4(-1.0..1.0f64), triple(rate)).prop_map(|([w, x, y, z], angular_velocity)| {
            Attitude::Full { orientation: Quat::new(w, x, y, z).normalized(), angular_velocity }
        }),
    ]
}

fn course(n: &BoxedStrategy<f64>) -> impl Strategy<Value = Course> + use<> {
    let gravity = prop_oneof![Just(Vec3::new(0.0, 0.0, -9.8)), Just(Vec3::new(0.0, 0.0, -9.81))];
    let two = || (triple(n), triple(n));
    prop_oneof![
        Just(Course::Stationary),
        triple(n).prop_map(|velocity| Course::Linear { velocity }),
        two().prop_map(|(velocity, acceleration)| Course::Accelerated { velocity, acceleration }),
        (triple(n), gravity).prop_map(|(velocity, acceleration)| Course::Accelerated { velocity, acceleration }),
        (n.clone(), n.clone()).prop_map(|(speed, climb)| Course::Circular { speed, climb }),
        two().prop_map(|(velocity, acceleration)| Course::Turning { velocity, acceleration }),
        (two(), triple(n), 1e-4..1e3f64).prop_map(|((velocity, end), end_velocity, duration)| {
            Course::Spline { velocity, end, end_velocity, duration }
        }),
        (two(), 0..2usize).prop_map(|((a, b), law)| Course::Custom {
            law: LawRef(LAWS[law]),
            parameters: [a.x, a.y, a.z, b.x, b.y, b.z],
        }),
    ]
}

/// Motions of every kind, with numbers from everyday to far out of bounds.
pub fn motion() -> impl Strategy<Value = Motion> {
    (triple(&wild()), course(&wild()), attitude(&wild())).prop_map(|(position, course, attitude)| Motion {
        position,
        course,
        attitude,
    })
}

/// Motions of every kind as they occur in games.
pub fn everyday() -> impl Strategy<Value = Motion> {
    let (far, fast, turn) = ((-900.0..900.0f64).boxed(), (-40.0..40.0f64).boxed(), (-1.0..1.0f64).boxed());
    (triple(&far), course(&fast), attitude(&turn)).prop_map(|(position, course, attitude)| Motion {
        position,
        course,
        attitude,
    })
}
