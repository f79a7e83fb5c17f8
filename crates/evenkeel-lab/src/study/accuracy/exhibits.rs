//! What the accuracy study shows: the shape of figure 2.2, and what it comes to.

use super::Seed;
use super::drive::Drive;
use super::take::{Cell, Points};
use crate::study::measure::{ACCURACY_DELAYS_MS, CLOCK_RULES, cells, median, percent, text};
use crate::study::{Exhibit, Series};

/// All of them.
pub(super) fn exhibits(seeds: &[Seed]) -> Vec<Exhibit> {
    let mut all = vec![errors(seeds), split(seeds)];
    all.extend(figure(seeds));
    all.extend(stop(seeds));
    all.push(stops(seeds));
    all
}

/// The median over seeds of something in each cell of a row, by clock rule.
fn by_rule(seeds: &[Seed], drive: usize, delay: usize, of: impl Fn(&Cell) -> f64) -> Vec<f64> {
    let one = |rule: usize| median(seeds, |seed| of(&seed.takes[drive].cells[rule][delay]));
    (0..CLOCK_RULES.len()).map(one).collect()
}

/// One row for each motion and delay, with what `of` says about it.
fn rows(of: impl Fn(usize, usize) -> Vec<String>) -> Vec<Vec<String>> {
    let row = |(drive, delay): (usize, usize)| {
        let head = [Drive::ALL[drive].0.to_owned(), format!("{} ms", ACCURACY_DELAYS_MS[delay])];
        head.into_iter().chain(of(drive, delay)).collect()
    };
    (0..3).flat_map(|drive| (0..3).map(move |delay| (drive, delay))).map(row).collect()
}

fn errors(seeds: &[Seed]) -> Exhibit {
    let of = |drive: usize, delay: usize| {
        let mean = by_rule(seeds, drive, delay, |cell| cell.mean);
        let peak = by_rule(seeds, drive, delay, |cell| cell.peak);
        let within = by_rule(seeds, drive, delay, |cell| cell.within);
        let each = mean.iter().zip(&peak).map(|(mean, peak)| format!("{} / {}", text(*mean), text(*peak)));
        each.chain([text(mean[0] / mean[1]), percent(within[0])]).collect()
    };
    Exhibit::Table {
        title: "Distance between real and placed, mean / peak".into(),
        note: "In metres; medians over seeds. A tank is 6 m long. The last column is the share of frames on which the global \
               rule shows the tank within the trigger's tolerance of 0.1 m."
            .into(),
        head: cells(["motion", "delay", "global", "local", "one-way", "global / local", "within 0.1 m (global)"]),
        rows: rows(of),
    }
}

fn split(seeds: &[Seed]) -> Exhibit {
    let of = |drive: usize, delay: usize| {
        let before = by_rule(seeds, drive, delay, |cell| cell.before);
        let after = by_rule(seeds, drive, delay, |cell| cell.after);
        before.iter().zip(&after).map(|(before, after)| format!("{} + {}", text(*before), text(*after))).collect()
    };
    Exhibit::Table {
        title: "Export error before + after the newest vector is received".into(),
        note: "Metre-seconds per second; medians over seeds. The global rule leaves nothing after reception.".into(),
        head: cells(["motion", "delay", "global", "local", "one-way"]),
        rows: rows(of),
    }
}

/// The nine panels of figure 2.2, for the first seed.
fn figure(seeds: &[Seed]) -> Vec<Exhibit> {
    let Some(first) = seeds.first() else { return Vec::new() };
    let panel = |(drive, delay): (usize, usize)| {
        let [global, local] = &first.takes[drive].window.as_ref()?[delay];
        let series = |name: &str, points: &Points| Series { name: name.into(), points: points.clone() };
        Some(Exhibit::Curves {
            title: format!("{} motion, {} ms", Drive::ALL[drive].0, ACCURACY_DELAYS_MS[delay]),
            note: "Distance between where the tank is and where it is placed, frame by frame, in the first run.".into(),
            x: "seconds".into(),
            y: "metres".into(),
            series: vec![series("local", local), series("global", global)],
        })
    };
    (0..3).flat_map(|drive| (0..3).map(move |delay| (drive, delay))).filter_map(panel).collect()
}

fn stop(seeds: &[Seed]) -> Option<Exhibit> {
    Some(Exhibit::Curves {
        title: "A tank stops: 300 ms".into(),
        note: "Where the tank is and where it is placed along its way, from the stop on. The global image overshoots until the \
               vector comes; the local one arrives late."
            .into(),
        x: "seconds after the stop".into(),
        y: "metres past the stop".into(),
        series: seeds.first()?.stops.curves.clone(),
    })
}

fn stops(seeds: &[Seed]) -> Exhibit {
    let row = |(index, delay): (usize, f64)| {
        let of = |past: &dyn Fn(&Seed) -> f64| text(median(seeds, past));
        vec![
            format!("{delay} ms"),
            of(&|seed| seed.stops.global[index].past.1),
            of(&|seed| seed.stops.local[index].past.1),
            of(&|seed| delay + seed.stops.global[index].late * 1e3 / 60.0),
            of(&|seed| delay + seed.stops.local[index].late * 1e3 / 60.0),
        ]
    };
    Exhibit::Table {
        title: "Stops from 25 m/s".into(),
        note: "How far the image goes past the stop, in metres, and how long after the tank it stands, in ms; the largest of \
               all stops, medians over seeds."
            .into(),
        head: cells(["delay", "past, global", "past, local", "stands, global", "stands, local"]),
        rows: ACCURACY_DELAYS_MS.into_iter().enumerate().map(row).collect(),
    }
}
