//! When updates were made: [`Stamps`].

use crate::message::TankUpdate;
use evenkeel::{Duration, GlobalTime};
use std::collections::BTreeMap;

/// An update that seems to have been under way for so much longer than the fastest comes from another clock: the player
/// left, and someone else came by the same number.
const ANOTHER_CLOCK: Duration = Duration::from_secs(5);

/// Puts the time stamps of all players on one clock, that of arrival.
///
/// Each client stamps its updates by a clock of its own, exactly at the frame in which they were made; how long an update
/// is under way varies. So the update that was fastest yet tells how the clocks of a player and of arrival differ, and the
/// others' times follow from their stamps.
///
/// ```
/// use evenkeel::GlobalTime;
/// use evenkeel_bzflag::message::TankUpdate;
/// use evenkeel_bzflag::record::Stamps;
/// let mut stamps = Stamps::default();
/// let made = |stamp| TankUpdate { stamp, ..TankUpdate::of(3) };
/// let first = GlobalTime::from_millis(1_000);
/// assert_eq!(stamps.time(first, &made(70.0)), first);
/// // The next was made half a second later, and took 20 ms longer.
/// assert_eq!(stamps.time(GlobalTime::from_millis(1_520), &made(70.5)), GlobalTime::from_millis(1_500));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stamps {
    players: BTreeMap<u8, Clock>,
}

#[derive(Clone, Copy, Debug)]
struct Clock {
    /// What a stamp must be moved by.
    offset: Duration,
    /// The last time given.
    last: GlobalTime,
}

impl Stamps {
    /// When an update was made that arrived at `at`. Times of a player never decrease.
    pub fn time(&mut self, at: GlobalTime, update: &TankUpdate) -> GlobalTime {
        let stamp = GlobalTime::from_secs_f64(update.stamp.into());
        let offset = at.since(stamp);
        let clock = self.players.entry(update.player).or_insert(Clock { offset, last: GlobalTime::MIN });
        if offset < clock.offset || offset - clock.offset > ANOTHER_CLOCK {
            clock.offset = offset;
        }
        clock.last = clock.last.max(stamp + clock.offset);
        clock.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn times(player: u8, arrivals: &[(i64, f32)]) -> Vec<i64> {
        let mut stamps = Stamps::default();
        let update = |stamp| TankUpdate { stamp, ..TankUpdate::of(player) };
        let time = |(ms, stamp): &(i64, f32)| stamps.time(GlobalTime::from_millis(*ms), &update(*stamp));
        arrivals.iter().map(time).map(|time| time.as_nanos() / 1_000_000).collect()
    }

    #[test]
    fn the_fastest_yet_sets_the_clock_and_time_does_not_go_back() {
        let arrivals = [(150, 10.0), (250, 10.125), (275, 10.1875), (500, 10.375), (510, 10.5)];
        assert_eq!(times(1, &arrivals), [150, 250, 275, 462, 510]);
        // 125 ms after the first arrived, but made 25 ms earlier than that would mean.
        assert_eq!(times(1, &[(150, 10.0), (160, 10.125)]), [150, 160]);
        assert_eq!(times(1, &[(150, 10.0), (100, 10.125)]), [150, 150]);
    }

    #[test]
    fn another_player_by_the_same_number_has_another_clock() {
        assert_eq!(times(1, &[(1_000, 500.0), (9_000, 2.0), (9_100, 2.0625)]), [1_000, 9_000, 9_062]);
    }

    #[test]
    fn players_have_clocks_of_their_own() {
        let mut stamps = Stamps::default();
        for (player, stamp) in [(1, 100.0), (2, 7.0)] {
            let at = GlobalTime::from_millis(50);
            assert_eq!(stamps.time(at, &TankUpdate { stamp, ..TankUpdate::of(player) }), at);
        }
    }

    proptest! {
        #[test]
        fn times_never_decrease(arrivals in prop::collection::vec((any::<i64>(), any::<f32>()), 0..20)) {
            let finite: Vec<_> = arrivals.into_iter().filter(|(_, stamp)| stamp.is_finite()).collect();
            prop_assert!(times(1, &finite).is_sorted());
        }
    }
}
