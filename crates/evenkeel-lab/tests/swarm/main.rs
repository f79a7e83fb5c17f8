//! Swarm: random sessions from a seed, with checkers watching. A seed that fails once stays in `KEPT` for ever.
//!
//! Two senders, up to six receivers, up to eight entities; networks that reorder by up to a second, duplicate, lose up to 40 % and go
//! black for seconds; entities that trigger up to 120 times a second, die and return within a round trip, and change owners; receivers
//! that come, go, are met anew and forget. Every vector that is decoded must be the one that was exported, no datagram of an honest
//! sender may be refused, and in the end everybody shows what was exported last.
//!
//! `EVENKEEL_SWARM_SEEDS` sets how many seeds, `EVENKEEL_SWARM_FIRST` the first; `EVENKEEL_TRACES` names a directory of other games'
//! traces to move by (default: `shared/traces` beside the project, if it is there).
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod draw;
mod motion;
mod network;
mod scenario;

use evenkeel::determinism::{Transcript, check};
use motion::Library;
use rayon::prelude::*;
use scenario::Scenario;

/// Seeds that once failed.
const KEPT: &[u64] = &[7_028];
/// How many seeds, unless `EVENKEEL_SWARM_SEEDS` says otherwise.
const SEEDS: u64 = 150;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

fn run(seed: u64, library: &Library, transcript: &mut Transcript) {
    let mut scenario = Scenario::new(seed, library);
    while scenario.frame(transcript) {}
    scenario.check_agreement();
}

fn run_all(library: &Library) {
    let (first, seeds) = (number("EVENKEEL_SWARM_FIRST").unwrap_or(0), number("EVENKEEL_SWARM_SEEDS").unwrap_or(SEEDS));
    let seeds: Vec<u64> = KEPT.iter().copied().chain(first..first + seeds).collect();
    seeds.into_par_iter().for_each(|seed| {
        check(|transcript| run(seed, library, transcript)).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    });
}

#[test]
fn random_sessions_decode_what_was_exported_end_in_agreement_and_run_the_same_twice() {
    run_all(motion::shipped());
}

#[test]
fn so_they_do_on_the_motion_of_other_games() {
    if let Some(library) = motion::others() {
        run_all(&library);
    }
}
