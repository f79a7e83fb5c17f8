//! Which of the papers' claims about accuracy hold.

use super::claims::*;
use super::drive::Drive;
use super::take::{Cell, Take};
use super::{Seed, Takes};
use crate::study::measure::{ACCURACY_DELAYS_MS, TANK_LENGTH, TANK_WIDTH, growth, median, observe, text};
use crate::study::{Claim, Finding, Observation};

/// Places in [`CLOCK_RULES`](crate::study::measure::CLOCK_RULES).
const GLOBAL: usize = 0;
const LOCAL: usize = 1;
/// Places in [`Drive::ALL`].
const LINEAR: usize = 0;
const CIRCULAR: usize = 1;
const RANDOM: usize = 2;
/// Places among the delays.
const AT_100: usize = 0;
const AT_300: usize = 1;

/// One observation for each delay of a motion.
fn by_delay(seeds: &[Seed], drive: usize, of: impl Fn(&Take, usize) -> f64) -> Vec<Observation> {
    let name = Drive::ALL[drive].0;
    let one = |(index, delay): (usize, f64)| {
        observe(format!("{name}, {delay} ms"), seeds, |seed| of(&seed.takes[drive], index))
    };
    ACCURACY_DELAYS_MS.into_iter().enumerate().map(one).collect()
}

/// One observation for each motion and delay.
fn by_cell(seeds: &[Seed], of: impl Fn(&Take, usize) -> f64) -> Vec<Observation> {
    (0..Drive::ALL.len()).flat_map(|drive| by_delay(seeds, drive, &of)).collect()
}

/// One observation for each motion.
fn by_drive(seeds: &[Seed], of: impl Fn(&Take) -> f64) -> Vec<Observation> {
    let one = |(drive, (name, _)): (usize, (&str, Drive))| observe(name, seeds, |seed| of(&seed.takes[drive]));
    Drive::ALL.into_iter().enumerate().map(one).collect()
}

fn ratio(take: &Take, delay: usize, of: impl Fn(&Cell) -> f64) -> f64 {
    of(&take.cells[GLOBAL][delay]) / of(&take.cells[LOCAL][delay])
}

fn of_mean(take: &Take, delay: usize) -> f64 {
    ratio(take, delay, |cell| cell.mean)
}

/// How something grows over the delays.
fn grows(take: &Take, rule: usize, of: impl Fn(&Cell) -> f64) -> f64 {
    growth(&take.cells[rule].each_ref().map(of))
}

/// The ratio of the means in all nine cells, smallest first.
fn sorted_ratios(takes: &Takes) -> Vec<f64> {
    let mut ratios: Vec<f64> = takes.iter().flat_map(|take| [0, 1, 2].map(|delay| of_mean(take, delay))).collect();
    ratios.sort_by(f64::total_cmp);
    ratios
}

/// All of them, in the order of the papers.
pub(super) fn findings(seeds: &[Seed]) -> Vec<Finding> {
    let mut all = export_errors(seeds);
    all.extend(averages(seeds));
    all.extend(linear(seeds));
    all.extend([circular(seeds), trigger_rates(seeds)]);
    all.extend(random(seeds));
    all.extend(stops(seeds));
    all
}

fn export_errors(seeds: &[Seed]) -> Vec<Finding> {
    let mut after = by_cell(seeds, |take, delay| take.cells[GLOBAL][delay].after_most);
    for (index, jitter) in crate::study::measure::JITTERS_MS.into_iter().enumerate() {
        let with = |(drive, (name, _)): (usize, (&str, Drive))| {
            let condition = format!("{name}, 800/500/200 ±{jitter} ms");
            observe(condition, seeds, |seed| seed.takes[drive].after_most_with_jitter[index])
        };
        after.extend(Drive::ALL.into_iter().enumerate().map(with));
    }
    let before = |cell: &Cell| cell.before;
    let total = |cell: &Cell| cell.export;
    vec![
        Finding::new(ACC_AFTER_EXPORT_ZERO, after)
            .remarking("Looked at sixty times a second, between two samples. Exported is what the vector says after quantisation, on both sides."),
        Finding::new(ACC_LOCAL_LAGS_BY_DELAY, by_cell(seeds, |take, delay| take.off_lag[delay])).remarking(
            "Stamps are on ticks of 1 ms and arrivals are not: 2.5 cm, a tick's way at full speed, is counted as quantisation.",
        ),
        Finding::new(ACC_BEFORE_EXPORT_REMAINS, by_delay(seeds, RANDOM, |take, d| take.cells[GLOBAL][d].before)),
        Finding::new(ACC_BEFORE_EXPORT_REDUCED, by_cell(seeds, |take, delay| ratio(take, delay, before))).remarking(
            "Before export error is what accrues while the newest vector has not arrived; under the local rule the image is a \
             delay behind even then.",
        ),
        Finding::new(ACC_TOTAL_EXPORT_REDUCED, by_cell(seeds, |take, delay| ratio(take, delay, total))),
    ]
}

fn averages(seeds: &[Seed]) -> Vec<Finding> {
    let of_nine = |name: &str, rank: usize| observe(name, seeds, |seed| sorted_ratios(&seed.takes)[rank]);
    let average = vec![of_nine("median of the nine cells", 4), of_nine("seventh of the nine cells", 6)];
    let local_100 = |take: &Take| take.cells[LOCAL][AT_100].peak / TANK_LENGTH;
    let largest = |seed: &Seed| seed.takes.iter().map(local_100).fold(0.0, f64::max);
    vec![
        Finding::new(ACC_AVERAGE_SUBSTANTIALLY_LESS, average).remarking(
            "\"In general\" is read as seven of the nine cells: the seventh smallest ratio must be in the band too.",
        ),
        Finding::new(ACC_100MS_SIGNIFICANT, by_drive(seeds, |take| of_mean(take, AT_100))),
        Finding::new(ACC_LOCAL_SUBSTANTIAL_LOW_DELAY, vec![observe("largest over motions", seeds, largest)]),
        Finding::new(ACC_LOCAL_GROWS, by_drive(seeds, |take| grows(take, LOCAL, |cell| cell.mean))),
        Finding::new(ACC_SMALL_OVERALL, by_delay(seeds, RANDOM, |take, delay| take.cells[GLOBAL][delay].export)),
    ]
}

fn linear(seeds: &[Seed]) -> Vec<Finding> {
    let lengths = |rule: usize, of: fn(&Cell) -> f64| {
        vec![observe("300 ms", seeds, |seed| of(&seed.takes[LINEAR].cells[rule][AT_300]) / TANK_LENGTH)]
    };
    let widths = median(seeds, |seed| seed.takes[LINEAR].cells[LOCAL][AT_300].peak) / TANK_WIDTH;
    vec![
        Finding::new(ACC_LINEAR_MOSTLY_ZERO, by_delay(seeds, LINEAR, |take, delay| take.cells[GLOBAL][delay].within)),
        Finding::new(
            ACC_LINEAR_PEAKS_GROW,
            vec![observe("linear", seeds, |seed| grows(&seed.takes[LINEAR], GLOBAL, |cell| cell.peak))],
        ),
        Finding::new(ACC_LINEAR_MUCH_SMALLER, by_delay(seeds, LINEAR, of_mean)),
        Finding::new(ACC_LINEAR_300_LOCAL, lengths(LOCAL, |cell| cell.peak)).remarking(format!(
            "In tank widths: {}. \"Tank units\" is not defined; lengths are our reading.",
            text(widths)
        )),
        Finding::new(ACC_LINEAR_300_GLOBAL, lengths(GLOBAL, |cell| cell.mean)),
    ]
}

fn circular(seeds: &[Seed]) -> Finding {
    let name = |what: &str, part: Observation| Observation::new(format!("{what}: {}", part.condition), part.values);
    let within = by_delay(seeds, CIRCULAR, |take, delay| 0.75 / take.cells[GLOBAL][delay].within);
    let smaller = by_delay(seeds, CIRCULAR, |take, delay| of_mean(take, delay) / 0.5);
    let near =
        observe("mean at 300 ms", seeds, |seed| seed.takes[CIRCULAR].cells[GLOBAL][AT_300].mean / (0.1 * TANK_LENGTH));
    let mut parts: Vec<Observation> = within.into_iter().map(|part| name("time within tolerance", part)).collect();
    parts.extend(smaller.into_iter().map(|part| name("global / local", part)));
    parts.push(near);
    Finding::new(ACC_CIRCULAR_SIMILAR, parts)
}

fn trigger_rates(seeds: &[Seed]) -> Finding {
    let rate = |drive: usize| move |seed: &Seed| seed.takes[drive].changes;
    let of_random = |drive: usize, limit: f64| move |seed: &Seed| rate(drive)(seed) / rate(RANDOM)(seed) / limit;
    let parts = vec![
        observe("linear, very few", seeds, of_random(LINEAR, 0.1)),
        observe("circular, a few", seeds, of_random(CIRCULAR, 0.25)),
    ];
    let rates = [LINEAR, CIRCULAR, RANDOM].map(|drive| text(median(seeds, rate(drive))));
    let [linear, circular, random] = rates;
    Finding::new(ACC_TRIGGER_RATES, parts).remarking(format!(
        "Vectors a second: linear {linear}, circular {circular}, random {random}. How often a human corrects its way is our \
         choice (every 8 s), and nearly all linear vectors come from that and from starts and stops.",
    ))
}

fn random(seeds: &[Seed]) -> Vec<Finding> {
    let low = vec![
        observe("vectors received before the next", seeds, |seed| (1.0 - seed.takes[RANDOM].overtaken[AT_100]) / 0.5),
        observe("time within tolerance", seeds, |seed| seed.takes[RANDOM].cells[GLOBAL][AT_100].within / 0.25),
    ];
    let growing = vec![
        observe("vectors overtaken", seeds, |seed| growth(&seed.takes[RANDOM].overtaken)),
        observe("mean distance", seeds, |seed| grows(&seed.takes[RANDOM], GLOBAL, |cell| cell.mean)),
    ];
    vec![
        Finding::new(ACC_RANDOM_LOW_DELAY_ZERO, low),
        Finding::new(ACC_RANDOM_GLOBAL_GROWS, growing),
        Finding::new(ACC_RANDOM_FEW_WORSE, by_delay(seeds, RANDOM, |take, delay| take.worse[delay])),
        Finding::new(ACC_WORSE_AT_STOP, by_delay(seeds, RANDOM, |take, delay| take.worse_at_stop[delay]))
            .remarking("The rest follows other changes of speed or direction, which make the image run ahead as well."),
    ]
}

fn stops(seeds: &[Seed]) -> Vec<Finding> {
    let each = |claim: Claim, what: &str, of: &dyn Fn(&Seed, usize) -> f64| {
        let one = |(index, delay): (usize, f64)| observe(format!("{what}{delay} ms"), seeds, |seed| of(seed, index));
        Finding::new(claim, ACCURACY_DELAYS_MS.into_iter().enumerate().map(one).collect())
    };
    let tolerance = super::take::tolerance();
    let overshoots = each(ACC_GLOBAL_OVERSHOOTS_STOP, "", &|seed, delay| seed.stops.global[delay].past.0);
    let mut none =
        each(ACC_LOCAL_NO_OVERSHOOT, "past the stop, ", &|seed, delay| seed.stops.local[delay].past.1 / tolerance);
    let late = each(ACC_LOCAL_NO_OVERSHOOT, "standing, ", &|seed, delay| seed.stops.local[delay].late.abs());
    none.observations.extend(late.observations);
    let most = text(median(seeds, |seed| seed.stops.local[AT_300].past.1));
    vec![
        overshoots.remarking("Stops from full speed after two to four seconds straight on."),
        none.remarking(format!(
            "A stop is noticed on the frame after it, when the exported path has gone on for a frame: the image overshoots by \
             {most} m at every delay, looked at eight times a frame, and stands a frame and a delay after the tank.",
        )),
    ]
}
