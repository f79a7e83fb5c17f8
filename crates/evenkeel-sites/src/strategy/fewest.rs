//! The fewest or cheapest servers that keep everybody within a limit, and the proof.

use std::{cell::Cell, sync::Arc};

use super::{
    critical,
    dive::{Dive, Found, Purse},
};
use crate::{
    bound::arcs::{self, Arcs},
    field::Field,
};

/// Servers, what they cost, and what none can cost less than.
#[derive(Clone, Debug)]
pub(crate) struct Fewest {
    pub servers: Vec<usize>,
    pub cost: f64,
    pub bound: f64,
}

/// Looks for cheaper servers within the limit than `known`, which must be within it, no more than `most` of them, with so many
/// nodes of search at most.
pub(crate) fn solve(
    field: &Field<'_>,
    limit: f64,
    cost: impl Fn(usize) -> f64,
    known: Vec<usize>,
    most: usize,
    mut nodes: u64,
) -> Fewest {
    let (order, work) = (arcs::order(field), Cell::new(arcs::WORK));
    let paid: f64 = field.required.iter().map(|&s| cost(s)).sum();
    let total = |servers: &[usize]| servers.iter().map(|&s| cost(s)).sum::<f64>();
    let more = most.saturating_sub(field.required.len());
    let mut purse = Purse { more, ..Purse::new(field, &cost, f64::INFINITY) };
    let whole = purse.costs.iter().all(|cost| cost.fract() == 0.0);
    let mut best = Fewest { cost: total(&known), servers: known, bound: paid };
    let mut players = critical::few(field, Some(&best.servers));
    let mut below = false;
    loop {
        let arcs = Arcs::new(field, Arc::clone(&order), players.clone(), 1.0, &work);
        let mut known = arcs.start();
        if !arcs.tighten(&mut known, limit) {
            // What is known shows that the limit can be kept.
            return best;
        }
        best.bound = best.bound.max(paid + Dive::least_cost(&arcs, &known.needs, limit, &purse));
        let mut joined = false;
        while best.bound < best.cost && nodes > 0 {
            // From above, as long as that comes to an end; else from below, where there is less to look at.
            purse.most = if below { (best.bound - paid).round() } else { less(best.cost - paid, whole) };
            let mut half = nodes.div_ceil(2);
            nodes -= half;
            let found = Dive::run(&arcs, &known.needs, limit, Some(&purse), &mut half);
            nodes += half;
            match found {
                Found::Servers(servers) => {
                    let slower = critical::slower(field, &servers, limit, players.len());
                    if !slower.is_empty() {
                        players.extend(slower);
                        players.sort_unstable();
                        joined = true;
                        break;
                    }
                    best.cost = total(&servers);
                    best.servers = servers;
                }
                Found::Nothing if below => best.bound += 1.0,
                Found::Nothing => best.bound = best.cost,
                Found::GaveUp if below || !whole => break,
                Found::GaveUp => below = true,
            }
        }
        if !joined {
            best.bound = best.bound.min(best.cost);
            return best;
        }
    }
}

/// The next lower sum of costs. Sums are rounded; what is whole is not.
fn less(cost: f64, whole: bool) -> f64 {
    if whole { cost.round() - 1.0 } else { cost - cost * 1e-9 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{all_plans, lags, problems};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn none_are_cheaper(
            problem in problems(), lag in lags(), which in any::<prop::sample::Index>(), count in any::<bool>(), few in any::<bool>(),
            nodes in prop_oneof![Just(100_000u64), 0..60u64],
        ) {
            let Ok(field) = Field::new(&problem, lag) else { return Ok(()) };
            let plans = all_plans(&field);
            prop_assume!(!plans.is_empty());
            let max = |responses: &[f64]| responses.iter().copied().fold(0.0, f64::max);
            let known = which.get(&plans);
            let limit = max(&known.1);
            // What is required is paid for already, even if that is no whole number.
            let paid = |s: usize| if field.required.contains(&s) { 0.1 } else { 0.0 };
            let cost = |s: usize| if count { 1.0 } else { problem.sites()[s].cost + paid(s) };
            let most = if few { known.0.len() } else { usize::MAX };
            let within = plans.iter().filter(|(servers, responses)| max(responses) <= limit && servers.len() <= most);
            let least = within.map(|(servers, _)| servers.iter().map(|&s| cost(s)).sum::<f64>()).fold(f64::INFINITY, f64::min);
            let found = solve(&field, limit, cost, known.0.clone(), most, nodes);
            // Sums of costs are rounded.
            prop_assert!(found.bound <= least + 1e-9 && found.cost >= least - 1e-9, "{:?} {}", found, least);
            prop_assert!(nodes < 100 || found.bound == found.cost, "proven");
            prop_assert!(field.critical(&found.servers) <= limit && found.servers.len() <= most);
        }
    }
}
