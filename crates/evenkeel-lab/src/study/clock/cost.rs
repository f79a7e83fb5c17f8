//! What a clock's error costs in metres: the same run, looked at by receivers whose clocks are off.

use crate::clock::{Profile, REFERENCE, frame_errors};
use crate::study::measure::{ACCURACY_DELAYS_MS, base_case, filmed, millis, rules};
use crate::workload::Motion;
use crate::world::{Film, Fleet, Glance, in_use, middle, run_under};
use anyhow::Result;
use evenkeel::{ClockRule, GlobalTime, Vec3};
use evenkeel_link::{Conditions, Jitter};

/// The clocks, in the order of [`frame_errors`].
pub(super) const CLOCKS: [&str; 4] =
    ["the session's clock", "EWMA of half the round trip", "NTP's shortest of eight", "lightyear's rule"];
/// Constant errors to look at, in ms.
pub(super) const CONSTANT_MS: [f64; 8] = [0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0];
/// How long a clock has had when the game begins, in seconds.
const WARM: f64 = 10.0;
/// The mean of the jitter on the jittery network, in ms.
const JITTER_MS: f64 = 20.0;

/// Which network receivers and clocks are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Network {
    /// The thesis's: fixed delays.
    Fixed,
    /// The same floors with exponential jitter above them.
    Jittery,
}

impl Network {
    pub(super) const ALL: [Self; 2] = [Self::Fixed, Self::Jittery];

    fn paths(self) -> Vec<Conditions> {
        let jitter = Jitter::Exponential { mean: millis(JITTER_MS) };
        let path = |ms: f64| match self {
            Self::Fixed => Conditions::delay(millis(ms)),
            Self::Jittery => Conditions::delay(millis(ms)).with_jitter(jitter),
        };
        ACCURACY_DELAYS_MS.map(path).to_vec()
    }

    pub(super) fn name(self) -> String {
        match self {
            Self::Fixed => "fixed".into(),
            Self::Jittery => format!("jitter exp. {JITTER_MS} ms"),
        }
    }
}

/// Mean distances between real and placed with one seed, over frames. Arrays follow the delays.
pub(super) struct Cost {
    /// By clock.
    pub(super) clocks: [[f64; 3]; 4],
    /// By constant error.
    pub(super) constant: [[f64; 3]; CONSTANT_MS.len()],
    /// With a perfect clock.
    pub(super) perfect: [f64; 3],
    /// Counted from arrival.
    pub(super) local: [f64; 3],
}

/// A sum and what it is a sum of.
#[derive(Clone, Copy, Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1.0;
    }

    fn value(self) -> f64 {
        self.sum / self.count.max(1.0)
    }
}

/// Sums by receiver, for each clock and each constant error.
#[derive(Default)]
struct Sums {
    clocks: [[Mean; 3]; 4],
    constant: [[Mean; 3]; CONSTANT_MS.len()],
    frame: usize,
    /// What was real at the sample before, and the newest vector of each receiver then.
    before: Option<(GlobalTime, Vec3)>,
    newest: [Option<(GlobalTime, evenkeel::Motion)>; 3],
}

impl Sums {
    /// Places the tank by each clock between two samples. `errors` are by receiver, then by clock, frame by frame.
    fn look(&mut self, glance: &Glance<'_>, errors: &[[Vec<(f64, f64)>; 4]]) {
        let here = glance.real.position();
        if let Some((before, there)) = self.before.replace((glance.at, here)) {
            let real = there + (here - there) * 0.5;
            for (number, errors) in errors.iter().enumerate() {
                self.place(glance, number, (middle(before, glance.at), real), errors);
            }
        }
        for (newest, receiver) in self.newest.iter_mut().zip(glance.receivers) {
            *newest = receiver.newest(glance.id);
        }
        self.frame += 1;
    }

    fn place(
        &mut self,
        glance: &Glance<'_>,
        number: usize,
        (at, real): (GlobalTime, Vec3),
        errors: &[Vec<(f64, f64)>; 4],
    ) {
        // Straight from the vector in use: a clock that is off stamps arrivals alike, so that it never hides one.
        let vector = in_use(&glance.receivers[number], glance, at, self.newest[number]);
        let Some((generated, motion)) = vector else { return };
        let age = at.since(generated).as_secs_f64();
        let off = |error_ms: f64| motion.position_at(age + error_ms / 1e3).distance(real);
        for (row, error_ms) in self.constant.iter_mut().zip(CONSTANT_MS) {
            row[number].add(off(error_ms));
        }
        let frame = self.frame + (WARM * 60.0) as usize;
        for (row, errors) in self.clocks.iter_mut().zip(errors) {
            if let Some((_, error_ms)) = errors.get(frame).filter(|(_, error_ms)| error_ms.is_finite()) {
                row[number].add(off(*error_ms));
            }
        }
    }
}

impl Cost {
    /// Drives a tank at random and looks at it by every clock.
    pub(super) fn new(network: Network, seconds: f64, seed: u64) -> Result<Self> {
        let rules = [ClockRule::Global, ClockRule::Local].map(rules);
        let fleet = Fleet::new("sender".into(), Motion::Tank.entities(1, seconds, seed), &rules[0])?;
        let paths = network.paths();
        let profile = Profile { seconds: seconds + WARM + 1.0, ..REFERENCE };
        let errors: Vec<_> = (0..)
            .zip(&paths)
            .map(|(n, path)| frame_errors(path, &profile, seed.wrapping_mul(8).wrapping_add(n)))
            .collect();
        let mut sums = Sums::default();
        run_under(base_case(&fleet, rules[0], &paths, seed), &mut |glance| sums.look(glance, &errors))?;
        let (_, local) = filmed(&fleet, rules[1], &paths, seed)?;
        let constant = sums.constant.map(|row| row.map(Mean::value));
        let clocks = sums.clocks.map(|row| row.map(Mean::value));
        Ok(Self { clocks, perfect: constant[0], constant, local: [0, 1, 2].map(|r| mean_distance(&local, r)) })
    }
}

fn mean_distance(film: &Film, receiver: usize) -> f64 {
    let mut mean = Mean::default();
    film.distances(receiver).for_each(|(_, distance)| mean.add(distance));
    mean.value()
}
