//! The comparison of policies on one's own data: all of them on the same triggers and the same delays.

mod limit;
mod rows;
mod settings;
mod trim;

pub use rows::{ReceiverRow, Row, SenderRow, Timeline};
pub(crate) use settings::budget_text;
pub use settings::{Senders, Settings, Source, paths};

use crate::policies::{make_policy, takes_budget};
use crate::workload::Entity;
use crate::workload::trace::{Cuts, Trace};
use crate::world::{Fleet, Outcome, Setting, run as run_world};
use anyhow::Result;
use evenkeel::{Budget, GlobalTime};
use rayon::prelude::*;

/// How far an experiment is, for those who wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// So many more runs are to be expected.
    Expect(u64),
    /// One run is done.
    Done,
}

/// What an experiment found.
#[derive(Clone, Debug)]
pub struct Findings {
    /// What was run, by name.
    pub settings: Vec<(String, String)>,
    /// One row per policy, in the order asked for.
    pub rows: Vec<Row>,
    /// How many seconds were simulated, over all runs.
    pub simulated_seconds: f64,
}

/// Everything one seed stands for: what moves, and by whom it is owned.
struct Scene {
    fleets: Vec<Fleet>,
    origin: GlobalTime,
}

impl Scene {
    fn new(settings: &Settings, entities: Vec<Entity>) -> Result<Self> {
        let fleets = match settings.senders {
            Senders::One => {
                vec![Fleet::new("all".into(), entities, &settings.rules)?]
            }
            Senders::Each => {
                let fleet = |entity: Entity| Fleet::new(entity.name.clone(), vec![entity], &settings.rules);
                entities.into_par_iter().map(fleet).collect::<Result<_>>()?
            }
        };
        let origin = fleets.iter().map(|fleet| fleet.span().0).min().unwrap_or(GlobalTime::ZERO);
        Ok(Self { fleets, origin })
    }

    fn seconds(&self) -> f64 {
        let end = self.fleets.iter().map(|fleet| fleet.span().1).max().unwrap_or(self.origin);
        end.since(self.origin).as_secs_f64()
    }
}

/// Scenes, settings and somebody to tell: what every run of an experiment needs.
struct Experiment<'a> {
    settings: &'a Settings,
    /// One per seed; a trace is the same for all of them and stands here once.
    scenes: Vec<Scene>,
    seeds: Vec<u64>,
    progress: &'a (dyn Fn(Progress) + Sync),
}

/// What came of one policy: its row, and what was asked about each seed.
#[derive(Clone, Debug)]
pub struct Digest<T> {
    /// Averages over all seeds.
    pub row: Row,
    /// One answer per seed.
    pub seeds: Vec<T>,
}

/// Runs an experiment. The findings follow from the settings alone.
pub fn run(settings: &Settings, progress: &(dyn Fn(Progress) + Sync)) -> Result<Findings> {
    let (digests, simulated_seconds) = digest(settings, progress, &|_| ())?;
    let rows = digests.into_iter().map(|digest| digest.row).collect();
    Ok(Findings { settings: settings.describe(), rows, simulated_seconds })
}

/// Runs an experiment and asks about each seed: `of` gets the outcomes of one policy and seed, one for each sender. Answers
/// one digest for each policy, in the order of the settings, and how many seconds were simulated.
pub fn digest<T: Send>(
    settings: &Settings,
    progress: &(dyn Fn(Progress) + Sync),
    of: &(dyn Fn(&[Outcome]) -> T + Sync),
) -> Result<(Vec<Digest<T>>, f64)> {
    settings.check()?;
    let experiment = Experiment::new(settings, progress)?;
    let base = experiment.outcomes("base", Budget::Unlimited)?;
    // Vectors, or bytes if the budget is in bytes.
    let in_bytes = settings.budget.is_in_bytes();
    let sent = |outcome: &Outcome| (if in_bytes { outcome.bytes } else { outcome.vectors }) as f64;
    let count = |outcomes: &[Outcome]| outcomes.iter().map(sent).sum::<f64>();
    let target = experiment.target(count(&base), &|name| Ok(count(&experiment.outcomes(name, Budget::Unlimited)?)))?;
    let one = |name: &String| -> Result<(Digest<T>, f64)> {
        let (outcomes, budget, runs) = match name.as_str() {
            "base" => (base.clone(), Budget::Unlimited, 0),
            name if takes_budget(name, &settings.own) && settings.trim => {
                trim::trimmed(settings.budget, target, |budget| experiment.outcomes(name, budget), |o| count(o))?
            }
            name => (experiment.outcomes(name, settings.budget)?, settings.budget, 1),
        };
        let allowed = takes_budget(name, &settings.own).then(|| target / settings.seeds as f64);
        let (vectors_allowed, bytes_allowed) = if in_bytes { (None, allowed) } else { (allowed, None) };
        let row = Row { vectors_allowed, bytes_allowed, ..experiment.row(name, budget, &outcomes) };
        let seeds = outcomes.chunks((outcomes.len() / experiment.seeds.len()).max(1)).map(of).collect();
        Ok((Digest { row, seeds }, experiment.seconds() * f64::from(runs)))
    };
    let mut digests: Vec<(Digest<T>, f64)> = settings.policies.par_iter().map(one).collect::<Result<_>>()?;
    if settings.bound {
        limit::add(&experiment, &base, digests.iter_mut().map(|(digest, _)| &mut digest.row).collect())?;
    }
    let simulated = experiment.seconds() + digests.iter().map(|(_, seconds)| seconds).sum::<f64>();
    Ok((digests.into_iter().map(|(digest, _)| digest).collect(), simulated))
}

/// What delays, losses and draws follow from, by seed and sender: the network of one sender is not that of another.
pub(crate) fn network_seed(seed: u64, fleet: usize) -> u64 {
    seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(fleet as u64)
}

impl<'a> Experiment<'a> {
    fn new(settings: &'a Settings, progress: &'a (dyn Fn(Progress) + Sync)) -> Result<Self> {
        let seeds: Vec<u64> = (0..settings.seeds).map(|n| settings.seed.wrapping_add(n)).collect();
        let scenes = match &settings.source {
            Source::Trace { path, max_gap, force } => {
                let trace = Trace::read(path, Cuts { max_gap: *max_gap, ..Cuts::default() })?;
                let force = *force || settings.rules.relays;
                let truth = trace.truth(&path.display().to_string(), settings.seconds, force)?;
                vec![Scene::new(settings, truth)?]
            }
            Source::Motion { motion, entities } => {
                let seconds = settings.seconds.unwrap_or(Settings::DEFAULT_SECONDS);
                let scene = |seed: &u64| Scene::new(settings, motion.entities(*entities, seconds, *seed));
                seeds.par_iter().map(scene).collect::<Result<_>>()?
            }
        };
        Ok(Self { settings, scenes, seeds, progress })
    }

    fn scene(&self, index: usize) -> &Scene {
        &self.scenes[index.min(self.scenes.len() - 1)]
    }

    /// Every run by the index of its seed and its fleet.
    fn runs(&self) -> Vec<(usize, usize)> {
        let fleets = |seed: usize| (0..self.scene(seed).fleets.len()).map(move |fleet| (seed, fleet));
        (0..self.seeds.len()).flat_map(fleets).collect()
    }

    /// What one policy makes of every seed and fleet.
    fn outcomes(&self, policy: &str, budget: Budget) -> Result<Vec<Outcome>> {
        let runs = self.runs();
        (self.progress)(Progress::Expect(runs.len() as u64));
        let outcome = |&(seed, fleet): &(usize, usize)| {
            let scene = self.scene(seed);
            let seed = network_seed(self.seeds[seed], fleet);
            let outcome = run_world(Setting {
                fleet: &scene.fleets[fleet],
                rules: self.settings.rules,
                policy: make_policy(policy, &self.settings.own, budget, seed)?,
                paths: &self.settings.paths,
                uplink: self.settings.uplink.as_ref(),
                seed,
                origin: scene.origin,
                recorder: None,
            });
            (self.progress)(Progress::Done);
            outcome
        };
        runs.par_iter().map(outcome).collect()
    }

    /// How many vectors or bytes the budget allows, over all runs, if the base case sends so many. A share of 1/k allows what `base/k` sends,
    /// which is more than that share where lives are short: the first vector of a life goes to everybody under every policy.
    fn target(&self, base: f64, sent_by: &dyn Fn(&str) -> Result<f64>) -> Result<f64> {
        let receivers = if self.settings.budget.is_per_receiver() { self.settings.paths.len() as f64 } else { 1.0 };
        Ok(match (self.settings.budget, self.settings.budget.rate()) {
            (Budget::OfBase { share }, _) => {
                let k = (1.0 / share).round();
                if (k * share - 1.0).abs() < 1e-9 { sent_by(&format!("base/{k}"))? } else { share * base }
            }
            (_, Some(rate)) => (receivers * rate * self.seconds()).min(base),
            (_, None) => base,
        })
    }

    /// Seconds that one round of all runs of one policy simulates.
    fn seconds(&self) -> f64 {
        let span = |fleet: &Fleet| fleet.span().1.since(fleet.span().0).as_secs_f64();
        self.runs().iter().map(|&(seed, fleet)| span(&self.scene(seed).fleets[fleet])).sum()
    }

    fn row(&self, policy: &str, budget: Budget, outcomes: &[Outcome]) -> Row {
        let delays_ms: Vec<f64> = self.settings.paths.iter().map(|path| path.delay.as_millis_f64()).collect();
        let seconds = self.scenes.iter().map(Scene::seconds).fold(0.0, f64::max);
        let row = Row::new(policy, budget, self.seeds.len(), &delays_ms, outcomes, seconds);
        if self.settings.rules.relays { row.without_truth() } else { row }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Motion;
    use evenkeel::Duration;
    use evenkeel_link::Conditions;

    fn settings() -> Settings {
        Settings {
            source: Source::Motion { motion: Motion::Tank, entities: 2 },
            policies: vec!["base".into(), "base/3".into()],
            seconds: Some(40.0),
            seeds: 2,
            ..Settings::default()
        }
        .over(&[800.0, 500.0, 200.0], 0.0, 0.0)
    }

    #[test]
    fn sending_less_costs_accuracy_and_the_rows_are_plausible() {
        let findings = run(&settings(), &|_| {}).unwrap();
        let [base, third] = &findings.rows[..] else { panic!() };
        let share = third.vectors_sent / base.vectors_sent;
        assert!((share - 1.0 / 3.0).abs() < 0.02, "{share}");
        assert!(base.mean < 0.5 * third.mean && base.std < third.std);
        for row in [base, third] {
            assert!(row.mean <= row.max && row.std <= row.max && row.real_mean >= 0.5 * row.mean);
            assert!(row.receivers[0].export_error > row.receivers[2].export_error);
            assert!(row.spread > 0.0 && row.flips >= 0.0);
            let (sum, all) = (row.receivers.iter().map(|r| r.vectors).sum::<f64>(), row.vectors_sent);
            assert!((sum - all).abs() < 1e-6, "{sum} {all}");
        }
    }

    #[test]
    fn budgets_in_bytes_are_compared_at_equal_bytes() {
        for (budget, allowed) in [("150B/s", 150.0), ("40B/s/receiver", 120.0)] {
            let policies = ["base", "even", "accumulator"].map(String::from).to_vec();
            let settings = Settings { policies, budget: budget.parse().unwrap(), ..settings() };
            let rows = run(&settings, &|_| {}).unwrap().rows;
            assert!(rows[0].bytes_sent > 1.2 * 40.0 * allowed, "{}", rows[0].bytes_sent);
            for row in &rows[1..] {
                let share = row.bytes_sent / (40.0 * allowed);
                assert!((0.98..1.02).contains(&share), "{} at {budget}: {share}", row.policy);
                assert_eq!((row.vectors_allowed, row.bytes_allowed.map(f64::round)), (None, Some(40.0 * allowed)));
            }
        }
        let refused = Settings { policies: vec!["credits".into()], budget: Budget::PerSecondEach(2.0), ..settings() };
        assert!(run(&refused, &|_| {}).unwrap_err().to_string().contains("cannot keep a budget per receiver"));
    }

    #[test]
    fn a_share_allows_what_every_kth_vector_takes_firsts_of_lives_included() {
        // A game of short lives: `base/10` sends clearly more than a tenth.
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/traces/bzflag-dense-b.csv.gz").into();
        let settings = Settings {
            source: Source::Trace { path, max_gap: 1.0, force: false },
            policies: ["base", "base/10", "tolerance"].map(String::from).to_vec(),
            budget: Budget::of_base(1, 10),
            seconds: Some(60.0),
            ..Settings::default()
        };
        let rows = run(&settings.over(&[100.0, 200.0], 0.0, 0.0), &|_| {}).unwrap().rows;
        let [base, tenth, tolerance] = &rows[..] else { panic!("three policies") };
        assert!(tenth.vectors_sent > 0.105 * base.vectors_sent, "{} {}", tenth.vectors_sent, base.vectors_sent);
        assert_eq!(tolerance.vectors_allowed, Some(tenth.vectors_sent));
        let ratio = tolerance.vectors_sent / tenth.vectors_sent;
        assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
    }

    #[test]
    fn equal_settings_give_equal_findings_even_with_jitter_and_loss() {
        let settings = settings().over(&[100.0, 200.0], 50.0, 0.1);
        let [once, again] = [(); 2].map(|()| format!("{:?}", run(&settings, &|_| {}).unwrap()));
        assert_eq!(once, again);
        let other = Settings { seed: 9, ..settings };
        assert_ne!(once, format!("{:?}", run(&other, &|_| {}).unwrap()));
    }

    #[test]
    fn an_uplink_is_named_and_costs_accuracy() {
        let through = Settings { uplink: Some(Conditions::delay(Duration::from_millis(300))), ..settings() };
        let [through, direct] = [through, settings()].map(|settings| run(&settings, &|_| {}).unwrap());
        assert!(through.settings.contains(&("uplink".into(), "delay=300ms".into())), "{:?}", through.settings);
        assert!(direct.settings.iter().all(|(name, _)| name != "uplink"));
        for (a, b) in through.rows.iter().zip(&direct.rows) {
            assert!(a.mean > b.mean && a.real_mean > b.real_mean, "{}: {} {}", a.policy, a.mean, b.mean);
        }
    }

    #[test]
    fn what_cannot_be_is_refused_at_once() {
        let up = |text: &str| Some(text.parse::<Conditions>().unwrap());
        let wrong = [
            Settings { policies: vec!["bass".into()], ..settings() },
            Settings { policies: vec![], ..settings() },
            Settings { policies: vec!["base".into(), "base".into()], ..settings() },
            Settings { paths: vec![], ..settings() },
            Settings { seeds: 0, ..settings() },
            Settings { seconds: Some(f64::NAN), ..settings() },
            Settings { source: Source::Motion { motion: Motion::Tank, entities: 0 }, ..settings() },
            Settings { uplink: up("delay=50ms"), senders: Senders::Each, ..settings() },
            Settings { uplink: up("delay=50ms"), policies: vec!["tolerance".into()], ..settings() },
            Settings { uplink: up("delay=50ms,loss=1%"), ..settings() },
            Settings { uplink: Some(Conditions::delay(Duration::from_millis(-1))), ..settings() },
        ];
        for settings in wrong {
            assert!(run(&settings, &|_| {}).is_err(), "{settings:?}");
        }
    }
}
