//! Evenkeel
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;
pub mod clock;
pub mod geometry;
pub mod motion;
pub mod time;
pub use clock::Clock;
pub use geometry::{Quat, Vec3, wrap_angle};
pub use motion::{Attitude, Course, Law, Motion, MotionKind, Pose, State};
pub use time::{Duration, GlobalTime, Instant};
