//! The distance between two motions, integrated once for all parts of a stretch of time.
//!
//! Many receivers show the same vector while the same other one is exported, each from a time of its own to a time of its own. The
//! distance is interpolated by a polynomial, whose antiderivative then gives the integral over any part at the price of two evaluations.
//!
//! # How far it is off
//!
//! Let `x` go from -1 to 1 over the stretch, and let the relative position be `r(x)`, a polynomial whose coefficients are `c_k` (see
//! [`Taylor`]). Let `e` be the direction of `c_0`, `L = e . r` the part of `r` along it, and `r'` the rest, so that the distance is
//! `f = sqrt(L^2 + r'.r')`. In the Bernstein ellipse with parameter `p`, in which no `x` is larger than `a = (p + 1/p) / 2`,
//!
//! - `|L| >= m`, where `m = |c_0| - sum |e . c_k| a^k` over k from 1 on, and
//! - `|r'.r'| <= h^2`, where `h = sum |c'_k| a^k` over the same.
//!
//! Where `h < m`, `f` is analytic in the ellipse, and `|f - L| = |L| |sqrt(1 + r'.r' / L^2) - 1| <= h^2 / m`, because
//! `|sqrt(1 + u) - 1| <= |u|` for `|u| <= 1`. Interpolation in `n` Chebyshev points takes what is analytic and at most `M` in the ellipse to
//! within `4 M p^(1-n) / (p - 1)` on the stretch (Trefethen, Approximation Theory and Approximation Practice, theorem 8.2), and
//! a polynomial of lower degree than `n`, such as `L`, to itself. So the interpolant of `f` is as near to it as that of `f - L`: within
//! `4 h^2 / m p^(1-n) / (p - 1)`, while `f` is nowhere below `m`. The relative error of an integral over any part is therefore at most
//!
//! `(h / m)^2 4 p^(1-n) / (p - 1)`.
//!
//! A stretch is taken if that is at most [`TOLERANCE`] for one of a few `p`. Not so where the two motions meet in the stretch, or nearly.

use super::forms::Forms;
use super::taylor::{MAX_TURN, Taylor};
use crate::motion::{Course, Motion};

/// The relative error that is let pass.
pub(super) const TOLERANCE: f64 = 1e-11;
/// How many points the distance is interpolated in.
const POINTS: usize = 14;
const PAIRS: usize = POINTS / 2;
/// The positive half of the Chebyshev points.
const AT: [f64; PAIRS] = [
    0.9937122098932426,
    0.9438833303083676,
    0.8467241992282841,
    core::f64::consts::FRAC_1_SQRT_2,
    0.5320320765153366,
    0.3302790619551673,
    0.11196447610330769,
];
/// All of them: those of the positive half, then their mirror images.
const EVERYWHERE: [f64; POINTS] = {
    let mut all = [0.0; POINTS];
    let mut i = 0;
    while i < PAIRS {
        (all[i], all[PAIRS + i]) = (AT[i], -AT[i]);
        i += 1;
    }
    all
};
/// The Chebyshev polynomials at the positive half of the points, as they weigh in coefficients.
const WEIGHTS: [[f64; PAIRS]; POINTS] = {
    let mut weights = [[1.0 / POINTS as f64; PAIRS]; POINTS];
    let mut i = 0;
    while i < PAIRS {
        let (mut before, mut here, mut k) = (1.0, AT[i], 1);
        while k < POINTS {
            weights[k][i] = here * (2.0 / POINTS as f64);
            (before, here) = (here, 2.0 * AT[i] * here - before);
            k += 1;
        }
        i += 1;
    }
    weights
};
/// The Chebyshev polynomials as sums of powers.
const POWERS: [[f64; POINTS]; POINTS] = {
    let mut powers = [[0.0; POINTS]; POINTS];
    (powers[0][0], powers[1][1]) = (1.0, 1.0);
    let mut k = 2;
    while k < POINTS {
        let mut i = 0;
        while i < POINTS {
            let shifted = if i > 0 { powers[k - 1][i - 1] } else { 0.0 };
            powers[k][i] = 2.0 * shifted - powers[k - 2][i];
            i += 1;
        }
        k += 1;
    }
    powers
};

/// An ellipse, and how large `h / m` may be in it when squared.
struct Ellipse {
    reach: f64,
    most: f64,
}

impl Ellipse {
    const fn new(parameter: f64) -> Self {
        let (mut power, mut i) = (1.0, 1);
        while i < POINTS {
            power *= parameter;
            i += 1;
        }
        let most = TOLERANCE * 0.25 * (parameter - 1.0) * power;
        Self { reach: 0.5 * (parameter + 1.0 / parameter), most: if most < 0.99 { most } else { 0.99 } }
    }
}

/// From the usual case to what is just possible.
const ELLIPSES: [Ellipse; 5] =
    [Ellipse::new(8.0), Ellipse::new(6.0), Ellipse::new(4.6), Ellipse::new(3.6), Ellipse::new(2.8)];

/// The integral of the distance between two motions as a function of time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Antiderivative {
    /// Of the powers of `x` from the first on, in seconds; two more than there are, so that they come in fours.
    powers: [f64; 16],
    per_half: f64,
}

impl Antiderivative {
    /// From `a_from` and `b_from` seconds after the two motions' starts on, for `span` seconds. None where it would not be exact.
    pub(crate) fn new(a: &Motion, a_from: f64, b: &Motion, b_from: f64, span: f64) -> Option<Self> {
        // A spline changes its law.
        let bends = |motion: &Motion| matches!(motion.course, Course::Spline { .. });
        if bends(a) || bends(b) {
            return None;
        }
        let (forms, half) = (Forms::new(a, a_from, b, b_from)?, 0.5 * span);
        // Written this way round so that what is not a number goes elsewhere.
        let in_reach = half > 0.0 && forms.fastest_turn() * half <= MAX_TURN;
        if !in_reach {
            return None;
        }
        let taylor = Taylor::new(&forms, forms.start, 0.0, half);
        is_tame(&taylor).then(|| Self { powers: integrate(&taylor.distances(&EVERYWHERE), half), per_half: 1.0 / half })
    }

    /// The integral over a part of the stretch, in seconds since it began.
    #[inline]
    pub(crate) fn between(&self, from: f64, to: f64) -> f64 {
        let (a, b) = (from * self.per_half - 1.0, to * self.per_half - 1.0);
        self.at(b) - self.at(a)
    }

    /// The sum of the powers, in four independent parts.
    #[inline]
    fn at(&self, x: f64) -> f64 {
        let (x2, p) = (x * x, &self.powers);
        let x4 = x2 * x2;
        let four = |i: usize| (p[i] + p[i + 1] * x) + (p[i + 2] + p[i + 3] * x) * x2;
        ((four(0) + four(4) * x4) + (four(8) + four(12) * x4) * (x4 * x4)) * x
    }
}

/// Whether the error is small enough in one of the ellipses.
fn is_tame(taylor: &Taylor) -> bool {
    let middle = taylor.coefficient(0);
    let distance = middle.length();
    let known = distance > 0.0 && taylor.degree() < POINTS && taylor.truncated <= 1e-13 * distance;
    if !known {
        return false;
    }
    let direction = middle * (1.0 / distance);
    let (mut along, mut across) = ([0.0; POINTS], [0.0; POINTS]);
    for k in 1..=taylor.degree() {
        let coefficient = taylor.coefficient(k);
        let part = coefficient.dot(direction);
        (along[k], across[k]) = (libm::fabs(part), (coefficient - direction * part).length());
    }
    ELLIPSES.iter().any(|Ellipse { reach, most }| {
        let sum =
            |terms: &[f64; POINTS]| terms[1..=taylor.degree()].iter().rev().fold(0.0, |sum, term| (sum + term) * reach);
        let (m, h) = (distance - sum(&along), sum(&across));
        m > 0.0 && h * h <= most * (m * m)
    })
}

/// The antiderivative of what goes through these distances.
fn integrate(distances: &[f64; POINTS], half: f64) -> [f64; 16] {
    let (mut even, mut odd) = ([0.0; PAIRS], [0.0; PAIRS]);
    for i in 0..PAIRS {
        (even[i], odd[i]) = (distances[i] + distances[PAIRS + i], distances[i] - distances[PAIRS + i]);
    }
    let mut powers = [0.0; 16];
    for k in 0..POINTS {
        let side = if k % 2 == 0 { &even } else { &odd };
        let mut coefficient = 0.0;
        for i in 0..PAIRS {
            coefficient += WEIGHTS[k][i] * side[i];
        }
        for i in (k % 2..=k).step_by(2) {
            powers[i] += POWERS[k][i] * coefficient;
        }
    }
    for (i, power) in powers.iter_mut().enumerate() {
        *power *= half / (i + 1) as f64;
    }
    powers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Vec3;
    use crate::path::distance_integral;
    use crate::path::reference::{power, vector, worst};
    use proptest::prelude::*;
    use std::cell::Cell;

    fn arc() -> impl Strategy<Value = Motion> + Clone {
        (vector(20.0), -3.0..3.0f64, -25.0..25.0f64, -2.0..2.0f64).prop_map(|(p, h, s, w)| Motion::circular(p, h, s, w))
    }

    fn motion() -> impl Strategy<Value = Motion> + Clone {
        prop_oneof![
            arc(),
            (vector(20.0), vector(20.0)).prop_map(|(p, v)| Motion::linear(p, v)),
            (vector(20.0), vector(20.0), vector(9.0)).prop_map(|(p, v, a)| Motion::accelerated(p, v, a)),
        ]
    }

    /// The error relative to a part's own integral, by the exact kernel; how many stretches were taken is counted.
    fn error(taken: &Cell<u32>, (a, b, ages, span, part): (Motion, Motion, (f64, f64), f64, (f64, f64))) -> f64 {
        let Some(antiderivative) = Antiderivative::new(&a, ages.0, &b, ages.1, span) else { return 0.0 };
        taken.set(taken.get() + 1);
        let (from, to) = (part.0.min(part.1) * span, part.0.max(part.1) * span);
        let exact = distance_integral(&a, ages.0 + from, &b, ages.1 + from, to - from).value;
        // What is rounded does not shrink with the part.
        let whole = distance_integral(&a, ages.0, &b, ages.1, span).value;
        let off = libm::fabs(antiderivative.between(from, to) - exact) - 2e-15 * whole;
        if exact > 0.0 { off.max(0.0) / exact } else { off.max(0.0) }
    }

    fn parts() -> impl Strategy<Value = ((f64, f64), f64, (f64, f64))> + Clone {
        ((0.0..2.0f64, 0.0..2.0f64), power(-3.0..0.0), (0.0..=1.0f64, 0.0..=1.0f64))
    }

    #[test]
    fn what_is_taken_is_as_exact_as_promised() {
        let taken = Cell::new(0);
        let any = (motion(), motion(), parts()).prop_map(|(a, b, (ages, span, part))| (a, b, ages, span, part));
        worst("antiderivative, any motions", 20_000, 2.0 * TOLERANCE, any, |case| error(&taken, case));
        assert!(taken.get() > 5_000, "{} stretches only", taken.get());
    }

    /// Two motions that parted shortly before, nearly from one place: as a vector parts from the one that it replaces.
    #[test]
    fn so_is_what_parts_from_one_place() {
        let taken = Cell::new(0);
        let cases = (arc(), -3.0..3.0f64, vector(1.0), power(-6.0..-1.0), 0.5..6.0f64, parts());
        let cases = cases.prop_map(|(a, turn, off, size, before, (_, span, part))| {
            let heading = a.attitude.heading() + turn;
            let b = Motion::circular(a.position + off * size, heading, 20.0, 0.4);
            (a, b, (before * span, before * span), span, part)
        });
        worst("antiderivative, parted", 20_000, 2.0 * TOLERANCE, cases, |case| error(&taken, case));
        assert!(taken.get() > 5_000, "{} stretches only", taken.get());
    }

    #[test]
    fn what_meets_or_bends_is_left_to_others() {
        let still = Motion::stationary(Vec3::ZERO);
        let passing = Motion::linear(Vec3::new(-1.0, 1e-3, 0.0), Vec3::new(2.0, 0.0, 0.0));
        assert!(Antiderivative::new(&still, 0.0, &passing, 0.0, 1.0).is_none());
        assert!(Antiderivative::new(&still, 0.0, &still, 0.0, 1.0).is_none());
        let spline = Motion::spline(Vec3::new(9.0, 0.0, 0.0), Vec3::ZERO, Vec3::ZERO, Vec3::ZERO, 0.5);
        assert!(Antiderivative::new(&still, 0.0, &spline, 0.0, 0.1).is_none());
        assert!(Antiderivative::new(&still, 0.0, &passing, 3.0, f64::NAN).is_none());
    }
}
