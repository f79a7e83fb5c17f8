//! What the runs say about the paper's claims.

use super::Cells;
use super::case::{Case, JITTER_MS, MAPS, SHARES, Twist};
use super::claims::*;
use super::gauge::Take;
use crate::study::rank::rank_correlation;
use crate::study::{Finding, Observation};

/// Servers, the longest delay, and the jitter.
type Place = (usize, f64, f64);

/// All places with mirrors, without jitter and with it.
fn places() -> Vec<Place> {
    [0.0, JITTER_MS].iter().flat_map(|jitter| MAPS.map(|(servers, delay)| (servers, delay, *jitter))).collect()
}

fn steady() -> Vec<Place> {
    places().into_iter().filter(|place| place.2 == 0.0).collect()
}

fn shaky() -> Vec<Place> {
    places().into_iter().filter(|place| place.2 > 0.0).collect()
}

fn words((servers, delay, jitter): Place) -> String {
    let jitter = if jitter > 0.0 { format!(", ±{jitter} ms") } else { String::new() };
    format!("{servers} servers, {delay} ms{jitter}")
}

pub(super) fn findings(cells: &Cells, ships: &Cells) -> Vec<Finding> {
    let all = Findings { cells, ships };
    vec![
        all.central(),
        all.needs_discrepancy(),
        all.closer(),
        all.at(INTRODUCES_INCONSISTENCY, places(), 0.0, |take| take.inconsistency),
        all.at(OUT_OF_ORDER, places(), 0.0, |take| take.late_share),
        all.at(OPTIMISTIC_PARADOX, places(), 0.0, Take::paradoxes_per_minute).remarking(SPARSE),
        all.healed(),
        all.must_be_healed(),
        all.conservative_none(),
        all.slower(),
        all.negates(),
        all.buys_consistency(),
        all.costs_response(),
        all.at(LAG_COMPENSATES, steady(), 1.0, |take| take.inconsistent_share),
        all.at(JITTER_MATTERS, shaky(), 1.0, |take| take.inconsistent_share)
            .remarking("With the jitter in the lag nothing is left either; see sync-conservative-none."),
        all.partial_reduces(),
        all.partial_remains(),
        all.longer_more(),
    ]
}

/// The workload was chosen after a look at a sparser one; bands were not touched.
const SPARSE: &str = "16 tanks in an arena of 160 m, chosen because 8 tanks in 300 m decide too little: there, at 80 ms and less, most \
                      games of 48 s have no paradox at all, whatever the lag.";

struct Findings<'a> {
    cells: &'a Cells,
    ships: &'a Cells,
}

impl Findings<'_> {
    fn takes(&self, (servers, delay, jitter): Place, share: f64) -> &[Take] {
        self.cells.of(&Case::mirrors(servers, delay, jitter, share))
    }

    /// One figure at some places, with this share of the longest delay as lag.
    fn at(&self, claim: crate::study::Claim, places: Vec<Place>, share: f64, of: fn(&Take) -> f64) -> Finding {
        let one = |place: Place| Observation::new(words(place), each(self.takes(place, share), of));
        Finding::new(claim, places.into_iter().map(one).collect())
    }

    fn central(&self) -> Finding {
        let one = |(_, delay, jitter): Place| {
            Observation::new(
                words((1, delay, jitter)),
                each(self.cells.of(&Case::central(delay, jitter)), |t| t.paradoxes),
            )
        };
        let delays = places().into_iter().filter(|place| place.0 == 3);
        Finding::new(CENTRAL_NO_PARADOX, delays.map(one).collect()).remarking(
            "A single server stamps what it gets when it gets it: nothing is ever late. What its players see is another matter, \
             see the experiment prediction.",
        )
    }

    fn needs_discrepancy(&self) -> Finding {
        let all: f64 = places().into_iter().flat_map(|place| each(self.takes(place, 0.0), |take| take.paradoxes)).sum();
        self.at(PARADOX_NEEDS_DISCREPANCY, places(), 0.0, |take| take.paradoxes_in_agreement)
            .remarking(format!("Of {all} paradoxes, all seeds together."))
    }

    fn closer(&self) -> Finding {
        let one = |(place, worst): (Place, bool)| {
            let of = response(worst);
            let central = self.cells.of(&Case::central(place.1, place.2));
            paired(named(place, worst), self.takes(place, 0.0), central, |mirrors, central| of(mirrors) / of(central))
        };
        Finding::new(DISTRIBUTED_CLOSER, both(steady()).map(one).collect()).remarking(
            "The central server stands where the mean is least, not where the worst-off player has the least.",
        )
    }

    fn healed(&self) -> Finding {
        let one = |place: Place| {
            let lags = SHARES.map(|share| self.takes(place, share));
            let worst = |seed: usize| lags.iter().map(|takes| takes[seed].healed).fold(1.0, f64::min);
            Observation::new(format!("{}, all lags", words(place)), (0..lags[0].len()).map(worst).collect())
        };
        let ships = SHARES.map(|share| self.ships.of(&Case::mirrors(3, 80.0, 0.0, share)));
        let worst = |seed: usize| ships.iter().map(|takes| takes[seed].healed).fold(1.0, f64::min);
        let ships = Observation::new("spaceships, all lags", (0..ships[0].len()).map(worst).collect());
        Finding::new(HEALED, places().into_iter().map(one).chain([ships]).collect())
    }

    fn must_be_healed(&self) -> Finding {
        let takes = self.cells.of(&Case::twisted(Twist::NoRollback));
        Finding::new(MUST_BE_HEALED, vec![Observation::new("3 servers, 80 ms", each(takes, |take| take.healed))])
            .remarking("Servers that refuse what comes late, rather than going back for it, part for ever.")
    }

    fn conservative_none(&self) -> Finding {
        let mut finding = self.at(CONSERVATIVE_NONE, steady(), 1.0, |take| take.paradoxes);
        let bound = |(servers, delay, jitter): Place| {
            let takes = self.cells.of(&Case::with_bound(servers, delay));
            Observation::new(words((servers, delay, jitter)), each(takes, |take| take.paradoxes))
        };
        finding.observations.extend(shaky().into_iter().map(bound));
        finding
    }

    fn slower(&self) -> Finding {
        let one = |(place, worst): (Place, bool)| {
            let of = response(worst);
            paired(named(place, worst), self.takes(place, 1.0), self.takes(place, 0.0), |slow, quick| {
                of(slow) / of(quick)
            })
        };
        Finding::new(CONSERVATIVE_SLOWER, both(steady()).map(one).collect())
    }

    fn negates(&self) -> Finding {
        let one = |(place, worst): (Place, bool)| {
            let of = response(worst);
            let central = self.cells.of(&Case::central(place.1, place.2));
            let (slow, quick) = (self.takes(place, 1.0), self.takes(place, 0.0));
            let lost = |seed: usize| (of(&slow[seed]) - of(&quick[seed])) / (of(&central[seed]) - of(&quick[seed]));
            Observation::new(named(place, worst), (0..slow.len()).map(lost).collect())
        };
        Finding::new(CONSERVATIVE_NEGATES_SOME, both(steady()).map(one).collect()).remarking(
            "More than all of it, on average over players: the lag is for the two servers that are farthest apart, while a \
             central server in the middle is farther than that, there and back, from few.",
        )
    }

    fn buys_consistency(&self) -> Finding {
        let one = |place: Place| {
            let lags = SHARES.map(|share| self.takes(place, share));
            let largest = |seed: usize| {
                let ratio = |pair: &[&[Take]]| pair[1][seed].inconsistency / pair[0][seed].inconsistency;
                // Where nothing is left, there is nothing more to buy.
                lags.windows(2).map(ratio).filter(|ratio| !ratio.is_nan()).fold(0.0, f64::max)
            };
            Observation::new(words(place), (0..lags[0].len()).map(largest).collect())
        };
        Finding::new(LAG_BUYS_CONSISTENCY, steady().into_iter().map(one).collect())
    }

    fn costs_response(&self) -> Finding {
        let one = |place: Place| {
            let lag_ms = 1e3 * Case::mirrors(place.0, place.1, place.2, 1.0).lag().as_secs_f64();
            let cost = |slow: &Take, quick: &Take| (slow.response() - quick.response()) / lag_ms;
            paired(words(place), self.takes(place, 1.0), self.takes(place, 0.0), cost)
        };
        Finding::new(LAG_COSTS_RESPONSE, steady().into_iter().map(one).collect())
    }

    /// All places without jitter, with every partial lag.
    fn partial(&self, of: impl Fn(&Take, &Take) -> f64 + Copy) -> Vec<Observation> {
        let partial = &SHARES[1..SHARES.len() - 1];
        let keys = steady().into_iter().flat_map(|place| partial.iter().map(move |share| (place, *share)));
        let one = |(place, share): (Place, f64)| {
            let condition = format!("{}, share {share}", words(place));
            paired(condition, self.takes(place, share), self.takes(place, 0.0), of)
        };
        keys.map(one).collect()
    }

    fn partial_reduces(&self) -> Finding {
        let of = |partial: &Take, none: &Take| partial.inconsistent_share / none.inconsistent_share;
        Finding::new(PARTIAL_REDUCES, self.partial(of))
    }

    fn partial_remains(&self) -> Finding {
        Finding::new(PARTIAL_REMAINS, self.partial(|partial, _| partial.inconsistent_share))
    }

    fn longer_more(&self) -> Finding {
        let one = |place: Place| {
            let lags = SHARES.map(|share| self.takes(place, share));
            let correlation = |seed: usize| {
                let of = |of: fn(&Take) -> f64| lags.map(|takes| of(&takes[seed]));
                rank_correlation(&of(|take| take.inconsistent_share), &of(Take::paradox_share))
            };
            Observation::new(words(place), (0..lags[0].len()).map(correlation).collect())
        };
        Finding::new(LONGER_MORE_PARADOX, places().into_iter().map(one).collect()).remarking(SPARSE)
    }
}

/// Places, each for the mean over players and for the worst-off one.
fn both(places: Vec<Place>) -> impl Iterator<Item = (Place, bool)> {
    places.into_iter().flat_map(|place| [false, true].map(|worst| (place, worst)))
}

fn response(worst: bool) -> fn(&Take) -> f64 {
    if worst { Take::critical_response } else { Take::response }
}

fn named(place: Place, worst: bool) -> String {
    format!("{}, {}", words(place), if worst { "worst-off" } else { "mean" })
}

fn each(takes: &[Take], of: impl Fn(&Take) -> f64) -> Vec<f64> {
    takes.iter().map(of).collect()
}

/// Two cases with the same seeds.
fn paired(condition: String, a: &[Take], b: &[Take], of: impl Fn(&Take, &Take) -> f64) -> Observation {
    Observation::new(condition, a.iter().zip(b).map(|(a, b)| of(a, b)).collect())
}
