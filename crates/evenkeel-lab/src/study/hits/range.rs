//! A shooting range: receivers shoot at what they see of a tank; its owner judges by what is real, or by what they saw.

use crate::study::measure::{ACCURACY_DELAYS_MS, TANK_LENGTH, TANK_WIDTH, base_case, millis, rules};
use crate::workload::Motion;
use crate::world::{Fleet, Glance, run_under};
use anyhow::Result;
use evenkeel::{ClockRule, GlobalTime, HostId, MotionKind, Vec3};
use evenkeel_link::Noise;

/// Between two shots of one shooter, at least and on average beyond that, in seconds.
const LEAST_PAUSE: f64 = 0.1;
const MEAN_PAUSE: f64 = 0.4;
/// How far away a shooter stands, in metres.
const RANGE: (f64, f64) = (40.0, 120.0);
/// How much an unsteady hand shakes, in radians: a degree, as a standard deviation.
const SHAKE: f64 = 0.0175;
/// A target crosses the line of fire if it goes at 60 degrees to it or more.
const ACROSS: f64 = 0.5;

/// Counts of shots.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Shots fired.
    pub(super) shots: f64,
    /// Hits by what the shooter saw.
    pub(super) seen: f64,
    /// Hits by what was real.
    pub(super) real: f64,
    /// Hits by what the owner says the shooter saw.
    pub(super) rewound: f64,
    /// Shots about which shooter and reality disagree.
    pub(super) disputed: f64,
    /// Shots about which shooter and the rewinding owner disagree.
    pub(super) disputed_rewound: f64,
}

impl Tally {
    fn add(&mut self, seen: bool, real: bool, rewound: bool) {
        self.shots += 1.0;
        self.seen += f64::from(seen);
        self.real += f64::from(real);
        self.rewound += f64::from(rewound);
        self.disputed += f64::from(seen != real);
        self.disputed_rewound += f64::from(seen != rewound);
    }

    /// The share of shots that something was said of.
    pub(super) fn share(&self, of: impl Fn(&Self) -> f64) -> f64 {
        of(self) / self.shots
    }
}

/// What one shooter achieved.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shooter {
    /// Aiming at the middle of what it sees.
    pub(super) steady: Tally,
    /// The same with a shaking hand.
    pub(super) shaking: Tally,
    /// Of the steady shots, those at a target that crosses the line of fire by more than its length in a delay.
    pub(super) crossing: Tally,
}

/// A straight shot that takes no time.
#[derive(Clone, Copy)]
struct Shot {
    muzzle: Vec3,
    way: Vec3,
}

impl Shot {
    /// Whether it passes through a tank.
    fn hits(&self, place: Vec3, heading: f64) -> bool {
        let start = (self.muzzle - place).turned(-heading);
        let way = self.way.turned(-heading);
        let (mut enters, mut leaves) = (0.0, f64::INFINITY);
        for (start, way, half) in [(start.x, way.x, TANK_LENGTH / 2.0), (start.y, way.y, TANK_WIDTH / 2.0)] {
            if way.abs() < 1e-12 {
                if start.abs() > half {
                    return false;
                }
                continue;
            }
            let (a, b) = ((-half - start) / way, (half - start) / way);
            (enters, leaves) = (f64::max(enters, a.min(b)), f64::min(leaves, a.max(b)));
        }
        enters <= leaves
    }
}

/// A shot that the owner has not heard of yet.
struct Pending {
    fired: GlobalTime,
    shooter: usize,
    shots: [Shot; 2],
    seen: [bool; 2],
    real: [bool; 2],
    crosses: bool,
}

/// All shooters at one tank.
struct Range {
    noise: Noise,
    shots: i64,
    next: [GlobalTime; 3],
    pending: Vec<Pending>,
    shooters: [Shooter; 3],
}

impl Range {
    fn new(seed: u64) -> Self {
        let noise = Noise::new(seed, 0x5407);
        let next = [GlobalTime::from_millis(2_000); 3];
        Self { noise, shots: 0, next, pending: Vec::new(), shooters: [Shooter::default(); 3] }
    }

    fn look(&mut self, glance: &Glance<'_>) {
        for shooter in 0..self.next.len() {
            if glance.at >= self.next[shooter] {
                self.fire(glance, shooter);
            }
        }
        let due = |shot: &Pending| shot.fired + millis(ACCURACY_DELAYS_MS[shot.shooter]) <= glance.at;
        let (due, waiting): (Vec<Pending>, Vec<Pending>) = std::mem::take(&mut self.pending).into_iter().partition(due);
        self.pending = waiting;
        for shot in &due {
            self.judge(glance, shot);
        }
    }

    fn fire(&mut self, glance: &Glance<'_>, shooter: usize) {
        self.shots += 1;
        let draw = |lane| self.noise.uniform(self.shots, lane);
        let pause = LEAST_PAUSE + MEAN_PAUSE * self.noise.exponential(self.shots, 0);
        self.next[shooter] = glance.at + millis(pause * 1e3);
        let Ok(image) = glance.receivers[shooter].place(glance.id, glance.at) else { return };
        let bearing = draw(1) * core::f64::consts::TAU;
        let muzzle = image.position + Vec3::from_heading(bearing) * (RANGE.0 + (RANGE.1 - RANGE.0) * draw(2));
        let aim = Vec3::from_heading(bearing) * -1.0;
        let shots = [aim, aim.turned(SHAKE * self.noise.normal(self.shots, 3))].map(|way| Shot { muzzle, way });
        let (place, heading) = (glance.real.position(), glance.real.attitude().heading());
        let velocity = glance.real.motion(MotionKind::Linear).velocity_at(0.0);
        let in_a_delay = velocity.length() * ACCURACY_DELAYS_MS[shooter] / 1e3;
        self.pending.push(Pending {
            fired: glance.at,
            shooter,
            seen: shots.map(|shot| shot.hits(image.position, image.attitude.heading())),
            real: shots.map(|shot| shot.hits(place, heading)),
            crosses: in_a_delay > TANK_LENGTH && velocity.dot(aim).abs() < ACROSS * velocity.length(),
            shots,
        });
    }

    /// The shot has come to the owner, which asks its books what the shooter saw when it fired.
    fn judge(&mut self, glance: &Glance<'_>, pending: &Pending) {
        let host = HostId(pending.shooter as u32 + 1);
        let seen = glance.sender.seen_by(host, glance.id, pending.fired).ok().flatten();
        let rewound = pending.shots.map(|shot| seen.is_some_and(|s| shot.hits(s.position, s.attitude.heading())));
        let shooter = &mut self.shooters[pending.shooter];
        shooter.steady.add(pending.seen[0], pending.real[0], rewound[0]);
        shooter.shaking.add(pending.seen[1], pending.real[1], rewound[1]);
        if pending.crosses {
            shooter.crossing.add(pending.seen[0], pending.real[0], rewound[0]);
        }
    }
}

/// What the shooters at [`ACCURACY_DELAYS_MS`] achieve against a randomly driven tank.
pub(super) fn shoot(rule: ClockRule, jitter_ms: f64, seconds: f64, seed: u64) -> Result<[Shooter; 3]> {
    let rules = rules(rule);
    let fleet = Fleet::new("sender".into(), Motion::Tank.entities(1, seconds, seed), &rules)?;
    let paths = crate::experiment::paths(&ACCURACY_DELAYS_MS, jitter_ms, 0.0);
    let mut range = Range::new(seed);
    run_under(base_case(&fleet, rules, &paths, seed), &mut |glance| range.look(glance))?;
    Ok(range.shooters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shots_hit_what_they_pass_through() {
        let shot =
            |x: f64, y: f64, heading: f64| Shot { muzzle: Vec3::new(x, y, 0.0), way: Vec3::from_heading(heading) };
        let east = |y: f64| shot(-50.0, y, 0.0);
        assert!(east(1.3).hits(Vec3::ZERO, 0.0) && !east(1.5).hits(Vec3::ZERO, 0.0));
        let across = core::f64::consts::FRAC_PI_2;
        assert!(east(2.9).hits(Vec3::ZERO, across) && !east(3.1).hits(Vec3::ZERO, across));
        assert!(!shot(50.0, 0.0, 0.0).hits(Vec3::ZERO, 0.0), "it is behind the muzzle");
    }
}
