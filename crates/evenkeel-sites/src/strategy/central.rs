//! One server for all: the paper's points of comparison.
//!
//! Where servers are required, they stand in any case, and "one server" is one besides them.

use crate::{Assessment, field::Field};

/// What a server at a random site would give, on average over the sites that everybody can reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// The mean response time, in milliseconds.
    pub mean: f64,
    /// Its standard deviation among the players.
    pub std: f64,
    /// The critical response time.
    pub max: f64,
}

/// Every possible central server with how well it does.
pub(crate) fn all(field: &Field<'_>) -> Vec<(Vec<usize>, Assessment)> {
    let of = |&s: &usize| {
        let servers = field.with_required(&[s]);
        let responses = field.responses(&servers);
        let reached = responses.iter().all(|response| response.is_finite());
        reached.then(|| (servers, Assessment::of(field.problem, responses)))
    };
    field.usable.iter().filter_map(of).collect()
}

/// The one with the smallest value, the lowest index if there are several.
pub(crate) fn best(field: &Field<'_>, value: impl Fn(&Assessment) -> f64) -> Option<Vec<usize>> {
    let best = all(field).into_iter().min_by(|a, b| value(&a.1).total_cmp(&value(&b.1)));
    best.map(|(servers, _)| servers)
}

/// One of them, by lot.
pub(crate) fn random(field: &Field<'_>, seed: u64) -> Option<Vec<usize>> {
    let mut all = all(field);
    let i = crate::random::Random::new(seed).below(all.len().max(1));
    (i < all.len()).then(|| all.swap_remove(i).0)
}

/// The average over all of them.
pub(crate) fn expected(field: &Field<'_>) -> Option<Expected> {
    let all = all(field);
    let mean = |of: fn(&Assessment) -> f64| all.iter().map(|(_, each)| of(each)).sum::<f64>() / all.len() as f64;
    (!all.is_empty()).then(|| Expected { mean: mean(|a| a.mean), std: mean(|a| a.std), max: mean(|a| a.max) })
}
