//! How many handshakes one source may ask for: they are the most expensive thing a stranger can make a server do.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// So many at once, and so many per second in the long run.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// How many may come at once.
    pub burst: u32,
    /// How many per second may follow.
    pub per_second: f64,
}

impl Default for Rate {
    /// Enough for a school class behind one address.
    fn default() -> Self {
        Self { burst: 32, per_second: 4.0 }
    }
}

/// So many sources are told apart.
const SOURCES: usize = 16_384;

/// One bucket per source.
pub(super) struct Gate {
    rate: Rate,
    state: Mutex<State>,
}

struct State {
    sources: HashMap<IpAddr, Bucket>,
    /// Whoever comes when the table is full shares this one, so that neither memory grows nor the gate stands open.
    rest: Bucket,
}

#[derive(Clone, Copy)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

impl Bucket {
    fn filled(self, rate: Rate, now: Instant) -> f64 {
        let waited = now.saturating_duration_since(self.at).as_secs_f64();
        (self.tokens + waited * rate.per_second).min(f64::from(rate.burst))
    }

    fn take(&mut self, rate: Rate, now: Instant) -> bool {
        self.tokens = self.filled(rate, now);
        self.at = now;
        let enough = self.tokens >= 1.0;
        if enough {
            self.tokens -= 1.0;
        }
        enough
    }
}

impl Gate {
    pub fn new(rate: Rate, now: Instant) -> Self {
        let rest = Bucket { tokens: f64::from(rate.burst), at: now };
        Self { rate, state: Mutex::new(State { sources: HashMap::new(), rest }) }
    }

    /// Whether a handshake from there may go on.
    pub fn pass(&self, address: IpAddr, now: Instant) -> bool {
        let rate = self.rate;
        let source = source(address);
        let mut state = self.lock();
        if let Some(bucket) = state.sources.get_mut(&source) {
            return bucket.take(rate, now);
        }
        if state.sources.len() >= SOURCES {
            // A full bucket says no more than none.
            state.sources.retain(|_, bucket| bucket.filled(rate, now) < f64::from(rate.burst));
        }
        if state.sources.len() >= SOURCES {
            return state.rest.take(rate, now);
        }
        let mut bucket = Bucket { tokens: f64::from(rate.burst), at: now };
        let passed = bucket.take(rate, now);
        state.sources.insert(source, bucket);
        passed
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An IPv6 customer has at least a /64 to choose addresses from; an IPv4 address is the same however it is written.
pub(crate) fn source(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => Ipv6Addr::from(u128::from(v6) & (u128::MAX << 64)).into(),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn v4(n: u32) -> IpAddr {
        std::net::Ipv4Addr::from(n).into()
    }

    #[test]
    fn a_burst_then_the_rate() {
        let start = Instant::now();
        let gate = Gate::new(Rate { burst: 3, per_second: 2.0 }, start);
        assert_eq!((0..10).filter(|_| gate.pass(v4(1), start)).count(), 3);
        assert!(gate.pass(v4(2), start), "another source is another matter");
        let later = start + Duration::from_secs(1);
        assert_eq!((0..10).filter(|_| gate.pass(v4(1), later)).count(), 2);
    }

    #[test]
    fn addresses_of_one_customer_are_one_source() {
        let start = Instant::now();
        let gate = Gate::new(Rate { burst: 1, per_second: 0.0 }, start);
        assert!(gate.pass("2001:db8::1".parse().unwrap(), start));
        assert!(!gate.pass("2001:db8::2".parse().unwrap(), start));
        assert!(gate.pass("2001:db8:0:1::1".parse().unwrap(), start));
        assert!(gate.pass("127.0.0.1".parse().unwrap(), start));
        assert!(!gate.pass("::ffff:127.0.0.1".parse().unwrap(), start));
    }

    #[test]
    fn the_table_is_bounded_and_forgets_the_idle() {
        let start = Instant::now();
        let gate = Gate::new(Rate { burst: 2, per_second: 1.0 }, start);
        let passed = (0..SOURCES as u32 + 100).filter(|n| gate.pass(v4(*n), start)).count();
        assert_eq!(passed, SOURCES + 2, "those beyond the table share one bucket");
        assert_eq!(gate.lock().sources.len(), SOURCES);
        assert!(gate.pass(v4(u32::MAX), start + Duration::from_secs(10)));
        assert_eq!(gate.lock().sources.len(), 1);
    }
}
