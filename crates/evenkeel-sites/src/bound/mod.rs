//! What no plan can be better than.

pub(crate) mod arcs;
pub(crate) mod mean;

use std::cell::Cell;

use self::arcs::Arcs;
use crate::{Objective, assessment, field::Field, strategy::critical};

/// Thresholds this close to each other, as a part, are not told apart.
const CLOSE: f64 = 1e-6;
/// With more players times sites than this, percentiles are bounded by everybody's own floor alone.
const MANY: usize = 4_000_000;

/// A lower bound of an objective, with the price of the servers. It holds whatever `servers` are; good ones make it better.
pub(crate) fn of(field: &Field<'_>, objective: Objective, price: f64, servers: &[usize]) -> f64 {
    let mean = || mean::bound(field, &(0..field.players()).collect::<Vec<_>>());
    let players = match objective {
        Objective::Critical => percentile(field, 1.0),
        Objective::Mean => mean(),
        Objective::MeanPlusStd => mean::with_deviation(field, &field.responses(servers)),
        Objective::Percentile(part) => percentile(field, part),
        Objective::HalfMeanHalfMax => (mean() + percentile(field, 1.0)) / 2.0,
        Objective::Servers => return field.required.len().max(1) as f64,
        Objective::Cost => return least_cost(field),
    };
    players + price * least_cost(field)
}

/// The cost of the required servers, or of the cheapest if there are none.
fn least_cost(field: &Field<'_>) -> f64 {
    let cost = |s: &usize| field.problem.sites()[*s].cost;
    match field.required.is_empty() {
        true => field.usable.iter().map(cost).fold(f64::INFINITY, f64::min),
        false => field.required.iter().map(cost).sum(),
    }
}

/// A lower bound of the response that this part of the players does not exceed.
fn percentile(field: &Field<'_>, part: f64) -> f64 {
    let weight = |p: usize| field.problem.players()[p].weight;
    let mut floors: Vec<(f64, f64)> = (0..field.players()).map(|p| (field.floor(p), weight(p))).collect();
    floors.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut low = assessment::quantile(&floors, part);
    if part < 1.0 && field.players() * field.usable.len() > MANY {
        return low;
    }
    let players = if part < 1.0 { (0..field.players()).collect() } else { critical::few(field, None) };
    // If even the longest response is ruled out, there is no plan, and any bound holds.
    let work = Cell::new(arcs::WORK);
    Arcs::new(field, arcs::order(field), players, part, &work).narrow(&mut low, field.longest(), CLOSE);
    low
}
