//! What a server says about its sessions to whoever has not joined any yet.

use super::{MAX_NAME, Model};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// So many tags has a session at most.
pub const MAX_TAGS: usize = 16;
/// A tag's name is no longer, in bytes.
pub const MAX_TAG_NAME: usize = 64;
/// What a tag says is no longer, in bytes.
pub const MAX_TAG_VALUE: usize = 256;
/// So many sessions are told of at once at most: fewer if they have much to say.
pub const MAX_LISTED: usize = 64;

/// What the game itself says about a session: its map, its mode, whatever players choose by.
pub type Tags = BTreeMap<String, String>;

/// A session, as those know it who have not joined.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SessionInfo {
    /// What it is called.
    pub name: String,
    /// Who sends movement to whom.
    pub model: Model,
    /// Who is here, or may come back.
    pub players: u32,
    /// So many may be.
    pub max_players: u32,
    /// Whether a token is needed to join.
    pub token: bool,
    /// Whether nobody is let in any more.
    pub draining: bool,
    /// What the game says about it.
    pub tags: Tags,
}

impl SessionInfo {
    /// Whether somebody new may hope to get in.
    pub fn has_room(&self) -> bool {
        !self.draining && self.players < self.max_players
    }

    /// Whether everything in it is as long as it may be, and no longer. What comes from elsewhere is checked by this.
    pub fn check(&self) -> Result<(), InfoError> {
        if self.name.is_empty() || self.name.len() > MAX_NAME {
            return Err(InfoError::Name);
        }
        check_tags(&self.tags)
    }
}

/// Whether there are no more tags than there may be, and none is too long.
pub fn check_tags(tags: &Tags) -> Result<(), InfoError> {
    let fits = |(name, value): (&String, &String)| {
        !name.is_empty() && name.len() <= MAX_TAG_NAME && value.len() <= MAX_TAG_VALUE
    };
    if tags.len() > MAX_TAGS || !tags.iter().all(fits) { Err(InfoError::Tags) } else { Ok(()) }
}

/// Which sessions to tell of. The default is all of them.
///
/// ```
/// use evenkeel_session::protocol::{Filter, SessionInfo};
/// let arena = SessionInfo { name: "Blue arena".into(), max_players: 8, ..SessionInfo::default() };
/// assert!(Filter::default().admits(&arena));
/// assert!(Filter { name: "ARENA".into(), with_room: true, ..Filter::default() }.admits(&arena));
/// assert!(!Filter { tags: [("map".into(), "hills".into())].into(), ..Filter::default() }.admits(&arena));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Filter {
    /// Their names contain this, in capitals or not.
    pub name: String,
    /// They have these tags, and they say just that.
    pub tags: Tags,
    /// Somebody new may hope to get in.
    pub with_room: bool,
    /// Movement is sent like that.
    pub model: Option<Model>,
    /// For all the rest of a long answer: only those whose names come after this one. Sessions are told of by name.
    pub after: Option<String>,
}

impl Filter {
    /// Whether a session is one of those that are asked for.
    pub fn admits(&self, session: &SessionInfo) -> bool {
        let named = session.name.to_lowercase().contains(&self.name.to_lowercase());
        let tagged = self.tags.iter().all(|(name, value)| session.tags.get(name) == Some(value));
        let after = self.after.as_ref().is_none_or(|after| session.name > *after);
        let model = self.model.is_none_or(|model| session.model == model);
        named && tagged && after && model && (session.has_room() || !self.with_room)
    }

    /// Whether a stranger may ask for this: nothing in it is longer than what it could be compared to.
    pub fn check(&self) -> Result<(), InfoError> {
        if self.name.len() > MAX_NAME || self.after.as_ref().is_some_and(|after| after.len() > MAX_NAME) {
            return Err(InfoError::Name);
        }
        check_tags(&self.tags)
    }
}

/// What is too much about a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InfoError {
    /// The name is empty or too long.
    Name,
    /// There are too many tags, or one is too long.
    Tags,
}

impl fmt::Display for InfoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name => write!(f, "a session's name must have between 1 and {MAX_NAME} bytes"),
            Self::Tags => write!(
                f,
                "a session may have {MAX_TAGS} tags, with names of 1 to {MAX_TAG_NAME} bytes and values of up to \
                 {MAX_TAG_VALUE}"
            ),
        }
    }
}

impl std::error::Error for InfoError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> SessionInfo {
        SessionInfo { name: "hills".into(), players: 3, max_players: 4, ..SessionInfo::default() }
    }

    #[test]
    fn a_full_or_draining_session_has_no_room() {
        assert!(session().has_room());
        assert!(!SessionInfo { players: 4, ..session() }.has_room());
        assert!(!SessionInfo { draining: true, ..session() }.has_room());
    }

    #[test]
    fn whatever_is_too_long_is_noticed() {
        assert_eq!(session().check(), Ok(()));
        assert_eq!(SessionInfo { name: String::new(), ..session() }.check(), Err(InfoError::Name));
        assert_eq!(SessionInfo { name: "x".repeat(65), ..session() }.check(), Err(InfoError::Name));
        let tag = |name: &str, value: &str| Tags::from([(name.to_owned(), value.to_owned())]);
        for tags in [tag("", "x"), tag(&"x".repeat(65), ""), tag("x", &"x".repeat(257))] {
            assert_eq!(check_tags(&tags), Err(InfoError::Tags));
        }
        let many: Tags = (0..=MAX_TAGS).map(|n| (n.to_string(), String::new())).collect();
        assert_eq!(Filter { tags: many, ..Filter::default() }.check(), Err(InfoError::Tags));
        assert_eq!(Filter { after: Some("x".repeat(65)), ..Filter::default() }.check(), Err(InfoError::Name));
    }
}
