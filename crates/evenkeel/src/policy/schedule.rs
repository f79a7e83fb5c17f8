//! `schedule-drop` and `schedule-send`: whoever is better off waits until it is as badly off as the others.

use super::weights::{Past, importance};
use super::{Decision, Overtaken, Policy, Trigger};
use crate::ledger::{Ledger, PairView, ReceiverIndex, Vector};
use crate::path::distance_integral;
use crate::time::{Duration, GlobalTime};
use crate::trigger::Cause;
use alloc::string::String;

/// What becomes of a vector that is still held when the next one is generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum StillHeld {
    /// It is dropped: algorithm 1.
    #[default]
    Dropped,
    /// It goes out, and the new one is scheduled: algorithm 2. Both count.
    Sent,
    /// The new one goes out in its place, at once. Not in the thesis, where the receiver gets an old vector although a newer
    /// one is at hand.
    Replaced,
}

/// The thesis's scheduling (sections 3.3.2 to 3.3.4): the receiver with the highest accumulated export error is sent the
/// vector at once, every other when its error has grown to the same.
///
/// Equation 3.4 equalises at the time of *sending*, though the text says on reception (erratum 5); a far receiver, held
/// until it is as badly off as the worst, then gets much worse while the vector travels. [`projected`](Self::projected)
/// equalises at the time of arrival, sending plus estimated delay: the highest error is the one to be expected when the
/// vector arrives, and mean and maximum do not grow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// Whether errors are made equal at arrival instead of at sending.
    pub projected: bool,
    /// What becomes of a vector that is still held when the next one is generated.
    pub still_held: StillHeld,
    /// No vector is held longer than this. The thesis searches up to the entity's time threshold (erratum 6).
    pub max_hold: Duration,
    /// How far back accumulated errors count.
    pub past: Past,
}

impl Default for Schedule {
    /// Algorithm 1, equal at sending, held for at most a second, the past fading.
    fn default() -> Self {
        Self { projected: false, still_held: StillHeld::Dropped, max_hold: Duration::from_secs(1), past: Past::Fading }
    }
}

impl Schedule {
    /// Algorithm 1 with errors made equal at arrival.
    pub fn projected() -> Self {
        Self { projected: true, ..Self::default() }
    }

    /// With another rule for what is still held.
    pub fn with_still_held(self, still_held: StillHeld) -> Self {
        Self { still_held, ..self }
    }
}

impl Policy for Schedule {
    fn name(&self) -> String {
        match (self.projected, self.still_held) {
            (false, StillHeld::Dropped) => "schedule-drop",
            (false, StillHeld::Sent) => "schedule-send",
            (false, StillHeld::Replaced) => "schedule-send-newest",
            (true, StillHeld::Dropped) => "schedule-drop-projected",
            (true, StillHeld::Sent) => "schedule-send-projected",
            (true, StillHeld::Replaced) => "schedule-send-newest-projected",
        }
        .into()
    }

    fn decide(&mut self, ledger: &Ledger, trigger: &Trigger, decisions: &mut [Decision]) {
        let vector = ledger.vector(trigger.entity, trigger.vector).filter(|_| trigger.cause != Cause::First);
        let Some(vector) = vector else {
            decisions.fill(Decision::Now);
            return;
        };
        let outlook = |receiver| Outlook::new(self, ledger, trigger, vector, receiver);
        let highest =
            ledger.receivers().filter_map(outlook).map(|o| o.error_if_held(Duration::ZERO)).fold(0.0, f64::max);
        for receiver in ledger.receivers() {
            let Some(outlook) = outlook(receiver) else { continue };
            let replaced = self.still_held == StillHeld::Replaced && outlook.pair.held().is_some();
            decisions[receiver.0] = if replaced {
                Decision::Now
            } else {
                let hold = least_hold(self.max_hold, highest, |hold| outlook.error_if_held(hold));
                Decision::At(trigger.at + hold)
            };
        }
    }

    fn overtaken(&self) -> Overtaken {
        if self.still_held == StillHeld::Sent { Overtaken::Send } else { Overtaken::Drop }
    }
}

/// How a receiver's error is going to grow while a vector is held back.
struct Outlook<'a> {
    pair: PairView<'a>,
    vector: &'a Vector,
    now: GlobalTime,
    /// How long after sending errors are to be equal.
    ahead: Duration,
    /// The vector that goes out right now because the new one overtakes it, and when it will be there.
    flushed: Option<(&'a Vector, GlobalTime)>,
    importance: f64,
    /// What of the past does not count.
    forgotten: f64,
}

impl<'a> Outlook<'a> {
    /// `None` for receivers about which the policy has no say.
    fn new(
        rule: &Schedule,
        ledger: &'a Ledger,
        trigger: &Trigger,
        vector: &'a Vector,
        receiver: ReceiverIndex,
    ) -> Option<Self> {
        let pair = ledger.pair(trigger.entity, receiver);
        if !pair.relevance().in_scope() || pair.last_sent().is_none() {
            return None;
        }
        let now = trigger.at;
        let leaves = |until: GlobalTime| rule.still_held == StillHeld::Sent || until <= now;
        let flushed = pair.held().filter(|(_, until)| leaves(*until));
        let flushed = flushed.and_then(|(number, _)| ledger.vector(trigger.entity, number));
        Some(Self {
            pair,
            vector,
            now,
            // What is sent now is about what is shown a lag later: before then no hold costs anything.
            ahead: if rule.projected { pair.delay() } else { ledger.lag(receiver).at(now) },
            flushed: flushed.map(|v| (v, now + pair.delay())),
            importance: importance(&pair),
            forgotten: pair.accumulated(now).total() - rule.past.error(&pair, now),
        })
    }

    /// The accumulated error at the moment at which errors are to be equal. Grows with the hold.
    fn error_if_held(&self, hold: Duration) -> f64 {
        let at = self.now + hold + self.ahead;
        let error = match self.flushed {
            Some((flushed, arrival)) if arrival < at => {
                let seconds = |v: &Vector| self.pair.shown(arrival).since(v.generated).as_secs_f64();
                let span = at.since(arrival).as_secs_f64();
                let (new, old) = (&self.vector.motion, &flushed.motion);
                let after = distance_integral(new, seconds(self.vector), old, seconds(flushed), span).value;
                self.pair.accumulated(arrival).total() + after
            }
            _ => self.pair.accumulated(at).total(),
        };
        self.importance * (error - self.forgotten)
    }
}

/// The shortest hold, to a microsecond, after which an error that grows with the hold reaches `target`; at most `longest`.
pub(super) fn least_hold(longest: Duration, target: f64, error: impl Fn(Duration) -> f64) -> Duration {
    let longest = longest.max(Duration::ZERO);
    if error(Duration::ZERO) >= target {
        return Duration::ZERO;
    }
    let reaches = |hold: Duration| error(hold) >= target;
    if !reaches(longest) {
        return longest;
    }
    let (mut low, mut high) = (0, longest.as_nanos());
    // Halving 2^63 ns to a microsecond takes 53 steps, a second 20.
    while high - low > 1_000 {
        let middle = low + (high - low) / 2;
        if reaches(Duration::from_nanos(middle)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Duration::from_nanos(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_ends_when_the_error_is_reached() {
        let second = Duration::from_secs(1);
        let error = |hold: Duration| 2.0 + hold.as_secs_f64().powi(2);
        let hold = least_hold(second, 2.25, error);
        assert!((hold.as_secs_f64() - 0.5).abs() < 2e-6, "{hold}");
        assert_eq!(least_hold(second, 1.0, error), Duration::ZERO);
        assert_eq!(least_hold(second, 9.0, error), second);
        assert_eq!(least_hold(second, f64::NAN, error), second);
        assert_eq!(least_hold(second, 9.0, |_| f64::NAN), second);
        assert_eq!(least_hold(Duration::from_secs(-1), 9.0, error), Duration::ZERO);
        assert!(least_hold(Duration::MAX, 27.0, error) > second);
    }
}
