//! Seeded chance: SplitMix64 (Steele, Lea, Flood 2014), the same everywhere.

#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// At least 0 and below 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A whole number below `n`, which is not 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// `count` different numbers below `n`, ascending. All of them if `count` is more.
    pub(crate) fn draw(&mut self, count: usize, n: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..n).collect();
        let count = count.min(n);
        for i in 0..count {
            let other = i + self.below(n - i);
            all.swap(i, other);
        }
        all.truncate(count);
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_the_published_one() {
        let mut random = Random::new(1_234_567);
        assert_eq!([random.bits(), random.bits()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
        assert!((0..1000).all(|_| (0.0..1.0).contains(&random.unit()) && random.below(3) < 3));
    }

    #[test]
    fn draws_are_different_and_fair() {
        let mut random = Random::new(1);
        let mut hits = [0; 10];
        for _ in 0..10_000 {
            let drawn = random.draw(3, 10);
            assert!(drawn.len() == 3 && drawn.windows(2).all(|two| two[0] < two[1]));
            drawn.iter().for_each(|i| hits[*i] += 1);
        }
        assert!(hits.iter().all(|hits| (2_800..3_200).contains(hits)), "{hits:?}");
        assert_eq!(random.draw(9, 4), [0, 1, 2, 3]);
    }
}
