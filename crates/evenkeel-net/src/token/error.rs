//! Why a token or a key is refused, and what to do about it.

use super::{KeyId, MAX_BYTES, MAX_KEYS, MAX_NAME, VERSION};
use std::error::Error;
use std::fmt;

/// Why a token lets nobody in. What it displays says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenError {
    /// It is no token.
    Malformed(Malformed),
    /// It says to be signed by a key that is not in the ring.
    UnknownKey {
        /// The key it names.
        key: KeyId,
    },
    /// The key it is signed by is in the ring, but not at this time.
    KeyNotInForce {
        /// The key it names.
        key: KeyId,
    },
    /// It was changed, or the operator never signed it.
    BadSignature,
    /// It was valid once.
    Expired {
        /// Until when, in Unix seconds.
        since: u64,
    },
    /// It will be valid.
    NotYet {
        /// From when on, in Unix seconds.
        until: u64,
    },
    /// It is for another session.
    WrongSession {
        /// The session it is for.
        granted: String,
    },
    /// The operator took it back.
    Revoked,
    /// Somebody uses it right now.
    InUse,
    /// No more tokens can be in use at the same time.
    Full,
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(why) => write!(f, "this is not a join token ({why}): copy all of it, on one line"),
            Self::UnknownKey { key } => {
                write!(
                    f,
                    "the token is signed by key {key}, which this server does not know: ask for a new \
                    token, or add the key to the server's key file"
                )
            }
            Self::KeyNotInForce { key } => {
                write!(
                    f,
                    "the token is signed by key {key}, which this server does not accept at this time: \
                    ask for a new token"
                )
            }
            Self::BadSignature => f.write_str("the token's signature is wrong: copy it again, or ask for a new one"),
            Self::Expired { since } => write!(f, "the token expired at {since} (Unix seconds): ask for a new one"),
            Self::NotYet { until } => {
                write!(
                    f,
                    "the token is valid from {until} (Unix seconds) on: wait until then, or set the \
                    server's clock"
                )
            }
            Self::WrongSession { granted } => {
                write!(f, "the token is for session {granted}: join that one, or ask for a token for this one")
            }
            Self::Revoked => f.write_str("the token was revoked: ask the operator why"),
            Self::InUse => f.write_str(
                "the token is in use: leave with the other client first; if it is not \
                yours, ask for a new token and have this one revoked",
            ),
            Self::Full => f.write_str("the server has no room for another token in use: try again later"),
        }
    }
}

impl Error for TokenError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Malformed(why) => Some(why),
            _ => None,
        }
    }
}

impl From<Malformed> for TokenError {
    fn from(why: Malformed) -> Self {
        Self::Malformed(why)
    }
}

/// Why bytes or text are no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Malformed {
    /// The text is not base64url.
    Text,
    /// There is too little or too much of it.
    Length,
    /// It is of a version that is not known here.
    Version(u8),
    /// What it says makes no sense.
    Contents(Fault),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => f.write_str("not base64url"),
            Self::Length => write!(f, "incomplete, or with more than belongs to it, or above {MAX_BYTES} bytes"),
            Self::Version(version) => write!(f, "version {version}; known is {VERSION}"),
            Self::Contents(fault) => fault.fmt(f),
        }
    }
}

impl Error for Malformed {}

/// What is wrong with what a token says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The player's name.
    Player,
    /// The session's name.
    Session,
    /// The rights are none, unknown or contradictory.
    Rights,
    /// Entities without the right to move them, or the right without entities.
    Entities,
    /// It expires before it is valid, or is valid for too long.
    Lifetime,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Player => write!(f, "a player's name has 1 to {MAX_NAME} bytes and no control characters"),
            Self::Session => write!(f, "a session's name has 1 to {MAX_NAME} bytes and no control characters"),
            Self::Rights => f.write_str("there is at least one right; move needs join, and observe excludes it"),
            Self::Entities => f.write_str("with the right to move there is at least one entity, and without it none"),
            Self::Lifetime => f.write_str("a token expires after it becomes valid, and within 366 days"),
        }
    }
}

impl Error for Fault {}

/// What is wrong with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyProblem {
    /// The line does not have the words of a key's line.
    Words,
    /// A secret key where a public one is expected.
    Secret,
    /// A public key where a secret one is expected.
    Public,
    /// The id is not one.
    Id,
    /// The key is not 32 bytes in base64url.
    Bytes,
    /// The id is not that of the key.
    Mismatch,
    /// Anybody can sign for the key.
    Weak,
    /// The times between which a key is accepted cannot be read, or exclude each other.
    Window,
    /// The key is there already.
    Twice,
    /// There are too many.
    TooMany,
    /// There is none, or more than one where one is expected.
    NotOne,
}

impl fmt::Display for KeyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words => f.write_str(
                "expected `evenkeel-key-1 ID KEY`, or `evenkeel-secret-1 ID KEY` for a \
                secret key",
            ),
            Self::Secret => f.write_str(
                "this is a secret key: keep it to the operator, and give servers the \
                line that starts with evenkeel-key-1",
            ),
            Self::Public => f.write_str(
                "this is a public key: tokens are signed with the line that starts with \
                evenkeel-secret-1",
            ),
            Self::Id => f.write_str("a key's id is 16 hexadecimal digits in lower case"),
            Self::Bytes => f.write_str("a key is 32 bytes: 43 characters of base64url without padding"),
            Self::Mismatch => f.write_str("the id is not this key's: copy the line again"),
            Self::Weak => f.write_str("anybody can sign for this key: generate another"),
            Self::Window => f.write_str(
                "expected from=SECONDS, until=SECONDS or both after a key, the first \
                below the second",
            ),
            Self::Twice => f.write_str("the key is there already: leave out one of the lines"),
            Self::TooMany => write!(f, "more than {MAX_KEYS} keys: leave out those that are not used any more"),
            Self::NotOne => f.write_str("expected exactly one key"),
        }
    }
}

impl Error for KeyProblem {}

/// What is wrong with a key file, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyFileError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: KeyProblem,
}

impl fmt::Display for KeyFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

impl Error for KeyFileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.problem)
    }
}
