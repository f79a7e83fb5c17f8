//! How a lobby is set up, and why it takes no session.

use crate::hub::{HubConfig, ImportError};
use crate::protocol::InfoError;
use evenkeel::{ConfigError, Duration};
use std::fmt;

/// So many sessions has a lobby at most.
pub const MAX_SESSIONS: usize = 1_024;

/// How a [`Lobby`](super::Lobby) is set up. Start from the default and change what matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LobbyConfig {
    /// Connections at once that have not joined a session. Default: 256.
    pub max_guests: usize,
    /// So many of them come from one source: one address, or one /64 of IPv6. Default: 32.
    pub max_guests_per_source: usize,
    /// How long such a connection may be silent. Default: 5 s.
    pub speak_within: Duration,
    /// How long it may look around without joining. Default: 60 s.
    pub join_within: Duration,
    /// Lists a second that it may ask for. Default: 4.
    pub lists_per_second: u32,
}

impl Default for LobbyConfig {
    fn default() -> Self {
        Self {
            max_guests: 256,
            max_guests_per_source: 32,
            speak_within: Duration::from_secs(5),
            join_within: Duration::from_secs(60),
            lists_per_second: 4,
        }
    }
}

impl LobbyConfig {
    /// As patient with guests, and with as many, as the most generous of these sessions would be on its own.
    pub fn of(sessions: &[HubConfig]) -> Self {
        let usual = Self::default();
        let max_guests = sessions.iter().map(|session| session.max_guests).max().unwrap_or(usual.max_guests);
        let speak_within = sessions.iter().map(|session| session.hello_within).max().unwrap_or(usual.speak_within);
        // However little room there is, no source takes more than half of it.
        let max_guests_per_source = usual.max_guests_per_source.min(max_guests.div_ceil(2));
        let join_within = usual.join_within.max(speak_within);
        Self { max_guests, max_guests_per_source, speak_within, join_within, ..usual }
    }
}

/// Why a session was not added. Nothing changed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AddError {
    /// It is set up wrongly.
    Config(ConfigError),
    /// Its name or its tags are not as they must be.
    Info(InfoError),
    /// There is one of that name.
    Taken(String),
    /// There are as many as there may be.
    TooMany,
    /// It was to go on from another server, and cannot.
    Import(ImportError),
}

impl fmt::Display for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Info(error) => error.fmt(f),
            Self::Taken(name) => write!(f, "there is a session named {name} already: choose another name"),
            Self::Import(error) => error.fmt(f),
            Self::TooMany => write!(f, "there are {MAX_SESSIONS} sessions already: remove one first"),
        }
    }
}

impl std::error::Error for AddError {}
