//! The distance between two motions, integrated over time: in closed form where both go straight.
//!
//! The papers' closed form divides by the relative speed and takes the logarithm of a difference; it gives
//! not-a-number where the motions are parallel, collinear or equal, which is most of the time in a game. The form here
//! is written in the displacement over the whole span and has no such places. The problem itself is a kind one: the
//! integral is never below a quarter of the relative displacement times the span, so that what rounding does to the
//! inputs stays a rounding error in the result.

use super::forms::Forms;
use super::relative::Relative;
use super::{march, quadrature};
use crate::geometry::Vec3;
use crate::motion::{Course, Motion};

/// An integral and how far it may be off.
///
/// The error is that of integrating the *relative* motion. What was lost when two positions far from the origin were
/// rounded and subtracted, nobody can restore, and the bound does not speak of it.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Integral {
    /// Distance times seconds.
    pub value: f64,
    /// The absolute error is not expected to exceed this: a few units in the last place for a closed form.
    pub error_bound: f64,
}

/// The integral of the distance between two motions over `span` seconds, evaluating `a` from `a_from` seconds after its
/// start on, and `b` from `b_from`.
///
/// Straight lines are integrated in closed form, everything else by quadrature with bounded work. A span of zero or less
/// gives zero. Nothing is allocated.
///
/// ```
/// use evenkeel::{Motion, Vec3, path::distance_integral};
/// let parked = Motion::stationary(Vec3::ZERO);
/// let passing = Motion::linear(Vec3::new(-1.0, 0.0, 0.0), Vec3::new(1.0, 0.0, 0.0));
/// // From one metre before to one metre behind: two triangles of half a metre-second each.
/// assert_eq!(distance_integral(&parked, 0.0, &passing, 0.0, 2.0).value, 1.0);
/// ```
pub fn distance_integral(a: &Motion, a_from: f64, b: &Motion, b_from: f64, span: f64) -> Integral {
    // Written this way round so that a span that is not a number counts nothing either.
    let has_span = span > 0.0;
    if !has_span || (a_from == b_from && a == b) {
        return Integral::default();
    }
    if let (Some(va), Some(vb)) = (a.constant_velocity(), b.constant_velocity()) {
        return straight(a.position_at(a_from) - b.position_at(b_from), va - vb, span);
    }
    piecewise(a, a_from, b, b_from, span)
}

/// The same where one of the motions may change its law on the way.
fn piecewise(a: &Motion, a_from: f64, b: &Motion, b_from: f64, span: f64) -> Integral {
    let mut total = Integral::default();
    let mut done = 0.0;
    // A spline ends at most once on each side, so there are at most three stretches.
    while done < span {
        let (a_now, b_now) = (a_from + done, b_from + done);
        let until = next_bend(a, a_now, done).min(next_bend(b, b_now, done)).min(span);
        let part = smooth_stretch(a, a_now, b, b_now, until - done);
        total.value += part.value;
        total.error_bound += part.error_bound;
        done = until;
    }
    total
}

/// When, counted as `done` is, the motion changes its law after `now`; never, for most.
fn next_bend(motion: &Motion, now: f64, done: f64) -> f64 {
    match motion.course {
        // The sum may round back to `done`; then the bend is behind us for all that can be told.
        Course::Spline { duration, .. } if now < duration && done + (duration - now) > done => done + (duration - now),
        _ => f64::INFINITY,
    }
}

/// The integral over a span in which neither motion changes its law.
fn smooth_stretch(a: &Motion, a_from: f64, b: &Motion, b_from: f64, span: f64) -> Integral {
    match (straight_from(a, a_from), straight_from(b, b_from)) {
        (Some(va), Some(vb)) => straight(a.position_at(a_from) - b.position_at(b_from), va - vb, span),
        _ => Forms::new(a, a_from, b, b_from)
            .and_then(|forms| march::integrate(&forms, span))
            .unwrap_or_else(|| quadrature::integrate(Relative::new(a, a_from, b, b_from), span)),
    }
}

/// The velocity from `from` on, where the motion is straight and even from there.
fn straight_from(motion: &Motion, from: f64) -> Option<Vec3> {
    match motion.course {
        Course::Spline { end_velocity, duration, .. } if from >= duration => Some(end_velocity),
        _ => motion.constant_velocity(),
    }
}

/// The integral of |p + v t| over t from 0 to `span`.
pub(super) fn straight(p: Vec3, v: Vec3, span: f64) -> Integral {
    let d = v * span;
    // Fourth powers are taken below. Squares tell cheaply whether they stay within range.
    let size2 = p.length_squared() + d.length_squared();
    let mean = if size2 > 1e-120 && size2 < 1e120 { mean_distance(p, d) } else { mean_out_of_range(p, d) };
    let value = mean * span;
    Integral { value, error_bound: value * (16.0 * f64::EPSILON) }
}

/// The mean of |p + d x| over x from 0 to 1, brought near one first.
#[cold]
fn mean_out_of_range(p: Vec3, d: Vec3) -> f64 {
    let size = p.max_axis().max(d.max_axis());
    if size == 0.0 {
        return 0.0;
    }
    let scaled = |v: Vec3| Vec3::new(v.x / size, v.y / size, v.z / size);
    mean_distance(scaled(p), scaled(d)) * size
}

/// The mean of |p + d x| over x from 0 to 1.
fn mean_distance(p: Vec3, d: Vec3) -> f64 {
    let q = p + d;
    let (d2, p2, q2) = (d.length_squared(), p.length_squared(), q.length_squared());
    if d2 == 0.0 {
        return libm::sqrt(p2);
    }
    // In terms of the line from p to q: s is the way along it times |d|, h the distance from it.
    let (s0, s1, h2d2) = (p.dot(d), q.dot(d), p.cross(d).length_squared());
    let nearest2_d2 = if s0 < 0.0 && s1 > 0.0 { h2d2 } else { p2.min(q2) * d2 };
    if d2 * d2 <= nearest2_d2 {
        return mean_of_smooth_distance(p, d, d2 * d2 / nearest2_d2);
    }
    // From here on d is no smaller than anything that is subtracted, so nothing cancels.
    let (r0, r1) = (libm::sqrt(p2), libm::sqrt(q2));
    let straight_part = s1 * r1 - s0 * r0;
    if h2d2 <= 1e-18 * (d2 * d2) {
        // What the logarithm would add is beyond double precision, and its argument may overflow.
        return straight_part / (2.0 * d2);
    }
    let (length, h2) = (libm::sqrt(d2), h2d2 / d2);
    let (s0, s1) = (s0 / length, s1 / length);
    // asinh(s1/h) - asinh(s0/h) as one logarithm, its argument without a difference.
    let (n0, n1) = (libm::fabs(s0) + r0, libm::fabs(s1) + r1);
    let ratio = match (s0 < 0.0, s1 < 0.0) {
        (false, _) => n1 / n0,
        (true, true) => n0 / n1,
        (true, false) => n1 * n0 / h2,
    };
    (straight_part + h2 * length * libm::log(ratio)) / (2.0 * d2)
}

/// Positive nodes and weights of the Gauss-Legendre rule with 12 points.
const GAUSS_12: [(f64, f64); 6] = [
    (0.1252334085114689, 0.24914704581340277),
    (0.3678314989981802, 0.2334925365383548),
    (0.5873179542866175, 0.20316742672306592),
    (0.7699026741943047, 0.16007832854334622),
    (0.9041172563704749, 0.10693932599531843),
    (0.9815606342467192, 0.04717533638651183),
];

/// The same with 6 points.
pub(super) const GAUSS_6: [(f64, f64); 3] = [
    (0.2386191860831969, 0.46791393457269104),
    (0.6612093864662645, 0.3607615730481386),
    (0.932469514203152, 0.17132449237917036),
];

/// The mean of |p + d x| where d is shorter than the smallest distance, by `ratio2` when squared: there the closed form
/// would cancel, and a fixed rule is exact to the last digits.
fn mean_of_smooth_distance(p: Vec3, d: Vec3, ratio2: f64) -> f64 {
    let (middle, half) = (p + d * 0.5, d * 0.5);
    let pair = |x: f64| (middle + half * x).length() + (middle - half * x).length();
    if ratio2 < 1e-4 {
        // The rule with 3 points.
        return (4.0 / 9.0) * middle.length() + (2.5 / 9.0) * pair(0.7745966692414834);
    }
    let rule: &[(f64, f64)] = if ratio2 < 1e-2 { &GAUSS_6 } else { &GAUSS_12 };
    0.5 * rule.iter().map(|&(x, weight)| weight * pair(x)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::reference::{self, power, vector, worst};
    use proptest::prelude::*;

    const CASES: u32 = 2_000;

    /// The relative error for a line given by its relative position and velocity.
    fn relative_error((p, v, span): (Vec3, Vec3, f64)) -> f64 {
        let expected = reference::integrate(|t| p + v * t, span, &[]);
        let Integral { value, error_bound } = straight(p, v, span);
        assert!(error_bound <= 1e-14 * value);
        if expected == 0.0 { value } else { libm::fabs(value / expected - 1.0) }
    }

    fn check(class: &str, cases: impl Strategy<Value = (Vec3, Vec3, f64)>) {
        worst(class, CASES, 1e-12, cases, relative_error);
    }

    fn span() -> impl Strategy<Value = f64> + Clone {
        power(-3.0..1.0)
    }

    #[test]
    fn generic_lines() {
        check("generic", (vector(30.0), vector(30.0), span()));
        check("planar", (vector(30.0), vector(30.0), span()).prop_map(|(p, v, t)| (flat(p), flat(v), t)));
        check("along an axis", (-9.0..9.0f64, -9.0..9.0f64, span()).prop_map(|(p, v, t)| (x(p), x(v), t)));
    }

    fn flat(v: Vec3) -> Vec3 {
        Vec3::new(v.x, v.y, 0.0)
    }

    fn x(x: f64) -> Vec3 {
        Vec3::new(x, 0.0, 0.0)
    }

    #[test]
    fn lines_that_meet_or_nearly_so() {
        let lines = || (vector(30.0), vector(30.0), span());
        check("collinear", (lines(), -3.0..3.0f64).prop_map(|((_, v, t), k)| (v * (k * t), v, t)));
        check("crossing through zero", (lines(), 0.0..1.0f64).prop_map(|((_, v, t), k)| (v * (-k * t), v, t)));
        let near = (lines(), -3.0..3.0f64, power(-18.0..0.0));
        check("near-parallel", near.prop_map(|((p, v, t), k, off)| (v * (k * t) + p * off, v, t)));
        check("starting together", lines().prop_map(|(_, v, t)| (Vec3::ZERO, v, t)));
        check("nearly starting together", (lines(), power(-300.0..-2.0)).prop_map(|((p, v, t), k)| (p * k, v, t)));
        check("ending together", lines().prop_map(|(_, v, t)| (v * -t, v, t)));
    }

    #[test]
    fn lines_out_of_proportion() {
        let lines = || (vector(30.0), vector(30.0), span());
        check("tiny relative speed", (lines(), power(-300.0..-2.0)).prop_map(|((p, v, t), k)| (p, v * k, t)));
        check("no relative speed", lines().prop_map(|(p, _, t)| (p, Vec3::ZERO, t)));
        check("far apart", (lines(), power(2.0..100.0)).prop_map(|((p, v, t), k)| (p * k, v, t)));
        check("huge speeds", (lines(), power(2.0..290.0)).prop_map(|((p, v, t), k)| (p, v * k, t)));
        check("huge everything", (lines(), power(2.0..290.0)).prop_map(|((p, v, t), k)| (p * k, v * k, t)));
        check("tiny everything", (lines(), power(-290.0..-2.0)).prop_map(|((p, v, t), k)| (p * k, v * k, t)));
        // Where one formula gives way to the other.
        let handover = (vector(30.0), vector(30.0), power(-1.5..0.5));
        check("displacement about the distance", handover.prop_map(|(p, v, k)| (p, v, k * p.length() / v.length())));
    }

    #[test]
    fn a_huge_common_offset_costs_digits_only_in_the_first_difference() {
        let cases = (vector(30.0), vector(1.0), power(5.0..12.0), (vector(30.0), vector(30.0)), -2.0..2.0f64, span());
        worst("huge common offset", CASES, 1e-12, cases, |(p, far, k, (va, vb), age, t)| {
            let (a, b) = (Motion::linear(far * k + p, va), Motion::linear(far * k, vb));
            let relative = a.position_at(age) - b.position_at(0.5);
            let expected = reference::integrate(|t| relative + (va - vb) * t, t, &[]);
            let value = distance_integral(&a, age, &b, 0.5, t).value;
            if expected == 0.0 { value } else { libm::fabs(value / expected - 1.0) }
        });
    }

    #[test]
    fn nothing_comes_of_nothing() {
        let a = Motion::circular(Vec3::new(1e9, 1.0, 2.0), 1.0, 20.0, 0.7);
        let b = Motion::linear(Vec3::ZERO, Vec3::new(1.0, 0.0, 0.0));
        assert_eq!(distance_integral(&a, 3.0, &a, 3.0, 1e6), Integral::default());
        for empty in [0.0, -1.0, f64::NAN] {
            assert_eq!(distance_integral(&a, 0.0, &b, 0.0, empty), Integral::default());
        }
        assert_eq!(straight(Vec3::ZERO, Vec3::ZERO, 1.0).value, 0.0);
        assert_eq!(straight(Vec3::ZERO, Vec3::new(5e-324, 0.0, 0.0), 1.0).value, 0.0);
    }

    #[test]
    fn a_straight_circular_motion_is_a_line() {
        let a = Motion::circular(Vec3::ZERO, 0.0, 3.0, 0.0);
        let b = Motion::stationary(Vec3::new(0.0, 4.0, 0.0));
        let c = Motion::linear(Vec3::ZERO, Vec3::new(3.0, 0.0, 0.0));
        assert_eq!(distance_integral(&a, 0.0, &b, 0.0, 1.0), distance_integral(&c, 0.0, &b, 0.0, 1.0));
    }
}
