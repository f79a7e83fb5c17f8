//! How much may be sent, and how much was.

use core::fmt;
use core::str::FromStr;

/// How many vectors, or bytes, a policy may send.
///
/// A budget in bytes counts every byte of every datagram that the sender sends: headers, acknowledgements and repetitions included.
/// First vectors, which no policy may refuse, are paid for afterwards, up to the budget of a second. A budget per
/// receiver holds for each receiver on its own: what one has no use for, no other gets.
///
/// ```
/// use evenkeel::policy::Budget;
/// assert_eq!("1/3".parse(), Ok(Budget::of_base(1, 3)));
/// assert_eq!("200/s".parse(), Ok(Budget::PerSecond(200.0)));
/// assert_eq!("20kB/s".parse(), Ok(Budget::BytesPerSecond(20_000.0)));
/// assert_eq!("4kB/s/receiver".parse(), Ok(Budget::BytesPerSecondEach(4_000.0)));
/// assert_eq!(Budget::of_base(1, 3).share_of_base(30.0), 1.0 / 3.0);
/// assert!("4/3".parse::<Budget>().is_err()); // more than everything
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Budget {
    /// Everything.
    #[default]
    Unlimited,
    /// This fraction of what the base case sends: with N receivers and share b, b N vectors per trigger on average.
    OfBase {
        /// Above 0, at most 1.
        share: f64,
    },
    /// So many vectors per second, over all entities and receivers.
    PerSecond(f64),
    /// So many bytes per second, over all receivers.
    BytesPerSecond(f64),
    /// So many vectors per second to each receiver, over all entities.
    PerSecondEach(f64),
    /// So many bytes per second to each receiver.
    BytesPerSecondEach(f64),
}

impl Budget {
    /// `numerator`/`denominator` of the base case. What is above 1 is taken as 1.
    pub fn of_base(numerator: u32, denominator: u32) -> Self {
        Self::OfBase { share: (f64::from(numerator) / f64::from(denominator.max(1))).min(1.0) }
    }

    /// The fraction of the base case that this allows, if the base case sends `base_rate` vectors per second; at most 1. Vectors
    /// of the base case say nothing about bytes, or about one receiver: for such budgets `base_rate` is in their own unit.
    ///
    /// ```
    /// # use evenkeel::policy::Budget;
    /// assert_eq!(Budget::PerSecond(10.0).share_of_base(30.0), 1.0 / 3.0);
    /// assert_eq!(Budget::BytesPerSecondEach(500.0).share_of_base(2_000.0), 0.25); // of the bytes to one receiver
    /// ```
    pub fn share_of_base(self, base_rate: f64) -> f64 {
        match (self, self.rate()) {
            (Self::OfBase { share }, _) => share,
            (_, Some(rate)) if base_rate > 0.0 => (rate / base_rate).min(1.0),
            _ => 1.0,
        }
    }

    /// Returns the vectors or bytes per second, over all receivers or for each; `None` if it is no rate.
    pub fn rate(self) -> Option<f64> {
        match self {
            Self::Unlimited | Self::OfBase { .. } => None,
            Self::PerSecond(rate)
            | Self::BytesPerSecond(rate)
            | Self::PerSecondEach(rate)
            | Self::BytesPerSecondEach(rate) => Some(rate),
        }
    }

    /// Whether it counts bytes instead of vectors.
    pub fn is_in_bytes(self) -> bool {
        matches!(self, Self::BytesPerSecond(_) | Self::BytesPerSecondEach(_))
    }

    /// Whether it holds for each receiver on its own.
    pub fn is_per_receiver(self) -> bool {
        matches!(self, Self::PerSecondEach(_) | Self::BytesPerSecondEach(_))
    }

    /// Returns a budget of the same kind with another number.
    ///
    /// ```
    /// # use evenkeel::policy::Budget;
    /// assert_eq!(Budget::BytesPerSecond(20.0).map(|rate| 2.0 * rate), Budget::BytesPerSecond(40.0));
    /// ```
    #[must_use]
    pub fn map(self, number: impl FnOnce(f64) -> f64) -> Self {
        match self {
            Self::Unlimited => Self::Unlimited,
            Self::OfBase { share } => Self::OfBase { share: number(share) },
            Self::PerSecond(rate) => Self::PerSecond(number(rate)),
            Self::BytesPerSecond(rate) => Self::BytesPerSecond(number(rate)),
            Self::PerSecondEach(rate) => Self::PerSecondEach(number(rate)),
            Self::BytesPerSecondEach(rate) => Self::BytesPerSecondEach(number(rate)),
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unlimited => write!(f, "unlimited"),
            Self::OfBase { share } => write!(f, "{share} of base"),
            Self::PerSecond(rate) => write!(f, "{rate}/s"),
            Self::BytesPerSecond(rate) => write!(f, "{rate}B/s"),
            Self::PerSecondEach(rate) => write!(f, "{rate}/s/receiver"),
            Self::BytesPerSecondEach(rate) => write!(f, "{rate}B/s/receiver"),
        }
    }
}

/// The text is no budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetError;

impl fmt::Display for BudgetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a budget is a fraction of the base case above 0 and at most 1 (`1/3`, `0.4`), a rate in vectors (`200/s`) or bytes \
             (`20000B/s`, `20kB/s`), or a rate for each receiver (`200/s/receiver`, `20kB/s/receiver`)"
        )
    }
}

impl core::error::Error for BudgetError {}

impl FromStr for Budget {
    type Err = BudgetError;

    fn from_str(text: &str) -> Result<Self, BudgetError> {
        let number = |s: &str| s.trim().parse::<f64>().map_err(|_| BudgetError);
        let bytes = |s: &str| {
            let s = s.trim_end();
            let kilo = s.strip_suffix("kB").map(|kilo| Ok(number(kilo)? * 1e3));
            kilo.or_else(|| s.strip_suffix('B').map(number)).transpose()
        };
        let budget = match text.split_once('/') {
            Some((rate, "s")) => match bytes(rate)? {
                Some(rate) => Self::BytesPerSecond(rate),
                None => Self::PerSecond(number(rate)?),
            },
            Some((rate, "s/receiver")) => match bytes(rate)? {
                Some(rate) => Self::BytesPerSecondEach(rate),
                None => Self::PerSecondEach(number(rate)?),
            },
            Some((a, b)) => Self::OfBase { share: number(a)? / number(b)? },
            None => Self::OfBase { share: number(text)? },
        };
        match (budget, budget.rate()) {
            (Self::OfBase { share }, _) if share > 0.0 && share <= 1.0 => Ok(budget),
            (_, Some(rate)) if rate > 0.0 && rate.is_finite() => Ok(budget),
            _ => Err(BudgetError),
        }
    }
}

/// What a sender has spent so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Spent {
    /// DR vectors generated.
    pub triggers: u64,
    /// What the base case would have sent: one vector per trigger and receiver in scope, and one for every entity that a
    /// receiver came to know by joining or by scope. Under a policy that stretches the thresholds and
    /// [asks for it](super::Policy::wants_base_triggers), triggers as they would have been at thresholds that are not.
    pub due: u64,
    /// Vectors sent, counted per receiver.
    pub vectors: u64,
    /// Of these, vectors sent again because they were lost.
    pub resent: u64,
    /// Datagrams sent.
    pub datagrams: u64,
    /// Bytes in them.
    pub bytes: u64,
}

impl Spent {
    /// What has been spent since an earlier count.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            triggers: self.triggers.saturating_sub(earlier.triggers),
            due: self.due.saturating_sub(earlier.due),
            vectors: self.vectors.saturating_sub(earlier.vectors),
            resent: self.resent.saturating_sub(earlier.resent),
            datagrams: self.datagrams.saturating_sub(earlier.datagrams),
            bytes: self.bytes.saturating_sub(earlier.bytes),
        }
    }

    /// The fraction of the base case that was sent, repetitions of lost vectors aside; 0 before the first trigger.
    pub fn share_of_base(&self) -> f64 {
        if self.due == 0 { 0.0 } else { (self.vectors - self.resent) as f64 / self.due as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn rates_are_read_and_shown() {
        for (text, budget) in [
            ("200/s", Budget::PerSecond(200.0)),
            ("20000B/s", Budget::BytesPerSecond(20_000.0)),
            ("20kB/s", Budget::BytesPerSecond(20_000.0)),
            ("1.5 kB/s", Budget::BytesPerSecond(1_500.0)),
            ("200/s/receiver", Budget::PerSecondEach(200.0)),
            ("20kB/s/receiver", Budget::BytesPerSecondEach(20_000.0)),
            ("0.1B/s/receiver", Budget::BytesPerSecondEach(0.1)),
        ] {
            assert_eq!(text.parse(), Ok(budget), "{text}");
            assert_eq!(budget.to_string().parse(), Ok(budget), "{budget}");
        }
    }

    #[test]
    fn other_texts_are_no_budgets() {
        for text in [
            "",
            "B/s",
            "kB/s",
            "0B/s",
            "-1kB/s",
            "infB/s",
            "NaNkB/s",
            "1e308kB/s",
            "20kB",
            "20MB/s",
            "20KB/s",
            "20b/s",
            "20kB/s/",
            "20/s/receivers",
            "20/receiver",
            "20kB/3",
            "20/s/s",
            "0/s/receiver",
            "1//s",
        ] {
            assert_eq!(text.parse::<Budget>(), Err(BudgetError), "{text}");
        }
        assert!(BudgetError.to_string().contains("`20kB/s/receiver`"));
    }

    #[test]
    fn a_share_is_of_what_the_base_case_sends_in_the_same_unit() {
        for budget in ["10/s", "10B/s", "10/s/receiver", "10B/s/receiver"].map(|text| text.parse::<Budget>().unwrap()) {
            let shares = [40.0, 10.0, 5.0, 0.0, -1.0].map(|base| budget.share_of_base(base));
            assert_eq!(shares, [0.25, 1.0, 1.0, 1.0, 1.0], "{budget}");
        }
        assert_eq!((Budget::Unlimited.share_of_base(9.0), Budget::of_base(1, 4).share_of_base(0.0)), (1.0, 0.25));
    }
}
