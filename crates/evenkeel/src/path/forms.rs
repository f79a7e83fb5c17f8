//! A relative motion made up of powers of time and arcs only, which is what nearly all are.

use super::relative::powers_of;
use crate::geometry::Vec3;
use crate::motion::{Course, Motion};

/// Two such motions and the difference of their positions at the start. Cheap to set up: nothing is evaluated before it
/// is known where.
pub(super) struct Forms {
    pub start: Vec3,
    /// The coefficients of the first three powers of time.
    pub powers: [Vec3; 3],
    /// At rest if there are fewer.
    pub arcs: [Arc; 2],
}

/// A level velocity that turns at a constant rate.
#[derive(Clone, Copy, Default)]
pub(super) struct Arc {
    pub speed: f64,
    /// At the start.
    pub heading: f64,
    pub turn_rate: f64,
}

impl Forms {
    /// None if one of the motions is of another kind.
    #[inline]
    pub fn new(a: &Motion, a_from: f64, b: &Motion, b_from: f64) -> Option<Self> {
        let ((a_powers, a_arc), (b_powers, b_arc)) = (split(a, a_from)?, split(b, b_from)?);
        let powers = core::array::from_fn(|i| a_powers[i] - b_powers[i]);
        let arcs = [a_arc, Arc { speed: -b_arc.speed, ..b_arc }];
        Some(Self { start: position(a, a_from) - position(b, b_from), powers, arcs })
    }

    /// The fastest turn of an arc.
    pub fn fastest_turn(&self) -> f64 {
        let [a, b] = self.arcs;
        larger(libm::fabs(a.turn_rate), libm::fabs(b.turn_rate))
    }

    /// About how much rounding moves a relative position within the span.
    pub fn noise(&self, span: f64) -> f64 {
        let size = |v: Vec3| libm::fabs(v.x) + libm::fabs(v.y) + libm::fabs(v.z);
        let [p1, p2, p3] = self.powers;
        let way = size(p1) + (size(p2) + size(p3) * span) * span;
        let arc = |arc: &Arc| libm::fabs(arc.speed) * (1.0 + libm::fabs(arc.turn_rate) * span);
        4.0 * f64::EPSILON * (size(self.start) + (way + arc(&self.arcs[0]) + arc(&self.arcs[1])) * span)
    }
}

/// The larger of two numbers; unlike the one of the standard this is a single instruction.
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

fn split(motion: &Motion, from: f64) -> Option<([Vec3; 3], Arc)> {
    if let Course::Circular { speed, climb } = motion.course {
        let turn_rate = motion.attitude.turn_rate();
        let heading = motion.attitude.heading() + turn_rate * from;
        return Some(([Vec3::new(0.0, 0.0, climb), Vec3::ZERO, Vec3::ZERO], Arc { speed, heading, turn_rate }));
    }
    Some((powers_of(motion, from)?, Arc::default()))
}

/// The position; at the start of the motion, where a new vector is, without evaluating it.
fn position(motion: &Motion, from: f64) -> Vec3 {
    if from == 0.0 { motion.position } else { motion.position_at(from) }
}
