//! Errors counted: mean and largest exactly, shares to a percent of the value.

/// Below this, everything is the same.
const SMALLEST: f64 = 1e-6;
/// Each step is so many times the one before.
const STEP: f64 = 1.01;

/// Values counted by size.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    steps: Vec<u64>,
    count: u64,
    sum: f64,
    max: f64,
}

impl Tally {
    pub(crate) fn add(&mut self, value: f64) {
        let step = if value > SMALLEST { ((value / SMALLEST).ln() / STEP.ln()) as usize + 1 } else { 0 };
        if self.steps.len() <= step {
            self.steps.resize(step + 1, 0);
        }
        self.steps[step] += 1;
        self.count += 1;
        self.sum += value;
        self.max = self.max.max(value);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        if self.steps.len() < other.steps.len() {
            self.steps.resize(other.steps.len(), 0);
        }
        self.steps.iter_mut().zip(&other.steps).for_each(|(mine, theirs)| *mine += theirs);
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    pub(crate) fn max(&self) -> Option<f64> {
        (self.count > 0).then_some(self.max)
    }

    /// The value that this share of all values do not exceed.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        let wanted = (share * self.count as f64).ceil() as u64;
        let mut seen = 0;
        for (step, count) in self.steps.iter().enumerate() {
            seen += count;
            if seen >= wanted && seen > 0 {
                let value = if step == 0 { SMALLEST } else { SMALLEST * STEP.powf(step as f64 - 0.5) };
                return Some(value.min(self.max));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_right_to_a_percent() {
        let (mut all, mut odd) = (Tally::default(), Tally::default());
        assert_eq!((all.mean(), all.quantile(0.5), all.max()), (None, None, None));
        for n in (2..=1000).step_by(2) {
            all.add(f64::from(n) / 100.0);
            odd.add(f64::from(n - 1) / 100.0);
        }
        all.merge(&odd);
        assert_eq!((all.count(), all.max()), (1000, Some(10.0)));
        assert!((all.mean().unwrap() - 5.005).abs() < 1e-9);
        for (share, value) in [(0.5, 5.0), (0.99, 9.9), (1.0, 10.0)] {
            let found = all.quantile(share).unwrap();
            assert!((found / value - 1.0).abs() < 0.01, "{share}: {found}");
        }
        let mut none = Tally::default();
        none.add(0.0);
        assert_eq!(none.quantile(0.99), Some(0.0));
    }
}
