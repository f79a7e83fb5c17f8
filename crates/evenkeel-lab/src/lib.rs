//! The laboratory: measurements of the heart from ground truth, outside the thing measured.
//!
//! - [`world`]: one sender and its receivers over the network model, watched from outside;
//! - [`comparison`]: the short comparison that the program runs by default;
//! - [`experiment`]: policies compared on one's own data, and [`report`]: what came of it;
//! - [`study`]: experiments by name, and the papers' claims that they check;
//! - [`audit`]: whether a game is fair, from its own logs;
//! - [`advice`]: which lag and which policy to choose for a game;
//! - [`bound`]: a lower bound on the mean error, for every policy;
//! - [`clairvoyant`]: the best choice among the base case's vectors, by somebody who knows the future;
//! - [`policies`]: policies by name;
//! - [`recorder`]: recordings of runs, written and read;
//! - [`workload`]: what moves, synthetic or recorded;
//! - [`mod@bench`]: the table of figures that the heart must reach;
//! - [`clock`]: how far off the session's clock is, beside today's rules;
//! - [`wire`]: how many bytes a vector takes, over recorded games.

pub mod advice;
pub mod audit;
pub mod bench;
pub mod bound;
pub mod clairvoyant;
pub mod clock;
pub mod comparison;
pub mod experiment;
mod names;
pub mod policies;
pub mod recorder;
pub mod report;
pub mod study;
pub mod wire;
pub mod workload;
pub mod world;

// What settings are made of, for those who have only the laboratory.
pub use evenkeel::{Budget, ClockRule, Duration, Placing, Threshold};
pub use evenkeel_link::Conditions;
