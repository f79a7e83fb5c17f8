//! What a sender knows about the way to one receiver: round trips, one-way delay, and which reception times to believe.
//!
//! The policies give more to whoever suffers more, so a receiver gains by pretending to suffer. A claimed reception time
//! is therefore booked only within what the sender's own round trips allow (see [`PathEstimate::longest_plausible`]). A constant lie
//! within the round trip cannot be told from an asymmetric path by anybody; everything beyond it is cut off here.

use crate::time::{Duration, GlobalTime};

/// Slack above the longest plausible delay, before jitter.
const MARGIN: Duration = Duration::from_millis(5);
/// The smallest round trip is the smallest of the last one to two spans of this length, so that it can rise again when a
/// route changes.
const FLOOR_SPAN: Duration = Duration::from_secs(60);

/// So many round trips must have been measured before claims are held against them.
const ROUND_TRIPS_FOR_BOUNDS: u32 = 8;

/// The delay to one receiver, estimated from receipts and round trips.
#[derive(Clone, Copy, Debug, Default)]
pub struct PathEstimate {
    delay: Option<Duration>,
    delay_deviation: Duration,
    round_trip: Option<Duration>,
    /// The smallest round trip of this span and of the one before.
    floors: [Option<Duration>; 2],
    floor_since: GlobalTime,
    /// How many round trips were measured, up to what bounds need.
    round_trips: u32,
    /// Mean and mean deviation of how far round trips exceed the smallest.
    excess: Duration,
    excess_deviation: Duration,
}

impl PathEstimate {
    /// The one-way delay to expect, once there has been a receipt.
    pub fn delay(&self) -> Option<Duration> {
        self.delay
    }

    /// How much single delays deviate from that on average.
    pub fn jitter(&self) -> Duration {
        self.delay_deviation
    }

    /// The smoothed round trip.
    pub fn round_trip(&self) -> Option<Duration> {
        self.round_trip
    }

    /// The smallest round trip of the last minute or two.
    pub fn least_round_trip(&self) -> Option<Duration> {
        match self.floors {
            [Some(a), Some(b)] => Some(a.min(b)),
            [a, b] => a.or(b),
        }
    }

    /// Takes in one round trip measured by the sender itself.
    pub fn observe_round_trip(&mut self, round_trip: Duration, now: GlobalTime) {
        if round_trip <= Duration::ZERO {
            return;
        }
        if now.since(self.floor_since) > FLOOR_SPAN {
            self.floors = [None, self.floors[0]];
            self.floor_since = now;
        }
        self.floors[0] = Some(self.floors[0].map_or(round_trip, |floor| floor.min(round_trip)));
        self.round_trips = (self.round_trips + 1).min(ROUND_TRIPS_FOR_BOUNDS);
        let excess = round_trip - self.least_round_trip().unwrap_or(round_trip);
        self.excess_deviation = smooth(self.excess_deviation, (excess - self.excess).abs());
        self.excess = smooth(self.excess, excess);
        self.round_trip = Some(self.round_trip.map_or(round_trip, |mean| smooth(mean, round_trip)));
    }

    /// Takes in one accepted one-way delay.
    pub fn observe_delay(&mut self, delay: Duration) {
        match self.delay {
            None => self.delay = Some(delay),
            Some(mean) => {
                self.delay_deviation = smooth(self.delay_deviation, (delay - mean).abs());
                self.delay = Some(smooth(mean, delay));
            }
        }
    }

    /// The longest delay that can have been part of this round trip, by all the round trips there were; `None` while there
    /// have been too few to know the jitter.
    ///
    /// The way back takes some time too: no less than three quarters of half the smallest round trip, less 5 ms. And the way
    /// there takes no more than 1.25 times that half, plus 5 ms and the jitter that round trips showed: the smallest of a few
    /// jittery round trips is not yet the smallest possible. The quarter is what an honest receiver on an asymmetric path
    /// needs in order not to lose; a liar gains little by it. There is no shortest delay: nobody gains by claiming to have
    /// been served sooner, and an honest receiver with a slow way back is.
    pub fn longest_plausible(&self, round_trip: Duration) -> Option<Duration> {
        if self.round_trips < ROUND_TRIPS_FOR_BOUNDS {
            return None;
        }
        let half = self.least_round_trip()? / 2;
        let jitter = self.excess + self.excess_deviation * 4;
        let way_back = half - half / 4;
        Some((round_trip - way_back).min(half + half / 4 + jitter) + MARGIN)
    }

    /// After how long without a receipt a vector counts as lost: a round trip and 600 ms, in which a receipt is repeated
    /// twice; a second in all while nothing is known.
    pub fn loss_after(&self) -> Duration {
        let round_trip = self.round_trip.or(self.delay.map(|d| d * 2)).unwrap_or(Duration::from_millis(400));
        round_trip.max(self.delay.unwrap_or(Duration::ZERO) * 2) + Duration::from_millis(600)
    }

    /// For how long what was sent this way must be remembered, if `history` is asked for: late receipts of lost datagrams
    /// take a few round trips.
    pub fn memory(&self, history: Duration) -> Duration {
        let round_trips = self.round_trip.unwrap_or(Duration::ZERO) * 3 + Duration::from_secs(1);
        history.max(round_trips.min(Duration::from_secs(15)))
    }

    /// How much later a datagram may leave than another one and still arrive before it, without the other being lost.
    pub fn reordering(&self) -> Duration {
        (self.delay_deviation * 6).max(Duration::from_millis(30))
    }
}

/// An eighth of the new value into the mean, in whole nanoseconds: equal values leave it exactly equal.
fn smooth(mean: Duration, value: Duration) -> Duration {
    mean + (value - mean) / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_delays_are_estimated_exactly() {
        let mut path = PathEstimate::default();
        for _ in 0..100 {
            path.observe_delay(Duration::from_nanos(123_456_789));
        }
        assert_eq!(path.delay(), Some(Duration::from_nanos(123_456_789)));
        assert_eq!(path.jitter(), Duration::ZERO);
    }

    #[test]
    fn an_honest_delay_is_within_the_bounds_and_a_second_more_is_not() {
        let mut path = PathEstimate::default();
        let typical = Duration::from_millis(220);
        assert_eq!(path.longest_plausible(typical), None);
        for i in 0..200i64 {
            let jitter = Duration::from_millis(i * 37 % 40);
            path.observe_round_trip(Duration::from_millis(200) + jitter, GlobalTime::from_millis(i * 100));
        }
        let longest = path.longest_plausible(typical).unwrap();
        assert!(longest >= Duration::from_millis(140) && longest < Duration::from_millis(160), "{longest}");
    }

    #[test]
    fn the_smallest_round_trip_forgets_an_old_route() {
        let mut path = PathEstimate::default();
        for i in 0..400 {
            let round_trip = if i < 100 { 20 } else { 80 };
            path.observe_round_trip(Duration::from_millis(round_trip), GlobalTime::from_millis(i * 1000));
        }
        assert_eq!(path.least_round_trip(), Some(Duration::from_millis(80)));
    }
}
