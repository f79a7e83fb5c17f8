//! Claims about errors at the end of runs and in their course.

use super::Cells;
use super::claims_paper::*;
use super::claims_send::*;
use super::claims_thesis::*;
use crate::study::cells::{Cell, DELAYS_MS, Take};
use crate::study::{Claim, Finding, Observation};

/// The paper's claims about its own scheme.
pub(super) fn paper(cells: &Cells) -> Vec<Finding> {
    let [still, low, ..] = &cells.linear[..] else { return Vec::new() };
    let (policy, base) = ("schedule-paper", "base");
    let snapshots = |take: &Take, base: &Take| {
        let ratio = |at: f64| take.statistics_at(at).1 / base.statistics_at(at).1;
        let all: Vec<f64> = (0..(take.seconds() * 10.0) as usize).skip(100).map(|n| ratio(n as f64 / 10.0)).collect();
        all.iter().filter(|ratio| **ratio <= 0.5).count() as f64 / all.len().max(1) as f64
    };
    let below_half = Observation::new("", low.compared(policy, base, snapshots)).median();
    vec![
        Finding::new(PAPER_SCHEDULING_STD, vec![low.against(policy, base, Take::std)]).remarking(format!(
            "Of all snapshots after 10 s, {:.0} % (median over seeds) are at half of base's or less.",
            100.0 * below_half
        )),
        Finding::new(PAPER_SCHEDULING_MEAN, vec![low.against(policy, base, Take::mean)]),
        Finding::new(PAPER_SCHEDULING_EACH_HIGHER, low.each_against(policy, base)),
        Finding::new(PAPER_SCHEDULING_TOWARD_WORST, toward_worst(low)),
        Finding::new(
            PAPER_SCHEDULING_TOWARD_WORST_FAR,
            vec![Observation::new(low.name.clone(), low.values(base, |t| t.errors[0] / t.errors[1].max(t.errors[2])))],
        ),
        Finding::new(
            PAPER_SCHEDULING_DEVIATION_SHRINKS,
            vec![Observation::new(low.name.clone(), low.values(policy, deviation_at_the_end))],
        ),
        flip_flop(still, low),
    ]
}

/// How much nearer to the farthest receiver's error the others come.
fn toward_worst(cell: &Cell) -> Vec<Observation> {
    let receiver = |i: usize| {
        let off = |take: &Take| (1.0 - take.errors[i] / take.errors[0]).abs();
        Observation::new(format!("{}, {} ms", cell.name, DELAYS_MS[i]), cell.ratios("schedule-paper", "base", off))
    };
    [1, 2].map(receiver).into()
}

/// The standard deviation of error per time, at the end against a quarter of the run.
fn deviation_at_the_end(take: &Take) -> f64 {
    let end = take.seconds();
    let per_time = |at: f64| take.statistics_at(at).1 / at;
    per_time(end) / per_time(0.25 * end)
}

/// Whether jitter makes the highest error change hands more often, and the mean larger.
fn flip_flop(still: &Cell, low: &Cell) -> Finding {
    let policy = "schedule-paper";
    let flips = |cell: &Cell| cell.compared(policy, "base", |take, base| changes(take) * 100.0 / base.vectors[0]);
    let means = |cell: &Cell| cell.ratios(policy, "base", Take::mean);
    let more = |of: &dyn Fn(&Cell) -> Vec<f64>| of(low).iter().zip(of(still)).map(|(low, still)| low - still).collect();
    Finding::new(
        PAPER_FLIP_FLOP,
        vec![
            Observation::new("changes of the highest per 100 triggers", more(&flips)),
            Observation::new("mean / base's", more(&means)),
        ],
    )
    .remarking("The highest error is read from snapshots every 100 ms.")
}

/// How often another receiver has the highest accumulated error.
fn changes(take: &Take) -> f64 {
    let snapshots = take.course.first().map_or(0, Vec::len);
    let highest = |n: usize| (0..take.course.len()).max_by(|a, b| take.course[*a][n].total_cmp(&take.course[*b][n]));
    (1..snapshots).filter(|n| highest(*n) != highest(n - 1)).count() as f64
}

/// The thesis's claims about its two algorithms.
pub(super) fn thesis(cells: &Cells) -> Vec<Finding> {
    let mut findings = Vec::new();
    let readings = [
        ("schedule-drop", THESIS_DROP_STD, THESIS_DROP_MEAN, THESIS_DROP_FEWER),
        ("schedule-drop-projected", THESIS_DROP_STD_PROJECTED, THESIS_DROP_MEAN_PROJECTED, THESIS_DROP_FEWER_PROJECTED),
    ];
    for (policy, std, mean, fewer) in readings {
        let against =
            |claim: Claim, of: fn(&Take) -> f64| by_cell(claim, &cells.arcs, |cell| cell.ratios(policy, "base", of));
        findings.extend([against(std, Take::std), against(mean, Take::mean), against(fewer, Take::sent)]);
    }
    let readings = [
        ("schedule-drop", THESIS_DROP_EACH_HIGHER, THESIS_DROP_BEYOND_WORST),
        ("schedule-drop-projected", THESIS_DROP_EACH_HIGHER_PROJECTED, THESIS_DROP_BEYOND_WORST_PROJECTED),
    ];
    for (policy, each, beyond) in readings {
        let observations = cells.arcs.iter().flat_map(|cell| cell.each_against(policy, "base"));
        findings.push(Finding::new(each, observations.collect()));
        let least = |take: &Take| take.errors.iter().copied().fold(f64::INFINITY, f64::min);
        findings.push(by_cell(beyond, &cells.arcs, |cell| cell.compared(policy, "base", |t, b| least(t) / b.max())));
    }
    let readings = [
        ("schedule-drop", THESIS_DROP_UNBOUNDED, THESIS_DROP_UNBOUNDED_RATE),
        ("schedule-drop-projected", THESIS_DROP_UNBOUNDED_PROJECTED, THESIS_DROP_UNBOUNDED_RATE_PROJECTED),
    ];
    for (policy, unbounded, rate) in readings {
        findings.push(by_cell(unbounded, &cells.arcs, |cell| cell.compared(policy, "base", least_growth)));
        findings.push(by_cell(rate, &cells.arcs, |cell| cell.values(policy, build_up)));
    }
    findings.extend(algorithm_2(cells));
    findings
}

fn by_cell(claim: Claim, cells: &[Cell], values: impl Fn(&Cell) -> Vec<f64>) -> Finding {
    Finding::new(claim, cells.iter().map(|cell| Observation::new(cell.name.clone(), values(cell))).collect())
}

/// The smallest growth, over receivers and quarters of the run, of what a policy costs beyond the base case.
fn least_growth(take: &Take, base: &Take) -> f64 {
    let quarter = 0.25 * take.seconds();
    let beyond = |i: usize, quarters: u32| {
        let at = quarter * f64::from(quarters);
        take.error_at(i, at) - base.error_at(i, at)
    };
    let growth = |i: usize| (1..=4).map(move |quarters| beyond(i, quarters) - beyond(i, quarters - 1));
    (0..take.course.len()).flat_map(growth).fold(f64::INFINITY, f64::min)
}

/// How fast the mean error grows in the last quarter of the run, against the second.
fn build_up(take: &Take) -> f64 {
    let quarter = 0.25 * take.seconds();
    let mean = |quarters: f64| take.statistics_at(quarters * quarter).0;
    (mean(4.0) - mean(3.0)) / (mean(2.0) - mean(1.0))
}

/// Claims about the algorithm that drops nothing.
fn algorithm_2(cells: &Cells) -> Vec<Finding> {
    let [still, ..] = &cells.arcs[..] else { return Vec::new() };
    let (send, base) = ("schedule-send", "base");
    let near = |observations: Vec<Observation>| observations.into_iter().skip(1).collect::<Vec<_>>();
    let short = |i: usize| {
        let values = still.values(send, |take| take.errors[i] / take.max());
        Observation::new(format!("{}, {} ms", still.name, DELAYS_MS[i]), values)
    };
    let off = |take: &Take, base: &Take| {
        take.vectors.iter().zip(&base.vectors).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let at = |name: &str, values: Vec<f64>| vec![Observation::new(name, values)];
    let variable = || cells.arcs.iter().skip(1);
    vec![
        Finding::new(THESIS_SEND_STD, vec![still.against(send, base, Take::std)]),
        Finding::new(THESIS_SEND_MEAN, vec![still.against(send, base, Take::mean)]).remarking(
            "Moderate is more than a little: above 1.15. An increase of any size up to 2 is told by the median.",
        ),
        Finding::new(THESIS_SEND_FAR_AS_BASE, vec![still.against(send, base, |take| take.errors[0])]),
        Finding::new(THESIS_SEND_NEAR_MORE, near(still.each_against(send, base))),
        Finding::new(THESIS_SEND_NEAR_MORE_SHORT, [1, 2].map(short).into()),
        Finding::new(THESIS_SEND_BELOW_DROP_MEAN, vec![still.against(send, "schedule-drop", Take::mean)]),
        Finding::new(THESIS_SEND_BELOW_DROP_MEAN_RATE, at(&still.name, still.values(send, build_up))),
        Finding::new(THESIS_SEND_CONVERGENCE, convergence(still)),
        Finding::new(THESIS_SEND_HYSTERESIS_NEGLIGIBLE, variable().map(|cell| jitter_adds(still, cell)).collect()),
        Finding::new(
            THESIS_SEND_VARIABLE_ALL_HIGHER,
            variable().flat_map(|cell| cell.each_against(send, base)).collect(),
        ),
        Finding::new(THESIS_SEND_NOTHING_DROPPED, at(&still.name, still.compared(send, base, off))),
    ]
}

/// How much less equal receivers are under algorithm 2 than under algorithm 1.
fn convergence(cell: &Cell) -> Vec<Observation> {
    let unequal = |take: &Take, at: f64| {
        let (mean, std, _) = take.statistics_at(at);
        std / mean
    };
    let observation = |(name, at): (&str, f64)| {
        let values = cell.ratios("schedule-send", "schedule-drop", |take| unequal(take, at.min(take.seconds())));
        Observation::new(name, values)
    };
    [("at 30 s", 30.0), ("at 60 s", 60.0), ("at the end", f64::INFINITY)].map(observation).into()
}

/// What jitter adds to algorithm 2, against all that algorithm 1 adds.
fn jitter_adds(still: &Cell, cell: &Cell) -> Observation {
    let means = |cell: &Cell, policy: &str| cell.ratios(policy, "base", Take::mean);
    let (with, without) = (means(cell, "schedule-send"), means(still, "schedule-send"));
    let drop = means(cell, "schedule-drop");
    let values = with.iter().zip(without).zip(drop).map(|((with, without), drop)| (with - without) / (drop - 1.0));
    Observation::new(cell.name.clone(), values.collect())
}
