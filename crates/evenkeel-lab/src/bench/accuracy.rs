//! The integral against a quadrature of its own, class by class.

use evenkeel::path::distance_integral;
use evenkeel::{Motion, Vec3};
use evenkeel_link::Noise;
use std::hint::black_box;
use std::time::Instant;

/// One class of pairs of motions.
#[derive(Clone, Debug, PartialEq)]
pub struct IntegralClass {
    /// What they have in common.
    pub name: &'static str,
    /// The largest relative error of its cases.
    pub worst: f64,
    /// The mean time of one integral.
    pub nanos: f64,
}

/// A case: two motions and a span of seconds.
type Case = (Motion, Motion, f64);
/// Makes a case from numbers in [0, 1).
type Make = fn(&mut dyn FnMut() -> f64) -> Case;

const CLASSES: [(&str, Make); 9] = [
    ("lines", |r| (line(r, 30.0), line(r, 30.0), r() * 3.0)),
    ("lines, almost parallel", |r| {
        let a = line(r, 30.0);
        let drift = vector(r, 1e-9);
        (a, Motion::linear(a.position + vector(r, 5.0), a.velocity_at(0.0) + drift), r() * 3.0)
    }),
    ("lines, collinear", |r| {
        let (a, v) = (vector(r, 30.0), vector(r, 30.0));
        (Motion::linear(a, v), Motion::linear(a + v * (r() - 0.5), v * (2.0 * r() - 1.0)), r() * 3.0)
    }),
    ("lines that meet", |r| {
        let (a, span) = (line(r, 30.0), 0.1 + r() * 3.0);
        let (meeting, other) = (r() * span, vector(r, 30.0));
        (a, Motion::linear(a.position_at(meeting) - other * meeting, other), span)
    }),
    ("lines far from the origin", |r| {
        let far = Vec3::new(1e7, -3e7, 2e6);
        let (a, b) = (line(r, 30.0), line(r, 30.0));
        (Motion { position: a.position + far, ..a }, Motion { position: b.position + far, ..b }, r() * 3.0)
    }),
    ("at rest relative to each other", |r| {
        let (a, off) = (line(r, 30.0), vector(r, 30.0));
        (a, Motion { position: a.position + off, ..a }, r() * 3.0)
    }),
    ("arc and line", |r| (arc(r, Vec3::new(200.0, 0.0, 0.0)), line(r, 20.0), r() * 3.0)),
    ("an arc and its replacement", |r| {
        let old = Motion::circular(vector(r, 20.0), r() * 6.0, 25.0, r() - 0.5);
        let (age, off) = (r(), vector(r, 0.2));
        let now = old.at(age);
        let (speed, heading) = (r() * 25.0, now.attitude.heading() + r() * 0.1);
        (old.advanced(age), Motion::circular(now.position + off, heading, speed, r() - 0.5), 0.02 + r() * 0.8)
    }),
    ("arc and arc", |r| (arc(r, Vec3::new(200.0, 0.0, 0.0)), arc(r, Vec3::ZERO), r() * 3.0)),
];

/// Measures every class on so many cases.
pub fn integral_classes(cases: u32) -> Vec<IntegralClass> {
    let measure = |(index, (name, make)): (usize, (&'static str, Make))| {
        let noise = Noise::new(7, index as u64);
        let mut counter = 0;
        let mut random = || {
            counter += 1;
            noise.uniform(counter, 0)
        };
        let cases: Vec<Case> = (0..cases).map(|_| make(&mut random)).collect();
        let worst = cases.iter().map(relative_error).fold(0.0, f64::max);
        let started = Instant::now();
        for (a, b, span) in &cases {
            black_box(distance_integral(a, 0.0, b, 0.0, *span));
        }
        let nanos = started.elapsed().as_nanos() as f64 / cases.len() as f64;
        IntegralClass { name, worst, nanos }
    };
    CLASSES.into_iter().enumerate().map(measure).collect()
}

fn relative_error((a, b, span): &Case) -> f64 {
    let value = distance_integral(a, 0.0, b, 0.0, *span).value;
    let expected = reference(a, b, *span);
    if expected == 0.0 { value.abs() } else { (value / expected - 1.0).abs() }
}

/// Gauss-Legendre on panels that shrink towards the closest approach, where the distance may have a kink.
fn reference(a: &Motion, b: &Motion, span: f64) -> f64 {
    // The positions are subtracted first: that is the relative motion the integral is defined on.
    let apart = a.position - b.position;
    let origin = |m: &Motion| Motion { position: Vec3::ZERO, ..*m };
    let (from_a, from_b) = (origin(a), origin(b));
    let distance = |t: f64| (apart + (from_a.position_at(t) - from_b.position_at(t))).length();
    if let (Some(u), Some(v)) = (a.constant_velocity(), b.constant_velocity()) {
        let w = u - v;
        let closest = if u == v { 0.0 } else { (-apart.dot(w) / w.dot(w)).clamp(0.0, span) };
        return graded(&distance, closest, span) + graded(&distance, closest, 0.0);
    }
    // Curves may come close more than once: each stretch of time has its own closest approach.
    const STRETCHES: i32 = 16;
    let stretch = |i: i32| {
        let (from, to) = (span * f64::from(i) / f64::from(STRETCHES), span * f64::from(i + 1) / f64::from(STRETCHES));
        let closest = closest_approach(&distance, from, to);
        graded(&distance, closest, to) + graded(&distance, closest, from)
    };
    (0..STRETCHES).map(stretch).sum()
}

/// Where the distance is smallest: the best of many places, then golden section around it.
fn closest_approach(distance: &dyn Fn(f64) -> f64, from: f64, to: f64) -> f64 {
    let place = |i: i32| from + (to - from) * f64::from(i) / 16.0;
    let best = (0..=16).min_by(|a, b| distance(place(*a)).total_cmp(&distance(place(*b)))).unwrap_or(0);
    let (mut low, mut high) = (place((best - 1).max(0)), place((best + 1).min(16)));
    for _ in 0..60 {
        let (a, b) = (low + 0.382 * (high - low), low + 0.618 * (high - low));
        if distance(a) < distance(b) {
            high = b;
        } else {
            low = a;
        }
    }
    0.5 * (low + high)
}

fn graded(f: &dyn Fn(f64) -> f64, from: f64, to: f64) -> f64 {
    let length = to - from;
    let mut sum = 0.0;
    let mut far = 1.0;
    for _ in 0..40 {
        let near = far * 0.5;
        sum += gauss(f, from + length * near, from + length * far);
        far = near;
    }
    (sum + gauss(f, from, from + length * far)).abs()
}

/// Ten-point Gauss-Legendre.
fn gauss(f: &dyn Fn(f64) -> f64, a: f64, b: f64) -> f64 {
    const NODES: [(f64, f64); 5] = [
        (0.148_874_338_981_631_22, 0.295_524_224_714_752_87),
        (0.433_395_394_129_247_2, 0.269_266_719_309_996_35),
        (0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
        (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
        (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
    ];
    let (centre, half) = (0.5 * (a + b), 0.5 * (b - a));
    half * NODES.iter().map(|(x, w)| w * (f(centre + half * x) + f(centre - half * x))).sum::<f64>()
}

fn vector(r: &mut dyn FnMut() -> f64, size: f64) -> Vec3 {
    Vec3::new((r() - 0.5) * size, (r() - 0.5) * size, (r() - 0.5) * size)
}

fn line(r: &mut dyn FnMut() -> f64, size: f64) -> Motion {
    Motion::linear(vector(r, size), vector(r, size))
}

/// An arc around a place far from others, so that nothing passes close by.
fn arc(r: &mut dyn FnMut() -> f64, around: Vec3) -> Motion {
    Motion::circular(around + vector(r, 20.0), r() * 6.0, r() * 50.0 - 25.0, r() * 3.0 - 1.5)
}
