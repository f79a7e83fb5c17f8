//! A third of the vectors, and who should get them: the paper's section 5 and the thesis's section 3.4.

mod claims_paper;
mod claims_same;
mod claims_thesis;
mod counts;
mod fewer;
mod findings;

use super::cells::{
    Cell, JITTERS_MS, Take, courses, error_table, jitter_name, median, papers, receiver_bars, trade_off,
};
use super::{Brief, Entry, Exhibit, Finding, Study, Watch};
use crate::experiment::Settings;
use anyhow::Result;

/// Everything that is compared here: all vectors, a third of them to all, and a third of them to whom a policy chooses.
const POLICIES: [&str; 19] = [
    "base",
    "base/3",
    "lottery-pa",
    "lottery-pi",
    "lottery-pt",
    "lottery-case4",
    "lottery-case5",
    "lottery-one",
    "lottery-fixed",
    "credits-pa",
    "credits-pi",
    "credits-pt",
    "credits-mix",
    "credits-case5",
    "tolerance",
    "accumulator",
    "accumulator-distance",
    "tang-zhou",
    "even",
];
/// Whose errors are shown receiver by receiver in the course of time.
const BY_RECEIVER: [&str; 4] = ["base/3", "lottery-pa", "credits-pa", "even"];

/// The papers' setting with budgets trimmed to a third, and one's own policies among the others.
fn settings(brief: &Brief, jitter_ms: f64) -> Settings {
    let mut settings = Settings { own: brief.own.clone(), ..papers(brief, jitter_ms, &POLICIES) };
    settings.policies.extend(brief.own.iter().map(|own| own.name.to_owned()));
    settings
}

/// What was found, what there is to see, and how many seconds that took to simulate.
type Found = (Vec<Finding>, Vec<Exhibit>, f64);

pub(super) const ENTRY: Entry = Entry {
    name: "budget",
    question: "With a third of the vectors, does it help to send more of them to whoever is worse off?",
    reproduces: "paper figures 5 and 6; thesis figures 3.15 to 3.27",
    needs: &[],
    run,
};

/// Runs it.
fn run(brief: &Brief, watch: &Watch<'_>) -> Result<Study> {
    let cell = |jitter: &f64| Cell::run(&jitter_name(*jitter), &settings(brief, *jitter), true, watch);
    let cells: Vec<Cell> = JITTERS_MS.iter().map(cell).collect::<Result<_>>()?;
    let mut study = Study {
        name: "budget",
        settings: settings(brief, JITTERS_MS[0]).describe(),
        summary: summary(&cells),
        exhibits: cells.iter().flat_map(exhibits).collect(),
        findings: findings::paper(&cells).into_iter().chain(findings::thesis(&cells)).collect(),
        rows: Vec::new(),
        simulated_seconds: cells.iter().map(|cell| cell.simulated_seconds).sum(),
    };
    for (findings, exhibits, seconds) in [counts::run(brief, watch)?, fewer::run(&cells, brief, watch)?] {
        study.findings.extend(findings);
        study.exhibits.extend(exhibits);
        study.simulated_seconds += seconds;
    }
    Ok(study)
}

fn exhibits(cell: &Cell) -> Vec<Exhibit> {
    let title = |which: &str| format!("{which}, a third of the vectors, {}", cell.name);
    let mut exhibits = vec![
        error_table(title("Errors by policy"), cell, "base/3"),
        trade_off(title("Accuracy against fairness"), cell),
        receiver_bars(title("Errors by receiver"), cell),
    ];
    exhibits.extend(courses("a third of the vectors", cell, &BY_RECEIVER));
    exhibits
}

fn summary(cells: &[Cell]) -> String {
    let over = |policy: &str, of: fn(&Take) -> f64| -> Vec<String> {
        cells.iter().map(|cell| format!("{:.2}", median(cell.ratios(policy, "base/3", of)))).collect()
    };
    let both =
        |policy: &str| format!("{} and {}", over(policy, Take::std).join("/"), over(policy, Take::mean).join("/"));
    format!(
        "With a third of the vectors, standard deviation and mean as multiples of the 1/3 base case's, at jitters of \
         0/100/180 ms: credits by accumulated error {}; the paper's lottery {}; the thesis's lottery by accumulated error \
         {}; a larger tolerance {}; even {}. Credits lower the worst error to {} of the 1/3 base case's, even to {}.",
        both("credits-pa"),
        both("lottery-one"),
        both("lottery-pa"),
        both("tolerance"),
        both("even"),
        over("credits-pa", Take::max).join("/"),
        over("even", Take::max).join("/"),
    )
}
