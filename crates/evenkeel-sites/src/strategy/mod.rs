//! Ways to choose servers.

pub(crate) mod central;
pub(crate) mod critical;
mod dive;
pub(crate) mod fewest;
pub(crate) mod heuristic;
pub(crate) mod search;
