//! Who plays where if servers cannot hold everybody.
//!
//! A player, or a group that is one player of the problem, is never split between servers. Where all weights are equal the
//! assignment is the best there is; where they differ, that would be packing bins, and the heaviest are seated first.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::{field::Field, objective::Weights};

/// Players, servers, and what it costs to bring them together.
pub(crate) struct Seating<'a> {
    /// Response times, player by player.
    responses: Vec<f64>,
    /// What each server can hold.
    rooms: Vec<f64>,
    weights: &'a Weights,
}

impl<'a> Seating<'a> {
    pub fn new(field: &Field<'_>, servers: &[usize], weights: &'a Weights) -> Self {
        let lags = field.lag.of(field.problem, servers);
        let of = |p: usize| servers.iter().zip(&lags).map(move |(&s, lag)| field.problem.rtt(p, s) + lag);
        let responses = (0..field.players()).flat_map(of).collect();
        let rooms = servers.iter().map(|&s| field.problem.sites()[s].capacity.unwrap_or(f64::INFINITY)).collect();
        Self { responses, rooms, weights }
    }

    fn players(&self) -> usize {
        self.weights.each.len()
    }

    /// The response of a player on the server at this position.
    pub fn response(&self, player: usize, server: usize) -> f64 {
        self.responses[player * self.rooms.len() + server]
    }

    /// Everybody's server, by position: the least mean response, if asked for among those with the least critical one. Nothing if
    /// somebody finds no place.
    pub fn seat(&self, critical_first: bool) -> Option<Vec<usize>> {
        let best = self.within(f64::INFINITY)?;
        if !critical_first {
            return Some(best);
        }
        let worst = best.iter().enumerate().map(|(p, &i)| self.response(p, i)).fold(0.0, f64::max);
        let mut thresholds: Vec<f64> = self.responses.iter().copied().filter(|r| *r < worst).collect();
        thresholds.sort_unstable_by(f64::total_cmp);
        thresholds.dedup();
        // The lowest threshold that works lies between one that does not and one that does.
        let (mut low, mut high, mut found) = (0, thresholds.len(), best);
        while low < high {
            let middle = (low + high) / 2;
            match self.within(thresholds[middle]) {
                Some(better) => (high, found) = (middle, better),
                None => low = middle + 1,
            }
        }
        Some(found)
    }

    fn within(&self, threshold: f64) -> Option<Vec<usize>> {
        if self.weights.equal { self.flow(threshold) } else { self.heaviest_first(threshold) }
    }

    fn allowed(&self, player: usize, server: usize, threshold: f64) -> bool {
        let response = self.response(player, server);
        response.is_finite() && response <= threshold
    }

    fn nearest(&self, player: usize, threshold: f64, with_room: impl Fn(usize) -> bool) -> Option<usize> {
        let servers = (0..self.rooms.len()).filter(|&i| self.allowed(player, i, threshold) && with_room(i));
        servers.min_by(|a, b| self.response(player, *a).total_cmp(&self.response(player, *b)))
    }

    /// The heaviest first, each where the response is least and there is room; then whoever can move to a better one does.
    fn heaviest_first(&self, threshold: f64) -> Option<Vec<usize>> {
        let weights = &self.weights.each;
        let mut players: Vec<usize> = (0..self.players()).collect();
        players.sort_by(|a, b| weights[*b].total_cmp(&weights[*a]));
        let mut rooms = self.rooms.clone();
        let mut seats = vec![0; players.len()];
        for &p in &players {
            seats[p] = self.nearest(p, threshold, |i| rooms[i] >= weights[p])?;
            rooms[seats[p]] -= weights[p];
        }
        for &p in &players {
            let better = self.nearest(p, threshold, |i| i == seats[p] || rooms[i] >= weights[p])?;
            rooms[seats[p]] += weights[p];
            rooms[better] -= weights[p];
            seats[p] = better;
        }
        Some(seats)
    }

    /// Everybody goes where the response is least; then, as long as a server is too full, one player leaves it on the cheapest way
    /// to a free place, which may push others on from server to server. This is the method of successive shortest paths.
    fn flow(&self, threshold: f64) -> Option<Vec<usize>> {
        let weight = self.weights.each[0];
        let mut free: Vec<i64> =
            self.rooms.iter().map(|room| (room / weight + 1e-9).floor().min(1e15) as i64).collect();
        let seats: Option<Vec<usize>> = (0..self.players()).map(|p| self.nearest(p, threshold, |_| true)).collect();
        let mut moves = Moves::new(self, seats?, threshold);
        moves.seats.iter().for_each(|&i| free[i] -= 1);
        while free.iter().any(|free| *free < 0) {
            let path = moves.cheapest_path(&free)?;
            free[path[0]] += 1;
            free[path[path.len() - 1]] -= 1;
            moves.push_along(&path);
        }
        Some(moves.seats)
    }
}

/// For any two servers the players of the one by how much they lose on the other.
struct Moves<'a> {
    seating: &'a Seating<'a>,
    threshold: f64,
    seats: Vec<usize>,
    /// Server by server. Entries of players who have left stay until they come up.
    heaps: Vec<BinaryHeap<Reverse<(Loss, usize)>>>,
}

/// A response that is lost, which can be compared.
#[derive(Clone, Copy, PartialEq)]
struct Loss(f64);

impl Eq for Loss {}

impl PartialOrd for Loss {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Loss {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl<'a> Moves<'a> {
    fn new(seating: &'a Seating<'a>, seats: Vec<usize>, threshold: f64) -> Self {
        let k = seating.rooms.len();
        let mut moves = Self { seating, threshold, seats, heaps: vec![BinaryHeap::new(); k * k] };
        (0..moves.seats.len()).for_each(|p| moves.offer(p));
        moves
    }

    /// Lets a player be moved from where it is.
    fn offer(&mut self, player: usize) {
        let (from, k) = (self.seats[player], self.seating.rooms.len());
        for to in (0..k).filter(|&to| to != from && self.seating.allowed(player, to, self.threshold)) {
            let loss = self.seating.response(player, to) - self.seating.response(player, from);
            self.heaps[from * k + to].push(Reverse((Loss(loss), player)));
        }
    }

    /// Who loses least by moving, and how much.
    fn cheapest(&mut self, from: usize, to: usize) -> Option<(f64, usize)> {
        let heap = &mut self.heaps[from * self.seating.rooms.len() + to];
        while let Some(Reverse((loss, player))) = heap.peek() {
            if self.seats[*player] == from {
                return Some((loss.0, *player));
            }
            heap.pop();
        }
        None
    }

    /// The cheapest way from a server that is too full to one with a free place.
    fn cheapest_path(&mut self, free: &[i64]) -> Option<Vec<usize>> {
        let k = free.len();
        let mut cost: Vec<f64> = free.iter().map(|free| if *free < 0 { 0.0 } else { f64::INFINITY }).collect();
        let mut from: Vec<Option<usize>> = vec![None; k];
        for _ in 0..k {
            for i in (0..k).filter(|&i| cost[i].is_finite()).collect::<Vec<_>>() {
                for j in (0..k).filter(|&j| j != i).collect::<Vec<_>>() {
                    let Some((loss, _)) = self.cheapest(i, j) else { continue };
                    // Rounding must not make a circle look like a gain.
                    if cost[i] + loss < cost[j] - 1e-9 {
                        (cost[j], from[j]) = (cost[i] + loss, Some(i));
                    }
                }
            }
        }
        let end = (0..k).filter(|&i| free[i] > 0 && cost[i].is_finite());
        let mut path = vec![end.min_by(|a, b| cost[*a].total_cmp(&cost[*b]))?];
        while let Some(before) = from[path[path.len() - 1]] {
            if path.contains(&before) {
                return None;
            }
            path.push(before);
        }
        path.reverse();
        Some(path)
    }

    fn push_along(&mut self, path: &[usize]) {
        let movers: Vec<Option<usize>> =
            path.windows(2).map(|step| self.cheapest(step[0], step[1]).map(|(_, player)| player)).collect();
        for (mover, step) in movers.into_iter().zip(path.windows(2)) {
            if let Some(player) = mover {
                self.seats[player] = step[1];
                self.offer(player);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every way to seat players, with the critical and the summed response.
    fn all(seating: &Seating<'_>, rooms: &[u8], seats: &mut Vec<usize>, out: &mut Vec<(f64, f64)>) {
        if seats.len() == seating.players() {
            let responses = seats.iter().enumerate().map(|(p, &i)| seating.response(p, i));
            out.push((responses.clone().fold(0.0, f64::max), responses.sum()));
            return;
        }
        for i in 0..rooms.len() {
            if rooms[i] > seats.iter().filter(|s| **s == i).count() as u8 {
                seats.push(i);
                all(seating, rooms, seats, out);
                seats.pop();
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn equal_players_sit_best(rooms in proptest::collection::vec(0u8..4, 3), times in proptest::collection::vec(0u8..50, 15)) {
            let weights = Weights::new(vec![2.0; 5]);
            let seating = Seating {
                responses: times.into_iter().map(f64::from).collect(),
                rooms: rooms.iter().map(|room| f64::from(*room) * 2.0 + 1.0).collect(),
                weights: &weights,
            };
            let mut ways = Vec::new();
            all(&seating, &rooms, &mut Vec::new(), &mut ways);
            for critical_first in [false, true] {
                let key = |way: &(f64, f64)| if critical_first { *way } else { (way.1, 0.0) };
                let best = ways.iter().map(key).min_by(|a, b| a.partial_cmp(b).unwrap());
                let seats = seating.seat(critical_first);
                let found = seats.map(|seats| {
                    let responses = seats.iter().enumerate().map(|(p, &i)| seating.response(p, i));
                    key(&(responses.clone().fold(0.0, f64::max), responses.sum()))
                });
                prop_assert_eq!(found, best);
            }
        }

        #[test]
        fn nobody_sits_where_there_is_no_room(loads in proptest::collection::vec(1u8..5, 6), room in 5u8..20) {
            let weights = Weights::new(loads.into_iter().map(f64::from).collect());
            let seating = Seating { responses: [1.0, 2.0].repeat(6), rooms: vec![f64::from(room); 2], weights: &weights };
            if let Some(seats) = seating.seat(true) {
                for i in 0..2 {
                    let load: f64 = (0..6).filter(|p| seats[*p] == i).map(|p| weights.each[p]).sum();
                    prop_assert!(load <= f64::from(room));
                }
            } else {
                prop_assert!(2.0 * f64::from(room) < weights.all + 2.0 * 4.0, "there was plenty of room");
            }
        }
    }
}
