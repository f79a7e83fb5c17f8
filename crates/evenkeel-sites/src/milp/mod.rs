//! The same problem as a mixed-integer program, solved by a general solver: another way to the same answers.
//!
//! [`solve()`](crate::solve) has its own exact search for the critical response and for the fewest servers. This module knows nothing of
//! it: that both agree is what its tests show. It also answers what local search alone cannot prove: the mean response, and
//! servers that cannot hold everybody.
//!
//! # The program
//!
//! | column | meaning |
//! |---|---|
//! | `y(s)` | 1 if there is a server at site `s`; 1 in any case where one is required |
//! | `x(p, s, l)` | 1 if player `p` is on `s`, and servers there wait for `l` milliseconds |
//! | `z(l)` | 1 if all servers wait for `l`, where all wait the same |
//! | `c` | the critical response, where it counts beside others |
//!
//! The response to `x(p, s, l)` is `rtt(p, s) + l`: a product of two choices, where to play and who else is waited for, has become a
//! number, because `l` can only be one of the delays from `s` to another site. Sites without a way for `p`, forbidden ones, and
//! responses beyond a limit have no column.
//!
//! | row | meaning |
//! |---|---|
//! | `sum over s, l of x(p, s, l) = 1` | everybody plays somewhere |
//! | `sum over l of x(p, s, l) <= y(s)` | where there is a server |
//! | `sum over s and l >= wait(s, t) of x(p, s, l) >= y(t)` | which waits for every other: for each `p` and `t` |
//! | `sum over s of x(p, s, l) = z(l)` | all wait the same, if that is the rule |
//! | `sum over p, l of weight(p) x(p, s, l) <= capacity(s) y(s)` | there is room |
//! | `sum over s of y(s) <= most` | there are not too many |
//! | `c >= sum over s, l of (rtt(p, s) + l) x(p, s, l)` | nobody waits longer |
//!
//! The third row is what makes the program tight: it is about all sites at once that `p` may be on, where one about pairs of
//! servers would let half a server here and half a server there ignore each other. No `l` is ever longer than it must be, because that
//! only costs. Only `y` and `z` must be whole, and `x` where capacities are limited: all else follows.
//!
//! Least is `sum of weight(p) / all · (rtt(p, s) + l) · x(p, s, l)`, or `c`, or half of each, and `price · cost(s) · y(s)`; or the number
//! or the cost of servers. The critical response by itself is not minimised that way, which solvers find hard: a threshold is
//! halved, and the program asked whether there is a plan within it. Only the longest `l` within the threshold is needed then.

mod formulation;
mod model;
mod solver;

use std::fmt;

use self::{
    formulation::{Ask, Formulation, SLACK, TooLarge},
    model::Outcome,
};
use crate::{Answer, Objective, Plan, Problem, Request, Site, SolveError, Strategy, field::Field, objective::Weights};

pub use self::solver::Solver;

/// Thresholds this close to each other, as a part, are not told apart before the very end.
const CLOSE: f64 = 1e-4;
/// A plan is what a solver says it is worth up to this part: it computes with tolerances.
const AGREES: f64 = 1e-6;

/// Who solves, and how much is too much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Who solves.
    pub solver: Solver,
    /// How many factors a program may have at most.
    pub size: usize,
    /// How many nodes of branch and bound are visited at most for each program.
    pub nodes: u64,
    /// What is known to be possible: no plan with a greater objective is looked for, which keeps programs small.
    pub known: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { solver: Solver::default(), size: 200_000, nodes: 10_000, known: f64::INFINITY }
    }
}

/// Why a program has no answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The problem or the request is at fault.
    Request(SolveError),
    /// Only the critical and the mean response, half of each, and servers and their cost can be written as a program.
    Objective(Objective),
    /// The program would have more factors than allowed.
    TooLarge {
        /// How many are allowed.
        size: usize,
    },
    /// No plan was found within the limit of nodes.
    GaveUp {
        /// The limit.
        nodes: u64,
    },
    /// The solver failed.
    Solver(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(error) => error.fmt(f),
            Self::Objective(objective) => write!(f, "the objective {objective:?} cannot be written as a program"),
            Self::TooLarge { size } => write!(f, "the program would have more than {size} factors"),
            Self::GaveUp { nodes } => write!(f, "no plan was found within {nodes} nodes"),
            Self::Solver(what) => write!(f, "the solver failed: {what}"),
        }
    }
}

impl std::error::Error for Error {}

/// Chooses servers. Nothing if there is no plan that keeps to all limits, none better than what is known included.
///
/// ```
/// use evenkeel_sites::{Objective, Player, Problem, Request, Site, milp};
///
/// let sites = ["Frankfurt", "Tokyo"].map(|name| Site { capacity: Some(2.0), ..Site::new(name) }).to_vec();
/// let players = ["Ada", "Bo", "Cy"].map(Player::new).to_vec();
/// let rtt = vec![20.0, 240.0, 30.0, 230.0, 25.0, 260.0];
/// let problem = Problem::new(players, sites, rtt, vec![0.0, 225.0, 225.0, 0.0])?;
/// let request = Request { objective: Objective::Mean, ..Request::default() };
/// let answer = milp::solve(&problem, &request, &milp::Options::default())?.unwrap();
/// assert_eq!(answer.plan.assignment, [0, 1, 0], "somebody must go to Tokyo, and Bo loses least");
/// assert!(answer.proven);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn solve(problem: &Problem, request: &Request, options: &Options) -> Result<Option<Answer>, Error> {
    crate::solve::check(request).map_err(Error::Request)?;
    let field = Field::new(problem, request.lag).map_err(Error::Request)?;
    let search = Search::new(&field, request, options);
    match (request.objective, request.price) {
        (Objective::Critical, 0.0) => search.descend(),
        _ => search.least(),
    }
}

/// A request, and what it takes to answer it.
struct Search<'a> {
    field: &'a Field<'a>,
    request: &'a Request,
    options: &'a Options,
    weights: Weights,
    limit: f64,
}

/// A plan and what it is worth.
struct Found {
    plan: Plan,
    value: f64,
    bound: f64,
    proven: bool,
}

impl<'a> Search<'a> {
    fn new(field: &'a Field<'a>, request: &'a Request, options: &'a Options) -> Self {
        let weights = Weights::new(field.problem.players().iter().map(|player| player.weight).collect());
        let limit = request.critical_limit.unwrap_or(f64::INFINITY).min(field.longest());
        Self { field, request, options, weights, limit }
    }

    /// One program for the objective.
    fn least(&self) -> Result<Option<Answer>, Error> {
        let (request, sites) = (self.request, self.field.problem.sites());
        let (mean, max) = match request.objective {
            Objective::Mean => (1.0, 0.0),
            Objective::Critical => (0.0, 1.0),
            Objective::HalfMeanHalfMax => (0.5, 0.5),
            Objective::Servers | Objective::Cost => (0.0, 0.0),
            other => return Err(Error::Objective(other)),
        };
        let cost = |site: &Site| match request.objective {
            Objective::Servers => 1.0,
            Objective::Cost => site.cost,
            _ => request.price * site.cost,
        };
        let ask = Ask { mean, max, costs: sites.iter().map(cost).collect(), ..self.ask(self.limits(mean, max)) };
        Ok(self.run(&ask)?.map(|found| self.answer(found)))
    }

    /// What everybody's response is at most in a plan that is no worse than what is known.
    fn limits(&self, mean: f64, max: f64) -> Vec<f64> {
        let field = self.field;
        let floors: Vec<f64> = (0..field.players()).map(|p| field.floor(p)).collect();
        let paid: f64 = field.required.iter().map(|&s| self.request.price * field.problem.sites()[s].cost).sum();
        let least = self.weights.mean(&floors);
        let critical = floors.iter().copied().fold(0.0, f64::max);
        // What one player can take beyond its floor if nobody else takes anything.
        let spare = (self.options.known - paid - mean * least - max * critical) * (1.0 + SLACK);
        let limit = |(floor, weight): (&f64, &f64)| {
            let by_mean = if mean > 0.0 { floor + spare / mean * self.weights.all / weight } else { f64::INFINITY };
            let by_max = if max > 0.0 { critical + spare / max } else { f64::INFINITY };
            by_mean.min(by_max).min(self.limit)
        };
        floors.iter().zip(&self.weights.each).map(limit).collect()
    }

    /// The least threshold within which there is a plan.
    fn descend(&self) -> Result<Option<Answer>, Error> {
        let mut bound = (0..self.field.players()).map(|p| self.field.floor(p)).fold(0.0, f64::max);
        let mut threshold = self.limit.min(self.options.known);
        let mut best: Option<Found> = None;
        loop {
            match self.run(&self.ask(vec![threshold; self.field.players()])) {
                Ok(Some(found)) if found.value <= threshold => best = Some(found),
                Ok(Some(_)) => return Err(Error::Solver(format!("a plan is said to be within {threshold} ms"))),
                Ok(None) => bound = threshold.next_up(),
                Err(Error::GaveUp { .. }) if best.is_some() => break,
                Err(error) => return Err(error),
            }
            let Some(Found { value, .. }) = &best else { return Ok(None) };
            if bound >= *value {
                break;
            }
            let close = value - bound <= CLOSE * value;
            threshold = if close { value.next_down() } else { (bound + value) / 2.0 };
        }
        let best = best.map(|found| Found { proven: bound >= found.value, bound, ..found });
        Ok(best.map(|found| self.answer(found)))
    }

    /// Whether there is any plan within these limits.
    fn ask(&self, limits: Vec<f64>) -> Ask {
        let servers = self.request.max_servers.unwrap_or(usize::MAX);
        Ask { mean: 0.0, max: 0.0, costs: vec![0.0; self.field.sites()], limits, servers, size: self.options.size }
    }

    /// Writes a program, has it solved, and makes a plan of what comes back.
    fn run(&self, ask: &Ask) -> Result<Option<Found>, Error> {
        let program = Formulation::new(self.field, ask);
        let program = program.map_err(|TooLarge| Error::TooLarge { size: self.options.size })?;
        if program.hopeless() {
            return Ok(None);
        }
        match self.options.solver.run(&program.model, self.options.nodes).map_err(Error::Solver)? {
            Outcome::Impossible => Ok(None),
            Outcome::GaveUp => Err(Error::GaveUp { nodes: self.options.nodes }),
            Outcome::Values { values, bound, proven } => {
                let plan = self.plan(&program, &values)?;
                let value = self.value(&plan);
                let said = program.model.cost(&values);
                let counts = program.model.columns.iter().any(|column| column.cost != 0.0);
                if counts && value > said + AGREES * said.max(1.0) {
                    return Err(Error::Solver(format!("a plan that is worth {value} is said to be worth {said}")));
                }
                Ok(Some(Found { plan, value, bound, proven }))
            }
        }
    }

    /// The plan that a program's columns stand for. Servers that nobody plays on are none, unless they are required.
    fn plan(&self, program: &Formulation<'_>, values: &[f64]) -> Result<Plan, Error> {
        let (field, problem) = (self.field, self.field.problem);
        let limited = field.usable.iter().any(|&s| problem.sites()[s].capacity.is_some());
        let mut largest = vec![(0.0, 0); field.players()];
        let mut open = Vec::new();
        for (a, arc) in program.arcs.iter().enumerate() {
            let (part, site) = (values[program.used(a)], field.usable[arc.site]);
            if part > largest[arc.player].0 {
                largest[arc.player] = (part, site as u32);
            }
            if part > AGREES {
                open.push(site);
            }
        }
        let assignment = if limited {
            largest.into_iter().map(|(_, site)| site).collect()
        } else {
            Plan::nearest(problem, field.lag, &field.with_required(&open)).map_err(Error::Request)?.assignment
        };
        let servers: Vec<usize> = assignment.iter().map(|&s: &u32| s as usize).collect();
        let mut plan = Plan::empty(problem, field.lag, &field.with_required(&servers)).map_err(Error::Request)?;
        plan.assignment = assignment;
        let full = plan
            .servers
            .iter()
            .zip(plan.loads(problem))
            .find(|(s, load)| problem.sites()[**s].capacity.is_some_and(|room| *load > room * (1.0 + SLACK)));
        match full {
            Some((s, load)) => Err(Error::Solver(format!("{load} players at {}", problem.sites()[*s].name))),
            None => Ok(plan),
        }
    }

    fn value(&self, plan: &Plan) -> f64 {
        let cost = plan.cost(self.field.problem);
        match self.request.objective {
            Objective::Servers => plan.servers.len() as f64,
            Objective::Cost => cost,
            objective => {
                let responses = plan.responses(self.field.problem);
                objective.of(&responses, &self.weights, &mut Vec::new()) + self.request.price * cost
            }
        }
    }

    fn answer(&self, found: Found) -> Answer {
        let Found { plan, value, bound, proven } = found;
        let bound = if proven { value } else { bound };
        Answer::new(self.field.problem, Strategy::Best, plan, value, Vec::new()).bounded(bound)
    }
}
