//! What the ways of choosing servers come to in one game.

use super::Scope;
use super::network::Network;
use anyhow::{Context, Result};
use evenkeel_sites::{Answer, Effort, Lag, Objective, Problem, Request, Strategy, paper_bound, random_central, solve};

/// A way of choosing servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// One server anywhere: what is to be expected of it.
    Random,
    /// One server, the best on average.
    CentralMean,
    /// One server, the best for the worst-off player.
    CentralCritical,
    /// The paper's heuristic.
    Heuristic,
    /// Ours, for the worst-off player.
    Critical,
    /// Ours, for the mean and the standard deviation together.
    MeanPlusStd,
}

impl Way {
    pub(super) const ALL: [Self; 6] =
        [Self::Random, Self::CentralMean, Self::CentralCritical, Self::Heuristic, Self::Critical, Self::MeanPlusStd];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Random => "random central",
            Self::CentralMean => "central by mean",
            Self::CentralCritical => "central by critical",
            Self::Heuristic => "heuristic",
            Self::Critical => "exact critical",
            Self::MeanPlusStd => "best mean + std",
        }
    }
}

/// How good a choice is: response times in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mark {
    pub(super) critical: f64,
    pub(super) mean: f64,
    pub(super) std: f64,
    /// Not a number for what is only expected.
    pub(super) p95: f64,
    /// How many servers.
    pub(super) servers: f64,
    /// Mean and standard deviation once all are slowed down to the slowest. Not numbers for what is only expected.
    pub(super) padded: (f64, f64),
}

/// One game.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Take {
    /// In the order of [`Way::ALL`].
    marks: [Mark; 6],
    /// The heuristic's servers and critical response, step by step.
    pub(super) steps: Vec<(f64, f64)>,
    /// The paper's lower bound of the critical response.
    pub(super) paper_bound: f64,
    /// Ours.
    pub(super) bound: f64,
    /// Whether it is proven that nothing has a smaller critical response than ours.
    pub(super) proven: bool,
}

/// How long the local search for mean and deviation looks. More changes little.
const EFFORT: Effort = Effort { nodes: 20_000, responses: 50_000_000 };

impl Take {
    pub(super) fn new(network: Network, scope: &Scope, seed: u64) -> Result<Self> {
        let problem = network.problem(scope.nodes, scope.players, seed)?;
        let problem = &problem;
        let heuristic = plain(problem, Strategy::Heuristic)?;
        let exact = solve(problem, &Request::default()).context("exact critical")?;
        let both = Request { objective: Objective::MeanPlusStd, effort: EFFORT, seed, ..Request::default() };
        let both = solve(problem, &both).context("mean and deviation")?;
        Ok(Self {
            marks: [
                expected(problem)?,
                Mark::of(&plain(problem, Strategy::CentralMean)?),
                Mark::of(&plain(problem, Strategy::CentralCritical)?),
                Mark::of(&heuristic),
                Mark::of(&exact),
                Mark::of(&both),
            ],
            steps: heuristic.steps.iter().map(|step| (step.servers as f64, step.critical)).collect(),
            paper_bound: paper_bound(problem, Lag::default())?,
            bound: exact.bound,
            proven: exact.proven,
        })
    }

    pub(super) fn of(&self, way: Way) -> &Mark {
        &self.marks[way as usize]
    }

    /// By how much a critical response is above the paper's bound, as a share of the bound.
    pub(super) fn gap(&self, way: Way) -> f64 {
        self.of(way).critical / self.paper_bound - 1.0
    }

    /// The same above our bound.
    pub(super) fn true_gap(&self, way: Way) -> f64 {
        self.of(way).critical / self.bound - 1.0
    }
}

/// These do not look at the objective; that of few servers has the bound that takes no time.
fn plain(problem: &Problem, strategy: Strategy) -> Result<Answer> {
    let request = Request { objective: Objective::Servers, strategy, ..Request::default() };
    solve(problem, &request).context(strategy.name())
}

fn expected(problem: &Problem) -> Result<Mark> {
    let random = random_central(problem, Lag::default())?;
    Ok(Mark {
        critical: random.max,
        mean: random.mean,
        std: random.std,
        p95: f64::NAN,
        servers: 1.0,
        padded: (f64::NAN, f64::NAN),
    })
}

impl Mark {
    fn of(answer: &Answer) -> Self {
        let all = &answer.assessment;
        let padded = all.equalise();
        Self {
            critical: all.max,
            mean: all.mean,
            std: all.std,
            p95: all.p95,
            servers: answer.plan.servers.len() as f64,
            padded: (padded.mean, padded.std),
        }
    }

    pub(super) fn mean_plus_std(&self) -> f64 {
        self.mean + self.std
    }
}
