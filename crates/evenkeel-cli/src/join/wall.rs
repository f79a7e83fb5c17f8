//! The time that all processes of one machine have in common, and that nothing under test ever touches.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Nanoseconds since 1970, going on with the monotone clock from when this was made: a wall clock that is set in the middle of a
/// run does not matter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wall {
    unix: i64,
    at: Instant,
}

impl Wall {
    pub(crate) fn new() -> Self {
        // The pair that was read fastest: between two reads the system may do something else.
        let pair = || {
            let before = Instant::now();
            let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let took = before.elapsed();
            (took, i64::try_from(unix.as_nanos()).unwrap_or(i64::MAX), before + took / 2)
        };
        let best = (0..16).map(|_| pair()).min_by_key(|(took, ..)| *took).unwrap_or_else(pair);
        Self { unix: best.1, at: best.2 }
    }

    pub(crate) fn now(&self) -> i64 {
        let since = i64::try_from(self.at.elapsed().as_nanos()).unwrap_or(i64::MAX);
        self.unix.saturating_add(since)
    }

    /// Sleeps until then.
    pub(crate) fn sleep_until(&self, unix: i64) {
        let left = unix.saturating_sub(self.now());
        if left > 0 {
            std::thread::sleep(std::time::Duration::from_nanos(left as u64));
        }
    }
}
