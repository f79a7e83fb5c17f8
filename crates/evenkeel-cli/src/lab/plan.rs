//! How far a run of several experiments is, from how long each of them roughly takes.

/// The current experiment never counts as done before it is.
const NEARLY_DONE: f64 = 0.98;
/// Rough durations are believed as if this share of the whole had been measured to be right.
const BELIEF: f64 = 0.1;

/// Experiments one after the other, with their rough durations in seconds.
pub(super) struct Plan {
    rough: Vec<f64>,
    /// How many have begun.
    begun: usize,
    /// When the current one did, in seconds from the start.
    since: f64,
}

impl Plan {
    pub(super) fn new(rough: Vec<f64>) -> Self {
        Self { rough, begun: 0, since: 0.0 }
    }

    /// The next one begins, so many seconds from the start.
    pub(super) fn begin(&mut self, elapsed: f64) {
        self.begun += 1;
        self.since = elapsed;
    }

    /// Which share of the whole is done, and how many seconds are left, so many seconds from the start. Runs within an
    /// experiment say little about its end, since more are expected as it goes on; how long the experiments before it took
    /// says how fast this machine is.
    pub(super) fn at(&self, elapsed: f64) -> (f64, f64) {
        let total = self.rough.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let current = self.begun.checked_sub(1);
        let before: f64 = self.rough.iter().take(current.unwrap_or(0)).sum();
        let slowness = |elapsed: f64, done: f64| (elapsed + BELIEF * total) / (done + BELIEF * total);
        let known = slowness(self.since, before);
        let rough = current.and_then(|current| self.rough.get(current)).copied().unwrap_or(0.0);
        let done = before + ((elapsed - self.since) / known).clamp(0.0, NEARLY_DONE * rough);
        // What is overdue says that the rest will be late too.
        (done / total, (total - done) * known.max(slowness(elapsed, done)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: (f64, f64), wanted: (f64, f64)) {
        assert!((found.0 - wanted.0).abs() < 1e-9 && (found.1 - wanted.1).abs() < 1e-9, "{found:?} {wanted:?}");
    }

    #[test]
    fn the_time_left_is_that_of_the_whole_run() {
        let mut plan = Plan::new(vec![10.0, 30.0, 60.0]);
        close(plan.at(0.0), (0.0, 100.0));
        plan.begin(0.0);
        close(plan.at(5.0), (0.05, 95.0));
        // Whatever takes too long is nearly done, but the rest will take longer.
        close(plan.at(29.6), (0.098, 2.0 * 90.2));
        plan.begin(10.0);
        close(plan.at(25.0), (0.25, 75.0));
    }

    #[test]
    fn a_machine_that_was_slow_before_will_be_slow() {
        let mut plan = Plan::new(vec![10.0, 90.0]);
        plan.begin(0.0);
        plan.begin(30.0);
        close(plan.at(30.0), (0.1, 180.0));
        assert!(Plan::new(Vec::new()).at(3.0).0 == 0.0);
    }
}
