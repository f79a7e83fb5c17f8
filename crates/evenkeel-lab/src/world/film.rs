//! A run frame by frame: where an entity was, what was exported of it and where each receiver showed it, all at the same
//! instants. For questions that means over time cannot answer; the means themselves are the gauge's.

use super::{Fleet, Outcome, Setting, run_under};
use anyhow::Result;
use evenkeel::{GlobalTime, Motion, Pose, Vec3};
use evenkeel_link::Conditions;

/// What a receiver showed at one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// Where.
    pub position: Vec3,
    /// Whether it had the newest vector that had been generated.
    pub newest: bool,
}

/// The frames of one life.
#[derive(Clone, Debug, Default)]
pub struct Film {
    /// When each frame was.
    pub at: Vec<GlobalTime>,
    /// What was real.
    pub real: Vec<Pose>,
    /// What the base case exported.
    pub exported: Vec<Vec3>,
    /// By receiver, what it showed; nothing before its first reception.
    pub receivers: Vec<Vec<Option<Shown>>>,
}

/// Runs a setting and films the first life of its fleet. Receipts go the way that the vectors came, or on paths of their own.
pub fn film(setting: Setting<'_>, back: Option<&[Conditions]>) -> Result<(Outcome, Film)> {
    let vectors = setting.fleet.exported.first().map_or(&[][..], Vec::as_slice);
    let mut film = Film { receivers: vec![Vec::new(); setting.paths.len()], ..Film::default() };
    let mut newest = 0;
    let outcome = run_under(setting, back, &mut |glance| {
        if glance.life != 0 {
            return;
        }
        while vectors.get(newest + 1).is_some_and(|next| next.0 <= glance.at) {
            newest += 1;
        }
        let Some((generated, motion)) = vectors.get(newest) else { return };
        film.at.push(glance.at);
        film.real.push(*glance.real);
        film.exported.push(position(motion, *generated, glance.at));
        for (frames, receiver) in film.receivers.iter_mut().zip(glance.receivers) {
            let has_newest = receiver.newest(glance.id).is_some_and(|(stamp, _)| stamp == *generated);
            let shown = |placed: evenkeel::Placement| Shown { position: placed.position, newest: has_newest };
            frames.push(receiver.place(glance.id, glance.at).ok().map(shown));
        }
    })?;
    Ok((outcome, film))
}

fn position(motion: &Motion, generated: GlobalTime, at: GlobalTime) -> Vec3 {
    motion.position_at(at.since(generated).as_secs_f64())
}

impl Fleet {
    /// Where the base case's exported path of a life is; nothing before its first vector.
    pub fn exported_at(&self, life: usize, at: GlobalTime) -> Option<Vec3> {
        let vectors = self.exported(life);
        let next = vectors.partition_point(|(generated, _)| *generated <= at);
        let (generated, motion) = vectors.get(next.checked_sub(1)?)?;
        Some(position(motion, *generated, at))
    }
}

impl Film {
    /// The distance between real and shown at each frame that a receiver showed something.
    pub fn distances(&self, receiver: usize) -> impl Iterator<Item = (GlobalTime, f64)> + '_ {
        let frames = self.at.iter().zip(&self.real).zip(&self.receivers[receiver]);
        frames.filter_map(|((at, real), shown)| Some((*at, (*shown)?.position.distance(real.position()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Motion;
    use crate::world::Rules;
    use evenkeel::policy::Base;

    /// The film and the gauge know nothing of each other.
    #[test]
    fn the_mean_over_frames_is_what_the_gauge_reads() {
        let rules = Rules::default();
        let fleet = Fleet::new("all".into(), Motion::Tank.entities(1, 60.0, 4), &rules).unwrap();
        let paths = crate::experiment::paths(&[300.0, 100.0], 0.0, 0.0);
        let (policy, origin) = (Box::new(Base), GlobalTime::ZERO);
        let setting = Setting { fleet: &fleet, rules, policy, paths: &paths, seed: 1, origin, recorder: None };
        let (outcome, film) = film(setting, None).unwrap();
        for (receiver, seen) in outcome.receivers.iter().enumerate() {
            let (sum, count) = film.distances(receiver).fold((0.0, 0.0), |(s, n), (_, d)| (s + d, n + 1.0));
            let mean: f64 = sum / count;
            assert!((mean / seen.real_error - 1.0).abs() < 0.02, "{mean} {}", seen.real_error);
        }
    }
}
