//! Doing without synchronised clocks: vectors counted from arrival less the estimated one-way delay (thesis 4.5.1).

use crate::experiment::paths;
use crate::study::measure::{ACCURACY_DELAYS_MS, FAIRNESS_DELAYS_MS, base_case, rules};
use crate::workload::Motion;
use crate::world::{Fleet, Rules, Twist, VectorKind, run_twisted};
use anyhow::Result;
use evenkeel::ClockRule;
use evenkeel_link::Conditions;

/// What the way is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Fixed and the same in both directions, as the claim has it.
    Symmetric,
    /// Uniform jitter of 100 ms either way.
    Jitter100,
    /// Uniform jitter of 180 ms either way.
    Jitter180,
    /// Back in half the time.
    Asymmetric,
}

impl Way {
    pub(super) const ALL: [Self; 4] = [Self::Symmetric, Self::Jitter100, Self::Jitter180, Self::Asymmetric];

    /// The ways there, and back.
    fn paths(self) -> (Vec<Conditions>, Vec<Conditions>) {
        let there = match self {
            Self::Symmetric | Self::Asymmetric => paths(&ACCURACY_DELAYS_MS, 0.0, 0.0),
            Self::Jitter100 => paths(&FAIRNESS_DELAYS_MS, 100.0, 0.0),
            Self::Jitter180 => paths(&FAIRNESS_DELAYS_MS, 180.0, 0.0),
        };
        let back = match self {
            Self::Asymmetric => paths(&ACCURACY_DELAYS_MS.map(|ms| ms / 2.0), 0.0, 0.0),
            _ => there.clone(),
        };
        (there, back)
    }

    /// What one of its receivers is called.
    pub(super) fn receiver(self, number: usize) -> String {
        match self {
            Self::Symmetric => format!("{} ms there and back", ACCURACY_DELAYS_MS[number]),
            Self::Asymmetric => {
                format!("{0} ms there, {1} ms back", ACCURACY_DELAYS_MS[number], ACCURACY_DELAYS_MS[number] / 2.0)
            }
            Self::Jitter100 => format!("{} ±100 ms", FAIRNESS_DELAYS_MS[number]),
            Self::Jitter180 => format!("{} ±180 ms", FAIRNESS_DELAYS_MS[number]),
        }
    }
}

/// What came of one seed, by receiver.
pub(super) struct OneWay {
    /// The mean distance between real and placed with global time.
    pub(super) global: Vec<f64>,
    /// The same without.
    pub(super) one_way: Vec<f64>,
    /// The second as a multiple of the first.
    pub(super) ratios: Vec<f64>,
}

impl OneWay {
    /// Drives a tank at random and shows it both ways, with linear vectors.
    pub(super) fn new(way: Way, seconds: f64, seed: u64) -> Result<Self> {
        let with = |rule: ClockRule| Rules { vector: VectorKind::Linear, ..rules(rule) };
        let entities = Motion::Tank.entities(1, seconds, seed);
        let fleet = Fleet::new("sender".into(), entities, &with(ClockRule::Global))?;
        let (there, back) = way.paths();
        let errors = |rule: ClockRule| -> Result<Vec<f64>> {
            let outcome = run_twisted(
                base_case(&fleet, with(rule), &there, seed),
                Twist { back: Some(&back), ..Twist::default() },
            )?;
            Ok(outcome.receivers.iter().map(|seen| seen.real_error).collect())
        };
        let (global, one_way) = (errors(ClockRule::Global)?, errors(ClockRule::OneWay)?);
        let ratios = one_way.iter().zip(&global).map(|(one, other)| one / other).collect();
        Ok(Self { global, one_way, ratios })
    }
}
