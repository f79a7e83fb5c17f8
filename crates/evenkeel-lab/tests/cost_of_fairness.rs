//! What `even` says that fairness costs, against what it does cost: the difference between the mean error and that of `even:1`. What is
//! said is an order of magnitude.
#![allow(clippy::unwrap_used)]

use evenkeel::{Duration, GlobalTime, Tolerance};
use evenkeel_lab::Budget;
use evenkeel_lab::experiment::{Row, Settings, Source, run};
use evenkeel_lab::policies::make_policy;
use evenkeel_lab::workload::Motion;
use evenkeel_lab::workload::trace::{Cuts, Trace};
use evenkeel_lab::world::{Fleet, Setting, run_under};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

const FAR: (&str, &[f64]) = ("far", &[800.0, 500.0, 200.0]);
const NEAR: (&str, &[f64]) = ("near", &[20.0, 60.0, 120.0, 250.0]);
const SECONDS: f64 = 120.0;
const SEEDS: u64 = 4;

struct Cell {
    name: String,
    source: Source,
    threshold: f64,
    delays: (&'static str, &'static [f64]),
    rate: u32,
}

impl Cell {
    fn settings(&self) -> Settings {
        let mut settings = Settings {
            source: self.source.clone(),
            policies: vec!["even:1".into(), format!("even:{}", self.rate)],
            budget: Budget::of_base(1, 3),
            seeds: if matches!(self.source, Source::Motion { .. }) { SEEDS } else { 1 },
            seconds: Some(SECONDS),
            ..Settings::default()
        };
        settings.rules.threshold.tolerance = Tolerance::Distance(self.threshold);
        settings.over(self.delays.1, 0.0, 0.0)
    }

    /// The mean over a run of what the policy says every second.
    fn said(&self, settings: &Settings, row: &Row) -> f64 {
        let of_seed = |seed: u64| {
            let entities = match &self.source {
                Source::Motion { motion, entities } => motion.entities(*entities, SECONDS, seed),
                Source::Trace { path, .. } => Trace::read(path, Cuts { max_gap: 1.0, ..Cuts::default() })
                    .unwrap()
                    .truth("", Some(SECONDS), false)
                    .unwrap(),
            };
            let fleet = Fleet::new("all".into(), entities, &settings.rules).unwrap();
            let (start, _) = fleet.span();
            let (mut next, mut said, mut count) = (start + Duration::from_secs(5), 0.0, 0.0);
            let setting = Setting {
                fleet: &fleet,
                rules: settings.rules,
                policy: make_policy(&row.policy, &[], row.budget, seed).unwrap(),
                paths: &settings.paths,
                uplink: None,
                seed,
                origin: start,
                recorder: None,
            };
            run_under(setting, &mut |glance| {
                if glance.at >= next {
                    let cost = glance.sender.policy().cost_of_fairness(glance.sender.ledger(), glance.at).unwrap();
                    (said, count) = (said + cost.of_the_mean(), count + 1.0);
                    next = GlobalTime::max(next + Duration::from_secs(1), glance.at);
                }
            })
            .unwrap();
            said / count
        };
        (1..=settings.seeds).map(of_seed).sum::<f64>() / settings.seeds as f64
    }

    /// What it does cost, and what is said, as shares of the mean error.
    fn judge(&self) -> (f64, f64) {
        let settings = self.settings();
        let rows = run(&settings, &|_| {}).unwrap().rows;
        let [efficient, fair] = &rows[..] else { panic!("two policies") };
        // Errors fall with the number of vectors about like its square root.
        let more = (fair.vectors_sent / efficient.vectors_sent).sqrt();
        let (real, said) = (fair.mean * more - efficient.mean, self.said(&settings, fair));
        let shares = (real / efficient.mean, said / efficient.mean);
        println!(
            "| {} {} even:{} | {:.3} | {:.4} | {:.4} | {:.2} |",
            self.name,
            self.delays.0,
            self.rate,
            efficient.mean,
            real,
            said,
            said / real
        );
        shares
    }
}

fn cells(all: &[(String, Source, f64)], rates: &[u32]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (name, source, threshold) in all {
        for delays in [FAR, NEAR] {
            for rate in rates {
                cells.push(Cell {
                    name: name.clone(),
                    source: source.clone(),
                    threshold: *threshold,
                    delays,
                    rate: *rate,
                });
            }
        }
    }
    cells
}

fn trace(path: PathBuf, threshold: f64) -> (String, Source, f64) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().replace(".csv.gz", "");
    (name, Source::Trace { path, max_gap: 1.0, force: false }, threshold)
}

fn motion(motion: Motion) -> (String, Source, f64) {
    (motion.name().into(), Source::Motion { motion, entities: 4 }, 0.1)
}

#[test]
#[ignore = "minutes; part of the long runs"]
fn what_fairness_is_said_to_cost_it_does_cost() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/traces");
    let mut all: Vec<_> =
        ["bzflag-dense-a", "bzflag-dense-b"].map(|name| trace(data.join(format!("{name}.csv.gz")), 0.1)).to_vec();
    all.extend([Motion::Tank, Motion::TankInertia, Motion::Random, Motion::Spaceship].map(motion));
    if let Some(directory) = std::env::var_os("EVENKEEL_TRACES").map(PathBuf::from) {
        for (name, threshold) in [("stk-a", 0.1), ("melee-a", 0.5), ("rocketleague-419a", 10.0)] {
            all.push(trace(directory.join(format!("{name}.csv.gz")), threshold));
        }
    }
    println!("| | mean at rate 1, m | costs, m | said, m | said / costs |\n|---|---|---|---|---|");
    let shares: Vec<(f64, f64)> = cells(&all, &[3, 10]).par_iter().map(Cell::judge).collect();
    // Where fairness costs next to nothing, what is said is mostly chance.
    let clear = || shares.iter().filter(|(real, _)| *real > 0.02);
    assert!(clear().count() > 4, "{shares:?}");
    assert!(clear().all(|(real, said)| (0.2..5.0).contains(&(said / real))), "{shares:?}");
}
