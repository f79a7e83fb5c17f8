//! A relative motion as a polynomial: an arc's sines and cosines are paid for once, not at every node of a rule.

use super::forms::{Arc, Forms};
use crate::geometry::Vec3;

/// The highest power. With a turn of [`MAX_TURN`] to either side the next one is beyond double precision.
const DEGREE: usize = 23;
/// The largest turn, in radians, from the middle of the stretch to either end.
pub(super) const MAX_TURN: f64 = 1.0;
/// Terms smaller than this, relative to the distances in question, are left out.
const NEGLIGIBLE: f64 = 2e-17;

/// The relative position over a stretch of time as a function of `x`, which goes from -1 to 1.
pub(super) struct Taylor {
    x: [f64; DEGREE + 1],
    y: [f64; DEGREE + 1],
    /// Only the powers of time have a vertical part.
    z: [f64; 4],
    degree: usize,
    /// At least the length of the second derivative anywhere in the stretch.
    pub bend: f64,
    /// At least the length of all that was left out.
    pub truncated: f64,
}

/// The relative position at one moment, and its derivative by `x`.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub position: Vec3,
    pub velocity: Vec3,
    pub distance: f64,
    pub speed: f64,
}

impl Place {
    fn new(position: Vec3, velocity: Vec3) -> Self {
        Self { position, velocity, distance: position.length(), speed: velocity.length() }
    }

    /// Half the derivative of the distance squared: below zero while the two get closer.
    pub fn receding(&self) -> f64 {
        self.position.dot(self.velocity)
    }
}

impl Taylor {
    /// The expansion about the middle of a stretch at whose start the relative position is `start`.
    pub fn new(forms: &Forms, start: Vec3, from: f64, half: f64) -> Self {
        let middle = from + half;
        let [p1, p2, p3] = forms.powers;
        let c1 = (p1 + (p2 * 2.0 + p3 * (3.0 * middle)) * middle) * half;
        let (c2, c3) = ((p2 + p3 * (3.0 * middle)) * (half * half), p3 * (half * half * half));
        let mut taylor = Self {
            x: [0.0; DEGREE + 1],
            y: [0.0; DEGREE + 1],
            z: [0.0, c1.z, c2.z, c3.z],
            degree: 3,
            bend: 0.0,
            truncated: 0.0,
        };
        taylor.x[1..4].copy_from_slice(&[c1.x, c2.x, c3.x]);
        taylor.y[1..4].copy_from_slice(&[c1.y, c2.y, c3.y]);
        let velocities = forms.arcs.map(|arc| velocity(&arc, middle, half));
        // How large distances get, unless they cancel.
        let scale = start.length() + (c1 + velocities[0] + velocities[1]).length();
        let mut fourth = 0.0;
        for (arc, velocity) in forms.arcs.iter().zip(velocities) {
            fourth += taylor.add_arc(velocity, libm::fabs(arc.speed) * half, arc.turn_rate * half, NEGLIGIBLE * scale);
        }
        taylor.bend = 2.0 * taylor.coefficient(2).length() + 6.0 * taylor.coefficient(3).length() + fourth;
        taylor.pass_through(start);
        taylor
    }

    /// Adds an arc that passes the middle with velocity `v`, turning by `turn` until the end. Gives a bound of its fourth
    /// derivative.
    fn add_arc(&mut self, v: Vec3, speed: f64, turn: f64, negligible: f64) -> f64 {
        if speed == 0.0 {
            return 0.0;
        }
        let (mut x, mut y, mut size) = (v.x, v.y, speed);
        let mut k = 1;
        loop {
            self.x[k] += x;
            self.y[k] += y;
            let next = turn * INVERSE[k + 1];
            size *= libm::fabs(next);
            if k == DEGREE || (k >= 3 && size <= negligible) {
                break;
            }
            (x, y) = (-y * next, x * next);
            k += 1;
        }
        self.degree = self.degree.max(k);
        self.truncated += 1.2 * size;
        speed * libm::fabs(turn * turn * turn)
    }

    /// Sets the constant such that the stretch begins at `start`.
    fn pass_through(&mut self, start: Vec3) {
        let (mut way_x, mut way_y) = (0.0, 0.0);
        for k in (1..=self.degree).rev() {
            way_x = self.x[k] - way_x;
            way_y = self.y[k] - way_y;
        }
        self.x[0] = start.x + way_x;
        self.y[0] = start.y + way_y;
        self.z[0] = start.z + (self.z[1] - (self.z[2] - self.z[3]));
    }

    /// What the k-th power of `x` is multiplied by.
    pub fn coefficient(&self, k: usize) -> Vec3 {
        Vec3::new(self.x[k], self.y[k], self.z.get(k).copied().unwrap_or(0.0))
    }

    /// The highest power.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// Where it is in the middle.
    pub fn middle(&self) -> Place {
        Place::new(self.coefficient(0), self.coefficient(1))
    }

    /// Where it is at both ends: there all powers are one.
    pub fn ends(&self) -> [Place; 2] {
        let (mut even, mut odd) = ([0.0; 4], [0.0; 4]);
        let mut k = 0.0;
        for (&x, &y) in self.x[..=self.degree | 1].iter().zip(&self.y[..=self.degree | 1]) {
            let term = [x, y, x * k, y * k];
            for i in 0..4 {
                even[i] += term[i];
            }
            (even, odd, k) = (odd, even, k + 1.0);
        }
        let [z0, z1, z2, z3] = self.z;
        let even_way = (Vec3::new(even[0], even[1], z0 + z2), Vec3::new(even[2], even[3], 2.0 * z2));
        let odd_way = (Vec3::new(odd[0], odd[1], z1 + z3), Vec3::new(odd[2], odd[3], z1 + 3.0 * z3));
        let ((p, pv), (q, qv)) = (even_way, odd_way);
        [Place::new(p - q, qv - pv), Place::new(p + q, qv + pv)]
    }

    /// Where it is anywhere.
    pub fn place(&self, at: f64) -> Place {
        let (mut px, mut py, mut vx, mut vy) = (0.0, 0.0, 0.0, 0.0);
        for k in (0..=self.degree).rev() {
            (vx, vy) = (vx * at + px, vy * at + py);
            (px, py) = (px * at + self.x[k], py * at + self.y[k]);
        }
        let [z0, z1, z2, z3] = self.z;
        let position = Vec3::new(px, py, z0 + (z1 + (z2 + z3 * at) * at) * at);
        Place::new(position, Vec3::new(vx, vy, z1 + (z2 * 2.0 + z3 * (3.0 * at)) * at))
    }

    /// The distances at several places.
    #[inline]
    pub fn distances<const N: usize>(&self, at: &[f64; N]) -> [f64; N] {
        let powers = (self.degree / 4 + 1) * 4;
        let (x, y) = (horner(&self.x[..powers], at), horner(&self.y[..powers], at));
        let [z0, z1, z2, z3] = self.z;
        core::array::from_fn(|i| {
            let z = z0 + (z1 + (z2 + z3 * at[i]) * at[i]) * at[i];
            libm::sqrt(x[i] * x[i] + y[i] * y[i] + z * z)
        })
    }
}

/// How far an arc gets in `unit` seconds with the velocity that it has at `t`.
fn velocity(arc: &Arc, t: f64, unit: f64) -> Vec3 {
    if arc.speed == 0.0 { Vec3::ZERO } else { Vec3::from_heading(arc.heading + arc.turn_rate * t) * (arc.speed * unit) }
}

/// A polynomial at several places. The inner loop is over the places, so that they are computed side by side; four powers
/// are taken at a time, because between the rounds of a loop compilers put them apart again.
#[inline(always)]
fn horner<const N: usize>(coefficients: &[f64], at: &[f64; N]) -> [f64; N] {
    let mut value = [0.0; N];
    for c in coefficients.chunks_exact(4).rev() {
        for i in 0..N {
            value[i] = (((value[i] * at[i] + c[3]) * at[i] + c[2]) * at[i] + c[1]) * at[i] + c[0];
        }
    }
    value
}

/// One over each number: multiplying by it is several times faster than dividing.
const INVERSE: [f64; DEGREE + 2] = {
    let mut inverse = [0.0; DEGREE + 2];
    let mut k = 1;
    while k < inverse.len() {
        inverse[k] = 1.0 / k as f64;
        k += 1;
    }
    inverse
};
