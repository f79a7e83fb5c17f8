//! Recorded games over networks that reorder: no datagram of an honest sender is refused, and every vector is decoded as it was exported.
//!
//! `EVENKEEL_JITTER_SEEDS` and `EVENKEEL_JITTER_SECONDS` make it longer; `EVENKEEL_TRACES` names a directory of other games' traces
//! (default: `shared/traces` beside the project, if it is there).
#![allow(clippy::unwrap_used, clippy::expect_used)]

use evenkeel::policy::{Budget, by_name};
use evenkeel::{Duration, GlobalTime};
use evenkeel_lab::workload::trace::{Cuts, Trace};
use evenkeel_lab::world::{Fleet, Rules, Setting, run};
use evenkeel_link::{Conditions, Jitter};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

const JITTERS_MS: [i64; 5] = [0, 20, 50, 100, 180];
const DELAYS_MS: [i64; 3] = [800, 500, 200];
const POLICIES: [&str; 2] = ["base", "even"];

fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).map_or(usual, |text| text.parse().expect("a number"))
}

fn fleet(path: &Path) -> Fleet {
    let name = path.display().to_string();
    let seconds = number("EVENKEEL_JITTER_SECONDS", 20) as f64;
    let entities = Trace::read(path, Cuts::default()).unwrap().truth(&name, Some(seconds), true).unwrap();
    Fleet::new(name, entities, &Rules::default()).unwrap()
}

/// Plays a trace in every setting. Answers how many datagrams there were.
fn play(path: &Path) -> u64 {
    let fleet = fleet(path);
    let seeds = number("EVENKEEL_JITTER_SEEDS", 1);
    let settings: Vec<(i64, u64, &str)> = JITTERS_MS
        .into_iter()
        .flat_map(|jitter| (1..=seeds).flat_map(move |seed| POLICIES.map(|policy| (jitter, seed, policy))))
        .collect();
    let datagrams = settings.into_par_iter().map(|(jitter_ms, seed, policy)| {
        let plus_minus = Duration::from_millis(jitter_ms);
        let way = |ms| Conditions::delay(Duration::from_millis(ms)).with_jitter(Jitter::Uniform { plus_minus });
        let outcome = run(Setting {
            fleet: &fleet,
            rules: Rules::default(),
            policy: by_name(policy, Budget::of_base(1, 3), seed).unwrap(),
            paths: &DELAYS_MS.map(way),
            uplink: None,
            seed,
            origin: GlobalTime::ZERO,
            recorder: None,
        });
        let setting = format!("{}, +-{jitter_ms} ms, seed {seed}, {policy}", path.display());
        let outcome = outcome.unwrap_or_else(|error| panic!("{setting}: {error}"));
        assert_eq!(outcome.refused.total(), 0, "{setting}: {:?}", outcome.refused);
        outcome.traffic.datagrams
    });
    datagrams.sum()
}

#[test]
fn no_datagram_of_a_recorded_game_is_refused_however_it_is_reordered() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/traces");
    for name in ["bzflag-default-a", "bzflag-dense-a", "bzflag-dense-b"] {
        // The game's own trace holds vectors, not paths: it is taken as a path all the same.
        let datagrams = play(&data.join(format!("{name}.csv.gz")));
        println!("{name}: {datagrams} datagrams");
        assert!(datagrams > 1_000, "{name}: {datagrams}");
    }
}

#[test]
fn nor_is_one_of_other_games() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let directory = std::env::var_os("EVENKEEL_TRACES").map_or(beside, PathBuf::from);
    let Ok(files) = std::fs::read_dir(&directory) else {
        return println!("skipped: there are no traces in {}", directory.display());
    };
    let other = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".csv.gz") && !name.starts_with("bzflag")
    };
    for path in files.map(|entry| entry.unwrap().path()).filter(other) {
        println!("{}: {} datagrams", path.display(), play(&path));
    }
}
