//! Evenkeel's testbed: measurements from ground truth.
pub mod clock;
