//! Evenkeel
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;
mod constraint;
mod convert;
pub mod delay;
pub mod determinism;
mod events;
pub mod geometry;
mod ids;
pub mod ledger;
pub mod motion;
pub mod path;
pub mod policy;
pub mod receiver;
pub mod sender;
pub mod time;
pub mod trigger;
pub mod wire;
pub use constraint::Constraint;
pub use geometry::{Quat, Vec3, wrap_angle};
pub use ids::{EntityId, HostId};
pub use ledger::{ClockRule, Fairness, Ledger, Placing, Relevance};
pub use motion::{Attitude, Course, Law, Motion, MotionKind, Pose, State};
pub use policy::{Budget, Policy};
pub use receiver::{Beyond, PlaceError, Placement, Receiver, ReceiverConfig, ReceiverError, ReceiverEvent, Smoothing};
pub use sender::{EntityConfig, HandleError, Sender, SenderConfig, SenderError, SenderEvent, Transmit};
pub use time::{Duration, GlobalTime, Instant};
pub use trigger::{Cause, Threshold, Tolerance};
