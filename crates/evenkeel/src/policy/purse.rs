//! Keeping to a budget.

use super::Budget;
use super::charges::Charges;
use crate::ledger::{EntityIndex, Ledger};
use crate::time::{Duration, GlobalTime};
use alloc::vec::Vec;

/// Rates are measured over the window over which the past counts, divided by this: over 5 s if the window is the usual 20 s.
const METERED: i64 = 4;
/// Rates are not measured over less than this, however short the window.
const LEAST: Duration = Duration::from_micros(1);
/// Until the time over which rates are measured, divided by this, has passed, rates are computed as if it had: 1 s of 5 s.
const OPENING: i64 = 5;

/// How many vectors per second there were lately.
#[derive(Clone, Debug, Default)]
pub(super) struct Meter {
    /// Vectors, the past fading.
    faded: f64,
    since: Option<GlobalTime>,
    last: GlobalTime,
}

impl Meter {
    /// Returns the time over which rates are measured. `window` is how long the past counts, here and below.
    pub(super) fn span(window: Duration) -> Duration {
        (window / METERED).max(LEAST)
    }

    pub(super) fn note(&mut self, vectors: usize, window: Duration, at: GlobalTime) {
        self.faded = self.faded * self.kept(at.since(self.last), Self::span(window)) + vectors as f64;
        self.since.get_or_insert(at);
        self.last = at;
    }

    pub(super) fn rate(&self, window: Duration, at: GlobalTime) -> f64 {
        let Some(since) = self.since else { return 0.0 };
        let over = Self::span(window);
        // A moment after the start nothing can be said about a rate.
        let observed = at.since(since).max(over / OPENING);
        let full = over.as_secs_f64() * (1.0 - self.kept(observed, over));
        self.faded * self.kept(at.since(self.last), over) / full
    }

    fn kept(&self, passed: Duration, over: Duration) -> f64 {
        if self.since.is_none() { 0.0 } else { libm::exp(-passed.as_secs_f64() / over.as_secs_f64()) }
    }
}

/// How many receivers an entity has in scope.
pub(super) fn audience(ledger: &Ledger, entity: EntityIndex) -> usize {
    ledger.receivers().filter(|r| ledger.pair(entity, *r).relevance().in_scope()).count()
}

/// Over so many triggers a balance is brought back to zero.
const HORIZON: f64 = 10.0;

/// The budget of the papers' policies, which keep it for each entity on its own: so many vectors per trigger.
///
/// The papers hand out the same number at every trigger and take it that as many are sent. They are not: chance deviates,
/// and a schedule that is set at the moment of service is set at no typical moment. So a purse keeps a balance,
/// and hands out a little more or less until it is even. [`Purse::literal`] does without. Bytes are vectors at the mean of late. A
/// budget per receiver it can keep only for all receivers together.
#[derive(Clone, Debug)]
pub(super) struct Purse {
    budget: Budget,
    charges: Charges,
    base: Meter,
    /// Vectors not yet sent that should have been, per entity; negative if too many were.
    balances: Vec<f64>,
    balanced: bool,
}

impl Purse {
    pub(super) fn new(budget: Budget) -> Self {
        let charges = Charges::new(budget);
        Self { budget, charges, base: Meter::default(), balances: Vec::new(), balanced: true }
    }

    pub(super) fn literal(self) -> Self {
        Self { balanced: false, ..self }
    }

    /// How many vectors there are for a trigger with so many receivers. `window` is how long the past counts, `sent` how many vectors
    /// and bytes were sent so far.
    pub(super) fn allowance(
        &mut self,
        entity: EntityIndex,
        receivers: usize,
        window: Duration,
        at: GlobalTime,
        sent: (u64, u64),
    ) -> f64 {
        self.base.note(receivers, window, at);
        let receivers = receivers as f64;
        let excess = self.charges.reconcile(sent) / self.charges.cost();
        let divided = if self.budget.is_per_receiver() { receivers } else { 1.0 };
        let base_rate = self.base.rate(window, at) * self.charges.cost() / divided;
        let due = receivers * self.budget.share_of_base(base_rate).clamp(0.0, 1.0);
        if self.balances.len() <= entity.0 {
            self.balances.resize(entity.0 + 1, 0.0);
        }
        let balance = &mut self.balances[entity.0];
        let correction = if self.balanced { *balance / HORIZON } else { 0.0 };
        *balance = (*balance + due - excess).clamp(-HORIZON * receivers, HORIZON * receivers);
        (due + correction).clamp(due / 4.0, (due * 4.0).min(receivers))
    }

    /// So many of them were sent.
    pub(super) fn spend(&mut self, entity: EntityIndex, vectors: usize) {
        self.charges.charge(vectors as f64);
        if let Some(balance) = self.balances.get_mut(entity.0) {
            *balance -= vectors as f64;
        }
    }

    pub(super) fn entity_left(&mut self, entity: EntityIndex) {
        if let Some(balance) = self.balances.get_mut(entity.0) {
            *balance = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Duration = Duration::from_secs(20);

    #[test]
    fn a_meter_reads_the_rate() {
        let mut meter = Meter::default();
        assert_eq!(meter.rate(WINDOW, GlobalTime::ZERO), 0.0);
        for i in 0..600 {
            meter.note(3, WINDOW, GlobalTime::from_millis(i * 100));
        }
        let rate = meter.rate(WINDOW, GlobalTime::from_millis(60_000));
        assert!((rate - 30.0).abs() < 1.0, "{rate}");
    }

    #[test]
    fn a_balance_is_brought_back_to_zero() {
        let mut purse = Purse::new(Budget::of_base(1, 3));
        let (mut sent, mut owed) = (0, 0.0);
        for i in 0..300 {
            // Somebody who always sends half more than was handed out.
            owed += 1.5 * purse.allowance(EntityIndex(0), 3, WINDOW, GlobalTime::from_millis(i * 100), (0, 0));
            let now = owed as usize;
            owed -= now as f64;
            purse.spend(EntityIndex(0), now);
            sent += now;
        }
        assert!((290..=315).contains(&sent), "{sent}");
    }

    #[test]
    fn a_rate_is_a_share_of_what_base_sends() {
        let mut purse = Purse::new(Budget::PerSecond(10.0)).literal();
        let mut last = 0.0;
        for i in 0..600 {
            last = purse.allowance(EntityIndex(0), 3, WINDOW, GlobalTime::from_millis(i * 100), (0, 0));
        }
        assert!((last - 1.0).abs() < 0.05, "{last}");
    }

    /// Vectors take 40 bytes, and one in ten is sent twice at nobody's expense.
    #[test]
    fn a_rate_in_bytes_is_kept() {
        let mut purse = Purse::new(Budget::BytesPerSecond(100.0));
        let (mut vectors, mut owed) = (0, 0.0);
        for i in 0..3_000 {
            owed +=
                purse.allowance(EntityIndex(0), 3, WINDOW, GlobalTime::from_millis(i * 100), (vectors, 40 * vectors));
            let now = owed as usize;
            owed -= now as f64;
            purse.spend(EntityIndex(0), now);
            vectors += now as u64 + u64::from(now > 0 && i % 10 == 0);
        }
        let share = 40.0 * vectors as f64 / 30_000.0;
        assert!((0.98..1.02).contains(&share), "{share}");
    }
}
