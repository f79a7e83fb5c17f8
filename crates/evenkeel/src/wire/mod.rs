//! Everything that travels: datagrams ([`datagram`]), and in them DR vectors in as few bits as a static code allows.
//!
//! A [`Format`] says how finely. [`Format::quantise`] turns a motion into integers, a [`Quantised`]; what those integers
//! stand for, [`Format::restore`], is the exported path on both ends. The integers are then written alone
//! ([`emit_absolute`]) or as differences from what an older vector, the baseline, predicts ([`emit_against`]); the reader
//! gets the same integers either way. Entity, time, sequence and the choice of the baseline are written around the body.
//!
//! `docs/WIRE.md` describes every bit.
//!
//! ```
//! use evenkeel::wire::{BODY_BYTES, BitReader, BitWriter, Format, emit_against, parse_body};
//! use evenkeel::{GlobalTime, Motion, Vec3};
//! let format = Format::bzflag();
//! let old = format.quantise(&Motion::circular(Vec3::ZERO, 0.0, 25.0, 0.0), GlobalTime::from_millis(0))?;
//! let turning = Motion::circular(Vec3::new(12.5, 0.0, 0.0), 0.0, 25.0, 0.785);
//! let new = format.quantise(&turning, GlobalTime::from_millis(500))?;
//!
//! let mut body = [0; BODY_BYTES];
//! let mut w = BitWriter::new(&mut body);
//! emit_against(&format, &new, &old, &mut w)?;
//! assert!(w.len_bits() < 40);
//! let mut r = BitReader::new(w.as_bytes());
//! assert_eq!(parse_body(&format, &mut r, new.tick(), Some(&old))?, new);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agreement;
mod bits;
pub mod datagram;
mod format;
mod predict;
mod quantised;
mod record;
#[cfg(test)]
mod samples;

pub(crate) use agreement::By;
pub use agreement::{AGREEMENT_BYTES, Agreement, Difference, Value};
pub use bits::{BitReader, BitWriter, Full, Truncated};
pub use format::{FORMAT_BYTES, Format, FormatError, Laws};
pub use quantised::{QuantiseError, Quantised};
pub use record::{BODY_BYTES, emit_absolute, emit_against, parse_body};

use core::fmt;

/// The largest number of steps from zero that any quantity may have.
///
/// Up to here a step count times its step, divided by the step again, rounds back to the same count in `f64`.
pub const LIMIT: i64 = 1 << 50;

/// The largest number that a lossless format writes, about as large as any other can. Far below what overflows, so that
/// whatever arrives is extrapolated to finite numbers.
pub(crate) const LOSSLESS_LIMIT: f64 = 1e18;

/// What is wrong with bytes from the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WireError {
    /// They end too early.
    Truncated,
    /// A variable-length number is longer than any the writer produces.
    TooLong,
    /// A number is beyond what may be represented.
    OutOfRange,
    /// A law that the format does not hold.
    UnknownLaw(u8),
    /// A motion in a form that the writer would have written differently, or no motion at all.
    NotCanonical,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("the input ends too early"),
            Self::TooLong => f.write_str("a number is too long"),
            Self::OutOfRange => f.write_str("a number is out of range"),
            Self::UnknownLaw(id) => write!(f, "law {id} is not in the format"),
            Self::NotCanonical => f.write_str("no motion is written like this"),
        }
    }
}

impl core::error::Error for WireError {}

impl From<Truncated> for WireError {
    fn from(_: Truncated) -> Self {
        Self::Truncated
    }
}
