//! What can be wrong with a recording.

use super::{FORMAT_VERSION, MAGIC};
use std::fmt;
use std::io;

/// Why a recording cannot be written or read.
#[derive(Debug)]
pub enum RecordingError {
    /// The stream itself failed.
    Io(io::Error),
    /// It does not begin as recordings do.
    NotARecording {
        /// What it begins with.
        found: Vec<u8>,
    },
    /// It was written by a newer program.
    FutureVersion {
        /// Its version of the format.
        found: u16,
    },
    /// It ends too early: the recorder stopped, or the file was cut.
    Truncated {
        /// How many whole events came before.
        events: u64,
    },
    /// The compressed stream is damaged.
    Damaged {
        /// How many whole events came before.
        events: u64,
        /// What the decompressor says.
        problem: String,
    },
    /// It unpacks to something that is no recording.
    Corrupt {
        /// How many whole events came before.
        events: u64,
        /// What is wrong.
        problem: &'static str,
    },
    /// A text or list is longer than the format allows.
    TooLong {
        /// Which.
        what: &'static str,
        /// Its length.
        length: u64,
        /// The longest allowed.
        limit: usize,
    },
    /// Its events take so much more memory than itself that they are not read at once; a
    /// [`RecordingReader`](super::RecordingReader) reads them one by one.
    TooLarge {
        /// How many bytes they may take.
        limit: u64,
    },
    /// A motion follows a law that the reader was not given.
    UnknownLaw {
        /// The law's id.
        id: u8,
    },
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the recording cannot be accessed: {error}"),
            Self::NotARecording { found } => {
                let (magic, found) = (MAGIC.escape_ascii(), found.escape_ascii());
                write!(f, "this is no recording: it begins with \"{found}\" instead of \"{magic}\"")
            }
            Self::FutureVersion { found } => {
                write!(f, "the recording has format version {found}, but this program knows up to {FORMAT_VERSION}")
            }
            Self::Truncated { events } => write!(f, "the recording ends too early, after {events} events"),
            Self::Damaged { events, problem } => {
                write!(f, "the recording is damaged after {events} events: {problem}")
            }
            Self::Corrupt { events, problem } => write!(f, "the recording is wrong after {events} events: {problem}"),
            Self::TooLong { what, length, limit } => {
                write!(f, "{what} of length {length} is longer than recordings allow ({limit})")
            }
            Self::TooLarge { limit } => {
                write!(f, "the recording's events take more than {limit} bytes, too much to read at once")
            }
            Self::UnknownLaw { id } => {
                write!(f, "a motion in the recording follows law {id}, which this program was not given")
            }
        }
    }
}

impl std::error::Error for RecordingError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}
