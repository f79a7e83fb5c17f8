//! Which of the thesis's factors is best, for lotteries and for credits.

use super::claims::*;
use crate::experiment::Settings;
use crate::policies::Own;
use crate::study::cells::{Cell, JITTERS_MS, Take, jitter_name, papers};
use crate::study::{Brief, Claim, Finding, Observation, Watch};
use anyhow::Result;
use evenkeel::policy::{Instantaneous, Lottery, Readings, Weights};

const LOTTERIES: [&str; 5] = ["lottery-pa", "lottery-pi", "lottery-pt", "lottery-case4", "lottery-case5"];
const CREDITS: [&str; 5] = ["credits-pa", "credits-pi", "credits-pt", "credits-mix", "credits-case5"];
/// The instantaneous error as the thesis's text has it, instead of its code.
const PI_OF_THE_TEXT: Own = Own {
    name: "lottery-pi, as in the text",
    make: |budget, seed| {
        let readings = Readings { instantaneous: Instantaneous::SinceGeneration, ..Readings::default() };
        Box::new(Lottery::new(Weights::INSTANTANEOUS.read_as(readings), budget, seed))
    },
};

/// What was found, and how many seconds that took to simulate.
pub(super) fn run(brief: &Brief, watch: &Watch<'_>) -> Result<(Vec<Finding>, f64)> {
    let others = ["base/3", PI_OF_THE_TEXT.name].into_iter().chain(LOTTERIES).chain(CREDITS);
    let settings = papers(brief, JITTERS_MS[0], &others.collect::<Vec<_>>());
    let settings = Settings { own: vec![PI_OF_THE_TEXT], ..settings };
    let cell = Cell::run(&jitter_name(JITTERS_MS[0]), &settings, false, watch)?;
    let by_case = |claim: Claim, of: fn(&Take) -> f64| {
        let case = |name: &str| Observation::new(name, cell.ratios(name, "base/3", of));
        Finding::new(claim, LOTTERIES.map(case).into())
    };
    let each = |name: &str| {
        let receivers = cell.each_against(name, "base/3").into_iter();
        receivers.map(|o| Observation::new(format!("{name}, {}", o.condition), o.values)).collect::<Vec<_>>()
    };
    let best = |claim: Claim, policy: &str, among: &[&str], of: fn(&Take) -> f64| {
        Finding::new(claim, vec![against_best(&cell, policy, among, of)])
    };
    let but_pi: Vec<&str> = LOTTERIES.into_iter().filter(|name| *name != "lottery-pi").collect();
    let findings = vec![
        by_case(THESIS_FIVE_STD, Take::std),
        best(THESIS_PI_BEST, "lottery-pi", &but_pi, Take::std).remarking("As in the thesis's code, appendix B."),
        best(THESIS_PI_BEST_TEXT, PI_OF_THE_TEXT.name, &but_pi, Take::std).remarking("As in thesis 3.4.1.2.2."),
        by_case(THESIS_FIVE_MEAN_HIGHER, Take::mean),
        Finding::new(THESIS_FIVE_EACH_HIGHER, LOTTERIES.into_iter().flat_map(each).collect()),
        best(THESIS_CREDITS_PA_BEST, CREDITS[0], &CREDITS[1..], Take::std)
            .remarking("The thesis does not say best in what; its measure of fairness is the standard deviation."),
        best(THESIS_CREDITS_PA_BEST_MAX, CREDITS[0], &CREDITS[1..], Take::max),
        best(THESIS_CREDITS_PA_BEST_MEAN, CREDITS[0], &CREDITS[1..], Take::mean),
    ];
    Ok((findings, cell.simulated_seconds))
}

/// A figure of a policy against the lowest of some others, seed by seed.
fn against_best(cell: &Cell, policy: &str, others: &[&str], of: fn(&Take) -> f64) -> Observation {
    let lowest = |seed: usize| {
        let figures = others.iter().filter_map(|name| cell.takes(name).get(seed)).map(of);
        figures.fold(f64::INFINITY, f64::min)
    };
    let values = cell.takes(policy).iter().enumerate().map(|(seed, take)| of(take) / lowest(seed));
    Observation::new(cell.name.clone(), values.collect())
}
