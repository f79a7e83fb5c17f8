//! For tests only: the integral of a distance the slow way, sharing neither code nor method with the real one.
//!
//! Every local minimum of the distance is found by scanning and golden section, time is cut there, panels shrink toward
//! every cut by a constant factor, and each is integrated by the Gauss-Legendre rule with 20 points.

use crate::geometry::Vec3;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;
use std::vec::Vec;

const GAUSS_20: [(f64, f64); 10] = [
    (0.9931285991850949, 0.017614007139152118),
    (0.9639719272779138, 0.04060142980038694),
    (0.912234428251326, 0.06267204833410907),
    (0.8391169718222188, 0.08327674157670475),
    (0.7463319064601508, 0.10193011981724044),
    (0.636053680726515, 0.11819453196151841),
    (0.5108670019508271, 0.13168863844917664),
    (0.37370608871541955, 0.14209610931838204),
    (0.22778585114164507, 0.14917298647260374),
    (0.07652652113349734, 0.15275338713072584),
];

/// The integral of the length of `position` over `[0, span]`, where it is smooth between the given cuts.
pub fn integrate(position: impl Fn(f64) -> Vec3, span: f64, cuts: &[f64]) -> f64 {
    // Scaled to about one, so that no square is too large or too small.
    let size = (0..=8).map(|i| position(span * f64::from(i) / 8.0).max_axis()).fold(0.0, f64::max);
    if size == 0.0 {
        return 0.0;
    }
    let position = |t: f64| {
        let p = position(t);
        Vec3::new(p.x / size, p.y / size, p.z / size)
    };
    let distance = |t: f64| position(t).length();
    let mut cuts: Vec<f64> = cuts.iter().copied().filter(|&t| t > 0.0 && t < span).collect();
    cuts.extend([0.0, span]);
    cuts.sort_by(f64::total_cmp);
    let mut sum = Sum::default();
    for smooth in cuts.windows(2) {
        let mut ends = Vec::from([smooth[0]]);
        ends.extend(minima(&position, smooth[0], smooth[1]));
        ends.push(smooth[1]);
        for between in ends.windows(2) {
            graded(&distance, between[0], between[1], &mut sum);
        }
    }
    (sum.0 + sum.1) * size
}

/// Every local minimum; where a scan sees one, two finer scans look whether it is two.
fn minima(position: &impl Fn(f64) -> Vec3, from: f64, to: f64) -> Vec<f64> {
    let finer = |brackets: Vec<(f64, f64)>| brackets.into_iter().flat_map(|(low, high)| dips(position, low, high));
    let brackets = finer(finer(dips(position, from, to)).collect());
    let mut found: Vec<f64> =
        brackets.map(|(low, high)| golden_section(&|t| position(t).length(), low, high)).collect();
    found.sort_by(f64::total_cmp);
    found
}

/// Where a scan sees the distance dip, or the position change sides.
fn dips(position: &impl Fn(f64) -> Vec3, from: f64, to: f64) -> Vec<(f64, f64)> {
    const STEPS: usize = 100;
    let time = |i: usize| from + (to - from) * (i as f64 / STEPS as f64);
    let scan: Vec<Vec3> = (0..=STEPS).map(|i| position(time(i))).collect();
    let far: Vec<f64> = scan.iter().map(|p| p.length_squared()).collect();
    let (least, most) = far.iter().fold((f64::MAX, 0.0f64), |(least, most), &d| (least.min(d), most.max(d)));
    if most - least <= 1e-6 * most {
        // Flat: what a scan would see there is noise.
        return Vec::from([(from, to)]);
    }
    let lowest = (0..=STEPS)
        .filter(|&i| (i == 0 || far[i] < far[i - 1]) && (i == STEPS || far[i] <= far[i + 1]))
        .map(|i| (time(i.saturating_sub(1)), time((i + 1).min(STEPS))));
    let sides = (0..STEPS).filter(|&i| scan[i].dot(scan[i + 1]) < 0.0).map(|i| (time(i), time(i + 1)));
    lowest.chain(sides).collect()
}

fn golden_section(distance: &impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let ratio = 0.5 * (5.0f64.sqrt() - 1.0);
    let (mut m0, mut m1) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut d0, mut d1) = (distance(m0), distance(m1));
    for _ in 0..40 {
        if d0 < d1 {
            (high, m1, d1) = (m1, m0, d0);
            m0 = high - ratio * (high - low);
            d0 = distance(m0);
        } else {
            (low, m0, d0) = (m0, m1, d1);
            m1 = low + ratio * (high - low);
            d1 = distance(m1);
        }
    }
    0.5 * (low + high)
}

/// Panels that shrink toward both ends.
fn graded(distance: &impl Fn(f64) -> f64, from: f64, to: f64, sum: &mut Sum) {
    let half = 0.5 * (to - from);
    let mut outer = 1.0;
    for level in 0..12 {
        let inner = if level == 11 { 0.0 } else { outer * 0.2 };
        // The widest panels may hold a good part of a turn, and another close pass.
        let parts = if level == 0 { 6 } else { 2 };
        for part in 0..parts {
            let share = |i: i32| half * (inner + (outer - inner) * f64::from(i) / f64::from(parts));
            gauss(distance, from + share(part), from + share(part + 1), sum);
            gauss(distance, to - share(part + 1), to - share(part), sum);
        }
        outer = inner;
    }
}

fn gauss(distance: &impl Fn(f64) -> f64, from: f64, to: f64, sum: &mut Sum) {
    let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
    for (x, weight) in GAUSS_20 {
        sum.add(half * weight * distance(middle - half * x));
        sum.add(half * weight * distance(middle + half * x));
    }
}

/// A sum and what was lost adding it up (Neumaier).
#[derive(Default)]
struct Sum(f64, f64);

impl Sum {
    fn add(&mut self, term: f64) {
        let sum = self.0 + term;
        self.1 += if self.0.abs() >= term.abs() { (self.0 - sum) + term } else { (term - sum) + self.0 };
        self.0 = sum;
    }
}

/// Runs `error` on `cases` draws and prints the largest error of the class, failing on one above `limit`.
pub fn worst<S: Strategy>(class: &str, cases: u32, limit: f64, strategy: S, error: impl Fn(S::Value) -> f64)
where
    S::Value: Clone,
{
    let worst = Cell::new(0.0f64);
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&strategy, |case| {
        let error = error(case);
        worst.set(worst.get().max(error));
        // Written this way round so that not-a-number fails.
        let good = error <= limit;
        prop_assert!(good, "error {error:e} above {limit:e}");
        Ok(())
    });
    std::println!("{class:<44} worst {:.1e}", worst.get());
    outcome.unwrap_or_else(|failure| panic!("{class}: {failure}"));
}

pub fn vector(size: f64) -> impl Strategy<Value = Vec3> + Clone {
    prop::array::uniform3(-size..size).prop_map(Vec3::from)
}

/// A power of ten.
pub fn power(exponents: core::ops::Range<f64>) -> impl Strategy<Value = f64> + Clone {
    exponents.prop_map(|e| 10.0f64.powf(e))
}
