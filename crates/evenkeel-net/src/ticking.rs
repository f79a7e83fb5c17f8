//! This host's monotone clock, as the heart counts it.

use evenkeel::{GlobalTime, Instant};
use evenkeel_link::HostClock;
use std::sync::Arc;

/// Turns the operating system's monotone time into the heart's: nanoseconds since this was made, or what a clock that is wrong
/// on purpose shows then.
#[derive(Clone, Debug)]
pub(crate) struct Ticking {
    origin: std::time::Instant,
    wrong: Option<Arc<HostClock>>,
}

impl Ticking {
    pub(crate) fn new(wrong: Option<HostClock>) -> Self {
        Self { origin: std::time::Instant::now(), wrong: wrong.map(Arc::new) }
    }

    pub(crate) fn now(&self) -> Instant {
        self.at(std::time::Instant::now())
    }

    pub(crate) fn at(&self, at: std::time::Instant) -> Instant {
        let nanos = match at.checked_duration_since(self.origin) {
            Some(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
            None => -i64::try_from(self.origin.duration_since(at).as_nanos()).unwrap_or(i64::MAX),
        };
        match &self.wrong {
            Some(wrong) => wrong.read(GlobalTime::from_nanos(nanos)),
            None => Instant::from_nanos(nanos),
        }
    }

    /// When to wake up for something that is due then; at once if that has passed.
    pub(crate) fn wake(&self, due: Instant) -> tokio::time::Instant {
        let wait = due.since(self.now()).as_nanos().max(0);
        tokio::time::Instant::now() + std::time::Duration::from_nanos(wait as u64)
    }
}
