//! Tables and plots of the cells.

use super::Figures;
use super::bound::{SMALLEST_EQUAL, SMALLEST_MEAN};
use super::cell::{Point, Total, export, real};
use crate::experiment::Row;
use crate::study::Exhibit;
use crate::study::cells::{number, table};

pub(super) fn exhibits(points: &[Point]) -> Vec<Exhibit> {
    let mut exhibits = vec![even_against_others(points)];
    for group in points.chunk_by(|a, b| (a.game, a.senders, a.network) == (b.game, b.senders, b.network)) {
        exhibits.extend([export_table(group), real_table(group)]);
        exhibits.extend(totals_table(group));
        exhibits.extend(group.iter().flat_map(|point| [trade_off(point), receiver_bars(point)]));
    }
    exhibits
}

/// Multiples of somebody's figures.
fn times(value: f64) -> String {
    format!("{value:.3}")
}

/// What the summary says, as a table.
fn even_against_others(points: &[Point]) -> Exhibit {
    let head = ["cell", "/ base/k", "/ credits", "real / tolerance"];
    let three = |figures: Figures| figures.map(|figure| format!("{figure:.2}")).join("/");
    let row = |point: &Point| {
        let base = point.ratios("even", &point.every_kth(), export);
        let credits = point.ratios("even", "credits", export);
        let tolerance = point.ratios("even", "tolerance", real);
        [point.name()].into_iter().chain([base, credits, tolerance].map(three)).collect()
    };
    let note = "Even's mean/standard deviation/maximum over receivers, judged per player and averaged over players, as \
                multiples of the others' at the same budget. Against every k-th vector and credits by the export error; \
                against a larger tolerance by the distance between real and placed path, since the path that it exports is \
                a coarser one.";
    table("Even against the others, cell by cell", note, &head, points.iter().map(row).collect())
}

/// Export errors of one group of cells, budget by budget.
fn export_table(group: &[Point]) -> Exhibit {
    let head = ["budget", "policy", "vectors", "mean (m)", "std (m)", "max (m)", "mean / k", "std / k", "max / k"];
    let note = "Export error per second, against what the base case exports: mean, standard deviation and maximum over \
                receivers, judged per player and averaged over players; and as multiples of those of base/k. What takes a \
                budget is trimmed to it, as a rule within a percent: the summary says where not; schedule-drop-projected \
                sends what it sends, whatever the budget, and stands here once. A larger tolerance exports a coarser \
                path, which this measure does not forgive: compare it by what is real.";
    let row = |point: &Point, policy: &str| -> Vec<String> {
        let Some(row) = point.row(policy) else { return Vec::new() };
        let mut cells = vec![format!("1/{}", point.budget), policy.to_owned(), format!("{:.0}", row.vectors_sent)];
        cells.extend(export(row).map(number));
        cells.extend(point.ratios(policy, &point.every_kth(), export).map(times));
        cells
    };
    by_policy("Export error", note, &head, group, row)
}

/// What was real and what was shown in one group of cells, budget by budget.
fn real_table(group: &[Point]) -> Exhibit {
    let head = ["budget", "policy", "mean (m)", "std (m)", "max (m)", "spread (m)", "flips / min"];
    let note = "Distance between real and placed path: mean, standard deviation and maximum over receivers, judged per player \
                and averaged over players. Spread: the mean over time of the largest distance between two receivers' \
                placements of one player at one instant. Flips: how often another receiver becomes the worst off.";
    let row = |point: &Point, policy: &str| -> Vec<String> {
        let Some(row) = point.row(policy) else { return Vec::new() };
        let mut cells = vec![format!("1/{}", point.budget), policy.to_owned()];
        cells.extend(real(row).map(number));
        cells.extend([number(row.spread), number(row.flips)]);
        cells
    };
    by_policy("Real against placed", note, &head, group, row)
}

fn by_policy(
    what: &str,
    note: &str,
    head: &[&str],
    group: &[Point],
    row: impl Fn(&Point, &str) -> Vec<String>,
) -> Exhibit {
    let rows = group.iter().flat_map(|point| point.rows.iter().map(|each| row(point, &each.policy)));
    let title = format!("{what}: {}", group.first().map_or_else(String::new, Point::group));
    table(title, note, head, rows.collect())
}

/// A server's policies beside somebody who knows the future, with errors added up over players; nothing if there is no server.
fn totals_table(group: &[Point]) -> Option<Exhibit> {
    let head = ["budget", "policy", "vectors", "mean (m)", "std (m)", "max (m)", "mean / least", "max / alike"];
    let row = |point: &Point, total: &Total| {
        let bound = |who: &str| -> Figures {
            point.totals.iter().find(|total| total.who == who).map_or([f64::NAN; 3], |total| total.figures)
        };
        let [mean, _, max] = total.figures;
        let mut cells = vec![format!("1/{}", point.budget), total.who.clone(), format!("{:.0}", total.vectors)];
        cells.extend(total.figures.map(number));
        cells.extend(
            [mean / bound(SMALLEST_MEAN)[0], max / bound(SMALLEST_EQUAL)[2]].map(|value| format!("{value:.2}")),
        );
        cells
    };
    let rows: Vec<_> = group.iter().flat_map(|point| point.totals.iter().map(move |total| row(point, total))).collect();
    let note = "The clairvoyant knows the future and sends as many vectors as even: with the smallest mean, and with the \
                smallest error that all receivers can have alike; the others' mean and maximum as multiples of those. It \
                hands out vectors over all players together, so here, unlike in the other tables, errors are added up over \
                players before receivers are compared.";
    let title = format!("Beside the clairvoyant: {}", group.first()?.group());
    (!rows.is_empty()).then(|| table(title, note, &head, rows))
}

/// Mean against standard deviation, one point per policy.
fn trade_off(point: &Point) -> Exhibit {
    Exhibit::Points {
        title: format!("Accuracy against fairness: {}", point.name()),
        note: "Nearer to the lower left is better: accurate, and fair. Judged per player, averaged over players. The base \
               case sends every vector, schedule-drop-projected more than the budget: the tables say how many."
            .into(),
        x: "mean export error (m)".into(),
        y: "standard deviation over receivers (m)".into(),
        points: point.rows.iter().map(|row| (row.mean, row.std, row.policy.clone())).collect(),
    }
}

/// Each receiver's error, in groups by policy.
fn receiver_bars(point: &Point) -> Exhibit {
    let receiver = |(i, delay): (usize, &f64)| {
        let error = |row: &Row| row.receivers.get(i).map_or(f64::NAN, |seen| seen.export_error);
        (format!("{delay} ms"), point.rows.iter().map(error).collect())
    };
    Exhibit::Bars {
        title: format!("Errors by receiver: {}", point.name()),
        note: "The more alike the bars of a policy, the fairer it is. Averaged over players.".into(),
        x: "policy".into(),
        y: "export error (m)".into(),
        groups: point.rows.iter().map(|row| row.policy.clone()).collect(),
        bars: point.network.delays_ms().iter().enumerate().map(receiver).collect(),
    }
}
