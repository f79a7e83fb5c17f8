//! What the studies of policies have in common: cells of one setting each, and what every policy made of every seed there.

pub(super) use super::plots::{courses, error_table, number, receiver_bars, table, trade_off};

use super::{Brief, Observation, Size, Watch};
use crate::experiment::{Settings, Source, digest};
use crate::workload::Motion;
use crate::world::{BIN, Outcome, Rules, statistics};
use anyhow::Result;

/// One-way delays of the papers' experiments on fairness, farthest first.
pub(super) const DELAYS_MS: [f64; 3] = [800.0, 500.0, 200.0];
/// The papers' variations of delay: uniform, so many milliseconds either way.
pub(super) const JITTERS_MS: [f64; 3] = [0.0, 100.0, 180.0];

/// What one policy made of one seed.
#[derive(Clone, Debug, Default)]
pub(super) struct Take {
    /// Accumulated export error at the end, by receiver (metre-seconds).
    pub(super) errors: Vec<f64>,
    /// Mean distance between exported and placed path, by receiver.
    pub(super) distances: Vec<f64>,
    /// Mean distance between real and placed path, by receiver.
    pub(super) real: Vec<f64>,
    /// Vectors sent, by receiver.
    pub(super) vectors: Vec<f64>,
    /// Accumulated export error in the course of time, by receiver, at the end of each [`BIN`]; empty unless asked for.
    pub(super) course: Vec<Vec<f64>>,
}

impl Take {
    /// From the outcomes of a run's senders; studies here have one.
    pub(super) fn new(outcomes: &[Outcome], with_course: bool) -> Self {
        let Some(outcome) = outcomes.first() else { return Self::default() };
        let cumulated = |bins: &Vec<crate::world::Sums>| {
            let mut sum = 0.0;
            bins.iter().map(|bin| (sum += bin.export, sum).1).collect()
        };
        let receivers = &outcome.receivers;
        Self {
            errors: receivers.iter().map(|seen| seen.export_error * seen.shown).collect(),
            distances: receivers.iter().map(|seen| seen.export_error).collect(),
            real: receivers.iter().map(|seen| seen.real_error).collect(),
            vectors: receivers.iter().map(|seen| seen.vectors as f64).collect(),
            course: if with_course { outcome.bins.iter().map(cumulated).collect() } else { Vec::new() },
        }
    }

    /// The mean over receivers of the accumulated export error.
    pub(super) fn mean(&self) -> f64 {
        statistics(self.errors.iter().copied()).0
    }

    /// Its standard deviation: how unfair it is.
    pub(super) fn std(&self) -> f64 {
        statistics(self.errors.iter().copied()).1
    }

    /// That of the receiver worst off.
    pub(super) fn max(&self) -> f64 {
        statistics(self.errors.iter().copied()).2
    }

    /// Vectors sent in all.
    pub(super) fn sent(&self) -> f64 {
        self.vectors.iter().sum()
    }

    /// The accumulated export error of a receiver at a time in seconds from the start.
    pub(super) fn error_at(&self, receiver: usize, seconds: f64) -> f64 {
        let Some(course) = self.course.get(receiver).filter(|course| !course.is_empty()) else { return f64::NAN };
        let bins = (seconds / BIN.as_secs_f64()).clamp(0.0, course.len() as f64);
        let whole = (bins.floor() as usize).min(course.len() - 1);
        let before = whole.checked_sub(1).map_or(0.0, |last| course[last]);
        before + (bins - whole as f64) * (course[whole] - before)
    }

    /// Mean, standard deviation and maximum over receivers of the accumulated export error at a time.
    pub(super) fn statistics_at(&self, seconds: f64) -> (f64, f64, f64) {
        statistics((0..self.course.len()).map(|receiver| self.error_at(receiver, seconds)))
    }

    /// For how long the course goes on, in seconds.
    pub(super) fn seconds(&self) -> f64 {
        self.course.first().map_or(0.0, |course| course.len() as f64 * BIN.as_secs_f64())
    }
}

/// One setting, and what every policy made of it.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    /// What the setting is called.
    pub(super) name: String,
    /// One-way delays of the receivers.
    pub(super) delays_ms: Vec<f64>,
    /// By policy, in the order of the settings, what it made of each seed.
    pub(super) policies: Vec<(String, Vec<Take>)>,
    /// How many seconds were simulated, over all runs.
    pub(super) simulated_seconds: f64,
}

impl Cell {
    /// Runs a setting.
    pub(super) fn run(name: &str, settings: &Settings, with_course: bool, watch: &Watch<'_>) -> Result<Self> {
        let (digests, simulated_seconds) = digest(settings, watch, &|outcomes| Take::new(outcomes, with_course))?;
        let policies = digests.into_iter().map(|digest| (digest.row.policy, digest.seeds)).collect();
        let delays_ms = settings.paths.iter().map(|path| path.delay.as_millis_f64()).collect();
        Ok(Self { name: name.to_owned(), delays_ms, policies, simulated_seconds })
    }

    /// What a policy made of each seed; nothing if it did not run.
    pub(super) fn takes(&self, policy: &str) -> &[Take] {
        self.policies.iter().find(|(name, _)| name == policy).map_or(&[], |(_, takes)| takes)
    }

    /// A figure of a policy, by seed.
    pub(super) fn values(&self, policy: &str, of: impl Fn(&Take) -> f64) -> Vec<f64> {
        self.takes(policy).iter().map(of).collect()
    }

    /// A figure of a policy against the same of another, seed by seed.
    pub(super) fn ratios(&self, policy: &str, to: &str, of: impl Fn(&Take) -> f64) -> Vec<f64> {
        self.compared(policy, to, |a, b| of(a) / of(b))
    }

    /// Whatever there is to say of two policies, seed by seed.
    pub(super) fn compared(&self, policy: &str, to: &str, of: impl Fn(&Take, &Take) -> f64) -> Vec<f64> {
        self.takes(policy).iter().zip(self.takes(to)).map(|(a, b)| of(a, b)).collect()
    }

    /// A figure of a policy against the same of another, as an observation under this cell's name.
    pub(super) fn against(&self, policy: &str, to: &str, of: impl Fn(&Take) -> f64) -> Observation {
        Observation::new(self.name.clone(), self.ratios(policy, to, of))
    }

    /// Each receiver's error against the same under another policy: one observation for each.
    pub(super) fn each_against(&self, policy: &str, to: &str) -> Vec<Observation> {
        let receiver = |(i, delay): (usize, &f64)| {
            Observation::new(format!("{}, {delay} ms", self.name), self.ratios(policy, to, |take| take.errors[i]))
        };
        self.delays_ms.iter().enumerate().map(receiver).collect()
    }
}

/// The mean of values; not a number if there are none.
pub(super) fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The median of values; not a number if there are none.
pub(super) fn median(values: Vec<f64>) -> f64 {
    Observation::new("", values).median()
}

/// One tank at the papers' delays with so much jitter, at full size; vectors as the program makes them by default.
pub(super) fn papers(brief: &Brief, jitter_ms: f64, policies: &[&str]) -> Settings {
    Settings {
        source: Source::Motion { motion: Motion::Tank, entities: 1 },
        policies: policies.iter().map(|name| (*name).to_owned()).collect(),
        rules: Rules::default(),
        seeds: brief.size.seeds,
        seed: brief.size.seed,
        seconds: Some(brief.size.seconds),
        ..Settings::default()
    }
    .over(&DELAYS_MS, jitter_ms, 0.0)
}

/// The same brief with runs of no more than so many seconds, for what needs no long ones.
pub(super) fn at_most(brief: &Brief, seconds: f64) -> Brief {
    brief.sized(Size { seconds: brief.size.seconds.min(seconds), ..brief.size })
}

/// What a jitter is called.
pub(super) fn jitter_name(jitter_ms: f64) -> String {
    format!("±{jitter_ms} ms")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_read_between_snapshots() {
        let take = Take { course: vec![vec![1.0, 3.0], vec![0.0, 1.0]], ..Take::default() };
        for (at, error) in [(0.0, 0.0), (0.05, 0.5), (0.15, 2.0), (0.2, 3.0), (9.0, 3.0)] {
            assert!((take.error_at(0, at) - error).abs() < 1e-9, "at {at}: {}", take.error_at(0, at));
        }
        assert!(take.error_at(2, 0.1).is_nan());
        assert_eq!(take.statistics_at(0.2), (2.0, 1.0, 3.0));
        assert_eq!(take.seconds(), 0.2);
    }

    #[test]
    fn a_policy_that_did_not_run_has_nothing_to_say() {
        let cell = Cell { name: String::new(), delays_ms: Vec::new(), policies: Vec::new(), simulated_seconds: 0.0 };
        assert!(cell.against("even", "base", Take::mean).values.is_empty());
    }
}
