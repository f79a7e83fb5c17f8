//! A short comparison: what games do today, the accuracy model, and what a third of the updates costs whom.

use crate::policies::make_policy;
use crate::recorder::Recorder;
use crate::workload::Motion;
use crate::world::{Fleet, Outcome, Rules, Setting, run};
use anyhow::{Result, ensure};
use evenkeel::{Budget, ClockRule, Duration, GlobalTime, Placing};
use evenkeel_link::Conditions;
use std::fmt;
use std::io::Write;

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

/// What to compare on.
#[derive(Clone, Debug)]
pub struct Question {
    /// One-way delay to each receiver.
    pub delays_ms: Vec<i64>,
    /// How many tanks.
    pub tanks: u32,
    /// For how long.
    pub seconds: f64,
    /// Drives follow from it.
    pub seed: u64,
}

impl Default for Question {
    /// The papers' delays, four tanks, two minutes.
    fn default() -> Self {
        Self { delays_ms: PAPER_DELAYS_MS.to_vec(), tanks: 4, seconds: 120.0, seed: 1 }
    }
}

/// Compares the ways of telling on the same drives and delays. The run with every vector and global time is recorded, if
/// there is somewhere to record it to.
pub fn compare(question: &Question, record: Option<Box<dyn Write>>) -> Result<Comparison> {
    let Question { delays_ms, tanks, seconds, seed } = question.clone();
    ensure!(!delays_ms.is_empty(), "there must be at least one delay");
    ensure!(delays_ms.iter().all(|ms| (0..=60_000).contains(ms)), "delays must be between 0 and 60000 ms");
    ensure!((1..=1000).contains(&tanks), "there must be between 1 and 1000 tanks");
    ensure!(seconds > 5.0 && seconds <= 86_400.0, "seconds must be above 5 and at most 86400");
    let mut record = record;
    let entities = Motion::Tank.entities(tanks, seconds, seed);
    let paths: Vec<_> = delays_ms.iter().map(|ms| Conditions::delay(Duration::from_millis(*ms))).collect();
    let mut rows = Vec::new();
    for (name, policy, rule) in WAYS {
        let rules = Rules { placing: Placing { rule, ..Placing::default() }, ..Rules::default() };
        let fleet = Fleet::new("all".into(), entities.clone(), &rules)?;
        let out = if (policy, rule) == ("base", ClockRule::Global) { record.take() } else { None };
        let settings = [("policy", policy.to_string()), ("delays_ms", format!("{delays_ms:?}"))];
        let hosts = delays_ms.len() as u32 + 1;
        let recorder = out.map(|out| Recorder::new(out, seed, &settings, tanks, hosts)).transpose()?;
        let (policy, origin) = (make_policy(policy, &[], Budget::Unlimited, seed)?, GlobalTime::ZERO);
        rows.push((
            name,
            run(Setting { fleet: &fleet, rules, policy, paths: &paths, uplink: None, seed, origin, recorder })?,
        ));
    }
    Ok(Comparison { delays_ms, seconds, tanks, rows })
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} tanks for {} s; metres between where a tank is and where it is shown,",
            self.tanks, self.seconds
        )?;
        writeln!(f, "mean over tanks and time, at receivers with these one-way delays:\n")?;
        let delays: Vec<_> = self.delays_ms.iter().map(|ms| format!("{ms:>5} ms")).collect();
        writeln!(f, "  {:<30} {}   {:>6} {:>6}  {:>7} {:>6}", "", delays.join(" "), "mean", "std", "vectors", "kB")?;
        for (name, outcome) in &self.rows {
            let each: Vec<_> = outcome.receivers.iter().map(|seen| format!("{:>8.2}", seen.real_error)).collect();
            let (mean, std, _) = outcome.over_receivers(|seen| seen.real_error);
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
        let of = |wanted: &str| {
            self.rows.iter().find(|(name, _)| *name == wanted).map(|(_, o)| o.over_receivers(|s| s.real_error))
        };
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
        let question = Question { delays_ms: vec![50, 200], tanks: 2, seconds: 20.0, seed: 1 };
        let [first, second] = [(); 2].map(|()| compare(&question, None).unwrap());
        assert_eq!(first.to_string(), second.to_string());
        let mean = |i: usize| first.rows[i].1.over_receivers(|s| s.real_error).0;
        assert!(mean(2) < 0.5 * mean(0), "{first}");
        assert!(first.rows[4].1.vectors < first.rows[2].1.vectors / 2);
    }

    /// A buffer that outlives its writer.
    #[derive(Clone, Default)]
    struct Shared(std::rc::Rc<std::cell::RefCell<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_recording_tells_the_same_story() {
        let question = Question { delays_ms: vec![50, 200], tanks: 2, seconds: 10.0, seed: 3 };
        let out = Shared::default();
        let comparison = compare(&question, Some(Box::new(out.clone()))).unwrap();
        let summary = crate::recorder::Summary::read(out.0.borrow().as_slice()).unwrap().to_string();
        let sent = comparison.rows[2].1.vectors;
        assert!(summary.contains(&format!("sent {sent},")), "{sent} sent, but: {summary}");
    }

    #[test]
    fn impossible_questions_are_refused() {
        for question in [
            Question { delays_ms: vec![], ..Question::default() },
            Question { delays_ms: vec![-5], ..Question::default() },
            Question { tanks: 0, ..Question::default() },
            Question { seconds: f64::NAN, ..Question::default() },
        ] {
            assert!(compare(&question, None).is_err());
        }
    }
}
