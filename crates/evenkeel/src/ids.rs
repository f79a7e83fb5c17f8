//! Names for hosts and entities.

use core::fmt;

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
