//! How many vectors the papers' policies send when nobody brings their count back to the budget, and how regularly.

use super::Found;
use super::claims_paper::*;
use super::claims_same::*;
use crate::experiment::Settings;
use crate::policies::Own;
use crate::study::cells::{Cell, DELAYS_MS, JITTERS_MS, Take, at_most, jitter_name, papers};
use crate::study::spy::{Noted, Spied};
use crate::study::{Brief, Finding, Observation, Watch};
use crate::workload::Motion;
use crate::world::{Fleet, Rules, statistics};
use anyhow::Result;
use evenkeel::policy::{Credits, Lottery, Weights};
use evenkeel::{Budget, Policy};
use rayon::prelude::*;

/// Gaps are counted in runs no longer than this, in seconds.
const COUNTED: f64 = 200.0;

macro_rules! literal {
    ($name:literal, $make:expr) => {
        Own { name: concat!($name, ", as published"), make: $make }
    };
}

fn credits(weights: Weights, budget: Budget) -> Box<dyn Policy> {
    Box::new(Credits::new(weights, budget).literal())
}

fn lottery(weights: Weights, budget: Budget, seed: u64) -> Box<dyn Policy> {
    Box::new(Lottery::new(weights, budget, seed).literal())
}

/// The papers' policies without what brings counts back to budgets.
const LITERAL: [Own; 12] = [
    literal!("lottery-one", |budget, seed| Box::new(Lottery::one(budget, seed).literal())),
    literal!("lottery-fixed", |budget, seed| lottery(Weights::EVEN, budget, seed)),
    literal!("lottery-pa", |budget, seed| lottery(Weights::ACCUMULATED, budget, seed)),
    literal!("lottery-pi", |budget, seed| lottery(Weights::INSTANTANEOUS, budget, seed)),
    literal!("lottery-pt", |budget, seed| lottery(Weights::LAST_SENT, budget, seed)),
    literal!("lottery-case4", |budget, seed| lottery(Weights::THIRDS, budget, seed)),
    literal!("lottery-case5", |budget, seed| lottery(Weights::HALVES, budget, seed)),
    literal!("credits-pa", |budget, _| credits(Weights::ACCUMULATED, budget)),
    literal!("credits-pi", |budget, _| credits(Weights::INSTANTANEOUS, budget)),
    literal!("credits-pt", |budget, _| credits(Weights::LAST_SENT, budget)),
    literal!("credits-mix", |budget, _| credits(Weights::THIRDS, budget)),
    literal!("credits-case5", |budget, _| credits(Weights::HALVES, budget)),
];

pub(super) fn run(brief: &Brief, watch: &Watch<'_>) -> Result<Found> {
    let names: Vec<&str> = ["base/3"].into_iter().chain(LITERAL.iter().map(|own| own.name)).collect();
    let papers = papers(brief, JITTERS_MS[0], &names);
    let settings = Settings { trim: false, own: LITERAL.to_vec(), ..papers };
    let cell = Cell::run(&jitter_name(JITTERS_MS[0]), &settings, false, watch)?;
    let count = |own: &Own| Observation::new(own.name, cell.ratios(own.name, "base/3", Take::sent));
    let counts = Finding::new(PAPER_BUDGET_SAME_COUNT, LITERAL.iter().map(count).collect()).remarking(
        "At constant delays. Here and in other studies the policies by these names bring their count back to the budget; \
         the papers' do not.",
    );
    let mut findings = vec![counts];
    let short = at_most(brief, COUNTED);
    findings.extend(irregular(&short, &settings, watch)?);
    let exhibit = crate::study::cells::error_table(
        format!("The papers' policies with their own counts, {}", cell.name),
        &cell,
        "base/3",
    );
    Ok((findings, vec![exhibit], cell.simulated_seconds + 3.0 * short.size.seconds * short.size.seeds as f64))
}

/// How regularly vectors come, by seed: gaps in triggers between vectors to one receiver.
fn irregular(brief: &Brief, settings: &Settings, watch: &Watch<'_>) -> Result<[Finding; 3]> {
    let gaps = |policy: usize| -> Result<Vec<Vec<f64>>> {
        let one = |seed: u64| {
            let fleet = Fleet::new("all".into(), Motion::Tank.entities(1, brief.size.seconds, seed), &settings.rules)?;
            let spied = Spied { fleet: &fleet, rules: Rules::default(), paths: &settings.paths, seed };
            let policy = (LITERAL[policy].make)(settings.budget, crate::experiment::network_seed(seed, 0));
            Ok(gaps_between(&spied.policy(policy, watch)?.1))
        };
        brief.size.each_seed().collect::<Vec<_>>().into_par_iter().map(one).collect()
    };
    let [fixed, by_error, credits] = [gaps(1)?, gaps(2)?, gaps(7)?];
    let share = |gaps: &[f64], of: &dyn Fn(f64) -> bool| {
        gaps.iter().filter(|gap| of(**gap)).count() as f64 / gaps.len().max(1) as f64
    };
    let mut shares = Vec::new();
    for (policy, gaps) in [("lottery-fixed", &fixed), ("lottery-pa", &by_error)] {
        let of = |of: &dyn Fn(f64) -> bool| gaps.iter().map(|gaps| share(gaps, of)).collect();
        shares.push(Observation::new(format!("{policy}, below 3"), of(&|gap| gap < 3.0)));
        shares.push(Observation::new(format!("{policy}, above 3"), of(&|gap| gap > 3.0)));
    }
    let variation = |gaps: &Vec<f64>| {
        let (mean, std, _) = statistics(gaps.iter().copied());
        std / mean
    };
    let smooth = credits.iter().zip(&by_error).map(|(credits, lottery)| variation(credits) / variation(lottery));
    let longest = credits.iter().map(|gaps| gaps.iter().copied().fold(0.0, f64::max));
    let at = |values: Vec<f64>| vec![Observation::new(jitter_name(JITTERS_MS[0]), values)];
    Ok([
        Finding::new(PAPER_LOTTERY_IRREGULAR, shares),
        Finding::new(PAPER_LOTTERY_IRREGULAR_SMOOTH, at(smooth.collect())),
        Finding::new(PAPER_LOTTERY_IRREGULAR_GUARANTEED, at(longest.collect())).remarking(
            "Frequencies are not below a tenth of an even share, so no schedule may be longer than 30 triggers.",
        ),
    ])
}

/// Gaps between vectors to one receiver, in triggers, over all receivers.
fn gaps_between(noted: &[Noted]) -> Vec<f64> {
    let mut gaps = Vec::new();
    for receiver in 0..DELAYS_MS.len() {
        let sent = noted.iter().enumerate().filter(|(_, vector)| vector.sends[receiver].is_some());
        let numbers: Vec<usize> = sent.map(|(number, _)| number).collect();
        gaps.extend(numbers.windows(2).map(|pair| (pair[1] - pair[0]) as f64));
    }
    gaps
}
