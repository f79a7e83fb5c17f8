//! Where the decision points of a game stand: one server or several, which, with which lag, how fair, and how far from the best
//! possible.
//!
//! A [`Problem`] is players, sites, and the round-trip times between them in milliseconds.
#![forbid(unsafe_code)]

pub mod input;
mod problem;
mod random;

pub use problem::{Player, Problem, ProblemError, Site, Use};
