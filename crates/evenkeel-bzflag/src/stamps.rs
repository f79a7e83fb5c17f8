//! When a client's clock says it was, by the relay's.

use evenkeel::{Duration, GlobalTime};
use std::collections::VecDeque;

/// The middle one of the last `N` durations: one that was held up, or came early, counts for no more than any other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent<const N: usize> {
    values: VecDeque<Duration>,
}

impl<const N: usize> Recent<N> {
    pub(crate) fn add(&mut self, value: Duration) {
        if self.values.len() == N {
            self.values.pop_front();
        }
        self.values.push_back(value);
    }

    pub(crate) fn middle(&self) -> Option<Duration> {
        let mut sorted: Vec<Duration> = self.values.iter().copied().collect();
        let half = sorted.len() / 2;
        (half < sorted.len()).then(|| *sorted.select_nth_unstable(half).1)
    }
}

/// A stamp that is farther off than this is another clock's.
const JUMP: Duration = Duration::from_secs(10);

/// Maps the stamps of one client's updates to the relay's time: an update that was held up arrives late, but was made when its stamp
/// says.
///
/// Not by the update that came fastest: a frame that began late ends on time, so that what it sends is less than a frame old.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stamps {
    /// Between stamp and arrival.
    offsets: Recent<64>,
}

impl Stamps {
    /// Takes in a stamp that arrives now.
    pub(crate) fn observe(&mut self, stamp: f32, now: GlobalTime) {
        let offset = now.since(at(stamp));
        // A client that started anew, or whose clock was set, is another clock.
        if self.offsets.middle().is_some_and(|known| (offset - known).abs() > JUMP) {
            *self = Self::default();
        }
        self.offsets.add(offset);
    }

    /// When, by the relay's clock, an update with this stamp would have arrived if it had been held up no more than most.
    pub(crate) fn arrival(&self, stamp: f32) -> Option<GlobalTime> {
        Some(at(stamp) + self.offsets.middle()?)
    }
}

fn at(stamp: f32) -> GlobalTime {
    GlobalTime::from_secs_f64(f64::from(stamp))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_seen_through_and_a_route_that_changes_is_followed() {
        let mut stamps = Stamps::default();
        let held_up = |n: i64| Duration::from_millis(7 * (n * n % 5));
        let way = |n: i64| Duration::from_millis(if n < 2000 { 100 } else { 150 });
        for n in 0..4000 {
            let stamp = n as f32 * 0.016;
            let now = GlobalTime::from_secs_f64(f64::from(stamp)) + way(n) + held_up(n);
            stamps.observe(stamp, now);
            let late = stamps.arrival(stamp).expect("there was one").since(at(stamp));
            if (64..2000).contains(&n) || n > 2064 {
                assert!((late - way(n) - Duration::from_millis(7)).abs() < Duration::from_millis(1), "{n}: {late}");
            }
        }
    }

    #[test]
    fn a_clock_that_was_set_is_another_clock() {
        let mut stamps = Stamps::default();
        stamps.observe(5000.0, GlobalTime::from_millis(1000));
        stamps.observe(1.0, GlobalTime::from_millis(2000));
        assert_eq!(stamps.arrival(1.5), Some(GlobalTime::from_millis(2500)));
    }

    #[test]
    fn only_so_many_are_kept() {
        let mut recent = Recent::<3>::default();
        assert_eq!(recent.middle(), None);
        for ms in [900, 1, 2, 3] {
            recent.add(Duration::from_millis(ms));
        }
        assert_eq!((recent.middle(), recent.values.len()), (Some(Duration::from_millis(2)), 3));
    }
}
