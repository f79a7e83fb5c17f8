//! How well each receiver has fared of late, and what that makes its errors weigh.

use crate::ids::HostId;
use crate::ledger::{EntityIndex, Ledger, ReceiverIndex};
use crate::policy::weights::importance;
use crate::time::GlobalTime;
use alloc::vec::Vec;

/// How long the past counts, in seconds.
const MEMORY: f64 = 30.0;
/// After so many seconds weights count half: a first impression is mostly chance.
const FIRST_IMPRESSION: f64 = 15.0;
/// No receiver counts as better off than this share of the mean: a weight of nothing would never be made good again.
const LEAST: f64 = 0.02;
/// Differences of what so many vectors make count for little: where errors are small, one that comes late makes the best off the
/// worst off, and to weigh such differences would make vectors come late in turn.
const CHANCE: f64 = 6.0;
/// How sharply weights lose their force as the worst off comes to be sent everything.
const SATURATION: f64 = 4.0;

/// What each receiver has suffered, over all entities, with the past fading.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    exponent: f64,
    receivers: Vec<Fared>,
    /// For how long this has been kept, in seconds.
    seconds: f64,
    last: Option<GlobalTime>,
}

/// How one receiver has fared.
#[derive(Clone, Copy, Debug)]
struct Fared {
    host: HostId,
    /// Errors with entities in its scope, added up over triggers.
    errors: f64,
    /// Of so many triggers.
    triggers: f64,
    /// Vectors sent to it.
    sent: f64,
    weight: f64,
    /// Whether anything was ever in its scope: who sees nothing, like the owner of all there is, is no measure for others.
    sees: bool,
}

impl Fared {
    /// The mean over triggers: who sees fewer entities is not better off for it.
    fn error(&self) -> f64 {
        self.errors / self.triggers.max(1e-9)
    }
}

impl Standing {
    /// Weights that grow with error to this power.
    pub(super) fn new(exponent: f64) -> Self {
        Self { exponent, receivers: Vec::new(), seconds: 0.0, last: None }
    }

    /// What errors of a receiver weigh; 1 at the mean.
    pub(super) fn weight(&self, receiver: ReceiverIndex) -> f64 {
        self.receivers.get(receiver.0).map_or(1.0, |fared| fared.weight)
    }

    /// A vector goes out to a receiver.
    pub(super) fn sent(&mut self, receiver: ReceiverIndex) {
        if let Some(fared) = self.receivers.get_mut(receiver.0) {
            fared.sent += 1.0;
        }
    }

    /// A trigger: takes note of how everybody fares with its entity, and weighs them anew. `price` is what a vector is worth at
    /// present.
    pub(super) fn triggered(&mut self, ledger: &Ledger, entity: EntityIndex, now: GlobalTime, price: f64) {
        let since = self.last.replace(now).map_or(0.0, |last| now.since(last).as_secs_f64().max(0.0));
        let keep = libm::exp(-since / MEMORY);
        self.seconds += since;
        self.follow(ledger);
        for (receiver, fared) in ledger.receivers().zip(&mut self.receivers) {
            (fared.errors, fared.triggers, fared.sent) =
                (fared.errors * keep, fared.triggers * keep, fared.sent * keep);
            let pair = ledger.pair(entity, receiver);
            if pair.relevance().in_scope() {
                fared.errors += importance(&pair) * pair.recent(now);
                fared.triggers += 1.0;
                fared.sees = true;
            }
        }
        // Errors are means over entities, and a vector is about one.
        self.weigh(CHANCE * price / ledger.entity_count().max(1) as f64);
    }

    fn weigh(&mut self, chance: f64) {
        let mean = self.mean();
        let exponent = self.force();
        let least = LEAST * mean + chance;
        for fared in &mut self.receivers {
            let ratio = if mean > 0.0 { (fared.error() + least) / (mean + least) } else { 1.0 };
            fared.weight = libm::pow(ratio, exponent);
        }
    }

    /// The exponent in force. Whoever is sent everything cannot be helped any further: to weigh its errors higher would only
    /// cost the others, so weights lose their force with the share of vectors that the worst off already gets.
    fn force(&self) -> f64 {
        let worst = self.receivers.iter().max_by(|a, b| a.error().total_cmp(&b.error()));
        let served = worst.map_or(0.0, |worst| (worst.sent / worst.triggers.max(1.0)).min(1.0));
        let known = self.seconds / (self.seconds + FIRST_IMPRESSION);
        self.exponent * known * (1.0 - libm::pow(served, SATURATION))
    }

    fn mean(&self) -> f64 {
        let seeing = || self.receivers.iter().filter(|fared| fared.sees);
        seeing().map(Fared::error).sum::<f64>() / (seeing().count().max(1) as f64)
    }

    /// Follows the ledger's receivers. Whoever is new starts at the mean: nobody owes, or is owed, the past.
    fn follow(&mut self, ledger: &Ledger) {
        let errors = self.mean();
        self.receivers.truncate(ledger.receivers().len());
        for receiver in ledger.receivers() {
            let host = ledger.host(receiver);
            let newcomer = Fared { host, errors, triggers: 1.0, sent: 0.0, weight: 1.0, sees: false };
            match self.receivers.get(receiver.0).map(|fared| fared.host) {
                Some(known) if known == host => {}
                Some(_) => match self.receivers.iter().skip(receiver.0).position(|fared| fared.host == host) {
                    Some(further) => self.receivers.swap(receiver.0, receiver.0 + further),
                    None => self.receivers[receiver.0] = newcomer,
                },
                None => self.receivers.push(newcomer),
            }
        }
    }
}
