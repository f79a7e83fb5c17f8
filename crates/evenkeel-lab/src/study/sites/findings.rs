//! What the games say about the claims.

use super::claims::*;
use super::claims_design::*;
use super::take::{Mark, Take, Way};
use super::{Games, Network};
use crate::study::{Claim, Finding, Observation};

/// What is within this share of the best is close to it.
const CLOSE: f64 = 0.05;

pub(super) fn findings(games: &[Games]) -> Vec<Finding> {
    let each = |claim: Claim, of: fn(&Take) -> f64| Finding::new(claim, games.iter().map(|g| g.each(of)).collect());
    let one = |claim: Claim, of: fn(&[Take]) -> f64| Finding::new(claim, games.iter().map(|g| g.one(of)).collect());
    let mut all = vec![
        each(BOUND_VALID, |t| t.paper_bound / t.of(Way::Critical).critical),
        one(GAP, |takes| average(takes, |t| t.gap(Way::Heuristic))).remarking(BOUND_REMARK),
        one(TRUE_GAP, |takes| average(takes, |t| t.true_gap(Way::Heuristic))),
        one(SERVERS, |takes| average(takes, |t| t.of(Way::Heuristic).servers)),
        each(SIX_SERVERS, six_servers),
        each(SIGNIFICANTLY_BETTER, heuristic_to_central),
        each(OUTPERFORMS, heuristic_to_central),
        each(LIKELY, ours_to_central),
        each_server(games),
        each(FAIRER, |t| t.of(Way::Heuristic).std / t.of(Way::CentralMean).std.min(t.of(Way::CentralCritical).std)),
        each(SLIGHT_COST, |t| ratio(t, Way::Heuristic, Way::CentralMean, |m| m.mean)),
        each(MEAN_LOW, |t| {
            t.of(Way::CentralMean).mean / t.of(Way::CentralCritical).mean.min(t.of(Way::Heuristic).mean)
        }),
        each(MEAN_UNFAIR, |t| {
            t.of(Way::CentralMean).std / t.of(Way::CentralCritical).std.max(t.of(Way::Heuristic).std)
        }),
        one(CRITICAL_VARIABLE, |takes| spread(takes, Way::CentralCritical) / spread(takes, Way::CentralMean)),
        one(CRITICAL_SOMETIMES, |takes| share(takes, is_close)),
        else_fairer(games),
        beats_random(games),
        equalised(PAD_FAIR, games, |mark| mark.padded.1),
        equalised(PAD_COST, games, |mark| mark.padded.0 / mark.mean),
        each(NEVER_WORSE_HEURISTIC, ours_to_heuristic),
        each(NEVER_WORSE_CENTRAL, ours_to_central),
        each(PROVEN, |t| t.of(Way::Critical).critical - t.bound),
        each(BEATS_HEURISTIC, ours_to_heuristic),
        each(BEATS_CENTRAL, ours_to_central),
        each(BOTH, both),
    ];
    let measured: Vec<&Games> = games.iter().filter(|games| games.network == Network::PlanetLab).collect();
    if !measured.is_empty() {
        let worse = |games: &&Games| games.one(|takes| share(takes, |t| heuristic_to_central(t) > 1.0));
        all.push(Finding::new(OFTEN_WORSE, measured.iter().map(worse).collect()));
    }
    all
}

const BOUND_REMARK: &str = "The gap has two parts: what the bound lacks, since it looks at two players only, and what the heuristic \
                            misses; see sites-gap-to-best-5-percent for the second.";

impl Games {
    /// One value per game.
    fn each(&self, of: impl Fn(&Take) -> f64) -> Observation {
        Observation::new(self.network.name(), self.takes.iter().map(of).collect())
    }

    /// One value of all games.
    fn one(&self, of: impl Fn(&[Take]) -> f64) -> Observation {
        Observation::new(self.network.name(), vec![of(&self.takes)])
    }
}

fn ratio(take: &Take, a: Way, b: Way, of: fn(&Mark) -> f64) -> f64 {
    of(take.of(a)) / of(take.of(b))
}

fn heuristic_to_central(take: &Take) -> f64 {
    ratio(take, Way::Heuristic, Way::CentralCritical, |m| m.critical)
}

fn ours_to_central(take: &Take) -> f64 {
    ratio(take, Way::Critical, Way::CentralCritical, |m| m.critical)
}

fn ours_to_heuristic(take: &Take) -> f64 {
    ratio(take, Way::Critical, Way::Heuristic, |m| m.critical)
}

fn both(take: &Take) -> f64 {
    let others = Way::ALL.iter().filter(|way| **way != Way::MeanPlusStd);
    let least = others.map(|way| take.of(*way).mean_plus_std()).fold(f64::INFINITY, f64::min);
    take.of(Way::MeanPlusStd).mean_plus_std() / least
}

/// With six servers, or with all if there are fewer.
fn six_servers(take: &Take) -> f64 {
    let few = take.steps.iter().rfind(|(servers, _)| *servers <= 6.0);
    few.map_or(f64::NAN, |(_, critical)| critical / take.paper_bound)
}

/// Games in which the heuristic adds no server say nothing.
fn each_server(games: &[Games]) -> Finding {
    let one = |games: &Games| {
        let worst = |take: &Take| take.steps.windows(2).map(|pair| pair[1].1 / pair[0].1).reduce(f64::max);
        Observation::new(games.network.name(), games.takes.iter().filter_map(worst).collect())
    };
    Finding::new(EACH_SERVER, games.iter().map(one).filter(|o| !o.values.is_empty()).collect())
        .remarking("By construction: the heuristic ends where a server no longer helps.")
}

fn is_close(take: &Take) -> bool {
    ratio(take, Way::CentralCritical, Way::CentralMean, |m| m.mean) <= 1.0 + CLOSE
}

fn else_fairer(games: &[Games]) -> Finding {
    let one = |games: &Games| {
        let inferior = games.takes.iter().filter(|take| !is_close(take));
        let values = inferior.map(|take| ratio(take, Way::CentralCritical, Way::CentralMean, |m| m.std)).collect();
        Observation::new(games.network.name(), values)
    };
    Finding::new(CRITICAL_FAIRER, games.iter().map(one).filter(|o| !o.values.is_empty()).collect())
}

/// A figure of merit and its name.
type Figure = (&'static str, fn(&Mark) -> f64);

fn beats_random(games: &[Games]) -> Finding {
    let ways = [Way::CentralMean, Way::CentralCritical, Way::Heuristic];
    let figures: [Figure; 2] = [("mean", |m| m.mean), ("std", |m| m.std)];
    let of = |games: &Games, way: Way, (name, figure): Figure| {
        let values = games.takes.iter().map(|take| ratio(take, way, Way::Random, figure)).collect();
        Observation::new(format!("{}, {}, {name}", games.network.name(), way.name()), values)
    };
    let keys = games.iter().flat_map(|games| ways.map(|way| (games, way)));
    let all = keys.flat_map(|(games, way)| figures.map(|figure| of(games, way, figure))).collect();
    Finding::new(BEATS_RANDOM, all)
}

/// Of the central server that is best on average, of the heuristic's and of our servers.
fn equalised(claim: Claim, games: &[Games], of: fn(&Mark) -> f64) -> Finding {
    let ways = [Way::CentralMean, Way::Heuristic, Way::Critical];
    let keys = games.iter().flat_map(|games| ways.map(|way| (games, way)));
    let one = |(games, way): (&Games, Way)| {
        let values = games.takes.iter().map(|take| of(take.of(way))).collect();
        Observation::new(format!("{}, {}", games.network.name(), way.name()), values)
    };
    Finding::new(claim, keys.map(one).collect())
}

/// The average over games.
pub(super) fn average(takes: &[Take], of: impl Fn(&Take) -> f64) -> f64 {
    takes.iter().map(of).sum::<f64>() / takes.len() as f64
}

/// The share of games of which something is true.
pub(super) fn share(takes: &[Take], is: impl Fn(&Take) -> bool) -> f64 {
    average(takes, |take| f64::from(u8::from(is(take))))
}

/// The standard deviation over games of the mean response, relative to what a random server would give: networks differ.
fn spread(takes: &[Take], way: Way) -> f64 {
    let of = |take: &Take| ratio(take, way, Way::Random, |m| m.mean);
    let mean = average(takes, of);
    average(takes, |take| (of(take) - mean).powi(2)).sqrt()
}
