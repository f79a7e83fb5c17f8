//! Fuzz targets: functions that take any bytes and panic only if a promise of the library is broken.
//!
//! They are ordinary code, so that they are tested and linted like everything else. `fuzz/` at the root of the repository
//! runs them under a fuzzer; `tests/replay.rs` runs every file of `corpus/` through its target.
//!
//! The corpus has three sorts of files: `seed-*`, made from real senders, receivers and clocks by
//! `cargo run -p evenkeel-fuzz --example seed_corpus`; `fuzz-*`, short inputs by which a fuzzer reached something new; and
//! `found-*`, inputs that broke something once.
//!
//! State machines are driven by scripts: a few bytes of configuration, then operations. See [`script`] for how to write
//! one.

mod bzflag;
mod clock;
mod finite;
mod input;
mod levels;
mod moving;
mod receiver;
mod relay;
pub mod script;
mod sender;
mod session;
mod sites;
mod text;
mod timewarp;
mod token;
mod wire;
mod words;

pub use bzflag::bzflag;
pub use clock::clock;
pub use levels::levels;
pub use moving::moving;
pub use receiver::receiver;
pub use relay::bzflag_relay;
pub use sender::sender;
pub use session::{protocol, session};
pub use sites::sites;
pub use text::{budget_and_policy, conditions, matrix, operations, recording};
pub use timewarp::timewarp;
pub use token::token;
pub use wire::{body, datagram, format};
pub use words::words;

/// A target: takes any bytes, panics if a promise is broken.
pub type Target = fn(&[u8]);

/// All targets by name.
pub const TARGETS: [(&str, Target); 21] = [
    ("body", body),
    ("budget_and_policy", budget_and_policy),
    ("bzflag", bzflag),
    ("bzflag_relay", bzflag_relay),
    ("clock", clock),
    ("conditions", conditions),
    ("datagram", datagram),
    ("format", format),
    ("levels", levels),
    ("matrix", matrix),
    ("moving", moving),
    ("operations", operations),
    ("protocol", protocol),
    ("receiver", receiver),
    ("recording", recording),
    ("sender", sender),
    ("session", session),
    ("sites", sites),
    ("timewarp", timewarp),
    ("token", token),
    ("words", words),
];
