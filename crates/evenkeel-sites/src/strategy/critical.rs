//! The servers with the least critical response, and the proof.
//!
//! A threshold is lowered until arc consistency rules it out, which is the bound; there a search looks for servers. Finds it some,
//! the threshold falls to what they give; proves it that there are none, the bound rises. Where there are many players, a few of
//! them usually decide: the others are looked at only when they turn out to be slower.

use std::{cell::Cell, sync::Arc};

use super::dive::{Dive, Found, Purse};
use crate::{
    SolveError,
    bound::arcs::{self, Arcs, Known},
    field::Field,
};

/// Thresholds this close to each other, as a part, are not told apart before the very end.
const CLOSE: f64 = 1e-4;
/// How many thresholds are tried at most.
const ROUNDS: usize = 400;
/// Up to so many players are looked at from the beginning: few in tests, so that small problems go the way of large ones.
const FEW: usize = if cfg!(test) { 4 } else { 96 };
/// So many of those who turn out to be slower join at a time.
const JOIN: usize = if cfg!(test) { 1 } else { 16 };

/// Servers, their critical response, and what no servers can be better than.
#[derive(Clone, Debug)]
pub(crate) struct Critical {
    pub servers: Vec<usize>,
    pub value: f64,
    pub bound: f64,
}

/// Looks for the best servers from the best of `starts` on, with so many servers and so many nodes of search at most.
pub(crate) fn solve(
    field: &Field<'_>,
    starts: &[Vec<usize>],
    servers: Option<usize>,
    mut nodes: u64,
) -> Result<Critical, SolveError> {
    let purse = servers.map(|most| Purse::new(field, |_| 1.0, most.saturating_sub(field.required.len()) as f64));
    let starts = starts.iter().filter(|start| servers.is_none_or(|most| start.len() <= most));
    let (order, work) = (arcs::order(field), Cell::new(arcs::WORK));
    let mut bound = (0..field.players()).map(|p| field.floor(p)).fold(0.0, f64::max);
    let valued = starts.map(|servers| (field.critical(servers), servers));
    let best = valued.filter(|(value, _)| value.is_finite()).min_by(|a, b| a.0.total_cmp(&b.0));
    let mut best = best.map(|(value, servers)| Critical { servers: servers.clone(), value, bound });
    let mut players = few(field, best.as_ref().map(|best| &best.servers[..]));
    loop {
        let arcs = Arcs::new(field, Arc::clone(&order), players.clone(), 1.0, &work);
        let known = best.as_ref().map(|best| best.servers.clone());
        let Some(servers) = Descent::run(&arcs, purse.as_ref(), known, &mut bound, &mut nodes)? else {
            break;
        };
        let (value, within) = (field.critical(&servers), critical(&arcs, &servers));
        let slower = slower(field, &servers, within, players.len());
        if best.as_ref().is_none_or(|best| value < best.value) && value.is_finite() {
            best = Some(Critical { servers, value, bound });
        }
        if slower.is_empty() || best.as_ref().is_some_and(|best| best.value <= bound) {
            break;
        }
        players.extend(slower);
        players.sort_unstable();
    }
    let mut best = best.ok_or(SolveError::NothingFound)?;
    thin(field, &mut best);
    best.bound = bound.min(best.value);
    Ok(best)
}

/// The players to begin with: all if there are few, else the remotest, and those whom the best known servers serve worst.
pub(crate) fn few(field: &Field<'_>, best: Option<&[usize]>) -> Vec<usize> {
    let n = field.players();
    if n <= FEW {
        return (0..n).collect();
    }
    let highest = |values: Vec<f64>| {
        let mut all: Vec<usize> = (0..n).collect();
        all.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
        all.truncate(FEW / 2);
        all
    };
    let mut players = highest((0..n).map(|p| field.floor(p)).collect());
    if let Some(servers) = best {
        players.extend(highest(field.responses(servers)));
    }
    players.sort_unstable();
    players.dedup();
    players
}

/// Those whom servers leave beyond a threshold, the slowest first: as many as may join `players` at a time.
pub(crate) fn slower(field: &Field<'_>, servers: &[usize], threshold: f64, players: usize) -> Vec<usize> {
    let responses = field.responses(servers);
    let mut slower: Vec<usize> = (0..responses.len()).filter(|&p| responses[p] > threshold).collect();
    slower.sort_by(|a, b| responses[*b].total_cmp(&responses[*a]));
    slower.truncate(JOIN.max(players / 4));
    slower
}

/// Drops servers that the critical response does not need, those first without which the mean is least.
fn thin(field: &Field<'_>, best: &mut Critical) {
    loop {
        let without = |s: &usize| best.servers.iter().copied().filter(|t| t != s).collect::<Vec<usize>>();
        let spare = best.servers.iter().filter(|s| best.servers.len() > 1 && !field.required.contains(s));
        let valued = spare.map(without).map(|servers| {
            let responses = field.responses(&servers);
            let sum = responses.iter().zip(field.problem.players()).map(|(r, player)| r * player.weight).sum::<f64>();
            (sum, responses.into_iter().fold(0.0, f64::max), servers)
        });
        let fine = valued.filter(|(_, value, _)| *value <= best.value);
        let Some((_, value, servers)) = fine.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
        (best.servers, best.value) = (servers, value);
    }
}

/// The search among some of the players.
struct Descent<'a> {
    arcs: &'a Arcs<'a>,
    purse: Option<&'a Purse>,
    nodes: &'a mut u64,
    /// The best servers so far and their critical response among these players.
    servers: Option<Vec<usize>>,
    value: f64,
}

impl<'a> Descent<'a> {
    /// The best servers for these players. `bound` rises to what is proven; nothing is returned if it is not below what is known.
    fn run(
        arcs: &'a Arcs<'a>,
        purse: Option<&'a Purse>,
        known: Option<Vec<usize>>,
        bound: &mut f64,
        nodes: &'a mut u64,
    ) -> Result<Option<Vec<usize>>, SolveError> {
        let value = known.as_ref().map_or(f64::INFINITY, |servers| critical(arcs, servers));
        let mut descent = Self { arcs, purse, nodes, servers: known, value };
        let end = if value.is_finite() { value } else { arcs.field.longest() };
        let Some((start, first)) = arcs.narrow(bound, end, CLOSE) else {
            // The threshold is beyond every finite response, or what is known shows that there is a plan.
            return if value.is_finite() { Ok(descent.servers) } else { Err(SolveError::Disconnected) };
        };
        descent.close(start, first, bound);
        if descent.servers.is_none() && *bound > end { Err(SolveError::Disconnected) } else { Ok(descent.servers) }
    }

    /// Closes the gap between the bound and the best servers from a threshold on at which there may be some.
    ///
    /// Without a limit of servers there usually are some near the bound, and thresholds rise from there. With one there are not:
    /// what is known is tried to be proven the best, and if it is not, the gap is halved.
    fn close(&mut self, start: Known, first: f64, bound: &mut f64) {
        let mut threshold =
            if self.purse.is_some() { self.value.next_down() } else { self.value.next_down().min(first) };
        threshold = threshold.min(self.arcs.field.longest());
        let (mut tried, mut ceiling) = (*bound, f64::INFINITY);
        let mut step = CLOSE * first;
        for _ in 0..ROUNDS {
            let mut known = if threshold <= first { start.clone() } else { self.arcs.start() };
            let found = match self.arcs.tighten(&mut known, threshold) {
                true => self.dive(&known, threshold),
                false => Found::Nothing,
            };
            step *= 2.0;
            match found {
                Found::Servers(servers) => {
                    self.value = critical(self.arcs, &servers);
                    self.servers = Some(servers);
                    step = CLOSE * self.value;
                }
                Found::Nothing => *bound = bound.max(threshold.next_up()),
                Found::GaveUp if self.purse.is_some() => ceiling = threshold,
                Found::GaveUp => tried = threshold.next_up(),
            }
            tried = tried.max(*bound);
            let top = self.value.min(ceiling);
            let close = top - tried <= CLOSE * top;
            if tried >= top || *self.nodes == 0 || self.arcs.work.get() == 0 || (close && ceiling < self.value) {
                break;
            }
            threshold = match (close, self.purse) {
                (true, _) => self.value.next_down(),
                (false, Some(_)) => (tried + top) / 2.0,
                (false, None) => tried + step.min((top - tried) / 2.0),
            };
        }
    }

    /// One threshold shall not use up the nodes of all.
    fn dive(&mut self, known: &Known, threshold: f64) -> Found {
        let mut nodes = self.nodes.div_ceil(8);
        *self.nodes -= nodes;
        let found = Dive::run(self.arcs, &known.needs, threshold, self.purse, &mut nodes);
        *self.nodes += nodes;
        found
    }
}

/// The critical response among the players in question.
fn critical(arcs: &Arcs<'_>, servers: &[usize]) -> f64 {
    let field = arcs.field;
    let lags = field.lag.of(field.problem, servers);
    arcs.players.iter().map(|&p| field.response(p, servers, &lags)).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        strategy::heuristic,
        testing::{all_plans, lags, problems},
    };

    fn max(responses: &[f64]) -> f64 {
        responses.iter().copied().fold(0.0, f64::max)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn nothing_is_better_than_the_best(
            problem in problems(), lag in lags(), most in 1usize..8, nodes in prop_oneof![Just(100_000u64), 0..60u64],
        ) {
            let Ok(field) = Field::new(&problem, lag) else { return Ok(()) };
            prop_assume!(field.required.len() <= most);
            // With as many servers as there are sites at most, there is no limit.
            let limit = (most < 7).then_some(most);
            let plans = all_plans(&field);
            let least = plans.iter().filter(|(servers, _)| servers.len() <= most).map(|(_, responses)| max(responses)).reduce(f64::min);
            match (solve(&field, &[], limit, nodes), least) {
                (Ok(found), Some(least)) => {
                    prop_assert!(found.bound <= least && found.value >= least, "{:?} {}", found, least);
                    prop_assert!(nodes < 100 || found.bound == found.value, "proven");
                    prop_assert_eq!(field.critical(&found.servers), found.value);
                    prop_assert!(found.servers.len() <= most);
                }
                (Err(SolveError::NothingFound), Some(_)) => prop_assert!(nodes < 100),
                (found, least) => prop_assert!(found.is_err() && least.is_none(), "{:?} {:?}", found, least),
            }
        }

        #[test]
        fn the_papers_bound_holds(problem in problems(), lag in lags()) {
            let Ok(field) = Field::new(&problem, lag) else { return Ok(()) };
            let run = heuristic::run(&field);
            for (_, responses) in all_plans(&field) {
                prop_assert!(run.bound <= max(&responses));
            }
            if let Some(last) = run.steps.last() {
                prop_assert_eq!(field.critical(&run.servers), last.critical);
            }
        }
    }
}
