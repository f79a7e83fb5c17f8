//! Join tokens: who may join which session with which rights until when, signed by the operator.
//!
//! An operator keeps a [`SigningKey`] and hands a token to whoever may play, by whatever way players are known to it. A
//! server has only the [`VerifyingKey`]s, in a [`KeyRing`]: it checks a token before it makes any state for a
//! connection, and asks nobody. [`Uses`] sees to it that a token that was passed on or stolen is of use to one holder
//! at a time at most, and that a revoked one is of no use to anybody.
//!
//! Everything here is pure: what time it is, and bytes that nobody can guess, are arguments.
//!
//! ```
//! use evenkeel_net::token::{KeyRing, Player, Rights, SecondUse, SigningKey, Token, TokenError, TokenId, Uses};
//!
//! // The operator. The bytes come from the system's randomness; never from here.
//! let key = SigningKey::generate([7; 32]);
//! let token = Token {
//!     player: Player::Name("Ada".into()),
//!     session: "arena-3".into(),
//!     rights: Rights::JOIN | Rights::MOVE,
//!     not_before: 1_000,
//!     expires: 5_000,
//!     id: TokenId([9; 16]),
//!     max_entities: 4,
//! };
//! let text = key.sign_text(&token)?;
//!
//! // The server.
//! let ring = KeyRing::parse(&key.verifying_key().to_text())?;
//! let mut uses = Uses::new(SecondUse::Refused, 1_000, 1_000);
//! let checked = ring.verify(&text, 2_000, "arena-3")?;
//! let begun = uses.begin(&checked, 2_000)?;
//! assert_eq!(checked, token);
//!
//! // Whoever else has it has nothing as long as it is in use, and nothing after it expired.
//! assert_eq!(uses.begin(&checked, 2_001), Err(TokenError::InUse));
//! uses.end(begun.holder);
//! assert_eq!(ring.verify(&text, 5_000, "arena-3"), Err(TokenError::Expired { since: 5_000 }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What a token is worth
//!
//! Whoever has it is let in: it is a secret of its holder, to be sent over an encrypted connection only and to be kept
//! out of logs. What may be written down is its [`TokenId`], by which it is revoked.
//!
//! # Form
//!
//! Integers are little-endian; text is UTF-8. As text it is all of this in base64url without padding, on one line.
//!
//! | bytes | |
//! |---|---|
//! | 1 | the version, 1 |
//! | 8 | the [`KeyId`] of the key that signed |
//! | 1 | [`Rights`] |
//! | 4 | how many entities at most |
//! | 8, 8 | not before, expires: Unix seconds |
//! | 16 | the [`TokenId`] |
//! | 1 + 8, or 1 + n | the player: 0 and a number, or the length of a name (1 to 64) and the name |
//! | 1 + n | the session: its length (1 to 64) and its name |
//! | 64 | the Ed25519 signature of [`DOMAIN`] and all of the above |

mod error;
mod key_file;
mod key_ring;
mod keys;
mod revocations;
mod rights;
mod uses;
mod wire;

pub use error::{Fault, KeyFileError, KeyProblem, Malformed, TokenError};
pub use key_ring::{KeyRing, MAX_KEYS, Window};
pub use keys::{KeyId, SigningKey, VerifyingKey};
pub use revocations::{RevocationError, Revocations};
pub use rights::{Rights, UnknownRight};
pub use uses::{Begun, Holder, RegisterFull, SecondUse, Uses};
pub use wire::{DOMAIN, MAX_BYTES, MAX_TEXT, VERSION};

use data_encoding::HEXLOWER;
use std::fmt;
use std::str::FromStr;

/// Names of players and sessions have at most this many bytes.
pub const MAX_NAME: usize = 64;

/// No token is valid for longer than this many seconds, which is a leap year.
///
/// What is stolen is worth something no longer than that, and what is revoked need be remembered no longer.
pub const MAX_LIFETIME: u64 = 366 * 24 * 3600;

/// Who may do what, where and when.
///
/// The fields are anybody's to set: only what [`KeyRing::verify`] returned was granted by the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Who it is for.
    pub player: Player,
    /// The session it is for: 1 to [`MAX_NAME`] bytes without control characters.
    pub session: String,
    /// What its holder may do there.
    pub rights: Rights,
    /// From when on it is valid, in Unix seconds. A minute early spares those whose clocks are late.
    pub not_before: u64,
    /// From when on it is not valid any more, in Unix seconds; at most [`MAX_LIFETIME`] after `not_before`.
    pub expires: u64,
    /// By what it is told from all others: random.
    pub id: TokenId,
    /// How many entities its holder may move at the same time: none without [`Rights::MOVE`], one or more with it.
    pub max_entities: u32,
}

impl Token {
    /// What is wrong with it, if anything: such a token can neither be signed nor is it accepted.
    pub fn validate(&self) -> Result<(), Fault> {
        if let Player::Name(name) = &self.player
            && !is_name(name)
        {
            return Err(Fault::Player);
        }
        if !is_name(&self.session) {
            return Err(Fault::Session);
        }
        if !self.rights.are_consistent() {
            return Err(Fault::Rights);
        }
        if self.rights.contains(Rights::MOVE) != (self.max_entities > 0) {
            return Err(Fault::Entities);
        }
        match self.expires.checked_sub(self.not_before) {
            Some(1..=MAX_LIFETIME) => Ok(()),
            _ => Err(Fault::Lifetime),
        }
    }
}

/// Names end up in logs and on screens: what would start a new line there is no name.
fn is_name(text: &str) -> bool {
    (1..=MAX_NAME).contains(&text.len()) && !text.chars().any(char::is_control)
}

/// Whom a token is for: as the operator knows them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Player {
    /// By number.
    Number(u64),
    /// By name: 1 to [`MAX_NAME`] bytes without control characters.
    Name(String),
}

impl fmt::Display for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "#{number}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// By what a token is told from all others: 128 random bits. Not a secret.
///
/// ```
/// use evenkeel_net::token::TokenId;
/// let id = TokenId([0xAB; 16]);
/// assert_eq!(id.to_string().parse(), Ok(id));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenId(pub [u8; 16]);

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenId({self})")
    }
}

impl FromStr for TokenId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        from_hex(text).map(Self)
    }
}

/// What was read is not an id: as many hexadecimal digits as it has, in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnId {
    digits: usize,
}

impl fmt::Display for NotAnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not an id: expected {} hexadecimal digits in lower case", self.digits)
    }
}

impl std::error::Error for NotAnId {}

fn from_hex<const N: usize>(text: &str) -> Result<[u8; N], NotAnId> {
    let wrong = NotAnId { digits: 2 * N };
    // The length first: nothing is set aside for what is too long.
    if text.len() != 2 * N {
        return Err(wrong);
    }
    let bytes = HEXLOWER.decode(text.as_bytes()).map_err(|_| wrong)?;
    bytes.try_into().map_err(|_| wrong)
}
