//! `lottery`: who is told is a matter of chance, weighted by who deserves it.

use super::purse::Purse;
use super::weights::{Scales, Weights, frequencies};
use super::{Budget, Decision, Policy, Trigger};
use crate::ledger::{EntityIndex, Ledger};
use crate::trigger::Cause;
use alloc::format;
use alloc::string::String;

/// The probabilistic budget (thesis, section 3.4.1; paper, section 5.1).
///
/// At every trigger each receiver has a probability: what it deserves by its [`Weights`], times the vectors that the
/// [`Budget`] has for a trigger, at most 1, the surplus going to those below 1. The thesis then draws for every receiver
/// independently; the paper draws exactly one receiver per trigger, see [`Lottery::one`].
///
/// The papers lower the trigger's threshold to have more triggers to hand out; as in their experiments, thresholds stay as
/// configured here and the budget is a fraction of the base case at the same thresholds.
///
/// Chance comes from SplitMix64 with a given seed: equal seeds and inputs give equal bytes.
#[derive(Clone, Debug)]
pub struct Lottery {
    scales: Scales,
    purse: Purse,
    one_draw: bool,
    random: SplitMix64,
}

impl Lottery {
    /// A lottery with these weights.
    pub fn new(weights: Weights, budget: Budget, seed: u64) -> Self {
        Self { scales: Scales::new(weights), purse: Purse::new(budget), one_draw: false, random: SplitMix64(seed) }
    }

    /// Case 1: by accumulated error.
    pub fn case1(budget: Budget, seed: u64) -> Self {
        Self::new(Weights::ACCUMULATED, budget, seed)
    }

    /// Case 2: by instantaneous error.
    pub fn case2(budget: Budget, seed: u64) -> Self {
        Self::new(Weights::INSTANTANEOUS, budget, seed)
    }

    /// Case 3: by the time since the last vector.
    pub fn case3(budget: Budget, seed: u64) -> Self {
        Self::new(Weights::LAST_SENT, budget, seed)
    }

    /// Case 4: by all three alike.
    pub fn case4(budget: Budget, seed: u64) -> Self {
        Self::new(Weights::THIRDS, budget, seed)
    }

    /// Case 5: by accumulated and instantaneous error alike.
    pub fn case5(budget: Budget, seed: u64) -> Self {
        Self::new(Weights::HALVES, budget, seed)
    }

    /// Everybody has the same probability, the budget's: with 1/3, the thesis's "1/3 probabilistic case" (section 3.4.1.5).
    pub fn fixed(budget: Budget, seed: u64) -> Self {
        Self::new(Weights::EVEN, budget, seed)
    }

    /// One draw per trigger, by accumulated error, instead of one per receiver: with a budget of one vector per trigger
    /// exactly one receiver is picked, as in the paper. With another budget as many as it has, up or down to a whole number.
    pub fn one(budget: Budget, seed: u64) -> Self {
        Self { one_draw: true, ..Self::new(Weights::ACCUMULATED, budget, seed) }
    }

    /// Without bringing the count back to the budget when chance has led away from it, which the papers do not.
    pub fn literal(self) -> Self {
        Self { purse: self.purse.literal(), ..self }
    }
}

impl Policy for Lottery {
    fn name(&self) -> String {
        match self.scales.weights().label() {
            Some("pa") if self.one_draw => "lottery-one".into(),
            Some(label) => format!("lottery-{label}"),
            None => {
                let Weights { accumulated, instantaneous, last_sent, .. } = self.scales.weights();
                format!("lottery({accumulated}, {instantaneous}, {last_sent})")
            }
        }
    }

    fn decide(&mut self, ledger: &Ledger, trigger: &Trigger, decisions: &mut [Decision]) {
        if trigger.cause == Cause::First {
            decisions.fill(Decision::Now);
            return;
        }
        let shares = self.scales.weigh(ledger, trigger);
        let allowance = self.purse.allowance(trigger.entity, shares.len(), ledger.window(), trigger.at, ledger.sent());
        frequencies(shares, allowance);
        let common = self.random.unit();
        let (mut sent, mut before) = (0, 0.0);
        for entry in shares {
            let wins = if self.one_draw {
                // Lay the frequencies end to end: whoever covers the draw, or the draw plus a whole number, wins.
                let after = before + entry.share;
                let wins = libm::floor(after - common) > libm::floor(before - common);
                before = after;
                wins
            } else {
                self.random.unit() < entry.share
            };
            if wins {
                decisions[entry.receiver.0] = Decision::Now;
                sent += 1;
            }
        }
        self.purse.spend(trigger.entity, sent);
    }

    fn reads_error(&self) -> bool {
        self.scales.reads_error()
    }

    fn entity_left(&mut self, entity: EntityIndex) {
        self.scales.entity_left(entity);
        self.purse.entity_left(entity);
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): small, fast, and the same everywhere.
#[derive(Clone, Debug)]
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// At least 0 and below 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_the_published_one() {
        let mut random = SplitMix64(1_234_567);
        assert_eq!([random.next(), random.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
        assert!((0..1000).all(|_| (0.0..1.0).contains(&random.unit())));
    }

    #[test]
    fn names_say_which_case() {
        let budget = Budget::of_base(1, 3);
        assert_eq!(Lottery::case1(budget, 0).name(), "lottery-pa");
        assert_eq!(Lottery::case5(budget, 0).name(), "lottery-case5");
        assert_eq!(Lottery::one(budget, 0).name(), "lottery-one");
        assert_eq!(Lottery::new(Weights::mix(0.5, 0.0, 0.25), budget, 0).name(), "lottery(0.5, 0, 0.25)");
    }
}
