//! Accuracy and fairness for BZFlag as it is: a relay between unmodified clients and an unmodified server.
//!
//! - [`message`]: what travels between them;
//! - [`relay`]: what becomes of it;
//! - [`measure`]: what the clients therefore see;
//! - [`record`]: traces, from traffic and from the game's own recordings;
//! - [`testbed`]: the real game, started and stopped.

#![forbid(unsafe_code)]

mod desk;
pub mod measure;
pub mod message;
mod net;
pub mod record;
pub mod relay;
mod rules;
mod stamps;
mod summary;
pub mod testbed;

pub use desk::{Decider, Desk, Kind, Seen, Told};
pub use net::{Service, ServiceConfig, Tap};
pub use relay::{Out, Relay, RelayConfig, Way};
pub use rules::Rules;
pub use summary::{ClientSummary, DeciderSummary, Latency, ShotSummary, Summary};
