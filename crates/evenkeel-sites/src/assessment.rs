//! How well players are served, and how fairly.

use crate::{Problem, SolveError};

/// The response times of a plan, by the players' weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    /// The mean response time, in milliseconds: how playable the game is.
    pub mean: f64,
    /// Its standard deviation: how unfair it is.
    pub std: f64,
    /// The slowest player's response time: the critical one.
    pub max: f64,
    /// The median.
    pub p50: f64,
    /// 95 % have at most this.
    pub p95: f64,
    /// 99 % have at most this.
    pub p99: f64,
    /// Response times and weights, fastest first.
    sorted: Vec<(f64, f64)>,
}

/// What it costs to slow the fast down until all are equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equalised {
    /// Everybody who was faster has this response time now, in milliseconds.
    pub to: f64,
    /// The mean response time now.
    pub mean: f64,
    /// Its standard deviation now.
    pub std: f64,
    /// How much the mean has risen: the price of fairness.
    pub price: f64,
}

impl Assessment {
    /// Of these response times in milliseconds, one per player.
    pub(crate) fn of(problem: &Problem, responses: Vec<f64>) -> Self {
        let weights = problem.players().iter().map(|player| player.weight);
        let mut sorted: Vec<(f64, f64)> = responses.into_iter().zip(weights).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mean, std) = moments(&sorted);
        let max = sorted.last().map_or(0.0, |(response, _)| *response);
        let mut all = Self { mean, std, max, p50: 0.0, p95: 0.0, p99: 0.0, sorted };
        (all.p50, all.p95, all.p99) = (all.at(0.5), all.at(0.95), all.at(0.99));
        all
    }

    /// The smallest response time that at least this part of the players' weight does not exceed.
    pub fn percentile(&self, part: f64) -> Result<f64, SolveError> {
        if part > 0.0 && part <= 1.0 { Ok(self.at(part)) } else { Err(SolveError::Percentile(part)) }
    }

    fn at(&self, part: f64) -> f64 {
        quantile(&self.sorted, part)
    }

    /// Everybody is padded to the slowest.
    pub fn equalise(&self) -> Equalised {
        self.padded(self.max)
    }

    /// Everybody below this percentile is padded to it; who is slower stays so.
    ///
    /// It costs less than to wait for the very slowest.
    pub fn equalise_to(&self, part: f64) -> Result<Equalised, SolveError> {
        Ok(self.padded(self.percentile(part)?))
    }

    fn padded(&self, to: f64) -> Equalised {
        let padded: Vec<(f64, f64)> =
            self.sorted.iter().map(|(response, weight)| (response.max(to), *weight)).collect();
        let (mean, std) = moments(&padded);
        Equalised { to, mean, std, price: mean - self.mean }
    }
}

/// The smallest value that at least this part of the weight does not exceed; values ascending.
pub(crate) fn quantile(sorted: &[(f64, f64)], part: f64) -> f64 {
    let enough = enough(sorted.iter().map(|(_, weight)| weight).sum(), part);
    let mut below = 0.0;
    let found = sorted.iter().find(|(_, weight)| {
        below += weight;
        below >= enough
    });
    found.or(sorted.last()).map_or(0.0, |(value, _)| *value)
}

/// The weight that makes a part of the whole. Sums of weights are rounded, and nobody shall be counted twice for it.
pub(crate) fn enough(weight: f64, part: f64) -> f64 {
    weight * part * (1.0 - 1e-12)
}

/// Mean and standard deviation. Equal values have exactly none.
fn moments(values: &[(f64, f64)]) -> (f64, f64) {
    let Some(&(first, _)) = values.first() else { return (0.0, 0.0) };
    let all: f64 = values.iter().map(|(_, weight)| weight).sum();
    // From the first value on, so that rounding does not disturb what is equal.
    let mean = values.iter().map(|(value, weight)| (value - first) * weight).sum::<f64>() / all;
    let variance = values.iter().map(|(value, weight)| (value - first - mean).powi(2) * weight).sum::<f64>() / all;
    (first + mean, variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Player, Site};

    fn weighted() -> Assessment {
        let mut players = ["a", "b", "c"].map(Player::new).to_vec();
        players[0].weight = 18.0;
        let problem = Problem::new(players, vec![Site::new("s")], vec![0.0; 3], vec![0.0]).unwrap();
        Assessment::of(&problem, vec![10.0, 110.0, 60.0])
    }

    #[test]
    fn weights_count() {
        let all = weighted();
        assert_eq!((all.mean, all.max), (17.5, 110.0));
        assert_eq!((all.p50, all.p95, all.p99), (10.0, 60.0, 110.0));
        assert_eq!(all.percentile(0.9).unwrap(), 10.0);
        let variance = (18.0 * 7.5f64.powi(2) + 92.5f64.powi(2) + 42.5f64.powi(2)) / 20.0;
        assert!((all.std - variance.sqrt()).abs() < 1e-9);
        assert_eq!(all.percentile(0.0), Err(SolveError::Percentile(0.0)));
    }

    #[test]
    fn equal_has_a_price() {
        let all = weighted();
        assert_eq!(all.equalise(), Equalised { to: 110.0, mean: 110.0, std: 0.0, price: 92.5 });
        let most = all.equalise_to(0.95).unwrap();
        assert_eq!((most.to, most.mean, most.price), (60.0, 62.5, 45.0));
        assert!(most.std > 0.0);
    }
}
