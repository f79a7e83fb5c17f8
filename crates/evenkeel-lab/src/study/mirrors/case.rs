//! What is compared: where servers are, how they keep in step, what befalls them.

use super::map::Map;
use crate::study::measure::millis;
use evenkeel::{Duration, Synchronisation};

/// The jitter between regions, where there is any: either way.
pub(super) const JITTER_MS: f64 = 20.0;
/// Servers and the longest delay between them.
pub(super) const MAPS: [(usize, f64); 5] = [(2, 80.0), (3, 80.0), (4, 80.0), (3, 40.0), (3, 120.0)];
/// The longest delays, for the central server.
pub(super) const DELAYS_MS: [f64; 3] = [40.0, 80.0, 120.0];
/// Shares of the longest delay that operations wait for, from optimistic to conservative.
pub(super) const SHARES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// What is unusual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Twist {
    /// Nothing.
    None,
    /// Nothing is rolled back: what comes late is refused.
    NoRollback,
    /// Packets between two of the servers are held up for longer than the history.
    Spike,
}

/// One way to run a game on servers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Case {
    pub(super) map: Map,
    pub(super) how: Synchronisation,
    /// Whether the lag is for the longest delay with its jitter, or without.
    pub(super) jitter_in_lag: bool,
    pub(super) twist: Twist,
}

impl Case {
    /// Mirrors that wait for a share of the longest delay, without the jitter.
    pub(super) fn mirrors(servers: usize, delay_ms: f64, jitter_ms: f64, share: f64) -> Self {
        let map = Map { servers, delay_ms, jitter_ms };
        Self { map, how: synchronisation(share), jitter_in_lag: false, twist: Twist::None }
    }

    /// A single server.
    pub(super) fn central(delay_ms: f64, jitter_ms: f64) -> Self {
        Self::mirrors(1, delay_ms, jitter_ms, 0.0)
    }

    /// Mirrors that wait for the longest delay that occurs, jitter included.
    pub(super) fn with_bound(servers: usize, delay_ms: f64) -> Self {
        Self { jitter_in_lag: true, ..Self::mirrors(servers, delay_ms, JITTER_MS, 1.0) }
    }

    pub(super) fn twisted(twist: Twist) -> Self {
        Self { twist, ..Self::mirrors(3, 80.0, 0.0, 0.0) }
    }

    /// How long operations wait.
    pub(super) fn lag(&self) -> Duration {
        let jitter_ms = if self.jitter_in_lag { self.map.jitter_ms } else { 0.0 };
        self.how.lag([millis(self.map.delay_ms + jitter_ms)])
    }

    /// How servers keep in step, in words.
    pub(super) fn name(&self) -> String {
        match (self.how, self.map.servers) {
            (_, 1) => "central".into(),
            (Synchronisation::Conservative, _) if self.jitter_in_lag => "conservative + jitter".into(),
            (Synchronisation::Conservative, _) => "conservative".into(),
            (Synchronisation::Partial { share }, _) => format!("partial {share}"),
            (Synchronisation::Optimistic, _) => "optimistic".into(),
        }
    }
}

fn synchronisation(share: f64) -> Synchronisation {
    match share {
        0.0 => Synchronisation::Optimistic,
        1.0 => Synchronisation::Conservative,
        share => Synchronisation::Partial { share },
    }
}

/// All that is run in the arena.
pub(super) fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for jitter_ms in [0.0, JITTER_MS] {
        cases.extend(DELAYS_MS.map(|delay_ms| Case::central(delay_ms, jitter_ms)));
        for (servers, delay_ms) in MAPS {
            cases.extend(SHARES.map(|share| Case::mirrors(servers, delay_ms, jitter_ms, share)));
        }
    }
    cases.extend(MAPS.map(|(servers, delay_ms)| Case::with_bound(servers, delay_ms)));
    cases.extend([Twist::NoRollback, Twist::Spike].map(Case::twisted));
    cases
}

/// What is run with spaceships.
pub(super) fn ships() -> Vec<Case> {
    SHARES.map(|share| Case::mirrors(3, 80.0, 0.0, share)).to_vec()
}
