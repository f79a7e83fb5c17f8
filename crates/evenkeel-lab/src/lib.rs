//! The laboratory: measurements of the heart from ground truth, outside the thing measured.
//!
//! - [`bench`]: the table of figures that the heart must reach;
//! - [`clock`]: how far off the session's clock is, beside today's rules;
//! - [`wire`]: how many bytes a vector takes, over recorded games.

pub mod bench;
pub mod clock;
pub mod wire;
