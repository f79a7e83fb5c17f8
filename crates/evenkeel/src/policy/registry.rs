//! Policies by name.

use super::{
    Accumulator, Base, BestFirst, Budget, Credits, Even, EveryKth, Lottery, Policy, Readings, Schedule, SchedulePaper,
    Scope, StillHeld, TangZhou, Tolerant, Weights,
};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// Every name that [`by_name`] knows, and what it stands for.
pub const NAMES: &[(&str, &str)] = &[
    ("base", "every vector to everybody"),
    ("base/k", "every k-th vector to everybody, for a whole number k"),
    ("schedule-paper", "held until each vector costs everybody the same (paper, section 4)"),
    ("schedule-drop", "held until errors are equal at sending, else dropped (thesis, algorithm 1)"),
    ("schedule-drop-projected", "held until errors are equal at arrival, else dropped"),
    ("schedule-send", "held until errors are equal, else sent at the next trigger (thesis, algorithm 2)"),
    ("schedule-send-newest", "held until errors are equal, else the next vector at once"),
    ("lottery", "lottery-pa"),
    ("lottery-pa", "by chance, weighted by accumulated error (thesis, section 3.4.1)"),
    ("lottery-pi", "by chance, weighted by instantaneous error"),
    ("lottery-pt", "by chance, weighted by the time since the last vector"),
    ("lottery-case1", "lottery-pa"),
    ("lottery-case2", "lottery-pi"),
    ("lottery-case3", "lottery-pt"),
    ("lottery-case4", "by chance, weighted by all three alike"),
    ("lottery-case5", "by chance, weighted by accumulated and instantaneous error"),
    ("lottery-one", "one draw per trigger, weighted by accumulated error (paper, section 5.1)"),
    ("lottery-total", "lottery-pa, by the error over all entities of the sender"),
    ("lottery-fixed", "by chance, everybody alike"),
    ("credits", "credits-pa"),
    ("credits-pa", "in turns, set by accumulated error (paper, section 5.2; thesis, section 3.4.2)"),
    ("credits-pi", "in turns, set by instantaneous error"),
    ("credits-pt", "in turns, set by the time since the last vector"),
    ("credits-mix", "in turns, set by all three alike"),
    ("credits-case5", "in turns, set by accumulated and instantaneous error"),
    ("credits-total", "credits-pa, by the error over all entities of the sender"),
    ("credits-fixed", "in turns, everybody alike"),
    ("tolerance", "fewer triggers, each to everybody"),
    ("accumulator", "as game engines do: importance times time since sent, best first into every packet"),
    ("accumulator-distance", "the same by importance times distance"),
    ("tang-zhou", "best first by distance at arrival times time since the last update (Tang & Zhou 2010)"),
    ("even", "our own: to those who gain most, the worse off first, at one price; even:2"),
    ("even:1", "the same, with the smallest mean: nobody's error counts for more than another's"),
    (
        "even:3",
        "the same, fairer: at most 3 m of error are taken from others to spare a worse-off player one; any number does",
    ),
    ("even:10", "the same, almost whatever it costs"),
];

/// The policy with this name, see [`NAMES`]; or any mix of the three weights, as in `credits-2:1:0` (PA:PI:PT). The budget is that of
/// `lottery`, `credits`, `tolerance`, `accumulator`, `tang-zhou` and `even`, the seed that of `lottery`; the others have no use for them.
/// A policy that cannot keep a budget in bytes, or for each receiver on its own, is refused.
///
/// ```
/// use evenkeel::policy::{Budget, by_name};
/// let third = Budget::of_base(1, 3);
/// assert_eq!(by_name("base/3", third, 0).unwrap().name(), "base/3");
/// assert_eq!(by_name("credits", third, 0).unwrap().name(), "credits-pa");
/// assert_eq!(by_name("lottery-1:0:0", third, 0).unwrap().name(), "lottery-pa");
/// let error = by_name("bass", third, 0).err().unwrap();
/// assert_eq!(error.nearest, "base");
/// let error = by_name("credits", Budget::PerSecondEach(20.0), 0).err().unwrap();
/// assert!(error.to_string().starts_with("`credits` cannot keep a budget per receiver"));
/// ```
pub fn by_name(name: &str, budget: Budget, seed: u64) -> Result<Box<dyn Policy>, UnknownPolicy> {
    let policy = make(name, budget, seed)?;
    match unkept(name, budget) {
        None => Ok(policy),
        unkept => Err(UnknownPolicy { name: name.to_string(), nearest: "even", unkept }),
    }
}

/// The kind of budget if the policy cannot keep it. `base` and `base/k` send what their name says under any budget.
fn unkept(name: &str, budget: Budget) -> Option<&'static str> {
    let is_one_of = |families: &[&str]| families.iter().any(|family| name.starts_with(family));
    if budget.is_per_receiver() && is_one_of(&["schedule", "lottery", "credits", "tolerance"]) {
        Some("a budget per receiver")
    } else if budget.is_in_bytes() && is_one_of(&["schedule"]) {
        Some("a budget in bytes")
    } else {
        None
    }
}

/// The policy with this name, whether or not it can keep the budget.
fn make(name: &str, budget: Budget, seed: u64) -> Result<Box<dyn Policy>, UnknownPolicy> {
    let drop = Schedule::default();
    let total = Weights::ACCUMULATED.read_as(Readings { scope: Scope::Total, ..Readings::default() });
    let lottery = |weights| Box::new(Lottery::new(weights, budget, seed)) as Box<dyn Policy>;
    let credits = |weights| Box::new(Credits::new(weights, budget)) as Box<dyn Policy>;
    Ok(match name {
        "base" => Box::new(Base),
        "schedule-paper" => Box::new(SchedulePaper::default()),
        "schedule-drop" => Box::new(drop),
        "schedule-drop-projected" => Box::new(Schedule::projected()),
        "schedule-send" => Box::new(drop.with_still_held(StillHeld::Sent)),
        "schedule-send-newest" => Box::new(drop.with_still_held(StillHeld::Replaced)),
        "lottery" | "lottery-pa" | "lottery-case1" => lottery(Weights::ACCUMULATED),
        "lottery-pi" | "lottery-case2" => lottery(Weights::INSTANTANEOUS),
        "lottery-pt" | "lottery-case3" => lottery(Weights::LAST_SENT),
        "lottery-case4" => lottery(Weights::THIRDS),
        "lottery-case5" => lottery(Weights::HALVES),
        "lottery-one" => Box::new(Lottery::one(budget, seed)),
        "lottery-total" => lottery(total),
        "lottery-fixed" => lottery(Weights::EVEN),
        "credits" | "credits-pa" => credits(Weights::ACCUMULATED),
        "credits-pi" => credits(Weights::INSTANTANEOUS),
        "credits-pt" => credits(Weights::LAST_SENT),
        "credits-mix" => credits(Weights::THIRDS),
        "credits-case5" => credits(Weights::HALVES),
        "credits-total" => credits(total),
        "credits-fixed" => credits(Weights::EVEN),
        "tolerance" => Box::new(Tolerant::new(budget)),
        "accumulator" => Box::new(BestFirst::new(Accumulator::by_time(), budget)),
        "accumulator-distance" => Box::new(BestFirst::new(Accumulator::by_distance(), budget)),
        "tang-zhou" => Box::new(BestFirst::new(TangZhou, budget)),
        "even" => Box::new(Even::new(budget)),
        _ => match mix(name) {
            Some(("lottery", weights)) => lottery(weights),
            Some((_, weights)) => credits(weights),
            None if name.starts_with("even:") => {
                let rate = name[5..].parse().ok().filter(|rate| (1.0..=1e3).contains(rate));
                Box::new(Even::with_exchange_rate(budget, rate.ok_or_else(|| UnknownPolicy::new(name))?))
            }
            None => {
                let k = name.strip_prefix("base/").and_then(|k| k.parse().ok()).and_then(core::num::NonZeroU32::new);
                Box::new(EveryKth::new(k.ok_or_else(|| UnknownPolicy::new(name))?))
            }
        },
    })
}

/// A mix by name: `credits-2:1:0` for two parts of PA, one of PI and none of PT.
fn mix(name: &str) -> Option<(&str, Weights)> {
    let (family, parts) = name.split_once('-').filter(|(family, _)| ["lottery", "credits"].contains(family))?;
    let mut parts = parts.split(':').map(|part| part.parse::<f64>().ok().filter(|x| *x >= 0.0 && x.is_finite()));
    let (accumulated, instantaneous, last_sent) = (parts.next()??, parts.next()??, parts.next()??);
    parts.next().is_none().then(|| (family, Weights::mix(accumulated, instantaneous, last_sent)))
}

/// No policy has this name, or the one that has it cannot keep the budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPolicy {
    /// What was asked for.
    pub name: String,
    /// What was perhaps meant.
    pub nearest: &'static str,
    /// The kind of budget that the policy cannot keep, if there is such a policy.
    pub unkept: Option<&'static str>,
}

impl UnknownPolicy {
    fn new(name: &str) -> Self {
        // A long text is nearest to nothing in particular: its beginning will do.
        let start: String = name.chars().take(40).collect();
        let nearest = NAMES.iter().map(|(known, _)| *known).min_by_key(|known| edits(&start, known));
        Self { name: name.to_string(), nearest: nearest.unwrap_or("base"), unkept: None }
    }
}

impl fmt::Display for UnknownPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(unkept) = self.unkept {
            let keepers = "`even`, `accumulator`, `accumulator-distance` and `tang-zhou` can";
            return write!(f, "`{}` cannot keep {unkept}: {keepers}", self.name);
        }
        write!(f, "unknown policy `{}`: did you mean `{}`? There are ", self.name, self.nearest)?;
        for (i, (name, _)) in NAMES.iter().enumerate() {
            write!(f, "{}`{name}`", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownPolicy {}

/// How many letters to insert, remove or replace to get from one word to the other (Levenshtein).
fn edits(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in b.chars().enumerate() {
            let replaced = diagonal + usize::from(letter != other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[row.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn any_exchange_rate_makes_a_policy() {
        let name = |name: &str| by_name(name, Budget::of_base(1, 3), 1).unwrap().name();
        assert_eq!([name("even:3.5"), name("even:2")], ["even:3.5", "even"]);
    }

    #[test]
    fn every_name_makes_a_policy_whose_name_makes_it_again() {
        for (name, _) in NAMES {
            let name = name.replace("/k", "/4");
            let shown = by_name(&name, Budget::of_base(1, 3), 1).unwrap().name();
            assert_eq!(by_name(&shown, Budget::of_base(1, 3), 1).unwrap().name(), shown);
        }
    }

    #[test]
    fn a_budget_that_a_policy_cannot_keep_is_refused() {
        let refused = |budget| {
            let names = NAMES.iter().map(|(name, _)| name.replace("/k", "/4"));
            let unkept = |name: &String| by_name(name, budget, 0).err().map(|e| e.unkept.unwrap());
            names.filter_map(|name| unkept(&name).map(|kind| (name, kind))).collect::<Vec<_>>()
        };
        assert_eq!(refused(Budget::PerSecond(9.0)), []);
        let bytes = refused(Budget::BytesPerSecond(9.0));
        assert!(bytes.len() == 5 && bytes.iter().all(|(name, _)| name.starts_with("schedule")), "{bytes:?}");
        for budget in [Budget::PerSecondEach(9.0), Budget::BytesPerSecondEach(9.0)] {
            let rest = ["base", "base/4", "accumulator", "accumulator-distance", "tang-zhou", "even", "even:1"];
            let refused = refused(budget);
            assert!(refused.iter().all(|(name, kind)| !rest.contains(&&**name) && *kind == "a budget per receiver"));
            assert_eq!(refused.len() + rest.len() + 2, NAMES.len());
        }
        let error = by_name("credits-2:1:0", Budget::PerSecondEach(9.0), 0).err().unwrap();
        assert_eq!(error.nearest, "even");
        assert!(format!("{error}").contains("`accumulator`"), "{error}");
    }

    #[test]
    fn what_is_misspelt_is_guessed() {
        let nearest = |name: &str| by_name(name, Budget::Unlimited, 0).err().map(|e| e.nearest);
        assert_eq!(nearest("credit"), Some("credits"));
        assert_eq!(nearest("schedule_drop"), Some("schedule-drop"));
        assert_eq!(nearest("tolerence"), Some("tolerance"));
        assert_eq!(nearest("base/0"), Some("base/k"));
        for rate in ["even:0.5", "even:", "even:NaN", "even:1e9", "even:-2"] {
            assert!(nearest(rate).is_some_and(|nearest| nearest.starts_with("even")), "{rate}");
        }
        assert!(nearest(&"x".repeat(100_000)).is_some() && nearest("").is_some());
        assert_eq!(edits("kitten", "sitting"), 3);
        let shown = format!("{}", UnknownPolicy::new("x"));
        assert!(shown.contains("`x`") && shown.contains("`credits-pi`"));
    }
}
