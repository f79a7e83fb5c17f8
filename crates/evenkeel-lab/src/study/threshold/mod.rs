//! Lower thresholds at the same number of vectors: more triggers to choose from, the thesis's equation 3.5.
//!
//! The exported path changes with the threshold, so that errors against it cannot be compared between thresholds: here
//! everything is measured against the real path, the one yardstick that stays.

mod claims;
mod equal;
mod findings;

use super::cells::{Cell, Take, average, median, number, papers, table};
use super::{Brief, Entry, Exhibit, Series, Study, Watch};
use crate::experiment::Settings;
use crate::workload::Motion;
use crate::world::{Fleet, Rules, VectorKind, statistics};
use anyhow::Result;
use evenkeel::{Budget, Threshold};
use rayon::prelude::*;

/// Halved again and again, in metres; claims are about the first four.
const SWEEP: [f64; 5] = [0.8, 0.4, 0.2, 0.1, 0.05];
const POLICIES: [&str; 4] = ["base", "credits-pa", "lottery-one", "even"];

/// Straight vectors for a tank that turns, and no threshold on its heading: how many there are is a matter of the distance.
/// Arcs would fit a turn exactly, whatever the threshold.
fn rules(metres: f64) -> Rules {
    let threshold = Threshold::within(metres).turning(std::f64::consts::TAU);
    Rules { vector: VectorKind::Linear, threshold, ..Rules::default() }
}

/// One threshold, with policies within a share of what the base case sends there.
fn settings(brief: &Brief, metres: f64, share: f64, jitter_ms: f64, policies: &[&str]) -> Settings {
    let budget = Budget::OfBase { share };
    Settings { rules: rules(metres), budget, ..papers(brief, jitter_ms, policies) }
}

/// Mean, standard deviation and maximum over receivers of the distance between real and placed path.
fn real(take: &Take) -> (f64, f64, f64) {
    statistics(take.real.iter().copied())
}

pub(super) const ENTRY: Entry = Entry {
    name: "threshold",
    question: "At the same number of vectors, is a lower threshold better?",
    reproduces: "thesis equation 3.5 and what is said of it; the comparison that paper section 5.1 leaves out",
    needs: &[],
    run,
};

/// Runs it.
fn run(brief: &Brief, watch: &Watch<'_>) -> Result<Study> {
    let sweep = sweep(brief, watch)?;
    let (mut findings, extra) = findings::run(brief, &sweep, watch)?;
    let (equal, exhibit, more) = equal::run(brief, watch)?;
    findings.extend(equal);
    let simulated_seconds = sweep.iter().map(|cell| cell.simulated_seconds).sum::<f64>() + extra + more;
    Ok(Study {
        name: "threshold",
        settings: settings(brief, SWEEP[0], 1.0, 0.0, &POLICIES).describe(),
        summary: summary(&sweep),
        exhibits: vec![sweep_table(&sweep), curves(&sweep, "std"), curves(&sweep, "800 ms"), exhibit],
        findings,
        rows: Vec::new(),
        simulated_seconds,
    })
}

/// Every threshold with as many vectors as the base case sends at the coarsest.
fn sweep(brief: &Brief, watch: &Watch<'_>) -> Result<Vec<Cell>> {
    let mut names = POLICIES.to_vec();
    names.extend(brief.own.iter().map(|own| own.name));
    let mut cells = Vec::new();
    for metres in SWEEP {
        let share = (triggers(SWEEP[0], brief)? / triggers(metres, brief)?).min(1.0);
        let settings = Settings { own: brief.own.clone(), ..settings(brief, metres, share, 0.0, &names) };
        cells.push(Cell::run(&format!("{metres} m"), &settings, false, watch)?);
    }
    Ok(cells)
}

/// How many triggers there are at a threshold, over all seeds: they do not depend on who listens.
fn triggers(metres: f64, brief: &Brief) -> Result<f64> {
    let one = |seed: u64| {
        let entities = Motion::Tank.entities(1, brief.size.seconds, seed);
        Ok(Fleet::new("all".into(), entities, &rules(metres))?.exported(0).len() as f64)
    };
    let seeds: Vec<u64> = brief.size.each_seed().collect();
    Ok(seeds.into_par_iter().map(one).collect::<Result<Vec<f64>>>()?.iter().sum())
}

fn sweep_table(sweep: &[Cell]) -> Exhibit {
    let head = [
        "threshold",
        "policy",
        "vectors",
        "mean (m)",
        "std (m)",
        "max (m)",
        "800 ms",
        "500 ms",
        "200 ms",
        "share of 800 ms",
    ];
    let mut rows = Vec::new();
    for cell in sweep {
        for (policy, _) in &cell.policies {
            let figures: [fn(&Take) -> f64; 8] = [
                Take::sent,
                |t| real(t).0,
                |t| real(t).1,
                |t| real(t).2,
                |t| t.real[0],
                |t| t.real[1],
                |t| t.real[2],
                far_share,
            ];
            let figures = figures.map(|of| number(average(&cell.values(policy, of))));
            rows.push([cell.name.clone(), policy.clone()].into_iter().chain(figures).collect());
        }
    }
    let note = "Distance between real and placed path in metres, averaged over seeds; constant delays, linear vectors. The \
                base case sends all of its vectors, the others as many as the base case at the coarsest threshold.";
    table("Thresholds at the same number of vectors", note, &head, rows)
}

/// The share of vectors that go to the farthest receiver.
fn far_share(take: &Take) -> f64 {
    take.vectors[0] / take.sent()
}

fn curves(sweep: &[Cell], what: &str) -> Exhibit {
    let of: fn(&Take) -> f64 = if what == "std" { |take| real(take).1 } else { |take| take.real[0] };
    let policies = sweep.first().map_or(&[][..], |cell| &cell.policies);
    let series = |(policy, _): &(String, Vec<Take>)| {
        let point = |(metres, cell): (&f64, &Cell)| (metres.log2(), average(&cell.values(policy, of)));
        Series { name: policy.clone(), points: SWEEP.iter().zip(sweep).map(point).rev().collect() }
    };
    Exhibit::Curves {
        title: match what {
            "std" => "Fairness by threshold, at the same number of vectors".into(),
            _ => "The farthest receiver by threshold, at the same number of vectors".into(),
        },
        note: "Distance between real and placed path; the base case sends all its vectors.".into(),
        x: "threshold (logarithm to base 2 of metres)".into(),
        y: match what {
            "std" => "standard deviation over receivers (m)".into(),
            _ => "error of the 800 ms receiver (m)".into(),
        },
        series: policies.iter().map(series).collect(),
    }
}

fn summary(sweep: &[Cell]) -> String {
    let [coarse, .., low, _] = sweep else { return String::new() };
    let against = |policy: &str, of: fn(&Take) -> f64| {
        let ratios = low.takes(policy).iter().zip(coarse.takes("base")).map(|(a, b)| of(a) / of(b));
        median(ratios.collect())
    };
    let all = |policy: &str| {
        let figures: [fn(&Take) -> f64; 3] = [|t| real(t).1, |t| t.real[0], |t| real(t).0];
        figures.map(|of| format!("{:.2}", against(policy, of))).join("/")
    };
    format!(
        "A threshold of 0.1 m instead of 0.8 m has {:.1} times the triggers. With as many vectors as the base case sends at \
         0.8 m, standard deviation, farthest receiver and mean of the error against the real path, as multiples of that base \
         case's: credits {}; the paper's lottery {}; even {}.",
        median(low.values("base", Take::sent)) / median(coarse.values("base", Take::sent)),
        all("credits-pa"),
        all("lottery-one"),
        all("even"),
    )
}
