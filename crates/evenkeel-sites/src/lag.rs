//! How long servers hold an action back so that all of them execute it together.

use crate::{Problem, SolveError};

/// Whether every server waits as long as it must, or all as long as the slowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rule {
    /// A server waits until the server farthest from it has the action.
    #[default]
    PerServer,
    /// All servers wait as long as the two farthest from each other need.
    Common,
}

/// The local lag of servers: the rule, and which part of the full lag is waited for.
///
/// ```
/// use evenkeel_sites::{Lag, Rule};
///
/// assert_eq!(Lag::default(), Lag::new(Rule::PerServer, 1.0)?, "conservative: no server ever decides too early");
/// assert!(Lag::new(Rule::Common, 1.5).is_err());
/// # Ok::<(), evenkeel_sites::SolveError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lag {
    rule: Rule,
    share: f64,
}

impl Default for Lag {
    fn default() -> Self {
        Self { rule: Rule::PerServer, share: 1.0 }
    }
}

impl Lag {
    /// A rule, and the share of the full lag: 1 is conservative, less is partial lag, which trades consistency for response.
    pub fn new(rule: Rule, share: f64) -> Result<Self, SolveError> {
        if (0.0..=1.0).contains(&share) { Ok(Self { rule, share }) } else { Err(SolveError::Share(share)) }
    }

    /// The rule.
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// The share of the full lag that is waited for.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// How long `from` waits because of `to`. What cannot be reached is waited for forever, however small the share.
    ///
    /// Rounding is monotonic, so that the largest part is exactly the part of the largest delay: thresholds can be compared
    /// without a tolerance everywhere.
    #[inline]
    pub(crate) fn part(&self, problem: &Problem, from: usize, to: usize) -> f64 {
        let delay = problem.between(from, to);
        if delay.is_finite() { delay * self.share } else { delay }
    }

    /// How long each of `servers` waits, in milliseconds.
    pub fn of(&self, problem: &Problem, servers: &[usize]) -> Vec<f64> {
        let farthest = |&s: &usize| servers.iter().map(|&t| self.part(problem, s, t)).fold(0.0, f64::max);
        let mut lags: Vec<f64> = servers.iter().map(farthest).collect();
        if self.rule == Rule::Common {
            let longest = lags.iter().copied().fold(0.0, f64::max);
            lags.fill(longest);
        }
        lags
    }
}
