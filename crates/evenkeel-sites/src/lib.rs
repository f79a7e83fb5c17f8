//! Where the decision points of a game stand: one server or several, which, with which lag, how fair, and how far from the best
//! possible.
//!
//! A [`Problem`] is players, sites, and the round-trip times between them in milliseconds.
#![forbid(unsafe_code)]

mod crowd;
pub mod input;
mod layout;
mod problem;
mod random;
pub mod topology;

pub use crowd::{Crowd, CrowdError};
pub use layout::layout;
pub use problem::{Player, Problem, ProblemError, Site, Use};
