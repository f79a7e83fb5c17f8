//! When a client's clock says it was, by the relay's.

use evenkeel::{Duration, GlobalTime};

/// The least offset is that of the last one to two spans of this length, so that it follows clocks that drift and routes that change.
const SPAN: Duration = Duration::from_secs(10);

/// Maps the stamps of one client's updates to the relay's time: an update that was held up arrives late, but was made when its stamp
/// says.
///
/// The least difference between arrival and stamp is that of the update that was held up least; half the least round trip before that
/// arrival it was made.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stamps {
    least: [Option<Duration>; 2],
    since: GlobalTime,
}

impl Stamps {
    /// Takes in a stamp that arrives now.
    pub(crate) fn observe(&mut self, stamp: f32, now: GlobalTime) {
        let offset = now.since(at(stamp));
        // A client that started anew, or whose clock was set, is another clock.
        let jumped = self.offset().is_some_and(|known| (offset - known).abs() > SPAN);
        if jumped {
            *self = Self::default();
        }
        if self.least[0].is_none() || now.since(self.since) > SPAN {
            self.least = [None, self.least[0]];
            self.since = now;
        }
        self.least[0] = Some(self.least[0].map_or(offset, |least| least.min(offset)));
    }

    /// When, by the relay's clock, an update with this stamp would have arrived if nothing had held it up.
    pub(crate) fn arrival(&self, stamp: f32) -> Option<GlobalTime> {
        Some(at(stamp) + self.offset()?)
    }

    fn offset(&self) -> Option<Duration> {
        match self.least {
            [Some(a), Some(b)] => Some(a.min(b)),
            [a, b] => a.or(b),
        }
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
        let held_up = |n: i64| Duration::from_millis(7 * (n % 5));
        let way = |n: i64| Duration::from_millis(if n < 2000 { 100 } else { 150 });
        for n in 0..4000 {
            let stamp = n as f32 * 0.016;
            let now = GlobalTime::from_secs_f64(f64::from(stamp)) + way(n) + held_up(n);
            stamps.observe(stamp, now);
            let late = stamps.arrival(stamp).expect("there was one").since(at(stamp));
            if (5..2000).contains(&n) || n > 3300 {
                assert!((late - way(n)).abs() < Duration::from_millis(1), "{n}: {late}");
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
}
