//! What there is to look at: tables, plots, rows.

use super::Cell;
use super::case::{Case, JITTER_MS, LAGS_MS, LOSS, Network, ROUND_TRIPS_MS};
use super::echo::{ECHO_LAGS_MS, Echo};
use super::gauge::{Take, mean};
use crate::study::measure::{cells as texts, percent, text};
use crate::study::{Exhibit, Row, Series};
use serde_json::json;

impl Cell {
    /// The average over seeds.
    fn mean(&self, of: impl Fn(&Take) -> f64) -> f64 {
        mean(self.takes.iter().map(of))
    }
}

pub(super) fn exhibits(cells: &[Cell], echoes: &[Vec<Echo>]) -> Vec<Exhibit> {
    vec![table(cells), response(cells), revocations(cells), others(cells), echo(echoes)]
}

fn table(cells: &[Cell]) -> Exhibit {
    let row = |cell: &Cell| {
        vec![
            cell.case.network.name().to_owned(),
            cell.case.round_trip_ms.to_string(),
            cell.case.lag_ms.to_string(),
            format!("{:.0}", cell.mean(|take| take.response_ms)),
            format!("{:.0}", cell.mean(|take| take.told_ms)),
            text(cell.mean(Take::hits_per_minute)),
            text(cell.mean(Take::others_per_minute)),
            percent(cell.mean(Take::share)),
            text(cell.mean(|take| take.moved_mean)),
            text(cell.mean(|take| take.moved_max)),
            text(cell.mean(|take| take.reckoned)),
            text(cell.mean(|take| take.told)),
        ]
    };
    let note = format!(
        "Averages over seeds. Round trip, lag and response times in ms; told: the response time of a terminal that shows only \
         what the authority tells, every 50 ms. Revocations per minute of predictions of one's own tank: by hits, if it turned \
         out to be hit, not to be, or to come back elsewhere; by ops, if operations came to the authority too late or never. \
         Share of the authority's states that revoke; mean and largest distance of revocations by ops, in m. Others: mean \
         distance in m from where other tanks are to where they are shown, dead reckoned or as told last. Jitter: exponential, \
         {JITTER_MS} ms on average each way. Loss: {} each way, and nobody sends anything again: the game takes another course, \
         with fewer hits.",
        percent(LOSS)
    );
    Exhibit::Table {
        title: "A player at a distance from the authority".into(),
        note,
        head: texts([
            "network", "trip", "lag", "response", "told", "by hits", "by ops", "share", "moved", "at most", "others",
            "as told",
        ]),
        rows: cells.iter().map(row).collect(),
    }
}

/// A curve over round trips for each network and lag that was run.
fn curves(cells: &[Cell], name: &str, which: impl Fn(&Case) -> bool, of: fn(&Take) -> f64) -> Vec<Series> {
    let kinds = [(Network::Steady, LAGS_MS[0]), (Network::Steady, LAGS_MS[1]), (Network::Steady, LAGS_MS[2])];
    let kinds = kinds.into_iter().chain([(Network::Jitter, 0.0), (Network::Loss, 0.0)]);
    let curve = |(network, lag_ms): (Network, f64)| {
        let on = |cell: &&Cell| cell.case.network == network && cell.case.lag_ms == lag_ms && which(&cell.case);
        let points: Vec<_> = cells.iter().filter(on).map(|cell| (cell.case.round_trip_ms, cell.mean(of))).collect();
        let name = format!("{name}{}, lag {lag_ms} ms", network.name());
        (!points.is_empty()).then_some(Series { name, points })
    };
    kinds.filter_map(curve).collect()
}

fn response(cells: &[Cell]) -> Exhibit {
    let steady = |case: &Case| case.network == Network::Steady;
    let mut series = curves(cells, "predicted, ", steady, |take| take.response_ms);
    series.extend(curves(cells, "told, ", steady, |take| take.told_ms));
    Exhibit::Curves {
        title: "How soon one sees what one does".into(),
        note: "With prediction, after the lag and on average half a tick, wherever the authority is.".into(),
        x: "round trip (ms)".into(),
        y: "response time (ms)".into(),
        series,
    }
}

fn revocations(cells: &[Cell]) -> Exhibit {
    Exhibit::Curves {
        title: "How often it is taken back".into(),
        note: "Revocations of predictions of one's own tank, whatever their cause.".into(),
        x: "round trip (ms)".into(),
        y: "revocations per minute".into(),
        series: curves(cells, "", |_| true, Take::per_minute),
    }
}

fn others(cells: &[Cell]) -> Exhibit {
    let none = |case: &Case| case.network == Network::Steady && case.lag_ms == 0.0;
    let mut series = curves(cells, "dead reckoned, ", none, |take| take.reckoned);
    series.extend(curves(cells, "as told last, ", none, |take| take.told));
    Exhibit::Curves {
        title: "How far others are from where they are shown".into(),
        note: "The presentation inconsistency, with dead reckoning and without.".into(),
        x: "round trip (ms)".into(),
        y: "mean distance (m)".into(),
        series,
    }
}

fn echo(echoes: &[Vec<Echo>]) -> Exhibit {
    let row = |(n, lag_ms): (usize, f64)| {
        let of = |of: fn(&Echo) -> f64| text(mean(echoes.iter().map(|seed| of(&seed[n]))));
        vec![lag_ms.to_string(), of(|echo| echo.mean), of(|echo| echo.most), of(|echo| echo.waiting)]
    };
    Exhibit::Table {
        title: "What an echo hides".into(),
        note: "With a lag in ms and no prediction, one's own tank is shown where it was a lag ago, and its echo where it is going to \
               be. Mean distance of the two in m, the distance that is exceeded a twentieth of the time, and how many of a \
               player's operations wait to be shown. A tank drives at up to 25 m/s."
            .into(),
        head: texts(["lag", "distance", "19 of 20", "operations waiting"]),
        rows: ECHO_LAGS_MS.into_iter().enumerate().map(row).collect(),
    }
}

/// For programs.
pub(super) fn rows(cells: &[Cell]) -> Vec<Row> {
    let row = |cell: &Cell| {
        let mean = |of: fn(&Take) -> f64| cell.mean(of);
        let row = json!({
            "network": cell.case.network.name(),
            "round_trip_ms": cell.case.round_trip_ms,
            "lag_ms": cell.case.lag_ms,
            "response_ms": mean(|take| take.response_ms),
            "response_told_ms": mean(|take| take.told_ms),
            "revocations_per_minute": mean(Take::per_minute),
            "revocations_by_hits_per_minute": mean(Take::hits_per_minute),
            "revocations_by_operations_per_minute": mean(Take::others_per_minute),
            "revocation_share": mean(Take::share),
            "revocation_mean_m": mean(|take| take.moved_mean),
            "revocation_max_m": mean(|take| take.moved_max),
            "others_reckoned_m": mean(|take| take.reckoned),
            "others_told_m": mean(|take| take.told),
        });
        row.as_object().cloned().unwrap_or_default()
    };
    cells.iter().map(row).collect()
}

pub(super) fn summary(cells: &[Cell], echoes: &[Vec<Echo>]) -> String {
    let cell = |network, round_trip_ms| {
        let case = Case { round_trip_ms, lag_ms: 0.0, network };
        cells.iter().find(|cell| cell.case == case)
    };
    let of =
        |network, round_trip_ms, of: fn(&Take) -> f64| cell(network, round_trip_ms).map_or(f64::NAN, |c| c.mean(of));
    let [near, far] = [ROUND_TRIPS_MS[0], ROUND_TRIPS_MS[4]];
    let ops = |network| format!("{:.1}", of(network, 200.0, Take::others_per_minute));
    format!(
        "With prediction one sees what one does after {:.0} ms wherever the authority is; told by it, after {:.0} ms at a round \
         trip of {near} ms and {:.0} ms at {far} ms. On a steady network nothing is taken back but what comes of hits, {:.1} times a \
         minute at {near} ms and {:.1} at {far} ms; at 200 ms, jitter adds {} revocations a minute and loss {}. Dead reckoned, \
         others are {:.2} m off at 200 ms, as told last {:.2} m. The echo of a lag of 300 ms is {:.1} m ahead on average.",
        of(Network::Steady, 200.0, |take| take.response_ms),
        of(Network::Steady, near, |take| take.told_ms),
        of(Network::Steady, far, |take| take.told_ms),
        of(Network::Steady, near, Take::hits_per_minute),
        of(Network::Steady, far, Take::hits_per_minute),
        ops(Network::Jitter),
        ops(Network::Loss),
        of(Network::Steady, 200.0, |take| take.reckoned),
        of(Network::Steady, 200.0, |take| take.told),
        mean(echoes.iter().map(|seed| seed[3].mean)),
    )
}
