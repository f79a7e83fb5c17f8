//! The best choice among the base case's vectors: which of them to send to whom, knowing the future.
//!
//! For one receiver at a constant delay, the best choice at a price per vector is a shortest path over the vectors of each
//! life: going from vector i to vector j costs the price and the error of showing i from its arrival to that of j. Cheaper
//! prices buy more vectors, so a budget is met by searching for the price. No policy that sends vectors of the base case when
//! they are generated can do better at the same price: the true future is known only here.
//!
//! A policy that has vectors made between triggers, or sends them later, may do better. What holds for every policy is
//! [`bound`](crate::bound). That one is proven for the mean and is no choice that anybody could send; this one is a choice, with
//! an error at each receiver, so it can also say what all could have alike.

use crate::world::Fleet;
use evenkeel::{Duration, GlobalTime, Motion};
use rayon::prelude::*;

/// A vector is shown for no longer than this before the next one must come: bounds the work, and is beyond any heartbeat.
const LONGEST: Duration = Duration::from_secs(15);
/// Nodes and weights of Gauss quadrature on the unit interval.
const GAUSS: [(f64, f64); 3] =
    [(0.112_701_665_379_258_3, 5.0 / 18.0), (0.5, 8.0 / 18.0), (0.887_298_334_620_741_7, 5.0 / 18.0)];

/// What a choice of vectors comes to at one receiver.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Choice {
    /// Vectors sent.
    pub vectors: f64,
    /// Mean distance between exported and placed path.
    pub error: f64,
}

/// The best that anybody could do with a fleet for receivers at constant delays.
pub struct Clairvoyant {
    /// By receiver, then by life.
    receivers: Vec<Vec<Costs>>,
}

/// What it costs to go from one vector of a life straight to another.
struct Costs {
    /// By vector, the error until the arrival of each of the following ones, added up; the last entry is that at the end
    /// of the life where that is near enough.
    ahead: Vec<Vec<f64>>,
    vectors: usize,
    shown: f64,
}

impl Clairvoyant {
    /// Prepares the bound for receivers at these delays, with extrapolation bounded by `max_age`.
    pub fn new(fleet: &Fleet, delays: &[Duration], max_age: Duration) -> Self {
        let receiver = |delay: &Duration| {
            let costs = |life: usize| {
                let end = fleet.life_span(life).1;
                Costs::new(fleet.exported(life), *delay, end, max_age)
            };
            (0..fleet.lives()).into_par_iter().map(costs).collect()
        };
        Self { receivers: delays.iter().map(receiver).collect() }
    }

    /// The best choice for each receiver at a price of its own, in metre-seconds per vector.
    fn at_price(&self, receiver: usize, price: f64) -> Choice {
        let (mut vectors, mut error, mut shown) = (0, 0.0, 0.0);
        for costs in &self.receivers[receiver] {
            let (sent, cost) = costs.cheapest(price);
            (vectors, error, shown) = (vectors + sent, error + cost, shown + costs.shown);
        }
        Choice { vectors: vectors as f64, error: if shown > 0.0 { error / shown } else { 0.0 } }
    }

    /// The smallest mean error with so many vectors in all: one price for everybody.
    pub fn smallest_mean(&self, vectors: f64) -> Vec<Choice> {
        let all = |price: f64| -> Vec<Choice> {
            (0..self.receivers.len()).into_par_iter().map(|r| self.at_price(r, price)).collect()
        };
        search(vectors, all)
    }

    /// The smallest error that everybody can have alike with so many vectors in all. Whoever is better off even with the
    /// fewest vectors, or worse off even with all, is left at that.
    pub fn smallest_equal(&self, vectors: f64) -> Vec<Choice> {
        let frontiers: Vec<Vec<Choice>> = (0..self.receivers.len()).into_par_iter().map(|r| self.frontier(r)).collect();
        let all = |level: f64| frontiers.iter().map(|frontier| interpolate(frontier, level)).collect();
        search(vectors, all)
    }

    /// Choices from the cheapest price to the dearest: vectors fall, errors rise.
    fn frontier(&self, receiver: usize) -> Vec<Choice> {
        (-24..=24).map(|step| self.at_price(receiver, (f64::from(step) * 0.4).exp())).collect()
    }
}

/// The point of a frontier with this error.
fn interpolate(frontier: &[Choice], level: f64) -> Choice {
    let after = frontier.partition_point(|choice| choice.error < level);
    let (Some(below), Some(above)) = (after.checked_sub(1).and_then(|i| frontier.get(i)), frontier.get(after)) else {
        return if after == 0 { frontier[0] } else { frontier[frontier.len() - 1] };
    };
    let share = (level - below.error) / (above.error - below.error).max(f64::MIN_POSITIVE);
    Choice { vectors: below.vectors + share * (above.vectors - below.vectors), error: level }
}

/// Raises a level until no more than so many vectors are sent.
fn search(vectors: f64, choices: impl Fn(f64) -> Vec<Choice>) -> Vec<Choice> {
    let (mut low, mut high) = (-10.0_f64, 10.0_f64);
    for _ in 0..30 {
        let middle = 0.5 * (low + high);
        let sent: f64 = choices(middle.exp()).iter().map(|choice| choice.vectors).sum();
        if sent > vectors { low = middle } else { high = middle }
    }
    choices(high.exp())
}

impl Costs {
    fn new(exported: &[(GlobalTime, Motion)], delay: Duration, end: GlobalTime, max_age: Duration) -> Self {
        let ahead = (0..exported.len()).map(|i| ahead(exported, i, delay, end, max_age)).collect();
        let shown = exported.first().map_or(0.0, |first| end.since(first.0 + delay).as_secs_f64().max(0.0));
        Self { ahead, vectors: exported.len(), shown }
    }

    /// The cheapest way through the life at this price: how many vectors, and what error. The first is always sent.
    fn cheapest(&self, price: f64) -> (usize, f64) {
        // best[i]: from the sending of i to the end of the life, price and error, and how many vectors.
        let mut best: Vec<(f64, usize, f64)> = vec![(0.0, 0, 0.0); self.vectors + 1];
        for i in (0..self.vectors).rev() {
            let option = |(n, error): (usize, &f64)| {
                let (cost, sent, rest) = best[i + n + 1];
                (price + error + cost, sent + 1, error + rest)
            };
            let options = self.ahead[i].iter().enumerate().map(option);
            best[i] = options.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, 0, 0.0));
        }
        (best[0].1, best[0].2)
    }
}

/// The error of showing vector i until the arrival of i+1, i+2, ... and of the end.
fn ahead(exported: &[(GlobalTime, Motion)], i: usize, delay: Duration, end: GlobalTime, max_age: Duration) -> Vec<f64> {
    let (generated, motion) = exported[i];
    let mut from = generated + delay;
    let mut sum = 0.0;
    let mut in_use = i;
    let mut ahead = Vec::new();
    for next in i + 1..=exported.len() {
        let until = exported.get(next).map_or(end, |vector| (vector.0 + delay).min(end));
        while from < until {
            while exported.get(in_use + 1).is_some_and(|vector| vector.0 <= from) {
                in_use += 1;
            }
            let stop = exported.get(in_use + 1).map_or(until, |vector| vector.0.min(until));
            let span = stop.since(from);
            for (node, weight) in GAUSS {
                let at = from + span.mul_f64(node);
                let age = at.since(generated).min(max_age).as_secs_f64();
                let (true_since, true_motion) = exported[in_use];
                let off = true_motion.position_at(at.since(true_since).as_secs_f64()).distance(motion.position_at(age));
                sum += weight * span.as_secs_f64() * off;
            }
            from = stop;
        }
        ahead.push(sum);
        if from.since(generated) > LONGEST + delay {
            break;
        }
    }
    ahead
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Digest, Settings, Source, digest};
    use crate::workload::Motion as Workload;
    use crate::world::{Outcome, Rules, statistics};

    const SECONDS: f64 = 90.0;

    fn settings(policies: &[&str]) -> Settings {
        Settings {
            source: Source::Motion { motion: Workload::Tank, entities: 1 },
            policies: policies.iter().map(|name| (*name).to_owned()).collect(),
            seconds: Some(SECONDS),
            seed: 3,
            ..Settings::default()
        }
    }

    /// The bound for what such settings run.
    fn clairvoyant(settings: &Settings) -> Clairvoyant {
        let fleet = Fleet::new("all".into(), Workload::Tank.entities(1, SECONDS, settings.seed), &Rules::default());
        let delays: Vec<Duration> = settings.paths.iter().map(|path| path.delay).collect();
        Clairvoyant::new(&fleet.unwrap(), &delays, settings.rules.placing.max_age)
    }

    /// What each policy came to: vectors in all, and the export error of each receiver.
    fn measured(settings: &Settings) -> Vec<(f64, Vec<f64>)> {
        let of = |outcomes: &[Outcome]| {
            let errors = outcomes[0].receivers.iter().map(|seen| seen.export_error).collect();
            (outcomes[0].vectors as f64, errors)
        };
        let (digests, _) = digest(settings, &|_| {}, &of).unwrap();
        digests.into_iter().map(|Digest { mut seeds, .. }| seeds.remove(0)).collect()
    }

    fn mean(choices: &[Choice]) -> f64 {
        statistics(choices.iter().map(|choice| choice.error)).0
    }

    /// The bound adds up errors by itself; the world's gauge knows nothing of it.
    #[test]
    fn with_all_vectors_it_is_the_base_case_as_measured() {
        let settings = settings(&["base"]);
        let (bound, base) = (clairvoyant(&settings), measured(&settings).remove(0));
        for (receiver, measured) in base.1.iter().enumerate() {
            let costs = &bound.receivers[receiver][0];
            let all = costs.ahead.iter().map(|ahead| ahead[0]).sum::<f64>() / costs.shown;
            assert!((all / measured - 1.0).abs() < 0.01, "{all} added up, {measured} measured");
            // For free one may still leave out what does harm, and what does nothing.
            let free = bound.at_price(receiver, 0.0);
            assert!(free.error <= all + 1e-9 && free.vectors <= costs.vectors as f64, "{free:?} {all}");
            assert!(free.error > 0.8 * all, "{free:?} {all}");
        }
    }

    #[test]
    fn fewer_vectors_never_give_less_error() {
        let bound = clairvoyant(&settings(&["base"]));
        for receiver in 0..3 {
            let frontier = bound.frontier(receiver);
            for pair in frontier.windows(2) {
                assert!(pair[1].vectors <= pair[0].vectors && pair[1].error >= pair[0].error - 1e-12, "{pair:?}");
            }
            let (first, last) = (frontier[0], frontier[frontier.len() - 1]);
            assert!(last.vectors < 0.2 * first.vectors && last.error > 2.0 * first.error, "{first:?} {last:?}");
        }
    }

    #[test]
    fn nobody_does_better_with_as_many_vectors() {
        let settings = settings(&["base", "base/3", "even"]);
        let bound = clairvoyant(&settings);
        for (name, (vectors, errors)) in settings.policies.iter().zip(measured(&settings)) {
            let best = bound.smallest_mean(vectors);
            let sent: f64 = best.iter().map(|choice| choice.vectors).sum();
            let policy = statistics(errors.into_iter()).0;
            assert!(sent <= vectors && mean(&best) <= policy, "{name}: {policy} against {best:?}");
        }
    }

    #[test]
    fn all_are_alike_where_they_can_be_and_that_has_its_price() {
        let bound = clairvoyant(&settings(&["base"]));
        let all: f64 = bound.receivers.iter().map(|lives| lives[0].vectors as f64).sum();
        for share in [0.2, 0.25, 0.33] {
            let [alike, best] = [bound.smallest_equal(share * all), bound.smallest_mean(share * all)];
            let (mean_alike, std, _) = statistics(alike.iter().map(|choice| choice.error));
            let sent: f64 = alike.iter().map(|choice| choice.vectors).sum();
            assert!(std < 1e-9 * mean_alike && sent <= share * all, "{share}: {alike:?}");
            assert!(sent > 0.97 * share * all && mean_alike >= mean(&best), "{share}: {alike:?} {best:?}");
        }
        // With more vectors than that the farthest has all it has use for, and is left at its best; the others stay alike.
        let alike = bound.smallest_equal(0.5 * all);
        assert!(alike[0] == bound.frontier(0)[0] && alike[0].error > alike[1].error, "{alike:?}");
        assert!((alike[1].error / alike[2].error - 1.0).abs() < 1e-9, "{alike:?}");
    }
}
