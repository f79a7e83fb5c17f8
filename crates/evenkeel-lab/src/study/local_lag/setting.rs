//! What is varied: how much may differ before an update is sent, how long everybody waits, how long an update takes.
//!
//! The paper's digits were lost in conversion. Its structure is left (two thresholds; one lag with three delays, one delay with
//! three lags), and these numbers are ours, chosen before anything was measured.

use evenkeel::wire::Format;
use evenkeel::{ClockRule, Duration, Threshold};
use std::fmt;

/// The two methods, by name.
pub(super) const METHODS: [&str; 2] = ["gs-dr", "gs-dr-ll"];
/// The six combinations of lag and delay in ms, in the order of figures 3 to 8.
pub(super) const GRID: [(i64, i64); 6] = [(300, 100), (300, 300), (300, 500), (100, 800), (300, 800), (500, 800)];
/// How many of them, the first, have the fixed lag; the others have the fixed delay.
pub(super) const FIXED_LAG: usize = 3;
/// The delay of the sweep over lags.
pub(super) const SWEPT_DELAY_MS: i64 = 300;
/// Longer than any game: the paper has no heartbeat, and no bound on extrapolation.
pub(super) const NEVER: Duration = Duration::from_secs(3600);

/// How much may differ before an update is sent, in pixels or degrees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Limit {
    pub(super) px: u32,
    pub(super) deg: u32,
}

/// Every difference is sent.
pub(super) const NO_FILTER: Limit = Limit { px: 0, deg: 0 };
/// Smaller than both of the paper's.
pub(super) const TINY: Limit = Limit { px: 1, deg: 1 };
pub(super) const SMALL: Limit = Limit { px: 4, deg: 4 };
pub(super) const LARGE: Limit = Limit { px: 10, deg: 15 };
/// The two of the evaluation.
pub(super) const LIMITS: [Limit; 2] = [SMALL, LARGE];

impl Limit {
    /// As the trigger takes it.
    pub(super) fn threshold(self) -> Threshold {
        Threshold::within(self.px.into()).turning(f64::from(self.deg).to_radians()).at_least_every(NEVER)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} px / {} deg", self.px, self.deg)
    }
}

/// One setting under one method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Setting {
    pub(super) limit: Limit,
    pub(super) lag_ms: i64,
    pub(super) delay_ms: i64,
    /// Global, but for dead reckoning without synchronised clocks.
    pub(super) rule: ClockRule,
    /// Whether states are rounded as the default format does, or sent as they are.
    pub(super) rounded: bool,
}

impl Setting {
    /// With this lag (GS-DR-LL), or none (GS-DR).
    pub(super) fn new(limit: Limit, lag_ms: i64, delay_ms: i64) -> Self {
        Self { limit, lag_ms, delay_ms, rule: ClockRule::Global, rounded: false }
    }

    /// Under one of [`METHODS`].
    pub(super) fn under(self, method: usize) -> Self {
        Self { lag_ms: if method == 0 { 0 } else { self.lag_ms }, ..self }
    }

    /// The same updates without synchronised clocks: the dead reckoning that GS-DR mends.
    pub(super) fn unsynchronised(self) -> Self {
        Self { rule: ClockRule::Local, ..self }
    }

    /// With states rounded.
    pub(super) fn rounded(self) -> Self {
        Self { rounded: true, ..self }
    }

    pub(super) fn lag(&self) -> Duration {
        Duration::from_millis(self.lag_ms)
    }

    pub(super) fn delay(&self) -> Duration {
        Duration::from_millis(self.delay_ms)
    }

    pub(super) fn format(&self) -> Format {
        if self.rounded { Format::default() } else { Format::lossless() }
    }
}

/// The twelve settings of the evaluation, threshold by threshold.
pub(super) fn evaluation() -> impl Iterator<Item = Setting> {
    LIMITS.into_iter().flat_map(|limit| GRID.map(|(lag, delay)| Setting::new(limit, lag, delay)))
}
