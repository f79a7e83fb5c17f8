//! The laboratory: measurements of the heart from ground truth, outside the thing measured.
//!
//! - [`clock`]: how far off the session's clock is, beside today's rules;
//! - [`wire`]: how many bytes a vector takes, over recorded games.

pub mod clock;
pub mod wire;
