//! Tables and plots of the grid.

use super::bound::{SMALLEST_EQUAL, SMALLEST_MEAN};
use super::figures;
use super::grid::Point;
use crate::study::Exhibit;
use crate::study::cells::{Take, average, median, number, receiver_bars, table, trade_off};
use crate::world::statistics;

pub(super) fn exhibits(points: &[Point]) -> Vec<Exhibit> {
    let mut exhibits = vec![acceptance(points), distance_to_bound(points)];
    for point in points.iter().filter(|point| point.is_papers()) {
        exhibits.push(trade_off(format!("Accuracy against fairness, {}", point.cell.name), &point.cell));
        exhibits.push(receiver_bars(format!("Errors by receiver, {}", point.cell.name), &point.cell));
    }
    for group in points.chunk_by(|a, b| (a.motion, a.network) == (b.motion, b.network)) {
        exhibits.push(policy_table(group));
    }
    exhibits
}

/// All policies of one motion and network, budget by budget.
fn policy_table(group: &[Point]) -> Exhibit {
    let head = [
        "budget",
        "policy",
        "vectors",
        "mean / base/k",
        "std / base/k",
        "max / base/k",
        "mean (m)",
        "std (m)",
        "max (m)",
        "real mean (m)",
        "real max (m)",
    ];
    let rows = group.iter().flat_map(|point| point.cell.policies.iter().map(move |(policy, _)| row(point, policy)));
    let title = group.first().map_or_else(String::new, |point| {
        format!("Policies at equal vectors: {}, {}", point.motion.name(), point.network.name())
    });
    let sizes = group.iter().map(|p| format!("1/{}: {} × {} s", p.budget, p.size.seeds, p.size.seconds));
    let sizes = sizes.collect::<Vec<_>>().join(", ");
    let note = format!(
        "Export error per second, the mean distance between exported and placed path: mean, standard deviation and maximum \
         over receivers. Ratios to every k-th vector to everybody are medians over seeds, metres are averages. What takes a \
         budget is trimmed to it within a percent; schedule-drop-projected sends what it sends. One \
         entity; runs {sizes}."
    );
    table(title, &note, &head, rows.collect())
}

fn row(point: &Point, policy: &str) -> Vec<String> {
    let (cell, to) = (&point.cell, point.every_kth());
    let relative = |which: usize| format!("{:.3}", median(cell.ratios(policy, &to, |take| figures(take)[which])));
    let metres = |which: usize| number(average(&cell.values(policy, |take| figures(take)[which])));
    let real = |pick: fn((f64, f64, f64)) -> f64| {
        let values = cell.values(policy, |take| pick(statistics(take.real.iter().copied())));
        Some(average(&values)).filter(|value| value.is_finite()).map_or_else(|| "-".into(), number)
    };
    let mut row =
        vec![format!("1/{}", point.budget), policy.to_owned(), number(average(&cell.values(policy, Take::sent)))];
    row.extend([0, 1, 2].map(relative));
    row.extend([0, 1, 2].map(metres));
    row.extend([real(|(mean, ..)| mean), real(|(.., max)| if max > 0.0 { max } else { f64::NAN })]);
    row
}

/// In how many seeds `even` is ahead, cell by cell.
fn acceptance(points: &[Point]) -> Exhibit {
    let head = [
        "cell",
        "seeds",
        "mean < credits",
        "std < credits",
        "max < credits",
        "mean / credits",
        "std / credits",
        "max / credits",
        "mean < tolerance",
        "std < tolerance",
        "max < tolerance",
    ];
    let row = |point: &Point| {
        let ratios = |rival: &str, which: usize| point.cell.ratios("even", rival, |take| figures(take)[which]);
        let wins = |rival: &str, which: usize| ratios(rival, which).iter().filter(|r| **r < 1.0).count().to_string();
        let mut row = vec![point.cell.name.clone(), point.size.seeds.to_string()];
        row.extend([0, 1, 2].map(|which| wins("credits", which)));
        row.extend([0, 1, 2].map(|which| format!("{:.3}", median(ratios("credits", which)))));
        row.extend([0, 1, 2].map(|which| wins("tolerance", which)));
        row
    };
    let note = "In how many seeds even's mean, standard deviation and maximum of the export error are lower than those of \
                credits by accumulated error and of a larger tolerance, at equal vectors; and the ratio, median over seeds.";
    table("Even against credits, cell by cell", note, &head, points.iter().map(row).collect())
}

/// How far `even` is from what the future would allow.
fn distance_to_bound(points: &[Point]) -> Exhibit {
    let head = ["cell", "mean / smallest mean", "mean / all alike", "max / all alike", "std (m)"];
    let row = |point: &Point| {
        let against = |bound: &str, which: usize| {
            format!("{:.2}", median(point.cell.ratios("even", bound, |take| figures(take)[which])))
        };
        let std = number(average(&point.cell.values("even", |take| figures(take)[1])));
        vec![
            point.cell.name.clone(),
            against(SMALLEST_MEAN, 0),
            against(SMALLEST_EQUAL, 0),
            against(SMALLEST_EQUAL, 2),
            std,
        ]
    };
    let bounded = points.iter().filter(|point| !point.cell.takes(SMALLEST_MEAN).is_empty());
    let note = "Even's export error against that of somebody who knows the future and sends as many vectors: with the \
                smallest mean, and with the smallest error that all receivers can have alike. Constant delays only.";
    table("Even against the clairvoyant", note, &head, bounded.map(row).collect())
}
