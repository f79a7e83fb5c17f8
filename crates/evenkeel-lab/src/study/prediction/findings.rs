//! What the runs say about the paper's claims.

use super::Cell;
use super::case::{Case, LAGS_MS, Network, ROUND_TRIPS_MS};
use super::claims::*;
use super::gauge::Take;
use crate::study::measure::observe;
use crate::study::rank::rank_correlation;
use crate::study::{Claim, Finding, Observation};

pub(super) fn findings(cells: &[Cell]) -> Vec<Finding> {
    let each = |claim: Claim, which: fn(&Case) -> bool, of: fn(&Take) -> f64| {
        let which = cells.iter().filter(|cell| which(&cell.case));
        Finding::new(claim, which.map(|cell| observe(cell.case.name(), &cell.takes, of)).collect())
    };
    vec![
        each(RESPONSE_IMPROVED, |_| true, |take| take.response_ms / take.told_ms).remarking(
            "Not where a lag of half the round trip or more is waited for on top: that is most of the response time either way.",
        ),
        each(PRESENTATION_IMPROVED, |_| true, |take| take.reckoned / take.told).remarking(
            "Others are dead reckoned with the game's own physics from the last state, on the assumption that drivers go on as \
             they do.",
        ),
        each(MAY_BE_REVOKED, |_| true, Take::share),
        each(ONLY_IF_INCORRECT, |case| case.network == Network::Steady, Take::others_per_minute).remarking(
            "The authority sends states that are old enough for the player's operations to be in them. What is left to be wrong \
             about is what others do: who is hit, and who is where when one comes back. Coming back elsewhere is counted with hits.",
        ),
        traded(cells),
    ]
}

fn traded(cells: &[Cell]) -> Finding {
    let one = |(network, lag_ms): (Network, f64)| {
        let takes = ROUND_TRIPS_MS.map(|round_trip_ms| super::takes(cells, Case { round_trip_ms, lag_ms, network }));
        let correlation = |seed: usize| {
            let of = |of: fn(&Take) -> f64| takes.map(|takes| of(&takes[seed]));
            rank_correlation(&of(|take| take.told_ms - take.response_ms), &of(Take::per_minute))
        };
        let values = (0..takes[0].len()).map(correlation).collect();
        Observation::new(format!("{}, lag {lag_ms} ms", network.name()), values)
    };
    let steady = LAGS_MS.map(|lag_ms| (Network::Steady, lag_ms));
    let keys = steady.into_iter().chain([(Network::Jitter, 0.0), (Network::Loss, 0.0)]);
    Finding::new(TRADED_FOR_REVOCATION, keys.map(one).collect())
        .remarking("A terminal that shows only what it is told has nothing to revoke. Revocations are few: in games of 100 s and less not \
             every condition reaches the band.")
}
