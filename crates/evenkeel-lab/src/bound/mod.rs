//! A lower bound on the mean export error that holds for every policy with a given number of vectors.
//!
//! **Model.** A receiver shows one vector of a life at a time. A vector can be made of any observation, whether or not a trigger
//! fires there, and once it could have arrived the receiver can show it from any moment on: a policy may send it at once, later,
//! or not at all. Each change to another vector costs one vector sent. The first vector of a life goes to everybody.
//!
//! An older vector sent later *can* help: it may describe the future better than one made in the middle of a jerk. So the model
//! has it. It leaves out what would only cost a policy more: that a sender keeps only its newest vectors, that receivers drop
//! vectors generated before the one they show, and that two vectors must be a tick apart. All of this makes the bound lower.
//!
//! **Proof.** Let `e(s)` be the mean error of a choice of vectors `s`, `n(s)` their number, and `p` any price above zero. Every
//! choice with `n(s) <= N` has `e(s) >= e(s) + p (n(s) - N) >= D(p) - p N`, where `D(p)` is the least `e + p n` of all choices.
//! With a price there is no budget to share, so `D` is a sum over pairs of a life and a receiver, each by dynamic programming
//! (`pair`). The bound is the largest `D(p) - p N` that was found. `D` is concave and each evaluation gives a tangent, so the
//! tangents tell when to stop searching; a search that stops early loses sharpness, not validity. (It may stop early at prices
//! below what a change between two breaks may gain, where vectors are all but free.)
//!
//! **Accuracy.** Errors are added up by the midpoint rule in steps of at most `pair::LONGEST_STEP`, which for straight paths
//! is never above the integral. The base case added up this way agrees with the world's gauge within 1 % (a test).

mod pair;

use crate::world::{Fleet, Outcome, Rules};
use anyhow::{Result, ensure};
use evenkeel::ClockRule;
use evenkeel_link::Conditions;
use pair::{Cheapest, Pair, Way};
use rayon::prelude::*;

/// The search for the best price stops when it can gain no more than this share of the bound.
const CLOSE_ENOUGH: f64 = 0.002;
/// Prices tried for one number of vectors at most.
const MOST_PRICES: usize = 24;
/// By which factor prices are apart until the best one is between two of them.
const STRIDE: f64 = 4.0;

/// What the cheapest choices of all pairs come to at one price.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cut {
    /// Metres of mean error per vector.
    price: f64,
    /// Mean error and the price of all vectors but the first ones, at least.
    value: f64,
    /// Vectors but for the first ones: the slope of the value.
    vectors: f64,
}

/// A lower bound on the mean export error, for any number of vectors.
pub struct Bound {
    pairs: Vec<(f64, Pair)>,
    /// The first vectors of all lives at all receivers, which are sent whatever the policy says.
    firsts: f64,
    /// What was found so far, by price.
    cuts: Vec<Cut>,
    /// A price to begin with.
    guess: f64,
}

/// Whether the bound can be computed in such a world. With jitter or loss a policy may be lucky, and other clock rules show one
/// vector at different places depending on when it arrives.
pub fn check(rules: &Rules, paths: &[Conditions], uplink: Option<&Conditions>) -> Result<()> {
    let constant = |path: &Conditions| *path == Conditions::delay(path.delay);
    ensure!(
        paths.iter().chain(uplink).all(constant),
        "the bound needs constant delays: with jitter or loss it depends on luck which policy does better"
    );
    ensure!(
        rules.placing.rule == ClockRule::Global,
        "the bound needs vectors that count from their generation (global)"
    );
    Ok(())
}

impl Bound {
    /// Prepares the bound for these fleets. `base` has the outcome of the base case for each of them, which says for how long
    /// receivers show things. The mean is that of [`Row`](crate::experiment::Row): over receivers, then over entities.
    pub fn new(
        fleets: &[&Fleet],
        base: &[Outcome],
        rules: &Rules,
        paths: &[Conditions],
        uplink: Option<&Conditions>,
    ) -> Result<Self> {
        check(rules, paths, uplink)?;
        ensure!(fleets.len() == base.len(), "there must be one outcome for each fleet");
        let entities = base.iter().flat_map(|outcome| &outcome.entities).filter(|party| party.shown()).count();
        let every = (entities * paths.len()).max(1) as f64;
        let mut work = Vec::new();
        for (fleet, outcome) in fleets.iter().zip(base) {
            for life in 0..fleet.lives() {
                let party = &outcome.entities[fleet.owner(life)];
                let shown = |r: usize| party.receivers[r].shown;
                work.extend((0..paths.len()).filter(|r| shown(*r) > 0.0).map(|r| (*fleet, life, r, shown(r))));
            }
        }
        let up = uplink.map(|uplink| uplink.delay);
        let pair = |&(fleet, life, receiver, shown): &(&Fleet, usize, usize, f64)| {
            let way = Way { delay: paths[receiver].delay, uplink: up, placing: rules.placing };
            Ok((1.0 / (every * shown), Pair::new(fleet, life, rules, &way)?))
        };
        let pairs: Vec<(f64, Pair)> = work.par_iter().map(pair).collect::<Result<_>>()?;
        let firsts: usize = fleets.iter().map(|fleet| fleet.lives() * paths.len()).sum();
        let sent: f64 = base.iter().map(|outcome| outcome.vectors as f64).sum();
        let mut bound = Self { pairs, firsts: firsts as f64, cuts: Vec::new(), guess: 0.0 };
        bound.guess = (bound.base_mean() / sent.max(1.0)).max(f64::MIN_POSITIVE);
        Ok(bound)
    }

    /// The mean error of the base case, added up as for the bound: how far that can be trusted.
    pub fn base_mean(&self) -> f64 {
        self.pairs.iter().map(|(weight, pair)| weight * pair.error_of_base()).sum()
    }

    /// The bound for so many vectors in all, the first ones included, over all fleets.
    pub fn mean(&mut self, vectors: f64) -> f64 {
        let free = (vectors - self.firsts).max(0.0);
        for _ in 0..MOST_PRICES {
            let Some(price) = self.next_price(free) else { break };
            let cut = self.at_price(price);
            let place = self.cuts.partition_point(|other| other.price < price);
            self.cuts.insert(place, cut);
        }
        self.least(free)
    }

    /// The largest value that the prices tried so far prove.
    fn least(&self, free: f64) -> f64 {
        self.cuts.iter().map(|cut| cut.value - cut.price * free).fold(0.0, f64::max)
    }

    /// Where to look next: beyond the prices tried so far, or where the tangents on both sides of the best one meet. None if
    /// there is hardly anything to gain.
    fn next_price(&self, free: f64) -> Option<f64> {
        let (Some(first), Some(last)) = (self.cuts.first(), self.cuts.last()) else { return Some(self.guess) };
        let split = self.cuts.partition_point(|cut| cut.vectors > free);
        if split == 0 {
            // So low a price buys all that is of any use.
            let worth = first.price * (free - first.vectors);
            return (worth > CLOSE_ENOUGH * self.least(free)).then_some(first.price / STRIDE);
        }
        if split == self.cuts.len() {
            return last.price.is_finite().then_some(last.price * STRIDE);
        }
        let (low, high) = (self.cuts[split - 1], self.cuts[split]);
        let price = (high.value - low.value + low.vectors * low.price - high.vectors * high.price)
            / (low.vectors - high.vectors);
        let most = low.value + low.vectors * (price - low.price) - price * free;
        let inside = price > low.price && price < high.price;
        (inside && most - self.least(free) > CLOSE_ENOUGH * most).then_some(price)
    }

    fn at_price(&self, price: f64) -> Cut {
        let one = |(weight, pair): &(f64, Pair)| {
            let Cheapest { cost, vectors } = pair.cheapest(price / weight);
            (weight * cost, vectors)
        };
        // Added up in order, so that the same settings give the same bytes.
        let each: Vec<(f64, f64)> = self.pairs.par_iter().map(one).collect();
        let value = each.iter().map(|(cost, _)| cost).sum();
        Cut { price, value, vectors: each.iter().map(|(_, vectors)| vectors).sum() }
    }
}

/// The share of the gap between a reference and the bound that a mean closes; below zero if it is worse than the reference.
/// None if there is no gap.
pub fn gap_closed(reference: f64, mean: f64, bound: f64) -> Option<f64> {
    let gap = reference - bound;
    (gap > 0.0).then(|| (reference - mean) / gap)
}
