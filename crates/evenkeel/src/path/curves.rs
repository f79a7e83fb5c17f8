//! For tests only: motions that are not straight against each other, integrated and timed.

use super::reference::{self, power, vector, worst};
use super::relative::Relative;
use super::{Integral, distance_integral, quadrature};
use crate::geometry::Vec3;
use crate::motion::{Attitude, Course, LAW_PARAMETERS, Law, Motion};
use proptest::prelude::*;
use std::vec::Vec;

const CASES: u32 = 1_000;

/// The motion started at the origin: what is left when the offset is taken out.
fn from_origin(motion: &Motion) -> Motion {
    let course = match motion.course {
        Course::Spline { velocity, end, end_velocity, duration } => {
            Course::Spline { velocity, end: end - motion.position, end_velocity, duration }
        }
        other => other,
    };
    Motion { position: Vec3::ZERO, course, ..*motion }
}

fn spline_end(motion: &Motion, from: f64) -> f64 {
    if let Course::Spline { duration, .. } = motion.course { duration - from } else { 0.0 }
}

/// The integral of the relative motion, taking the first difference of positions as given.
fn expected(a: &Motion, a_from: f64, b: &Motion, b_from: f64, span: f64) -> f64 {
    let start = a.position_at(a_from) - b.position_at(b_from);
    let (a0, b0) = (from_origin(a), from_origin(b));
    let (a_start, b_start) = (a0.position_at(a_from), b0.position_at(b_from));
    let relative = |t: f64| start + ((a0.position_at(a_from + t) - a_start) - (b0.position_at(b_from + t) - b_start));
    reference::integrate(relative, span, &[spline_end(a, a_from), spline_end(b, b_from)])
}

/// The error relative to the integral, the larger of the usual way's and the fallback's; above one if a bound was a lie.
fn relative_error(case: Case) -> f64 {
    let (a, a_from, b, b_from, span) = case;
    let expected = expected(&a, a_from, &b, b_from, span);
    let mut answers = Vec::from([distance_integral(&a, a_from, &b, b_from, span)]);
    if ![(a, a_from), (b, b_from)].iter().any(|(m, from)| (0.0..span).contains(&spline_end(m, *from))) {
        answers.push(adaptive(&case));
    }
    // The reference takes differences of displacements since the start of each motion, and so rounds otherwise.
    let way = |m: &Motion, from: f64| {
        let m = from_origin(m);
        m.velocity_at(from).length() * span + m.position_at(from).length() + m.position_at(from + span).length()
    };
    let noise = 1e-15 * span * (way(&a, a_from) + way(&b, b_from));
    let error = |Integral { value, error_bound }: Integral| {
        let error = libm::fabs(value - expected);
        if expected == 0.0 {
            return error;
        }
        if error > error_bound + noise + 1e-13 * expected {
            return 1.0 + error / expected;
        }
        (error - noise).max(0.0) / expected
    };
    answers.into_iter().map(error).fold(0.0, |worst, error| if error > worst || error.is_nan() { error } else { worst })
}

/// What the fallback makes of a case in which no spline ends.
fn adaptive((a, a_from, b, b_from, span): &Case) -> Integral {
    quadrature::integrate(Relative::new(a, *a_from, b, *b_from), *span)
}

type Case = (Motion, f64, Motion, f64, f64);

fn check(class: &str, a: impl Strategy<Value = Motion>, b: impl Strategy<Value = Motion>) {
    let cases = (a, 0.0..2.0f64, b, 0.0..2.0f64, power(-2.0..0.8));
    worst(class, CASES, 1e-12, cases, relative_error);
}

fn line() -> impl Strategy<Value = Motion> + Clone {
    (vector(30.0), vector(20.0)).prop_map(|(p, v)| Motion::linear(p, v))
}

fn arc() -> impl Strategy<Value = Motion> + Clone {
    (vector(30.0), -3.0..3.0f64, -25.0..25.0f64, -2.0..2.0f64).prop_map(|(p, h, s, w)| Motion::circular(p, h, s, w))
}

fn accelerated() -> impl Strategy<Value = Motion> + Clone {
    (vector(30.0), vector(20.0), vector(10.0)).prop_map(|(p, v, a)| Motion::accelerated(p, v, a))
}

fn spline() -> impl Strategy<Value = Motion> + Clone {
    (vector(30.0), vector(20.0), vector(30.0), vector(20.0), 0.2..4.0f64)
        .prop_map(|(p, v, q, w, t)| Motion::spline(p, v, q, w, t))
}

fn turning() -> impl Strategy<Value = Motion> + Clone {
    (vector(30.0), vector(20.0), vector(5.0), vector(1.0)).prop_map(|(position, velocity, acceleration, spin)| Motion {
        position,
        course: Course::Turning { velocity, acceleration },
        attitude: Attitude::Full { orientation: crate::Quat::IDENTITY, angular_velocity: spin },
    })
}

#[test]
fn arcs() {
    check("arc, line", arc(), line());
    check("arc, arc", arc(), arc());
    let twins = (arc(), vector(30.0), -3.0..3.0f64, -25.0..25.0f64)
        .prop_map(|(a, p, h, s)| (a, Motion::circular(p, h, s, a.attitude.turn_rate())));
    let cases = (twins, 0.0..2.0f64, power(-2.0..0.8)).prop_map(|((a, b), from, t)| (a, from, b, 0.3, t));
    worst("arc, arc of the same turn rate", CASES, 1e-12, cases, relative_error);
    let bent = arc().prop_map(|a| Motion {
        attitude: Attitude::Heading { heading: a.attitude.heading(), turn_rate: a.attitude.turn_rate() * 1e-9 },
        ..a
    });
    check("arc of vanishing turn rate, line", bent, line());
}

#[test]
fn polynomials_and_the_rest() {
    check("accelerated, line", accelerated(), line());
    check("accelerated, accelerated", accelerated(), accelerated());
    check("accelerated, arc", accelerated(), arc());
    check("spline, line", spline(), line());
    check("spline, spline", spline(), spline());
    check("spline, arc", spline(), arc());
    check("turning, line", turning(), line());
    check("turning, arc", turning(), arc());
}

/// The motion moved so that it passes `other` at the given ages, off by `gap`.
fn passing(motion: Motion, age: f64, other: &Motion, other_age: f64, gap: Vec3) -> Motion {
    let shift = other.position_at(other_age) + gap - motion.position_at(age);
    let course = match motion.course {
        Course::Spline { velocity, end, end_velocity, duration } => {
            Course::Spline { velocity, end: end + shift, end_velocity, duration }
        }
        other => other,
    };
    Motion { position: motion.position + shift, course, ..motion }
}

/// A meeting, exact or close, anywhere in the span, on its ends or just beside them.
fn check_passing(class: &str, a: impl Strategy<Value = Motion>, b: impl Strategy<Value = Motion>) {
    let when =
        prop_oneof![0.0..1.0f64, power(-9.0..-2.0), power(-9.0..-2.0).prop_map(|k| 1.0 - k), Just(0.0), Just(1.0)];
    let gap = (vector(10.0), prop_oneof![Just(0.0), power(-12.0..0.0)]).prop_map(|(v, k)| v * k);
    let cases = (a, b, (0.0..2.0f64, 0.0..2.0f64), power(-2.0..0.8), when, gap).prop_map(
        |(a, b, (a_from, b_from), span, when, gap)| {
            let a = passing(a, a_from + when * span, &b, b_from + when * span, gap);
            (a, a_from, b, b_from, span)
        },
    );
    worst(class, CASES, 1e-12, cases, relative_error);
}

#[test]
fn close_passes() {
    check_passing("passing: arc, line", arc(), line());
    check_passing("passing: arc, arc", arc(), arc());
    check_passing("passing: accelerated, line", accelerated(), line());
    check_passing("passing: spline, arc", spline(), arc());
    check_passing("passing: turning, arc", turning(), arc());
    let lift = |p: f64, v: f64, a: f64| {
        Motion::accelerated(Vec3::new(0.0, 0.0, p), Vec3::new(0.0, 0.0, v), Vec3::new(0.0, 0.0, a))
    };
    let lifts = || (-9.0..9.0f64, -9.0..9.0f64, -9.0..9.0f64).prop_map(move |(p, v, a)| lift(p, v, a));
    check("on one line: accelerated, accelerated", lifts(), lifts());
    check_passing("passing on one line: accelerated", lifts(), lifts());
}

/// The usual case: a vector against the one it replaces, where they are close and part. The distance at first is up to
/// 0.3 m or none, the change of velocity up to `gain`, that of the turn rate up to 2 rad/s.
fn replaced(
    old: impl Strategy<Value = Motion>,
    new: impl Strategy<Value = Motion>,
    gain: f64,
    spans: core::ops::Range<f64>,
) -> impl Strategy<Value = Case> {
    let off = (vector(1.0), prop_oneof![1 => Just(0.0), 9 => power(-7.0..-0.5)], any::<bool>());
    let change = (vector(1.0), 0.0..=gain, -2.0..2.0f64);
    (old, new, off, change, 0.0..1.0f64, power(spans)).prop_map(|(old, new, (off, size, flat), change, age, span)| {
        let off = if flat { Vec3 { z: 0.0, ..off } } else { off };
        let (direction, gain, turn) = change;
        let now = old.at(age);
        let position = now.position + off * (size / off.length().max(1e-9));
        let velocity = now.velocity + direction * (gain / direction.length().max(1e-9));
        (old, age, restarted(&new, position, velocity, old.attitude.turn_rate() + turn), 0.0, span)
    })
}

/// A motion of the same kind from elsewhere on.
fn restarted(motion: &Motion, position: Vec3, velocity: Vec3, turn_rate: f64) -> Motion {
    let Vec3 { x, y, z } = velocity;
    match motion.course {
        Course::Linear { .. } => Motion::linear(position, velocity),
        Course::Accelerated { acceleration, .. } => Motion::accelerated(position, velocity, acceleration),
        Course::Circular { .. } => Motion {
            position,
            course: Course::Circular { speed: libm::hypot(x, y), climb: z },
            attitude: Attitude::Heading { heading: libm::atan2(y, x), turn_rate },
        },
        _ => Motion { position, ..*motion },
    }
}

fn parked() -> impl Strategy<Value = Motion> + Clone {
    vector(30.0).prop_map(Motion::stationary)
}

#[test]
fn a_vector_against_the_one_it_replaces() {
    const SPANS: core::ops::Range<f64> = -2.0..0.0;
    let check = |class: &str, cases: BoxedStrategy<Case>| worst(class, CASES / 4, 1e-12, cases, relative_error);
    for gain in [0.0, 1.0, 50.0] {
        check("replaced: arc, arc", replaced(arc(), arc(), gain, SPANS).boxed());
        check("replaced: arc, line", replaced(arc(), line(), gain, SPANS).boxed());
        check("replaced: line, arc", replaced(line(), arc(), gain, SPANS).boxed());
        check("replaced: line, accelerated", replaced(line(), accelerated(), gain, SPANS).boxed());
        check("replaced: accelerated, arc", replaced(accelerated(), arc(), gain, SPANS).boxed());
        check("replaced: parked, accelerated", replaced(parked(), accelerated(), gain, SPANS).boxed());
        check("replaced: parked, arc", replaced(parked(), arc(), gain, SPANS).boxed());
        check("replaced: arc, parked", replaced(arc(), parked(), gain, SPANS).boxed());
    }
}

struct Bobbing;

impl Law for Bobbing {
    fn id(&self) -> u8 {
        1
    }
    fn displacement(&self, p: &[f64; LAW_PARAMETERS], dt: f64) -> Vec3 {
        Vec3::new(0.0, 0.0, p[0] * (libm::sin(p[1] * dt + p[2]) - libm::sin(p[2])))
    }
    fn velocity(&self, p: &[f64; LAW_PARAMETERS], dt: f64) -> Vec3 {
        Vec3::new(0.0, 0.0, p[0] * p[1] * libm::cos(p[1] * dt + p[2]))
    }
    fn advanced(&self, p: &[f64; LAW_PARAMETERS], dt: f64) -> [f64; LAW_PARAMETERS] {
        [p[0], p[1], p[2] + p[1] * dt, 0.0, 0.0, 0.0]
    }
}

#[test]
fn laws_of_the_game() {
    let custom = (vector(30.0), 0.1..3.0f64, 0.1..3.0f64, -3.0..3.0f64)
        .prop_map(|(p, size, rate, phase)| Motion::custom(p, &Bobbing, [size, rate, phase, 0.0, 0.0, 0.0]));
    check("custom, line", custom.clone(), line());
    check("custom, custom", custom.clone(), custom);
}

#[test]
fn work_is_bounded_and_the_bound_owns_up() {
    // Ten thousand turns: more than the panels allowed can follow.
    let top = Motion::circular(Vec3::ZERO, 0.0, 100.0, 100.0);
    let line = Motion::linear(Vec3::new(0.5, 0.0, 0.0), Vec3::new(1e-3, 0.0, 0.0));
    let Integral { value, error_bound } = distance_integral(&top, 0.0, &line, 0.0, 600.0);
    assert!(value.is_finite() && error_bound > 1e-9 * value);
}

#[test]
fn what_is_not_finite_is_said_to_be_unknown() {
    let broken = Motion::accelerated(Vec3::ZERO, Vec3::ZERO, Vec3::new(f64::NAN, 0.0, 0.0));
    let integral = distance_integral(&broken, 0.0, &Motion::stationary(Vec3::ZERO), 0.0, 1.0);
    assert!(integral.value.is_nan() && integral.error_bound == f64::INFINITY);
}

/// The estimate of one panel was a third of its error.
#[test]
fn a_pass_beside_one_line() {
    let lift = |y: f64, p: f64, v: f64, a: f64| {
        Motion::accelerated(Vec3::new(0.0, y, p), Vec3::new(0.0, 0.0, v), Vec3::new(0.0, 0.0, a))
    };
    let a = lift(0.07510953660003185, 15.836983355480061, -7.5140642206356985, 3.1338125499414757);
    let b = lift(0.0, 0.0, 5.346959860220967, -0.4265963000518225);
    let case = (a, 0.0, b, 0.2641970714083413, 4.2341655249730445);
    let error = relative_error(case);
    assert!(error < 1e-12, "{error:e}");
}
