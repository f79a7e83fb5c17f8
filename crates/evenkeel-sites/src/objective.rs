//! What shall be small.

use crate::SolveError;

/// What a plan is judged by: less is better.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Objective {
    /// The slowest player's response time.
    #[default]
    Critical,
    /// The mean response time.
    Mean,
    /// The response time that this part of the players does not exceed, 0.95 for example.
    Percentile(f64),
    /// The mean response time and its standard deviation: playable and fair.
    ///
    /// The deviation alone would be least if all were equally slow.
    MeanPlusStd,
    /// Half the mean and half the slowest response time.
    HalfMeanHalfMax,
    /// How many servers there are. It wants a limit of the critical response.
    Servers,
    /// What the servers cost. It wants a limit of the critical response.
    Cost,
}

impl Objective {
    pub(crate) fn check(self) -> Result<(), SolveError> {
        match self {
            Self::Percentile(part) if !(part > 0.0 && part <= 1.0) => Err(SolveError::Percentile(part)),
            _ => Ok(()),
        }
    }

    /// Whether it is about servers, not about players.
    pub(crate) fn is_about_servers(self) -> bool {
        matches!(self, Self::Servers | Self::Cost)
    }

    /// The objective of these response times of players of these weights. `scratch` is overwritten.
    pub(crate) fn of(self, responses: &[f64], weights: &Weights, scratch: &mut Vec<(f64, f64)>) -> f64 {
        let mean = || weights.mean(responses);
        let max = || responses.iter().copied().fold(0.0, f64::max);
        match self {
            Self::Critical => max(),
            Self::Mean => mean(),
            Self::Percentile(part) => weights.percentile(responses, part, scratch),
            Self::MeanPlusStd => {
                let mean = mean();
                let squares = responses.iter().zip(&weights.each).map(|(r, w)| (r - mean) * (r - mean) * w);
                mean + (squares.sum::<f64>() / weights.all).sqrt()
            }
            Self::HalfMeanHalfMax => (mean() + max()) / 2.0,
            Self::Servers | Self::Cost => 0.0,
        }
    }
}

/// The weights of all players.
pub(crate) struct Weights {
    pub each: Vec<f64>,
    pub all: f64,
    /// Whether they are all the same.
    pub equal: bool,
}

impl Weights {
    pub fn new(each: Vec<f64>) -> Self {
        Self { all: each.iter().sum(), equal: each.iter().all(|w| *w == each[0]), each }
    }

    pub fn mean(&self, responses: &[f64]) -> f64 {
        responses.iter().zip(&self.each).map(|(r, w)| r * w).sum::<f64>() / self.all
    }

    fn percentile(&self, responses: &[f64], part: f64, scratch: &mut Vec<(f64, f64)>) -> f64 {
        scratch.clear();
        scratch.extend(responses.iter().copied().zip(self.each.iter().copied()));
        if self.equal {
            let rank =
                (crate::assessment::enough(responses.len() as f64, part).ceil() as usize).clamp(1, responses.len());
            return scratch.select_nth_unstable_by(rank - 1, |a, b| a.0.total_cmp(&b.0)).1.0;
        }
        scratch.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        crate::assessment::quantile(scratch, part)
    }
}
