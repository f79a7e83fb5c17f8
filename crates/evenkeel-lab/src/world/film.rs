//! A run frame by frame: where an entity was, what was exported of it and where each receiver showed it, all at the same
//! instants. For questions that means over time cannot answer; the means themselves are the gauge's.
//!
//! Frames are in the middle between two samples. Delays are often whole numbers of samples: on a sample every vector would
//! just have arrived, and everybody would look better than they are.

use super::{Fleet, Glance, Outcome, Setting, run_under};
use anyhow::Result;
use evenkeel::{GlobalTime, Motion, MotionKind, Pose, Receiver, Vec3};

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
    pub real: Vec<Vec3>,
    /// How fast that moved.
    pub velocity: Vec<Vec3>,
    /// What the base case exported.
    pub exported: Vec<Vec3>,
    /// By receiver, what it showed; nothing before its first reception.
    pub receivers: Vec<Vec<Option<Shown>>>,
}

/// Runs a setting and films the first life of its fleet.
pub fn film(setting: Setting<'_>) -> Result<(Outcome, Film)> {
    let fleet = setting.fleet;
    let mut film = Film { receivers: vec![Vec::new(); setting.paths.len()], ..Film::default() };
    let mut before: Option<Before> = None;
    let outcome = run_under(setting, &mut |glance| {
        if glance.life == 0 {
            if let Some(before) = &before {
                film.expose(fleet, before, glance);
            }
            let newest = |receiver: &Receiver| Some(receiver.newest(glance.id)?.0);
            let had = glance.receivers.iter().map(newest).collect();
            before = Some(Before { at: glance.at, real: *glance.real, had });
        }
    })?;
    Ok((outcome, film))
}

/// How things were a sample before.
struct Before {
    at: GlobalTime,
    real: Pose,
    /// By receiver, when the newest vector it had was generated.
    had: Vec<Option<GlobalTime>>,
}

/// The vector that a receiver shows an entity by, of the newest it has and the newest it had a sample before.
pub fn in_use(
    receiver: &Receiver,
    glance: &Glance<'_>,
    at: GlobalTime,
    earlier: Option<(GlobalTime, Motion)>,
) -> Option<(GlobalTime, Motion)> {
    let placed = receiver.place(glance.id, at).ok()?;
    let newest = receiver.newest(glance.id)?;
    // Whichever moment the receiver counts from, this is where the vector would be at that age.
    let is_newest = newest.1.position_at(placed.age.as_secs_f64()) == placed.position;
    Some(if is_newest { newest } else { earlier.unwrap_or(newest) })
}

impl Film {
    /// Adds the frame between a sample and the one before it.
    fn expose(&mut self, fleet: &Fleet, before: &Before, glance: &Glance<'_>) {
        let at = middle(before.at, glance.at);
        let Some((generated, motion)) = fleet.vector_at(glance.life, at) else { return };
        let (a, b) = (before.real.position(), glance.real.position());
        self.at.push(at);
        self.real.push(a + (b - a) * 0.5);
        self.velocity.push(before.real.motion(MotionKind::Linear).velocity_at(0.0));
        self.exported.push(position(motion, *generated, at));
        for ((frames, receiver), had) in self.receivers.iter_mut().zip(glance.receivers).zip(&before.had) {
            let has = receiver.newest(glance.id).is_some_and(|(stamp, _)| stamp == *generated);
            let shown = receiver.place(glance.id, at).ok().map(|placed| {
                // It had it a sample before, or has got it since and shows it. The motion alone would not tell: who goes
                // back and forth repeats itself.
                let shows = has && motion.position_at(placed.age.as_secs_f64()) == placed.position;
                Shown { position: placed.position, newest: shows || *had == Some(*generated) }
            });
            frames.push(shown);
        }
    }
}

/// The moment between two.
pub fn middle(a: GlobalTime, b: GlobalTime) -> GlobalTime {
    a + b.since(a) / 2
}

fn position(motion: &Motion, generated: GlobalTime, at: GlobalTime) -> Vec3 {
    motion.position_at(at.since(generated).as_secs_f64())
}

impl Fleet {
    /// The newest vector of the base case by a moment.
    fn vector_at(&self, life: usize, at: GlobalTime) -> Option<&(GlobalTime, Motion)> {
        let vectors = self.exported(life);
        let next = vectors.partition_point(|(generated, _)| *generated <= at);
        vectors.get(next.checked_sub(1)?)
    }

    /// Where the base case's exported path of a life is; nothing before its first vector.
    pub fn exported_at(&self, life: usize, at: GlobalTime) -> Option<Vec3> {
        let (generated, motion) = self.vector_at(life, at)?;
        Some(position(motion, *generated, at))
    }
}

impl Film {
    /// The distance between real and shown at each frame that a receiver showed something.
    pub fn distances(&self, receiver: usize) -> impl Iterator<Item = (GlobalTime, f64)> + '_ {
        let frames = self.at.iter().zip(&self.real).zip(&self.receivers[receiver]);
        frames.filter_map(|((at, real), shown)| Some((*at, (*shown)?.position.distance(*real))))
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
        let setting =
            Setting { fleet: &fleet, rules, policy, paths: &paths, uplink: None, seed: 1, origin, recorder: None };
        let (outcome, film) = film(setting).unwrap();
        for (receiver, seen) in outcome.receivers.iter().enumerate() {
            let (sum, count) = film.distances(receiver).fold((0.0, 0.0), |(s, n), (_, d)| (s + d, n + 1.0));
            let mean: f64 = sum / count;
            assert!((mean / seen.real_error - 1.0).abs() < 0.02, "{mean} {}", seen.real_error);
        }
    }
}
