//! The distance between two motions that are not both straight, integrated by adaptive Gauss-Kronrod quadrature.
//!
//! Motions are smooth; the distance between them is not where they meet: it has a kink there, or nearly one where they
//! pass each other closely. A rule of high order is exact in one go where there is none, and useless where there is
//! one. So a panel whose error estimate is too large is split at its closest approach, and beside a closest approach
//! the panels get smaller toward it by a constant factor.
//!
//! This takes any motion, and what the march away from the closest approach gives up on.

use super::integral::Integral;
use super::relative::Relative;
use crate::geometry::Vec3;

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
pub(super) fn integrate(relative: Relative, span: f64) -> Integral {
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
