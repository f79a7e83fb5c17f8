//! The laboratory: measurements of the heart from ground truth, outside the thing measured.
//!
//! - [`world`]: one sender and its receivers over the network model, watched from outside;
//! - [`comparison`]: the short comparison that the program runs by default;
//! - [`policies`]: policies by name;
//! - [`recorder`]: recordings of runs, written and read;
//! - [`workload`]: what moves, synthetic or recorded;
//! - [`mod@bench`]: the table of figures that the heart must reach;
//! - [`clock`]: how far off the session's clock is, beside today's rules;
//! - [`wire`]: how many bytes a vector takes, over recorded games.

pub mod bench;
pub mod clock;
pub mod comparison;
mod names;
pub mod policies;
pub mod recorder;
pub mod wire;
pub mod workload;
pub mod world;
