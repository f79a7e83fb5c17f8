//! Means over the last second, over a window, and added up since the last change.

use std::collections::VecDeque;

/// The longest window, in seconds.
pub(super) const WINDOW: usize = 30;

/// A quantity that is looked at many times a second.
#[derive(Clone, Debug, Default)]
pub(super) struct Meter {
    /// Sum and number of values in the second under way.
    now: (f64, f64),
    /// The same of the seconds before.
    seconds: VecDeque<(f64, f64)>,
    integral: Option<f64>,
}

impl Meter {
    /// So it is at a moment, for each of a few things, `dt` seconds after the moment before.
    pub(super) fn note(&mut self, values: &[f64], dt: f64) {
        let (sum, count) = (values.iter().sum::<f64>(), values.len() as f64);
        if count > 0.0 {
            (self.now.0, self.now.1) = (self.now.0 + sum, self.now.1 + count);
            *self.integral.get_or_insert(0.0) += sum / count * dt;
        }
    }

    /// A second is over: answers its mean.
    pub(super) fn second(&mut self) -> Option<f64> {
        let now = std::mem::take(&mut self.now);
        self.seconds.push_back(now);
        while self.seconds.len() > WINDOW {
            self.seconds.pop_front();
        }
        mean(now)
    }

    /// The mean in the window.
    pub(super) fn window(&self) -> Option<f64> {
        mean(self.seconds.iter().fold((0.0, 0.0), |(sum, count), (s, c)| (sum + s, count + c)))
    }

    /// The integral over time since the beginning.
    pub(super) fn integral(&self) -> Option<f64> {
        self.integral
    }
}

fn mean((sum, count): (f64, f64)) -> Option<f64> {
    (count > 0.0).then(|| sum / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_integrals() {
        let mut meter = Meter::default();
        assert_eq!((meter.second(), meter.window(), meter.integral()), (None, None, None));
        for second in 0..40 {
            let error = if second < 10 { 9.0 } else { 1.0 };
            (0..50).for_each(|_| meter.note(&[error, error + 2.0], 0.02));
            assert_eq!(meter.second(), Some(error + 1.0));
        }
        assert_eq!(meter.window(), Some(2.0), "the first ten seconds are forgotten");
        assert!((meter.integral().unwrap() - 160.0).abs() < 1e-6, "but not here");
    }
}
