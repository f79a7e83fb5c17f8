//! When something last came from where: the stamps of datagrams and messages.
//!
//! Between the socket and whoever reads a datagram there are two tasks of QUIC's, and a busy machine may take its time
//! between them. So the socket notes when it got the last packet from each address. A datagram's own packet came then or
//! before: the stamp is never too early, and too late by no more than what came in between.

use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So many addresses are kept apart; of two that share a place the later is known.
const PLACES: usize = 1024;

/// What is older says nothing about what is read now: the peer has just changed its address.
const STALE: Duration = Duration::from_millis(250);

type Place = Mutex<Option<((IpAddr, u16), Instant)>>;

/// When something last came from where. Bounded, however many strangers there are.
pub(super) struct Arrivals {
    hasher: RandomState,
    places: Vec<Place>,
}

impl Arrivals {
    pub fn new() -> Self {
        Self { hasher: RandomState::new(), places: (0..PLACES).map(|_| Mutex::default()).collect() }
    }

    /// Something came.
    pub fn note(&self, from: SocketAddr, at: Instant) {
        let key = (from.ip().to_canonical(), from.port());
        *self.place(key).lock().unwrap_or_else(PoisonError::into_inner) = Some((key, at));
    }

    /// When that was which is read now.
    pub fn stamp(&self, from: SocketAddr, now: Instant) -> Instant {
        let key = (from.ip().to_canonical(), from.port());
        match *self.place(key).lock().unwrap_or_else(PoisonError::into_inner) {
            Some((found, at)) if found == key && now.saturating_duration_since(at) < STALE => at.min(now),
            _ => now,
        }
    }

    fn place(&self, key: (IpAddr, u16)) -> &Place {
        // There is always at least one place, and the remainder is below their number.
        &self.places[self.hasher.hash_one(key) as usize % PLACES]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_packet_from_there_counts_and_nothing_else_does() {
        let arrivals = Arrivals::new();
        let [here, there] = ["127.0.0.1:1", "127.0.0.1:2"].map(|text| text.parse().unwrap());
        let start = Instant::now();
        let after = |millis| start + Duration::from_millis(millis);
        assert_eq!(arrivals.stamp(here, after(5)), after(5), "nothing is known");
        arrivals.note(here, after(1));
        arrivals.note(here, after(3));
        assert_eq!(arrivals.stamp(here, after(5)), after(3));
        assert_eq!(arrivals.stamp("[::ffff:127.0.0.1]:1".parse().unwrap(), after(5)), after(3));
        assert_eq!(arrivals.stamp(there, after(5)), after(5));
        assert_eq!(arrivals.stamp(here, after(2)), after(2), "never later than now");
        assert_eq!(arrivals.stamp(here, after(1000)), after(1000), "too old");
    }
}
