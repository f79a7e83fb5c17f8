//! Spans of time, as people write them.

use anyhow::{Context, Result, ensure};
use std::fmt;
use std::str::FromStr;

const UNITS: [(&str, u64); 4] = [("d", 24 * 3600), ("h", 3600), ("m", 60), ("s", 1)];

/// A span of whole seconds, above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span(u64);

impl Span {
    pub(super) fn from_seconds(seconds: u64) -> Self {
        Self(seconds)
    }

    pub(super) fn seconds(self) -> u64 {
        self.0
    }
}

impl FromStr for Span {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let problem = "expected a span such as 30s, 90m, 24h or 7d";
        let found = UNITS.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, *seconds)));
        let (number, unit) = found.context(problem)?;
        let seconds = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)).context(problem)?;
        ensure!(seconds > 0, problem);
        Ok(Self(seconds))
    }
}

impl fmt::Display for Span {
    /// In its largest unit, rounded down.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = UNITS.iter().find(|(_, seconds)| self.0 >= *seconds);
        let (unit, seconds) = fits.copied().unwrap_or(("s", 1));
        write!(f, "{}{unit}", self.0 / seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_and_shown() {
        for (text, seconds, shown) in
            [("30s", 30, "30s"), ("90m", 5_400, "1h"), ("24h", 86_400, "1d"), ("7d", 604_800, "7d")]
        {
            let span: Span = text.parse().unwrap();
            assert_eq!((span.seconds(), span.to_string().as_str()), (seconds, shown));
        }
        for wrong in ["", "7", "d", "0s", "-1h", "1.5h", "99999999999999999d", "ä"] {
            assert!(wrong.parse::<Span>().is_err(), "{wrong}");
        }
    }
}
