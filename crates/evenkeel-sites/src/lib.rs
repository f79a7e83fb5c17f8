//! Where the decision points of a game stand: one server or several, which, with which lag, how fair, and how far from the best
//! possible.
//!
//! A [`Problem`] is players, sites, and the round-trip times between them in milliseconds.
#![forbid(unsafe_code)]

mod assessment;
mod bound;
mod capacity;
mod crowd;
mod error;
mod every;
mod field;
pub mod input;
mod lag;
mod layout;
pub mod live;
pub mod milp;
mod objective;
mod plan;
mod problem;
mod random;
mod solve;
#[cfg(test)]
mod solve_tests;
mod strategy;
#[cfg(test)]
mod testing;
pub mod topology;

pub use assessment::{Assessment, Equalised};
pub use crowd::{Crowd, CrowdError};
pub use error::SolveError;
pub use lag::{Lag, Rule};
pub use layout::layout;
pub use objective::Objective;
pub use plan::{Inconsistency, Plan};
pub use problem::{Player, Problem, ProblemError, Site, Use};
pub use solve::{Answer, Effort, Request, Strategy, paper_bound, random_central, solve};
pub use strategy::{central::Expected, heuristic::Step};
