//! The distance between two motions, integrated in a march away from their closest approach.
//!
//! This is the case of every new vector: it starts a few centimetres from the one it replaces, and the two part. The
//! distance is a smooth function but for a kink, rounded off or not, close to where they are nearest. A Gauss rule does
//! well on a panel that keeps away from the kink by a third of its width or more, and from the distance, the relative speed and
//! the relative acceleration it is known how far away the kink is at least. So each panel can be chosen at once as wide
//! as the rule bears, and panels grow by a constant factor. The relative motion is a polynomial here: see [`Taylor`].
//!
//! Every panel shows by the decay of its Legendre coefficients how exact it is. What this does not carry through is left
//! to the adaptive quadrature.

use super::forms::Forms;
use super::integral::{GAUSS_6, Integral, straight};
use super::taylor::{MAX_TURN, Place, Taylor};

/// How many nodes a panel has.
const NODES: usize = 12;
/// The Gauss-Legendre rule.
const AT: [f64; NODES] = [
    -0.9815606342467192,
    -0.9041172563704749,
    -0.7699026741943047,
    -0.5873179542866175,
    -0.3678314989981802,
    -0.1252334085114689,
    0.1252334085114689,
    0.3678314989981802,
    0.5873179542866175,
    0.7699026741943047,
    0.9041172563704749,
    0.9815606342467192,
];
/// Its weights, by pairs from the outside in.
const WEIGHTS: [f64; NODES / 2] = [
    0.04717533638651183,
    0.10693932599531843,
    0.16007832854334622,
    0.20316742672306592,
    0.2334925365383548,
    0.24914704581340277,
];
/// What the pairs weigh, added up, in the Legendre coefficient of degree 10.
const TENTH: [f64; NODES / 2] = [
    0.10544099839163595,
    -0.3268652502223004,
    0.5086168908165707,
    -0.554368149850446,
    0.4276380562250802,
    -0.1604625453605404,
];
/// What the pairs weigh, subtracted, in the Legendre coefficient of degree 11.
const ELEVENTH: [f64; NODES / 2] = [
    0.05626855563529156,
    -0.18937270565563258,
    0.34604162358432194,
    -0.49442267934928263,
    0.608976901663329,
    -0.6711612378327249,
];

/// The error, relative to the whole, with which a panel is good enough.
const TOLERANCE: f64 = 4e-13;
/// A start closer than this, relative to the way made good, is a kink at the start for all that can be told.
const MEETING: f64 = 1e-9;
/// Where the nearest kink is so many times as far away as the ends, half of the nodes are enough.
const FAR: f64 = 10.0;
/// The error that leaves, relative to the whole: two arcs that turn against each other by a radian have most of it, 7.2e-14.
const FAR_ERROR: f64 = 1e-13;
/// How many stretches a span is cut in at most for the sake of the expansion.
const MAX_STRETCHES: f64 = 6.0;
/// How many panels a stretch may take.
const MAX_PANELS: u32 = 30;
/// How many of them may turn out too wide.
const MAX_MISSES: u32 = 6;
/// How wide a panel is beside the way to the nearest kink,
const WIDTH: f64 = 2.8;
/// and how much wider it may be to be the last one.
const STRETCH: f64 = 1.2;
/// What the square of the last coefficients is multiplied by for an estimate of the error. Found by trial: with a
/// tenth of it some bounds were too small.
const CAUTION: f64 = 4.0;
/// The estimate is of the usual case; once in very many panels the error was three times as much. What is promised is this
/// many times the estimate.
const DOUBT: f64 = 4.0;

/// The integral over a span in which neither motion changes its law; none where this is not the way to compute it.
pub(super) fn integrate(forms: &Forms, span: f64) -> Option<Integral> {
    let turn = 0.5 * span * forms.fastest_turn();
    let stretches = libm::ceil(turn * (1.0 / MAX_TURN)).max(1.0);
    // Written this way round so that what is not a number goes elsewhere.
    let in_reach = stretches <= MAX_STRETCHES;
    if !in_reach {
        return None;
    }
    let half = 0.5 * span / stretches;
    let (mut start, mut from) = (forms.start, 0.0);
    let mut total = Integral::default();
    for left in (0..stretches as u32).rev() {
        let taylor = Taylor::new(forms, start, from, half);
        let mut march = March::new(&taylor);
        march.run()?;
        total.value += march.total.value * half;
        total.error_bound += (march.total.error_bound + 2.0 * taylor.truncated) * half;
        if left > 0 {
            let [_, end] = taylor.ends();
            (start, from) = (end.position, from + 2.0 * half);
        }
    }
    total.error_bound += forms.noise(span) * span;
    Some(total)
}

struct March<'a> {
    taylor: &'a Taylor,
    /// The absolute error with which a panel is good enough.
    tolerance: f64,
    panels_left: u32,
    misses_left: u32,
    /// Over `x` instead of time.
    total: Integral,
}

impl<'a> March<'a> {
    fn new(taylor: &'a Taylor) -> Self {
        let total = Integral::default();
        Self { taylor, tolerance: 0.0, panels_left: MAX_PANELS, misses_left: MAX_MISSES, total }
    }

    /// Integrates the whole stretch.
    fn run(&mut self) -> Option<()> {
        let middle = self.taylor.middle();
        let reach = self.reach(middle.distance, middle.speed);
        if reach > FAR {
            self.smooth();
            return Some(());
        }
        // Both ends count at least nothing.
        self.tolerance = TOLERANCE / 3.0 * 4.0 * middle.distance;
        if reach > 1.7 && self.panel(0.0, 1.0, 0.0).is_some() {
            return Some(());
        }
        let [start, end] = self.taylor.ends();
        self.tolerance += TOLERANCE / 3.0 * (start.distance + end.distance);
        match (start.receding() < 0.0, end.receding() > 0.0) {
            (false, true) => self.march(-1.0, start, 1.0)?,
            (true, false) => self.march(1.0, end, -1.0)?,
            (false, false) => {
                self.march(-1.0, start, 0.0)?;
                self.march(1.0, end, 0.0)?;
            }
            (true, true) => {
                let (at, nearest) = self.approach(&start, &end);
                self.march(at, nearest, 1.0)?;
                self.march(at, nearest, -1.0)?;
            }
        }
        Some(())
    }

    /// At least about how far the nearest kink is from a place.
    fn reach(&self, distance: f64, speed: f64) -> f64 {
        2.0 * distance / (speed + libm::sqrt(speed * speed + 2.0 * self.taylor.bend * distance))
    }

    /// Integrates from a place at the closest approach, or after it, away from it.
    fn march(&mut self, at: f64, here: Place, to: f64) -> Option<()> {
        let direction = if to < at { -1.0 } else { 1.0 };
        let whole = libm::fabs(to - at);
        let mut reach = self.reach(here.distance, here.speed);
        let mut done = self.leave(at, &here, direction, reach, whole);
        if done > 0.0 {
            reach = self.reach(self.taylor.place(at + direction * done).distance, here.speed + self.taylor.bend * done);
        }
        while done < whole {
            self.panels_left = self.panels_left.checked_sub(1)?;
            let left = whole - done;
            let half = if WIDTH * STRETCH * reach >= left { 0.5 * left } else { 0.5 * WIDTH * reach };
            let until = done + 2.0 * half;
            let fastest = here.speed + self.taylor.bend * until;
            // A kink hidden between two nodes is one that the coefficients may not show.
            match self.panel(at + direction * (done + half), direction * half, 0.2 * half * fastest) {
                Some(distance) => {
                    done = if 2.0 * half == left { whole } else { until };
                    reach = self.reach(distance, fastest);
                }
                None => {
                    self.misses_left = self.misses_left.checked_sub(1)?;
                    reach = half / WIDTH;
                }
            }
        }
        // Not so if the place is not a number.
        (done == whole).then_some(())
    }

    /// The first part of a way that starts so close that the distance is many times smaller than what follows. Gives its
    /// length; zero if there is no need for it.
    fn leave(&mut self, at: f64, here: &Place, direction: f64, reach: f64, whole: f64) -> f64 {
        let bend = self.taylor.bend;
        if here.distance <= MEETING * here.speed * whole {
            // From a kink on, the distance is smooth as far as the motion is straight enough not to come back.
            let straight = here.speed / bend;
            let width = if straight < whole { straight } else { whole };
            self.total.error_bound += MEETING * MEETING * here.speed;
            return if self.panel(at + 0.5 * direction * width, 0.5 * direction * width, 0.0).is_some() {
                width
            } else {
                0.0
            };
        }
        let bow = |width: f64| bend * width * width * width * (1.0 / 6.0);
        let negligible = bow(16.0 * reach) <= self.tolerance;
        if !negligible {
            return 0.0;
        }
        // So far the motion is straight for all that can be told, which has a closed form.
        let width = libm::cbrt(0.75 * self.tolerance / bend).min(whole);
        let part = straight(here.position, here.velocity * direction, width);
        self.total.value += part.value;
        self.total.error_bound += part.error_bound + bow(width);
        width
    }

    /// Adds the integral over a panel if it is good enough and the distance nowhere below `lowest`; gives the distance at
    /// its last node.
    fn panel(&mut self, middle: f64, half: f64, lowest: f64) -> Option<f64> {
        let distances = self.taylor.distances(&AT.map(|x| middle + half * x));
        let (mut mean, mut tenth, mut eleventh, mut low) = (0.0, 0.0, 0.0, false);
        for i in 0..NODES / 2 {
            let (left, right) = (distances[i], distances[NODES - 1 - i]);
            mean += WEIGHTS[i] * (left + right);
            tenth += TENTH[i] * (left + right);
            eleventh += ELEVENTH[i] * (right - left);
            low |= left < lowest || right < lowest;
        }
        let half = libm::fabs(half);
        // Coefficients fall by a constant factor, and the rule is exact up to twice the degree of these.
        let error = CAUTION * half * (tenth * tenth + eleventh * eleventh) / mean;
        let good = error <= self.tolerance && !low;
        if !good {
            return None;
        }
        self.total.value += half * mean;
        self.total.error_bound += DOUBT * error;
        Some(distances[NODES - 1])
    }

    /// The whole stretch where any kink is far away.
    fn smooth(&mut self) {
        let [(a, _), (b, _), (c, _)] = GAUSS_6;
        let [a0, b0, c0, a1, b1, c1] = self.taylor.distances(&[-a, -b, -c, a, b, c]);
        let sums = [a0 + a1, b0 + b1, c0 + c1];
        let value = GAUSS_6.iter().zip(sums).map(|((_, weight), sum)| weight * sum).sum::<f64>();
        self.total = Integral { value, error_bound: FAR_ERROR * value };
    }

    /// About the closest approach, the two ends being on different sides of it: so near to it that the distance hardly
    /// changes any more.
    fn approach(&self, start: &Place, end: &Place) -> (f64, Place) {
        let (mut low, mut falling, mut high, mut rising) = (-1.0, start.receding(), 1.0, end.receding());
        let (mut at, mut place) = (0.0, self.taylor.middle());
        for _ in 0..30 {
            let slope = place.receding();
            if libm::fabs(slope) <= 0.1 * place.speed * place.distance {
                break;
            }
            if slope < 0.0 {
                (low, falling, rising) = (at, slope, 0.5 * rising);
            } else {
                (high, rising, falling) = (at, slope, 0.5 * falling);
            }
            // As if it went straight; else the Illinois method: the secant, with the end that stays put counting half.
            at -= slope / (place.speed * place.speed);
            let within = at > low && at < high;
            if !within {
                at = (low * rising - high * falling) / (rising - falling);
            }
            place = self.taylor.place(at);
        }
        (at, place)
    }
}
