//! How a server is set up.

use crate::hub::HubConfig;
use crate::transport::ListenConfig;
use evenkeel::{Duration, Instant};
use evenkeel_link::HostClock;
use std::time::SystemTime;

/// How a [`Server`](super::Server) is set up. Start from [`ServerConfig::new`] and change what matters.
pub struct ServerConfig {
    /// Where and how to listen.
    pub listen: ListenConfig,
    /// The sessions; one at least, and the first is there for as long as the server is.
    pub sessions: Vec<HubConfig>,
    /// A clock that is wrong on purpose, for testing. Default: this host's own.
    pub host_clock: Option<HostClock>,
}

impl ServerConfig {
    /// A server of one session.
    pub fn new(listen: ListenConfig, session: HubConfig) -> Self {
        Self { listen, sessions: vec![session], host_clock: None }
    }
}

/// Gives a session secrets if it has none, and lets its time go on where it was before a restart: it is the time since 1970, unless the session says otherwise.
pub(super) fn dated(session: HubConfig, now: Instant) -> HubConfig {
    let origin = session.origin.unwrap_or(since_1970() - Duration::from_nanos(now.as_nanos()));
    HubConfig { origin: Some(origin), secret: crate::secret(session.secret), ..session }
}

/// By this host's wall clock.
pub(super) fn since_1970() -> Duration {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    Duration::from_nanos(i64::try_from(since.as_nanos()).unwrap_or(0))
}
