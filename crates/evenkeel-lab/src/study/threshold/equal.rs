//! The comparison that both papers intend and replace by the 1/3 base case: a coarse base case against a third of the vectors
//! at a threshold so low that there are three times the triggers.

use super::claims::*;
use super::{SWEEP, real, settings, triggers};
use crate::experiment::{Progress, Settings};
use crate::study::cells::{Cell, JITTERS_MS, Take, average, jitter_name, number, table};
use crate::study::{Brief, Claim, Exhibit, Finding, Observation, Watch};
use anyhow::Result;

const CREDITS: &str = "credits-pa";
/// So many times the triggers.
const TIMES: f64 = 3.0;

/// A coarse base case and policies at the lowered threshold, on the same drives.
struct Compared {
    coarse: Cell,
    low: Cell,
}

impl Compared {
    fn values(&self, policy: &str, of: impl Fn(&Take) -> f64) -> Vec<f64> {
        let takes = self.low.takes(policy).iter().zip(self.coarse.takes("base"));
        takes.map(|(low, coarse)| of(low) / of(coarse)).collect()
    }
}

pub(super) fn run(brief: &Brief, watch: &Watch<'_>) -> Result<(Vec<Finding>, Exhibit, f64)> {
    let metres = threshold_for(TIMES * triggers(SWEEP[0], brief)?, brief, watch)?;
    let compare = |jitter: &f64| -> Result<Compared> {
        let coarse = Cell::run("", &settings(brief, SWEEP[0], 1.0, *jitter, &["base"]), false, watch)?;
        let names: Vec<&str> =
            [CREDITS, "lottery-one", "even"].into_iter().chain(brief.own.iter().map(|own| own.name)).collect();
        let low = settings(brief, metres, 1.0 / TIMES, *jitter, &names);
        let low = Settings { own: brief.own.clone(), trim: false, ..low };
        Ok(Compared { coarse, low: Cell::run(&jitter_name(*jitter), &low, false, watch)? })
    };
    let all: Vec<Compared> = JITTERS_MS.iter().map(compare).collect::<Result<_>>()?;
    let finding = |claim: Claim, of: fn(&Take) -> f64| {
        let observation = |pair: &Compared| Observation::new(pair.low.name.clone(), pair.values(CREDITS, of));
        Finding::new(claim, all.iter().map(observation).collect())
    };
    let counts =
        |policy: &str| Observation::new(policy, all.first().map_or(Vec::new(), |p| p.values(policy, Take::sent)));
    let lowered = format!("{} m instead of {} m gives three times the triggers.", number(metres), SWEEP[0]);
    let findings = vec![
        Finding::new(THRESHOLD_EQ35, [CREDITS, "lottery-one"].map(counts).into()).remarking(lowered),
        finding(THRESHOLD_TRUE_BASE, |take| real(take).1),
        finding(THRESHOLD_TRUE_BASE_FAR, |take| take.real[0]),
        finding(THRESHOLD_TRUE_BASE_MEAN, |take| real(take).0),
    ];
    let seconds = all.iter().map(|pair| pair.coarse.simulated_seconds + pair.low.simulated_seconds).sum();
    Ok((findings, exhibit(&all, metres), seconds))
}

/// The threshold at which there are so many triggers.
fn threshold_for(wanted: f64, brief: &Brief, watch: &Watch<'_>) -> Result<f64> {
    const STEPS: u64 = 12;
    watch(Progress::Expect(STEPS));
    let (mut low, mut high) = ((SWEEP[0] / 64.0).ln(), SWEEP[0].ln());
    for _ in 0..STEPS {
        let middle = 0.5 * (low + high);
        if triggers(middle.exp(), brief)? > wanted {
            low = middle
        } else {
            high = middle
        }
        watch(Progress::Done);
    }
    Ok(high.exp())
}

fn exhibit(all: &[Compared], metres: f64) -> Exhibit {
    let head = [
        "jitter",
        "threshold (m)",
        "policy",
        "vectors",
        "mean (m)",
        "std (m)",
        "max (m)",
        "800 ms",
        "500 ms",
        "200 ms",
    ];
    let figures: [fn(&Take) -> f64; 7] =
        [Take::sent, |t| real(t).0, |t| real(t).1, |t| real(t).2, |t| t.real[0], |t| t.real[1], |t| t.real[2]];
    let mut rows = Vec::new();
    for pair in all {
        for (cell, threshold) in [(&pair.coarse, SWEEP[0]), (&pair.low, metres)] {
            for (policy, _) in &cell.policies {
                let figures = figures.map(|of| number(average(&cell.values(policy, of))));
                let names = [pair.low.name.clone(), number(threshold), policy.clone()];
                rows.push(names.into_iter().chain(figures).collect());
            }
        }
    }
    let note = "The base case at a coarse threshold against a third of the vectors at one with three times the triggers: \
                nearly the same number of vectors (policies spend as they do, nothing is trimmed: even, which has to find its price, \
                sends somewhat fewer). Distance between real and placed path, averaged over seeds.";
    table("The coarse base case against a lowered threshold", note, &head, rows)
}
