//! Who plays on which server, kept up to date one player at a time.

use crate::{Lag, Objective, Problem, capacity::Seating, field::Field, objective::Weights, strategy::search::Goal};

/// Servers, their lags, and every player's place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seats {
    pub servers: Vec<usize>,
    pub lags: Vec<f64>,
    /// The site every player plays on, if any can be reached.
    pub at: Vec<Option<u32>>,
    pub responses: Vec<f64>,
    /// Whether there is no room for somebody.
    pub full: bool,
    /// How many responses have been looked at: what an event costs.
    pub looked: u64,
}

impl Seats {
    /// Everybody anew on these servers, which are ascending.
    pub fn new(problem: &Problem, lag: Lag, servers: Vec<usize>) -> Self {
        let mut seats = Self { lags: lag.of(problem, &servers), servers, ..Self::default() };
        (0..problem.players.len()).for_each(|p| seats.join(problem.row(p)));
        seats
    }

    /// The server that answers soonest, the lowest index if there are several.
    fn best(&mut self, row: &[f32]) -> (Option<u32>, f64) {
        self.looked += self.servers.len() as u64;
        let mut best = (None, f64::INFINITY);
        for (&s, lag) in self.servers.iter().zip(&self.lags) {
            let response = f64::from(row[s]) + lag;
            if response < best.1 {
                best = (Some(s as u32), response);
            }
        }
        best
    }

    pub fn join(&mut self, row: &[f32]) {
        let (at, response) = self.best(row);
        self.at.push(at);
        self.responses.push(response);
    }

    /// The last player takes the place of the one who leaves.
    pub fn leave(&mut self, player: usize) {
        self.at.swap_remove(player);
        self.responses.swap_remove(player);
    }

    pub fn measured(&mut self, player: usize, row: &[f32]) {
        (self.at[player], self.responses[player]) = self.best(row);
    }

    /// If rooms are limited, everybody's place depends on everybody else's. Where there is no room, all are where they would like
    /// to be.
    pub fn seat_within_rooms(&mut self, field: &Field<'_>, goal: &Goal) {
        self.full = false;
        if self.servers.is_empty() || self.at.is_empty() {
            return;
        }
        self.looked += (self.servers.len() * self.at.len()) as u64;
        let weights = weights(field.problem);
        let critical_first =
            goal.limit.is_finite() || !matches!(goal.objective, Objective::Mean | Objective::MeanPlusStd);
        let seating = Seating::new(field, &self.servers, &weights);
        match seating.seat(critical_first) {
            None => {
                (0..self.at.len()).for_each(|p| self.measured(p, field.problem.row(p)));
                self.full = self.at.iter().all(Option::is_some);
            }
            Some(seats) => {
                for (p, i) in seats.into_iter().enumerate() {
                    (self.at[p], self.responses[p]) = (Some(self.servers[i] as u32), seating.response(p, i));
                }
            }
        }
    }

    /// How many cannot play. For how many there is no room is not known: they count as one.
    pub fn unserved(&self) -> usize {
        self.at.iter().filter(|at| at.is_none()).count() + usize::from(self.full)
    }
}

pub(crate) fn weights(problem: &Problem) -> Weights {
    Weights::new(problem.players().iter().map(|player| player.weight).collect())
}
