//! A short comparison: what games do today, the accuracy model, and what a third of the updates costs whom.

use crate::world::{Outcome, Setting, run};
use anyhow::Result;
use evenkeel::{ClockRule, Duration, policy};
use evenkeel_link::Conditions;
use std::fmt;

/// One-way delays of the papers' experiments.
pub const PAPER_DELAYS_MS: [i64; 3] = [200, 500, 800];

/// The ways of telling that are compared: a name, a policy, a clock rule.
const WAYS: [(&str, &str, ClockRule); 5] = [
    ("today: count from arrival", "base", ClockRule::Local),
    ("count from arrival less delay", "base", ClockRule::OneWay),
    ("global time", "base", ClockRule::Global),
    ("global time, every 2nd vector", "base/2", ClockRule::Global),
    ("global time, every 3rd vector", "base/3", ClockRule::Global),
];

/// The outcome of every way on the same drives and the same delays.
pub struct Comparison {
    delays_ms: Vec<i64>,
    seconds: f64,
    tanks: u32,
    rows: Vec<(&'static str, Outcome)>,
}

/// Compares the ways of telling on a few tanks.
pub fn compare(delays_ms: &[i64], tanks: u32, seconds: f64, seed: u64) -> Result<Comparison> {
    let mut rows = Vec::new();
    for (name, policy, rule) in WAYS {
        let paths = delays_ms.iter().map(|ms| Conditions::delay(Duration::from_millis(*ms))).collect();
        let policy = policy::by_name(policy)?;
        rows.push((name, run(Setting { policy, rule, paths, tanks, seconds, seed })?));
    }
    Ok(Comparison { delays_ms: delays_ms.to_vec(), seconds, tanks, rows })
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} tanks for {} s; metres between where a tank is and where it is shown,",
            self.tanks, self.seconds
        )?;
        writeln!(f, "mean over tanks and frames, at receivers with these one-way delays:\n")?;
        let delays: Vec<_> = self.delays_ms.iter().map(|ms| format!("{ms:>5} ms")).collect();
        writeln!(f, "  {:<30} {}   {:>6} {:>6}  {:>7} {:>6}", "", delays.join(" "), "mean", "std", "vectors", "kB")?;
        for (name, outcome) in &self.rows {
            let each: Vec<_> = outcome.receivers.iter().map(|seen| format!("{:>8.2}", seen.real_error)).collect();
            let (mean, std, _) = outcome.spread(|seen| seen.real_error);
            let kilobytes = outcome.bytes as f64 / 1e3;
            let vectors = outcome.vectors;
            writeln!(f, "  {name:<30} {}   {mean:>6.2} {std:>6.2}  {vectors:>7} {kilobytes:>6.0}", each.join(" "))?;
        }
        Ok(())
    }
}

impl Comparison {
    /// What the table says, in a sentence.
    pub fn verdict(&self) -> String {
        let of =
            |wanted: &str| self.rows.iter().find(|(name, _)| *name == wanted).map(|(_, o)| o.spread(|s| s.real_error));
        match (of(WAYS[0].0), of(WAYS[2].0)) {
            (Some((today, ..)), Some((global, std, _))) => format!(
                "Stamping vectors with global time brings the mean error from {today:.2} m to {global:.2} m for the same \
                 vectors;\nwhat remains is unfair: it differs by {std:.2} m (standard deviation) with where a player lives.",
            ),
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn global_time_is_more_accurate_and_the_same_seed_gives_the_same_table() {
        let [first, second] = [1, 1].map(|seed| compare(&[50, 200], 2, 20.0, seed).unwrap());
        assert_eq!(first.to_string(), second.to_string());
        let mean = |i: usize| first.rows[i].1.spread(|s| s.real_error).0;
        assert!(mean(2) < 0.5 * mean(0), "{first}");
        assert!(first.rows[4].1.vectors < first.rows[2].1.vectors / 2);
    }
}
