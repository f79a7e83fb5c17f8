//! [`Conditions`] as text, for command lines: `"delay=200ms,jitter=exp:20ms,loss=2%"`.
//!
//! The text is a list of parts separated by commas. The first may be a name that
//! [`Conditions::named`] knows, and the rest then changes or adds to it: `"far,loss=2%"`.
//!
//! | part | meaning |
//! |---|---|
//! | `delay=200ms` | the base delay; units are `ns`, `us`, `ms`, `s` |
//! | `jitter=uniform:20ms` | plus or minus 20 ms |
//! | `jitter=normal:20ms` | standard deviation 20 ms |
//! | `jitter=exp:20ms` | mean 20 ms |
//! | `jitter=pareto:10ms:2.5` | scale, shape |
//! | `jitter=correlated:20ms:1s` | standard deviation, time constant |
//! | `jitter=bursts:1%:50ms:50ms` | share of the time, height, length |
//! | `jitter=exp:3ms+bursts:1%:50ms:50ms` | the sum of several; `jitter=none` for none |
//! | `loss=2%` | independent loss; `loss=none` for none |
//! | `loss=bursts:10s:200ms:0%:80%` | Gilbert-Elliott: mean time good, mean time bad, loss when good, loss when bad |
//! | `reorder=1%:30ms` | held back: probability, how long |
//! | `duplicate=0.5%` | probability |
//! | `rate=64000:16000` | bytes per second, bytes that may wait; `rate=none` for no limit |
//! | `steps=10s:30ms;20s:0ms` | from second 10 on 30 ms more, from second 20 on none |
//! | `lines=0s:0ms;60s:80ms` | 80 ms more in the course of a minute |
//!
//! Probabilities may be written `2%` or `0.02`. What is displayed reads back as the same conditions, to the last bit.

use crate::conditions::{Changes, Conditions, ConditionsError, Jitter, Loss, RateLimit, Reorder};
use evenkeel::{Duration, GlobalTime};
use std::fmt;
use std::str::FromStr;

type Result<T> = core::result::Result<T, ConditionsError>;

impl FromStr for Conditions {
    type Err = ConditionsError;

    fn from_str(text: &str) -> Result<Self> {
        let mut conditions = Self::default();
        for (i, part) in text.split(',').map(str::trim).enumerate() {
            match part.split_once('=') {
                Some((key, value)) => set(&mut conditions, part, key.trim(), value.trim())?,
                None if i == 0 && part.is_empty() => {}
                None if i == 0 => conditions = Self::named(part)?,
                None => return Err(wrong(part, "expected key=value, such as loss=2%")),
            }
        }
        conditions.validate()?;
        Ok(conditions)
    }
}

fn set(conditions: &mut Conditions, part: &str, key: &str, value: &str) -> Result<()> {
    match key {
        "delay" => conditions.delay = span(value)?,
        "jitter" => {
            let parts: Vec<Jitter> = value.split('+').map(jitter).collect::<Result<_>>()?;
            conditions.jitter = parts.into_iter().filter(|part| *part != Jitter::None).collect();
        }
        "loss" => conditions.loss = loss(value)?,
        "reorder" => {
            let [probability, extra] = fields(value, "expected probability:delay, such as 1%:30ms")?;
            conditions.reorder = Reorder { probability: number(probability)?, extra: span(extra)? };
        }
        "duplicate" => conditions.duplicate = number(value)?,
        "rate" if value == "none" => conditions.rate = None,
        "rate" => {
            let [rate, queue] = fields(value, "expected bytes per second:bytes that may wait, such as 64000:16000")?;
            conditions.rate = Some(RateLimit { bytes_per_second: whole(rate)?, queue_bytes: whole(queue)? });
        }
        "steps" => conditions.changes = Changes::Steps(points(value)?),
        "lines" => conditions.changes = Changes::Lines(points(value)?),
        _ => {
            let problem = "the keys are delay, jitter, loss, reorder, duplicate, rate, steps and lines";
            return Err(wrong(part, problem));
        }
    }
    Ok(())
}

fn jitter(text: &str) -> Result<Jitter> {
    let text = text.trim();
    let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
    Ok(match kind {
        "none" if rest.is_empty() => Jitter::None,
        "uniform" => Jitter::Uniform { plus_minus: span(rest)? },
        "normal" => Jitter::Normal { std_dev: span(rest)? },
        "exp" => Jitter::Exponential { mean: span(rest)? },
        "pareto" => {
            let [scale, shape] = fields(rest, "expected scale:shape, such as 10ms:2.5")?;
            Jitter::Pareto { scale: span(scale)?, shape: number(shape)? }
        }
        "correlated" => {
            let [std_dev, time] = fields(rest, "expected deviation:time, such as 20ms:1s")?;
            Jitter::Correlated { std_dev: span(std_dev)?, time_constant: span(time)? }
        }
        "bursts" => {
            let [share, height, length] = fields(rest, "expected share:height:length, such as 1%:50ms:50ms")?;
            Jitter::Bursts { probability: number(share)?, height: span(height)?, length: span(length)? }
        }
        _ => return Err(wrong(text, "jitter is none, uniform, normal, exp, pareto, correlated or bursts")),
    })
}

fn loss(text: &str) -> Result<Loss> {
    if text == "none" {
        return Ok(Loss::None);
    }
    let Some(bursts) = text.strip_prefix("bursts:") else {
        return Ok(Loss::Independent(number(text)?));
    };
    let problem = "expected time good:time bad:loss when good:loss when bad, such as 10s:200ms:0%:80%";
    let [mean_good, mean_bad, loss_good, loss_bad] = fields(bursts, problem)?;
    Ok(Loss::GilbertElliott {
        mean_good: span(mean_good)?,
        mean_bad: span(mean_bad)?,
        loss_good: number(loss_good)?,
        loss_bad: number(loss_bad)?,
    })
}

fn points(text: &str) -> Result<Vec<(GlobalTime, Duration)>> {
    text.split(';')
        .map(|point| {
            let [at, addition] = fields(point, "expected time:addition, such as 10s:30ms")?;
            Ok((GlobalTime::ZERO + span(at)?, span(addition)?))
        })
        .collect()
}

/// Exactly N fields separated by colons.
fn fields<'a, const N: usize>(text: &'a str, problem: &'static str) -> Result<[&'a str; N]> {
    let mut fields = text.split(':').map(str::trim);
    let mut found = [""; N];
    for slot in &mut found {
        *slot = fields.next().ok_or_else(|| wrong(text, problem))?;
    }
    if fields.next().is_some() { Err(wrong(text, problem)) } else { Ok(found) }
}

/// A plain number, or one in percent.
fn number(text: &str) -> Result<f64> {
    let problem = "expected a number such as 0.02 or 2%";
    let parsed = match text.strip_suffix('%') {
        // Moving the decimal point in the text is exact where dividing by 100 is not.
        Some(percent) if percent.bytes().all(|b| b.is_ascii_digit() || b == b'.') => format!("{percent}e-2").parse(),
        Some(_) => return Err(wrong(text, problem)),
        None => text.parse(),
    };
    parsed.map_err(|_| wrong(text, problem))
}

fn whole(text: &str) -> Result<u64> {
    text.parse().map_err(|_| wrong(text, "expected a whole number"))
}

/// A span of time, read digit by digit so that nothing is rounded.
fn span(text: &str) -> Result<Duration> {
    let problem = "expected a time such as 200ms, 1.5s, 250us or 10ns";
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(|| wrong(text, problem))?;
    let (digits, unit) = text.split_at(unit_at);
    let places = match unit {
        "s" => 9,
        "ms" => 6,
        "us" => 3,
        "ns" => 0,
        _ => return Err(wrong(text, problem)),
    };
    let (negative, digits) = match digits.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, digits),
    };
    let nanos = scaled(digits.trim_end(), places).ok_or_else(|| wrong(text, problem))?;
    Ok(Duration::from_nanos(if negative { -nanos } else { nanos }))
}

/// A decimal number times ten to the power of `places`, if that is a whole number that fits.
fn scaled(digits: &str, places: usize) -> Option<i64> {
    let (integer, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > places || (integer.is_empty() && fraction.is_empty()) {
        return None;
    }
    let padding = std::iter::repeat_n(b'0', places - fraction.len());
    integer.bytes().chain(fraction.bytes()).chain(padding).try_fold(0i64, |sum, byte| {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit <= 9)?;
        sum.checked_mul(10)?.checked_add(i64::from(digit))
    })
}

fn wrong(part: &str, problem: &'static str) -> ConditionsError {
    ConditionsError::Text { part: part.chars().take(80).collect(), problem }
}

impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "delay={}", Span(self.delay))?;
        for (i, jitter) in self.jitter.iter().enumerate() {
            write!(f, "{}{jitter}", if i == 0 { ",jitter=" } else { "+" })?;
        }
        if self.loss != Loss::None {
            write!(f, ",loss={}", self.loss)?;
        }
        if self.reorder != Reorder::default() {
            write!(f, ",reorder={}:{}", Share(self.reorder.probability), Span(self.reorder.extra))?;
        }
        if self.duplicate != 0.0 {
            write!(f, ",duplicate={}", Share(self.duplicate))?;
        }
        if let Some(rate) = self.rate {
            write!(f, ",rate={}:{}", rate.bytes_per_second, rate.queue_bytes)?;
        }
        write!(f, "{}", self.changes)
    }
}

impl fmt::Display for Jitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::None => f.write_str("none"),
            Self::Uniform { plus_minus } => write!(f, "uniform:{}", Span(plus_minus)),
            Self::Normal { std_dev } => write!(f, "normal:{}", Span(std_dev)),
            Self::Exponential { mean } => write!(f, "exp:{}", Span(mean)),
            Self::Pareto { scale, shape } => write!(f, "pareto:{}:{shape}", Span(scale)),
            Self::Correlated { std_dev, time_constant } => {
                write!(f, "correlated:{}:{}", Span(std_dev), Span(time_constant))
            }
            Self::Bursts { probability, height, length } => {
                write!(f, "bursts:{}:{}:{}", Share(probability), Span(height), Span(length))
            }
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::None => f.write_str("none"),
            Self::Independent(probability) => write!(f, "{}", Share(probability)),
            Self::GilbertElliott { mean_good, mean_bad, loss_good, loss_bad } => {
                let (good, bad) = (Share(loss_good), Share(loss_bad));
                write!(f, "bursts:{}:{}:{good}:{bad}", Span(mean_good), Span(mean_bad))
            }
        }
    }
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = match self {
            Self::Steps(_) => ",steps=",
            _ => ",lines=",
        };
        for (i, (at, addition)) in self.points().iter().enumerate() {
            let before = if i == 0 { key } else { ";" };
            write!(f, "{before}{}:{}", Span(at.since(GlobalTime::ZERO)), Span(*addition))?;
        }
        Ok(())
    }
}

/// A span of time as it is read back: an exact decimal in the largest unit that needs no leading zero.
struct Span(Duration);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        let size = nanos.unsigned_abs();
        let (unit, nanos_per_unit, places) = match size {
            0 | 1_000_000..1_000_000_000 => ("ms", 1_000_000, 6),
            1_000_000_000.. => ("s", 1_000_000_000, 9),
            1_000..1_000_000 => ("us", 1_000, 3),
            _ => ("ns", 1, 0),
        };
        let sign = if nanos < 0 { "-" } else { "" };
        write!(f, "{sign}{}", size / nanos_per_unit)?;
        if !size.is_multiple_of(nanos_per_unit) {
            let fraction = format!("{:0places$}", size % nanos_per_unit);
            write!(f, ".{}", fraction.trim_end_matches('0'))?;
        }
        f.write_str(unit)
    }
}

/// A probability as it is read back: in percent where that is exact.
struct Share(f64);

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match percent(self.0).filter(|text| number(text) == Ok(self.0)) {
            Some(text) => f.write_str(&text),
            None => write!(f, "{}", self.0),
        }
    }
}

/// A number with its decimal point moved by two places, in the text because multiplying by 100 would round.
fn percent(number: f64) -> Option<String> {
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let moved: f64 = format!("{digits}e{}", exponent + 2).parse().ok()?;
    Some(format!("{moved}%"))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Conditions> {
        text.parse()
    }

    #[test]
    fn every_line_of_the_table_reads_back_as_it_is_written() {
        for text in [
            "delay=200ms",
            "delay=1.5s,jitter=uniform:20ms",
            "delay=0ms,jitter=normal:250us",
            "delay=50ms,jitter=pareto:10ms:2.5",
            "delay=50ms,jitter=correlated:20ms:1s",
            "delay=20ms,jitter=exp:3ms+bursts:1%:50ms:50ms",
            "delay=20ms,loss=bursts:10s:200ms:0%:80%",
            "delay=20ms,loss=7%,reorder=1%:30ms,duplicate=0.5%",
            "delay=20.5ms,rate=64000:16000",
            "delay=20ms,steps=10s:30ms;20s:-5ms",
            "delay=17ns,lines=-1s:0ms;60s:80ms",
        ] {
            assert_eq!(read(text).unwrap().to_string(), text);
        }
        assert_eq!(read("wifi").unwrap(), Conditions::named("wifi").unwrap());
        assert_eq!(read(" far , loss = 2% , jitter=none").unwrap().to_string(), "delay=100ms,loss=2%");
        assert_eq!(read("").unwrap(), Conditions::ideal());
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, said) in [
            ("delay=200", "\"200\": expected a time such as 200ms"),
            ("lan,fast", "\"fast\": expected key=value"),
            ("moon", "no path is named \"moon\""),
            ("delay=5ms,los=3%", "\"los=3%\": the keys are delay"),
            ("loss=120%", "between 0 and 1"),
            ("loss=nan", "between 0 and 1"),
            ("loss=many", "\"many\": expected a number such as"),
            ("jitter=exp", "\"\": expected a time"),
            ("jitter=gauss:1ms", "jitter is none, uniform"),
            ("delay=1.0000000001s", "expected a time"),
            ("delay=99999999999999s", "expected a time"),
            ("rate=0:5", "above zero"),
            ("reorder=1%", "expected probability:delay"),
            ("reorder=1%:2ms:3ms", "expected probability:delay"),
            ("steps=", "expected time:addition"),
        ] {
            let message = read(text).unwrap_err().to_string();
            assert!(message.contains(said), "{text:?} gave {message:?}");
        }
    }

    fn any_span() -> impl Strategy<Value = Duration> {
        prop_oneof![1i64..1000, 1..1_000_000i64, 1..3_600_000_000_000i64].prop_map(Duration::from_nanos)
    }

    fn any_jitter() -> impl Strategy<Value = Jitter> {
        prop_oneof![
            any_span().prop_map(|plus_minus| Jitter::Uniform { plus_minus }),
            any_span().prop_map(|std_dev| Jitter::Normal { std_dev }),
            any_span().prop_map(|mean| Jitter::Exponential { mean }),
            (any_span(), 1e-3..100.0).prop_map(|(scale, shape)| Jitter::Pareto { scale, shape }),
            (any_span(), any_span()).prop_map(|(std_dev, time_constant)| Jitter::Correlated { std_dev, time_constant }),
            (0.0..=1.0, any_span(), any_span()).prop_map(|(probability, height, length)| Jitter::Bursts {
                probability,
                height,
                length
            }),
        ]
    }

    fn any_loss() -> impl Strategy<Value = Loss> {
        prop_oneof![
            Just(Loss::None),
            (0.0..=1.0).prop_map(Loss::Independent),
            (any_span(), any_span(), 0.0..=1.0, 0.0..=1.0).prop_map(|(mean_good, mean_bad, loss_good, loss_bad)| {
                Loss::GilbertElliott { mean_good, mean_bad, loss_good, loss_bad }
            }),
        ]
    }

    fn any_changes() -> impl Strategy<Value = Changes> {
        let points = prop::collection::btree_map(any::<i32>(), any_span(), 1..4)
            .prop_map(|points| points.into_iter().map(|(at, by)| (GlobalTime::from_nanos(at.into()), -by)).collect());
        (0..3, points).prop_map(|(kind, points)| match kind {
            0 => Changes::None,
            1 => Changes::Steps(points),
            _ => Changes::Lines(points),
        })
    }

    /// Any valid conditions.
    pub(crate) fn any_conditions() -> impl Strategy<Value = Conditions> {
        let rate = prop::option::of((1..u64::MAX, any::<u64>()));
        let reorder = (0.0..=1.0, any_span());
        let jitter = prop::collection::vec(any_jitter(), 0..4);
        (any_span(), jitter, any_loss(), reorder, 0.0..=1.0, rate, any_changes()).prop_map(
            |(delay, jitter, loss, (probability, extra), duplicate, rate, changes)| Conditions {
                delay,
                jitter,
                loss,
                reorder: Reorder { probability, extra },
                duplicate,
                rate: rate.map(|(bytes_per_second, queue_bytes)| RateLimit { bytes_per_second, queue_bytes }),
                changes,
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(conditions in any_conditions()) {
            prop_assert_eq!(read(&conditions.to_string()), Ok(conditions));
        }

        #[test]
        fn hostile_text_is_refused_or_read_but_never_panics(text in "\\PC*") {
            let _ = read(&text);
        }

        #[test]
        fn near_misses_never_panic(text in "[a-z=:+;,.%0-9 -]{0,40}", at in 0usize..60, conditions in any_conditions()) {
            let mut near = conditions.to_string();
            near.insert_str(at.min(near.len()), &text);
            let _ = read(&near);
            let _ = read(&text);
        }
    }
}
