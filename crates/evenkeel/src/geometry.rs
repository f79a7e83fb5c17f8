//! Just enough geometry: [`Vec3`], [`Quat`] and angles, in `f64`, with every transcendental function from `libm`.
//!
//! The platform's own `sin` may differ in the last bit from another platform's. Sender and receiver must extrapolate
//! the same vector to the same place, so nothing here, or anywhere in the heart, calls it.

use core::f64::consts::{PI, TAU};
use core::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// A point or a direction in space. Units are the game's own; documentation says metres.
///
/// ```
/// use evenkeel::Vec3;
/// let ahead = Vec3::new(3.0, 4.0, 0.0);
/// assert_eq!(ahead.length(), 5.0);
/// assert_eq!(Vec3::from([1.0, 2.0, 3.0]) * 2.0, Vec3::new(2.0, 4.0, 6.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Vec3 {
    /// East, or whatever the game's first axis is.
    pub x: f64,
    /// North, or whatever the game's second axis is.
    pub y: f64,
    /// Up: headings turn about this axis.
    pub z: f64,
}

impl Vec3 {
    /// The origin.
    pub const ZERO: Self = Self::new(0.0, 0.0, 0.0);

    /// A vector from its components.
    pub const fn new(x: f64, y: f64, z: f64) -> Self {
        Self { x, y, z }
    }

    /// The horizontal unit vector that a heading points along.
    pub fn from_heading(heading: f64) -> Self {
        let (sin, cos) = libm::sincos(heading);
        Self::new(cos, sin, 0.0)
    }

    /// The scalar product.
    pub fn dot(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    /// The vector product.
    pub fn cross(self, other: Self) -> Self {
        Self::new(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )
    }

    /// The length squared.
    pub fn length_squared(self) -> f64 {
        self.dot(self)
    }

    /// The length.
    pub fn length(self) -> f64 {
        libm::sqrt(self.length_squared())
    }

    /// The distance to another point.
    pub fn distance(self, other: Self) -> f64 {
        (self - other).length()
    }

    /// The largest absolute component: the distance that a per-axis threshold sees.
    pub fn max_axis(self) -> f64 {
        libm::fmax(libm::fabs(self.x), libm::fmax(libm::fabs(self.y), libm::fabs(self.z)))
    }

    /// Whether no component is infinite or not-a-number.
    pub fn is_finite(self) -> bool {
        self.x.is_finite() && self.y.is_finite() && self.z.is_finite()
    }

    /// The vector turned about the vertical axis, its height kept.
    pub fn turned(self, angle: f64) -> Self {
        let (sin, cos) = libm::sincos(angle);
        Self::new(cos * self.x - sin * self.y, sin * self.x + cos * self.y, self.z)
    }
}

impl From<[f64; 3]> for Vec3 {
    fn from([x, y, z]: [f64; 3]) -> Self {
        Self { x, y, z }
    }
}

impl From<Vec3> for [f64; 3] {
    fn from(v: Vec3) -> Self {
        [v.x, v.y, v.z]
    }
}

impl Add for Vec3 {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.x + other.x, self.y + other.y, self.z + other.z)
    }
}

impl Sub for Vec3 {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::new(self.x - other.x, self.y - other.y, self.z - other.z)
    }
}

impl Neg for Vec3 {
    type Output = Self;
    fn neg(self) -> Self {
        Self::new(-self.x, -self.y, -self.z)
    }
}

impl Mul<f64> for Vec3 {
    type Output = Self;
    fn mul(self, k: f64) -> Self {
        Self::new(self.x * k, self.y * k, self.z * k)
    }
}

impl AddAssign for Vec3 {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Vec3 {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

/// A rotation as a unit quaternion.
///
/// ```
/// use evenkeel::{Quat, Vec3};
/// let quarter_turn = Quat::from_heading(core::f64::consts::FRAC_PI_2);
/// assert!(quarter_turn.rotate(Vec3::new(1.0, 0.0, 0.0)).distance(Vec3::new(0.0, 1.0, 0.0)) < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Quat {
    /// The real part.
    pub w: f64,
    /// The imaginary part along x.
    pub x: f64,
    /// The imaginary part along y.
    pub y: f64,
    /// The imaginary part along z.
    pub z: f64,
}

impl Quat {
    /// No rotation.
    pub const IDENTITY: Self = Self::new(1.0, 0.0, 0.0, 0.0);

    /// A quaternion from its parts, real part first. It is used as it is: see [`normalized`](Self::normalized).
    pub const fn new(w: f64, x: f64, y: f64, z: f64) -> Self {
        Self { w, x, y, z }
    }

    /// The rotation about the vertical axis that a heading stands for.
    pub fn from_heading(heading: f64) -> Self {
        let (sin, cos) = libm::sincos(heading * 0.5);
        Self::new(cos, 0.0, 0.0, sin)
    }

    /// The rotation by the length of `vector` (radians) about its direction.
    pub fn from_rotation_vector(vector: Vec3) -> Self {
        let angle = vector.length();
        // Below this the next term of the series is beyond double precision.
        let k = if angle < 1e-8 { 0.5 } else { libm::sin(angle * 0.5) / angle };
        Self::new(libm::cos(angle * 0.5), vector.x * k, vector.y * k, vector.z * k)
    }

    /// The same rotation scaled to unit length; the identity if there is no length to scale.
    pub fn normalized(self) -> Self {
        let length = libm::sqrt(self.dot(self));
        if !(length.is_finite() && length > 1e-300) {
            return Self::IDENTITY;
        }
        let k = 1.0 / length;
        Self::new(self.w * k, self.x * k, self.y * k, self.z * k)
    }

    /// The four-dimensional scalar product.
    pub fn dot(self, other: Self) -> f64 {
        self.w * other.w + self.x * other.x + self.y * other.y + self.z * other.z
    }

    /// The inverse rotation (of a unit quaternion).
    pub fn conjugate(self) -> Self {
        Self::new(self.w, -self.x, -self.y, -self.z)
    }

    /// The vector rotated.
    pub fn rotate(self, v: Vec3) -> Vec3 {
        let u = Vec3::new(self.x, self.y, self.z);
        let t = u.cross(v) * 2.0;
        v + t * self.w + u.cross(t)
    }

    /// The angle, 0 to pi, of the rotation that leads from one to the other.
    pub fn angle_to(self, other: Self) -> f64 {
        let d = self.conjugate() * other;
        let sine = libm::sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
        2.0 * libm::atan2(sine, libm::fabs(d.w))
    }

    /// The heading of the rotated x axis.
    pub fn heading(self) -> f64 {
        libm::atan2(2.0 * (self.w * self.z + self.x * self.y), 1.0 - 2.0 * (self.y * self.y + self.z * self.z))
    }

    /// Whether no part is infinite or not-a-number.
    pub fn is_finite(self) -> bool {
        self.dot(self).is_finite()
    }
}

impl Default for Quat {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Mul for Quat {
    type Output = Self;
    /// The rotation `other` followed by `self`.
    fn mul(self, o: Self) -> Self {
        Self::new(
            self.w * o.w - self.x * o.x - self.y * o.y - self.z * o.z,
            self.w * o.x + self.x * o.w + self.y * o.z - self.z * o.y,
            self.w * o.y - self.x * o.z + self.y * o.w + self.z * o.x,
            self.w * o.z + self.x * o.y - self.y * o.x + self.z * o.w,
        )
    }
}

/// The same angle in (-pi, pi]. What is not finite comes back as it is.
///
/// ```
/// use core::f64::consts::PI;
/// assert!((evenkeel::wrap_angle(3.5 * PI) + 0.5 * PI).abs() < 1e-12);
/// ```
pub fn wrap_angle(angle: f64) -> f64 {
    if angle > -PI && angle <= PI {
        return angle;
    }
    let wrapped = angle - TAU * libm::round(angle / TAU);
    if wrapped <= -PI { wrapped + TAU } else { wrapped }
}

/// The arctangent of `t` from 0 to 1 is `t` times this polynomial in the square of `t`, to 1.2e-7: as far as an `f32` tells.
const ARCTANGENT: [f32; 8] = [
    0.999_999_9,
    -0.333_318_13,
    0.199_669_62,
    -0.140_032_9,
    0.098_688_655,
    -0.058_829_753,
    0.023_780_52,
    -0.004_559_792,
];

/// The heading of a direction in the plane of x and y, as far as `f32`s tell: for engines that ask it of everything in every frame.
///
/// Things face wherever they like, and a processor that guesses the octant guesses wrong most of the time: here nothing is guessed,
/// and every platform gets the same.
///
/// ```
/// let north_west = evenkeel::quick_heading(-1.0, 1.0);
/// assert!((north_west - 0.75 * core::f64::consts::PI).abs() < 1e-6);
/// ```
pub fn quick_heading(x: f32, y: f32) -> f64 {
    use core::f32::consts::{FRAC_PI_2, PI};
    let (wide, high) = (x.abs(), y.abs());
    let (short, long) = (wide.min(high), wide.max(high));
    let slope = if long == 0.0 { 0.0 } else { short / long };
    let square = slope * slope;
    let fourth = square * square;
    let [p0, p1, p2, p3] = core::array::from_fn(|i| ARCTANGENT[2 * i] + ARCTANGENT[2 * i + 1] * square);
    let angle = slope * (p0 + p1 * fourth + (p2 + p3 * fourth) * (fourth * fourth));
    let one_if = |condition: bool| f32::from(u8::from(condition));
    // Where it is steep, it is what is missing to a quarter turn; behind, to half a turn.
    let angle = angle + one_if(high > wide) * (FRAC_PI_2 - 2.0 * angle);
    let angle = one_if(x < 0.0) * PI - angle;
    // What is not a number has been lost on the way, and comes back here.
    f64::from(angle.copysign(y) + 0.0 * x + 0.0 * y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_quick_heading_is_what_atan2_has() {
        let circle = (-1000..=1000).map(|i| (i as f32 * core::f32::consts::PI / 1000.0).sin_cos());
        for (y, x) in circle.chain([(0.0, 1.0), (0.0, -1.0), (1.0, 0.0), (-1.0, 0.0), (1e-30, -1e-30), (3e37, 2e37)]) {
            let (quick, expected) = (quick_heading(x, y), f64::from(y).atan2(f64::from(x)));
            assert!((quick - expected).abs() < 5e-7, "{y} {x}: {quick} is not {expected}");
        }
        assert_eq!(quick_heading(0.0, 0.0), 0.0);
        for (y, x) in [(f32::NAN, 1.0), (1.0, f32::NAN), (0.0, f32::NAN)] {
            assert!(quick_heading(x, y).is_nan(), "what is not a number is not told as one");
        }
    }

    fn small_vec3() -> impl Strategy<Value = Vec3> {
        prop::array::uniform3(-10.0..10.0f64).prop_map(Vec3::from)
    }

    proptest! {
        #[test]
        fn wrapping_keeps_the_direction(angle in -1000.0..1000.0f64) {
            let wrapped = wrap_angle(angle);
            prop_assert!(wrapped > -PI - 1e-12 && wrapped <= PI);
            prop_assert!(Vec3::from_heading(angle).distance(Vec3::from_heading(wrapped)) < 1e-12);
        }

        #[test]
        fn rotations_keep_lengths_and_compose(a in small_vec3(), b in small_vec3(), v in small_vec3()) {
            let (p, q) = (Quat::from_rotation_vector(a), Quat::from_rotation_vector(b));
            prop_assert!((p.rotate(v).length() - v.length()).abs() < 1e-12);
            prop_assert!((p * q).rotate(v).distance(p.rotate(q.rotate(v))) < 1e-11);
            prop_assert!(p.conjugate().rotate(p.rotate(v)).distance(v) < 1e-11);
        }
    }

    #[test]
    fn headings_survive_the_quaternion() {
        for heading in [-3.0, -1.0, 0.0, 0.5, 3.1] {
            assert!((Quat::from_heading(heading).heading() - heading).abs() < 1e-14);
        }
        assert!((Quat::from_heading(3.0).angle_to(Quat::from_heading(-3.0)) - (TAU - 6.0)).abs() < 1e-14);
    }
}
