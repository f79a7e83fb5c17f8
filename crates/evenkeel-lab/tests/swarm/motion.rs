//! What a swarm's entities do: drive, twitch in every frame, or go the way that a player went in a recorded game.

use crate::draw::Draw;
use evenkeel::{GlobalTime, MotionKind, Pose, Vec3};
use evenkeel_lab::workload::trace::{Cuts, Trace};
use evenkeel_lab::workload::{Life, Tank};
use evenkeel_link::Noise;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The lives of recorded games, each longer than this many seconds.
pub type Library = [Arc<Life>];
const LIFE_SECONDS: f64 = 15.0;
/// So much is read of every game.
const GAME_SECONDS: f64 = 120.0;

pub enum Motion {
    Tank(Tank),
    /// Somewhere else in every frame, so that every frame is a trigger.
    Restless {
        tank: Tank,
        noise: Noise,
    },
    Recorded {
        life: Arc<Life>,
        from: GlobalTime,
    },
}

impl Motion {
    pub fn draw(draw: &mut Draw, seed: u64, entity: u32, now: GlobalTime, library: &Library) -> Self {
        let number = u64::from(entity);
        match draw.below(3) {
            0 => Self::Tank(Tank::new(seed, number)),
            1 => Self::Restless { tank: Tank::new(seed, number), noise: Noise::new(seed, number) },
            _ => {
                let life = draw.pick(library.iter()).expect("there are recorded games").clone();
                let from = life.span().0 + draw.millis(5_000.0);
                Self::Recorded { life, from: GlobalTime::ZERO + from.since(now) }
            }
        }
    }

    pub fn to(&mut self, now: GlobalTime) -> Pose {
        match self {
            Self::Tank(tank) => tank.to(now),
            Self::Restless { tank, noise } => {
                let off = |axis| noise.uniform(now.as_nanos(), axis) - 0.5;
                let pose = tank.to(now);
                let position = pose.position() + Vec3::new(off(0), off(1), 0.0) * 6.0;
                Pose::at(position).moving(Vec3::new(off(2), off(3), 0.0) * 50.0).facing(6.0 * off(4)).turning(off(5))
            }
            Self::Recorded { life, from } => {
                let at = *from + now.since(GlobalTime::ZERO);
                let samples = life.samples();
                let sample = &samples[samples.partition_point(|sample| sample.at <= at).max(1) - 1];
                let ahead = at.min(life.span().1).since(sample.at).as_secs_f64().max(0.0);
                Pose::from(sample.pose.motion(MotionKind::Auto).at(ahead))
            }
        }
    }
}

/// Lives of the games that this project carries.
pub fn shipped() -> &'static Library {
    static LIBRARY: OnceLock<Vec<Arc<Life>>> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/traces");
        lives(&[data.join("bzflag-default-a.csv.gz"), data.join("bzflag-dense-b.csv.gz")])
    })
}

/// Lives of other games, if there are any: in the directory that `EVENKEEL_TRACES` names, or beside the project.
pub fn others() -> Option<Vec<Arc<Life>>> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let directory = std::env::var_os("EVENKEEL_TRACES").map_or(beside, PathBuf::from);
    let Ok(entries) = std::fs::read_dir(&directory) else {
        println!("skipped: there are no traces in {}", directory.display());
        return None;
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    files.retain(|path| path.to_string_lossy().ends_with(".csv.gz") && !path.to_string_lossy().contains("bzflag"));
    files.sort();
    Some(lives(&files))
}

fn lives(files: &[PathBuf]) -> Vec<Arc<Life>> {
    let mut all = Vec::new();
    for path in files {
        let name = path.display().to_string();
        let trace = Trace::read(path, Cuts::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let entities = trace.truth(&name, Some(GAME_SECONDS), true).unwrap_or_else(|error| panic!("{name}: {error}"));
        let lives = entities.into_iter().flat_map(|entity| entity.lives);
        let long = |life: &Life| life.span().1.since(life.span().0).as_secs_f64() >= LIFE_SECONDS;
        all.extend(lives.filter(long).map(Arc::new));
    }
    assert!(!all.is_empty(), "no life of {LIFE_SECONDS} s in {files:?}");
    all
}
