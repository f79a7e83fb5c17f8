//! `credits`: everybody has a schedule, the more frequent the more it deserves.

use super::purse::Purse;
use super::table::PairTable;
use super::weights::{Scales, Weights, frequencies};
use super::{Budget, Decision, Policy, Trigger};
use crate::ledger::{EntityIndex, Ledger};
use crate::trigger::Cause;
use alloc::format;
use alloc::string::String;

/// No receiver waits longer than this many times its even share: a frequency of zero would be an infinite schedule
/// (erratum 9).
const LONGEST: f64 = 10.0;
/// So many triggers are as good as an infinity of them.
const FOREVER: f64 = 1e6;

/// The deterministic budget (thesis, section 3.4.2; paper, section 5.2).
///
/// Whenever a receiver's turn comes it is sent the vector, and its next turn is set: its frequency is what it deserves by its
/// [`Weights`], times the vectors that the [`Budget`] has for a trigger, at most 1, the surplus going to those below 1. It
/// waits 1/frequency triggers, less the credit it has, rounded up; what that adds is its credit for the next time. The
/// schedules of the others stay as they are.
#[derive(Clone, Debug)]
pub struct Credits {
    scales: Scales,
    purse: Purse,
    turns: PairTable<Turn>,
}

/// When a receiver's turn comes.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    /// In how many triggers; 0 if no schedule was made yet.
    wait: u32,
    /// The fraction of a trigger that it waited too long.
    credit: f64,
}

impl Credits {
    /// Credits with these weights. The thesis finds [`Weights::ACCUMULATED`] best.
    pub fn new(weights: Weights, budget: Budget) -> Self {
        Self { scales: Scales::new(weights), purse: Purse::new(budget), turns: PairTable::default() }
    }

    /// Without bringing the count back to the budget, as in the papers. A frequency is set when its receiver is about to be
    /// served, not when it is typical: by accumulated error the count then is within a few per cent of the budget, by the
    /// time since the last vector up to a sixth above it, by instantaneous error down to a third of it.
    pub fn literal(self) -> Self {
        Self { purse: self.purse.literal(), ..self }
    }
}

impl Turn {
    /// Sets the next turn, `interval` triggers from now but for credit.
    fn schedule(&mut self, interval: f64) {
        let exact = interval.min(FOREVER) - self.credit;
        // A whole number stays one, whatever rounding did to it.
        let whole = libm::ceil(exact - 1e-9).max(1.0);
        self.credit = (whole - exact).clamp(0.0, 1.0);
        self.wait = whole as u32;
    }
}

impl Policy for Credits {
    fn name(&self) -> String {
        match self.scales.weights().label() {
            Some("case4") => "credits-mix".into(),
            Some(label) => format!("credits-{label}"),
            None => {
                let Weights { accumulated, instantaneous, last_sent, .. } = self.scales.weights();
                format!("credits({accumulated}, {instantaneous}, {last_sent})")
            }
        }
    }

    fn decide(&mut self, ledger: &Ledger, trigger: &Trigger, decisions: &mut [Decision]) {
        let turns = self.turns.row(ledger, trigger.entity);
        if trigger.cause == Cause::First {
            decisions.fill(Decision::Now);
            turns.iter_mut().for_each(|(_, turn)| *turn = Turn::default());
            return;
        }
        let shares = self.scales.weigh(ledger, trigger);
        let receivers = shares.len();
        let even = 1.0 / receivers as f64;
        let allowance = self.purse.allowance(trigger.entity, receivers, ledger.window(), trigger.at, ledger.sent());
        let mut sent = 0;
        frequencies(shares, allowance);
        let least = allowance * even / LONGEST;
        for entry in shares {
            let turn = &mut turns[entry.receiver.0].1;
            if turn.wait == 0 {
                // Its first vector was not the policy's doing: the schedule starts there, with an even share.
                turn.schedule(1.0 / (allowance * even).min(1.0));
            }
            turn.wait -= 1;
            if turn.wait == 0 {
                decisions[entry.receiver.0] = Decision::Now;
                turn.schedule(1.0 / entry.share.max(least));
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
        self.turns.entity_left(entity);
        self.purse.entity_left(entity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn the_papers_example_every_three_and_a_half_triggers() {
        let mut turn = Turn::default();
        let waits: Vec<_> = (0..4).map(|_| (turn.schedule(3.5), turn.wait).1).collect();
        assert_eq!(waits, [4, 3, 4, 3]);
    }

    #[test]
    fn thirds_are_thirds_for_ever() {
        let mut turn = Turn::default();
        for _ in 0..1000 {
            turn.schedule(1.0 / (1.0 / 3.0 + 1e-17));
            assert_eq!(turn.wait, 3);
        }
    }

    #[test]
    fn a_credit_never_makes_a_turn_come_twice() {
        let mut turn = Turn { wait: 0, credit: 0.9 };
        turn.schedule(1.0);
        assert_eq!(turn.wait, 1);
        turn.schedule(f64::INFINITY);
        assert!(turn.wait == 1_000_000 && turn.credit < 1.0, "{turn:?}");
    }
}
