//! What the clock study shows.

use super::cost::{CLOCKS, CONSTANT_MS, Cost, Network};
use super::one_way::{OneWay, Way};
use crate::clock::PathReport;
use crate::study::measure::{ACCURACY_DELAYS_MS, cells, median, text};
use crate::study::{Exhibit, Series};

/// All of them.
pub(super) fn exhibits(reports: &[PathReport], costs: &[&[Cost]], ways: &[&[OneWay]]) -> Vec<Exhibit> {
    vec![clocks(reports), metres(costs), constant(costs), one_way(ways)]
}

fn clocks(reports: &[PathReport]) -> Exhibit {
    let row = |path: &PathReport| {
        let rivals = [path.ewma, path.min_of_eight, path.lightyear].map(|errors| errors.p99_ms);
        let best = rivals.iter().copied().fold(f64::INFINITY, f64::min);
        let ours = [path.ours.p50_ms, path.ours.p99_ms, path.ours.max_ms];
        let numbers = ours.into_iter().chain(rivals).chain([best / path.ours.p99_ms, path.under_1ms_secs]);
        [path.path.clone()].into_iter().chain(numbers.map(text)).collect()
    };
    Exhibit::Table {
        title: "How far off clocks are, in ms".into(),
        note: "The same packets for all: pings twice a second and ten stamped datagrams, 5 % lost, the host's clock 50 ppm off. \
               The last seven paths break an assumption of the session's clock: a floor that some packets come near to."
            .into(),
        head: cells([
            "path",
            "session p50",
            "session p99",
            "session max",
            "EWMA p99",
            "min of 8 p99",
            "lightyear p99",
            "best rival / session",
            "under 1 ms after s",
        ]),
        rows: reports.iter().map(row).collect(),
    }
}

fn metres(costs: &[&[Cost]]) -> Exhibit {
    let row = |(network, delay): (usize, usize)| {
        let of = |what: &dyn Fn(&Cost) -> f64| text(median(costs, |seed| what(&seed[network])));
        let head = [Network::ALL[network].name(), format!("{} ms", ACCURACY_DELAYS_MS[delay])];
        let clocks = (0..CLOCKS.len()).map(|clock| of(&|cost| cost.clocks[clock][delay]));
        let ends = [of(&|cost| cost.perfect[delay]), of(&|cost| cost.local[delay])];
        let [perfect, local] = ends;
        head.into_iter().chain([perfect]).chain(clocks).chain([local]).collect()
    };
    let all = (0..Network::ALL.len()).flat_map(|network| (0..3).map(move |delay| (network, delay)));
    let head = ["network", "delay", "perfect clock"].into_iter().chain(CLOCKS).chain(["from arrival"]);
    Exhibit::Table {
        title: "What a clock costs: distance between real and placed".into(),
        note: "Mean over frames in metres, a randomly driven tank; medians over seeds. Each clock was measured on the path that \
               the vectors take."
            .into(),
        head: head.map(str::to_owned).collect(),
        rows: all.map(row).collect(),
    }
}

fn constant(costs: &[&[Cost]]) -> Exhibit {
    let series = |(index, delay): (usize, f64)| {
        let point = |(row, ms): (usize, f64)| (ms, median(costs, |seed| seed[0].constant[row][index]));
        Series { name: format!("{delay} ms"), points: CONSTANT_MS.into_iter().enumerate().map(point).collect() }
    };
    Exhibit::Curves {
        title: "A clock that is off by so much".into(),
        note: "Mean distance between real and placed at receivers whose clock is ahead by a constant.".into(),
        x: "clock error, ms".into(),
        y: "metres".into(),
        series: ACCURACY_DELAYS_MS.into_iter().enumerate().map(series).collect(),
    }
}

fn one_way(ways: &[&[OneWay]]) -> Exhibit {
    let row = |(index, number): (usize, usize)| {
        let of = |what: &dyn Fn(&OneWay) -> f64| text(median(ways, |seed| what(&seed[index])));
        let name = Way::ALL[index].receiver(number);
        vec![name, of(&|w| w.global[number]), of(&|w| w.one_way[number]), of(&|w| w.ratios[number])]
    };
    let all = (0..Way::ALL.len()).flat_map(|way| (0..3).map(move |number| (way, number)));
    Exhibit::Table {
        title: "Without synchronised clocks: arrival less half the round trip".into(),
        note: "Mean distance between real and placed in metres, linear vectors, a randomly driven tank; medians over seeds.".into(),
        head: cells(["way", "global", "one-way", "ratio"]),
        rows: all.map(row).collect(),
    }
}
