//! `tolerance`: fewer triggers, each to everybody.

use super::charges::Charges;
use super::purse::{Meter, audience};
use super::{Budget, Decision, Policy, Trigger};
use crate::ledger::{EntityIndex, Ledger};
use crate::time::{Duration, GlobalTime};
use crate::trigger::Cause;
use alloc::string::String;

/// The largest stretch of a tolerance, as a natural logarithm: a factor of about 3,000.
const MOST: f64 = 8.0;
/// How fast the tolerance follows: by this times the logarithm of the excess, per window over which the past counts. That is 0.15 per
/// second if the window is the usual 20 s.
const GAIN: f64 = 3.0;
/// A balance is brought back to zero over this many windows: 60 s.
const HORIZON: f64 = 3.0;
/// The tolerance is set this many times per window: every 0.5 s.
const STEPS: i64 = 40;

/// Raises the tolerance of every trigger until what is sent fits the budget, and sends every vector to everybody. Not in the
/// papers, and the strongest simple rival of anything that is: a larger tolerance leaves out just those vectors that say
/// least.
///
/// One tolerance for all entities of the sender, set slowly by what was sent against what may be. With a budget that is a
/// fraction of the base case it must know what the base case would send, which a sender with stretched thresholds no longer
/// sees: it asks the sender to follow the base case's triggers beside its own
/// ([`wants_base_triggers`](Policy::wants_base_triggers)). A budget per second needs none of that. Bytes are vectors at the mean of
/// late; a budget per receiver cannot be kept, because everybody gets the same.
///
/// Time thresholds are stretched too, by as much as the budget thins vectors, or heartbeats alone could exceed it; not
/// beyond the age up to which receivers extrapolate, so that a budget below that cannot be met by things that never change
/// their course.
#[derive(Clone, Debug)]
pub struct Tolerant {
    budget: Budget,
    charges: Charges,
    /// The natural logarithm of the stretch.
    stretch: f64,
    base: Meter,
    sent: Meter,
    /// Vectors that may still be sent for what is past; negative if too many were.
    balance: f64,
    since: Option<GlobalTime>,
    set: GlobalTime,
}

impl Tolerant {
    /// Everything to everybody, within the budget.
    pub fn new(budget: Budget) -> Self {
        // What is thinned to a third needs more than three times the tolerance: this is where to start looking.
        let stretch = match budget {
            Budget::OfBase { share } => (-libm::log(share)).clamp(0.0, MOST),
            _ => 0.0,
        };
        let (charges, base, sent) = (Charges::new(budget), Meter::default(), Meter::default());
        Self { budget, charges, stretch, base, sent, balance: 0.0, since: None, set: GlobalTime::ZERO }
    }

    /// Sets the tolerance, if it is time. `window` is how long the past counts.
    fn adapt(&mut self, window: Duration, now: GlobalTime) {
        if self.since.is_none() {
            (self.since, self.set) = (Some(now), now);
        }
        let (passed, step) = (now.since(self.set), window / STEPS);
        if passed < step {
            return;
        }
        self.set = now;
        let rate = self.budget.rate().map(|rate| rate / self.charges.cost());
        let allowed = match (self.budget, rate) {
            (Budget::OfBase { share }, _) => share * self.base.rate(window, now),
            (_, Some(rate)) => rate,
            (_, None) => return,
        };
        if let Some(rate) = rate {
            self.balance += rate * passed.as_secs_f64();
        }
        let seconds = window.as_secs_f64();
        let horizon = HORIZON * seconds;
        self.balance = self.balance.clamp(-horizon * allowed, horizon * allowed);
        let wanted = (allowed + self.balance / horizon).clamp(allowed / 2.0, allowed * 2.0);
        // A vector more or less within what is measured is chance.
        let slack = 1.0 / Meter::span(window).as_secs_f64();
        let excess = libm::log((self.sent.rate(window, now) + slack) / (wanted + slack));
        // After a silence nothing is known about how it would have been at another tolerance.
        let change = GAIN / seconds * passed.min(step * 2).as_secs_f64() * excess;
        if change.is_finite() {
            self.stretch = (self.stretch + change).clamp(0.0, MOST);
        }
    }
}

impl Policy for Tolerant {
    fn name(&self) -> String {
        "tolerance".into()
    }

    fn decide(&mut self, ledger: &Ledger, trigger: &Trigger, decisions: &mut [Decision]) {
        decisions.fill(Decision::Now);
        if trigger.cause != Cause::First {
            let audience = audience(ledger, trigger.entity);
            self.sent.note(audience, ledger.window(), trigger.at);
            self.balance -= audience as f64 + self.charges.reconcile(ledger.sent()) / self.charges.cost();
            self.charges.charge(audience as f64);
            self.adapt(ledger.window(), trigger.at);
        }
    }

    fn reads_error(&self) -> bool {
        false
    }

    fn tolerance(&self) -> f64 {
        libm::exp(self.stretch)
    }

    fn stretches_thresholds(&self) -> bool {
        true
    }

    fn patience(&self) -> f64 {
        match self.budget {
            Budget::Unlimited => 1.0,
            Budget::OfBase { share } => (1.0 / share).clamp(1.0, 1e3),
            _ => self.tolerance(),
        }
    }

    fn wants_base_triggers(&self) -> bool {
        matches!(self.budget, Budget::OfBase { .. })
    }

    fn base_trigger(&mut self, ledger: &Ledger, entity: EntityIndex, cause: Cause, at: GlobalTime) {
        if cause != Cause::First {
            let audience = audience(ledger, entity);
            self.base.note(audience, ledger.window(), at);
            self.balance += audience as f64 * self.budget.share_of_base(0.0);
            self.adapt(ledger.window(), at);
        }
    }
}
