//! Names for hosts and entities, and the numbers of vectors.

use core::fmt;
use core::num::NonZeroU32;

/// A moving thing, named by the game and known by the same number at every host of the session.
///
/// ```
/// use evenkeel::EntityId;
/// assert_eq!(EntityId(7).to_string(), "entity 7");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct EntityId(pub u32);

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entity {}", self.0)
    }
}

/// A participant of the session. The same host is a sender of its own entities and a receiver of everybody else's.
///
/// ```
/// use evenkeel::HostId;
/// assert_eq!(HostId(2).to_string(), "host 2");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct HostId(pub u32);

impl fmt::Display for HostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "host {}", self.0)
    }
}

/// The number of a DR vector. It counts the vectors at an entity's place in the ledger, from 1. A vector that may be missing is an
/// `Option<VectorNumber>`, which takes no more space.
///
/// ```
/// use evenkeel::VectorNumber;
/// let second = VectorNumber::FIRST.next();
/// assert_eq!((second.get(), second.previous()), (2, Some(VectorNumber::FIRST)));
/// assert_eq!(second.since(VectorNumber::FIRST), Some(1));
/// assert_eq!(VectorNumber::new(0), None);
/// assert_eq!(second.to_string(), "vector 2");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct VectorNumber(NonZeroU32);

impl VectorNumber {
    /// The first vector.
    pub const FIRST: Self = Self(NonZeroU32::MIN);

    /// The vector with this number; `None` for zero, which no vector has.
    pub const fn new(number: u32) -> Option<Self> {
        match NonZeroU32::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// The number itself.
    pub const fn get(self) -> u32 {
        self.0.get()
    }

    /// The vector after this one. The last number that can be written is followed by itself.
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The vector before this one; `None` before the first.
    pub const fn previous(self) -> Option<Self> {
        Self::new(self.get() - 1)
    }

    /// How many vectors later this one is than an older one; `None` if the other one is newer.
    pub const fn since(self, older: Self) -> Option<u32> {
        self.get().checked_sub(older.get())
    }
}

impl fmt::Display for VectorNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "vector {}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vector_numbers_end_at_both_ends() {
        let last = VectorNumber::new(u32::MAX).unwrap();
        assert_eq!(last.next(), last);
        assert_eq!(VectorNumber::FIRST.previous(), None);
        assert_eq!((VectorNumber::FIRST.since(last), last.since(VectorNumber::FIRST)), (None, Some(u32::MAX - 1)));
    }

    #[test]
    fn no_vector_takes_no_space_and_comes_before_all() {
        assert_eq!(size_of::<Option<VectorNumber>>(), size_of::<u32>());
        assert!(None < Some(VectorNumber::FIRST));
    }
}
