//! How a timewarp is set up.

use crate::time::Duration;
use core::fmt;

/// How a [`Timewarp`](super::Timewarp) is set up. Start from the default and change what matters.
///
/// ```
/// use evenkeel::{Duration, timewarp::TimewarpConfig};
/// let config = TimewarpConfig { verdict_lag: Duration::from_millis(200), ..TimewarpConfig::default() };
/// assert_eq!(config.history, Duration::from_secs(1));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TimewarpConfig {
    /// How far back operations may still come in; rounded up to whole ticks. Default: 1 s.
    pub history: Duration,
    /// How far in the future operations are taken. Default: 1 s.
    pub ahead: Duration,
    /// One state is saved for so many ticks. More saves memory and time in every step, and costs replays up to so many ticks
    /// more. Default: 1.
    pub snapshot_every: u32,
    /// How long after its tick a verdict is announced, if the simulation does not say otherwise
    /// ([`Simulation::verdict_lag`](crate::Simulation::verdict_lag)). At most the history. Default: none.
    pub verdict_lag: Duration,
    /// How far one call of [`advance`](super::Timewarp::advance) may step. Default: 5 s.
    pub max_catch_up: Duration,
    /// How many operations of one issuer are known at once: twice the history, and what is ahead. Default: 512.
    pub max_operations_per_issuer: usize,
    /// How many issuers may have operations at once. Default: 1,024.
    pub max_issuers: usize,
    /// How many events of a kind wait at most for [`poll_event`](super::Timewarp::poll_event). Default: 4,096.
    pub max_events: usize,
    /// Every so many ticks, these ticks are executed a second time and compared, digest by digest. It more than doubles the
    /// cost: for development. Default: never.
    pub verify_every: Option<u32>,
    /// The digest of every so manyth tick is kept when the tick is settled, for mirrors to compare. Default: none is.
    pub digest_every: Option<u32>,
}

/// The longest history, in ticks.
pub(super) const MAX_HISTORY: i64 = 1 << 20;

impl TimewarpConfig {
    pub(super) fn validate(&self, step: Duration) -> Result<(), TimewarpConfigError> {
        if step <= Duration::ZERO {
            return Err(TimewarpConfigError::NoStep);
        }
        let ticks = ticks_in(self.history, step);
        if ticks > MAX_HISTORY {
            return Err(TimewarpConfigError::HistoryTooLong { ticks, limit: MAX_HISTORY });
        }
        if self.verdict_lag > self.history {
            return Err(TimewarpConfigError::VerdictsTooLate { lag: self.verdict_lag, history: self.history });
        }
        let spans = [("ahead", self.ahead), ("verdict_lag", self.verdict_lag)];
        let must_not_be_zero = [("history", self.history), ("max_catch_up", self.max_catch_up)];
        for (name, span) in spans.into_iter().chain(must_not_be_zero) {
            if span.is_negative() || (span == Duration::ZERO && must_not_be_zero.contains(&(name, span))) {
                return Err(TimewarpConfigError::Negative(name));
            }
        }
        let counts = [
            ("snapshot_every", self.snapshot_every == 0),
            ("verify_every", self.verify_every == Some(0)),
            ("digest_every", self.digest_every == Some(0)),
            ("max_events", self.max_events == 0),
        ];
        match counts.into_iter().find(|(_, zero)| *zero) {
            Some((name, _)) => Err(TimewarpConfigError::Zero(name)),
            None => Ok(()),
        }
    }
}

/// A span in ticks, rounded up.
pub(super) fn ticks_in(span: Duration, step: Duration) -> i64 {
    let (span, step) = (span.as_nanos(), step.as_nanos().max(1));
    span / step + i64::from(span % step > 0)
}

impl Default for TimewarpConfig {
    fn default() -> Self {
        Self {
            history: Duration::from_secs(1),
            ahead: Duration::from_secs(1),
            snapshot_every: 1,
            verdict_lag: Duration::ZERO,
            max_catch_up: Duration::from_secs(5),
            max_operations_per_issuer: 512,
            max_issuers: 1_024,
            max_events: 4_096,
            verify_every: None,
            digest_every: None,
        }
    }
}

/// A configuration that cannot work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimewarpConfigError {
    /// The simulation's steps have no length.
    NoStep,
    /// A span of time is negative, or zero where it must not be.
    Negative(&'static str),
    /// A number is zero.
    Zero(&'static str),
    /// Verdicts would be announced after what they rest on is forgotten.
    VerdictsTooLate {
        /// The lag asked for.
        lag: Duration,
        /// The history.
        history: Duration,
    },
    /// The history has too many ticks.
    HistoryTooLong {
        /// How many it has.
        ticks: i64,
        /// The most it may have.
        limit: i64,
    },
}

impl fmt::Display for TimewarpConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoStep => write!(f, "the simulation's step_length must be more than nothing"),
            Self::Negative(name) => write!(f, "{name} is negative, or zero where it must not be"),
            Self::Zero(name) => write!(f, "{name} must be at least 1"),
            Self::VerdictsTooLate { lag, history } => {
                write!(f, "a verdict_lag of {lag} is longer than the history of {history}: lengthen the history")
            }
            Self::HistoryTooLong { ticks, limit } => {
                write!(f, "a history of {ticks} ticks is more than {limit}: shorten it or lengthen the step")
            }
        }
    }
}

impl core::error::Error for TimewarpConfigError {}
