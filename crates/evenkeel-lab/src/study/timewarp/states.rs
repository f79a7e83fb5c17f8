//! The same question to dead reckoning with local lag, which has nothing to roll back: does a short lag hurt?

use super::grid::DELAYS_MS;
use crate::study::measure::{base_case, millis, over};
use crate::study::{Size, Watch};
use crate::workload::Motion;
use crate::world::{Fleet, Rules, run};
use anyhow::Result;
use evenkeel_link::Conditions;

/// What moves.
pub(super) const MOTIONS: [Motion; 2] = [Motion::Spaceship, Motion::Tank];
/// Lags as shares of the delay: none, one much smaller than the delay, the delay.
pub(super) const SHARES: [f64; 3] = [0.0, 0.25, 1.0];

/// What a receiver had to do, and what it showed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shown {
    /// Vectors that came in per second.
    pub(super) vectors: f64,
    /// How far what was shown was off what was exported, on average.
    pub(super) off: f64,
}

/// One run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Kind {
    pub(super) motion: Motion,
    pub(super) delay_ms: f64,
    pub(super) share: f64,
}

/// All runs, in order.
pub(super) fn kinds() -> Vec<Kind> {
    let delays = MOTIONS.into_iter().flat_map(|motion| DELAYS_MS.map(|delay_ms| (motion, delay_ms)));
    delays.flat_map(|(motion, delay_ms)| SHARES.map(|share| Kind { motion, delay_ms, share })).collect()
}

/// By seed, what was found of each kind.
pub(super) fn find(size: Size, seconds: f64, watch: &Watch<'_>) -> Result<Vec<Vec<Shown>>> {
    let kinds = kinds();
    let keys: Vec<(u64, Kind)> =
        size.each_seed().flat_map(|seed| kinds.iter().map(move |kind| (seed, *kind))).collect();
    let found = over(&keys, watch, |(seed, kind)| show(kind, seconds, *seed))?;
    Ok(found.chunks(kinds.len()).map(<[Shown]>::to_vec).collect())
}

fn show(kind: &Kind, seconds: f64, seed: u64) -> Result<Shown> {
    let mut rules = Rules::default();
    rules.placing.lag = millis(kind.delay_ms * kind.share);
    let fleet = Fleet::new(kind.motion.name().into(), kind.motion.entities(1, seconds, seed), &rules)?;
    let paths = [Conditions::delay(millis(kind.delay_ms))];
    let outcome = run(base_case(&fleet, rules, &paths, seed))?;
    let off = outcome.receivers.first().map_or(f64::NAN, |seen| seen.export_error);
    Ok(Shown { vectors: outcome.vectors as f64 / seconds, off })
}
