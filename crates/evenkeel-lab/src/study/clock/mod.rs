//! What an imperfect clock costs: the session's clock beside others, in milliseconds and in metres, and doing without one.

mod claims;
mod cost;
mod exhibits;
mod one_way;

use super::measure::{ACCURACY_DELAYS_MS, median, observe, over, seeds_with, settings_of, text};
use super::{Brief, Entry, Finding, Study, Watch};
use crate::clock::{PATHS, PathReport, Profile, REFERENCE, ROUGH_PATHS, measure_path};
use anyhow::Result;
use claims::{CLOCK_OWD_NO_STAMPS, CLOCK_SYNCED_SIGNIFICANT};
use cost::{CLOCKS, Cost, Network};
use evenkeel_link::Conditions;
use one_way::{OneWay, Way};

/// Clocks settle within seconds: runs beyond this show nothing new.
const LONGEST: f64 = 240.0;
/// The same for what they cost in metres.
const LONGEST_DRIVE: f64 = 120.0;

pub(super) const ENTRY: Entry = Entry {
    name: "clock",
    question: "How good is the session's clock beside others, and what does an imperfect one cost in metres?",
    reproduces: "thesis 2.1 and 4.5.1 (words, no figure): synchronised clocks, and one-way delays instead",
    needs: &[],
    run,
};

/// Runs it.
fn run(brief: &Brief, watch: &Watch<'_>) -> Result<Study> {
    let size = brief.size;
    let seconds = size.seconds.min(LONGEST);
    let drive = seconds.min(LONGEST_DRIVE);
    // Each run has thousands of frames, and every path pools them all.
    let runs = (size.seeds / 2).max(1);
    let reports = over(&paths()?, watch, |(name, path)| Ok(report(name, path, seconds, runs, size.seed)))?;
    let costs = over(&seeds_with(size, &Network::ALL), watch, |(seed, network)| Cost::new(*network, drive, *seed))?;
    let ways = over(&seeds_with(size, &Way::ALL), watch, |(seed, way)| OneWay::new(*way, drive, *seed))?;
    let costs: Vec<&[Cost]> = costs.chunks(Network::ALL.len()).collect();
    let ways: Vec<&[OneWay]> = ways.chunks(Way::ALL.len()).collect();
    let drives = 2 * (Network::ALL.len() + Way::ALL.len()) * costs.len();
    let clocks = reports.len() as f64 * runs as f64;
    Ok(Study {
        name: "clock",
        settings: settings_of(
            size,
            &[("delays_ms", "100, 300, 800".into()), ("clock_seconds", text(seconds)), ("drive_seconds", text(drive))],
        ),
        summary: summary(&reports, &costs),
        exhibits: exhibits::exhibits(&reports, &costs, &ways),
        findings: findings(&costs, &ways),
        rows: Vec::new(),
        simulated_seconds: seconds * clocks + drive * drives as f64,
    })
}

/// The paths of the table: named ones, and rough ones.
fn paths() -> Result<Vec<(String, Conditions)>> {
    let named = PATHS.iter().map(|name| Ok(((*name).to_owned(), Conditions::named(name)?)));
    let rough = ROUGH_PATHS.iter().map(|(name, conditions)| Ok(((*name).to_owned(), conditions.parse()?)));
    named.chain(rough).collect()
}

fn report(name: &str, path: &Conditions, seconds: f64, runs: u64, seed: u64) -> PathReport {
    let profile = Profile { seconds, score_after: REFERENCE.score_after.min(seconds / 2.0), ..REFERENCE };
    measure_path(name, path, &profile, runs, seed)
}

fn findings(costs: &[&[Cost]], ways: &[&[OneWay]]) -> Vec<Finding> {
    let way = |(index, way): (usize, Way)| {
        let receivers = ways.first().map_or(0, |ways| ways[index].ratios.len());
        (0..receivers).map(move |r| observe(way.receiver(r), ways, |seed| seed[index].ratios[r]))
    };
    let synced = |(index, delay): (usize, f64)| {
        observe(format!("{delay} ms"), costs, |seed| seed[0].clocks[0][index] / seed[0].local[index])
    };
    vec![
        Finding::new(CLOCK_OWD_NO_STAMPS, Way::ALL.into_iter().enumerate().flat_map(way).collect()).remarking(
            "One hop, from owner to client; half the smoothed round trip stands for the delay. The first round trip, in which \
             nothing is known of it, counts.",
        ),
        Finding::new(CLOCK_SYNCED_SIGNIFICANT, ACCURACY_DELAYS_MS.into_iter().enumerate().map(synced).collect())
            .remarking("The receiver's clock is off by hours, 50 ppm fast or slow, and 5 % of its packets are lost; it has had ten seconds."),
    ]
}

fn summary(reports: &[PathReport], costs: &[&[Cost]]) -> String {
    let named = &reports[..PATHS.len().min(reports.len())];
    let worst = |of: &dyn Fn(&PathReport) -> f64| text(named.iter().map(of).fold(0.0, f64::max));
    let cost = |clock: usize| text(median(costs, |seed| seed[1].clocks[clock][0] - seed[1].perfect[0]) * 100.0);
    format!(
        "On the named paths the session's clock is off by no more than {} ms in 99 of 100 frames; {} by {} ms, {} by {} ms, {} by \
         {} ms. At 100 ms with 20 ms of jitter, that adds {} cm to the error of a randomly driven tank, against {} cm for the \
         EWMA of half the round trip.",
        worst(&|path| path.ours.p99_ms),
        CLOCKS[1],
        worst(&|path| path.ewma.p99_ms),
        CLOCKS[2],
        worst(&|path| path.min_of_eight.p99_ms),
        CLOCKS[3],
        worst(&|path| path.lightyear.p99_ms),
        cost(0),
        cost(1),
    )
}
