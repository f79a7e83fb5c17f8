//! What the papers say, and whether it is so.

use std::fmt;

/// Something that a paper says and an experiment can check. The band is set from the wording alone, before any run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claim {
    /// A name for it.
    pub id: &'static str,
    /// Where it stands, and its wording; the same claim often stands in several places.
    pub says: &'static [(&'static str, &'static str)],
    /// What is measured.
    pub measure: &'static str,
    /// Where that must fall.
    pub band: Band,
    /// Whether the wording asks for it in every run, and not only as a rule.
    pub always: bool,
}

/// Where a measure must fall for a claim to hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Band {
    /// Below this.
    Below(f64),
    /// This or less.
    AtMost(f64),
    /// Above this.
    Above(f64),
    /// This or more.
    AtLeast(f64),
    /// Above the first, up to the second.
    Between(f64, f64),
    /// No further from 1 than this.
    WithinOfOne(f64),
}

impl Band {
    /// Whether a value falls into it.
    pub fn contains(self, value: f64) -> bool {
        match self {
            Self::Below(limit) => value < limit,
            Self::AtMost(limit) => value <= limit,
            Self::Above(limit) => value > limit,
            Self::AtLeast(limit) => value >= limit,
            Self::Between(low, high) => value > low && value <= high,
            Self::WithinOfOne(off) => (value - 1.0).abs() <= off,
        }
    }
}

impl fmt::Display for Band {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Below(limit) => write!(f, "< {}", short(limit)),
            Self::AtMost(limit) => write!(f, "≤ {}", short(limit)),
            Self::Above(limit) => write!(f, "> {}", short(limit)),
            Self::AtLeast(limit) => write!(f, "≥ {}", short(limit)),
            Self::Between(low, high) => write!(f, "({}, {}]", short(low), short(high)),
            Self::WithinOfOne(off) => write!(f, "1 ± {}", short(off)),
        }
    }
}

/// A limit with as many digits as anybody wants to read.
fn short(limit: f64) -> f64 {
    let digits = 10f64.powi(3 - limit.abs().max(1e-9).log10().floor() as i32);
    (limit * digits).round() / digits
}

/// What was measured of a claim under one condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Under which condition: a jitter, a motion, a receiver.
    pub condition: String,
    /// One value per seed.
    pub values: Vec<f64>,
}

impl Observation {
    /// Values that were measured under this condition, one per seed.
    pub fn new(condition: impl Into<String>, values: Vec<f64>) -> Self {
        Self { condition: condition.into(), values }
    }

    /// The median over seeds; not a number if there are none.
    pub fn median(&self) -> f64 {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        match sorted.len() {
            0 => f64::NAN,
            n if n.is_multiple_of(2) => 0.5 * (sorted[middle - 1] + sorted[middle]),
            _ => sorted[middle],
        }
    }

    /// The share of seeds whose value falls into a band.
    pub fn share_within(&self, band: Band) -> f64 {
        let within = self.values.iter().filter(|value| band.contains(**value)).count();
        within as f64 / self.values.len().max(1) as f64
    }

    /// Whether a claim holds under this condition.
    pub fn supports(&self, claim: &Claim) -> bool {
        let every = !claim.always || self.share_within(claim.band) == 1.0;
        !self.values.is_empty() && every && claim.band.contains(self.median())
    }
}

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Under every condition.
    Holds,
    /// Under some conditions.
    HoldsWithConditions,
    /// Under none.
    DoesNotHold,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Holds => "holds",
            Self::HoldsWithConditions => "holds with conditions",
            Self::DoesNotHold => "does not hold",
        })
    }
}

/// A claim, and what was measured of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The claim.
    pub claim: Claim,
    /// What was measured, by condition.
    pub observations: Vec<Observation>,
    /// What there is to say about it, if anything.
    pub remark: String,
}

impl Finding {
    /// A claim and what was measured of it.
    pub fn new(claim: Claim, observations: Vec<Observation>) -> Self {
        Self { claim, observations, remark: String::new() }
    }

    /// With something to say about it.
    pub fn remarking(self, remark: impl Into<String>) -> Self {
        Self { remark: remark.into(), ..self }
    }

    /// Whether it holds: a condition supports it if the median over seeds falls into the band, or every seed does where the
    /// wording says always.
    pub fn verdict(&self) -> Verdict {
        let supporting = self.observations.iter().filter(|o| o.supports(&self.claim)).count();
        match supporting {
            0 => Verdict::DoesNotHold,
            all if all == self.observations.len() => Verdict::Holds,
            _ => Verdict::HoldsWithConditions,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAIM: Claim = Claim { id: "c", says: &[], measure: "m", band: Band::Below(1.0), always: false };

    fn verdict(claim: Claim, values: &[&[f64]]) -> Verdict {
        let observations = values.iter().map(|values| Observation::new("", values.to_vec())).collect();
        Finding::new(claim, observations).verdict()
    }

    #[test]
    fn medians_decide_and_always_means_every_seed() {
        assert_eq!(verdict(CLAIM, &[&[0.5, 0.6, 7.0]]), Verdict::Holds);
        assert_eq!(verdict(CLAIM, &[&[0.5, 0.6], &[1.5, 2.0]]), Verdict::HoldsWithConditions);
        assert_eq!(verdict(CLAIM, &[&[1.5], &[2.0]]), Verdict::DoesNotHold);
        assert_eq!(verdict(CLAIM, &[&[]]), Verdict::DoesNotHold);
        assert_eq!(verdict(Claim { always: true, ..CLAIM }, &[&[0.5, 0.6, 7.0]]), Verdict::DoesNotHold);
    }

    #[test]
    fn bands_contain_what_they_say() {
        assert!(Band::Between(1.0, 1.15).contains(1.15) && !Band::Between(1.0, 1.15).contains(1.0));
        assert!(Band::WithinOfOne(0.05).contains(0.96) && !Band::WithinOfOne(0.05).contains(1.06));
        assert!(!Band::AtMost(1.0).contains(f64::NAN) && !Band::AtLeast(1.0).contains(f64::NAN));
        assert_eq!(Band::AtMost(0.5).to_string(), "≤ 0.5");
        assert_eq!(Band::AtMost(1.0 / 60.0).to_string(), "≤ 0.01667");
        assert_eq!(Band::AtMost(3.5e-6).to_string(), "≤ 0.0000035");
    }
}
