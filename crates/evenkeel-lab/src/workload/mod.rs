//! What moves: synthetic motions and recorded traces, as lives of samples.
//!
//! A workload is a list of entities; an entity has lives, one after the other; a life is a sequence of samples of where the
//! entity really is. Everything in the laboratory that needs a real path takes it from here.

mod circular;
mod controls;
mod inertia;
mod linear;
mod random;
mod shots;
mod spaceship;
mod tank;
pub mod trace;

pub use inertia::InertTank;
pub use tank::Tank;

use crate::names::nearest;
use anyhow::{Result, bail};
use evenkeel::{Duration, GlobalTime, Pose};

/// Sixty frames a second.
pub const FRAME: Duration = Duration::from_nanos(16_666_667);

/// Where an entity really is at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// When.
    pub at: GlobalTime,
    /// Where, and how it moves.
    pub pose: Pose,
    /// Whether the pose carries an acceleration that lasts: falling, or under thrust.
    pub accelerated: bool,
}

/// The samples between an entity's coming and its going: at least two, each later than the one before.
#[derive(Clone, Debug)]
pub struct Life {
    samples: Vec<Sample>,
}

impl Life {
    /// A life, unless there are fewer than two samples. Of samples at the same moment the last counts; one that goes back
    /// in time is left out.
    pub fn new(samples: impl IntoIterator<Item = Sample>) -> Option<Self> {
        let mut kept: Vec<Sample> = Vec::new();
        for sample in samples {
            match kept.last_mut() {
                Some(last) if sample.at < last.at => {}
                Some(last) if sample.at == last.at => *last = sample,
                _ => kept.push(sample),
            }
        }
        (kept.len() >= 2).then_some(Self { samples: kept })
    }

    /// The samples, in order of time.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// The first and the last moment.
    pub fn span(&self) -> (GlobalTime, GlobalTime) {
        (self.samples[0].at, self.samples[self.samples.len() - 1].at)
    }
}

/// Something that moves.
#[derive(Clone, Debug)]
pub struct Entity {
    /// What tables call it.
    pub name: String,
    /// Its lives, in order of time.
    pub lives: Vec<Life>,
}

/// A motion by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// A tank as in BZFlag: full speed, stops, turns and reversals in an instant.
    Tank,
    /// The same with limits on how fast speed and turn rate change.
    TankInertia,
    /// Straight lines at constant speed, reflected at the border.
    Linear,
    /// Circles at constant speed.
    Circular,
    /// A random stick: another velocity several times a second.
    Random,
    /// Shots: straight at 100 m/s for 3.5 s, then the next.
    Shots,
    /// Thrust without drag.
    Spaceship,
}

impl Motion {
    /// All of them, by name.
    pub const ALL: [(&str, Self); 7] = [
        ("tank", Self::Tank),
        ("tank-inertia", Self::TankInertia),
        ("linear", Self::Linear),
        ("circular", Self::Circular),
        ("random", Self::Random),
        ("shots", Self::Shots),
        ("spaceship", Self::Spaceship),
    ];

    /// The motion with this name.
    ///
    /// ```
    /// use evenkeel_lab::workload::Motion;
    /// assert_eq!(Motion::by_name("tank").unwrap(), Motion::Tank);
    /// assert!(Motion::by_name("tnak").unwrap_err().to_string().contains("did you mean `tank`?"));
    /// ```
    pub fn by_name(name: &str) -> Result<Self> {
        if let Some((_, motion)) = Self::ALL.iter().find(|(known, _)| *known == name) {
            return Ok(*motion);
        }
        let names = Self::ALL.map(|(name, _)| name);
        match nearest(name, names) {
            Some(meant) => bail!("unknown motion `{name}`: did you mean `{meant}`?"),
            None => bail!("unknown motion `{name}`: there are {}", names.join(", ")),
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, motion)| *motion == self).map_or("", |(name, _)| name)
    }

    /// So many entities moving like this for so many seconds, sixty samples a second.
    pub fn entities(self, count: u32, seconds: f64, seed: u64) -> Vec<Entity> {
        let entity = |number: u32| {
            let n = u64::from(number);
            let lives = match self {
                Self::Tank => one_life(seconds, Tank::new(seed, n)),
                Self::TankInertia => one_life(seconds, InertTank::new(seed, n)),
                Self::Linear => one_life(seconds, linear::Straight::new(seed, n)),
                Self::Circular => one_life(seconds, circular::Circle::new(seed, n)),
                Self::Random => one_life(seconds, random::Stick::new(seed, n)),
                Self::Shots => shots::lives(seconds, seed, n),
                Self::Spaceship => one_life(seconds, spaceship::Ship::new(seed, n)),
            };
            Entity { name: format!("{} {number}", self.name()), lives }
        };
        (0..count).map(entity).collect()
    }
}

/// Something that can be driven on, frame by frame.
trait Mover {
    /// Moves on to a time, no earlier than the last, and says where it is then.
    fn sample(&mut self, now: GlobalTime) -> Sample;
}

fn one_life(seconds: f64, mut mover: impl Mover) -> Vec<Life> {
    let samples = frames(GlobalTime::ZERO, seconds).map(|at| mover.sample(at));
    Life::new(samples).into_iter().collect()
}

/// The frames of so many seconds from a moment on.
fn frames(start: GlobalTime, seconds: f64) -> impl Iterator<Item = GlobalTime> {
    let count = (seconds * 60.0).floor().max(1.0) as i64;
    (0..=count).map(move |frame| start + FRAME * frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_motion_is_finite_ordered_and_follows_from_its_seed() {
        for (name, motion) in Motion::ALL {
            let [once, again] = [(); 2].map(|()| motion.entities(3, 20.0, 5));
            assert_eq!(format!("{once:?}"), format!("{again:?}"), "{name}");
            assert_ne!(format!("{once:?}"), format!("{:?}", motion.entities(3, 20.0, 6)), "{name}");
            for life in once.iter().flat_map(|entity| &entity.lives) {
                assert!(life.samples().iter().all(|s| s.pose.is_finite()), "{name}");
                assert!(life.samples().windows(2).all(|pair| pair[0].at < pair[1].at), "{name}");
            }
        }
    }

    /// What a sample says of its velocity is how the next sample comes about, most of the time.
    #[test]
    fn velocities_are_those_of_the_path() {
        for (name, motion) in Motion::ALL {
            let entities = motion.entities(1, 30.0, 2);
            let (mut off, mut count) = (0, 0);
            for pair in entities[0].lives.iter().flat_map(|life| life.samples().windows(2)) {
                let dt = pair[1].at.since(pair[0].at).as_secs_f64();
                let kind = evenkeel::MotionKind::Auto;
                let expected = pair[0].pose.motion(kind).position_at(dt);
                count += 1;
                off += usize::from(expected.distance(pair[1].pose.position()) > 0.05);
            }
            assert!(off * 5 < count, "{name}: {off} of {count}");
        }
    }
}
