//! What a running relay shows of itself: a line that changes on a terminal, or one in the log now and then.

use evenkeel_bzflag::Summary;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::time::Duration;

/// How many seconds pass between two lines in a log.
const LOG_EVERY: u64 = 60;
/// More clients than these are not named.
const NAMED: usize = 8;

/// Where the state is shown.
#[derive(Clone)]
pub(super) struct Line {
    bar: ProgressBar,
    seconds: u64,
}

impl Line {
    pub(super) fn new() -> Self {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{elapsed_precise}  {msg}") {
            bar.set_style(style);
        }
        Self { bar, seconds: 0 }
    }

    /// A writer for the log that does not get into the line's way.
    pub(super) fn beside(&self) -> impl Fn() -> Beside + Send + Sync + 'static {
        let bar = self.bar.clone();
        move || Beside(bar.clone())
    }

    /// Another second has passed.
    pub(super) fn show(&mut self, summary: &Summary) {
        if std::io::stderr().is_terminal() {
            self.bar.set_message(state(summary));
            self.bar.tick();
        } else if self.seconds.is_multiple_of(LOG_EVERY) && !summary.round_trips_ms.is_empty() {
            tracing::info!("{}", state(summary));
        }
        self.seconds += 1;
    }

    /// Keeps the time on the terminal going.
    pub(super) fn start(&self) {
        self.bar.enable_steady_tick(Duration::from_millis(500));
    }

    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// See [`Line::beside`].
pub(super) struct Beside(ProgressBar);

impl Write for Beside {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.suspend(|| std::io::stderr().write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}

fn state(summary: &Summary) -> String {
    let trips = &summary.round_trips_ms;
    let named = |(name, ms): &(String, f64)| format!("{} {ms:.0} ms", printable(name));
    let mut names = trips.iter().take(NAMED).map(named).collect::<Vec<_>>().join(", ");
    if trips.len() > NAMED {
        names.push_str(", …");
    }
    let mut text = match trips.len() {
        0 => "no client yet".to_owned(),
        1 => format!("1 client: {names}"),
        count => format!("{count} clients: {names}"),
    };
    if let Some(live) = summary.deciders.first().filter(|live| live.updates > 0) {
        text.push_str(&format!("; {} updates, mean error {:.2} m", live.updates, live.mean_m));
    }
    text
}

/// A name as a terminal may show it: it was chosen by a stranger.
pub(super) fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_one_line_whatever_players_are_called() {
        let mut summary = Summary { round_trips_ms: vec![("A\n\x1b[2Jb".into(), 12.3)], ..Summary::default() };
        assert_eq!(state(&summary), "1 client: A\u{fffd}\u{fffd}[2Jb 12 ms");
        summary.round_trips_ms = (0..20).map(|n| (format!("T{n}"), 1.0)).collect();
        let text = state(&summary);
        assert!(text.starts_with("20 clients: T0 1 ms, ") && text.ends_with("T7 1 ms, …"), "{text}");
        assert_eq!(state(&Summary::default()), "no client yet");
    }
}
