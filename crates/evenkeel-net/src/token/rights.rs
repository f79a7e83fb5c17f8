//! What a token's holder may do.

use std::fmt;
use std::ops::BitOr;
use std::str::FromStr;

/// What a token's holder may do: a set.
///
/// ```
/// use evenkeel_net::token::Rights;
/// let rights = Rights::JOIN | Rights::MOVE;
/// assert!(rights.contains(Rights::MOVE) && !rights.contains(Rights::ADMIN));
/// assert_eq!(rights.to_string(), "join+move");
/// assert_eq!("join+move".parse(), Ok(rights));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Rights(u8);

impl Rights {
    /// To take a player's place.
    pub const JOIN: Self = Self(1);
    /// To move entities, as many as the token says. Only together with [`JOIN`](Self::JOIN).
    pub const MOVE: Self = Self(2);
    /// To watch and nothing else: never together with [`JOIN`](Self::JOIN).
    pub const OBSERVE: Self = Self(4);
    /// To command the server.
    pub const ADMIN: Self = Self(8);

    const NAMES: [(Self, &str); 4] =
        [(Self::JOIN, "join"), (Self::MOVE, "move"), (Self::OBSERVE, "observe"), (Self::ADMIN, "admin")];

    /// The set as bits.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The set of these bits, if all of them mean something.
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits < 16 { Some(Self(bits)) } else { None }
    }

    /// Whether all of `other` are in the set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether the set is one that can be granted: not empty, and nothing in it contradicts the rest.
    pub const fn are_consistent(self) -> bool {
        let joins = self.contains(Self::JOIN);
        let contradicts = (self.contains(Self::MOVE) && !joins) || (self.contains(Self::OBSERVE) && joins);
        self.0 != 0 && !contradicts
    }
}

impl BitOr for Rights {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Display for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut between = "";
        for (_, name) in Self::NAMES.iter().filter(|(right, _)| self.contains(*right)) {
            write!(f, "{between}{name}")?;
            between = "+";
        }
        Ok(())
    }
}

impl fmt::Debug for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rights({self})")
    }
}

impl FromStr for Rights {
    type Err = UnknownRight;

    fn from_str(text: &str) -> Result<Self, UnknownRight> {
        text.split('+').try_fold(Self::default(), |rights, word| {
            let found = Self::NAMES.iter().find(|(_, name)| *name == word);
            found.map(|(right, _)| rights | *right).ok_or(UnknownRight)
        })
    }
}

/// A word that names no right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownRight;

impl fmt::Display for UnknownRight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rights are join, move, observe and admin, with + between them")
    }
}

impl std::error::Error for UnknownRight {}
