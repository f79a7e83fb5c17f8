//! Evenkeel's demonstration: a game with real clients on real sockets, and a page that shows fairness happen.
//!
//! - [`Demo`]: the whole;
//! - [`stage`]: the game, its players and what is measured;
//! - [`site`]: the page, and what it talks to;
//! - [`recording`]: runs to be kept and shown again;
//! - [`settings`]: what can be changed while it runs;
//! - [`feed`]: what the page is told.
//!
//! How the parts talk to each other is in `docs/DEMO.md`.

#![forbid(unsafe_code)]

mod demo;
pub mod feed;
pub mod recording;
pub mod settings;
pub mod site;
pub mod stage;

pub use demo::{Demo, DemoConfig, DemoError};
