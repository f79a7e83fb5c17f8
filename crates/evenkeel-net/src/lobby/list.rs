//! The list of sessions, as much of it as fits.

use super::Lobby;
use crate::protocol::{self, Filter, MAX_LISTED, MAX_MESSAGE, ToPlayer};

/// So many bytes of a message are for what is not sessions.
const SPARE: usize = 64;

impl Lobby {
    /// The first sessions that a filter admits, as many as fit into one message.
    pub(super) fn list(&self, filter: &Filter) -> ToPlayer {
        let (mut listed, mut size, mut more) = (Vec::new(), SPARE, false);
        for session in self.sessions().filter(|session| filter.admits(session)) {
            size += protocol::encode(&session).map_or(MAX_MESSAGE, |bytes| bytes.len());
            more = listed.len() >= MAX_LISTED || size > MAX_MESSAGE;
            if more {
                break;
            }
            listed.push(session);
        }
        ToPlayer::Sessions { sessions: listed, more }
    }
}
