//! One network model and one run-recording format for everything around Evenkeel.
//!
//! The same code is the laboratory's network and the conditioner in front of real sockets. It has no clock, no thread
//! and no socket of its own: time only ever arrives as an argument, and everything random follows from a seed.
//!
//! * [`Conditions`] say what a path does to packets: delay, [`Jitter`], [`Loss`], reordering, duplication, a rate limit,
//!   delays that change. They can be [written as text](text): `"delay=200ms,jitter=exp:20ms,loss=2%"`.
//! * [`Path`] is one direction of a connection: a packet's [`Fate`] is a function of the seed, the path and the moment
//!   it is sent, so that policies can be compared packet by packet.
//! * [`Link`] is a network of many: packets go in, and come out when their time has come. A [`Topology`] says which
//!   conditions hold between which hosts, perhaps from a [`LatencyMatrix`].
//! * [`HostClock`] is a host's own clock against true time.
//! * [`Oracle`] compares what receivers decode with what senders exported, bit for bit.
//! * [`recording`] is what a run leaves behind for others to read.

pub mod conditions;
mod host_clock;
mod link;
mod matrix;
mod noise;
mod oracle;
mod path;
pub mod recording;
pub mod text;
mod topology;

pub use conditions::{Changes, Conditions, ConditionsError, Jitter, Loss, MAX_DELAY, RateLimit, Reorder};
pub use host_clock::{HostClock, HostClockError};
pub use link::{Delivery, Link, Outcome, Statistics, path_id};
pub use matrix::{LatencyMatrix, MatrixError};
pub use noise::Noise;
pub use oracle::{Mismatch, Oracle};
pub use path::{Fate, Path};
pub use topology::Topology;
