//! How much a connection may say: so many at once, and so many a second.

use evenkeel::Instant;

/// A bucket that fills with time and is emptied by use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    per_second: f64,
    most: f64,
    left: f64,
    at: Instant,
}

impl Allowance {
    /// So many a second, and twice as many at once.
    pub(crate) fn new(per_second: u32, now: Instant) -> Self {
        let most = 2.0 * f64::from(per_second);
        Self { per_second: f64::from(per_second), most, left: most, at: now }
    }

    /// As many as at once at most and so many more, once.
    pub(crate) fn and_once(self, more: usize) -> Self {
        Self { left: self.left.max(self.most + more as f64), ..self }
    }

    /// It could not be heard since it was used last, and says everything now: so many more at once, but not more a second.
    pub(crate) fn after_silence(self, more: usize, now: Instant) -> Self {
        let passed = now.since(self.at).as_secs_f64().max(0.0);
        let left = (self.left + passed * self.per_second).min(self.most + more as f64);
        Self { left: self.left.max(left), at: self.at.max(now), ..self }
    }

    /// Whether one more is allowed now.
    pub(crate) fn take(&mut self, now: Instant) -> bool {
        self.take_many(1, now)
    }

    /// Whether so many more are allowed now.
    pub(crate) fn take_many(&mut self, count: usize, now: Instant) -> bool {
        let passed = now.since(self.at).as_secs_f64().max(0.0);
        self.left = (self.left + passed * self.per_second).min(self.most.max(self.left));
        self.at = self.at.max(now);
        let allowed = self.left >= count as f64;
        if allowed {
            self.left -= count as f64;
        }
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_fills_again_and_never_beyond_the_most() {
        let at = Instant::from_millis;
        let mut allowance = Allowance::new(10, at(0));
        assert_eq!((0..30).filter(|_| allowance.take(at(0))).count(), 20);
        assert_eq!((0..30).filter(|_| allowance.take(at(500))).count(), 5);
        assert_eq!((0..30).filter(|_| allowance.take(at(90_000))).count(), 20);
        assert!(!allowance.take(at(0)), "time that goes back gives nothing");
        let mut allowance = Allowance::new(10, at(0)).and_once(100).and_once(100);
        assert_eq!((0..300).filter(|_| allowance.take(at(60_000))).count(), 120);
        assert_eq!((0..300).filter(|_| allowance.take(at(120_000))).count(), 20, "once");
        let heard = |millis| {
            let mut allowance = Allowance::new(10, at(0));
            let before = (0..300).filter(|_| allowance.take(at(0))).count();
            allowance = allowance.after_silence(100, at(millis)).after_silence(100, at(millis));
            before + (0..300).filter(|_| allowance.take(at(millis))).count()
        };
        assert_eq!([0, 1_000, 5_000, 90_000].map(heard), [20, 30, 70, 140], "no more than if it had been heard");
    }
}
