//! What others do, and what the papers take for granted: buckets, lock-step, snapshots, today's counting from arrival, and the
//! base case, all on the same drives and the same network.

mod base;
mod claims;
mod score;
mod showing;

use super::measure::{
    FAIRNESS_DELAYS_MS, JITTERS_MS, cells, median, observe, over, percent, seeds_with, settings_of, text,
};
use super::{Brief, Entry, Exhibit, Finding, Observation, Study, Watch};
use anyhow::Result;
use base::{BUCKET_DELAYS_MS, BaseCase};
use claims::*;
use score::{Score, scores};
use showing::{DELAYS_MS, Way};

/// Uniform jitter of the two networks, either way, in ms.
const NETWORKS_MS: [f64; 2] = [0.0, 40.0];
/// The ways of showing differ by metres: this is long enough to tell.
const LONGEST: f64 = 300.0;

pub(super) const ENTRY: Entry = Entry {
    name: "baselines",
    question: "What do other ways of showing remote things cost in error, lag and spread, and whom do they exclude?",
    reproduces: "paper section 2, thesis 1.4 and 1.5 (words, no figure): bucket synchronisation, the reference model",
    needs: &[],
    run,
};

/// Runs it.
fn run(brief: &Brief, watch: &Watch<'_>) -> Result<Study> {
    let size = brief.size;
    let seconds = size.seconds.min(LONGEST);
    let seeds: Vec<u64> = size.each_seed().collect();
    let base = over(&seeds, watch, |seed| BaseCase::new(size.seconds, *seed))?;
    let scores = over(&seeds_with(size, &NETWORKS_MS), watch, |(seed, jitter)| scores(*jitter, seconds, *seed))?;
    let scores: Vec<&[Vec<Score>]> = scores.chunks(NETWORKS_MS.len()).collect();
    let simulated_seconds = size.seeds as f64 * (5.0 * size.seconds + 4.0 * seconds);
    let mut exhibits: Vec<Exhibit> = (0..NETWORKS_MS.len()).map(|network| table(&scores, network)).collect();
    exhibits.push(trade_off(&scores));
    Ok(Study {
        name: "baselines",
        settings: settings_of(size, &[("delays_ms", "50, 200, 500, 800".into()), ("jitter_ms", "0, 40".into())]),
        summary: summary(&scores, &base),
        exhibits,
        findings: findings(&base),
        rows: Vec::new(),
        simulated_seconds,
    })
}

fn findings(seeds: &[BaseCase]) -> Vec<Finding> {
    let each = |names: Vec<String>, of: &dyn Fn(&BaseCase, usize) -> f64| -> Vec<Observation> {
        names.into_iter().enumerate().map(|(i, name)| observe(name, seeds, |seed| of(seed, i))).collect()
    };
    let delays = |delays: &[f64]| delays.iter().map(|ms| format!("{ms} ms")).collect::<Vec<_>>();
    let jitters = JITTERS_MS.map(|ms| format!("800/500/200 ±{ms} ms")).to_vec();
    vec![
        Finding::new(BASE_FAR_WORST, each(jitters, &|seed, i| seed.far_worst[i])),
        Finding::new(BASE_FAIR_IF_EQUAL_DELAY, vec![observe("300 ms", seeds, |seed| seed.unfair_at_equal_delay)]),
        Finding::new(BASE_THIRD_COUNT, vec![observe("800/500/200 ms", seeds, |seed| 3.0 * seed.third)]),
        Finding::new(DR_NO_TRAFFIC_WHEN_PREDICTABLE, vec![observe("constant velocity", seeds, |seed| seed.needless)])
            .remarking("Velocities are quantised to 1 cm/s; the heartbeat comes before that adds up to the tolerance."),
        Finding::new(BUCKET_100MS_EXCLUDES, each(delays(&BUCKET_DELAYS_MS), &|seed, i| seed.bucket_fate[i])),
        Finding::new(BUCKET_WORST_CASE_DELAY, each(delays(&FAIRNESS_DELAYS_MS), &|seed, i| seed.bucket_age[i]))
            .remarking("The wait is the slowest receiver's delay; the receiver at 200 ms waits four times its own."),
    ]
}

fn of_way(scores: &[&[Vec<Score>]], network: usize, way: usize, of: impl Fn(&Score) -> f64) -> f64 {
    median(scores, |seed| of(&seed[network][way]))
}

fn table(scores: &[&[Vec<Score>]], network: usize) -> Exhibit {
    let row = |(way, (name, _)): (usize, &(&str, Way))| {
        let of = |what: &dyn Fn(&Score) -> f64| of_way(scores, network, way, what);
        let errors = (0..DELAYS_MS.len()).map(|i| text(of(&|score| score.errors[i])));
        let excluded = scores.first().map_or(Vec::new(), |seed| seed[network][way].excluded());
        let excluded: Vec<String> = excluded.iter().map(|delay| format!("{delay} ms")).collect();
        let late = of(&|score| score.late.iter().sum::<f64>() / score.late.len() as f64);
        let behind =
            |pick: fn(f64, f64) -> f64| of(&|score| score.behind_ms.iter().copied().reduce(pick).unwrap_or(0.0));
        let behind = format!("{:.0} to {:.0}", behind(f64::min), behind(f64::max));
        let numbers = [of(&Score::mean), of(&|score| score.from_owner), of(&|score| score.spread)].map(text);
        let costs =
            [format!("{:.0}", of(&|score| score.response_ms)), text(of(&|score| score.messages)), percent(late)];
        let out = if excluded.is_empty() { "nobody".into() } else { excluded.join(", ") };
        [(*name).to_owned()]
            .into_iter()
            .chain(errors)
            .chain(numbers)
            .chain([behind])
            .chain(costs)
            .chain([out])
            .collect()
    };
    Exhibit::Table {
        title: format!("Ways of showing a remote tank, jitter ±{} ms", NETWORKS_MS[network]),
        note: "Distance between real and shown in metres by one-way delay, its mean over those who take part, their mean \
               distance from what the owner sees at the same instant (where its own actions wait, its own image does too), the \
               largest distance between two receivers' images; how far the image is behind and after how long one sees an action of \
               one's own, in ms; messages a second to each receiver. A randomly driven tank; medians over seeds. Snapshots \
               take one's own actions as predicted."
            .into(),
        head: cells([
            "way", "50 ms", "200 ms", "500 ms", "800 ms", "mean", "from owner", "spread", "behind", "response", "messages/s", "too late",
            "excluded",
        ]),
        rows: Way::ALL.iter().enumerate().map(row).collect(),
    }
}

/// Error against response: what waiting buys.
fn trade_off(scores: &[&[Vec<Score>]]) -> Exhibit {
    let point = |(way, (name, _)): (usize, &(&str, Way))| {
        let of = |what: &dyn Fn(&Score) -> f64| of_way(scores, 0, way, what);
        (of(&|score| score.response_ms), of(&|score| score.spread), (*name).to_owned())
    };
    Exhibit::Points {
        title: "Response against spread".into(),
        note: "After how long one sees an action of one's own, and how far apart two receivers see the same tank."
            .into(),
        x: "response, ms".into(),
        y: "spread, metres".into(),
        points: Way::ALL.iter().enumerate().map(point).collect(),
    }
}

fn summary(scores: &[&[Vec<Score>]], base: &[BaseCase]) -> String {
    let place = |wanted: Way| Way::ALL.iter().position(|(_, way)| *way == wanted).unwrap_or(0);
    let mean = |way: Way| text(of_way(scores, 0, place(way), Score::mean));
    let number = |way: Way, of: &dyn Fn(&Score) -> f64| text(of_way(scores, 0, place(way), of));
    format!(
        "At 50 to 800 ms, a randomly driven tank is shown {} m off with global time, {} m counted from arrival, {} m by \
         interpolated snapshots and {} m in lock-step, which also answers its own player only after {} ms. Global time needs {} \
         messages of {} bytes a second, snapshots {}. A bucket of 100 ms is {} m off for the one receiver at 50 ms and excludes \
         the rest. Waiting for the slowest or playing in lock-step makes all images equal, the owner's included, at that \
         price in response; with global time two receivers see the tank {} m apart.",
        mean(Way::Global),
        mean(Way::Local),
        mean(Way::Snapshots),
        mean(Way::LockStep),
        number(Way::LockStep, &|score| score.response_ms),
        number(Way::Global, &|score| score.messages),
        text(median(base, |seed| seed.bytes)),
        number(Way::Snapshots, &|score| score.messages),
        mean(Way::Bucket),
        number(Way::Global, &|score| score.spread),
    )
}
