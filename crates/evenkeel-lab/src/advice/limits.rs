//! How long actions may wait, by kind.

use crate::names::nearest;
use anyhow::{Context, Result, bail, ensure};
use evenkeel::Duration;
use evenkeel::lag::Lag;

/// The kinds of action, by name.
const KINDS: [&str; 2] = ["movement", "verdicts"];
/// How limits are written.
const EXAMPLE: &str = "as in movement=60,verdicts=250";

/// The longest that each kind of action may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Where things are.
    pub movement: Duration,
    /// What is decided: hits, kills, goals.
    pub verdicts: Duration,
}

impl Default for Limits {
    /// What most players bear: 100 ms for what they do with their hands, 250 ms for what comes of it.
    fn default() -> Self {
        Self { movement: Duration::from_millis(100), verdicts: Duration::from_millis(250) }
    }
}

impl Limits {
    /// Limits as they are written, `movement=60` or `movement=60,verdicts=250`, in milliseconds; what is not named keeps its
    /// default.
    ///
    /// ```
    /// use evenkeel_lab::advice::Limits;
    /// use evenkeel_lab::Duration;
    /// let limits = Limits::parse("movement=60").unwrap();
    /// assert_eq!((limits.movement, limits.verdicts), (Duration::from_millis(60), Limits::default().verdicts));
    /// let error = Limits::parse("verdict=300").unwrap_err().to_string();
    /// assert_eq!(error, "no action is called `verdict`: did you mean `verdicts`?");
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        let mut limits = Self::default();
        let mut named: Vec<&str> = Vec::new();
        for part in text.split(',').map(str::trim) {
            let (kind, ms) = part.split_once('=').with_context(|| format!("`{part}` is no KIND=MS, {EXAMPLE}"))?;
            let (kind, lag) = (kind.trim(), span(ms.trim())?);
            let which = match kind {
                "movement" => &mut limits.movement,
                "verdicts" => &mut limits.verdicts,
                _ => match nearest(kind, KINDS) {
                    Some(meant) => bail!("no action is called `{kind}`: did you mean `{meant}`?"),
                    None => bail!("no action is called `{kind}`: there are {}", KINDS.join(" and ")),
                },
            };
            *which = lag;
            ensure!(!named.contains(&kind), "`{kind}` is named twice: keep one of them");
            named.push(kind);
        }
        Ok(limits)
    }
}

/// A lag in milliseconds.
fn span(text: &str) -> Result<Duration> {
    let longest = Lag::LONGEST.as_millis_f64();
    let number = text.parse::<f64>().ok().filter(|ms| (0.0..=longest).contains(ms));
    let ms = number.with_context(|| format!("`{text}` is no lag: write milliseconds, from 0 to {longest}"))?;
    Ok(Duration::from_secs_f64(ms / 1e3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_may_be_named_in_any_order() {
        let limits = Limits::parse("verdicts=300, movement=0").unwrap();
        assert_eq!((limits.movement, limits.verdicts), (Duration::ZERO, Duration::from_millis(300)));
    }

    #[test]
    fn what_is_wrong_is_said_with_what_to_do() {
        for (text, wanted) in [
            ("", "`` is no KIND=MS, as in movement=60,verdicts=250"),
            ("60", "`60` is no KIND=MS, as in movement=60,verdicts=250"),
            ("movment=60", "no action is called `movment`: did you mean `movement`?"),
            ("jumping=60", "no action is called `jumping`: there are movement and verdicts"),
            ("movement=soon", "`soon` is no lag: write milliseconds, from 0 to 60000"),
            ("movement=-5", "`-5` is no lag: write milliseconds, from 0 to 60000"),
            ("movement=NaN", "`NaN` is no lag: write milliseconds, from 0 to 60000"),
            ("movement=5,movement=6", "`movement` is named twice: keep one of them"),
        ] {
            assert_eq!(Limits::parse(text).unwrap_err().to_string(), wanted);
        }
    }
}
