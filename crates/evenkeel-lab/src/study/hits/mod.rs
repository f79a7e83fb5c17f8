//! Shots at what one sees: the thesis's qualitative result (2.3.1) in numbers, and what rewinding makes of it.

mod claims;
mod range;

use super::measure::{ACCURACY_DELAYS_MS, cells, median, observe, over, percent, seeds_with, settings_of};
use super::{Brief, Entry, Exhibit, Finding, Study, Watch};
use anyhow::Result;
use claims::{HITS_GAIN_GROWS, HITS_GLOBAL_BETTER, HITS_LOCAL_MISSES};
use evenkeel::ClockRule;
use range::{Shooter, Tally, shoot};

/// What is compared: a name, a clock rule, and the uniform jitter of the network in ms.
const RANGES: [(&str, ClockRule, f64); 4] = [
    ("local", ClockRule::Local, 0.0),
    ("global", ClockRule::Global, 0.0),
    ("local, ±50 ms", ClockRule::Local, 50.0),
    ("global, ±50 ms", ClockRule::Global, 50.0),
];
const LOCAL: usize = 0;
const GLOBAL: usize = 1;

/// With one seed: by range, then by delay.
type Seed<'a> = &'a [[Shooter; 3]];

pub(super) const ENTRY: Entry = Entry {
    name: "hits",
    question: "Does a shot at what one sees hit what is there, and does rewinding make both sides agree?",
    reproduces: "thesis 2.3.1 (words, no figure): hit rates with local and global clocks",
    needs: &[],
    run,
};

/// Runs it.
fn run(brief: &Brief, watch: &Watch<'_>) -> Result<Study> {
    let size = brief.size;
    let keys = seeds_with(size, &RANGES);
    let ranges = over(&keys, watch, |(seed, (_, rule, jitter))| shoot(*rule, *jitter, size.seconds, *seed))?;
    let seeds: Vec<Seed<'_>> = ranges.chunks(RANGES.len()).collect();
    Ok(Study {
        name: "hits",
        settings: settings_of(size, &[("delays_ms", "100, 300, 800".into()), ("target_m", "2.8 x 6".into())]),
        summary: summary(&seeds),
        exhibits: vec![bars(&seeds), steady(&seeds), shaking(&seeds)],
        findings: findings(&seeds),
        rows: Vec::new(),
        simulated_seconds: size.seconds * keys.len() as f64,
    })
}

/// The hit rate by what is real, with a steady hand.
fn rate(seed: &Seed<'_>, range: usize, delay: usize) -> f64 {
    seed[range][delay].steady.share(|tally| tally.real)
}

fn gain(seed: &Seed<'_>, delay: usize) -> f64 {
    rate(seed, GLOBAL, delay) - rate(seed, LOCAL, delay)
}

fn findings(seeds: &[Seed<'_>]) -> Vec<Finding> {
    let better = |(index, delay): (usize, f64)| {
        observe(format!("{delay} ms"), seeds, |seed| rate(seed, GLOBAL, index) / rate(seed, LOCAL, index))
    };
    let grows = vec![observe("800 ms against 100 ms", seeds, |seed| gain(seed, 2) - gain(seed, 0))];
    // No tank crosses its own length in 100 ms.
    let misses = |index: usize| {
        observe(format!("{} ms", ACCURACY_DELAYS_MS[index]), seeds, |seed| {
            seed[LOCAL][index].crossing.share(|tally| tally.real)
        })
    };
    let gains = [0, 1, 2].map(|delay| percent(median(seeds, |seed| gain(seed, delay))));
    vec![
        Finding::new(HITS_GLOBAL_BETTER, ACCURACY_DELAYS_MS.into_iter().enumerate().map(better).collect())
            .remarking(
                "Shots take no time, go for the middle of what is seen and are judged by where the tank is when they are fired, \
                 under both rules. In 100 ms a tank goes less than half its length: a steady hand hits it either way.",
            ),
        Finding::new(HITS_GAIN_GROWS, grows)
            .remarking(format!("Gained at 100, 300 and 800 ms: {}.", gains.join(", "))),
        Finding::new(HITS_LOCAL_MISSES, vec![misses(1), misses(2)])
            .remarking("At 25 m/s a tank needs 240 ms for its own length: 100 ms has no such shots."),
    ]
}

fn bars(seeds: &[Seed<'_>]) -> Exhibit {
    let bar = |name: &str, range: usize, of: fn(&Tally) -> f64| {
        let one = |delay: usize| 100.0 * median(seeds, |seed| seed[range][delay].steady.share(of));
        (name.to_owned(), vec![one(0), one(1), one(2)])
    };
    Exhibit::Bars {
        title: "Hits when aiming at what one sees".into(),
        note: "Share of shots with a steady hand that hit by what is real, and by what the owner's books say the shooter saw.".into(),
        x: "one-way delay".into(),
        y: "hits, %".into(),
        groups: ACCURACY_DELAYS_MS.map(|ms| format!("{ms} ms")).to_vec(),
        bars: vec![
            bar("local", LOCAL, |tally| tally.real),
            bar("global", GLOBAL, |tally| tally.real),
            bar("local, rewound", LOCAL, |tally| tally.rewound),
            bar("global, rewound", GLOBAL, |tally| tally.rewound),
        ],
    }
}

/// One row for each range and delay.
fn table(title: &str, note: &str, head: Vec<String>, of: impl Fn(usize, usize) -> Vec<f64>) -> Exhibit {
    let row = |(range, delay): (usize, usize)| {
        let names = [RANGES[range].0.to_owned(), format!("{} ms", ACCURACY_DELAYS_MS[delay])];
        names.into_iter().chain(of(range, delay).into_iter().map(percent)).collect()
    };
    let rows = (0..RANGES.len()).flat_map(|range| (0..3).map(move |delay| (range, delay))).map(row).collect();
    Exhibit::Table { title: title.into(), note: note.into(), head, rows }
}

fn steady(seeds: &[Seed<'_>]) -> Exhibit {
    let of = |range: usize, delay: usize| {
        let share = |pick: fn(&Shooter) -> Tally, of: fn(&Tally) -> f64| {
            median(seeds, |seed| pick(&seed[range][delay]).share(of))
        };
        vec![
            share(|shooter| shooter.steady, |tally| tally.real),
            share(|shooter| shooter.steady, |tally| tally.rewound),
            share(|shooter| shooter.crossing, |tally| tally.real),
        ]
    };
    table(
        "A steady hand: share of hits",
        "Every shot hits the middle of what its shooter sees. Medians over seeds.",
        cells(["rule", "delay", "by what is real", "rewound", "crossing targets, by what is real"]),
        of,
    )
}

fn shaking(seeds: &[Seed<'_>]) -> Exhibit {
    let of = |range: usize, delay: usize| {
        let share = |of: fn(&Tally) -> f64| median(seeds, |seed| seed[range][delay].shaking.share(of));
        vec![
            share(|tally| tally.seen),
            share(|tally| tally.real),
            share(|tally| tally.rewound),
            share(|tally| tally.disputed),
            share(|tally| tally.disputed_rewound),
        ]
    };
    table(
        "A shaking hand: hits, and shots about which shooter and owner disagree",
        "A degree of shaking at 40 to 120 m. The owner is asked one delay after the shot, when receipts may still be on their way.",
        cells(["rule", "delay", "hits, seen", "hits, real", "hits, rewound", "disagree", "disagree, rewound"]),
        of,
    )
}

fn summary(seeds: &[Seed<'_>]) -> String {
    let hits = |range: usize, delay: usize| percent(median(seeds, |seed| rate(seed, range, delay)));
    let disputed = |range: usize, of: fn(&Tally) -> f64| {
        let worst = (0..3).map(|delay| median(seeds, |seed| seed[range][delay].shaking.share(of)));
        percent(worst.fold(0.0, f64::max))
    };
    format!(
        "Of shots aimed at what is seen, {}, {} and {} hit what is there at 100, 300 and 800 ms with global time, {}, {} and {} \
         counted from arrival. With global time, shooter and owner disagree about up to {} of the shots of a shaking hand; if the \
         owner rewinds to what the shooter saw, about {} without jitter and {} with ±50 ms.",
        hits(GLOBAL, 0),
        hits(GLOBAL, 1),
        hits(GLOBAL, 2),
        hits(LOCAL, 0),
        hits(LOCAL, 1),
        hits(LOCAL, 2),
        disputed(GLOBAL, |tally| tally.disputed),
        disputed(GLOBAL, |tally| tally.disputed_rewound),
        disputed(3, |tally| tally.disputed_rewound),
    )
}
