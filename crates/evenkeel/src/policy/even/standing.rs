//! How well each receiver has fared of late, and what that makes its errors weigh.

use super::cost::RESPONSE;
use crate::ids::HostId;
use crate::ledger::{EntityIndex, Ledger, ReceiverIndex};
use crate::policy::Settled;
use crate::policy::weights::importance;
use crate::time::GlobalTime;
use alloc::vec::Vec;

/// How steeply weights rise with errors, as long as the exchange rate allows it: errors that differ by a fifth are weighed 2.5 : 1.
const STEEPNESS: f64 = 5.0;
/// After so many windows weights count half: a first impression is mostly chance.
const FIRST_IMPRESSION: f64 = 0.75;
/// No receiver counts as better off than this share of the mean.
const LEAST: f64 = 0.02;
/// Differences of what so many vectors make count for little: where errors are small, one that comes late makes the best off the
/// worst off, and to weigh such differences would make vectors come late in turn.
const CHANCE: f64 = 6.0;
/// For how many triggers of its own the share of vectors sent to everybody counts.
const GENERAL: f64 = 10.0;
/// The books are read at about so many triggers per window; where there are more, at some of them. Errors are means over the window,
/// and more readings of it say nothing new.
const READINGS: f64 = 150.0;
const GOLDEN: f64 = 0.618_033_988_75;
/// For how many vectors that arrived a receiver is trusted in advance.
const TRUSTED: f64 = 10.0;

/// What each receiver has suffered, over all entities, with the past fading.
///
/// A weight has two parts. One is the price of fairness: it rises with the receiver's error of late, and two receivers differ in it by
/// the exchange rate at most. The other makes worths comparable at all: a vector that comes every T seconds improves the mean error by
/// about (what it gains at arrival) x T / 2, so at equal gains it is worth more to a receiver that is served rarely. Without it the
/// smallest mean would not be at an exchange rate of 1: far receivers gain more per vector, are served more often, and would be served
/// more often than pays.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    /// The natural logarithm of the exchange rate: by how much weights may differ.
    most: f64,
    receivers: Vec<Fared>,
    /// For how long this has been kept, in seconds.
    seconds: f64,
    last: Option<GlobalTime>,
    /// Triggers, with the past fading over the window, and when the last one was.
    triggers: f64,
    heard: Option<GlobalTime>,
    /// At which of them the books are read: those at which this is small.
    turn: f64,
}

/// How one receiver has fared.
#[derive(Clone, Copy, Debug)]
struct Fared {
    host: HostId,
    /// Mean distances of late with entities in its scope, added up over triggers.
    errors: f64,
    /// Of so many triggers.
    triggers: f64,
    weight: f64,
    /// The part of the weight that is due to fairness, and how strongly the number of vectors answers to that.
    fairness: (f64, f64),
    /// Vectors sent to it, and those of which it is known that they arrived, or not.
    sent: f64,
    arrived: f64,
    lost: f64,
    /// Whether anything was ever in its scope: who sees nothing, like the owner of all there is, is no measure for others.
    sees: bool,
}

impl Fared {
    /// Somebody of whom nothing is known but how others fare.
    fn at_the_mean(host: HostId, errors: f64) -> Self {
        let (sent, arrived, lost) = (0.0, 0.0, 0.0);
        Self { host, errors, triggers: 1.0, weight: 1.0, fairness: (1.0, 1.0), sent, arrived, lost, sees: false }
    }

    /// The mean over triggers, as far as fairness takes it into account: who sees fewer entities is not better off for it, and who
    /// acknowledges fewer vectors is not worse off. What was lost is made up for by worth; if it gave weight as well, a receiver
    /// would gain by not acknowledging what it received.
    fn error(&self) -> f64 {
        self.acknowledged() * self.errors / self.triggers.max(1e-9)
    }

    /// The share of vectors of which it is known that they arrived.
    fn acknowledged(&self) -> f64 {
        (self.arrived + TRUSTED) / (self.arrived + self.lost + TRUSTED)
    }
}

impl Standing {
    /// Weights that differ at most by the exchange rate.
    pub(super) fn new(exchange_rate: f64) -> Self {
        Self {
            most: libm::log(exchange_rate),
            receivers: Vec::new(),
            seconds: 0.0,
            last: None,
            triggers: 0.0,
            heard: None,
            turn: 0.0,
        }
    }

    /// What errors of a receiver weigh; 1 at the mean.
    pub(super) fn weight(&self, receiver: ReceiverIndex) -> f64 {
        self.receivers.get(receiver.0).map_or(1.0, |fared| fared.weight)
    }

    /// The part of that which is due to fairness, and its power of minus [`RESPONSE`].
    pub(super) fn fairness(&self, receiver: ReceiverIndex) -> (f64, f64) {
        self.receivers.get(receiver.0).map_or((1.0, 1.0), |fared| fared.fairness)
    }

    /// A trigger: takes note of how everybody fares with its entity, and weighs them anew. `price` is what a vector is worth at
    /// present, in metre-seconds. Where triggers are many, only some of them count.
    pub(super) fn triggered(&mut self, ledger: &Ledger, entity: EntityIndex, now: GlobalTime, price: f64) {
        let window = ledger.window().as_secs_f64();
        if !self.is_read(window, now) {
            return;
        }
        let since = self.last.replace(now).map_or(0.0, |last| now.since(last).as_secs_f64().max(0.0));
        let keep = libm::exp(-since / window);
        self.seconds += since;
        self.follow(ledger);
        for (receiver, fared) in ledger.receivers().zip(&mut self.receivers) {
            for sum in [&mut fared.errors, &mut fared.triggers, &mut fared.sent, &mut fared.arrived, &mut fared.lost] {
                *sum *= keep;
            }
            let pair = ledger.pair(entity, receiver);
            let shown = pair.shown_for(now).as_secs_f64();
            if pair.relevance().in_scope() && shown > 0.0 {
                let counted = window * (1.0 - libm::exp(-shown / window));
                fared.errors += importance(&pair) * pair.recent(now) / counted;
                fared.triggers += 1.0;
                fared.sees = true;
            }
        }
        // Errors are means over entities and the window, and a vector is about one entity.
        let entities = ledger.entity_count().max(1) as f64;
        self.weigh(CHANCE * price / (entities * window), self.seconds / (self.seconds + FIRST_IMPRESSION * window));
    }

    /// Whether the books are read at this trigger.
    fn is_read(&mut self, window: f64, now: GlobalTime) -> bool {
        let since = self.heard.replace(now).map_or(0.0, |last| now.since(last).as_secs_f64().max(0.0));
        if since > 0.0 {
            self.triggers *= libm::exp(-since / window);
        }
        self.triggers += 1.0;
        // The golden ratio sees to it that no entity is always left out, whatever the order in which they trigger.
        self.turn += GOLDEN;
        self.turn -= libm::floor(self.turn);
        self.turn < READINGS / self.triggers
    }

    /// Records a vector that goes to a receiver.
    pub(super) fn sent(&mut self, receiver: ReceiverIndex) {
        if let Some(fared) = self.receivers.get_mut(receiver.0) {
            fared.sent += 1.0;
        }
    }

    /// Records what became of a vector that was sent to a receiver.
    pub(super) fn settled(&mut self, settled: &Settled) {
        let Some(fared) = self.receivers.get_mut(settled.receiver.0) else { return };
        if settled.arrival.is_none() {
            fared.lost += 1.0;
        } else {
            fared.arrived += 1.0;
            fared.lost = (fared.lost - f64::from(u8::from(settled.late))).max(0.0);
        }
    }

    /// Forgets a receiver that left; the last one takes over its index.
    pub(super) fn receiver_left(&mut self, receiver: ReceiverIndex) {
        if receiver.0 < self.receivers.len() {
            self.receivers.swap_remove(receiver.0);
        }
    }

    /// Weighs everybody. `known` is how much is known of how they fare, from 0 to 1.
    fn weigh(&mut self, chance: f64, known: f64) {
        let mean = self.mean();
        let least = LEAST * mean + chance;
        let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
        for fared in &mut self.receivers {
            let ratio = if mean > 0.0 && fared.sees { (fared.error() + least) / (mean + least) } else { 1.0 };
            fared.weight = STEEPNESS * known * libm::log(ratio);
            (lowest, highest) = (lowest.min(fared.weight), highest.max(fared.weight));
        }
        // At the optimum, weights are what a metre of one may cost in metres of another.
        let scale = if highest - lowest > self.most { self.most / (highest - lowest) } else { 1.0 };
        let served = self.served();
        for fared in &mut self.receivers {
            let own = (fared.sent + GENERAL * served) / (fared.triggers + GENERAL);
            let rarely = if own > 0.0 && fared.sees { served / own } else { 1.0 };
            let fairness = libm::exp(scale * fared.weight);
            fared.fairness = (fairness, libm::pow(fairness, -RESPONSE));
            // What may not arrive is worth less: half of the vectors lost count for 0.7. A receiver that keeps receipts back must not
            // be sent more for it than it gains.
            fared.weight = fairness * rarely * libm::sqrt(fared.acknowledged());
        }
    }

    /// The share of vectors that are sent, over all receivers.
    fn served(&self) -> f64 {
        let seeing = self.receivers.iter().filter(|fared| fared.sees);
        let (sent, triggers) = seeing.fold((0.0, 0.0), |(s, t), fared| (s + fared.sent, t + fared.triggers));
        if triggers > 0.0 { sent / triggers } else { 0.0 }
    }

    fn mean(&self) -> f64 {
        let seeing = || self.receivers.iter().filter(|fared| fared.sees);
        seeing().map(Fared::error).sum::<f64>() / (seeing().count().max(1) as f64)
    }

    /// Follows the ledger's receivers. Whoever is new starts at the mean: nobody owes, or is owed, the past.
    fn follow(&mut self, ledger: &Ledger) {
        let errors = self.mean();
        for receiver in ledger.receivers() {
            let host = ledger.host(receiver);
            let place = receiver.0;
            if self.receivers.get(place).is_some_and(|fared| fared.host == host) {
                continue;
            }
            let further = self.receivers.iter().skip(place).position(|fared| fared.host == host);
            let from = further.map_or(self.receivers.len(), |further| place + further);
            if further.is_none() {
                self.receivers.push(Fared::at_the_mean(host, errors));
            }
            self.receivers.swap(place, from);
        }
        self.receivers.truncate(ledger.receivers().len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::VectorNumber;
    use proptest::prelude::*;

    fn weighed(exchange_rate: f64, errors: &[f64]) -> Vec<f64> {
        let mut standing = Standing::new(exchange_rate);
        let fared = |(i, errors): (u32, &f64)| Fared { sees: true, ..Fared::at_the_mean(HostId(i), *errors) };
        standing.receivers = (0..).zip(errors).map(fared).collect();
        standing.weigh(0.0, 1.0);
        standing.receivers.iter().map(|fared| fared.weight).collect()
    }

    proptest! {
        #[test]
        fn weights_differ_by_the_exchange_rate_at_most(
            rate in 1.0..20.0f64, errors in prop::collection::vec(0.0..1e3f64, 1..9), scale in 1e-3..1e3f64,
        ) {
            let weights = weighed(rate, &errors);
            let (least, most) = weights.iter().fold((f64::INFINITY, 0.0f64), |(l, m), w| (l.min(*w), m.max(*w)));
            prop_assert!(most / least <= rate * (1.0 + 1e-9), "{weights:?}");
            for (a, b) in errors.iter().zip(&weights).flat_map(|a| errors.iter().zip(&weights).map(move |b| (a, b))) {
                prop_assert!(a.0 <= b.0 || a.1 >= b.1, "who is worse off weighs no less");
            }
            let scaled: Vec<f64> = errors.iter().map(|e| e * scale).collect();
            let again = weighed(rate, &scaled);
            prop_assert!(weights.iter().zip(&again).all(|(a, b)| (a / b - 1.0).abs() < 1e-6), "{weights:?} {again:?}");
        }
    }

    #[test]
    fn at_a_rate_of_one_everybody_weighs_the_same() {
        assert!(weighed(1.0, &[1.0, 5.0, 20.0]).iter().all(|weight| *weight == 1.0));
    }

    /// Small differences are weighed in full.
    #[test]
    fn the_rate_is_a_limit_not_a_setting() {
        let weights = weighed(10.0, &[1.0, 1.02]);
        let ratio = weights[1] / weights[0];
        assert!((1.09..1.11).contains(&ratio), "{ratio}");
    }
    fn settled(receiver: usize, arrived: bool, late: bool) -> Settled {
        Settled {
            entity: EntityIndex(0),
            receiver: ReceiverIndex(receiver),
            vector: VectorNumber::FIRST,
            sent: GlobalTime::ZERO,
            arrival: arrived.then_some(GlobalTime::ZERO),
            late,
        }
    }

    /// What counted as lost and arrived after all counts as arrived only.
    #[test]
    fn receipts_that_come_late_cost_no_weight() {
        let mut standing = Standing::new(2.0);
        standing.receivers = (0..2).map(|i| Fared { sees: true, ..Fared::at_the_mean(HostId(i), 1.0) }).collect();
        for _ in 0..200 {
            standing.settled(&settled(0, false, false));
            standing.settled(&settled(0, true, true));
            standing.settled(&settled(1, true, false));
        }
        standing.weigh(0.0, 1.0);
        assert_eq!(standing.fairness(ReceiverIndex(0)), standing.fairness(ReceiverIndex(1)));
    }

    /// Of two receivers with the same error, the one that acknowledges half of what it is sent weighs less: it gains nothing by silence.
    #[test]
    fn what_is_not_acknowledged_gives_no_weight() {
        let mut standing = Standing::new(2.0);
        let fared = |i| Fared { sees: true, ..Fared::at_the_mean(HostId(i), 1.0) };
        standing.receivers = (0..3).map(fared).collect();
        for i in 0..200 {
            (0..3).for_each(|r| standing.settled(&settled(r, r != 0 || i % 2 == 0, false)));
        }
        standing.receivers[0].errors = 1.5;
        standing.weigh(0.0, 1.0);
        assert!(standing.fairness(ReceiverIndex(0)) < standing.fairness(ReceiverIndex(1)));
    }
}
