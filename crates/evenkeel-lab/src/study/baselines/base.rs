//! What the papers take for granted about the base case and about buckets, measured.

use super::showing::late_share;
use crate::experiment::paths;
use crate::policies::make_policy;
use crate::study::measure::{FAIRNESS_DELAYS_MS, JITTERS_MS, base_case, growth, millis};
use crate::workload::{Entity, FRAME, Life, Motion, Sample};
use crate::world::{Fleet, Outcome, Rules, Setting, run};
use anyhow::Result;
use evenkeel::{Budget, GlobalTime, Pose, Vec3};
use evenkeel_link::{Conditions, Path, path_id};

/// Receivers of the bucket claims: the papers' three, and one within the bucket.
pub(super) const BUCKET_DELAYS_MS: [f64; 4] = [800.0, 500.0, 200.0, 50.0];
/// MiMaze's wait, in ms.
const BUCKET_MS: f64 = 100.0;
/// States are issued so often, in ms.
const EVERY_MS: i64 = 40;

/// What one seed says.
pub(super) struct BaseCase {
    /// By jitter, the smallest factor of the accumulated export error from 200 to 500 to 800 ms.
    pub(super) far_worst: [f64; 3],
    /// Standard deviation over mean of the accumulated export error with equal delays.
    pub(super) unfair_at_equal_delay: f64,
    /// Vectors of base/3 over those of base.
    pub(super) third: f64,
    /// Bytes per vector on the wire.
    pub(super) bytes: f64,
    /// Vectors at constant velocity that were neither the first nor heartbeats.
    pub(super) needless: f64,
    /// By receiver, the share of states with the fate that the papers give them in a bucket of 100 ms.
    pub(super) bucket_fate: [f64; 4],
    /// By receiver of 800, 500 and 200 ms, in frames, how far the age of a state when first shown is from 800 ms.
    pub(super) bucket_age: [f64; 3],
}

impl BaseCase {
    pub(super) fn new(seconds: f64, seed: u64) -> Result<Self> {
        let fleet = Fleet::new("sender".into(), Motion::Tank.entities(1, seconds, seed), &Rules::default())?;
        let base =
            |delays: &[f64], jitter: f64| run(base_case(&fleet, Rules::default(), &paths(delays, jitter, 0.0), seed));
        let [fixed, moderate, high] = JITTERS_MS.map(|jitter| base(&FAIRNESS_DELAYS_MS, jitter));
        let by_jitter = [fixed?, moderate?, high?];
        let far_worst = by_jitter.each_ref().map(|outcome| {
            let mut errors = accumulated(outcome);
            errors.reverse();
            growth(&errors)
        });
        let equal = accumulated(&base(&[300.0; 3], 0.0)?);
        let (mean, std, _) = crate::world::statistics(equal.into_iter());
        let all = &by_jitter[0];
        let third = run(Setting {
            policy: make_policy("base/3", &[], Budget::of_base(1, 3), seed)?,
            ..base_case(&fleet, Rules::default(), &paths(&FAIRNESS_DELAYS_MS, 0.0, 0.0), seed)
        })?;
        Ok(Self {
            far_worst,
            unfair_at_equal_delay: std / mean,
            third: third.vectors as f64 / all.vectors as f64,
            bytes: all.bytes as f64 / all.vectors as f64,
            needless: needless(seconds, seed)?,
            bucket_fate: bucket_fates(seconds, seed)?,
            bucket_age: bucket_ages(seconds, seed)?,
        })
    }
}

/// The accumulated export error of each receiver.
fn accumulated(outcome: &Outcome) -> Vec<f64> {
    outcome.receivers.iter().map(|seen| seen.export_error * seen.shown).collect()
}

/// A tank at constant velocity for the whole run: vectors that say nothing new.
fn needless(seconds: f64, seed: u64) -> Result<f64> {
    let noise = evenkeel_link::Noise::new(seed, 0xC0057);
    let heading = noise.uniform(0, 0) * core::f64::consts::TAU;
    let velocity = Vec3::from_heading(heading) * (5.0 + 20.0 * noise.uniform(0, 1));
    let sample = |frame: i64| {
        let at = GlobalTime::ZERO + FRAME * frame;
        let position = velocity * at.as_secs_f64();
        Sample { at, pose: Pose::at(position).facing(heading).moving(velocity).turning(0.0), accelerated: false }
    };
    let lives = Life::new((0..=(seconds * 60.0) as i64).map(sample)).into_iter().collect();
    let fleet = Fleet::new("sender".into(), vec![Entity { name: "tank".into(), lives }], &Rules::default())?;
    Ok(fleet.changes(0) as f64)
}

/// When states are issued.
fn issued(seconds: f64) -> Vec<GlobalTime> {
    (0..(seconds * 1e3) as i64 / EVERY_MS).map(|n| GlobalTime::from_millis(n * EVERY_MS)).collect()
}

fn path(delay_ms: f64, seed: u64, number: u32) -> Result<Path> {
    Ok(Path::new(Conditions::delay(millis(delay_ms)), seed, path_id(0, number))?)
}

fn bucket_fates(seconds: f64, seed: u64) -> Result<[f64; 4]> {
    let issued = issued(seconds);
    let mut fates = [0.0; 4];
    for ((number, fate), delay) in (1..).zip(&mut fates).zip(BUCKET_DELAYS_MS) {
        let late = late_share(&path(delay, seed, number)?, &issued, millis(BUCKET_MS));
        *fate = if delay > BUCKET_MS { late } else { 1.0 - late };
    }
    Ok(fates)
}

/// States wait for 800 ms, then for the next frame. A state that comes later still makes the age infinite.
fn bucket_ages(seconds: f64, seed: u64) -> Result<[f64; 3]> {
    let wait = millis(FAIRNESS_DELAYS_MS[0]);
    let mut ages = [0.0; 3];
    for ((number, most), delay) in (1..).zip(&mut ages).zip(FAIRNESS_DELAYS_MS) {
        let path = path(delay, seed, number)?;
        for at in issued(seconds) {
            let due = at + wait;
            let Some(_) = path.fate(at).arrival().filter(|arrival| *arrival <= due) else {
                *most = f64::INFINITY;
                break;
            };
            let frames = due.since(GlobalTime::ZERO).as_secs_f64() / FRAME.as_secs_f64();
            *most = f64::max(*most, frames.ceil() - frames);
        }
    }
    Ok(ages)
}
