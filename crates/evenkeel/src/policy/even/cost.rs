//! What fairness has cost of late.

use crate::ledger::{FairnessCost, Ledger};
use crate::time::GlobalTime;

/// How strongly the number of vectors to a receiver answers to its weight: n proportional to weight^RESPONSE. Between 1/2 (an error that
/// grows like the time since the last vector) and 2/3 (like its square root); then the error falls with the rate like n^-FALL.
pub(super) const RESPONSE: f64 = 0.6;
const FALL: f64 = 1.0 / RESPONSE - 1.0;
/// A worth is what a vector gains at its arrival times a time. How much less the mean error is for one more vector, as a share of that.
/// Measured, on tanks, ships, karts, cars and fighters, near and far.
const MARGINAL: f64 = 0.7;

/// Compares what is sent with what a policy at an exchange rate of 1 would send.
///
/// A receiver with a weight f of fairness is sent vectors until one more gains price / f. At a rate of 1 the same number of vectors would
/// go to receivers until one more gains the same everywhere. With n proportional to f^RESPONSE, and so an error that is proportional to
/// n^-FALL, the difference in error is
///
/// ```text
///   sum over vectors sent of  (price / FALL) (1 / f - m^FALL f^-RESPONSE),     m = mean of f^-RESPONSE
/// ```
///
/// That is never negative (power means), is 0 if all weights are alike, and needs no sums per receiver. Terms of receivers
/// that are sent more than at a rate of 1 are negative: that is what they are given.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    sums: Sums,
    /// m^FALL, as it was when time last went on.
    level: f64,
    /// For how long this has been kept, in seconds.
    seconds: f64,
    last: Option<GlobalTime>,
}

/// Over vectors sent, with the past fading over the window.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// Prices.
    price: f64,
    /// Prices x f^-RESPONSE.
    even: f64,
    /// Prices / f.
    marginal: f64,
    /// What receivers gain that are sent more than at a rate of 1.
    given: f64,
}

impl Sums {
    fn fade(&mut self, keep: f64) {
        for sum in [&mut self.price, &mut self.even, &mut self.marginal, &mut self.given] {
            *sum *= keep;
        }
    }
}

impl Cost {
    /// Records a vector sent at a price to a receiver with a weight of fairness, whose power of `-RESPONSE` is `response`. `window` is how
    /// long the past counts, in seconds.
    pub(super) fn sent(&mut self, (fairness, response): (f64, f64), price: f64, window: f64, now: GlobalTime) {
        if self.last != Some(now) {
            self.pass(window, now);
        }
        let (even, marginal) = (price * response, price / fairness);
        let sums = &mut self.sums;
        (sums.price, sums.even, sums.marginal) = (sums.price + price, sums.even + even, sums.marginal + marginal);
        sums.given += (self.level * even - marginal).max(0.0);
    }

    fn pass(&mut self, window: f64, now: GlobalTime) {
        let since = self.last.replace(now).map_or(0.0, |last| now.since(last).as_secs_f64().max(0.0));
        self.seconds += since;
        self.sums.fade(libm::exp(-since / window));
        self.level = if self.sums.price > 0.0 { libm::pow(self.sums.even / self.sums.price, FALL) } else { 1.0 };
    }

    /// What it comes to for the mean over all pairs in scope, in metres.
    pub(super) fn of_late(&self, ledger: &Ledger, now: GlobalTime) -> FairnessCost {
        let (Sums { price, even, marginal, given }, window) = (self.sums, ledger.window().as_secs_f64());
        let since = self.last.map_or(0.0, |last| now.since(last).as_secs_f64().max(0.0));
        let seconds = self.seconds + since;
        if !(price > 0.0 && seconds > 0.0) {
            return FairnessCost::default();
        }
        let in_scope = |entity| ledger.receivers().filter(|r| ledger.pair(entity, *r).relevance().in_scope()).count();
        let pairs = ledger.entities().map(in_scope).sum::<usize>().max(1) as f64;
        let net = (marginal - libm::pow(even / price, FALL) * even).max(0.0);
        let counted = window * (1.0 - libm::exp(-seconds / window));
        let scale = MARGINAL / FALL * libm::exp(-since / window) / (counted * pairs);
        FairnessCost { taken: (net + given) * scale, given: given * scale }
    }
}
