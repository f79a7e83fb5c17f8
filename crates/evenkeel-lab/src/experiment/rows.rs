//! What is shown of a policy: one row of the table, with its details.

use crate::world::{BIN, Outcome, Party, Seen, Sums};
use evenkeel::Budget;
use evenkeel::receiver::Refusals;

/// A plot over time has so many points at most.
const MOST_POINTS: usize = 120;

/// What one policy achieved, averaged over seeds and senders.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its name.
    pub policy: String,
    /// Vectors sent by all senders to all receivers, per seed.
    pub vectors_sent: f64,
    /// Bytes sent, likewise.
    pub bytes_sent: f64,
    /// What the budget allowed it to send, per seed, if it takes one.
    pub vectors_allowed: Option<f64>,
    /// The same if the budget is in bytes.
    pub bytes_allowed: Option<f64>,
    /// The budget it was given in the end.
    pub budget: Budget,
    /// Export error per second (metres), against what the base case exports: the mean over receivers.
    pub mean: f64,
    /// Its standard deviation over receivers.
    pub std: f64,
    /// Its maximum over receivers.
    pub max: f64,
    /// The distance between real and shown: the mean over receivers. Not a number for a stream of vectors.
    pub real_mean: f64,
    /// Its standard deviation over receivers.
    pub real_std: f64,
    /// Its maximum over receivers.
    pub real_max: f64,
    /// The mean over time of the largest distance between two receivers' placements of one entity at one instant.
    pub spread: f64,
    /// How often per minute another receiver becomes the worst off.
    pub flips: f64,
    /// By receiver, in the order of the settings.
    pub receivers: Vec<ReceiverRow>,
    /// By sender.
    pub senders: Vec<SenderRow>,
    /// The export error over time.
    pub timeline: Timeline,
    /// Datagrams that receivers refused, over all seeds, by cause: none, unless something is wrong.
    pub refused: Refusals,
    /// No policy that sends so many vectors has a smaller mean export error, if that was asked for.
    pub bound: Option<f64>,
    /// Which share of the gap between the mean of `tolerance` and the bound it closes, if both are known and it sends as many
    /// vectors within 5 %.
    pub gap_closed: Option<f64>,
}

/// One receiver, averaged over seeds and senders.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceiverRow {
    /// Its one-way delay.
    pub delay_ms: f64,
    /// Export error per second (metres).
    pub export_error: f64,
    /// The distance between real and shown.
    pub real_error: f64,
    /// Vectors that all senders sent to it, per seed.
    pub vectors: f64,
}

/// One sender in the papers' sense, an entity with its owner, averaged over seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct SenderRow {
    /// Its name: that of its entity.
    pub name: String,
    /// Vectors it sent.
    pub vectors: f64,
    /// Export error per second (metres): the mean over its receivers.
    pub mean: f64,
    /// Its standard deviation.
    pub std: f64,
    /// Its maximum.
    pub max: f64,
}

/// The export error per second of each receiver, over all senders and seeds, in the course of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// Seconds that one point stands for.
    pub step_s: f64,
    /// Per receiver, its points.
    pub receivers: Vec<Vec<f64>>,
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}

impl Row {
    /// From the outcomes of all runs, seed by seed.
    pub(super) fn new(
        policy: &str,
        budget: Budget,
        seeds: usize,
        delays_ms: &[f64],
        outcomes: &[Outcome],
        seconds: f64,
    ) -> Self {
        let parties: Vec<&Party> =
            outcomes.iter().flat_map(|outcome| &outcome.entities).filter(|p| p.shown()).collect();
        let export = |party: &Party| party.over_receivers(|seen| seen.export_error);
        let real = |party: &Party| party.over_receivers(|seen| seen.real_error);
        let over = |of: &dyn Fn(&Party) -> f64| mean(parties.iter().map(|party| of(party)));
        let over_runs = |of: &dyn Fn(&Outcome) -> f64| mean(outcomes.iter().map(of));
        let per_seed = |of: &dyn Fn(&Outcome) -> u64| outcomes.iter().map(of).sum::<u64>() as f64 / seeds as f64;
        let receiver = |(i, delay_ms): (usize, &f64)| {
            let seen = |of: &dyn Fn(&Seen) -> f64| mean(parties.iter().map(|party| of(&party.receivers[i])));
            ReceiverRow {
                delay_ms: *delay_ms,
                export_error: seen(&|seen| seen.export_error),
                real_error: seen(&|seen| seen.real_error),
                vectors: per_seed(&|outcome| outcome.receivers[i].vectors),
            }
        };
        let mut refused = Refusals::default();
        outcomes.iter().for_each(|outcome| refused.add(&outcome.refused));
        Self {
            refused,
            bound: None,
            gap_closed: None,
            policy: policy.to_owned(),
            vectors_sent: per_seed(&|outcome| outcome.vectors),
            bytes_sent: per_seed(&|outcome| outcome.bytes),
            vectors_allowed: None,
            bytes_allowed: None,
            budget,
            mean: over(&|party| export(party).0),
            std: over(&|party| export(party).1),
            max: over(&|party| export(party).2),
            real_mean: over(&|party| real(party).0),
            real_std: over(&|party| real(party).1),
            real_max: over(&|party| real(party).2),
            spread: over_runs(&|outcome| outcome.spread),
            flips: over_runs(&|outcome| outcome.flips),
            receivers: delays_ms.iter().enumerate().map(receiver).collect(),
            senders: sender_rows(outcomes, seeds),
            timeline: Timeline::new(outcomes, delays_ms.len(), seconds),
        }
    }

    /// The row of a stream of vectors: nobody knows what was real.
    pub(super) fn without_truth(mut self) -> Self {
        (self.real_mean, self.real_std, self.real_max) = (f64::NAN, f64::NAN, f64::NAN);
        for receiver in &mut self.receivers {
            receiver.real_error = f64::NAN;
        }
        self
    }

    /// By which share it sent more than it was allowed, or less, if that is more than a percent: then the row must be compared
    /// with care.
    pub fn off_budget(&self) -> Option<f64> {
        let vectors = self.vectors_allowed.map(|allowed| (self.vectors_sent, allowed));
        let (sent, allowed) = vectors.or_else(|| self.bytes_allowed.map(|allowed| (self.bytes_sent, allowed)))?;
        let off = sent / allowed.max(1.0) - 1.0;
        (off.abs() > 0.01).then_some(off)
    }

    /// The receiver with the largest export error.
    pub fn worst(&self) -> Option<&ReceiverRow> {
        self.receivers.iter().max_by(|a, b| a.export_error.total_cmp(&b.export_error))
    }
}

/// Every seed has the same senders in the same order.
fn sender_rows(outcomes: &[Outcome], seeds: usize) -> Vec<SenderRow> {
    let parties: Vec<&Party> = outcomes.iter().flat_map(|outcome| &outcome.entities).collect();
    let senders = parties.len() / seeds.max(1);
    let sender = |index: usize| {
        let own = || parties.iter().skip(index).step_by(senders.max(1));
        let export = |pick: &dyn Fn((f64, f64, f64)) -> f64| {
            mean(own().map(|party| pick(party.over_receivers(|seen| seen.export_error))))
        };
        SenderRow {
            name: parties[index].name.clone(),
            vectors: mean(own().map(|party| party.vectors as f64)),
            mean: export(&|(mean, _, _)| mean),
            std: export(&|(_, std, _)| std),
            max: export(&|(_, _, max)| max),
        }
    };
    (0..senders).map(sender).collect()
}

impl Timeline {
    fn new(outcomes: &[Outcome], receivers: usize, seconds: f64) -> Self {
        let bins = outcomes.iter().flat_map(|outcome| outcome.bins.iter().map(Vec::len)).max().unwrap_or(0);
        // Whole seconds at least, so that points are not mostly noise.
        let per_point = bins.div_ceil(MOST_POINTS).max(10);
        let points = ((seconds / BIN.as_secs_f64()).ceil() as usize).min(bins).div_ceil(per_point);
        let receiver = |number: usize| {
            let mut sums = vec![Sums::default(); points];
            for bins in outcomes.iter().map(|outcome| &outcome.bins[number]) {
                for (bin, sum) in bins.iter().enumerate() {
                    if let Some(point) = sums.get_mut(bin / per_point) {
                        point.add(sum);
                    }
                }
            }
            sums.iter().map(|sums| sums.mean(|s| s.export)).collect()
        };
        let receivers = (0..receivers).map(receiver).collect();
        Self { step_s: per_point as f64 * BIN.as_secs_f64(), receivers }
    }
}
