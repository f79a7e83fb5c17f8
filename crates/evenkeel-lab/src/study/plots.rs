//! How cells are shown: tables and plots.

use super::cells::{Cell, Take, average, median};
use super::{Exhibit, Series};
use crate::world::BIN;

/// A curve has so many points at most.
const MOST_POINTS: usize = 300;

/// A number with so many digits as are worth reading.
pub(super) fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

fn texts(head: &[&str]) -> Vec<String> {
    head.iter().map(|&name| name.to_owned()).collect()
}

/// A table.
pub(super) fn table(title: impl Into<String>, note: &str, head: &[&str], rows: Vec<Vec<String>>) -> Exhibit {
    Exhibit::Table { title: title.into(), note: note.to_owned(), head: texts(head), rows }
}

/// The table of a cell at the papers' delays: errors at the end of the run, averaged over seeds, and the median over seeds of
/// what they are relative to another policy's.
pub(super) fn error_table(title: String, cell: &Cell, to: &str) -> Exhibit {
    let head = ["policy", "vectors", "mean", "std", "max", "800 ms", "500 ms", "200 ms"];
    let relative = ["vectors", "mean", "std", "max", "800 ms", "500 ms", "200 ms"].map(|what| format!("{what} / {to}"));
    let figures: [fn(&Take) -> f64; 7] =
        [Take::sent, Take::mean, Take::std, Take::max, |t| t.errors[0], |t| t.errors[1], |t| t.errors[2]];
    let row = |(policy, _): &(String, Vec<Take>)| {
        let absolute = figures.map(|of| number(average(&cell.values(policy, of))));
        let relative = figures.map(|of| format!("{:.3}", median(cell.ratios(policy, to, of))));
        [policy.clone()].into_iter().chain(absolute).chain(relative).collect()
    };
    let head: Vec<&str> = head.into_iter().chain(relative.iter().map(String::as_str)).collect();
    let note = "Accumulated export error at the end of the run in metre-seconds, averaged over seeds: mean, standard \
                deviation and maximum over receivers, then each receiver. Ratios are medians over seeds.";
    table(title, note, &head, cell.policies.iter().map(row).collect())
}

/// Mean against standard deviation, one point per policy.
pub(super) fn trade_off(title: String, cell: &Cell) -> Exhibit {
    let of = |policy: &str, of: fn(&Take) -> f64| average(&cell.values(policy, of));
    let point = |(name, _): &(String, Vec<Take>)| (of(name, Take::mean), of(name, Take::std), name.clone());
    Exhibit::Points {
        title,
        note: "Nearer to the lower left is better: accurate, and fair. Averages over seeds.".into(),
        x: "mean accumulated export error (m s)".into(),
        y: "standard deviation over receivers (m s)".into(),
        points: cell.policies.iter().map(point).collect(),
    }
}

/// Each receiver's error, in groups by policy.
pub(super) fn receiver_bars(title: String, cell: &Cell) -> Exhibit {
    let of = |receiver: usize, policy: &str| average(&cell.values(policy, |take| take.errors[receiver]));
    let receiver = |(i, delay): (usize, &f64)| {
        (format!("{delay} ms"), cell.policies.iter().map(|(policy, _)| of(i, policy)).collect())
    };
    Exhibit::Bars {
        title,
        note: "The more alike the bars of a policy, the fairer it is. Averages over seeds.".into(),
        x: "policy".into(),
        y: "accumulated export error (m s)".into(),
        groups: cell.policies.iter().map(|(name, _)| name.clone()).collect(),
        bars: cell.delays_ms.iter().enumerate().map(receiver).collect(),
    }
}

/// How the errors of a cell grow with time in its first seed: mean, standard deviation, and each receiver under some policies.
pub(super) fn courses(what: &str, cell: &Cell, by_receiver: &[&str]) -> Vec<Exhibit> {
    let first = |name: &str| cell.takes(name).first().filter(|take| !take.course.is_empty());
    let names = cell.policies.iter().map(|(name, _)| name.as_str());
    let over_receivers = |pick: fn((f64, f64, f64)) -> f64| -> Vec<Series> {
        let series = |name| Some(series(name, first(name)?, |take, at| pick(take.statistics_at(at))));
        names.clone().filter_map(series).collect()
    };
    let each = |name: &&str| {
        let take = first(name)?;
        let one = |(i, delay): (usize, &f64)| series(&format!("{name}, {delay} ms"), take, |t, at| t.error_at(i, at));
        Some(cell.delays_ms.iter().enumerate().map(one).collect::<Vec<Series>>())
    };
    let curves = |which: &str, series: Vec<Series>| Exhibit::Curves {
        title: format!("{which} over time, {what}, {}", cell.name),
        note: "Accumulated export error, from snapshots every 100 ms of the first seed.".into(),
        x: "time (s)".into(),
        y: "accumulated export error (m s)".into(),
        series,
    };
    vec![
        curves("Standard deviation of errors", over_receivers(|(_, std, _)| std)),
        curves("Mean error", over_receivers(|(mean, ..)| mean)),
        curves("Each receiver's error", by_receiver.iter().filter_map(each).flatten().collect()),
    ]
}

/// A curve over a run; every so-maniest snapshot is a point.
fn series(name: &str, take: &Take, of: impl Fn(&Take, f64) -> f64) -> Series {
    let snapshots = (take.seconds() / BIN.as_secs_f64()).round() as usize;
    let step = snapshots.div_ceil(MOST_POINTS).max(1);
    let at = |snapshot: usize| snapshot as f64 * BIN.as_secs_f64();
    let points = (0..=snapshots).step_by(step).map(|snapshot| (at(snapshot), of(take, at(snapshot)))).collect();
    Series { name: name.to_owned(), points }
}
