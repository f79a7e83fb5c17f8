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
    /// What fairness has cost of late, if the policy says so. Not over the whole session: the past fades over the ledger's window.
    pub cost: Option<FairnessCost>,
}

/// What fairness has cost of late: an estimate of how errors differ from those at an exchange rate of 1, with the same number of
/// vectors. In metres, as parts of the mean error over all receivers and entities.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FairnessCost {
    /// The error taken on by receivers that are sent less than at an exchange rate of 1.
    pub taken: f64,
    /// The error spared to receivers that are sent more.
    pub given: f64,
}

impl FairnessCost {
    /// Returns by how much the mean error is larger.
    pub fn of_the_mean(&self) -> f64 {
        self.taken - self.given
    }
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

impl Fairness {
    /// What has happened since an earlier answer: to see what a change of policy or network did.
    ///
    /// ```
    /// # use evenkeel::*;
    /// # let sender = Sender::new(SenderConfig::default())?;
    /// let before = sender.fairness(GlobalTime::from_millis(5_000));
    /// // ... another policy ...
    /// let since = sender.fairness(GlobalTime::from_millis(10_000)).since(&before);
    /// assert_eq!(since.spent.vectors, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn since(&self, earlier: &Self) -> Self {
        let difference = |now: &ReceiverFairness| {
            let before = earlier.receivers.iter().find(|r| r.host == now.host);
            let Some(before) = before else { return *now };
            let (error, shown) = (now.error - before.error, now.shown - before.shown);
            let (vectors, bytes) = (now.vectors.saturating_sub(before.vectors), now.bytes.saturating_sub(before.bytes));
            ReceiverFairness { error, shown, mean_distance: mean_distance(error, shown), vectors, bytes, ..*now }
        };
        let receivers = self.receivers.iter().map(difference).filter(|r| r.shown > Duration::ZERO);
        Self { cost: self.cost, ..Self::over(receivers.collect(), self.spent.since(&earlier.spent)) }
    }

    fn over(receivers: Vec<ReceiverFairness>, spent: Spent) -> Self {
        let count = (receivers.len() as f64).max(1.0);
        // The sum of nothing is minus zero; nobody wants to read that.
        let sum = |values: &dyn Fn(&ReceiverFairness) -> f64| receivers.iter().map(values).fold(0.0, |sum, v| sum + v);
        let mean = sum(&|r| r.mean_distance) / count;
        let square = |r: &ReceiverFairness| (r.mean_distance - mean) * (r.mean_distance - mean);
        let variance = sum(&square) / count;
        let worst = receivers.iter().max_by(|a, b| a.mean_distance.total_cmp(&b.mean_distance));
        let (max, worst) = worst.map_or((0.0, None), |r| (r.mean_distance, Some(r.host)));
        Self { mean, std: libm::sqrt(variance), max, worst, spent, receivers, cost: None }
    }
}

fn mean_distance(error: SplitError, shown: Duration) -> f64 {
    if shown > Duration::ZERO { error.total() / shown.as_secs_f64() } else { 0.0 }
}

impl Ledger {
    /// How well, and how equally, the receivers are served. What that costs, only a sender knows.
    pub fn fairness(&self, now: GlobalTime) -> Fairness {
        #[cfg(any(test, evenkeel_oracle))]
        self.check_books(now);
        let rows = self.receivers().map(|r| self.fairness_of(r, now)).filter(|r| r.shown > Duration::ZERO);
        Fairness::over(rows.collect(), self.spent)
    }

    /// How well one receiver is served. Shorter than asking for all: for whoever must not hold up the sender.
    pub fn fairness_of(&self, receiver: ReceiverIndex, now: GlobalTime) -> ReceiverFairness {
        let book = &self.receivers[receiver.0];
        let (mut error, mut shown) = (book.past_error, book.past_shown);
        for entity in self.entities() {
            let pair = self.pair(entity, receiver);
            error += pair.accumulated(now);
            shown += pair.shown_for(now);
        }
        let mean_distance = mean_distance(error, shown);
        let (host, delay, vectors, bytes) = (book.host, book.path.delay(), book.vectors, book.bytes);
        ReceiverFairness { host, error, shown, mean_distance, delay, vectors, bytes }
    }

    /// The part of one receiver's error that receipts have made certain, over all entities, also those that are gone.
    pub fn known_of(&self, receiver: ReceiverIndex, now: GlobalTime) -> SplitError {
        let known = self.entities().map(|entity| self.pair(entity, receiver).known(now));
        known.fold(self.receivers[receiver.0].past_error, |sum, error| sum + error)
    }
}
