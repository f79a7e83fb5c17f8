//! What lag does for accuracy and fairness, alone and together with scheduling.

mod claims;
mod equal;
mod findings;
mod power;
mod show;
mod sweep;

use super::measure::percent;
use super::{Brief, Entry, Study, Watch};
use anyhow::Result;
use sweep::{Figure, PLAYABLE_MS, Sweep};

pub(super) const ENTRY: Entry = Entry {
    name: "lag-fairness",
    question: "What does lag do for accuracy and fairness, alone and together with scheduling?",
    reproduces: "nothing: beyond the papers, which treat one or the other",
    needs: &[],
    run,
};

/// Runs it.
fn run(brief: &Brief, watch: &Watch<'_>) -> Result<Study> {
    let brief = sweep::shortened(brief);
    let sweeps = sweep::run(&brief, watch)?;
    let padded = equal::run(&brief, watch)?;
    let mut exhibits = show::exhibits(&sweeps);
    exhibits.push(power::table(&sweeps));
    exhibits.extend(equal::exhibits(&padded));
    let mut findings = findings::all(&sweeps);
    findings.extend(equal::findings(&brief, &padded));
    Ok(Study {
        name: "lag-fairness",
        settings: sweep::described(&brief),
        summary: summary(&sweeps),
        exhibits,
        findings,
        rows: show::rows(&sweeps),
        simulated_seconds: padded.simulated_seconds + sweeps.iter().map(Sweep::simulated_seconds).sum::<f64>(),
    })
}

/// What a playable lag is worth to the base case and to `even`, and from where on more lag buys nothing.
fn summary(sweeps: &[Sweep]) -> String {
    let each = |of: &dyn Fn(&Sweep) -> String| {
        sweeps.iter().map(|sweep| format!("{}: {}", sweep.name(), of(sweep))).collect::<Vec<_>>().join("; ")
    };
    let cut = |sweep: &Sweep, policy: &str| {
        let cut = |figure| percent(1.0 - sweep.left(policy, PLAYABLE_MS, figure));
        format!("{} and {}", cut(Figure::Mean), cut(Figure::Std))
    };
    let together = |sweep: &Sweep| {
        let to = |other: (&str, f64)| {
            let share = |figure| sweep.average("even", PLAYABLE_MS, figure) / sweep.average(other.0, other.1, figure);
            format!("{:.2} and {:.2}", share(Figure::Mean), share(Figure::Std))
        };
        format!("{} of even's alone, {} of the lag's alone", to(("even", 0.0)), to(("base/3", PLAYABLE_MS)))
    };
    format!(
        "A lag of {PLAYABLE_MS} ms takes this share off the base case's mean and standard deviation of export error: {}. With a \
         third of the vectors, `even` and that lag together have this share of mean and standard deviation: {}.",
        each(&|sweep| cut(sweep, "base")),
        each(&together),
    )
}
