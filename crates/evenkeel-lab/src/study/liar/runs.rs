//! Running the cases: every policy on the same paths and the same delays, with and without a lie.

use super::lies::Guise;
use super::{LIAR, NETWORKS};
use crate::experiment::{Progress, paths};
use crate::policies::make_policy;
use crate::study::{Size, Watch};
use crate::workload::Motion;
use crate::world::{Doubts, Fleet, Outcome, Rules, Setting, Twist, run_twisted};
use anyhow::Result;
use evenkeel::{Budget, GlobalTime};
use rayon::prelude::*;

/// Packets lost where a lie is about lost ones.
const LOSS: f64 = 0.05;

/// One thing to run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Case {
    network: usize,
    pub(super) policy: &'static str,
    guise: Guise,
    loss: f64,
    trusting: bool,
}

impl Case {
    /// A receiver in this guise under this policy, with a sender that believes only what can be.
    pub(super) fn new(network: usize, policy: &'static str, guise: Guise) -> Self {
        let loss = if guise == Guise::Acknowledges { LOSS } else { 0.0 };
        Self { network, policy, guise, loss, trusting: false }
    }

    /// The same without the lie.
    pub(super) fn honestly(self) -> Self {
        Self { guise: Guise::Honest, ..self }
    }

    /// The same with a sender that believes everything.
    pub(super) fn believed(self) -> Self {
        Self { trusting: true, ..self }
    }
}

/// What one run gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Taken {
    /// The true export error of the one that may lie.
    pub(super) liar: f64,
    /// The mean of the others'.
    pub(super) others: f64,
    /// Vectors sent to the one that may lie.
    pub(super) vectors: u64,
    /// What the sender did not believe of it.
    pub(super) doubts: Doubts,
}

impl Taken {
    fn from(outcome: &Outcome) -> Self {
        let others = outcome.receivers.iter().enumerate().filter(|(number, _)| *number != LIAR);
        let errors: Vec<f64> = others.map(|(_, seen)| seen.export_error).collect();
        let liar = outcome.receivers[LIAR];
        Self {
            liar: liar.export_error,
            others: errors.iter().sum::<f64>() / errors.len().max(1) as f64,
            vectors: liar.vectors,
            doubts: outcome.doubts[LIAR],
        }
    }
}

/// The drives of all seeds.
pub(super) struct Scenes {
    size: Size,
    fleets: Vec<(u64, Fleet)>,
}

impl Scenes {
    /// A tank for every seed.
    pub(super) fn new(size: Size) -> Result<Self> {
        let fleet = |seed: u64| {
            let entities = Motion::Tank.entities(1, size.seconds, seed);
            Ok((seed, Fleet::new("all".into(), entities, &Rules::default())?))
        };
        let seeds: Vec<u64> = size.each_seed().collect();
        Ok(Self { size, fleets: seeds.into_par_iter().map(fleet).collect::<Result<_>>()? })
    }

    /// How many seconds so many cases simulate.
    pub(super) fn simulated(&self, cases: usize) -> f64 {
        cases as f64 * self.size.seeds as f64 * self.size.seconds
    }

    /// What comes of every case, one for each seed.
    pub(super) fn run(&self, cases: &[Case], watch: &Watch<'_>) -> Result<Vec<Vec<Taken>>> {
        let all: Vec<(&Case, &(u64, Fleet))> =
            cases.iter().flat_map(|case| self.fleets.iter().map(move |fleet| (case, fleet))).collect();
        let one = |(case, (seed, fleet)): (&Case, &(u64, Fleet))| {
            let taken = run_case(case, *seed, fleet);
            watch(Progress::Done);
            taken
        };
        let taken: Vec<Taken> = all.into_par_iter().map(one).collect::<Result<_>>()?;
        Ok(taken.chunks(self.fleets.len().max(1)).map(<[Taken]>::to_vec).collect())
    }
}

fn run_case(case: &Case, seed: u64, fleet: &Fleet) -> Result<Taken> {
    let network = &NETWORKS[case.network];
    let there = paths(&network.delays_ms, network.jitter_ms, case.loss);
    let mut back = there.clone();
    if let Guise::Asymmetric(times) = case.guise {
        back[LIAR].delay = back[LIAR].delay * i64::from(times);
    }
    let twist = Twist { back: Some(&back), trusting: case.trusting, tamper: case.guise.liar(LIAR) };
    let setting = Setting {
        fleet,
        rules: Rules::default(),
        policy: make_policy(case.policy, &[], Budget::of_base(1, 3), seed)?,
        paths: &there,
        uplink: None,
        seed,
        origin: GlobalTime::ZERO,
        recorder: None,
    };
    Ok(Taken::from(&run_twisted(setting, twist)?))
}
