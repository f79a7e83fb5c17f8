//! Lag against errors: tables, plots, and rows for programs.

use super::sweep::{Figure, PLAYABLE_MS, Sweep};
use crate::study::cells::{Take, average, number, table};
use crate::study::measure::percent;
use crate::study::{Exhibit, Row, Series};
use serde_json::{Value, json};

/// A lag is long enough if it buys this share of what the longest buys.
const MOST_OF_IT: f64 = 0.9;

pub(super) fn exhibits(sweeps: &[Sweep]) -> Vec<Exhibit> {
    let mut exhibits = vec![playable(sweeps), enough(sweeps)];
    for sweep in sweeps {
        for (figure, which) in [(Figure::Mean, "Mean"), (Figure::Std, "Std"), (Figure::Max, "Max")] {
            exhibits.extend([lag_table(sweep, figure, which), curves(sweep, figure, which)]);
        }
    }
    exhibits
}

fn policies(sweep: &Sweep) -> impl Iterator<Item = &str> {
    sweep.cells.iter().take(1).flat_map(|(_, cell)| cell.policies.iter().map(|(name, _)| name.as_str()))
}

/// A share, or a dash where it is one of nothing.
fn share(value: f64) -> String {
    if value.is_finite() { format!("{value:.3}") } else { "-".into() }
}

fn vectors(sweep: &Sweep, policy: &str, lag_ms: f64) -> f64 {
    average(&sweep.takes(policy, lag_ms).iter().map(Take::sent).collect::<Vec<_>>())
}

/// One figure of one network and motion: policies by lag.
fn lag_table(sweep: &Sweep, figure: Figure, which: &str) -> Exhibit {
    let row = |policy: &str| {
        let figures = sweep.lags_ms().map(|lag| number(sweep.average(policy, lag, figure)));
        let start = [policy.to_owned(), number(vectors(sweep, policy, 0.0))];
        start.into_iter().chain(figures).collect::<Vec<String>>()
    };
    let lags: Vec<String> = sweep.lags_ms().map(|lag| format!("{lag} ms")).collect();
    let head: Vec<&str> = ["policy", "vectors"].into_iter().chain(lags.iter().map(String::as_str)).collect();
    let note = "By lag: export error per second at shown time, the mean distance between exported and placed path, in metres, \
                over receivers and averaged over seeds. Vectors are those sent without lag; what takes a budget is trimmed to \
                a third of the base case's, the schedules send what they send.";
    let title = format!("{which} of errors (m) by lag: {}", sweep.name());
    table(title, note, &head, policies(sweep).map(row).collect())
}

fn curves(sweep: &Sweep, figure: Figure, which: &str) -> Exhibit {
    let one = |policy: &str| Series {
        name: policy.to_owned(),
        points: sweep.lags_ms().map(|lag| (lag, sweep.average(policy, lag, figure))).collect(),
    };
    Exhibit::Curves {
        title: format!("{which} of errors against lag: {}", sweep.name()),
        note: "Export error per second at shown time, averaged over seeds.".into(),
        x: "lag (ms)".into(),
        y: "metres".into(),
        series: policies(sweep).map(one).collect(),
    }
}

/// What is left with a lag that players bear, and what the policies make of it.
fn playable(sweeps: &[Sweep]) -> Exhibit {
    let row = |sweep: &Sweep, policy: &str| {
        let metres = |lag| [Figure::Mean, Figure::Std].map(|figure| number(sweep.average(policy, lag, figure)));
        let off = [Figure::Mean, Figure::Std].map(|figure| percent(1.0 - sweep.left(policy, PLAYABLE_MS, figure)));
        named(sweep, policy).chain(metres(0.0)).chain(metres(PLAYABLE_MS)).chain(off).collect::<Vec<String>>()
    };
    let rows = sweeps.iter().flat_map(|sweep| policies(sweep).map(move |policy| row(sweep, policy)));
    let head =
        ["motion", "delays", "policy", "mean (m)", "std (m)", "mean, lag", "std, lag", "off the mean", "off the std"];
    let note = "Without lag and with 100 ms, about the longest that players bear. Averages over seeds.";
    table("What a playable lag buys: none against 100 ms", note, &head, rows.collect())
}

/// How rows about a policy in a cell begin.
fn named(sweep: &Sweep, policy: &str) -> impl Iterator<Item = String> {
    [sweep.motion.name(), sweep.network.name(), policy].map(str::to_owned).into_iter()
}

/// From where on more lag buys next to nothing.
fn enough(sweeps: &[Sweep]) -> Exhibit {
    let row = |sweep: &Sweep, policy: &str| {
        let least = sweep.lags_ms().map(|lag| sweep.average(policy, lag, Figure::Mean)).fold(f64::INFINITY, f64::min);
        let none = sweep.average(policy, 0.0, Figure::Mean);
        let is_enough = |lag: &f64| none - sweep.average(policy, *lag, Figure::Mean) >= MOST_OF_IT * (none - least);
        let lag = sweep.lags_ms().find(is_enough).unwrap_or(0.0);
        let at_longest = sweep.average(policy, sweep.longest_ms(), Figure::Mean);
        let left = share(at_longest / none);
        named(sweep, policy).chain([format!("{lag}"), share(least / none), number(at_longest), left]).collect()
    };
    let rows = sweeps.iter().flat_map(|sweep| policies(sweep).map(move |policy| row(sweep, policy)));
    let head = ["motion", "delays", "policy", "90 % at (ms)", "best / no lag", "at longest (m)", "longest / no lag"];
    let note = "The shortest lag that takes nine tenths of what can be taken off the mean error, at what share of the error \
                without lag that ends, and what the longest lag leaves of it: what was never sent cannot be waited for.";
    table("Where lag stops paying", note, &head, rows.collect())
}

/// One row for each cell, policy and lag.
pub(super) fn rows(sweeps: &[Sweep]) -> Vec<Row> {
    let row = |sweep: &Sweep, policy: &str, lag: f64| {
        let metres = |figure| finite(sweep.average(policy, lag, figure));
        let left = |figure| finite(sweep.left(policy, lag, figure));
        let row = json!({
            "cell": sweep.network.name(),
            "motion": sweep.motion.name(),
            "policy": policy,
            "lag_ms": lag,
            "mean_m": metres(Figure::Mean),
            "std_m": metres(Figure::Std),
            "max_m": metres(Figure::Max),
            "vectors": finite(vectors(sweep, policy, lag)),
            "mean_to_no_lag": left(Figure::Mean),
            "std_to_no_lag": left(Figure::Std),
            "max_to_no_lag": left(Figure::Max),
        });
        if let Value::Object(row) = row { row } else { Row::new() }
    };
    let each = |sweep: &Sweep| {
        policies(sweep)
            .flat_map(|policy| sweep.lags_ms().map(move |lag| (policy, lag)))
            .map(|(policy, lag)| row(sweep, policy, lag))
            .collect::<Vec<Row>>()
    };
    sweeps.iter().flat_map(each).collect()
}

/// Null where a figure is no number.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
