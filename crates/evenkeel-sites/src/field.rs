//! A problem together with a lag, as strategies see it.

use crate::{Lag, Problem, SolveError, Use};

/// What every strategy asks again and again.
pub(crate) struct Field<'a> {
    pub problem: &'a Problem,
    pub lag: Lag,
    /// The sites that may have servers, ascending.
    pub usable: Vec<usize>,
    /// The sites that have servers in any case, ascending.
    pub required: Vec<usize>,
    /// The lag of a server at each site because of the required ones alone; infinite where there may be none.
    pub base: Vec<f64>,
}

impl<'a> Field<'a> {
    /// Fails if required servers cannot reach each other, or a player can reach nothing.
    pub fn new(problem: &'a Problem, lag: Lag) -> Result<Self, SolveError> {
        let sites = problem.sites();
        let with = |usage: Use| (0..sites.len()).filter(move |&s| sites[s].usage == usage);
        let required: Vec<usize> = with(Use::Required).collect();
        for &s in &required {
            if let Some(&t) = required.iter().find(|&&t| problem.between(s, t).is_infinite()) {
                return Err(SolveError::Apart { one: sites[s].name.clone(), other: sites[t].name.clone() });
            }
        }
        let alone = |s: usize| {
            if sites[s].usage == Use::Forbidden {
                return f64::INFINITY;
            }
            let mut servers = required.clone();
            servers.push(s);
            lag.of(problem, &servers).last().copied().unwrap_or(0.0)
        };
        let base: Vec<f64> = (0..sites.len()).map(alone).collect();
        let usable = (0..sites.len()).filter(|&s| base[s].is_finite()).collect();
        let field = Self { problem, lag, usable, required, base };
        field.reachable()?;
        Ok(field)
    }

    fn reachable(&self) -> Result<(), SolveError> {
        let lost = |p: &usize| self.floor(*p).is_infinite();
        let mut all = (0..self.players()).filter(lost);
        match all.next() {
            None => Ok(()),
            Some(first) => {
                let player = self.problem.players()[first].name.clone();
                Err(SolveError::Unreachable { player, players: 1 + all.count() })
            }
        }
    }

    pub fn players(&self) -> usize {
        self.problem.players().len()
    }

    pub fn sites(&self) -> usize {
        self.problem.sites().len()
    }

    /// How long `from` waits because of `to`.
    #[inline]
    pub fn part(&self, from: usize, to: usize) -> f64 {
        self.lag.part(self.problem, from, to)
    }

    /// No plan gives a player less than this: the nearest site as if nothing but the required servers were there.
    pub fn floor(&self, player: usize) -> f64 {
        let row = self.problem.row(player);
        row.iter().zip(&self.base).map(|(rtt, base)| f64::from(*rtt) + base).fold(f64::INFINITY, f64::min)
    }

    /// No finite response is longer than this.
    pub fn longest(&self) -> f64 {
        let finite = |longest: f64, value: f64| if value.is_finite() { longest.max(value) } else { longest };
        let rtts = (0..self.players()).flat_map(|p| self.problem.row(p)).map(|rtt| f64::from(*rtt));
        let parts = self.usable.iter().flat_map(|&s| self.usable.iter().map(move |&t| self.part(s, t)));
        rtts.fold(0.0, finite) + parts.fold(0.0, finite)
    }

    /// These servers and the required ones, ascending.
    pub fn with_required(&self, servers: &[usize]) -> Vec<usize> {
        let mut all = [servers, &self.required].concat();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The best response of a player from servers with these lags.
    #[inline]
    pub fn response(&self, player: usize, servers: &[usize], lags: &[f64]) -> f64 {
        let row = self.problem.row(player);
        servers.iter().zip(lags).map(|(&s, lag)| f64::from(row[s]) + lag).fold(f64::INFINITY, f64::min)
    }

    /// Everybody's best response from these servers.
    pub fn responses(&self, servers: &[usize]) -> Vec<f64> {
        let lags = self.lag.of(self.problem, servers);
        (0..self.players()).map(|p| self.response(p, servers, &lags)).collect()
    }

    /// The slowest player's best response from these servers.
    pub fn critical(&self, servers: &[usize]) -> f64 {
        let lags = self.lag.of(self.problem, servers);
        (0..self.players()).map(|p| self.response(p, servers, &lags)).fold(0.0, f64::max)
    }
}
