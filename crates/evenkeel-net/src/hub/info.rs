//! What a session says of itself to those who have not joined.

use super::Hub;
use crate::protocol::{InfoError, SessionInfo, Tags, check_tags};

impl Hub {
    /// The session, as those know it who have not joined.
    pub fn info(&self) -> SessionInfo {
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        SessionInfo {
            name: self.config.session.clone(),
            model: self.config.model,
            players: count(self.members.len()),
            max_players: count(self.config.max_players),
            token: self.config.token_needed,
            draining: self.is_draining(),
            tags: self.config.tags.clone(),
        }
    }

    /// What the game says about the session from now on. Too much of it is refused, and nothing changes.
    pub fn set_tags(&mut self, tags: Tags) -> Result<(), InfoError> {
        check_tags(&tags)?;
        self.config.tags = tags;
        Ok(())
    }
}
