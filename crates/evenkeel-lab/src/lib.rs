//! Placeholder
pub mod wire;
