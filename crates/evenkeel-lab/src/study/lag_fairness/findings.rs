//! Our expectations of lag, against what was measured.

use super::claims::*;
use super::sweep::{Figure, Network, PLAYABLE_MS, Sweep};
use crate::study::{Claim, Finding, Observation};

/// One observation for each of some sweeps.
fn over<'a>(claim: Claim, sweeps: impl IntoIterator<Item = &'a Sweep>, of: impl Fn(&Sweep) -> Vec<f64>) -> Finding {
    Finding::new(claim, sweeps.into_iter().map(|sweep| Observation::new(sweep.name(), of(sweep))).collect())
}

pub(super) fn all(sweeps: &[Sweep]) -> Vec<Finding> {
    let mut findings = alone(sweeps);
    findings.extend(together(sweeps));
    findings
}

/// Lag by itself.
fn alone(sweeps: &[Sweep]) -> Vec<Finding> {
    let on = |network: Network| sweeps.iter().filter(move |sweep| sweep.network == network);
    let left = |figure: Figure| move |sweep: &Sweep| sweep.ratios(("base", PLAYABLE_MS), ("base", 0.0), figure);
    let spread = |sweep: &Sweep| sweep.ratios(("even", PLAYABLE_MS), ("base", PLAYABLE_MS), Figure::Std);
    vec![
        over(DESIGN_NEAR_MEAN, on(Network::Near), left(Figure::Mean)).remarking(
            "75 % and 64 % are what comes of errors that grow with the square of the delay. At a threshold of 0.1 m they grow \
             more slowly: an exported path that jumps by up to the threshold adds errors in proportion to the delay.",
        ),
        over(DESIGN_NEAR_STD, on(Network::Near), left(Figure::Std)),
        over(DESIGN_FAR_MEAN, on(Network::Far), left(Figure::Mean)),
        over(DESIGN_FAR_UNPLAYABLE, on(Network::Far), shortest),
        over(DESIGN_FAR_SCHEDULING, on(Network::Far), spread),
    ]
}

/// The shortest lag that does what is claimed of 100 ms where delays are short, seed by seed.
fn shortest(sweep: &Sweep) -> Vec<f64> {
    let wanted = [(Figure::Mean, 0.25), (Figure::Std, 0.36)];
    let left = |lag: f64, figure| sweep.ratios(("base", lag), ("base", 0.0), figure);
    let does = |lag: f64, seed: usize| wanted.iter().all(|(figure, most)| left(lag, *figure)[seed] <= *most);
    let of = |seed: usize| sweep.lags_ms().find(|lag| does(*lag, seed)).unwrap_or(f64::INFINITY);
    (0..sweep.takes("base", 0.0).len()).map(of).collect()
}

/// Lag and `even` against either alone.
fn together(sweeps: &[Sweep]) -> Vec<Finding> {
    let ratios = |one: (&'static str, f64), other: (&'static str, f64), figure: Figure| {
        move |sweep: &Sweep| sweep.ratios(one, other, figure)
    };
    let (both, even, lag) = (("even", PLAYABLE_MS), ("even", 0.0), ("base/3", PLAYABLE_MS));
    let keeps = |figure: Figure| {
        move |sweep: &Sweep| {
            let with = sweep.ratios(both, lag, figure);
            let without = sweep.ratios(even, ("base/3", 0.0), figure);
            with.iter().zip(without).map(|(with, without)| with / without).collect()
        }
    };
    vec![
        over(TOGETHER_THAN_EVEN_MEAN, sweeps, ratios(both, even, Figure::Mean)),
        over(TOGETHER_THAN_EVEN_STD, sweeps, ratios(both, even, Figure::Std)),
        over(TOGETHER_THAN_LAG_MEAN, sweeps, ratios(both, lag, Figure::Mean)),
        over(TOGETHER_THAN_LAG_STD, sweeps, ratios(both, lag, Figure::Std)),
        over(TOGETHER_KEEPS_MEAN, sweeps, keeps(Figure::Mean)),
        over(TOGETHER_KEEPS_STD, sweeps, keeps(Figure::Std)),
    ]
}
