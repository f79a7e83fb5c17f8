//! The paper's theorem 4.1 where its assumptions hold: receipts come before the next trigger, and nothing caps a hold.

use super::Found;
use super::claims_paper::{PAPER_EQUAL_ARRIVAL, PAPER_THEOREM41};
use crate::experiment::paths;
use crate::study::cells::{DELAYS_MS, jitter_name};
use crate::study::spy::{Noted, Spied};
use crate::study::{Brief, Finding, Observation, Watch};
use crate::workload::{Entity, FRAME, Life, Sample};
use crate::world::{Fleet, Rules, VectorKind};
use anyhow::Result;
use evenkeel::path::distance_integral;
use evenkeel::policy::SchedulePaper;
use evenkeel::{Duration, GlobalTime, Placing, Pose, Threshold, Vec3};
use evenkeel_link::Noise;
use rayon::prelude::*;

/// How long a leg lasts, in seconds: more than a round trip at 900 ms and the longest hold that evens out delays.
const LEG: f64 = 3.0;
/// Beyond anything that happens here.
const NEVER: Duration = Duration::from_secs(60);

/// Legs are straight and their vectors say so exactly, so that nothing but a new leg is a trigger.
fn rules() -> Rules {
    Rules {
        vector: VectorKind::Linear,
        threshold: Threshold::within(0.1).at_least_every(NEVER),
        placing: Placing { max_age: NEVER, ..Placing::default() },
        relays: false,
    }
}

/// Something that goes straight on and turns back with every leg, so that the longest hold that jitter can call for stays well
/// below a leg: to make up for 100 ms takes the longer, the less one leg differs from the next.
fn legs(seconds: f64, seed: u64) -> Entity {
    let noise = Noise::new(seed, 0x1E65);
    let (mut position, mut heading) = (Vec3::ZERO, 0.0);
    let mut samples = Vec::new();
    for leg in 0..(seconds / LEG) as i64 {
        heading = evenkeel::wrap_angle(heading + core::f64::consts::PI * (0.5 + noise.uniform(leg, 0)));
        let velocity = Vec3::from_heading(heading) * (10.0 + 10.0 * noise.uniform(leg, 1));
        let frames = (LEG * 60.0) as i64;
        for frame in 0..frames {
            let pose = Pose::at(position).facing(heading).moving(velocity).turning(0.0);
            samples.push(Sample { at: GlobalTime::ZERO + FRAME * (leg * frames + frame), pose, accelerated: false });
            position += velocity * FRAME.as_secs_f64();
        }
    }
    Entity { name: "legs".into(), lives: Life::new(samples).into_iter().collect() }
}

/// What one seed showed: the largest relative difference between sums, and between arrivals in seconds.
struct Shown {
    unequal: f64,
    apart: f64,
}

pub(super) fn findings(brief: &Brief, watch: &Watch<'_>) -> Result<Found> {
    let [still, low] = [shown(brief, 0.0, watch)?, shown(brief, 100.0, watch)?];
    let unequal = |jitter: f64, shown: &[Shown]| {
        Observation::new(jitter_name(jitter), shown.iter().map(|shown| shown.unequal).collect())
    };
    let apart = Observation::new(jitter_name(0.0), still.iter().map(|shown| shown.apart).collect());
    let findings = vec![
        Finding::new(PAPER_THEOREM41, vec![unequal(0.0, &still), unequal(100.0, &low)]).remarking(
            "Straight legs of 3 s, each turning back from the one before, no bound on holds. What vectors really cost is as the sender booked it from receipts. \
             The band is a millionth and what rounding holds to a microsecond can make of the first sums. \
             Legs turn back so that holds stay short and receipts come in time, as the theorem takes for granted; with legs \
             that may turn by any angle, sums differed by more than the band in 19 of 20 seeds at ±100 ms.",
        ),
        Finding::new(PAPER_EQUAL_ARRIVAL, vec![apart]).remarking("Straight legs of 3 s; a tick is a frame, 1/60 s."),
    ];
    Ok((findings, brief.size.seconds * 2.0 * brief.size.seeds as f64))
}

fn shown(brief: &Brief, jitter_ms: f64, watch: &Watch<'_>) -> Result<Vec<Shown>> {
    let paths = paths(&DELAYS_MS, jitter_ms, 0.0);
    let one = |seed: u64| {
        let fleet = Fleet::new("legs".into(), vec![legs(brief.size.seconds, seed)], &rules())?;
        let spied = Spied { fleet: &fleet, rules: rules(), paths: &paths, seed };
        let (_, noted) = spied.policy(Box::new(SchedulePaper::new(NEVER)), watch)?;
        Ok(Shown { unequal: unequal(&noted), apart: apart(&noted) })
    };
    brief.size.each_seed().collect::<Vec<_>>().into_par_iter().map(one).collect()
}

/// What a vector costs a receiver that shows the one before until a moment.
fn cost(vector: &Noted, before: &Noted, until: GlobalTime) -> f64 {
    let (from, span) = (vector.at.since(before.at).as_secs_f64(), until.since(vector.at).as_secs_f64());
    distance_integral(&vector.motion, 0.0, &before.motion, from, span).value
}

/// The largest relative difference, over triggers, between receivers' sums of real and scheduled costs.
fn unequal(noted: &[Noted]) -> f64 {
    let receivers = noted.first().map_or(0, |first| first.sends.len());
    let mut sums = vec![0.0; receivers];
    let mut largest = 0.0;
    for pair in noted.windows(2) {
        let [before, vector] = pair else { continue };
        let arrival = |i: usize| vector.sends[i].map(|send| send + vector.delays[i]);
        let total = |i: usize| sums[i] + arrival(i).map_or(0.0, |arrival| cost(vector, before, arrival));
        let totals: Vec<f64> = (0..receivers).map(total).collect();
        let (low, high) = totals.iter().fold((f64::INFINITY, 0.0), |(low, high), t| (t.min(low), t.max(high)));
        let mean = totals.iter().sum::<f64>() / receivers as f64;
        largest = f64::max(largest, (high - low) / mean);
        // The last vector of a run may still be on its way.
        for (i, sum) in sums.iter_mut().enumerate() {
            *sum += vector.arrivals[i].map_or(0.0, |arrival| cost(vector, before, arrival));
        }
    }
    largest
}

/// The largest difference between arrivals of one vector, in seconds. The first of a life is not scheduled.
fn apart(noted: &[Noted]) -> f64 {
    let apart = |vector: &Noted| {
        let arrivals: Option<Vec<GlobalTime>> = vector.arrivals.iter().copied().collect();
        let (first, last) = arrivals.as_ref().and_then(|all| all.iter().min().zip(all.iter().max()))?;
        Some(last.since(*first).as_secs_f64())
    };
    noted.iter().filter(|vector| !vector.first).filter_map(apart).fold(0.0, f64::max)
}
