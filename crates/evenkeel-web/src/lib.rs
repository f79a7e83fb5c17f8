//! A player of the demonstration in a browser: a seat in the session, a craft of one's own, and everybody's shots.
//!
//! - [`Player`] is all of it, in plain Rust, and runs anywhere;
//! - [`Frame`] is what a page draws;
//! - [`Machine`] is a player behind bytes and whole numbers, and [`exports`] are its functions as a module of WebAssembly has them.
//!
//! There is no glue to be generated: a plain `cargo build --target wasm32-unknown-unknown` makes the module, and the page calls its
//! exports. As everywhere, bytes and this host's time go in, and bytes come out.

pub mod exports;
mod frame;
mod machine;
mod own;
mod player;
mod shots;

pub use frame::{Beam, Frame, Other, Own, Status};
pub use machine::{Kind, Machine};
pub use player::Player;
