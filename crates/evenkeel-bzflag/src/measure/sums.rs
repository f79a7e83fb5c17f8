//! Errors, added up.

/// Errors are counted in steps of this many metres, and everything beyond the last step as one.
const STEP_M: f64 = 0.05;
const STEPS: usize = 4_000;

/// What one client saw, added up over tanks and time.
#[derive(Clone, Debug)]
pub struct Sums {
    /// For how long tanks were seen, in seconds, added up over tanks.
    pub seconds: f64,
    /// For how long living tanks were not seen at all.
    pub unseen_seconds: f64,
    /// The error, in metres times seconds.
    pub error: f64,
    /// The same, squared.
    pub squared: f64,
    /// The largest, in metres.
    pub largest_m: f64,
    /// Updates sent.
    pub updates: u64,
    /// Their bytes.
    pub bytes: u64,
    counts: Box<[u32; STEPS]>,
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            seconds: 0.0,
            unseen_seconds: 0.0,
            error: 0.0,
            squared: 0.0,
            largest_m: 0.0,
            updates: 0,
            bytes: 0,
            counts: Box::new([0; STEPS]),
        }
    }
}

impl Sums {
    pub(crate) fn add(&mut self, error_m: f64, seconds: f64) {
        self.seconds += seconds;
        self.error += error_m * seconds;
        self.squared += error_m * error_m * seconds;
        self.largest_m = self.largest_m.max(error_m);
        let step = ((error_m / STEP_M) as usize).min(STEPS - 1);
        self.counts[step] = self.counts[step].saturating_add(1);
    }

    /// The mean error, in metres.
    pub fn mean_m(&self) -> f64 {
        if self.seconds > 0.0 { self.error / self.seconds } else { 0.0 }
    }

    /// The error that is not exceeded for this share of the time, in metres, to 5 cm and up to 200 m.
    pub fn quantile_m(&self, share: f64) -> f64 {
        let total: u64 = self.counts.iter().map(|n| u64::from(*n)).sum();
        let wanted = (share * total as f64).ceil() as u64;
        let mut seen = 0;
        let step = self.counts.iter().position(|n| {
            seen += u64::from(*n);
            seen >= wanted
        });
        step.map_or(0.0, |step| (step + 1) as f64 * STEP_M).min(self.largest_m)
    }
}

/// What one client saw of shots.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shots {
    /// How many.
    pub count: u64,
    /// How far they were shown from where they were, in metres, added up.
    pub error: f64,
    /// The same if they were advanced.
    pub advanced_error: f64,
    /// How far they would jump if they were advanced, in metres, added up.
    pub jumped: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_and_means_are_those_of_what_was_added() {
        let mut sums = Sums::default();
        for n in 0..1000 {
            sums.add(f64::from(n) * 0.01, 0.02);
        }
        assert!((sums.mean_m() - 4.995).abs() < 1e-9);
        assert!((sums.quantile_m(0.5) - 5.0).abs() <= STEP_M && (sums.quantile_m(0.99) - 9.9).abs() <= STEP_M);
        assert_eq!(sums.quantile_m(1.0), 9.99);
        assert_eq!((Sums::default().mean_m(), Sums::default().quantile_m(0.99)), (0.0, 0.0));
    }
}
