//! What there is to look at: tables, plots, rows.

use super::Games;
use super::findings::{average, share};
use super::take::{Mark, Take, Way};
use crate::study::measure::{cells, median, percent};
use crate::study::{Exhibit, Row, Series};
use serde_json::{Value, json};

pub(super) fn exhibits(games: &[Games]) -> Vec<Exhibit> {
    let mut all = vec![means(games), extremes(games), equalised(games)];
    all.extend(games.iter().flat_map(|games| [convergence(games), clouds(games)]));
    all
}

const NOTE: &str = "Averages over games, in ms. Critical: the worst-off player's response; mean: playability; std: standard \
                    deviation over players, unfairness; p95: what 95 % of the players have at most. Gaps: how far the critical \
                    response is above the paper's lower bound, and above ours.";

fn means(games: &[Games]) -> Exhibit {
    let line = |games: &Games, way: Way| {
        let mean = |of: fn(&Mark) -> f64| average(&games.takes, |take| of(take.of(way)));
        let ms = |value: f64| if value.is_nan() { "-".into() } else { format!("{value:.1}") };
        vec![
            games.network.name().to_owned(),
            way.name().to_owned(),
            ms(mean(|m| m.critical)),
            ms(mean(|m| m.mean)),
            ms(mean(|m| m.std)),
            ms(mean(|m| m.p95)),
            ms(mean(|m| m.servers)),
            percent(average(&games.takes, |take| take.gap(way))),
            percent(average(&games.takes, |take| take.true_gap(way))),
        ]
    };
    Exhibit::Table {
        title: "Ways of choosing servers".into(),
        note: NOTE.into(),
        head: cells(["network", "servers by", "critical", "mean", "std", "p95", "servers", "paper's gap", "gap"]),
        rows: games.iter().flat_map(|games| Way::ALL.map(|way| line(games, way))).collect(),
    }
}

fn extremes(games: &[Games]) -> Exhibit {
    let line = |games: &Games| {
        let takes = &games.takes;
        let worse = |take: &Take| take.of(Way::Heuristic).critical > take.of(Way::CentralCritical).critical;
        let to = |take: &Take, way: Way| 1.0 - take.of(Way::Critical).critical / take.of(way).critical;
        let most = |of: &dyn Fn(&Take) -> f64| takes.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        vec![
            games.network.name().to_owned(),
            percent(share(takes, worse)),
            percent(average(takes, |take| to(take, Way::Heuristic))),
            percent(most(&|take| to(take, Way::Heuristic))),
            percent(average(takes, |take| to(take, Way::CentralCritical))),
            percent(most(&|take| to(take, Way::CentralCritical))),
            percent(average(takes, |take| 1.0 - take.paper_bound / take.bound)),
            percent(share(takes, |take| take.proven)),
        ]
    };
    Exhibit::Table {
        title: "The heuristic, one server, and the best possible".into(),
        note: "Games in which the heuristic's critical response is above the best central server's; by how much ours is below \
               the heuristic's and below the best central server's, on average and at most; by how much the paper's bound is \
               below ours; games in which ours is proven to be the least to the last bit."
            .into(),
        head: cells([
            "network",
            "heuristic worse",
            "below heuristic",
            "at most",
            "below central",
            "at most",
            "bound below ours",
            "proven",
        ]),
        rows: games.iter().map(line).collect(),
    }
}

fn equalised(games: &[Games]) -> Exhibit {
    let ways = [Way::CentralMean, Way::CentralCritical, Way::Heuristic, Way::Critical, Way::MeanPlusStd];
    let line = |games: &Games, way: Way| {
        let mean = |of: fn(&Mark) -> f64| average(&games.takes, |take| of(take.of(way)));
        vec![
            games.network.name().to_owned(),
            way.name().to_owned(),
            format!("{:.1} ± {:.1}", mean(|m| m.mean), mean(|m| m.std)),
            format!("{:.1} ± {:.1}", mean(|m| m.padded.0), mean(|m| m.padded.1)),
            format!("{:+.1}", mean(|m| m.padded.0 - m.mean)),
        ]
    };
    Exhibit::Table {
        title: "The price of equality".into(),
        note: "Mean response and its standard deviation over players in ms, as it is and once everybody is delayed to the slowest."
            .into(),
        head: cells(["network", "servers by", "as it is", "equalised", "price"]),
        rows: games.iter().flat_map(|games| ways.map(|way| line(games, way))).collect(),
    }
}

/// The game that is most like the others: in how many servers the heuristic opens, then in its gap; the first if there are
/// several.
fn typical(games: &Games) -> &Take {
    let servers = |take: &Take| take.of(Way::Heuristic).servers;
    let gap = |take: &Take| take.gap(Way::Heuristic);
    let usual = (average(&games.takes, servers).round(), median(&games.takes, gap));
    let off = |take: &Take| ((servers(take) - usual.0).abs(), (gap(take) - usual.1).abs());
    let nearer = |a: &&Take, b: &&Take| {
        let (a, b) = (off(a), off(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    };
    games.takes.iter().min_by(nearer).expect("there is a game")
}

fn convergence(games: &Games) -> Exhibit {
    let take = typical(games);
    let most = take.steps.iter().map(|(servers, _)| *servers).fold(2.0, f64::max);
    let level = |name: &str, value: f64| Series { name: name.into(), points: vec![(1.0, value), (most, value)] };
    let of = |way: Way| level(way.name(), take.of(way).critical);
    Exhibit::Curves {
        title: format!("Figure 2: a typical convergence of the heuristic, {}", games.network.name()),
        note: "The heuristic starts with the two most distant players and adds a server at a time for the worst-off one. Horizontal \
               lines do not depend on the number of servers."
            .into(),
        x: "servers of the heuristic".into(),
        y: "critical response time (ms)".into(),
        series: vec![
            Series { name: Way::Heuristic.name().into(), points: take.steps.clone() },
            of(Way::CentralMean),
            of(Way::CentralCritical),
            of(Way::Critical),
            level("the paper's lower bound", take.paper_bound),
        ],
    }
}

fn clouds(games: &Games) -> Exhibit {
    let ways = [Way::Random, Way::CentralMean, Way::CentralCritical, Way::Heuristic, Way::Critical, Way::MeanPlusStd];
    let cloud = |way: Way| Series {
        name: way.name().into(),
        points: games.takes.iter().map(|take| (take.of(way).mean, take.of(way).std)).collect(),
    };
    Exhibit::Clouds {
        title: format!("Figure 3: playability and fairness, {}", games.network.name()),
        note: "One point for each game and way of choosing servers; the closer to the origin, the better.".into(),
        x: "playability: mean response time (ms)".into(),
        y: "fairness: standard deviation (ms)".into(),
        series: ways.map(cloud).to_vec(),
    }
}

/// For programs: one row for each game and way.
pub(super) fn rows(games: &[Games], seed: u64) -> Vec<Row> {
    let row = |games: &Games, n: usize, way: Way| {
        let (take, mark) = (&games.takes[n], games.takes[n].of(way));
        let row = json!({
            "network": games.network.name(),
            "seed": seed.wrapping_add(n as u64),
            "strategy": way.name(),
            "critical_ms": mark.critical,
            "mean_ms": mark.mean,
            "std_ms": mark.std,
            "p95_ms": known(mark.p95),
            "servers": mark.servers as u64,
            "paper_bound_ms": take.paper_bound,
            "bound_ms": take.bound,
            "gap_to_paper_bound": take.gap(way),
            "gap_to_bound": take.true_gap(way),
            "equalised_mean_ms": known(mark.padded.0),
            "steps": if way == Way::Heuristic { json!(take.steps) } else { Value::Null },
        });
        row.as_object().cloned().unwrap_or_default()
    };
    let keys = games.iter().flat_map(|games| (0..games.takes.len()).map(move |n| (games, n)));
    keys.flat_map(|(games, n)| Way::ALL.map(|way| row(games, n, way))).collect()
}

fn known(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

pub(super) fn summary(games: &[Games]) -> String {
    let one = |games: &Games| {
        let takes = &games.takes;
        let mean = |way: Way, of: fn(&Mark) -> f64| average(takes, |take| of(take.of(way)));
        let critical = |way: Way| mean(way, |m| m.critical);
        format!(
            "{}: the best central server answers the worst-off player in {:.0} ms, the heuristic's {:.1} servers in {:.0} ms ({} above \
             the paper's bound, {} above the best possible), ours in {:.0} ms with {:.1} servers.",
            games.network.name(),
            critical(Way::CentralCritical),
            mean(Way::Heuristic, |m| m.servers),
            critical(Way::Heuristic),
            percent(average(takes, |take| take.gap(Way::Heuristic))),
            percent(average(takes, |take| take.true_gap(Way::Heuristic))),
            critical(Way::Critical),
            mean(Way::Critical, |m| m.servers),
        )
    };
    games.iter().map(one).collect::<Vec<_>>().join(" ")
}
