//! Delays and a drifting host clock, from a seed.

use super::NamedPath;
use evenkeel::Instant;

/// SplitMix64.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Even in [0, 1).
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(super) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    pub(super) fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.unit()).ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// How delays scatter above their floor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Jitter {
    /// Exponential with this mean, ms.
    Exponential(f64),
    /// Even from nothing to this, ms.
    Uniform(f64),
    /// The absolute value of a normal with this deviation, ms.
    Normal(f64),
}

/// The delay of one packet in ms; nothing if it is lost.
pub(super) fn delay(path: &NamedPath, loss: f64, random: &mut Random) -> Option<f64> {
    let jitter = match path.jitter {
        Jitter::Exponential(mean) => random.exponential(mean),
        Jitter::Uniform(width) => width * random.unit(),
        Jitter::Normal(deviation) => (deviation * random.normal()).abs(),
    };
    let burst = if random.unit() < path.burst_share { path.burst_ms } else { 0.0 };
    (random.unit() >= loss).then_some(path.floor_ms + jitter + burst)
}

const CELL_SECS: f64 = 0.25;

/// A host's clock: its reading at regular moments of true time.
pub(super) struct HostClock {
    readings: Vec<f64>,
    step: Option<(f64, f64)>,
}

impl HostClock {
    /// Drifts by `drift_ppm` and a random walk of the skew that stays within `wander_ppm` of it; `step` is (when, by
    /// how many seconds) it is set.
    pub(super) fn new(seconds: f64, drift_ppm: f64, wander_ppm: f64, step: Option<(f64, f64)>, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut reading = 1e4 * random.unit();
        let mut wander = (2.0 * random.unit() - 1.0) * wander_ppm;
        let mut readings = Vec::new();
        for _ in 0..(seconds / CELL_SECS) as usize + 8 {
            readings.push(reading);
            wander += 0.05 * wander_ppm * CELL_SECS.sqrt() * random.normal();
            wander = wander.clamp(-wander_ppm, wander_ppm);
            reading += CELL_SECS * (1.0 + (drift_ppm + wander) * 1e-6);
        }
        Self { readings, step }
    }

    /// What it shows at `true_secs`.
    pub(super) fn read(&self, true_secs: f64) -> Instant {
        let cell = (true_secs / CELL_SECS).clamp(0.0, (self.readings.len() - 2) as f64);
        let index = cell as usize;
        let part = true_secs / CELL_SECS - index as f64;
        let reading = self.readings[index] + part * (self.readings[index + 1] - self.readings[index]);
        let set = self.step.map_or(0.0, |(at, by)| if true_secs >= at { by } else { 0.0 });
        Instant::from_secs_f64(reading + set)
    }
}
