//! The recording of a run: what happened, when, in one compressed stream that every part of the project can write and
//! read.
//!
//! [`RecordingWriter`] takes a [`Header`] and then [`Event`]s one by one; [`RecordingReader`] gives them back, exactly.
//! Neither holds more than one event at a time. The format is described byte by byte in `docs/RECORDING.md`.
//!
//! Files come from anywhere, so the reader trusts nothing: whatever is wrong with one is a [`RecordingError`] that says
//! what, never a panic, and never an allocation beyond what the bytes read so far justify.

mod codec;
mod error;
mod event;
mod motion;
mod reader;
mod writer;

#[cfg(test)]
mod tests;

pub use error::RecordingError;
pub use event::{Event, Header};
pub use reader::{RecordingReader, read_all};
pub use writer::RecordingWriter;

/// The first bytes of every recording.
pub const MAGIC: [u8; 6] = *b"EVKREC";

/// The version of the format that is written. Older ones are read, newer ones refused.
pub const FORMAT_VERSION: u16 = 1;

/// No text in a recording has more bytes than this.
pub const MAX_TEXT_BYTES: usize = 1 << 16;

/// No list in a header has more entries than this.
pub const MAX_LIST_LENGTH: usize = 1 << 16;

/// No header has more bytes than this before compression.
pub const MAX_HEADER_BYTES: usize = 16 << 20;
