//! Randomness without state: numbers looked up by (seed, stream, counter, lane).
//!
//! A generator that is stepped gives each packet whatever number is next, so one packet more or less changes the fate
//! of all that follow. Here every number is a hash of what it is for. Two runs that differ in one packet then agree on
//! all others, and policies can be compared packet by packet.
//!
//! The hash is the output function of SplitMix64 (Steele, Lea and Flood, 2014; Stafford's "Mix13" constants), applied
//! twice: `mix(mix(key + counter * PHI) + (lane + 1) * ODD)`, with `key = mix(mix(seed + PHI) + stream * ODD)`.
//! Transcendental functions come from `libm`, so the numbers are the same on every machine.

use core::f64::consts::TAU;

/// The golden ratio as a 64-bit fraction: SplitMix64's increment.
const PHI: u64 = 0x9e37_79b9_7f4a_7c15;
/// Another odd constant with well-spread bits, so that counters and lanes move along different lines.
const ODD: u64 = 0xd1b5_4a32_d192_ed03;

/// A random number generator whose numbers are looked up instead of drawn.
///
/// ```
/// use evenkeel_link::Noise;
/// let noise = Noise::new(42, 7);
/// assert_eq!(noise.uniform(1_000, 0), Noise::new(42, 7).uniform(1_000, 0));
/// assert_ne!(noise.uniform(1_000, 0), noise.uniform(1_000, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noise {
    key: u64,
}

impl Noise {
    /// The numbers of one stream (a path, a host's clock, an entity) under a seed.
    pub fn new(seed: u64, stream: u64) -> Self {
        Self { key: mix(mix(seed.wrapping_add(PHI)).wrapping_add(stream.wrapping_mul(ODD))) }
    }

    /// 64 random bits. The counter is usually a time or a slot of time; lanes are independent uses of one counter.
    pub fn bits(&self, counter: i64, lane: u32) -> u64 {
        let at_counter = mix(self.key.wrapping_add((counter as u64).wrapping_mul(PHI)));
        mix(at_counter.wrapping_add((u64::from(lane) + 1).wrapping_mul(ODD)))
    }

    /// A number evenly spread over the open interval from 0 to 1.
    pub fn uniform(&self, counter: i64, lane: u32) -> f64 {
        // Half a step above the lower edge: neither 0, whose logarithm is infinite, nor 1. With 52 bits, the sum is exact.
        ((self.bits(counter, lane) >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
    }

    /// Whether something of this probability happens. Never for 0, always for 1.
    pub fn chance(&self, counter: i64, lane: u32, probability: f64) -> bool {
        self.uniform(counter, lane) < probability
    }

    /// A number from the exponential distribution of mean 1.
    pub fn exponential(&self, counter: i64, lane: u32) -> f64 {
        -libm::log(self.uniform(counter, lane))
    }

    /// A number from the standard normal distribution. Uses this lane and the next.
    pub fn normal(&self, counter: i64, lane: u32) -> f64 {
        self.normal_pair(counter, lane).0
    }

    /// Two independent numbers from the standard normal distribution (Box and Muller). Uses this lane and the next.
    pub fn normal_pair(&self, counter: i64, lane: u32) -> (f64, f64) {
        let radius = libm::sqrt(2.0 * self.exponential(counter, lane));
        let (sin, cos) = libm::sincos(TAU * self.uniform(counter, lane + 1));
        (radius * cos, radius * sin)
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: i64 = 200_000;

    fn moments(sample: impl Fn(i64) -> f64) -> (f64, f64) {
        let mean = (0..N).map(&sample).sum::<f64>() / N as f64;
        let variance = (0..N).map(|i| (sample(i) - mean).powi(2)).sum::<f64>() / N as f64;
        (mean, variance.sqrt())
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let noise = Noise::new(1, 2);
        // Counters as far apart as packets are (1 ms) and as near as can be (1 ns).
        for step in [1, 1_000_000] {
            let (mean, std) = moments(|i| noise.uniform(i * step, 0));
            assert!((mean - 0.5).abs() < 0.003 && (std - 1.0 / 12f64.sqrt()).abs() < 0.003, "{mean} {std}");
            let (mean, std) = moments(|i| noise.exponential(i * step, 1));
            assert!((mean - 1.0).abs() < 0.01 && (std - 1.0).abs() < 0.02, "{mean} {std}");
            let (mean, std) = moments(|i| noise.normal(i * step, 2));
            assert!(mean.abs() < 0.01 && (std - 1.0).abs() < 0.01, "{mean} {std}");
        }
    }

    #[test]
    fn neighbours_are_unrelated() {
        let noise = Noise::new(9, 0);
        let other = Noise::new(9, 1);
        let related = |f: &dyn Fn(i64) -> f64| (0..N).map(f).sum::<f64>() / N as f64;
        let by_counter = related(&|i| noise.normal(i, 0) * noise.normal(i + 1, 0));
        let by_lane = related(&|i| noise.normal(i, 0) * noise.normal(i, 2));
        let by_stream = related(&|i| noise.normal(i, 0) * other.normal(i, 0));
        let of_pair = related(&|i| noise.normal_pair(i, 0).0 * noise.normal_pair(i, 0).1);
        for correlation in [by_counter, by_lane, by_stream, of_pair] {
            assert!(correlation.abs() < 0.01, "{correlation}");
        }
    }

    #[test]
    fn the_bits_are_pinned() {
        // A change here changes every recorded experiment.
        assert_eq!(
            [Noise::new(0, 0).bits(0, 0), Noise::new(42, 7).bits(-1_000_000, 3)],
            [0x35fa4c07a4bdabdb, 0x71eb6470cab348ec]
        );
    }
}
