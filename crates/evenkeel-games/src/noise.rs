//! Randomness without state: numbers looked up by (seed, stream, counter).
//!
//! The same construction as `evenkeel-link`'s, which this crate does not depend on: the games must build wherever the heart
//! does, without a compression library.

/// The golden ratio as a 64-bit fraction: SplitMix64's increment.
const PHI: u64 = 0x9e37_79b9_7f4a_7c15;
/// Another odd constant with well-spread bits.
const ODD: u64 = 0xd1b5_4a32_d192_ed03;

/// The numbers of one stream under a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Noise {
    key: u64,
}

impl Noise {
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        Self { key: mix(mix(seed.wrapping_add(PHI)).wrapping_add(stream.wrapping_mul(ODD))) }
    }

    /// 64 random bits for a counter.
    pub(crate) fn bits(&self, counter: u64) -> u64 {
        mix(self.key.wrapping_add(counter.wrapping_mul(PHI)))
    }

    /// A number evenly spread over the open interval from 0 to 1.
    pub(crate) fn uniform(&self, counter: u64) -> f64 {
        // Half a step above the lower edge; with 52 bits, the sum is exact.
        ((self.bits(counter) >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
    }
}

/// Numbers drawn one after another: for bots, whose draws depend on nobody but themselves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draws {
    noise: Noise,
    drawn: u64,
}

impl Draws {
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        Self { noise: Noise::new(seed, stream), drawn: 0 }
    }

    /// The next number, evenly spread from `low` to `high`.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        self.drawn += 1;
        low + (high - low) * self.noise.uniform(self.drawn)
    }

    /// Whether something of this probability happens.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.between(0.0, 1.0) < probability
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

    #[test]
    fn the_bits_are_pinned_and_the_mean_is_right() {
        // A change here changes every recorded operation.
        assert_eq!(
            [Noise::new(0, 0).bits(0), Noise::new(42, 7).bits(3)],
            [3_746_585_686_858_627_171, 12_695_462_643_243_573_789]
        );
        let mut draws = Draws::new(1, 2);
        let mean = (0..10_000).map(|_| draws.between(2.0, 4.0)).sum::<f64>() / 1e4;
        assert!((mean - 3.0).abs() < 0.02, "{mean}");
    }
}
