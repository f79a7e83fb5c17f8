//! Evenkeel's demonstration: a game with real clients on real sockets, and a page that shows fairness happen.
//!
//! - [`settings`]: what can be changed while it runs;
//! - [`feed`]: what the page is told;
//! - [`stage`]: the game, its players, and what is measured of it.
//!
//! How the parts talk to each other is in `docs/DEMO.md`.

#![forbid(unsafe_code)]

pub mod feed;
pub mod settings;
pub mod stage;
