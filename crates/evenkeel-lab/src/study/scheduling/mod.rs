//! Holding vectors back so that everybody is as badly off as the worst: the paper's section 4 and the thesis's section 3.3.

mod ages;
mod claims_paper;
mod claims_send;
mod claims_thesis;
mod drops;
mod findings;
mod theorem;

use super::cells::{
    Cell, JITTERS_MS, Take, at_most, courses, error_table, jitter_name, median, papers, receiver_bars, trade_off,
};
use super::{Brief, Entry, Exhibit, Finding, Study, Watch};
use crate::experiment::Settings;
use crate::world::{Rules, VectorKind};
use anyhow::Result;

/// Everything that is compared here. None of them has a budget, so one's own policies have no place among them.
const POLICIES: [&str; 6] =
    ["base", "schedule-paper", "schedule-drop", "schedule-drop-projected", "schedule-send", "schedule-send-newest"];

/// Where single vectors are counted, runs last no longer than this, in seconds.
const COUNTED: f64 = 200.0;

/// The same drives with both kinds of vectors, by jitter.
struct Cells {
    /// Linear vectors, as in the paper, at the jitters that its claims are about.
    linear: Vec<Cell>,
    /// Arcs where the tank turns, as in the thesis.
    arcs: Vec<Cell>,
}

fn settings(brief: &Brief, jitter_ms: f64, vector: VectorKind) -> Settings {
    let rules = Rules { vector, ..Rules::default() };
    // The thesis's algorithms ran with its own vectors.
    let policies = if vector == VectorKind::Linear { &POLICIES[..2] } else { &POLICIES };
    Settings { rules, trim: false, ..papers(brief, jitter_ms, policies) }
}

pub(super) const ENTRY: Entry = Entry {
    name: "scheduling",
    question: "What does holding vectors back, until all are as badly off as the worst, buy and cost?",
    reproduces: "paper figure 4; thesis figures 3.2 to 3.13",
    needs: &[],
    run,
};

impl Cells {
    fn run(brief: &Brief, watch: &Watch<'_>) -> Result<Self> {
        let cells = |vector: VectorKind, jitters: &[f64]| -> Result<Vec<Cell>> {
            let cell = |jitter: &f64| Cell::run(&jitter_name(*jitter), &settings(brief, *jitter, vector), true, watch);
            jitters.iter().map(cell).collect()
        };
        let linear = cells(VectorKind::Linear, &JITTERS_MS[..2])?;
        Ok(Self { linear, arcs: cells(VectorKind::Auto, &JITTERS_MS)? })
    }

    fn exhibits(&self) -> Vec<Exhibit> {
        let mut exhibits = Vec::new();
        for (what, cells) in [("linear vectors", &self.linear), ("linear and circular vectors", &self.arcs)] {
            for cell in cells {
                let title = |which: &str| format!("{which}, {what}, {}", cell.name);
                exhibits.push(error_table(title("Errors by policy"), cell, "base"));
                exhibits.push(trade_off(title("Accuracy against fairness"), cell));
                exhibits.push(receiver_bars(title("Errors by receiver"), cell));
                exhibits.extend(courses(what, cell, &["base", "schedule-paper", "schedule-drop", "schedule-send"]));
            }
        }
        exhibits
    }

    fn simulated_seconds(&self) -> f64 {
        self.linear.iter().chain(&self.arcs).map(|cell| cell.simulated_seconds).sum()
    }
}

/// Runs it.
fn run(brief: &Brief, watch: &Watch<'_>) -> Result<Study> {
    let cells = Cells::run(brief, watch)?;
    let mut simulated_seconds = cells.simulated_seconds();
    let mut findings = findings::paper(&cells);
    findings.extend(findings::thesis(&cells));
    let short = at_most(brief, COUNTED);
    for more in [theorem::findings, drops::findings, ages::findings] {
        let (found, seconds) = more(&short, watch)?;
        findings.extend(found);
        simulated_seconds += seconds;
    }
    Ok(Study {
        name: "scheduling",
        settings: settings(brief, JITTERS_MS[0], VectorKind::Auto).describe(),
        summary: summary(&cells),
        exhibits: cells.exhibits(),
        findings,
        rows: Vec::new(),
        simulated_seconds,
    })
}

/// What was found, and how many seconds that took to simulate.
type Found = (Vec<Finding>, f64);

fn summary(cells: &Cells) -> String {
    let ratio = |cell: &Cell, policy: &str, of: fn(&Take) -> f64| median(cell.ratios(policy, "base", of));
    let both = |cell: &Cell, policy: &str| {
        format!("{:.2} and {:.2}", ratio(cell, policy, Take::std), ratio(cell, policy, Take::mean))
    };
    let (Some(linear), Some(arcs)) = (cells.linear.get(1), cells.arcs.first()) else { return String::new() };
    format!(
        "Holding vectors back buys equality with accuracy. Standard deviation and mean, as multiples of the base case's: \
         the paper's scheme {} (linear vectors, {}); with constant delays, the thesis's algorithm 1 {}, made equal at \
         arrival instead of at sending {} with {:.0} % of the vectors, algorithm 2 {}.",
        both(linear, "schedule-paper"),
        linear.name,
        both(arcs, "schedule-drop"),
        both(arcs, "schedule-drop-projected"),
        100.0 * ratio(arcs, "schedule-drop-projected", Take::sent),
        both(arcs, "schedule-send"),
    )
}
