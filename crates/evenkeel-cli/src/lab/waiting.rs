//! Something to look at while runs go on.

use super::plan::Plan;
use evenkeel_lab::experiment::Progress;
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Steps of a bar that is about a plan.
const STEPS: u64 = 1000;

/// A bar with the time left; quiet if there is no terminal.
pub(crate) struct Waiting {
    bar: ProgressBar,
    started: Instant,
    /// What is run one after the other; the bar counts runs if there is none.
    plan: Option<Mutex<Plan>>,
}

impl Waiting {
    /// A bar that counts runs. Nothing is known until the first are expected.
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::new(0);
        set_style(&bar, "preparing");
        Self { bar, started: Instant::now(), plan: None }
    }

    /// A bar about several experiments together, with their rough durations in seconds.
    pub(super) fn for_all(rough_seconds: Vec<f64>) -> Self {
        let bar = ProgressBar::new(STEPS);
        set_style(&bar, "{prefix} {bar:32} {percent} %, {msg}");
        Self { bar, started: Instant::now(), plan: Some(Mutex::new(Plan::new(rough_seconds))) }
    }

    /// Another experiment of the plan begins.
    pub(super) fn begin(&self, name: &str) {
        self.bar.set_prefix(name.to_owned());
        if let Some(plan) = &self.plan {
            plan.lock().unwrap_or_else(PoisonError::into_inner).begin(self.started.elapsed().as_secs_f64());
        }
        self.show_plan();
    }

    pub(crate) fn tell(&self, progress: Progress) {
        match (progress, &self.plan) {
            (_, Some(_)) => self.show_plan(),
            (Progress::Expect(runs), None) => {
                if self.bar.length() == Some(0) {
                    set_style(&self.bar, "{bar:32} {pos}/{len} runs, {eta} left");
                }
                self.bar.inc_length(runs);
            }
            (Progress::Done, None) => self.bar.inc(1),
        }
    }

    fn show_plan(&self) {
        let Some(plan) = &self.plan else { return };
        let elapsed = self.started.elapsed().as_secs_f64();
        let (done, left) = plan.lock().unwrap_or_else(PoisonError::into_inner).at(elapsed);
        self.bar.set_position((done * STEPS as f64) as u64);
        self.bar.set_message(format!("about {} left", HumanDuration(Duration::from_secs(left.max(1.0) as u64))));
    }

    /// Says something without getting into the bar's way.
    pub(super) fn say(&self, line: &str) {
        self.bar.suspend(|| eprintln!("{line}"));
    }

    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }

    /// Says how long it took.
    pub(crate) fn report_time(&self) {
        eprintln!("Took {:.1} s.", self.started.elapsed().as_secs_f64());
    }

    /// Says how fast it went, if time was simulated at all.
    pub(super) fn report_speed(&self, simulated_seconds: f64) {
        if simulated_seconds == 0.0 {
            return self.report_time();
        }
        let seconds = self.started.elapsed().as_secs_f64();
        let times = simulated_seconds / seconds;
        eprintln!("Simulated {simulated_seconds:.0} s in {seconds:.1} s ({times:.0} times as fast).");
    }
}

fn set_style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}
