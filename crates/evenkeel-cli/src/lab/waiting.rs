//! Something to look at while runs go on.

use evenkeel_lab::experiment::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use std::time::Instant;

/// A bar with the time left; quiet if there is no terminal.
pub(super) struct Waiting {
    bar: ProgressBar,
    started: Instant,
}

impl Waiting {
    pub(super) fn new() -> Self {
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template("{msg}{bar:32} {pos}/{len} runs, {eta} left") {
            bar.set_style(style);
        }
        Self { bar, started: Instant::now() }
    }

    /// Another experiment begins; the bar is about that one.
    pub(super) fn begin(&self, name: &str) {
        self.bar.set_message(format!("{name} "));
        self.bar.set_length(0);
        self.bar.reset();
    }

    pub(super) fn tell(&self, progress: Progress) {
        match progress {
            Progress::Expect(runs) => self.bar.inc_length(runs),
            Progress::Done => self.bar.inc(1),
        }
    }

    /// Says something without getting into the bar's way.
    pub(super) fn say(&self, line: &str) {
        self.bar.suspend(|| eprintln!("{line}"));
    }

    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }

    /// Says how fast it went.
    pub(super) fn report_speed(&self, simulated_seconds: f64) {
        let seconds = self.started.elapsed().as_secs_f64();
        let times = simulated_seconds / seconds;
        eprintln!("Simulated {simulated_seconds:.0} s in {seconds:.1} s ({times:.0} times as fast).");
    }
}
