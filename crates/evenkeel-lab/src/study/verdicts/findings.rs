//! What was found of each claim.

use super::claims::{CONSERVATIVE_NONE, POSITION_ERRORS_HARMLESS, POSITIONS_LESS_LAG, ROLLBACK_HEALS, TAILORED_BETTER};
use super::grid::{Case, DELAY_MS, DELAYS_MS, Grid, JITTER_MS, Seed, VERDICT_LAGS_MS};
use crate::study::measure::observe;
use crate::study::{Finding, Observation};

/// How a seed's wrong share is looked up.
type Wrong = fn(&Seed, usize, usize) -> f64;
const METHODS: [(&str, Wrong); 2] = [("states", states), ("operations", operations)];

/// Movement lags with the first verdict lag that makes up what is missing to the delay.
const TAILORED_MS: [(f64, f64); 3] = [(0.0, 200.0), (60.0, 150.0), (120.0, 100.0)];

fn states(seed: &Seed, case: usize, verdict_lag: usize) -> f64 {
    let tally = &seed.states[case];
    tally.wrong[verdict_lag] / tally.shots
}

fn operations(seed: &Seed, case: usize, verdict_lag: usize) -> f64 {
    seed.operations[case][verdict_lag].paradoxes()
}

/// Which verdict lag that is.
fn lag_of(ms: f64) -> usize {
    VERDICT_LAGS_MS.iter().position(|lag| *lag == ms).unwrap_or_default()
}

pub(super) fn findings(grid: &Grid) -> Vec<Finding> {
    vec![
        Finding::new(POSITIONS_LESS_LAG, positions(grid)).remarking(
            "What is left with states is the threshold's: the exported path may be 0.1 m off the real one, and some shots pass \
             that close to a tank's edge. With jitter some deliveries take up to 250 ms, longer than the verdicts wait.",
        ),
        Finding::new(TAILORED_BETTER, tailored(grid))
            .remarking("Movements wait equally long on both sides. The median is over seeds."),
        Finding::new(POSITION_ERRORS_HARMLESS, harmless(grid))
            .remarking("Tanks of BZFlag at up to 25 m/s, 40 to 120 m away, with a hand that hits every other time."),
        Finding::new(CONSERVATIVE_NONE, conservative(grid)),
        Finding::new(ROLLBACK_HEALS, heals(grid)),
    ]
}

fn positions(grid: &Grid) -> Vec<Observation> {
    let lag = lag_of(220.0);
    let both = METHODS.into_iter().flat_map(|method| [0.0, JITTER_MS].map(|jitter| (method, jitter)));
    both.map(|((name, wrong), jitter)| {
        let case = grid.case(DELAY_MS, jitter, 0.0);
        let condition = if jitter == 0.0 { name.to_owned() } else { format!("{name}, jitter ±{jitter} ms") };
        observe(condition, &grid.seeds, |seed| wrong(seed, case, lag))
    })
    .collect()
}

fn tailored(grid: &Grid) -> Vec<Observation> {
    let both = METHODS.into_iter().flat_map(|method| TAILORED_MS.map(|lags| (method, lags)));
    both.map(|((name, wrong), (movement, verdict))| {
        let case = grid.case(DELAY_MS, 0.0, movement);
        let condition = format!("{name}, movements {movement} ms, verdicts {verdict} ms");
        observe(condition, &grid.seeds, |seed| wrong(seed, case, 0) - wrong(seed, case, lag_of(verdict)))
    })
    .collect()
}

fn harmless(grid: &Grid) -> Vec<Observation> {
    let of = |delay: f64| {
        let case = grid.case(delay, 0.0, 0.0);
        observe(format!("{delay} ms"), &grid.seeds, |seed| states(seed, case, 0))
    };
    DELAYS_MS.map(of).to_vec()
}

fn conservative(grid: &Grid) -> Vec<Observation> {
    let case = grid.case(DELAY_MS, 0.0, 220.0);
    vec![observe("200 ms", &grid.seeds, |seed| operations(seed, case, 0))]
}

/// The worst of all verdict lags.
fn heals(grid: &Grid) -> Vec<Observation> {
    let of = |(n, case): (usize, &Case)| {
        observe(case.name(), &grid.seeds, |seed| seed.operations[n].iter().map(|a| a.unhealed).fold(0.0, f64::max))
    };
    grid.cases.iter().enumerate().map(of).collect()
}
