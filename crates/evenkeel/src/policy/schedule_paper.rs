//! `schedule-paper`: every vector's error is made equal, with corrections when receipts tell what it really was.

use super::schedule::least_hold;
use super::table::PairTable;
use super::weights::importance;
use super::{Decision, Policy, Settled, Trigger};
use crate::ids::VectorNumber;
use crate::ledger::{EntityIndex, Ledger, ReceiverIndex, Vector};
use crate::path::distance_integral;
use crate::time::{Duration, GlobalTime};
use crate::trigger::Cause;
use alloc::string::String;
use alloc::vec::Vec;

/// More vectors than this are never waited for, per entity and receiver.
const MAX_PENDING: usize = 64;

/// The paper's scheduling (sections 4.1 to 4.6).
///
/// Every vector costs a receiver the error between it and the vector before, from its generation until it arrives: its hold
/// plus the estimated delay. Holds are chosen so that this, plus the relative export error, is the same for all: the
/// **largest** that there is without holding (erratum 1: equation 1 says the smallest, but holds cannot be negative).
///
/// The relative export error is what earlier vectors really cost less what they were scheduled to cost, A - S (erratum 3).
/// It is known when a receipt comes, counts in the next schedule, and then is used up. A receipt that is late counts later.
/// Vectors still held at the next trigger are dropped; what their receiver suffered meanwhile counts in full (section 4.6).
///
/// The paper takes it that receivers show the vector sent last and that receipts come before the next trigger; at delays of
/// several triggers neither is so (erratum 4), which [`Schedule`](super::Schedule) does better.
#[derive(Clone, Debug)]
pub struct SchedulePaper {
    /// No vector is held longer than this: the paper has no bound, the thesis takes the entity's time threshold (erratum 6).
    pub max_hold: Duration,
    pairs: PairTable<Relative>,
    /// What each receiver's schedule starts with, at the trigger at hand; `None` where the policy has no say.
    owed: Vec<Option<f64>>,
}

/// What the paper's algorithm remembers of an entity at a receiver.
#[derive(Clone, Debug, Default)]
struct Relative {
    /// What receipts have told since the last schedule.
    error: f64,
    /// What the last schedule counted with, and when that was.
    used: Option<(f64, GlobalTime)>,
    pending: Vec<Pending>,
}

/// A vector on its way, or waiting for it.
#[derive(Clone, Copy, Debug)]
struct Pending {
    vector: VectorNumber,
    /// The vector that the receiver was taken to show until then.
    before: VectorNumber,
    /// When it was scheduled to arrive.
    expected: GlobalTime,
}

impl Default for SchedulePaper {
    /// Holds for at most a second.
    fn default() -> Self {
        Self::new(Duration::from_secs(1))
    }
}

impl SchedulePaper {
    /// Holds for at most this long.
    pub fn new(max_hold: Duration) -> Self {
        Self { max_hold, pairs: PairTable::default(), owed: Vec::new() }
    }

    /// What a receiver's schedule starts with: its relative export error, and if the vector before never left, what that has
    /// cost it.
    fn owed(ledger: &Ledger, trigger: &Trigger, receiver: ReceiverIndex, relative: &mut Relative) -> Option<f64> {
        let pair = ledger.pair(trigger.entity, receiver);
        if !pair.relevance().in_scope() || pair.last_sent().is_none() {
            *relative = Relative::default();
            return None;
        }
        let mut owed = core::mem::take(&mut relative.error);
        let overtaken = pair.held().filter(|(_, until)| *until > trigger.at);
        if let (Some((number, _)), Some((used, since))) = (overtaken, relative.used) {
            let meanwhile = ledger.vector(trigger.entity, number).and_then(|v| pair.deviation(v, since, trigger.at));
            owed += used + meanwhile.unwrap_or(0.0);
            relative.pending.retain(|p| p.vector != number);
        }
        relative.used = Some((owed, trigger.at));
        Some(owed)
    }
}

impl Policy for SchedulePaper {
    fn name(&self) -> String {
        "schedule-paper".into()
    }

    fn decide(&mut self, ledger: &Ledger, trigger: &Trigger, decisions: &mut [Decision]) {
        let row = self.pairs.row(ledger, trigger.entity);
        let vector = ledger.vector(trigger.entity, trigger.vector).filter(|_| trigger.cause != Cause::First);
        let Some(vector) = vector else {
            decisions.fill(Decision::Now);
            row.iter_mut().for_each(|(_, relative)| *relative = Relative::default());
            return;
        };
        self.owed.clear();
        self.owed.extend(ledger.receivers().zip(row.iter_mut()).map(|(i, (_, r))| Self::owed(ledger, trigger, i, r)));
        let owed = &self.owed;
        let error_if_held = |receiver: ReceiverIndex, hold: Duration| {
            let pair = ledger.pair(trigger.entity, receiver);
            let shown = pair.shown(trigger.at + pair.delay() + hold);
            let cost = pair.deviation(vector, trigger.at, shown).unwrap_or(0.0);
            Some(importance(&pair) * (owed[receiver.0]? + cost))
        };
        let unheld = ledger.receivers().filter_map(|r| error_if_held(r, Duration::ZERO));
        let Some(largest) = unheld.max_by(f64::total_cmp) else { return };
        for receiver in ledger.receivers() {
            if owed[receiver.0].is_none() {
                continue;
            }
            let hold = least_hold(self.max_hold, largest, |hold| error_if_held(receiver, hold).unwrap_or(largest));
            decisions[receiver.0] = Decision::At(trigger.at + hold);
            let pair = ledger.pair(trigger.entity, receiver);
            let Some(before) = pair.reference().map(|v| v.number) else { continue };
            let pending = &mut row[receiver.0].1.pending;
            if pending.len() >= MAX_PENDING {
                pending.remove(0);
            }
            pending.push(Pending { vector: trigger.vector, before, expected: trigger.at + hold + pair.delay() });
        }
    }

    fn reads_error(&self) -> bool {
        false
    }

    fn wants_settled(&self) -> bool {
        true
    }

    fn settled(&mut self, ledger: &Ledger, settled: &Settled) {
        let Some(relative) = self.pairs.get(ledger, settled.entity, settled.receiver) else { return };
        let Some(index) = relative.pending.iter().position(|p| p.vector == settled.vector) else { return };
        let pending = relative.pending.remove(index);
        let vectors = [pending.vector, pending.before].map(|number| ledger.vector(settled.entity, number));
        if let (Some(arrival), [Some(vector), Some(before)]) = (settled.arrival, vectors) {
            // What arrives before its time has come costs nothing.
            let lag = ledger.lag(settled.receiver);
            let [expected, arrival] = [pending.expected, arrival].map(|t| lag.takes_effect(vector.generated, t));
            relative.error += signed_cost(vector, before, expected, arrival);
        }
    }

    fn entity_left(&mut self, entity: EntityIndex) {
        self.pairs.entity_left(entity);
    }
}

/// What a vector cost beyond what was scheduled; negative if it came sooner.
fn signed_cost(vector: &Vector, before: &Vector, expected: GlobalTime, arrival: GlobalTime) -> f64 {
    let from = expected.min(arrival);
    let seconds = |v: &Vector| from.since(v.generated).as_secs_f64();
    let span = arrival.since(expected).abs().as_secs_f64();
    let cost = distance_integral(&vector.motion, seconds(vector), &before.motion, seconds(before), span).value;
    if arrival < expected { -cost } else { cost }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Format;
    use crate::{Motion, Vec3};

    fn vector(number: VectorNumber, speed: f64) -> Vector {
        let motion = Motion::linear(Vec3::ZERO, Vec3::new(speed, 0.0, 0.0));
        let quantised = Format::lossless().quantise(&motion, GlobalTime::ZERO).unwrap();
        Vector { number, generated: GlobalTime::ZERO, motion, quantised }
    }

    #[test]
    fn later_than_scheduled_is_owed_and_sooner_owes() {
        let (new, before) = (vector(VectorNumber::FIRST.next(), 3.0), vector(VectorNumber::FIRST, 1.0));
        let at = GlobalTime::from_millis;
        // Two metres per second apart: t squared metre-seconds after t.
        let late = signed_cost(&new, &before, at(1_000), at(2_000));
        assert!((late - 3.0).abs() < 1e-12, "{late}");
        assert_eq!(signed_cost(&new, &before, at(2_000), at(1_000)), -late);
        assert_eq!(signed_cost(&new, &before, at(1_000), at(1_000)), 0.0);
    }
}
