//! Accuracy and fairness for BZFlag as it is: a relay between unmodified clients and an unmodified server.
//!
//! - [`message`]: what travels between them;
//! - [`record`]: traces, from traffic and from the game's own recordings;
//! - [`testbed`]: the real game, started and stopped.

#![forbid(unsafe_code)]

pub mod message;
pub mod record;
pub mod testbed;
