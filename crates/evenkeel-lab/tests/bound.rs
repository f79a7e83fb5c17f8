//! No policy does better than the bound, and the bound is not far below where it can be checked.
#![allow(clippy::unwrap_used)]

use evenkeel_lab::Conditions;
use evenkeel_lab::bound::Bound;
use evenkeel_lab::experiment::{Row, Senders, Settings, Source, run};
use evenkeel_lab::policies::make_policy;
use evenkeel_lab::workload::Motion;
use evenkeel_lab::world::{Fleet, Outcome, Rules, Setting, run as run_world};
use evenkeel_lab::{Budget, Duration, Placing};
use std::path::Path;

const FAR: [f64; 3] = [800.0, 500.0, 200.0];
const NEAR: [f64; 4] = [20.0, 60.0, 120.0, 250.0];

fn settings(source: Source, seconds: f64, delays_ms: &[f64]) -> Settings {
    let policies = ["base", "base/3", "tolerance", "credits", "even:1", "even"].map(String::from).to_vec();
    Settings { source, policies, seconds: Some(seconds), bound: true, ..Settings::default() }.over(delays_ms, 0.0, 0.0)
}

fn tanks() -> Source {
    Source::Motion { motion: Motion::Tank, entities: 2 }
}

/// Whether nobody is below the bound; answers the rows.
fn nobody_does_better(settings: &Settings) -> Vec<Row> {
    let rows = run(settings, &|_| {}).unwrap().rows;
    for row in &rows {
        let bound = row.bound.unwrap();
        assert!(bound > 0.0 && bound <= row.mean, "{}: {} is below {bound}", row.policy, row.mean);
    }
    rows
}

#[test]
fn no_policy_does_better_on_synthetic_motions() {
    for delays in [&FAR[..], &NEAR[..]] {
        let rows = nobody_does_better(&settings(tanks(), 40.0, delays));
        // More vectors, lower bound.
        assert!(rows[0].bound < rows[1].bound, "{rows:?}");
        assert!(rows[0].gap_closed.is_none() && rows[2].gap_closed == Some(0.0), "{rows:?}");
        let closed = rows[4].gap_closed.unwrap();
        let expected = (rows[2].mean - rows[4].mean) / (rows[2].mean - rows[4].bound.unwrap());
        assert!((closed - expected).abs() < 1e-12 && closed < 1.0, "{closed} {expected}");
    }
}

#[test]
fn no_policy_does_better_on_a_recorded_game() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/traces/bzflag-dense-a.csv.gz");
    for delays in [&FAR[..], &NEAR[..]] {
        let source = Source::Trace { path: path.clone(), max_gap: 1.0, force: false };
        nobody_does_better(&settings(source, 20.0, delays));
    }
}

#[test]
fn lags_peers_seeds_and_uplinks_are_taken_into_account() {
    let lag = Placing { lag: Duration::from_millis(100), ..Rules::default().placing };
    let policies = ["base", "base/3", "even"].map(String::from).to_vec();
    let plain = Settings { policies, ..settings(tanks(), 25.0, &FAR) };
    nobody_does_better(&Settings { rules: Rules { placing: lag, ..plain.rules }, ..plain.clone() });
    nobody_does_better(&Settings { senders: Senders::Each, seeds: 2, ..plain.clone() });
    let through = Settings { uplink: Some(Conditions::delay(Duration::from_millis(150))), ..plain.clone() };
    let [through, direct] = [through, plain].map(|settings| nobody_does_better(&settings));
    assert!(through[1].bound > direct[1].bound, "{through:?} {direct:?}");
}

/// With all vectors the bound is that of somebody who sends an observation whenever it helps: not above the base case, and where
/// every observation is a vector already, hardly below it.
#[test]
fn with_vectors_for_everything_it_is_the_base_case() {
    let mut rules = Rules::default();
    rules.threshold = rules.threshold.at_least_every(Duration::from_millis(1));
    for delay in [100, 500] {
        let paths = [Conditions::delay(Duration::from_millis(delay))];
        let fleet = Fleet::new("all".into(), Motion::Random.entities(1, 20.0, 2), &rules).unwrap();
        let base = base_case(&fleet, &rules, &paths);
        let measured = base.receivers[0].export_error;
        let vectors = base.vectors as f64;
        let mut bound = Bound::new(&[&fleet], &[base], &rules, &paths, None).unwrap();
        let added = bound.base_mean();
        assert!((added / measured - 1.0).abs() < 0.01, "{added} added up, {measured} measured");
        let least = bound.mean(vectors);
        // Each is the best that the search found, within a percent where vectors are free.
        let more = bound.mean(10.0 * vectors);
        assert!(least <= measured && more <= 1.01 * least, "{more} {least} {measured}");
        assert!(least > 0.5 * measured, "{least} is far below {measured}");
    }
}

fn base_case(fleet: &Fleet, rules: &Rules, paths: &[Conditions]) -> Outcome {
    let policy = make_policy("base", &[], Budget::Unlimited, 1).unwrap();
    let origin = fleet.span().0;
    run_world(Setting { fleet, rules: *rules, policy, paths, uplink: None, seed: 1, origin, recorder: None }).unwrap()
}

/// The bound adds up errors by itself; the world's gauge knows nothing of it.
#[test]
fn errors_are_added_up_as_the_world_measures_them() {
    for motion in [Motion::Tank, Motion::TankInertia, Motion::Random, Motion::Spaceship, Motion::Shots] {
        for lag_ms in [0, 100] {
            let placing = Placing { lag: Duration::from_millis(lag_ms), ..Rules::default().placing };
            let rules = Rules { placing, ..Rules::default() };
            let fleet = Fleet::new("all".into(), motion.entities(2, 60.0, 4), &rules).unwrap();
            let paths = FAR.map(|ms| Conditions::delay(Duration::from_millis(ms as i64)));
            let base = base_case(&fleet, &rules, &paths);
            let shown: Vec<_> = base.entities.iter().filter(|party| party.shown()).collect();
            let sum: f64 = shown.iter().map(|party| party.over_receivers(|seen| seen.export_error).0).sum();
            let measured = sum / shown.len() as f64;
            let added = Bound::new(&[&fleet], &[base], &rules, &paths, None).unwrap().base_mean();
            assert!((added / measured - 1.0).abs() < 0.01, "{motion:?}: {added} added up, {measured} measured");
        }
    }
}

#[test]
fn what_depends_on_luck_is_refused() {
    let plain = settings(tanks(), 20.0, &FAR);
    let local = Placing { rule: evenkeel_lab::ClockRule::Local, ..plain.rules.placing };
    for (settings, why) in [
        (plain.clone().over(&FAR, 10.0, 0.0), "constant delays"),
        (plain.clone().over(&FAR, 0.0, 0.01), "constant delays"),
        (Settings { rules: Rules { placing: local, ..plain.rules }, ..plain.clone() }, "generation"),
    ] {
        let error = run(&settings, &|_| {}).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}
