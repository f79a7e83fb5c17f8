//! Accurate and fair multiplayer movement.
//!
//! A game tells a [`Sender`] where its entities really are. The sender decides *what* to tell *which* receiver *when*, and
//! keeps books on what each receiver is therefore showing and how wrong that is. A [`Receiver`] turns what it is told into
//! places, at any frame rate. Both are pure state machines: no clock, no socket, no thread; time is an argument and
//! datagrams are bytes. The same code runs in a test, in a simulation, over any network and in a browser, and equal inputs
//! give equal bytes everywhere.
//!
//! ```
//! use evenkeel::wire::Format;
//! use evenkeel::{EntityId, GlobalTime, HostId, Pose, Receiver, ReceiverConfig, Sender, SenderConfig, Threshold, Vec3};
//!
//! const OWNER: HostId = HostId(0);
//! const PLAYER: HostId = HostId(1);
//! const TANK: EntityId = EntityId(7);
//! let mut now = GlobalTime::ZERO;
//!
//! let mut sender = Sender::new(SenderConfig::default())?; // at the tank's owner
//! sender.add_receiver(PLAYER, now)?;
//! sender.add_entity(TANK, Threshold::within(0.1).turning(0.05), now)?;
//! let mut receiver = Receiver::new(ReceiverConfig::default())?; // at everybody else
//! receiver.add_sender(OWNER, sender.agreement(), now)?;
//!
//! for tick in 0..60 {
//!     now = GlobalTime::from_millis(tick * 16);
//!     let (position, velocity) = (Vec3::new(3.0 * now.as_secs_f64(), 0.0, 0.0), Vec3::new(3.0, 0.0, 0.0));
//!     sender.observe(TANK, Pose::at(position).moving(velocity).facing(0.0), now)?;
//!     while let Some(datagram) = sender.poll_transmit(now) {
//!         receiver.handle_datagram(OWNER, datagram.bytes, now)?; // by way of a network
//!     }
//!     while let Some(receipt) = receiver.poll_transmit(now) {
//!         sender.handle_datagram(PLAYER, receipt.bytes, now)?; // and back
//!     }
//!     let seen = receiver.place(TANK, now)?;
//!     assert!(seen.position.distance(position) < 0.1);
//! }
//! assert_eq!(sender.ledger().spent().vectors, 1); // one vector said it all
//! println!("{:?}", sender.fairness(now).mean);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where things are
//!
//! - [`motion`], [`trigger`]: what a DR vector says, and when a new one is due;
//! - [`policy`], [`ledger`], [`delay`]: who gets it, on the strength of which books;
//! - [`sender`], [`receiver`]: the two halves of the state machine;
//! - [`path`]: the export error, integrated;
//! - [`clock`]: the session's clock, disciplined within the connection;
//! - [`wire`]: every bit that travels;
//! - [`lag`]: waiting before showing, so that everybody shows things alike;
//! - [`simulation`]: games as local lag, timewarp, prediction and decision points drive them;
//! - [`timewarp`]: late operations take effect when they should have;
//! - [`prediction`]: what a player does shows at once, and the authority has the last word;
//! - [`decision`]: servers that mirror each other;
//! - [`determinism`]: a checker for games that rely on equal inputs giving equal results.
//!
//! # Features
//!
//! `glam`, `mint`: conversions of vectors and quaternions. `serde`: for times, names, geometry, motions, operations and changes of
//! lag: what a game sends by its own means. None changes
//! behaviour.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod clock;
mod constraint;
mod convert;
pub mod decision;
pub mod delay;
pub mod determinism;
mod events;
pub mod geometry;
mod ids;
pub mod lag;
pub mod ledger;
pub mod motion;
pub mod path;
pub mod policy;
pub mod prediction;
pub mod receiver;
pub mod sender;
pub mod simulation;
pub mod time;
pub mod timewarp;
pub mod trigger;
pub mod wire;

pub use clock::Clock;
pub use constraint::Constraint;
pub use decision::{DecisionConfig, DecisionEvent, DecisionPoint, Synchronisation};
pub use geometry::{Quat, Vec3, quick_heading, wrap_angle};
pub use ids::{EntityId, HostId, VectorNumber};
pub use lag::{ActionKind, Lag, LagChange, LagPolicy, LagTable, LocalSite};
pub use ledger::{ClockRule, Fairness, Ledger, Placing, Relevance};
pub use motion::{Attitude, Course, Law, Motion, MotionKind, Pose, State};
pub use policy::{Budget, Policy};
pub use prediction::{Prediction, PredictionConfig, PredictionEvent};
pub use receiver::{
    Beyond, Handled, PlaceError, Placement, Receiver, ReceiverConfig, ReceiverError, ReceiverEvent, Smoothing,
};
pub use sender::{
    ConfigError, EntityConfig, HandleError, Handover, Sender, SenderConfig, SenderError, SenderEvent, Transmit,
};
pub use simulation::{Operation, Simulation, Tick};
pub use time::{Duration, GlobalTime, Instant};
pub use timewarp::{Timewarp, TimewarpConfig, TimewarpEvent};
pub use trigger::{Cause, Threshold, Tolerance};
