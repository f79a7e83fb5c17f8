//! Motions that a game brings itself.

use crate::geometry::Vec3;
use core::fmt;

/// How many numbers a [`Law`] may carry in a DR vector.
pub const LAW_PARAMETERS: usize = 6;

/// A motion of the game's own: how far an entity gets from its start, as a pure function of time.
///
/// Sender and receiver both hold the law and list it in their [`Format`](crate::wire::Format); only its [`id`](Law::id)
/// and its parameters travel. Use `libm` for transcendental functions, or the two ends may disagree in the last bit.
///
/// ```
/// use evenkeel::{Law, Motion, Vec3, motion::LAW_PARAMETERS};
///
/// /// A buoy bobbing up and down: amplitude and angular frequency.
/// struct Bobbing;
///
/// impl Law for Bobbing {
///     fn id(&self) -> u8 { 1 }
///     fn displacement(&self, p: &[f64; LAW_PARAMETERS], dt: f64) -> Vec3 {
///         Vec3::new(0.0, 0.0, p[0] * libm::sin(p[1] * dt + p[2]) - p[0] * libm::sin(p[2]))
///     }
///     fn velocity(&self, p: &[f64; LAW_PARAMETERS], dt: f64) -> Vec3 {
///         Vec3::new(0.0, 0.0, p[0] * p[1] * libm::cos(p[1] * dt + p[2]))
///     }
///     fn advanced(&self, p: &[f64; LAW_PARAMETERS], dt: f64) -> [f64; LAW_PARAMETERS] {
///         [p[0], p[1], p[2] + p[1] * dt, 0.0, 0.0, 0.0]
///     }
/// }
///
/// let buoy = Motion::custom(Vec3::ZERO, &Bobbing, [0.5, 2.0, 0.0, 0.0, 0.0, 0.0]);
/// assert!(buoy.position_at(1.0).z > 0.4);
/// ```
pub trait Law: Send + Sync {
    /// The number that stands for this law on the wire, unique within the game.
    fn id(&self) -> u8;
    /// How far from its start the entity is after `dt` seconds; zero at zero.
    fn displacement(&self, parameters: &[f64; LAW_PARAMETERS], dt: f64) -> Vec3;
    /// Its velocity after `dt` seconds.
    fn velocity(&self, parameters: &[f64; LAW_PARAMETERS], dt: f64) -> Vec3;
    /// The parameters that describe the rest of the same path from `dt` on.
    fn advanced(&self, parameters: &[f64; LAW_PARAMETERS], dt: f64) -> [f64; LAW_PARAMETERS];
}

/// A [`Law`] by reference, equal to another if the ids are.
#[derive(Clone, Copy)]
pub struct LawRef(pub &'static dyn Law);

impl PartialEq for LawRef {
    fn eq(&self, other: &Self) -> bool {
        self.0.id() == other.0.id()
    }
}

impl Eq for LawRef {}

impl fmt::Debug for LawRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Law({})", self.0.id())
    }
}
