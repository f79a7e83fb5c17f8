//! A lag over time: how long things wait before they are shown, and how that changes without anything running backwards.

use crate::time::{Duration, GlobalTime};
use alloc::vec::Vec;
use core::fmt;

/// So many changes are remembered. They matter for as long as somebody asks about what was shown back then.
const MAX_CHANGES: usize = 16;

/// Shown time runs at half speed while lag rises: soon there, and hardly to be seen.
const RISE_TAKES: i64 = 2;
/// Shown time runs a twentieth faster while lag falls: nobody is in a hurry to be quicker.
const FALL_TAKES: i64 = 20;

/// From when on things wait longer, or less long.
///
/// Everybody who applies the same changes before they begin shows the same time: announce one by the game's own means, to begin a
/// little later ([`LagControl::set_notice`](super::LagControl::set_notice)). Who hears of it late gets there too, a little later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LagChange {
    /// The lag to get to.
    pub to: Duration,
    /// When it begins to change.
    pub begins: GlobalTime,
    /// How long that takes. Where that is shorter than what the lag rises by, it takes that long: shown time may stand still but
    /// never runs backwards.
    pub over: Duration,
}

impl LagChange {
    /// The usual pace: a rise takes twice as long as what is to be waited longer, a fall twenty times.
    ///
    /// ```
    /// use evenkeel::{Duration, GlobalTime, lag::LagChange};
    /// let ms = Duration::from_millis;
    /// assert_eq!(LagChange::usual(ms(20), ms(120), GlobalTime::ZERO).over, ms(200));
    /// assert_eq!(LagChange::usual(ms(120), ms(20), GlobalTime::ZERO).over, ms(2_000));
    /// ```
    pub fn usual(from: Duration, to: Duration, begins: GlobalTime) -> Self {
        let over = if to > from { (to - from) * RISE_TAKES } else { (from - to) * FALL_TAKES };
        Self { to, begins, over }
    }
}

/// A lag that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LagError {
    /// It is negative: nobody can show what has not happened yet.
    Negative(Duration),
    /// It is longer than [`Lag::LONGEST`].
    TooLong(Duration),
    /// A change would take a negative time.
    NegativePace(Duration),
    /// An adaptive lag is set up wrongly.
    Adaptive(&'static str),
}

impl fmt::Display for LagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Negative(lag) => write!(f, "a lag of {lag} is negative: things can only be shown later"),
            Self::TooLong(lag) => write!(f, "a lag of {lag} is longer than {}", Lag::LONGEST),
            Self::Adaptive(what) => write!(f, "an adaptive lag's {what}"),
            Self::NegativePace(over) => write!(f, "a change of lag over {over} ends before it begins"),
        }
    }
}

impl core::error::Error for LagError {}

/// How long things wait before they are shown, over time.
///
/// At a global time `T` one shows the *shown time* `T` - lag. Lag changes in straight lines, and never by more than the time
/// that passes meanwhile, so that shown time never runs backwards.
///
/// ```
/// use evenkeel::lag::{Lag, LagChange};
/// use evenkeel::{Duration, GlobalTime};
/// let (ms, at) = (Duration::from_millis, GlobalTime::from_millis);
///
/// let mut lag = Lag::constant(ms(100))?;
/// assert_eq!(lag.shown(at(1_000)), at(900));
/// let ready = lag.change(LagChange::usual(ms(100), ms(200), at(1_000)), at(1_000))?;
/// assert_eq!(ready, at(1_200)); // shown time runs at half speed until then
/// assert_eq!(lag.shown(at(1_100)), at(950));
/// assert_eq!(lag.shown(at(2_000)), at(1_800));
/// # Ok::<(), evenkeel::lag::LagError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lag {
    /// In order of time, never empty. Each holds until the next begins.
    glides: Vec<Glide>,
}

/// A lag on its way to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Glide {
    begins: GlobalTime,
    from: Duration,
    to: Duration,
    over: Duration,
}

impl Glide {
    /// Rounded down, so that no step is larger than the time that passes.
    fn at(&self, t: GlobalTime) -> Duration {
        let passed = t.since(self.begins);
        if passed >= self.over {
            return self.to;
        }
        let nanos = |span: Duration| i128::from(span.as_nanos());
        let change = nanos(self.to - self.from) * nanos(passed.max(Duration::ZERO));
        self.from + Duration::from_nanos(change.div_euclid(nanos(self.over)) as i64)
    }
}

impl Default for Lag {
    /// None.
    fn default() -> Self {
        Self::unchecked(Duration::ZERO)
    }
}

impl Lag {
    /// No lag is longer than this: a minute.
    pub const LONGEST: Duration = Duration::from_secs(60);

    /// A lag that does not change.
    pub fn constant(lag: Duration) -> Result<Self, LagError> {
        check(lag)?;
        Ok(Self::unchecked(lag))
    }

    pub(crate) fn unchecked(lag: Duration) -> Self {
        let rest = Glide { begins: GlobalTime::MIN, from: lag, to: lag, over: Duration::ZERO };
        Self { glides: alloc::vec![rest] }
    }

    /// The lag at a time.
    #[inline]
    pub fn at(&self, t: GlobalTime) -> Duration {
        match self.glides.last() {
            // It is seldom on its way.
            Some(last) if last.begins <= t && t.since(last.begins) >= last.over => last.to,
            _ => self.on_its_way(t),
        }
    }

    fn on_its_way(&self, t: GlobalTime) -> Duration {
        let glide = self.glides.iter().rfind(|glide| glide.begins <= t).or(self.glides.first());
        glide.map_or(Duration::ZERO, |glide| glide.at(t))
    }

    /// The time that is shown at a time.
    pub fn shown(&self, t: GlobalTime) -> GlobalTime {
        t - self.at(t)
    }

    /// The lag it is getting to, or has got to.
    pub fn target(&self) -> Duration {
        self.glides.last().map_or(Duration::ZERO, |glide| glide.to)
    }

    /// From which shown time on something is shown that speaks of the time `epoch` and is there at `arrival`.
    pub fn takes_effect(&self, epoch: GlobalTime, arrival: GlobalTime) -> GlobalTime {
        epoch.max(self.shown(arrival))
    }

    /// Changes it, from when the change begins or from `now` on, whichever is later: what was shown already stays as it was.
    /// A change that is under way when it begins is broken off then, and one that would begin later does not happen. Answers when
    /// the new lag will be reached.
    pub fn change(&mut self, change: LagChange, now: GlobalTime) -> Result<GlobalTime, LagError> {
        check(change.to)?;
        if change.over.is_negative() {
            return Err(LagError::NegativePace(change.over));
        }
        let begins = change.begins.max(now);
        let from = self.at(begins);
        let over = change.over.max(change.to - from);
        self.glides.retain(|glide| glide.begins < begins);
        self.glides.push(Glide { begins, from, to: change.to, over });
        let surplus = self.glides.len().saturating_sub(MAX_CHANGES);
        self.glides.drain(..surplus);
        Ok(begins + over)
    }
}

fn check(lag: Duration) -> Result<(), LagError> {
    match lag {
        lag if lag.is_negative() => Err(LagError::Negative(lag)),
        lag if lag > Lag::LONGEST => Err(LagError::TooLong(lag)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(ms: i64) -> GlobalTime {
        GlobalTime::from_millis(ms)
    }

    #[test]
    fn a_fall_is_slow_and_a_rise_is_quick() {
        let mut lag = Lag::constant(MS * 200).unwrap();
        assert_eq!(lag.change(LagChange::usual(MS * 200, MS * 100, at(0)), at(0)), Ok(at(2_000)));
        assert_eq!(lag.at(at(1_000)), MS * 150);
        assert_eq!(lag.change(LagChange::usual(MS * 150, MS * 250, at(1_000)), at(1_000)), Ok(at(1_200)));
        assert_eq!((lag.at(at(500)), lag.at(at(1_100)), lag.at(at(9_000))), (MS * 175, MS * 200, MS * 250));
        assert_eq!(lag.target(), MS * 250);
    }

    #[test]
    fn a_rise_in_no_time_makes_shown_time_stand_still() {
        let mut lag = Lag::default();
        let at_once = LagChange { to: MS * 300, begins: at(1_000), over: Duration::ZERO };
        assert_eq!(lag.change(at_once, at(0)), Ok(at(1_300)));
        assert_eq!(
            [900, 1_000, 1_150, 1_300, 1_400].map(|t| lag.shown(at(t))),
            [900, 1_000, 1_000, 1_000, 1_100].map(at)
        );
    }

    #[test]
    fn a_fall_in_no_time_is_a_jump_forwards_and_nothing_before_it_changes() {
        let mut lag = Lag::constant(MS * 200).unwrap();
        lag.change(LagChange { to: MS * 100, begins: at(1_000), over: MS * 10 }, at(0)).unwrap();
        lag.change(LagChange { to: MS * 50, begins: at(2_000), over: Duration::ZERO }, at(0)).unwrap();
        assert_eq!([1_999, 2_000].map(|t| lag.at(at(t))), [MS * 100, MS * 50]);
    }

    #[test]
    fn what_was_shown_already_stays() {
        let mut lag = Lag::constant(MS * 100).unwrap();
        let late = LagChange { to: MS * 50, begins: at(1_000), over: MS * 100 };
        assert_eq!(lag.change(late, at(5_000)), Ok(at(5_100)));
        assert_eq!(lag.at(at(4_999)), MS * 100);
    }

    #[test]
    fn impossible_lags_are_refused_and_change_nothing() {
        assert_eq!(Lag::constant(MS * -1), Err(LagError::Negative(MS * -1)));
        let mut lag = Lag::constant(MS * 30).unwrap();
        let change = |to, over| LagChange { to, begins: at(0), over };
        assert_eq!(lag.change(change(Duration::MAX, MS), at(0)), Err(LagError::TooLong(Duration::MAX)));
        assert_eq!(lag.change(change(MS, MS * -5), at(0)), Err(LagError::NegativePace(MS * -5)));
        assert_eq!(lag, Lag::constant(MS * 30).unwrap());
        assert!(alloc::format!("{}", LagError::TooLong(MS)).contains("60000 ms"));
    }

    proptest! {
        #[test]
        fn shown_time_never_runs_backwards(
            changes in prop::collection::vec((0i64..400_000_000, 0i64..900_000_000, 0i64..500_000_000), 0..40),
            steps in prop::collection::vec(0i64..40_000_000, 1..200),
        ) {
            let mut lag = Lag::constant(MS * 100).unwrap();
            let (mut now, mut shown) = (at(0), GlobalTime::MIN);
            let mut changes = changes.into_iter();
            for step in steps {
                now += Duration::from_nanos(step);
                prop_assert!(lag.shown(now) >= shown);
                shown = lag.shown(now);
                if let Some((ahead, to, over)) = changes.next() {
                    let [ahead, to, over] = [ahead, to, over].map(Duration::from_nanos);
                    lag.change(LagChange { to, begins: now + ahead - MS * 100, over }, now).unwrap();
                }
                prop_assert!(lag.shown(now) >= shown, "a change takes nothing back");
                prop_assert!(lag.glides.len() <= MAX_CHANGES);
            }
        }
    }
}
