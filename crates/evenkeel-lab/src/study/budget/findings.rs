//! Claims about errors and vectors at the end of runs, with budgets trimmed to equal counts.

use super::claims_paper::*;
use super::claims_same::*;
use super::claims_thesis::*;
use crate::study::cells::{Cell, DELAYS_MS, Take};
use crate::study::{Claim, Finding, Observation};

const THIRD: &str = "base/3";
const CREDITS: &str = "credits-pa";
/// The paper's lottery, and the thesis's with the weights that the paper has.
const LOTTERIES: [&str; 2] = ["lottery-one", "lottery-pa"];
/// The paper's two policies.
const PAPERS: [&str; 2] = ["lottery-one", CREDITS];

/// One observation for each policy and cell.
fn crossed(claim: Claim, policies: &[&str], cells: &[Cell], of: impl Fn(&Cell, &str) -> Vec<f64>) -> Finding {
    let one = |policy: &&str, cell: &Cell| Observation::new(format!("{policy}, {}", cell.name), of(cell, policy));
    let observations = policies.iter().flat_map(|policy| cells.iter().map(move |cell| (policy, cell)));
    Finding::new(claim, observations.map(|(policy, cell)| one(policy, cell)).collect())
}

/// A figure against another policy's, for each policy and cell.
fn against(claim: Claim, policies: &[&str], cells: &[Cell], to: &str, of: fn(&Take) -> f64) -> Finding {
    crossed(claim, policies, cells, |cell, policy| cell.ratios(policy, to, of))
}

/// The paper's claims, and those of the thesis that say the same.
pub(super) fn paper(cells: &[Cell]) -> Vec<Finding> {
    let [_, variable @ ..] = cells else { return Vec::new() };
    let literal = "Read as it stands, against all of the base case's vectors.";
    vec![
        against(PAPER_LOTTERY_STD, &LOTTERIES, variable, THIRD, Take::std),
        against(PAPER_LOTTERY_MEAN, &LOTTERIES, variable, THIRD, Take::mean),
        against(PAPER_CREDITS_STD, &[CREDITS], cells, THIRD, Take::std),
        against(PAPER_CREDITS_MEAN_SAME, &[CREDITS], cells, THIRD, Take::mean),
        against(PAPER_CREDITS_MEAN_SAME_ALMOST, &[CREDITS], cells, THIRD, Take::mean),
        means_below(PAPER_DET_MEAN_BELOW_PROB, &[("lottery-one", CREDITS), ("lottery-pa", CREDITS)], cells),
        means_below(PAPER_DET_MEAN_BELOW_PROB_OTHERS, &OTHER_WEIGHTS, cells),
        crossed(PAPER_DET_STD_LOW_VARIANCE, &LOTTERIES, &cells[..2], |cell, lottery| fairer(cell, CREDITS, lottery)),
        crossed(PAPER_DET_STD_HIGH_VARIANCE, &LOTTERIES, &cells[2..], |cell, lottery| fairer(cell, lottery, CREDITS)),
        crossed(PAPER_BUDGET_FAR_GETS_MORE, &PAPERS, cells, |cell, policy| cell.values(policy, far_gets_more)),
        against(PAPER_BUDGET_FAR_GETS_MORE_THAN_THIRD, &PAPERS, cells, THIRD, |take| take.vectors[0]),
        against(PAPER_BUDGET_WORST_NOT_INCREASED, &PAPERS, variable, THIRD, Take::max),
        against(PAPER_BUDGET_WORST_NOT_INCREASED_LITERAL, &PAPERS, variable, "base", Take::max).remarking(literal),
        against(PAPER_BUDGET_MEAN_COMPARABLE, &PAPERS, variable, THIRD, Take::mean),
        against(PAPER_BUDGET_MEAN_COMPARABLE_LITERAL, &PAPERS, variable, "base", Take::mean).remarking(literal),
    ]
}

/// Lotteries and credits with the same weights, beyond the papers' favourite.
const OTHER_WEIGHTS: [(&str, &str); 4] = [
    ("lottery-pi", "credits-pi"),
    ("lottery-pt", "credits-pt"),
    ("lottery-case4", "credits-mix"),
    ("lottery-case5", "credits-case5"),
];

/// Whether the deterministic way has the smaller mean.
fn means_below(claim: Claim, pairs: &[(&str, &str)], cells: &[Cell]) -> Finding {
    let one = |(lottery, credits): &(&str, &str), cell: &Cell| {
        Observation::new(format!("{credits} / {lottery}, {}", cell.name), cell.ratios(credits, lottery, Take::mean))
    };
    let observations = pairs.iter().flat_map(|pair| cells.iter().map(move |cell| one(pair, cell)));
    Finding::new(claim, observations.collect())
}

/// The share of seeds in which one policy is fairer than another.
fn fairer(cell: &Cell, policy: &str, other: &str) -> Vec<f64> {
    let ratios = cell.ratios(policy, other, Take::std);
    vec![ratios.iter().filter(|ratio| **ratio < 1.0).count() as f64 / ratios.len() as f64]
}

/// The smallest ratio of vectors from one receiver to the next nearer one.
fn far_gets_more(take: &Take) -> f64 {
    take.vectors.windows(2).map(|pair| pair[0] / pair[1]).fold(f64::INFINITY, f64::min)
}

/// What only the thesis says.
pub(super) fn thesis(cells: &[Cell]) -> Vec<Finding> {
    let [still, variable @ ..] = cells else { return Vec::new() };
    let still = std::slice::from_ref(still);
    let literal = "Read as it stands, against all of the base case's vectors.";
    let extreme = |pick: fn(f64, f64) -> f64| {
        move |cell: &Cell, policy: &str| {
            let ratios = |a: &Take, b: &Take| a.errors.iter().zip(&b.errors).map(|(a, b)| a / b).reduce(pick);
            cell.compared(policy, THIRD, |a, b| ratios(a, b).unwrap_or(f64::NAN))
        }
    };
    vec![
        against(THESIS_LOTTERY_MEAN_HIGHER, &["lottery-pa"], variable, THIRD, Take::mean),
        against(THESIS_CREDITS_STD_BELOW_BASE, &[CREDITS], still, "base", Take::std),
        against(THESIS_CREDITS_CONSIDERABLY_FAIRER, &[CREDITS], still, THIRD, Take::std),
        against(THESIS_CREDITS_CONSIDERABLY_FAIRER_LITERAL, &[CREDITS], still, "base", Take::std).remarking(literal),
        Finding::new(
            THESIS_LOTTERY_FIXED_EACH_HIGHER,
            still.iter().flat_map(|cell| cell.each_against("lottery-fixed", THIRD)).collect(),
        ),
        crossed(THESIS_CREDITS_ONE_DOWN_ONE_UP, &[CREDITS], still, extreme(f64::min)),
        crossed(THESIS_CREDITS_ONE_DOWN_ONE_UP_UP, &[CREDITS], still, extreme(f64::max)),
        Finding::new(THESIS_CREDITS_HIGHEST_DOWN, cells.iter().flat_map(highest_down).collect()),
        Finding::new(THESIS_CREDITS_TOWARD_MEAN, cells.iter().flat_map(toward_mean).collect()),
        against(THESIS_CREDITS_MEAN_BASE_CASE, &[CREDITS], cells, "base", Take::mean).remarking(literal),
    ]
}

fn highest_down(cell: &Cell) -> [Observation; 2] {
    let far = |take: &Take| take.errors[0];
    [
        Observation::new(format!("{}, highest", cell.name), cell.ratios(CREDITS, THIRD, Take::max)),
        Observation::new(format!("{}, 800 ms", cell.name), cell.ratios(CREDITS, THIRD, far)),
    ]
}

/// How much nearer each receiver comes to the mean that there was before.
fn toward_mean(cell: &Cell) -> Vec<Observation> {
    let receiver = |(i, delay): (usize, &f64)| {
        let values = cell.compared(CREDITS, THIRD, |credits, third| {
            let off = |take: &Take| (take.errors[i] - third.mean()).abs();
            off(credits) / off(third)
        });
        Observation::new(format!("{}, {delay} ms", cell.name), values)
    };
    DELAYS_MS.iter().enumerate().map(receiver).collect()
}
