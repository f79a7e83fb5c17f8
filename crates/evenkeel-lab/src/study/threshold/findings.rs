//! Claims about the sweep of thresholds.

use super::claims::*;
use super::{SWEEP, far_share, real, rules};
use crate::experiment::Progress;
use crate::study::cells::{Cell, DELAYS_MS, Take, average};
use crate::study::{Brief, Claim, Finding, Observation, Watch};
use crate::workload::Motion;
use crate::world::Fleet;
use anyhow::Result;
use rayon::prelude::*;

const CREDITS: &str = "credits-pa";
/// Claims are about the coarsest threshold and three halvings.
const CLAIMED: usize = 4;

/// What was found, and how many seconds that took to simulate beyond the sweep.
pub(super) fn run(brief: &Brief, sweep: &[Cell], watch: &Watch<'_>) -> Result<(Vec<Finding>, f64)> {
    let claimed = &sweep[..CLAIMED.min(sweep.len())];
    let not_falling = "Not falling, with a tie allowance of 2 %.";
    let mut findings = vec![
        by_step(THRESHOLD_MORE_TRIGGERS, "base", sweep, |take| take.vectors[0])
            .remarking("Linear vectors of a turning tank, no threshold on the heading. Heartbeats every second count."),
        by_step(THRESHOLD_LOWER_BETTER, CREDITS, claimed, |take| real(take).1),
        by_step(THRESHOLD_LOWER_BETTER_FAR, CREDITS, claimed, |take| take.real[0]),
        by_step(THRESHOLD_LOWER_BETTER_SHARE, CREDITS, claimed, far_share).remarking(not_falling),
        zero(brief, watch)?,
    ];
    if let (Some(coarse), Some(low)) = (claimed.first(), claimed.last()) {
        findings.extend(very_low(coarse, low));
    }
    Ok((findings, brief.size.seconds * brief.size.seeds as f64))
}

/// A figure at each threshold against the same at twice that, seed by seed.
fn by_step(claim: Claim, policy: &str, sweep: &[Cell], of: impl Fn(&Take) -> f64) -> Finding {
    let step = |pair: &[Cell]| {
        let values = pair[1].takes(policy).iter().zip(pair[0].takes(policy)).map(|(low, high)| of(low) / of(high));
        Observation::new(format!("{} to {}", pair[0].name, pair[1].name), values.collect())
    };
    Finding::new(claim, sweep.windows(2).map(step).collect())
}

/// Whether everybody is nearer to the mean at the lowest threshold.
fn very_low(coarse: &Cell, low: &Cell) -> [Finding; 2] {
    let off = |take: &Take, i: usize| (take.real[i] / average(&take.real) - 1.0).abs();
    let both = |to: &str, of: &dyn Fn(&Take) -> f64| {
        low.takes(CREDITS).iter().zip(coarse.takes(to)).map(|(low, coarse)| of(low) / of(coarse)).collect()
    };
    let receiver =
        |(i, delay): (usize, &f64)| Observation::new(format!("{delay} ms"), both(CREDITS, &|take: &Take| off(take, i)));
    let name = format!("{} to {}", coarse.name, low.name);
    [
        Finding::new(THRESHOLD_VERY_LOW_TOWARD_MEAN, DELAYS_MS.iter().enumerate().map(receiver).collect()),
        Finding::new(
            THRESHOLD_VERY_LOW_TOWARD_MEAN_STD,
            vec![Observation::new(name, both("base", &|take: &Take| real(take).1))],
        ),
    ]
}

/// How far exported and real path are apart with a vector at every sample.
fn zero(brief: &Brief, watch: &Watch<'_>) -> Result<Finding> {
    let seeds: Vec<u64> = brief.size.each_seed().collect();
    watch(Progress::Expect(seeds.len() as u64));
    let one = |seed: u64| -> Result<f64> {
        let entities = Motion::Tank.entities(1, brief.size.seconds, seed);
        let samples: Vec<_> = entities.iter().flat_map(|e| &e.lives).flat_map(|life| life.samples().to_vec()).collect();
        let fleet = Fleet::new("all".into(), entities, &rules(0.0))?;
        let mut vectors = fleet.exported(0).iter().peekable();
        let (mut newest, mut largest) = (None, 0.0);
        for sample in samples {
            while let Some(vector) = vectors.next_if(|vector| vector.0 <= sample.at) {
                newest = Some(vector);
            }
            if let Some((generated, motion)) = newest {
                let exported = motion.position_at(sample.at.since(*generated).as_secs_f64());
                largest = f64::max(largest, exported.distance(sample.pose.position()));
            }
        }
        watch(Progress::Done);
        Ok(largest)
    };
    let largest: Vec<f64> = seeds.into_par_iter().map(one).collect::<Result<_>>()?;
    let observation = Observation::new(format!("0 m instead of {} m", SWEEP[0]), largest);
    Ok(Finding::new(THRESHOLD_ZERO_EXACT, vec![observation])
        .remarking("The band allows for what the wire rounds positions to, half of 5 mm along each axis."))
}
