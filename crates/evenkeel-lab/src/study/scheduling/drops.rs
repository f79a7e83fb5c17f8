//! What becomes of receivers whose vectors are dropped, and whether those sent make errors equal on reception.

use super::claims_thesis::*;
use super::{Found, settings};
use crate::experiment::Settings;
use crate::study::cells::{JITTERS_MS, Take, jitter_name, median};
use crate::study::spy::{Noted, Spied};
use crate::study::{Brief, Claim, Finding, Observation, Watch};
use crate::workload::Motion;
use crate::world::{Fleet, VectorKind};
use anyhow::Result;
use rayon::prelude::*;

/// What one seed showed.
struct Shown {
    /// The share of dropped vectors after which their receiver has more error than anybody had.
    overshoot: f64,
    /// The error on reception against the highest at the trigger, median over vectors sent.
    on_reception: f64,
}

pub(super) fn findings(brief: &Brief, watch: &Watch<'_>) -> Result<Found> {
    let readings = [
        ("schedule-drop", THESIS_DROP_HYSTERESIS, THESIS_SCHEDULE_EQUALISES_ON_RECEPTION),
        ("schedule-drop-projected", THESIS_DROP_HYSTERESIS_PROJECTED, THESIS_SCHEDULE_EQUALISES_ON_RECEPTION_PROJECTED),
    ];
    let mut findings = Vec::new();
    for (policy, hysteresis, equalises) in readings {
        findings.extend(of_policy(policy, hysteresis, equalises, brief, watch)?);
    }
    Ok((findings, brief.size.seconds * (brief.size.seeds * 6) as f64))
}

fn of_policy(
    policy: &str,
    hysteresis: Claim,
    equalises: Claim,
    brief: &Brief,
    watch: &Watch<'_>,
) -> Result<[Finding; 2]> {
    let all = JITTERS_MS.map(|jitter| shown(policy, &settings(brief, jitter, VectorKind::Auto), brief, watch));
    let mut overshoot = Vec::new();
    let mut on_reception = Vec::new();
    for (jitter, shown) in JITTERS_MS.into_iter().zip(all) {
        let shown = shown?;
        let of = |of: fn(&Shown) -> f64| Observation::new(jitter_name(jitter), shown.iter().map(of).collect());
        overshoot.push(of(|shown| shown.overshoot));
        on_reception.push(of(|shown| shown.on_reception));
    }
    // The claim about receptions is of constant delays.
    on_reception.truncate(1);
    Ok([
        Finding::new(hysteresis, overshoot).remarking(
            "More than anybody had at the trigger at which the vector was dropped, by the trigger after it.",
        ),
        Finding::new(equalises, on_reception)
            .remarking("Errors are read between snapshots every 100 ms; the policy itself weighs the last 20 s."),
    ])
}

fn shown(policy: &str, settings: &Settings, brief: &Brief, watch: &Watch<'_>) -> Result<Vec<Shown>> {
    let one = |seed: u64| {
        let fleet = Fleet::new("all".into(), Motion::Tank.entities(1, brief.size.seconds, seed), &settings.rules)?;
        let spied = Spied { fleet: &fleet, rules: settings.rules, paths: &settings.paths, seed };
        let (take, noted) = spied.by_name(policy, watch)?;
        Ok(Shown { overshoot: overshoot(&take, &noted), on_reception: on_reception(&take, &noted) })
    };
    brief.size.each_seed().collect::<Vec<_>>().into_par_iter().map(one).collect()
}

fn overshoot(take: &Take, noted: &[Noted]) -> f64 {
    let (mut dropped, mut over) = (0, 0);
    for triple in noted.windows(3) {
        let [vector, next, after] = triple else { continue };
        let highest = take.statistics_at(next.at.as_secs_f64()).2;
        for receiver in (0..take.course.len()).filter(|receiver| vector.dropped(*receiver, next)) {
            dropped += 1;
            over += u32::from(take.error_at(receiver, after.at.as_secs_f64()) > highest);
        }
    }
    f64::from(over) / f64::from(dropped)
}

fn on_reception(take: &Take, noted: &[Noted]) -> f64 {
    let ratios = |vector: &Noted| {
        let highest = take.statistics_at(vector.at.as_secs_f64()).2;
        let ratio = |(receiver, arrival): (usize, &Option<_>)| {
            arrival.map(|at: evenkeel::GlobalTime| take.error_at(receiver, at.as_secs_f64()) / highest)
        };
        vector.arrivals.iter().enumerate().filter_map(ratio).collect::<Vec<f64>>()
    };
    let scheduled = noted.iter().filter(|vector| !vector.first);
    median(scheduled.flat_map(ratios).filter(|ratio| ratio.is_finite()).collect())
}
