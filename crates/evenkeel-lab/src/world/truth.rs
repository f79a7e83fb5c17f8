//! A fleet asked at any moment: for those who measure from outside of a run, over real sockets.

use super::Fleet;
use crate::workload::Sample;
use evenkeel::{GlobalTime, MotionKind, Pose, Vec3};

impl Fleet {
    /// The newest sample of a life by a moment; nothing before its first and after its last.
    pub fn sample_at(&self, life: usize, at: GlobalTime) -> Option<&Sample> {
        let samples = self.lives.get(life)?.samples();
        let next = samples.partition_point(|sample| sample.at <= at);
        let last = samples.last().is_some_and(|last| last.at < at);
        if last { None } else { samples.get(next.checked_sub(1)?) }
    }

    /// Where an entity really is, as the gauge of a run has it: on the straight line between two samples.
    pub fn real_at(&self, life: usize, at: GlobalTime) -> Option<Vec3> {
        let samples = self.lives.get(life)?.samples();
        let next = samples.partition_point(|sample| sample.at <= at);
        let here = samples.get(next.checked_sub(1)?)?;
        let Some(there) = samples.get(next) else { return (here.at == at).then(|| here.pose.position()) };
        let share = at.since(here.at).as_secs_f64() / there.at.since(here.at).as_secs_f64();
        Some(here.pose.position() + (there.pose.position() - here.pose.position()) * share)
    }

    /// What an owner sees at a moment between two samples: as the last one goes on. A program is never called exactly at a
    /// frame, and must not tell where things were then as where they are now.
    pub fn pose_at(&self, life: usize, at: GlobalTime) -> Option<Pose> {
        let sample = self.sample_at(life, at)?;
        let motion = sample.pose.motion(MotionKind::Auto);
        let pose = Pose::from(motion.at(at.since(sample.at).as_secs_f64()));
        Some(match motion.course {
            evenkeel::Course::Accelerated { acceleration, .. } | evenkeel::Course::Turning { acceleration, .. } => {
                pose.accelerating(acceleration)
            }
            _ => pose,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::workload::{FRAME, Motion};
    use crate::world::{Fleet, Rules};
    use evenkeel::{Duration, GlobalTime};

    #[test]
    fn between_two_samples_it_goes_on() {
        for (name, motion) in Motion::ALL {
            let fleet = Fleet::new("all".into(), motion.entities(2, 10.0, 3), &Rules::default()).unwrap();
            let start = fleet.life_span(0).0;
            for frame in 1..100 {
                let at = start + FRAME * frame;
                let sample = fleet.sample_at(0, at).unwrap();
                assert_eq!(fleet.real_at(0, at), Some(sample.pose.position()), "{name}");
                let later = at + FRAME / 2;
                assert_eq!(fleet.sample_at(0, later).map(|sample| sample.at), Some(at), "{name}");
                let off = fleet.real_at(0, later).unwrap().distance(fleet.pose_at(0, later).unwrap().position());
                assert!(off < 0.5, "{name}: {off}");
            }
            assert!(fleet.pose_at(0, start - Duration::from_millis(1)).is_none(), "{name}");
            assert!(fleet.real_at(0, start - Duration::from_millis(1)).is_none(), "{name}");
            let after = fleet.life_span(0).1 + Duration::from_millis(1);
            assert!(fleet.real_at(0, after).is_none() && fleet.pose_at(0, after).is_none(), "{name}");
            assert!(fleet.real_at(9_999, GlobalTime::ZERO).is_none(), "{name}");
        }
    }
}
