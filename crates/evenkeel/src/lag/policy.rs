//! How long things should wait: a fixed lag, or one that follows the delays; for each kind of action its own.

use super::{Lag, LagChange, LagError};
use crate::time::{Duration, GlobalTime};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// So many delays are remembered, the newest.
const MAX_DELAYS: usize = 256;
/// Fewer delays than this say nothing about how long deliveries take.
const LEAST_DELAYS: usize = 8;
/// How often the delays are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A kind of action. Different kinds bear different waiting: one wants to see one's own tank move at once, but a hit may be
/// announced a moment later if in return it is never taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct ActionKind(pub u8);

impl ActionKind {
    /// Where things are.
    pub const MOVEMENT: Self = Self(0);
    /// What is decided: hits, kills, goals.
    pub const VERDICT: Self = Self(1);
}

/// How a lag is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LagPolicy {
    /// It stays as it is set.
    Fixed(Duration),
    /// It follows the delays.
    Adaptive(Adaptive),
}

/// A lag that follows the delays: long enough for most deliveries, no longer than players bear.
///
/// It rises as soon as the delays ask for it, and falls when they have been shorter for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adaptive {
    /// Which share of deliveries is to be there in time. Default: 0.95.
    pub quantile: f64,
    /// The game's tick. Lags are whole numbers of them, the next above the delay, since what arrives between two ticks is shown at
    /// the next. Default: a sixtieth of a second.
    pub tick: Duration,
    /// The longest that players bear. Default: 100 ms.
    pub cap: Duration,
    /// For how long a delay counts, if it is among the last 256: a lag falls when less has been enough for that long. Default:
    /// 10 s.
    pub memory: Duration,
}

impl Default for Adaptive {
    fn default() -> Self {
        Self {
            quantile: 0.95,
            tick: Duration::from_nanos(16_666_667),
            cap: Duration::from_millis(100),
            memory: Duration::from_secs(10),
        }
    }
}

impl Adaptive {
    fn check(&self) -> Result<(), LagError> {
        Lag::constant(self.cap)?;
        let wrong = [
            ("quantile must be above 0 and at most 1", !(self.quantile > 0.0 && self.quantile <= 1.0)),
            ("tick must be above zero", self.tick <= Duration::ZERO),
            ("cap must not be below a tick", self.cap < self.tick),
            ("memory must be above zero", self.memory <= Duration::ZERO),
        ];
        wrong.into_iter().find(|(_, wrong)| *wrong).map_or(Ok(()), |(what, _)| Err(LagError::Adaptive(what)))
    }

    /// The longest whole number of ticks within a lag.
    fn whole_ticks(&self, lag: Duration) -> Duration {
        let tick = self.tick.as_nanos().max(1);
        Duration::from_nanos(lag.as_nanos() / tick * tick)
    }
}

impl LagPolicy {
    /// Follows the delays up to a cap.
    pub fn adaptive(cap: Duration) -> Self {
        Self::Adaptive(Adaptive { cap, ..Adaptive::default() })
    }

    fn check(&self) -> Result<(), LagError> {
        match self {
            Self::Fixed(lag) => Lag::constant(*lag).map(|_| ()),
            Self::Adaptive(adaptive) => adaptive.check(),
        }
    }
}

/// Chooses a lag from the delays there are.
///
/// ```
/// use evenkeel::lag::{LagControl, LagPolicy};
/// use evenkeel::{Duration, GlobalTime};
/// let (ms, at) = (Duration::from_millis, GlobalTime::from_millis);
///
/// let mut control = LagControl::new(LagPolicy::adaptive(ms(150)))?;
/// for packet in 0..100 {
///     control.handle_delay(ms(60 + packet % 10), at(packet * 20));
/// }
/// let change = control.poll_change(at(2_000)).expect("deliveries take up to 69 ms");
/// assert!(change.to > ms(69) && change.to < ms(86)); // and a tick at most
/// // Everybody, after having been told: sender.set_lag(change, now)?; receiver.set_lag(change, now)?;
/// assert_eq!(control.lag().at(at(3_000)), change.to);
/// # Ok::<(), evenkeel::lag::LagError>(())
/// ```
#[derive(Clone, Debug)]
pub struct LagControl {
    policy: LagPolicy,
    lag: Lag,
    /// In order of time.
    delays: VecDeque<(GlobalTime, Duration)>,
    looked: Option<GlobalTime>,
    notice: Duration,
}

impl LagControl {
    /// A control that has seen no delay yet: no lag, or the fixed one.
    pub fn new(policy: LagPolicy) -> Result<Self, LagError> {
        policy.check()?;
        let lag = match policy {
            LagPolicy::Fixed(lag) => Lag::constant(lag)?,
            LagPolicy::Adaptive(_) => Lag::default(),
        };
        Ok(Self { policy, lag, delays: VecDeque::new(), looked: None, notice: Duration::ZERO })
    }

    /// The lag as it is, was, and is going to be.
    pub fn lag(&self) -> &Lag {
        &self.lag
    }

    /// The policy in use.
    pub fn policy(&self) -> &LagPolicy {
        &self.policy
    }

    /// Follows another policy from now on. What the lag has to do for it comes with the next
    /// [`poll_change`](Self::poll_change).
    pub fn set_policy(&mut self, policy: LagPolicy) -> Result<(), LagError> {
        policy.check()?;
        (self.policy, self.looked) = (policy, None);
        Ok(())
    }

    /// Changes begin so long after they were decided upon: long enough for everybody to hear of them before they begin. Default:
    /// at once, which is right only where nobody else must know.
    pub fn set_notice(&mut self, notice: Duration) {
        self.notice = notice.max(Duration::ZERO);
    }

    /// Something took this long to arrive. [`Handled::sent`](crate::Handled) says when a datagram was sent.
    pub fn handle_delay(&mut self, delay: Duration, now: GlobalTime) {
        if self.delays.len() == MAX_DELAYS {
            self.delays.pop_front();
        }
        self.delays.push_back((now, delay.max(Duration::ZERO)));
    }

    /// The change of lag that is due, if one is. It is applied here already; apply it to senders and receivers too.
    pub fn poll_change(&mut self, now: GlobalTime) -> Option<LagChange> {
        if self.looked.is_some_and(|looked| now.since(looked) < LOOK_EVERY) {
            return None;
        }
        self.looked = Some(now);
        let wanted = match self.policy {
            LagPolicy::Fixed(lag) => lag,
            LagPolicy::Adaptive(adaptive) => self.wanted(&adaptive, now)?,
        };
        if wanted == self.lag.target() {
            return None;
        }
        let begins = now + self.notice;
        let change = LagChange::usual(self.lag.at(begins), wanted, begins);
        self.lag.change(change, now).ok()?;
        Some(change)
    }

    /// Where an adaptive lag should be; `None` while nothing is known or the difference is not worth the change.
    fn wanted(&mut self, adaptive: &Adaptive, now: GlobalTime) -> Option<Duration> {
        while self.delays.front().is_some_and(|(at, _)| now.since(*at) > adaptive.memory) {
            self.delays.pop_front();
        }
        if self.delays.len() < LEAST_DELAYS {
            return None;
        }
        let mut delays: Vec<Duration> = self.delays.iter().map(|(_, delay)| *delay).collect();
        delays.sort_unstable();
        let rank = libm::ceil(adaptive.quantile.clamp(0.0, 1.0) * delays.len() as f64) as usize;
        let quantile = *delays.get(rank.max(1) - 1)?;
        let wanted = adaptive.whole_ticks((quantile + adaptive.tick).min(adaptive.cap));
        let target = self.lag.target();
        // A rise is worth it at once; a fall only by more than a tick, or the lag would never come to rest.
        (wanted > target || wanted < target - adaptive.tick).then_some(wanted)
    }
}

/// The lags of a game, by kind of action.
///
/// ```
/// use evenkeel::lag::{ActionKind, LagPolicy, LagTable};
/// use evenkeel::{Duration, GlobalTime};
/// let ms = Duration::from_millis;
/// let mut lags = LagTable::default();
/// lags.set(ActionKind::MOVEMENT, LagPolicy::adaptive(ms(60)))?;
/// lags.set(ActionKind::VERDICT, LagPolicy::Fixed(ms(220)))?;
/// assert_eq!(lags.at(ActionKind::VERDICT, GlobalTime::ZERO), ms(220));
/// assert_eq!(lags.at(ActionKind(7), GlobalTime::ZERO), ms(0)); // nobody said that it should wait
/// # Ok::<(), evenkeel::lag::LagError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct LagTable {
    controls: Vec<(ActionKind, LagControl)>,
}

impl LagTable {
    /// Chooses how long a kind of action waits.
    pub fn set(&mut self, kind: ActionKind, policy: LagPolicy) -> Result<(), LagError> {
        match self.controls.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, control)) => control.set_policy(policy)?,
            None => self.controls.push((kind, LagControl::new(policy)?)),
        }
        Ok(())
    }

    /// How long a kind of action waits at a time; not at all if nobody said.
    pub fn at(&self, kind: ActionKind, t: GlobalTime) -> Duration {
        self.control(kind).map_or(Duration::ZERO, |control| control.lag().at(t))
    }

    /// The control of a kind of action, if it was set.
    pub fn control(&self, kind: ActionKind) -> Option<&LagControl> {
        self.controls.iter().find(|(known, _)| *known == kind).map(|(_, control)| control)
    }

    /// Changes of all lags set so far begin so long after they were decided upon: see [`LagControl::set_notice`].
    pub fn set_notice(&mut self, notice: Duration) {
        self.controls.iter_mut().for_each(|(_, control)| control.set_notice(notice));
    }

    /// Something took this long to arrive.
    pub fn handle_delay(&mut self, delay: Duration, now: GlobalTime) {
        for (_, control) in &mut self.controls {
            control.handle_delay(delay, now);
        }
    }

    /// The next change of lag that is due: call it until it answers `None`.
    pub fn poll_change(&mut self, now: GlobalTime) -> Option<(ActionKind, LagChange)> {
        self.controls.iter_mut().find_map(|(kind, control)| Some((*kind, control.poll_change(now)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(ms: i64) -> GlobalTime {
        GlobalTime::from_millis(ms)
    }

    /// Delays by time, one every 10 ms for so many seconds; the lag at the end of each second.
    fn follow(seconds: i64, delay: impl Fn(i64) -> i64) -> Vec<i64> {
        let mut control = LagControl::new(LagPolicy::adaptive(MS * 150)).unwrap();
        let mut shown = GlobalTime::MIN;
        let mut lags = Vec::new();
        for step in 1..=seconds * 100 {
            let now = at(step * 10);
            control.handle_delay(MS * delay(step / 100), now);
            control.poll_change(now);
            assert!(control.lag().shown(now) >= shown, "shown time runs backwards");
            shown = control.lag().shown(now);
            if step % 100 == 0 {
                lags.push(control.lag().at(now).as_millis());
            }
        }
        lags
    }

    #[test]
    fn it_rises_fast_falls_slowly_and_stays_below_its_cap() {
        let lags = follow(30, |second| match second {
            0..10 => 40,
            10..12 => 90,
            _ => 40,
        });
        assert_eq!(&lags[2..10], [50; 8], "three whole ticks");
        assert_eq!(lags[10], 100, "within a second of the rise");
        assert!(lags[12] > 90, "not at once when the delays have fallen: {lags:?}");
        assert_eq!(lags[29], 50);
        assert_eq!(follow(5, |_| 900)[4], 133, "as many ticks as the cap allows");
    }

    #[test]
    fn small_wobbles_change_nothing() {
        let mut control = LagControl::new(LagPolicy::adaptive(MS * 150)).unwrap();
        let changes = (1..3_000).filter(|step| {
            control.handle_delay(MS * 50 + Duration::from_micros(step % 7 * 900), at(step * 10));
            control.poll_change(at(step * 10)).is_some()
        });
        assert!(changes.count() < 5);
    }

    #[test]
    fn a_change_begins_when_everybody_has_heard_of_it() {
        let mut control = LagControl::new(LagPolicy::adaptive(MS * 150)).unwrap();
        control.set_notice(MS * 300);
        (0..LEAST_DELAYS - 1).for_each(|_| control.handle_delay(MS * 90, at(5)));
        assert_eq!(control.poll_change(at(5)), None, "one knows too little");
        control.handle_delay(MS * 90, at(100));
        let change = control.poll_change(at(200)).unwrap();
        assert_eq!((change.begins, change.over), (at(500), change.to * 2));
        assert_eq!([400, 500, 5_000].map(|t| control.lag().at(at(t))), [Duration::ZERO, Duration::ZERO, change.to]);
    }

    #[test]
    fn adaptive_lags_that_make_no_sense_are_refused() {
        let usual = Adaptive::default();
        for wrong in [
            Adaptive { quantile: f64::NAN, ..usual },
            Adaptive { quantile: 7.0, ..usual },
            Adaptive { tick: MS * -20, ..usual },
            Adaptive { tick: MS * 20, cap: MS * 10, ..usual },
            Adaptive { memory: Duration::ZERO, ..usual },
            Adaptive { cap: Duration::MAX, ..usual },
        ] {
            assert!(LagControl::new(LagPolicy::Adaptive(wrong)).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn kinds_are_changed_on_their_own_and_bad_ones_are_refused() {
        let mut lags = LagTable::default();
        lags.set(ActionKind::MOVEMENT, LagPolicy::Fixed(MS * 40)).unwrap();
        lags.set(ActionKind::VERDICT, LagPolicy::adaptive(MS * 300)).unwrap();
        (0..LEAST_DELAYS).for_each(|_| lags.handle_delay(MS * 200, at(5)));
        assert_eq!(
            lags.poll_change(at(10)).map(|(kind, change)| (kind, change.to.as_millis())),
            Some((ActionKind(1), 200))
        );
        assert_eq!(lags.poll_change(at(10)), None);
        assert!(lags.set(ActionKind::MOVEMENT, LagPolicy::Fixed(MS * -1)).is_err());
        assert!(lags.set(ActionKind(9), LagPolicy::adaptive(Duration::MAX)).is_err());
        assert_eq!(lags.at(ActionKind::MOVEMENT, at(20)), MS * 40);
        lags.set(ActionKind::MOVEMENT, LagPolicy::Fixed(MS * 60)).unwrap();
        assert_eq!(lags.poll_change(at(200)).map(|(_, change)| change.over), Some(MS * 40));
    }
}
