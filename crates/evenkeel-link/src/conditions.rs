//! What a path through the network does to packets: [`Conditions`], as plain data.

use evenkeel::{Duration, GlobalTime};
use std::fmt;

/// No packet stays on its way longer than this: heavy tails are cut here, and no setting may ask for more.
pub const MAX_DELAY: Duration = Duration::from_secs(3600);

/// What one direction of a connection does to packets.
///
/// Nothing here depends on the traffic but the [`RateLimit`]. See [`Path`](crate::Path) for how a packet's fate follows
/// from these, and [`the text module`](crate::text) for how to write them on a command line.
///
/// ```
/// use evenkeel::Duration;
/// use evenkeel_link::{Conditions, Jitter, Loss};
/// let path = Conditions::delay(Duration::from_millis(200))
///     .with_jitter(Jitter::Exponential { mean: Duration::from_millis(20) })
///     .with_loss(Loss::Independent(0.02));
/// assert!(path.validate().is_ok());
/// assert_eq!(path.to_string(), "delay=200ms,jitter=exp:20ms,loss=2%");
/// assert_eq!("delay=200ms,jitter=exp:20ms,loss=2%".parse(), Ok(path));
/// ```
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Conditions {
    /// The one-way delay before anything is added to it.
    pub delay: Duration,
    /// What is added to the delay of each packet: the sum of these.
    pub jitter: Vec<Jitter>,
    /// Which packets never arrive.
    pub loss: Loss,
    /// Which packets are held back beyond the jitter.
    pub reorder: Reorder,
    /// The probability that a packet arrives twice.
    pub duplicate: f64,
    /// How much fits through, if that is limited.
    pub rate: Option<RateLimit>,
    /// How the delay changes in the course of time.
    pub changes: Changes,
}

/// One part of what is added to the delay of a packet.
///
/// Those that can be negative ([`Uniform`](Self::Uniform), [`Normal`](Self::Normal), [`Correlated`](Self::Correlated))
/// leave the mean delay alone; the others add to it and leave the floor alone. The sum is never below zero.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Jitter {
    /// Nothing is added.
    #[default]
    None,
    /// Evenly spread about zero, by packet.
    Uniform {
        /// How far either way.
        plus_minus: Duration,
    },
    /// Normally distributed about zero, by packet.
    Normal {
        /// The standard deviation.
        std_dev: Duration,
    },
    /// Exponentially distributed above zero, by packet: what queues do.
    Exponential {
        /// The mean, and the standard deviation.
        mean: Duration,
    },
    /// Pareto distributed above zero (the Lomax form: `scale * (u^(-1/shape) - 1)`), by packet: a heavy tail.
    Pareto {
        /// For shape 2 this is the mean; in general the mean is `scale / (shape - 1)`.
        scale: Duration,
        /// Above zero. At 1 and below there is no mean, at 2 and below no variance; 3 is a fair start.
        shape: f64,
    },
    /// Normally distributed about zero and moving smoothly: congestion that comes and goes. The correlation between two
    /// moments falls to 1/pi after one time constant and to zero after two.
    Correlated {
        /// The standard deviation.
        std_dev: Duration,
        /// How long the delay stays much the same.
        time_constant: Duration,
    },
    /// Stretches of time in which every packet is later: a radio link that scans or fades.
    Bursts {
        /// The fraction of time that is in a burst.
        probability: f64,
        /// What a burst adds.
        height: Duration,
        /// How long one lasts (neighbouring ones merge). Zero: every packet decides for itself.
        length: Duration,
    },
}

/// Which packets never arrive.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Loss {
    /// All arrive.
    #[default]
    None,
    /// Each packet is lost with this probability, whatever happens to the others.
    Independent(f64),
    /// Loss that comes in stretches (Gilbert 1960, Elliott 1963): the path changes between a good and a bad state at
    /// random moments, and each state has its own loss. The durations are exponentially distributed.
    GilbertElliott {
        /// The mean time in the good state.
        mean_good: Duration,
        /// The mean time in the bad state.
        mean_bad: Duration,
        /// The loss probability in the good state.
        loss_good: f64,
        /// The loss probability in the bad state.
        loss_bad: f64,
    },
}

impl Loss {
    /// The fraction of packets lost in the long run.
    pub fn rate(&self) -> f64 {
        match *self {
            Self::None => 0.0,
            Self::Independent(probability) => probability,
            Self::GilbertElliott { mean_good, mean_bad, loss_good, loss_bad } => {
                let (good, bad) = (mean_good.as_secs_f64(), mean_bad.as_secs_f64());
                (loss_good * good + loss_bad * bad) / (good + bad)
            }
        }
    }
}

/// Which packets are held back, so that later ones overtake them.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Reorder {
    /// The probability that a packet is held back.
    pub probability: f64,
    /// For how long.
    pub extra: Duration,
}

/// How much fits through a path. What does not fit waits in a queue; what does not fit there is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Above zero.
    pub bytes_per_second: u64,
    /// How many bytes may wait.
    pub queue_bytes: u64,
}

/// How the delay changes in the course of time: additions to it from given moments on.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Changes {
    /// It does not.
    #[default]
    None,
    /// From each moment on the delay is this much longer (or shorter) than the base delay; before the first it is the
    /// base delay. A route change.
    Steps(Vec<(GlobalTime, Duration)>),
    /// The addition goes in straight lines from point to point, and stays what it is before the first and after the
    /// last. A host on the move.
    Lines(Vec<(GlobalTime, Duration)>),
}

impl Changes {
    /// The moments and additions, in order of time.
    pub fn points(&self) -> &[(GlobalTime, Duration)] {
        match self {
            Self::None => &[],
            Self::Steps(points) | Self::Lines(points) => points,
        }
    }

    /// What is added to the delay of a packet sent at this moment.
    pub fn at(&self, sent: GlobalTime) -> Duration {
        let points = self.points();
        let after = points.partition_point(|(at, _)| *at <= sent);
        let before = after.checked_sub(1).map(|i| points[i]);
        match (self, before, points.get(after)) {
            (Self::Lines(_), Some((start, from)), Some(&(end, to))) => {
                let fraction = sent.since(start).as_secs_f64() / end.since(start).as_secs_f64();
                from + (to - from).mul_f64(fraction)
            }
            (Self::Lines(_), None, Some((_, first))) => *first,
            (_, Some((_, current)), _) => current,
            (_, None, _) => Duration::ZERO,
        }
    }
}

impl Conditions {
    /// The names that [`named`](Self::named) knows.
    pub const NAMES: [&str; 8] = ["ideal", "lan", "near", "mid", "far", "sat", "uniform", "wifi"];

    /// No delay, and every packet arrives.
    pub fn ideal() -> Self {
        Self::default()
    }

    /// A constant delay, and every packet arrives.
    pub fn delay(delay: Duration) -> Self {
        Self { delay, ..Self::default() }
    }

    /// A typical path by its name: what clocks and policies are measured on.
    ///
    /// | name | one-way floor | jitter above it |
    /// |---|---|---|
    /// | `ideal` | 0 | none |
    /// | `lan` | 5 ms | exponential, 0.5 ms |
    /// | `near` | 20 ms | exponential, 2 ms |
    /// | `mid` | 50 ms | exponential, 5 ms |
    /// | `far` | 100 ms | exponential, 20 ms |
    /// | `sat` | 400 ms | exponential, 10 ms |
    /// | `uniform` | 100 ms | uniform, 0 to 40 ms |
    /// | `wifi` | 20 ms | exponential, 3 ms, and 50 ms more for 1 % of the time, 50 ms at a stretch |
    pub fn named(name: &str) -> Result<Self, ConditionsError> {
        let millis = Duration::from_millis;
        let exponential = |floor, micros| {
            Self::delay(millis(floor)).with_jitter(Jitter::Exponential { mean: Duration::from_micros(micros) })
        };
        Ok(match name {
            "ideal" => Self::ideal(),
            "lan" => exponential(5, 500),
            "near" => exponential(20, 2_000),
            "mid" => exponential(50, 5_000),
            "far" => exponential(100, 20_000),
            "sat" => exponential(400, 10_000),
            "uniform" => Self::delay(millis(120)).with_jitter(Jitter::Uniform { plus_minus: millis(20) }),
            "wifi" => exponential(20, 3_000).with_jitter(Jitter::Bursts {
                probability: 0.01,
                height: millis(50),
                length: millis(50),
            }),
            _ => return Err(ConditionsError::UnknownName(name.chars().take(40).collect())),
        })
    }

    /// With this added to the jitter there is already.
    pub fn with_jitter(mut self, jitter: Jitter) -> Self {
        if jitter != Jitter::None {
            self.jitter.push(jitter);
        }
        self
    }

    /// With this loss instead.
    pub fn with_loss(self, loss: Loss) -> Self {
        Self { loss, ..self }
    }

    /// With packets held back now and then.
    pub fn with_reorder(self, probability: f64, extra: Duration) -> Self {
        Self { reorder: Reorder { probability, extra }, ..self }
    }

    /// With packets arriving twice now and then.
    pub fn with_duplicate(self, probability: f64) -> Self {
        Self { duplicate: probability, ..self }
    }

    /// With so much fitting through and so much waiting at most.
    pub fn with_rate(self, bytes_per_second: u64, queue_bytes: u64) -> Self {
        Self { rate: Some(RateLimit { bytes_per_second, queue_bytes }), ..self }
    }

    /// With a delay that changes in the course of time.
    pub fn with_changes(self, changes: Changes) -> Self {
        Self { changes, ..self }
    }

    /// Whether all of it makes sense; if not, what does not.
    pub fn validate(&self) -> Result<(), ConditionsError> {
        check_span("delay", self.delay)?;
        self.jitter.iter().try_for_each(Jitter::validate)?;
        self.loss.validate()?;
        check_probability("reorder probability", self.reorder.probability)?;
        check_span("reorder delay", self.reorder.extra)?;
        check_probability("duplicate probability", self.duplicate)?;
        if self.rate.is_some_and(|rate| rate.bytes_per_second == 0) {
            return Err(ConditionsError::NotPositive { what: "rate", value: "0".into() });
        }
        self.changes.validate()
    }
}

impl Jitter {
    fn validate(&self) -> Result<(), ConditionsError> {
        match *self {
            Self::None => Ok(()),
            Self::Uniform { plus_minus } => check_span("uniform jitter", plus_minus),
            Self::Normal { std_dev } => check_span("normal jitter", std_dev),
            Self::Exponential { mean } => check_span("exponential jitter", mean),
            Self::Pareto { scale, shape } => {
                check_span("Pareto scale", scale)?;
                if shape.is_finite() && shape > 0.0 {
                    return Ok(());
                }
                Err(ConditionsError::NotPositive { what: "Pareto shape", value: shape.to_string() })
            }
            Self::Correlated { std_dev, time_constant } => {
                check_span("correlated jitter", std_dev)?;
                check_positive("time constant of correlated jitter", time_constant)
            }
            Self::Bursts { probability, height, length } => {
                check_probability("burst probability", probability)?;
                check_span("burst height", height)?;
                check_span("burst length", length)
            }
        }
    }
}

impl Loss {
    fn validate(&self) -> Result<(), ConditionsError> {
        match *self {
            Self::None => Ok(()),
            Self::Independent(probability) => check_probability("loss", probability),
            Self::GilbertElliott { mean_good, mean_bad, loss_good, loss_bad } => {
                check_positive("mean time in the good state", mean_good)?;
                check_positive("mean time in the bad state", mean_bad)?;
                check_probability("loss in the good state", loss_good)?;
                check_probability("loss in the bad state", loss_bad)
            }
        }
    }
}

impl Changes {
    fn validate(&self) -> Result<(), ConditionsError> {
        for (_, addition) in self.points() {
            check_span("change of delay", addition.abs())?;
        }
        match self.points().windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            Some(pair) => Err(ConditionsError::Unordered { at: pair[1].0 }),
            None => Ok(()),
        }
    }
}

fn check_span(what: &'static str, span: Duration) -> Result<(), ConditionsError> {
    if span.is_negative() {
        return Err(ConditionsError::Negative { what, value: span });
    }
    if span > MAX_DELAY {
        return Err(ConditionsError::TooLong { what, value: span });
    }
    Ok(())
}

fn check_positive(what: &'static str, span: Duration) -> Result<(), ConditionsError> {
    check_span(what, span)?;
    if span == Duration::ZERO {
        return Err(ConditionsError::NotPositive { what, value: span.to_string() });
    }
    Ok(())
}

fn check_probability(what: &'static str, value: f64) -> Result<(), ConditionsError> {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(ConditionsError::NotAProbability { what, value }) }
}

/// Why [`Conditions`] make no sense.
#[derive(Clone, Debug, PartialEq)]
pub enum ConditionsError {
    /// A probability outside 0 to 1, or not a number.
    NotAProbability {
        /// Which.
        what: &'static str,
        /// What it is.
        value: f64,
    },
    /// A span of time below zero.
    Negative {
        /// Which.
        what: &'static str,
        /// What it is.
        value: Duration,
    },
    /// Something that must be above zero and is not.
    NotPositive {
        /// Which.
        what: &'static str,
        /// What it is.
        value: String,
    },
    /// A span of time above [`MAX_DELAY`].
    TooLong {
        /// Which.
        what: &'static str,
        /// What it is.
        value: Duration,
    },
    /// The moments of [`Changes`] do not follow one another.
    Unordered {
        /// The first moment that is not after the one before it.
        at: GlobalTime,
    },
    /// No path of this name.
    UnknownName(String),
    /// A text that does not describe conditions.
    Text {
        /// The part that is wrong.
        part: String,
        /// What is wrong with it.
        problem: &'static str,
    },
}

impl fmt::Display for ConditionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAProbability { what, value } => {
                write!(f, "{what} must be a probability between 0 and 1 (0% and 100%), not {value}")
            }
            Self::Negative { what, value } => write!(f, "{what} must not be negative, but is {value}"),
            Self::NotPositive { what, value } => write!(f, "{what} must be a number above zero, not {value}"),
            Self::TooLong { what, value } => {
                write!(f, "{what} must be at most {} s, but is {value}", MAX_DELAY.as_secs_f64())
            }
            Self::Unordered { at } => {
                write!(
                    f,
                    "the moments of a changing delay must follow one another, but {at} does not come after the one before it"
                )
            }
            Self::UnknownName(name) => {
                write!(f, "no path is named \"{name}\"; there are {}", Conditions::NAMES.join(", "))
            }
            Self::Text { part, problem } => write!(f, "cannot read \"{part}\": {problem}"),
        }
    }
}

impl std::error::Error for ConditionsError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(s: f64) -> GlobalTime {
        GlobalTime::from_secs_f64(s)
    }

    #[test]
    fn every_named_path_is_valid() {
        for name in Conditions::NAMES {
            Conditions::named(name).unwrap().validate().unwrap();
        }
        let message = Conditions::named("moon").unwrap_err().to_string();
        assert!(message.contains("moon") && message.contains("wifi"), "{message}");
    }

    #[test]
    fn nonsense_is_refused_with_its_name() {
        let ms = Duration::from_millis;
        let wrong = [
            (Conditions::delay(ms(-1)), "delay must not be negative"),
            (Conditions::ideal().with_loss(Loss::Independent(f64::NAN)), "loss must be a probability"),
            (Conditions::ideal().with_duplicate(1.5), "not 1.5"),
            (Conditions::ideal().with_reorder(-0.1, ms(1)), "reorder probability"),
            (Conditions::ideal().with_rate(0, 10), "rate must be a number above zero"),
            (Conditions::ideal().with_jitter(Jitter::Pareto { scale: ms(1), shape: f64::NAN }), "Pareto shape"),
            (
                Conditions::ideal().with_jitter(Jitter::Correlated { std_dev: ms(1), time_constant: ms(0) }),
                "above zero",
            ),
            (Conditions::delay(Duration::MAX), "at most 3600 s"),
            (
                Conditions::ideal().with_changes(Changes::Steps(vec![(seconds(2.0), ms(1)), (seconds(2.0), ms(2))])),
                "must follow one another",
            ),
        ];
        for (conditions, part) in wrong {
            let message = conditions.validate().unwrap_err().to_string();
            assert!(message.contains(part), "{message:?} should contain {part:?}");
        }
    }

    #[test]
    fn changes_step_or_glide() {
        let points = vec![(seconds(1.0), Duration::from_millis(10)), (seconds(3.0), Duration::from_millis(-20))];
        let at = |changes: &Changes, s| changes.at(seconds(s)).as_millis();
        let steps = Changes::Steps(points.clone());
        assert_eq!([at(&steps, 0.9), at(&steps, 1.0), at(&steps, 2.9), at(&steps, 3.0)], [0, 10, 10, -20]);
        let lines = Changes::Lines(points);
        assert_eq!([at(&lines, 0.0), at(&lines, 1.0), at(&lines, 2.0), at(&lines, 9.0)], [10, 10, -5, -20]);
    }
}
