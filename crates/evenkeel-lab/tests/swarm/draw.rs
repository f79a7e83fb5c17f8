//! Numbers drawn from a seed, in order.

use evenkeel::Duration;
use evenkeel_link::Noise;

pub struct Draw(Noise, i64);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self(Noise::new(seed, 99), 0)
    }

    /// Evenly from 0 to 1.
    pub fn unit(&mut self) -> f64 {
        self.1 += 1;
        self.0.uniform(self.1, 0)
    }

    pub fn below(&mut self, n: u32) -> u32 {
        (self.unit() * f64::from(n)) as u32
    }

    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// Up to so many milliseconds.
    pub fn millis(&mut self, most: f64) -> Duration {
        Duration::from_secs_f64(self.unit() * most / 1e3)
    }

    /// One of them, if there are any.
    pub fn pick<T>(&mut self, mut all: impl ExactSizeIterator<Item = T>) -> Option<T> {
        let index = self.below(all.len() as u32);
        all.nth(index as usize)
    }
}
