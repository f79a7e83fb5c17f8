//! Everything at equal numbers of vectors: budgets, receivers and motions; and how far from the best there could be.

mod bound;
mod claims;
mod grid;
mod show;
mod weights;

use super::cells::{Take, median};
use super::{Brief, Entry, Study, Watch};
use crate::world::statistics;
use anyhow::Result;
use grid::{Point, settings};

/// Mean, standard deviation and maximum over receivers of the mean distance between exported and placed path.
fn figures(take: &Take) -> [f64; 3] {
    let (mean, std, max) = statistics(take.distances.iter().copied());
    [mean, std, max]
}

pub(super) const ENTRY: Entry = Entry {
    name: "policies",
    question: "At equal numbers of vectors, who is accurate, who is fair, and how far is that from the best there could be?",
    reproduces: "thesis figures 3.15 to 3.17 for every factor; beyond the papers: budgets, receivers, motions, a lower bound",
    needs: &[],
    run,
};

/// Runs it.
fn run(brief: &Brief, watch: &Watch<'_>) -> Result<Study> {
    let mut points: Vec<Point> = grid::run(brief, watch)?;
    for point in &mut points {
        bound::add(point)?;
    }
    let (findings, seconds) = weights::run(brief, watch)?;
    Ok(Study {
        name: "policies",
        settings: settings(brief).describe(),
        summary: summary(&points),
        exhibits: show::exhibits(&points),
        findings,
        rows: Vec::new(),
        simulated_seconds: seconds + points.iter().map(|point| point.cell.simulated_seconds).sum::<f64>(),
    })
}

/// The papers' cells in numbers, and over all cells who wins how often.
fn summary(points: &[Point]) -> String {
    let papers: Vec<&Point> = points.iter().filter(|point| point.is_papers()).collect();
    let all = |policy: &str| {
        let figure = |which: usize| {
            let of =
                |point: &&Point| median(point.cell.ratios(policy, &point.every_kth(), |take| figures(take)[which]));
            papers.iter().map(of).map(|ratio| format!("{ratio:.2}")).collect::<Vec<_>>().join("/")
        };
        [0, 1, 2].map(figure).join(", ")
    };
    let better = |which: usize, rival: &str| {
        let wins = |point: &&Point| median(point.cell.ratios("even", rival, |take| figures(take)[which])) < 1.0;
        points.iter().filter(wins).count()
    };
    let wins = |rival: &str| [0, 1, 2].map(|which| better(which, rival).to_string()).join("/");
    format!(
        "At a third of the vectors and the papers' delays, mean, standard deviation and maximum as multiples of the 1/3 base \
         case's at jitters of 0/100/180 ms: even {}; credits {}; a larger tolerance {}. Over all {} cells of this study even \
         has the lower mean/standard deviation/maximum (medians over seeds) in {} against credits and in {} against a larger \
         tolerance.",
        all("even"),
        all("credits"),
        all("tolerance"),
        points.len(),
        wins("credits"),
        wins("tolerance"),
    )
}
