//! Whether fewer vectors do for the same accuracy.

use super::Found;
use super::claims_same::*;
use crate::experiment::Settings;
use crate::study::cells::{Cell, JITTERS_MS, Take, average, jitter_name, median, number, papers, table};
use crate::study::{Brief, Exhibit, Finding, Observation, Watch};
use crate::world::{Rules, statistics};
use anyhow::Result;
use evenkeel::{Budget, ClockRule, Placing};

const PAPERS: [&str; 2] = ["credits-pa", "lottery-one"];
/// Shares of the base case's vectors, in sixths.
const SIXTHS: [u32; 5] = [2, 3, 4, 5, 6];

/// The mean distance between real and placed path.
fn real(take: &Take) -> f64 {
    statistics(take.real.iter().copied()).0
}

pub(super) fn run(cells: &[Cell], brief: &Brief, watch: &Watch<'_>) -> Result<Found> {
    let Some(cell) = cells.get(1) else { return Ok((Vec::new(), Vec::new(), 0.0)) };
    let placing = Placing { rule: ClockRule::Local, ..Placing::default() };
    let settings = papers(brief, JITTERS_MS[1], &["base"]);
    let settings = Settings { rules: Rules { placing, ..Rules::default() }, ..settings };
    let local = Cell::run(&cell.name, &settings, false, watch)?;
    let against_local = |policy: &&str| {
        let values = cell.takes(policy).iter().zip(local.takes("base")).map(|(a, b)| real(a) / real(b));
        Observation::new(*policy, values.collect())
    };
    let against =
        |of: fn(&Take) -> f64| PAPERS.map(|name| Observation::new(name, cell.ratios(name, "base", of))).into();
    let findings = vec![
        Finding::new(PAPER_FEWER_SAME_ACCURACY, against(real))
            .remarking("Both with global time. The table of budgets says how many vectors the same accuracy takes."),
        Finding::new(PAPER_FEWER_SAME_ACCURACY_COUNT, against(Take::sent)),
        Finding::new(PAPER_FEWER_SAME_ACCURACY_LOCAL, PAPERS.iter().map(against_local).collect())
            .remarking("Against the base case as it was before the accuracy model: receivers count from arrival."),
    ];
    let (exhibit, seconds) = sweep(brief, watch)?;
    Ok((findings, vec![exhibit], local.simulated_seconds + seconds))
}

/// Accuracy by budget, on a quarter of the seeds.
fn sweep(brief: &Brief, watch: &Watch<'_>) -> Result<(Exhibit, f64)> {
    let mut names = vec!["base", "credits-pa", "lottery-one", "tolerance", "even"];
    names.extend(brief.own.iter().map(|own| own.name));
    let mut rows = Vec::new();
    let mut seconds = 0.0;
    for sixths in SIXTHS {
        let settings = Settings {
            own: brief.own.clone(),
            budget: Budget::of_base(sixths, 6),
            seeds: brief.size.seeds.div_ceil(4),
            trim: false,
            ..papers(brief, JITTERS_MS[1], &names)
        };
        let cell = Cell::run("", &settings, false, watch)?;
        seconds += cell.simulated_seconds;
        for (policy, _) in cell.policies.iter().skip(1) {
            let relative = |of: fn(&Take) -> f64| format!("{:.3}", median(cell.ratios(policy, "base", of)));
            let budget = format!("{sixths}/6");
            let metres = number(average(&cell.values(policy, real)));
            rows.push(vec![budget, policy.clone(), relative(Take::sent), relative(real), metres]);
        }
    }
    let head = ["budget", "policy", "vectors / base", "real error / base", "real error (m)"];
    let note = "The mean over receivers of the distance between real and placed path, with as many vectors as each policy \
                makes of its budget. Medians over a quarter of the seeds.";
    let title = format!("How many vectors the same accuracy takes, {}", jitter_name(JITTERS_MS[1]));
    Ok((table(title, note, &head, rows), seconds))
}
