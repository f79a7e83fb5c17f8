//! What can be wrong with a message.

use std::fmt;

/// Why a message was not taken. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LevelError {
    /// It is longer than its level allows.
    TooLong {
        /// How long it is, in bytes.
        length: usize,
        /// The longest at its level.
        longest: usize,
    },
    /// Too much waits already: the other end, or the game, does not keep up.
    Full,
    /// What arrived does not parse.
    Malformed,
    /// What arrived acknowledges what was never sent, or runs ahead of what may be on its way.
    Impossible,
    /// The session is being moved to another server: send it there.
    Moving,
}

impl fmt::Display for LevelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { length, longest } => {
                write!(f, "a message of {length} bytes is too long: at its level the longest has {longest}")
            }
            Self::Full => write!(f, "too much waits to be sent or read: try again later, or send less"),
            Self::Malformed => write!(f, "a message of the game does not parse"),
            Self::Impossible => write!(f, "a message of the game has numbers that cannot be"),
            Self::Moving => write!(f, "the session is being moved: send it from its new server"),
        }
    }
}

impl std::error::Error for LevelError {}
