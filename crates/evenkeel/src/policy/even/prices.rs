//! What a vector costs whom: one price for all receivers, or one for each.

use super::price::Price;
use crate::ledger::{EntityIndex, Ledger, ReceiverIndex};
use crate::policy::Budget;
use crate::policy::pots::Pots;
use crate::time::GlobalTime;

/// The prices of a sender's vectors: one for all receivers, or one for each if the budget holds for each on its own.
#[derive(Clone, Debug)]
pub(super) struct Prices {
    budget: Budget,
    prices: Pots<Price>,
}

impl Prices {
    pub(super) fn new(budget: Budget) -> Self {
        Self { budget, prices: Pots::new(budget.is_per_receiver(), Price::new(budget)) }
    }

    /// Follows the ledger's receivers, and what was sent to them. Call this before anything else.
    pub(super) fn follow(&mut self, ledger: &Ledger) {
        self.prices.follow(ledger);
        self.prices.with_sent(ledger).for_each(|(price, sent)| price.reconcile(sent));
    }

    pub(super) fn of(&self, receiver: ReceiverIndex) -> &Price {
        self.prices.of(receiver)
    }

    pub(super) fn of_mut(&mut self, receiver: ReceiverIndex) -> &mut Price {
        self.prices.of_mut(receiver)
    }

    /// Returns the mean of the prices at the level of their buckets; 0 as long as there is none.
    pub(super) fn mean(&self) -> f64 {
        self.prices.iter().map(Price::value).sum::<f64>() / self.prices.iter().len().max(1) as f64
    }

    /// Whether there may be too little for everybody: the best offers must come first.
    pub(super) fn are_scarce(&self) -> bool {
        !self.prices.are_each() && self.of(ReceiverIndex(0)).is_scarce()
    }

    /// Whether the budget is a share of the base case.
    pub(super) fn is_share(&self) -> bool {
        matches!(self.budget, Budget::OfBase { .. })
    }

    /// Whether everything may be sent.
    pub(super) fn is_unlimited(&self) -> bool {
        self.budget == Budget::Unlimited
    }

    /// Fixes the prices at what they are now, for all offers of one vector.
    pub(super) fn quote(&mut self) {
        self.prices.iter_mut().for_each(Price::quote);
    }

    /// Lends some vectors for an entity that receivers are told of for the first time, if the session has just begun.
    pub(super) fn lend(&mut self, ledger: &Ledger, entity: EntityIndex) {
        let window = ledger.window().as_secs_f64();
        if !self.prices.are_each() {
            return self.of_mut(ReceiverIndex(0)).lend(ledger.receivers().len() as f64, window);
        }
        let in_scope = |r: &ReceiverIndex| ledger.pair(entity, *r).relevance().in_scope();
        ledger.receivers().filter(in_scope).for_each(|receiver| self.of_mut(receiver).lend(1.0, window));
    }

    /// Whether each receiver has a budget of its own.
    pub(super) fn are_each(&self) -> bool {
        self.prices.are_each()
    }

    /// Takes in what a trigger of an entity allows to send, or the time since the last one.
    pub(super) fn trigger(&mut self, ledger: &Ledger, entity: EntityIndex, at: GlobalTime) {
        let window = ledger.window().as_secs_f64();
        let in_scope = |r: &ReceiverIndex| ledger.pair(entity, *r).relevance().in_scope();
        let receivers = ledger.receivers().filter(in_scope);
        if self.prices.are_each() {
            receivers.for_each(|receiver| self.of_mut(receiver).trigger(1.0, window, at));
        } else {
            self.of_mut(ReceiverIndex(0)).trigger(receivers.count() as f64, window, at);
        }
    }

    /// Lets time go on.
    pub(super) fn pass(&mut self, ledger: &Ledger, now: GlobalTime) {
        let window = ledger.window().as_secs_f64();
        self.prices.iter_mut().for_each(|price| price.pass(window, now));
    }
}
