//! Shots: each is a short life on a straight line.

use super::controls::ARENA;
use super::{Life, Sample, frames};
use evenkeel::{Duration, GlobalTime, Pose, Vec3};
use evenkeel_link::Noise;

/// Metres per second.
const SPEED: f64 = 100.0;
/// How long a shot lives, in seconds.
const LIFE: f64 = 3.5;
/// How long the gun waits after that, on average.
const MEAN_PAUSE: f64 = 0.5;

/// The shots of one gun.
pub(super) fn lives(seconds: f64, seed: u64, number: u64) -> Vec<Life> {
    let noise = Noise::new(seed, 0x5807 ^ number);
    let mut lives = Vec::new();
    let mut start = MEAN_PAUSE * noise.exponential(0, 0);
    for shot in 1.. {
        if start >= seconds {
            break;
        }
        let spread = |lane| (noise.uniform(shot, lane) - 0.5) * ARENA;
        let muzzle = Vec3::new(spread(1), spread(2), 1.5);
        let heading = noise.uniform(shot, 3) * core::f64::consts::TAU;
        lives.extend(Life::new(flight(GlobalTime::from_secs_f64(start), LIFE.min(seconds - start), muzzle, heading)));
        start += LIFE + 0.1 + Duration::from_secs_f64(MEAN_PAUSE * noise.exponential(shot, 0)).as_secs_f64();
    }
    lives
}

fn flight(start: GlobalTime, seconds: f64, muzzle: Vec3, heading: f64) -> impl Iterator<Item = Sample> {
    let velocity = Vec3::from_heading(heading) * SPEED;
    frames(start, seconds).map(move |at| {
        let position = muzzle + velocity * at.since(start).as_secs_f64();
        Sample { at, pose: Pose::at(position).facing(heading).moving(velocity).turning(0.0), accelerated: false }
    })
}
