//! The answer to "is my game fair?".

use super::{Ledger, ReceiverIndex};
use crate::ids::HostId;
use crate::path::SplitError;
use crate::policy::Spent;
use crate::time::{Duration, GlobalTime};
use alloc::vec::Vec;

/// How well, and how equally, the receivers of one sender are served.
#[derive(Clone, Debug, PartialEq)]
pub struct Fairness {
    /// One entry per receiver that shows anything.
    pub receivers: Vec<ReceiverFairness>,
    /// Accuracy: the mean over receivers of their mean distance between exported and placed path.
    pub mean: f64,
    /// Fairness: the standard deviation of the same.
    pub std: f64,
    /// That of the receiver worst off.
    pub max: f64,
    /// Who that is.
    pub worst: Option<HostId>,
    /// What was sent for it.
    pub spent: Spent,
}

/// How well one receiver is served, over all entities of the sender, also those that are gone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReceiverFairness {
    /// Who.
    pub host: HostId,
    /// Accumulated export error: distance times seconds, added up over entities.
    pub error: SplitError,
    /// For how long it has been showing them, added up over entities.
    pub shown: Duration,
    /// The mean distance between what it should show and what it shows.
    pub mean_distance: f64,
    /// The one-way delay to it, if known.
    pub delay: Option<Duration>,
    /// Vectors sent to it.
    pub vectors: u64,
    /// Bytes sent to it.
    pub bytes: u64,
}

impl Ledger {
    /// How well, and how equally, the receivers are served.
    pub fn fairness(&self, now: GlobalTime) -> Fairness {
        let rows = self.receivers().map(|r| self.receiver_fairness(r, now)).filter(|r| r.shown > Duration::ZERO);
        let receivers: Vec<_> = rows.collect();
        let count = (receivers.len() as f64).max(1.0);
        let mean = receivers.iter().map(|r| r.mean_distance).sum::<f64>() / count;
        let variance =
            receivers.iter().map(|r| (r.mean_distance - mean) * (r.mean_distance - mean)).sum::<f64>() / count;
        let worst = receivers.iter().max_by(|a, b| a.mean_distance.total_cmp(&b.mean_distance));
        let (max, worst) = worst.map_or((0.0, None), |r| (r.mean_distance, Some(r.host)));
        Fairness { mean, std: libm::sqrt(variance), max, worst, spent: self.spent, receivers }
    }

    fn receiver_fairness(&self, receiver: ReceiverIndex, now: GlobalTime) -> ReceiverFairness {
        let book = &self.receivers[receiver.0];
        let (mut error, mut shown) = (book.past_error, book.past_shown);
        for entity in self.entities() {
            let pair = self.pair(entity, receiver);
            error += pair.accumulated(now);
            shown += pair.shown_for(now);
        }
        let mean_distance = if shown > Duration::ZERO { error.total() / shown.as_secs_f64() } else { 0.0 };
        let (host, delay, vectors, bytes) = (book.host, book.path.delay(), book.vectors, book.bytes);
        ReceiverFairness { host, error, shown, mean_distance, delay, vectors, bytes }
    }
}
