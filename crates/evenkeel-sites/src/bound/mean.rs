//! What the mean response cannot be below.
//!
//! A player on `s` and a player on `t` wait for the way between `s` and `t`, both: half the sum of their responses is at least
//! `m(p, q)`, the least over all `s` and `t`. Whoever is put together with whom, everybody once on either side, the sum of their
//! `m` is then at most the sum of all responses: the assignment with the largest sum gives the best such bound.

use crate::field::Field;

/// Assignments are made among so many players at most.
const BLOCK: usize = 256;
/// Ways from so many players, times sites, times sites, are looked at at most.
const WORK: usize = 600_000_000;
/// Sums are rounded; a bound must not be.
const SAFE: f64 = 1.0 - 1e-12;

/// A lower bound of the mean response of these players by weight.
pub(crate) fn bound(field: &Field<'_>, players: &[usize]) -> f64 {
    let looked_at = (WORK / field.usable.len().pow(2).max(1)).min(players.len());
    // Everybody's own floor holds in any case. Spread evenly, the players of a block come from everywhere.
    let floors: f64 = players.iter().map(|&p| weight(field, p) * field.floor(p)).sum();
    let blocks = looked_at.div_ceil(BLOCK).max(1);
    let block = |from: usize| players[..looked_at].iter().skip(from).step_by(blocks).copied().collect::<Vec<_>>();
    let gained: f64 = (0..blocks).map(|from| gain(field, &block(from))).sum();
    let all: f64 = players.iter().map(|&p| weight(field, p)).sum();
    (floors + gained) / all * SAFE
}

/// A lower bound of mean plus standard deviation: the mean of any half of the players is never more.
///
/// For any `c` of mean 0 and mean square 1 at most, the deviation is at least the mean of `c` times response. With a part `a` of
/// the players, `c` is `1 / a - 1` for these and -1 for the others; its mean square is `(1 - a) / a`. The bound holds for whatever
/// half; it is best for the one that a good plan serves worst.
pub(crate) fn with_deviation(field: &Field<'_>, responses: &[f64]) -> f64 {
    let mut players: Vec<usize> = (0..field.players()).collect();
    let all = bound(field, &players);
    players.sort_by(|a, b| responses[*b].total_cmp(&responses[*a]));
    let (mut held, half) = (0.0, field.problem.weight() / 2.0);
    let slower = players.iter().take_while(|&&p| {
        let more = held < half;
        held += weight(field, p);
        more
    });
    let mut slower: Vec<usize> = slower.copied().collect();
    slower.sort_unstable();
    all.max(bound(field, &slower))
}

fn weight(field: &Field<'_>, player: usize) -> f64 {
    field.problem.players()[player].weight
}

/// How much more than their floors these players' responses are together, at least.
fn gain(field: &Field<'_>, players: &[usize]) -> f64 {
    let n = players.len();
    let floors: Vec<f64> = players.iter().map(|&p| field.floor(p)).collect();
    let mut gains = vec![0.0; n * n];
    for i in 0..n {
        let ways = ways(field, players[i]);
        for j in 0..i {
            let gain = least(field, &ways, players[j]) - (floors[i] + floors[j]) / 2.0;
            // A floor takes the required servers into account on both sides, so that a pair may give less.
            let gain = if gain.is_finite() { gain.max(0.0) } else { 0.0 };
            (gains[i * n + j], gains[j * n + i]) = (gain, gain);
        }
    }
    let weights: Vec<f64> = players.iter().map(|&p| weight(field, p)).collect();
    match weights.iter().all(|w| *w == weights[0]) {
        true => largest_assignment(n, &gains) * weights.first().unwrap_or(&0.0),
        false => greedy(&weights, &gains),
    }
}

/// For every site `t` the least half sum if the player is on some `s` and another on `t` beside it.
fn ways(field: &Field<'_>, player: usize) -> Vec<f64> {
    let row = field.problem.row(player);
    let mut ways = vec![f64::INFINITY; field.sites()];
    for &s in &field.usable {
        let rtt = f64::from(row[s]);
        for &t in &field.usable {
            let part = field.part(s, t);
            ways[t] = ways[t].min(rtt + part.max(field.base[s]) + part.max(field.base[t]));
        }
    }
    ways
}

fn least(field: &Field<'_>, ways: &[f64], other: usize) -> f64 {
    let row = field.problem.row(other);
    row.iter().zip(ways).map(|(rtt, way)| f64::from(*rtt) + way).fold(f64::INFINITY, f64::min) / 2.0
}

/// Pairs with much to gain first, each as far as both still have weight: not the best, but valid for any weights.
fn greedy(weights: &[f64], gains: &[f64]) -> f64 {
    let n = weights.len();
    let mut pairs: Vec<(usize, usize)> = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
    pairs.sort_by(|a, b| gains[b.0 * n + b.1].total_cmp(&gains[a.0 * n + a.1]));
    let mut left = weights.to_vec();
    let mut sum = 0.0;
    for (i, j) in pairs {
        let both = left[i].min(left[j]);
        sum += 2.0 * both * gains[i * n + j];
        left[i] -= both;
        left[j] -= both;
    }
    sum
}

/// The largest sum of entries of a square matrix, one in every row and column: the Hungarian method with potentials.
fn largest_assignment(n: usize, values: &[f64]) -> f64 {
    // Row and column 0 are auxiliary. `row_of[j]` is the row that has column j.
    let (mut u, mut v) = (vec![0.0; n + 1], vec![0.0; n + 1]);
    let mut row_of = vec![0; n + 1];
    for row in 1..=n {
        row_of[0] = row;
        let (mut least, mut from, mut seen) = (vec![f64::INFINITY; n + 1], vec![0; n + 1], vec![false; n + 1]);
        let mut column = 0;
        loop {
            seen[column] = true;
            let i = row_of[column];
            let (mut step, mut next) = (f64::INFINITY, 0);
            for j in (1..=n).filter(|j| !seen[*j]).collect::<Vec<_>>() {
                let reduced = -values[(i - 1) * n + j - 1] - u[i] - v[j];
                if reduced < least[j] {
                    (least[j], from[j]) = (reduced, column);
                }
                if least[j] < step {
                    (step, next) = (least[j], j);
                }
            }
            for j in 0..=n {
                if seen[j] {
                    u[row_of[j]] += step;
                    v[j] -= step;
                } else {
                    least[j] -= step;
                }
            }
            column = next;
            if row_of[column] == 0 {
                break;
            }
        }
        while column != 0 {
            row_of[column] = row_of[from[column]];
            column = from[column];
        }
    }
    (1..=n).map(|j| values[(row_of[j] - 1) * n + j - 1]).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{all_plans, lags, problems};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn no_plan_is_below(problem in problems(), lag in lags()) {
            let Ok(field) = Field::new(&problem, lag) else { return Ok(()) };
            let bound = bound(&field, &(0..field.players()).collect::<Vec<_>>());
            for (servers, responses) in all_plans(&field) {
                let sum: f64 = responses.iter().zip(problem.players()).map(|(r, p)| r * p.weight).sum();
                prop_assert!(bound <= sum / problem.weight(), "{} {:?}", bound, servers);
            }
        }

        #[test]
        fn no_plan_is_below_with_its_deviation(problem in problems(), lag in lags(), like in any::<prop::sample::Index>()) {
            let Ok(field) = Field::new(&problem, lag) else { return Ok(()) };
            let plans = all_plans(&field);
            prop_assume!(!plans.is_empty());
            let bound = with_deviation(&field, &like.get(&plans).1);
            for (servers, responses) in plans {
                let all = crate::Assessment::of(&problem, responses);
                prop_assert!(bound <= all.mean + all.std, "{} {:?}", bound, servers);
            }
        }

        #[test]
        fn an_assignment_is_the_largest(values in proptest::collection::vec(0u8..100, 16)) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            fn largest(row: usize, taken: u8, values: &[f64]) -> f64 {
                let free = (0..4).filter(|j| taken >> j & 1 == 0);
                free.map(|j| values[row * 4 + j] + largest(row + 1, taken | 1 << j, values)).fold(0.0, f64::max)
            }
            prop_assert_eq!(largest_assignment(4, &values), largest(0, 0, &values));
        }
    }
}
