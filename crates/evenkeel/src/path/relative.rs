//! The relative position of two motions as a function of time.

use crate::geometry::Vec3;
use crate::motion::{Course, Motion};

/// The relative position of two motions as a function of time, prepared for being evaluated often.
///
/// It starts from the difference of the two positions and adds the difference of the two displacements since, so that
/// motions far from the origin lose digits once, in the first difference, and not again at every node.
pub(super) struct Relative {
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
    pub fn new(a: &Motion, a_from: f64, b: &Motion, b_from: f64) -> Self {
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
        if let Some(powers) = powers_of(motion, from) {
            for (sum, power) in self.powers.iter_mut().zip(powers) {
                *sum += power * sign;
            }
            return;
        }
        match motion.course {
            Course::Circular { climb, .. } => {
                let velocity = motion.velocity_at(from);
                self.powers[0] += Vec3::new(0.0, 0.0, climb * sign);
                self.add_arc(Vec3::new(velocity.x, velocity.y, 0.0) * sign, motion.attitude.turn_rate());
            }
            Course::Turning { .. } => {
                let motion = Motion { position: Vec3::ZERO, ..motion.advanced(from) };
                self.others[slot] = Some(Other { sign, from: 0.0, origin: Vec3::ZERO, motion });
            }
            Course::Custom { .. } => {
                let motion = Motion { position: Vec3::ZERO, ..*motion };
                self.others[slot] = Some(Other { sign, from, origin: motion.position_at(from), motion });
            }
            _ => {}
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

    pub fn position(&self, t: f64) -> Vec3 {
        let mut way = (self.powers[0] + (self.powers[1] + self.powers[2] * t) * t) * t;
        for arc in &self.arcs[..self.arc_count] {
            way += arc.way(t);
        }
        for other in self.others.iter().flatten() {
            way += other.way(t);
        }
        self.start + way
    }

    pub fn velocity(&self, t: f64) -> Vec3 {
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
    pub fn approach(&self, mut low: f64, mut high: f64, precision: f64) -> Option<f64> {
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
    pub fn noise(&self, span: f64) -> f64 {
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

/// The displacement since `from` as coefficients of the first three powers of time, where it is one of those, until the
/// motion changes its law.
pub(super) fn powers_of(motion: &Motion, from: f64) -> Option<[Vec3; 3]> {
    match motion.course {
        Course::Stationary => Some([Vec3::ZERO; 3]),
        Course::Linear { velocity } => Some([velocity, Vec3::ZERO, Vec3::ZERO]),
        Course::Accelerated { velocity, acceleration } => {
            Some([velocity + acceleration * from, acceleration * 0.5, Vec3::ZERO])
        }
        Course::Spline { end_velocity, duration, .. } if from >= duration => {
            Some([end_velocity, Vec3::ZERO, Vec3::ZERO])
        }
        Course::Spline { velocity, end, end_velocity, duration } => {
            let per_second = 1.0 / duration;
            let chord = (end - motion.position) * per_second;
            let c2 = (chord * 3.0 - velocity * 2.0 - end_velocity) * per_second;
            let c3 = (velocity + end_velocity - chord * 2.0) * (per_second * per_second);
            Some([motion.velocity_at(from), c2 + c3 * (3.0 * from), c3])
        }
        Course::Circular { .. } | Course::Turning { .. } | Course::Custom { .. } => None,
    }
}
