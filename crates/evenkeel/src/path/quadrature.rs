//! The distance between two motions that are not both straight, integrated by adaptive Gauss-Kronrod quadrature.
//!
//! Motions are smooth; the distance between them is not where they meet: it has a kink there, or nearly one where they
//! pass each other closely. A rule of high order is exact in one go where there is none, and useless where there is
//! one. So a panel whose error estimate is too large is split at its closest approach, and beside a closest approach
//! the panels get smaller toward it by a constant factor.

use super::integral::Integral;
use crate::geometry::Vec3;
use crate::motion::{Course, Motion};

/// How many panels one integral may take. A close pass takes some twenty.
const MAX_PANELS: u32 = 600;
/// How often a panel may be split again.
const MAX_DEPTH: u32 = 40;
/// The error, relative to the whole, with which a panel is good enough.
const TOLERANCE: f64 = 3e-13;

/// The nodes of the Kronrod rule with 15 points, between both ends of the panel (where nothing is weighed, but where a
/// kink may hide from the rule).
const NODES: [f64; 17] = [
    -1.0,
    -0.9914553711208126,
    -0.9491079123427585,
    -0.8648644233597691,
    -0.7415311855993945,
    -0.5860872354676911,
    -0.4058451513773972,
    -0.20778495500789848,
    0.0,
    0.20778495500789848,
    0.4058451513773972,
    0.5860872354676911,
    0.7415311855993945,
    0.8648644233597691,
    0.9491079123427585,
    0.9914553711208126,
    1.0,
];
const LAST: usize = NODES.len() - 1;

/// The weights of the Kronrod rule by distance from the middle.
const KRONROD: [f64; 8] = [
    0.20948214108472782,
    0.20443294007529889,
    0.19035057806478542,
    0.1690047266392679,
    0.14065325971552592,
    0.10479001032225019,
    0.06309209262997856,
    0.022935322010529224,
];

/// The weights of the Gauss rule with 7 points that shares every second node.
const GAUSS: [f64; 4] = [0.4179591836734694, 0.3818300505051189, 0.27970539148927664, 0.1294849661688697];

/// The integral over a span in which neither motion changes its law.
pub(super) fn integrate(a: &Motion, a_from: f64, b: &Motion, b_from: f64, span: f64) -> Integral {
    let relative = Relative::new(a, a_from, b, b_from);
    let (start, end) = (relative.position(0.0), relative.position(span));
    let whole = Panel { from: 0.0, to: span, start, end };
    let samples = Samples::take(&relative, &whole);
    if !samples.kronrod.is_finite() {
        return Integral { value: samples.kronrod, error_bound: f64::INFINITY };
    }
    let mut work = Work {
        noise: relative.noise(span),
        relative,
        tolerance: samples.kronrod * TOLERANCE,
        panels_left: MAX_PANELS,
        total: Integral::default(),
    };
    work.settle(&whole, &samples, MAX_DEPTH);
    work.total
}

/// A part of the span, with the relative positions at its ends.
#[derive(Clone, Copy)]
struct Panel {
    from: f64,
    to: f64,
    start: Vec3,
    end: Vec3,
}

impl Panel {
    /// The time at one of the rule's nodes.
    fn time(&self, node: usize) -> f64 {
        self.from + (self.to - self.from) * (0.5 + 0.5 * NODES[node])
    }
}

/// What the rule sees of a panel.
struct Samples {
    distances: [f64; NODES.len()],
    /// The integral by the Kronrod rule.
    kronrod: f64,
    /// How far the Gauss rule is from it.
    difference: f64,
    /// The integral of how far the distance is from its mean.
    spread: f64,
    /// Roughly the area that the rule does not see: see [`unseen`].
    missed: f64,
}

impl Samples {
    fn take(relative: &Relative, panel: &Panel) -> Self {
        let (middle, half) = (0.5 * (panel.from + panel.to), 0.5 * (panel.to - panel.from));
        let mut distances = [0.0; NODES.len()];
        let (mut kronrod, mut gauss, mut missed) = (0.0, 0.0, 0.0);
        let mut before = panel.start;
        distances[0] = before.length();
        for i in 1..=LAST {
            let here = if i == LAST { panel.end } else { relative.position(middle + half * NODES[i]) };
            let (d0, d1) = (distances[i - 1], here.length());
            distances[i] = d1;
            let off_middle = i.abs_diff(LAST / 2);
            if i < LAST {
                kronrod += KRONROD[off_middle] * d1;
            }
            if off_middle < LAST / 2 && off_middle % 2 == 0 {
                gauss += GAUSS[off_middle / 2] * d1;
            }
            missed += (NODES[i] - NODES[i - 1]) * unseen(before, d0, here, d1);
            before = here;
        }
        let mean = 0.5 * kronrod;
        let spread: f64 = (1..LAST).map(|i| KRONROD[i.abs_diff(LAST / 2)] * libm::fabs(distances[i] - mean)).sum();
        Self {
            distances,
            kronrod: kronrod * half,
            difference: libm::fabs(kronrod - gauss) * half,
            spread: spread * half,
            // Beside a kink rounded off on a scale w, the area grows with the logarithm of 1/w: at most this much.
            missed: 8.0 * missed * half,
        }
    }

    /// How far the Kronrod rule is expected to be off. The difference is the error of the Gauss rule. That of the Kronrod
    /// rule falls with a higher power on what is smooth, of which QUADPACK's estimate takes a cautious one; but beside
    /// a close pass both fall alike, so no more than a factor is trusted.
    fn error(&self, noise: f64) -> f64 {
        let ratio = 200.0 * self.difference / self.spread;
        let error = if self.difference <= noise {
            self.difference
        } else if ratio < 1.0 {
            (self.spread * ratio * libm::sqrt(ratio)).max(0.5 * self.difference)
        } else {
            self.spread.max(self.difference)
        };
        error + self.missed
    }
}

/// Roughly the mean distance that a rule misses between two nodes if a close pass lies between or just beside them, one
/// so close that the rule takes it for a kink at one of the two, or for none. Zero where there is no sign of one.
fn unseen(p0: Vec3, d0: f64, p1: Vec3, d1: f64) -> f64 {
    let (near, far, cosine) = (d0.min(d1), d0.max(d1), p0.dot(p1));
    let turns = cosine < 0.7 * d0 * d1;
    let dives = 4.0 * near < far;
    if near == 0.0 || !(turns || dives) {
        return 0.0;
    }
    let sine2 = if cosine <= 0.0 { 1.0 } else { 1.0 - (cosine / d0 / d1) * (cosine / d0 / d1) };
    near * (near / (near + far)) * sine2.max(0.0)
}

struct Work {
    relative: Relative,
    /// The absolute error with which a panel is good enough.
    tolerance: f64,
    /// The rounding error of one relative position.
    noise: f64,
    panels_left: u32,
    total: Integral,
}

impl Work {
    /// Adds the integral over a panel, splitting it as often as needed and allowed.
    fn settle(&mut self, panel: &Panel, samples: &Samples, depth: u32) {
        let noise = self.noise * (panel.to - panel.from);
        let good_enough = self.tolerance + noise;
        let mut error = samples.error(noise);
        if error <= good_enough {
            error += self.hidden(panel, &samples.distances);
        }
        if error <= good_enough || depth == 0 || self.panels_left < 2 {
            self.total.value += samples.kronrod;
            self.total.error_bound += error + noise;
            return;
        }
        self.panels_left -= 2;
        let at = self.split_at(panel, &samples.distances);
        let middle = self.relative.position(at);
        for half in [Panel { to: at, end: middle, ..*panel }, Panel { from: at, start: middle, ..*panel }] {
            let samples = Samples::take(&self.relative, &half);
            self.settle(&half, &samples, depth - 1);
        }
    }

    /// The area that may hide between nodes: two motions that meet, turn and meet again from one node to the next look
    /// as if they had not met at all.
    fn hidden(&self, panel: &Panel, distances: &[f64; NODES.len()]) -> f64 {
        // The rule resolves the curvature of the motion, so what it does not see is small beside the mean.
        let small = 0.05 * distances.iter().sum::<f64>() / NODES.len() as f64;
        let mut area = 0.0;
        for (i, &distance) in distances.iter().enumerate() {
            let dips = (i == 0 || distance <= distances[i - 1]) && (i == LAST || distance <= distances[i + 1]);
            if distance == 0.0 || distance >= small || !dips {
                continue;
            }
            if let Some(at) = self.approach_beside(panel, i) {
                let depth = distance - self.relative.position(at).length();
                area += 4.0 * libm::fabs(at - panel.time(i)) * depth.max(0.0);
            }
        }
        for (end, next) in [(0, 1), (LAST, LAST - 1)] {
            if distances[end] < small {
                area += self.hidden_at_end(panel.time(end), panel.time(next));
            }
        }
        area
    }

    /// The same beside an end at which the two meet: they may meet again before the next node, which shows in that they
    /// do not part in the direction in which they are found there.
    fn hidden_at_end(&self, end: f64, next: f64) -> f64 {
        let way = self.relative.velocity(end) * (next - end);
        let found = self.relative.position(next);
        let (way_length, distance) = (way.length(), found.length());
        if way.dot(found) < 0.7 * way_length * distance {
            4.0 * libm::fabs(next - end) * way_length.min(distance)
        } else {
            0.0
        }
    }

    /// The closest approach between the two neighbours of a node.
    fn approach_beside(&self, panel: &Panel, node: usize) -> Option<f64> {
        let (low, high) = (panel.time(node.saturating_sub(1)), panel.time((node + 1).min(LAST)));
        self.relative.approach(low, high, 1e-10 * (panel.to - panel.from))
    }

    /// Where to split a panel: at the closest approach, near it if it is at one end, else in the middle.
    fn split_at(&self, panel: &Panel, distances: &[f64; NODES.len()]) -> f64 {
        let width = panel.to - panel.from;
        let mut nearest = 0;
        for i in 1..=LAST {
            if distances[i] < distances[nearest] {
                nearest = i;
            }
        }
        if let Some(at) = self.approach_beside(panel, nearest) {
            let margin = 1e-6 * width;
            if at > panel.from + margin && at < panel.to - margin {
                return at;
            }
        }
        let share = match nearest {
            0 | 1 if distances[0] < 0.1 * distances[LAST / 2] => 0.25,
            i if i + 1 >= LAST && distances[LAST] < 0.1 * distances[LAST / 2] => 0.75,
            _ => 0.5,
        };
        panel.from + share * width
    }
}

/// The relative position of two motions as a function of time, prepared for being evaluated often.
///
/// It starts from the difference of the two positions and adds the difference of the two displacements since, so that
/// motions far from the origin lose digits once, in the first difference, and not again at every node.
struct Relative {
    start: Vec3,
    /// The coefficients of the first three powers of time.
    powers: [Vec3; 3],
    arcs: [Arc; 2],
    arc_count: usize,
    others: [Option<Other>; 2],
}

/// A level velocity that turns at a constant rate.
#[derive(Clone, Copy)]
struct Arc {
    velocity: Vec3,
    turn_rate: f64,
}

/// A motion without a form of its own here, started at the origin.
struct Other {
    sign: f64,
    from: f64,
    origin: Vec3,
    motion: Motion,
}

impl Relative {
    fn new(a: &Motion, a_from: f64, b: &Motion, b_from: f64) -> Self {
        let still = Arc { velocity: Vec3::ZERO, turn_rate: 0.0 };
        let mut relative = Self {
            start: a.position_at(a_from) - b.position_at(b_from),
            powers: [Vec3::ZERO; 3],
            arcs: [still; 2],
            arc_count: 0,
            others: [None, None],
        };
        relative.add(a, a_from, 1.0, 0);
        relative.add(b, b_from, -1.0, 1);
        relative
    }

    fn add(&mut self, motion: &Motion, from: f64, sign: f64, slot: usize) {
        match motion.course {
            Course::Stationary => {}
            Course::Linear { velocity } => self.powers[0] += velocity * sign,
            Course::Accelerated { acceleration, .. } => {
                self.powers[0] += motion.velocity_at(from) * sign;
                self.powers[1] += acceleration * (0.5 * sign);
            }
            Course::Circular { climb, .. } => {
                let velocity = motion.velocity_at(from);
                self.powers[0] += Vec3::new(0.0, 0.0, climb * sign);
                self.add_arc(Vec3::new(velocity.x, velocity.y, 0.0) * sign, motion.attitude.turn_rate());
            }
            Course::Spline { velocity, end, end_velocity, duration } => {
                self.powers[0] += motion.velocity_at(from) * sign;
                if from < duration {
                    let per_second = 1.0 / duration;
                    let chord = (end - motion.position) * per_second;
                    let c2 = (chord * 3.0 - velocity * 2.0 - end_velocity) * per_second;
                    let c3 = (velocity + end_velocity - chord * 2.0) * (per_second * per_second);
                    self.powers[1] += (c2 + c3 * (3.0 * from)) * sign;
                    self.powers[2] += c3 * sign;
                }
            }
            Course::Turning { .. } => {
                let motion = Motion { position: Vec3::ZERO, ..motion.advanced(from) };
                self.others[slot] = Some(Other { sign, from: 0.0, origin: Vec3::ZERO, motion });
            }
            Course::Custom { .. } => {
                let motion = Motion { position: Vec3::ZERO, ..*motion };
                self.others[slot] = Some(Other { sign, from, origin: motion.position_at(from), motion });
            }
        }
    }

    /// Arcs are linear in their velocity: two that turn at the same rate are one.
    fn add_arc(&mut self, velocity: Vec3, turn_rate: f64) {
        if turn_rate == 0.0 {
            self.powers[0] += velocity;
        } else if self.arc_count == 1 && self.arcs[0].turn_rate == turn_rate {
            self.arcs[0].velocity += velocity;
        } else {
            self.arcs[self.arc_count] = Arc { velocity, turn_rate };
            self.arc_count += 1;
        }
    }

    fn position(&self, t: f64) -> Vec3 {
        let mut way = (self.powers[0] + (self.powers[1] + self.powers[2] * t) * t) * t;
        for arc in &self.arcs[..self.arc_count] {
            way += arc.way(t);
        }
        for other in self.others.iter().flatten() {
            way += other.way(t);
        }
        self.start + way
    }

    fn velocity(&self, t: f64) -> Vec3 {
        let mut velocity = self.powers[0] + (self.powers[1] * 2.0 + self.powers[2] * (3.0 * t)) * t;
        for arc in &self.arcs[..self.arc_count] {
            velocity += arc.velocity.turned(arc.turn_rate * t);
        }
        for other in self.others.iter().flatten() {
            velocity += other.motion.velocity_at(other.from + t) * other.sign;
        }
        velocity
    }

    /// Half the derivative of the distance squared: below zero while the two get closer.
    fn receding(&self, t: f64) -> f64 {
        self.position(t).dot(self.velocity(t))
    }

    /// The closest approach between two times, if there is one: where the distance stops falling.
    fn approach(&self, mut low: f64, mut high: f64, precision: f64) -> Option<f64> {
        let (mut falling, mut rising) = (self.receding(low), self.receding(high));
        if !(falling < 0.0 && rising > 0.0) {
            return None;
        }
        // The Illinois method: the secant, with the end that stays put counting half each time.
        for _ in 0..30 {
            let at = (low * rising - high * falling) / (rising - falling);
            if high - low <= precision || at <= low || at >= high {
                break;
            }
            let slope = self.receding(at);
            if slope < 0.0 {
                (low, falling, rising) = (at, slope, 0.5 * rising);
            } else if slope > 0.0 {
                (high, rising, falling) = (at, slope, 0.5 * falling);
            } else {
                return Some(at);
            }
        }
        Some(0.5 * (low + high))
    }

    /// About how much rounding moves a relative position within the span.
    fn noise(&self, span: f64) -> f64 {
        let [p1, p2, p3] = self.powers.map(Vec3::max_axis);
        let mut size = self.start.max_axis() + (p1 + (p2 + p3 * span) * span) * span;
        for arc in &self.arcs[..self.arc_count] {
            size += arc.velocity.max_axis() * span * (1.0 + libm::fabs(arc.turn_rate) * span);
        }
        for other in self.others.iter().flatten() {
            // Its own closed forms may cancel, for a small angle by a factor of a few hundred.
            size += 400.0 * (other.motion.velocity_at(other.from).max_axis() * span + other.way(span).max_axis());
        }
        4.0 * f64::EPSILON * size
    }
}

impl Arc {
    /// The chord from the start, written with half the angle so that a vanishing turn rate loses no digits.
    fn way(&self, t: f64) -> Vec3 {
        let half = 0.5 * self.turn_rate * t;
        let (sin, cos) = libm::sincos(half);
        // Below this the next term of the series is beyond double precision.
        let chord = if libm::fabs(half) < 1e-4 { t * (1.0 - half * half / 6.0) } else { t * (sin / half) };
        let (along, across) = (chord * cos, chord * sin);
        let Vec3 { x, y, .. } = self.velocity;
        Vec3::new(along * x - across * y, across * x + along * y, 0.0)
    }
}

impl Other {
    fn way(&self, t: f64) -> Vec3 {
        (self.motion.position_at(self.from + t) - self.origin) * self.sign
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::{Attitude, LAW_PARAMETERS, Law};
    use crate::path::distance_integral;
    use crate::path::reference::{self, power, vector, worst};
    use proptest::prelude::*;

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
        let relative =
            |t: f64| start + ((a0.position_at(a_from + t) - a_start) - (b0.position_at(b_from + t) - b_start));
        reference::integrate(relative, span, &[spline_end(a, a_from), spline_end(b, b_from)])
    }

    /// The error relative to the integral; above one if the bound was a lie.
    fn relative_error((a, a_from, b, b_from, span): Case) -> f64 {
        let expected = expected(&a, a_from, &b, b_from, span);
        let Integral { value, error_bound } = distance_integral(&a, a_from, &b, b_from, span);
        let error = libm::fabs(value - expected);
        // The reference takes differences of displacements since the start of each motion, and so rounds otherwise.
        let way = |m: &Motion, from: f64| {
            let m = from_origin(m);
            m.velocity_at(from).length() * span + m.position_at(from).length() + m.position_at(from + span).length()
        };
        let noise = 1e-15 * span * (way(&a, a_from) + way(&b, b_from));
        if error > error_bound + noise + 1e-13 * expected {
            return 1.0 + error / expected;
        }
        (error - noise).max(0.0) / expected
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
        (vector(30.0), vector(20.0), vector(5.0), vector(1.0)).prop_map(|(position, velocity, acceleration, spin)| {
            Motion {
                position,
                course: Course::Turning { velocity, acceleration },
                attitude: Attitude::Full { orientation: crate::Quat::IDENTITY, angular_velocity: spin },
            }
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

    #[test]
    fn the_error_of_a_new_vector_grows_from_almost_nothing() {
        // The usual case: from one place and heading on with another turn rate, and a little speed gained.
        let cases = (arc(), -1.0..1.0f64, -3.0..3.0f64, vector(0.05), 0.0..1.0f64, power(-2.0..0.3)).prop_map(
            |(old, turn, gain, off, age, span)| {
                let mut new = old.advanced(age);
                new.position += off;
                if let Course::Circular { speed, .. } = &mut new.course {
                    *speed += gain
                }
                if let Attitude::Heading { turn_rate, .. } = &mut new.attitude {
                    *turn_rate += turn
                }
                (old, age, new, 0.0, span)
            },
        );
        worst("arc, the arc that replaces it", CASES, 1e-12, cases, relative_error);
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
}
