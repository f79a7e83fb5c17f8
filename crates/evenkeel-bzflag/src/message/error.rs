//! What can be wrong with a message.

use super::{Code, MAX_PAYLOAD};
use std::fmt;

/// Why bytes are not the message they should be. Offsets count from the beginning of the payload, or of the datagram or
/// the unread stream if it is a frame that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageError {
    /// A frame claims more than any message has.
    TooLong {
        /// The length it claims.
        length: usize,
        /// Where the frame begins.
        at: usize,
    },
    /// Something ends too early.
    Truncated {
        /// What does.
        what: &'static str,
        /// Where it begins.
        at: usize,
        /// How many bytes it takes.
        needed: usize,
        /// How many there are.
        left: usize,
    },
    /// A message ends, but its frame does not.
    Trailing {
        /// Where the message ends.
        at: usize,
        /// How many bytes follow.
        left: usize,
    },
    /// A number is infinite or none at all.
    NotFinite {
        /// Which number.
        what: &'static str,
        /// Where it is.
        at: usize,
    },
    /// The frame holds another message.
    WrongCode {
        /// What was asked for.
        expected: Code,
        /// What it holds.
        found: Code,
    },
    /// The connection does not begin as the game's do.
    NoHello {
        /// What it begins with.
        found: Vec<u8>,
    },
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { length, at } => {
                write!(f, "the frame at byte {at} claims {length} bytes, but messages have at most {MAX_PAYLOAD}")
            }
            Self::Truncated { what, at, needed, left } => {
                write!(f, "{what} at byte {at} takes {needed} bytes, but there are {left}")
            }
            Self::Trailing { at, left } => write!(f, "the message ends at byte {at}, but {left} bytes follow"),
            Self::NotFinite { what, at } => write!(f, "{what} at byte {at} is not a finite number"),
            Self::WrongCode { expected, found } => write!(f, "this is a message '{found}', not '{expected}'"),
            Self::NoHello { found } => {
                write!(f, "this is not how the game begins: \"{}\"", found.escape_ascii())
            }
        }
    }
}

impl std::error::Error for MessageError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_is_wrong_and_where() {
        for (error, said) in [
            (
                MessageError::TooLong { length: 2000, at: 4 },
                "the frame at byte 4 claims 2000 bytes, but messages have at most 1020",
            ),
            (
                MessageError::Truncated { what: "the shot", at: 5, needed: 2, left: 1 },
                "the shot at byte 5 takes 2 bytes, but there are 1",
            ),
            (MessageError::Trailing { at: 43, left: 1 }, "the message ends at byte 43, but 1 bytes follow"),
            (MessageError::NotFinite { what: "the azimuth", at: 35 }, "the azimuth at byte 35 is not a finite number"),
            (MessageError::WrongCode { expected: Code::ALIVE, found: Code(1) }, "this is a message '0x0001', not 'al'"),
            (MessageError::NoHello { found: b"GET /\r\n".to_vec() }, r#"this is not how the game begins: "GET /\r\n""#),
        ] {
            assert_eq!(error.to_string(), said);
        }
    }
}
