//! How often vectors go out.

/// About so many gaps are remembered.
const REMEMBERED: f64 = 200.0;

/// The mean time between two vectors of one entity to one receiver, over all pairs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    seconds: f64,
    count: f64,
    assumed: f64,
}

impl Pace {
    /// Records a vector that goes out so many seconds after the one before it.
    pub(super) fn sent(&mut self, seconds: f64) {
        let keep = 1.0 - 1.0 / REMEMBERED;
        (self.seconds, self.count) = (self.seconds * keep + seconds, self.count * keep + 1.0);
    }

    /// Sets the mean gap as long as nothing is known, in seconds.
    pub(super) fn assume(&mut self, seconds: f64) {
        self.assumed = seconds;
    }

    /// Returns what is assumed as long as nothing is known, in seconds.
    pub(super) fn assumed(&self) -> f64 {
        self.assumed
    }

    /// Returns the mean gap in seconds.
    pub(super) fn mean(&self) -> f64 {
        if self.seconds > 0.0 { self.seconds / self.count } else { self.assumed }
    }
}
