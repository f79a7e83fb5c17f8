//! How much may be sent, and how much was.

use core::fmt;
use core::str::FromStr;

/// How many vectors a policy may send.
///
/// ```
/// use evenkeel::policy::Budget;
/// assert_eq!("1/3".parse(), Ok(Budget::of_base(1, 3)));
/// assert_eq!("200/s".parse(), Ok(Budget::PerSecond(200.0)));
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
}

impl Budget {
    /// `numerator`/`denominator` of the base case. What is above 1 is taken as 1.
    pub fn of_base(numerator: u32, denominator: u32) -> Self {
        Self::OfBase { share: (f64::from(numerator) / f64::from(denominator.max(1))).min(1.0) }
    }

    /// The fraction of the base case that this allows, if the base case sends `base_rate` vectors per second; at most 1.
    pub fn share_of_base(self, base_rate: f64) -> f64 {
        match self {
            Self::Unlimited => 1.0,
            Self::OfBase { share } => share,
            Self::PerSecond(_) if base_rate <= 0.0 => 1.0,
            Self::PerSecond(rate) => (rate / base_rate).min(1.0),
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unlimited => write!(f, "unlimited"),
            Self::OfBase { share } => write!(f, "{share} of base"),
            Self::PerSecond(rate) => write!(f, "{rate}/s"),
        }
    }
}

/// The text is no budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetError;

impl fmt::Display for BudgetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a budget is a fraction of the base case above 0 and at most 1 (`1/3`, `0.4`) or a rate (`200/s`)")
    }
}

impl core::error::Error for BudgetError {}

impl FromStr for Budget {
    type Err = BudgetError;

    fn from_str(text: &str) -> Result<Self, BudgetError> {
        let number = |s: &str| s.trim().parse::<f64>().map_err(|_| BudgetError);
        let budget = match text.split_once('/') {
            Some((rate, "s")) => Self::PerSecond(number(rate)?),
            Some((a, b)) => Self::OfBase { share: number(a)? / number(b)? },
            None => Self::OfBase { share: number(text)? },
        };
        match budget {
            Self::OfBase { share } if share > 0.0 && share <= 1.0 => Ok(budget),
            Self::PerSecond(rate) if rate > 0.0 && rate.is_finite() => Ok(budget),
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
