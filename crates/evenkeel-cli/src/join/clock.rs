//! `--clock`: this host's clock, deliberately wrong.

use anyhow::{Context, Result, bail, ensure};
use evenkeel::{Duration, GlobalTime};
use evenkeel_link::{Conditions, HostClock};
use std::str::FromStr;

/// A clock as text: `offset=3s,drift=50ppm,step=60s@10s`.
#[derive(Clone, Debug)]
pub(crate) struct WrongClock(pub(crate) HostClock);

impl FromStr for WrongClock {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (mut offset, mut drift, mut steps) = (Duration::ZERO, 0.0, Vec::new());
        for part in text.split(',').map(str::trim) {
            let (key, value) = part.split_once('=').with_context(|| format!("`{part}`: {EXPECTED}"))?;
            match key.trim() {
                "offset" => offset = span(value)?,
                "drift" => drift = parts_per_million(value)?,
                "step" => {
                    let (by, at) = value.split_once('@').with_context(|| format!("`{part}`: {EXPECTED}"))?;
                    steps.push((GlobalTime::ZERO + span(at)?, span(by)?));
                }
                _ => bail!("`{part}`: {EXPECTED}"),
            }
        }
        let clock = HostClock::new(offset, drift)?;
        Ok(Self(steps.into_iter().fold(clock, |clock, (at, by)| clock.with_step(at, by))))
    }
}

const EXPECTED: &str = "expected offset=3s, drift=50ppm or step=60s@10s (by 60 s after 10 s)";

fn parts_per_million(text: &str) -> Result<f64> {
    let number = text.trim().strip_suffix("ppm").and_then(|number| number.trim().parse::<f64>().ok());
    let number = number.filter(|number| number.is_finite());
    number.with_context(|| format!("`{text}`: expected a drift such as 50ppm or -20ppm"))
}

/// A span of time as conditions have it, forwards or backwards.
fn span(text: &str) -> Result<Duration> {
    let text = text.trim();
    let (sign, size) = text.strip_prefix('-').map_or((1, text), |size| (-1, size));
    let read: Result<Conditions, _> = format!("delay={size}").parse();
    let read = read.ok().filter(|_| !size.contains([',', '=', '-']));
    let span = read.with_context(|| format!("`{text}`: expected a time such as 3s or -250ms, within an hour"))?.delay;
    ensure!(!span.is_negative(), "`{text}`: one sign is enough");
    Ok(span * sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_read() {
        let clock = "offset=-3s, drift=50ppm,step=60s@10s".parse::<WrongClock>().unwrap().0;
        let wanted = HostClock::new(Duration::from_secs(-3), 50.0)
            .unwrap()
            .with_step(GlobalTime::from_secs_f64(10.0), Duration::from_secs(60));
        assert_eq!(clock, wanted);
        for wrong in
            ["", "offset", "offset=3", "drift=5", "drift=1e9ppm", "step=5s", "offset=3s,loss=2%", "offset=--3s"]
        {
            assert!(wrong.parse::<WrongClock>().is_err(), "{wrong}");
        }
    }
}
