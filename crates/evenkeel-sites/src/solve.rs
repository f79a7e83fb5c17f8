//! One question, one answer.

use crate::{
    Assessment, Lag, Objective, Plan, Problem, Rule, SolveError, Step, bound,
    capacity::Seating,
    every,
    field::Field,
    milp,
    strategy::{
        central, critical, fewest, heuristic,
        search::{Goal, Judge, Lack},
    },
};

/// This part of the responses that are looked at, at most, is for looking at all plans.
const FOR_ALL: u64 = 20;

/// Programs of so many factors are solved within a fraction of a second: 16 sites and 30 players.
const PROGRAM: usize = 8_000;
/// A node of a program is so much more work than one of our own search.
const FOR_PROGRAMS: u64 = 1_000;

/// How servers are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strategy {
    /// As well as can be: never worse than any of the others.
    #[default]
    Best,
    /// One server, with the least mean response.
    CentralMean,
    /// One server, with the least critical response.
    CentralCritical,
    /// One server by lot.
    CentralRandom,
    /// The heuristic of Brun, Safaei and Boustead.
    Heuristic,
}

impl Strategy {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Best => "best",
            Self::CentralMean => "central by mean",
            Self::CentralCritical => "central by critical response",
            Self::CentralRandom => "central by lot",
            Self::Heuristic => "heuristic",
        }
    }
}

/// How long to look. These are counts, not times: the same request has the same answer everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// How many nodes of the exact search are visited at most.
    pub nodes: u64,
    /// How many responses of players the local search looks at, at most.
    pub responses: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { nodes: 200_000, responses: 2_000_000_000 }
    }
}

/// What is asked.
///
/// ```
/// use evenkeel_sites::{Objective, Request};
///
/// let request = Request { objective: Objective::Percentile(0.95), max_servers: Some(3), ..Request::default() };
/// # let _ = request;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Request {
    /// How long servers wait for each other.
    pub lag: Lag,
    /// What shall be small.
    pub objective: Objective,
    /// How servers are chosen.
    pub strategy: Strategy,
    /// How many servers there may be. The other strategies than [`Strategy::Best`] do not look at it.
    pub max_servers: Option<usize>,
    /// What nobody's response may exceed, in milliseconds. The other strategies than [`Strategy::Best`] do not look at it.
    pub critical_limit: Option<f64>,
    /// How many milliseconds of the objective a unit of a server's cost is worth.
    pub price: f64,
    /// Decides what is left to chance.
    pub seed: u64,
    /// How long to look.
    pub effort: Effort,
}

/// A plan, how good it is, and how good any could be.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// How the servers were chosen.
    pub strategy: Strategy,
    /// The servers and who plays where.
    pub plan: Plan,
    /// How well the players are served.
    pub assessment: Assessment,
    /// The objective of the plan, with the price of its servers.
    pub value: f64,
    /// No plan's objective is below this.
    pub bound: f64,
    /// How far the plan may be from the best, as a part of its objective: never less than 0.
    pub gap: f64,
    /// Whether it is proven that there is no better plan.
    pub proven: bool,
    /// How the heuristic came to its servers; empty for the other strategies.
    pub steps: Vec<Step>,
}

impl Answer {
    /// An answer of which nothing is proven.
    pub(crate) fn new(problem: &Problem, strategy: Strategy, plan: Plan, value: f64, steps: Vec<Step>) -> Self {
        let assessment = plan.assess(problem);
        Self { strategy, plan, assessment, value, bound: 0.0, gap: 1.0, proven: false, steps }.bounded(0.0)
    }

    /// The same answer, if no plan is below this bound, or the one that is known if that is higher.
    pub(crate) fn bounded(self, bound: f64) -> Self {
        let bound = bound.max(self.bound).min(self.value);
        let gap = if self.value > 0.0 { (self.value - bound) / self.value } else { 0.0 };
        Self { bound, gap, proven: bound >= self.value, ..self }
    }
}

/// Chooses servers.
///
/// ```
/// use evenkeel_sites::{Player, Problem, Request, Site, solve};
///
/// let sites = ["Frankfurt", "Lisbon", "Tokyo"].map(Site::new).to_vec();
/// let players = ["Ada", "Bo"].map(Player::new).to_vec();
/// let rtt = vec![20.0, 45.0, 240.0, 230.0, 260.0, 10.0];
/// let between = vec![0.0, 40.0, 225.0, 40.0, 0.0, 250.0, 225.0, 250.0, 0.0];
/// let problem = Problem::new(players, sites, rtt, between)?;
/// let answer = solve(&problem, &Request::default())?;
/// assert_eq!(answer.plan.servers, [0, 2]);
/// assert_eq!(answer.value, 132.5, "with one server alone somebody waits 230 ms");
/// assert!(answer.proven);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn solve(problem: &Problem, request: &Request) -> Result<Answer, SolveError> {
    check(request)?;
    packed(problem, request, strategic(problem, request))
}

/// The answer of a strategy.
fn strategic(problem: &Problem, request: &Request) -> Result<Answer, SolveError> {
    let field = Field::new(problem, request.lag)?;
    let goal = goal(&field, request)?;
    let mut judge = Judge::new(&field, goal, request.effort.responses);
    let mut steps = Vec::new();
    let lost = SolveError::Disconnected;
    let (servers, bound) = match request.strategy {
        Strategy::Best => best(&mut judge, request)?,
        Strategy::CentralMean => (central::best(&field, |a| a.mean).ok_or(lost)?, None),
        Strategy::CentralCritical => (central::best(&field, |a| a.max).ok_or(lost)?, None),
        Strategy::CentralRandom => (central::random(&field, request.seed).ok_or(lost)?, None),
        Strategy::Heuristic => {
            let run = heuristic::run(&field);
            steps = run.steps;
            (run.servers, None)
        }
    };
    let bound = bound.unwrap_or_else(|| bound::of(&field, request.objective, request.price, &servers));
    answer(&mut judge, request.strategy, &servers, bound, steps)
}

/// Where players of different weights fill servers, local search alone may seat them badly, or not at all: where the problem is small,
/// a program has the last word.
fn packed(problem: &Problem, request: &Request, found: Result<Answer, SolveError>) -> Result<Answer, SolveError> {
    let rooms = problem.sites().iter().any(|site| site.capacity.is_some());
    let short = matches!(
        (request.objective, request.price),
        (Objective::Critical, 0.0) | (Objective::Servers | Objective::Cost, _)
    );
    let nodes = request.effort.nodes / FOR_PROGRAMS;
    // Programs about means, or about one lag for all, take seconds even then.
    let quick = short && request.lag.rule() == Rule::PerServer && nodes > 0;
    if request.strategy != Strategy::Best || !rooms || !quick {
        return found;
    }
    let known = match &found {
        Ok(answer) if !answer.proven => answer.value,
        Err(SolveError::NothingFound) => f64::INFINITY,
        _ => return found,
    };
    let theirs = milp::solve(problem, request, &milp::Options { size: PROGRAM, nodes, known, ..Default::default() });
    match (found, theirs) {
        (Ok(ours), Ok(Some(theirs))) if theirs.value >= ours.value => Ok(ours.bounded(theirs.bound)),
        (_, Ok(Some(theirs))) => Ok(theirs),
        (found, _) => found,
    }
}

/// What a server at a random site would give, on average: what careful choice is measured against.
pub fn random_central(problem: &Problem, lag: Lag) -> Result<crate::Expected, SolveError> {
    central::expected(&Field::new(problem, lag)?).ok_or(SolveError::Disconnected)
}

/// The lower bound of the critical response by the paper: what the two players farthest from each other need.
pub fn paper_bound(problem: &Problem, lag: Lag) -> Result<f64, SolveError> {
    Ok(heuristic::run(&Field::new(problem, lag)?).bound)
}

pub(crate) fn check(request: &Request) -> Result<(), SolveError> {
    request.objective.check()?;
    if !(request.price >= 0.0 && request.price.is_finite()) {
        return Err(SolveError::Request { what: "price", value: request.price });
    }
    match request.critical_limit {
        Some(limit) if limit.is_nan() || limit < 0.0 => {
            Err(SolveError::Request { what: "limit of the critical response", value: limit })
        }
        _ => Ok(()),
    }
}

/// What plans must keep to. Fails if there cannot be room for everybody.
fn goal(field: &Field<'_>, request: &Request) -> Result<Goal, SolveError> {
    let best = request.strategy == Strategy::Best;
    let servers = request.max_servers.filter(|_| best).unwrap_or(usize::MAX);
    let limit = request.critical_limit.filter(|_| best).unwrap_or(f64::INFINITY);
    let needed = least_servers(field)?;
    if servers < needed {
        return Err(SolveError::TooFewServers { allowed: servers, needed });
    }
    Ok(Goal { objective: request.objective, price: request.price, limit, servers, idle: !best })
}

/// How many servers there must be at least to hold everybody.
fn least_servers(field: &Field<'_>) -> Result<usize, SolveError> {
    let room = |s: &usize| field.problem.sites()[*s].capacity.unwrap_or(f64::INFINITY);
    let all = field.problem.weight();
    let mut held: f64 = field.required.iter().map(room).sum();
    let mut rooms: Vec<f64> = field.usable.iter().filter(|s| !field.required.contains(s)).map(room).collect();
    rooms.sort_by(|a, b| b.total_cmp(a));
    let mut count = field.required.len();
    for room in rooms {
        if held >= all && count > 0 {
            break;
        }
        held += room;
        count += 1;
    }
    if held < all { Err(SolveError::Capacity { players: all, capacity: held }) } else { Ok(count) }
}

/// The best servers, and the bound if it is known already.
fn best(judge: &mut Judge<'_>, request: &Request) -> Result<(Vec<usize>, Option<f64>), SolveError> {
    let found = searched(judge, request);
    let known = match &found {
        Ok((servers, bound)) if bound.is_none_or(|bound| bound < judge.worth(servers, None).value) => {
            Some(&servers[..])
        }
        Err(SolveError::NothingFound) => None,
        _ => return found,
    };
    match every::best(judge, known, request.effort.responses / FOR_ALL) {
        Some(servers) => {
            let value = judge.worth(&servers, None).value;
            Ok((servers, Some(value)))
        }
        None => found,
    }
}

/// The best servers that are found by searching, and the bound if it is known already.
fn searched(judge: &mut Judge<'_>, request: &Request) -> Result<(Vec<usize>, Option<f64>), SolveError> {
    let (field, goal) = (judge.field, judge.goal);
    let mut starts = vec![heuristic::run(field).servers];
    let centrals = central::all(field);
    let by = |value: fn(&Assessment) -> f64| {
        centrals.iter().min_by(|a, b| value(&a.1).total_cmp(&value(&b.1))).map(|(servers, _)| servers.clone())
    };
    starts.extend([by(|a| a.mean), by(|a| a.max)].into_iter().flatten());
    if request.max_servers.is_some() {
        // A good plan to begin with leaves little but to prove it.
        let mut quick =
            Judge::new(field, Goal { objective: Objective::Critical, price: 0.0, ..goal }, request.effort.responses);
        starts.push(quick.search(&starts, request.seed).0);
    }
    let least = critical::solve(field, &starts, request.max_servers, request.effort.nodes);
    let least = least.map_err(|error| too_few(field, request, error))?;
    if least.value > goal.limit {
        let proven = least.bound >= least.value;
        return Err(SolveError::Limit { limit: goal.limit, nearest: least.value, proven });
    }
    starts.push(least.servers.clone());
    if goal.objective == Objective::Critical && goal.price == 0.0 {
        if !judge.limited() {
            return Ok((least.servers, Some(least.bound)));
        }
        let (servers, worth) = judge.search(&starts, request.seed);
        return if worth.lack == Lack::Nothing {
            Ok((servers, Some(least.bound)))
        } else {
            Err(SolveError::NothingFound)
        };
    }
    let (servers, worth) = judge.search(&starts, request.seed);
    if worth.lack > Lack::Idle {
        return Err(SolveError::NothingFound);
    }
    if goal.objective.is_about_servers() {
        return Ok(fewest_from(judge, request, servers));
    }
    // Where there can be no more than one server, all have been looked at.
    let only = goal.servers == 1 && !judge.limited() && centrals_best(judge, &centrals, worth.value);
    let bound = only.then_some(worth.value);
    Ok((servers, bound))
}

/// Whether no central server is better than this.
fn centrals_best(judge: &mut Judge<'_>, centrals: &[(Vec<usize>, Assessment)], value: f64) -> bool {
    centrals.iter().all(|(servers, _)| {
        let worth = judge.worth(servers, None);
        worth.lack != Lack::Nothing || worth.value >= value
    })
}

/// The fewest or cheapest servers within the limit.
fn fewest_from(judge: &Judge<'_>, request: &Request, known: Vec<usize>) -> (Vec<usize>, Option<f64>) {
    let field = judge.field;
    let cost = |s: usize| if request.objective == Objective::Servers { 1.0 } else { field.problem.sites()[s].cost };
    let limit = judge.goal.limit.min(field.longest());
    let fewest = fewest::solve(field, limit, cost, known.clone(), judge.goal.servers, request.effort.nodes);
    // The exact search does not know about room: what it finds is a bound then, and a plan only if everybody fits.
    if judge.limited() { (known, Some(fewest.bound)) } else { (fewest.servers, Some(fewest.bound)) }
}

/// If there would be a plan with more servers, says how many it needs.
fn too_few(field: &Field<'_>, request: &Request, error: SolveError) -> SolveError {
    let Some(allowed) = request.max_servers else { return error };
    match critical::solve(field, &[], None, request.effort.nodes) {
        Err(error) => error,
        Ok(more) => {
            let fewest = fewest::solve(field, field.longest(), |_| 1.0, more.servers, usize::MAX, request.effort.nodes);
            SolveError::TooFewServers { allowed, needed: fewest.servers.len() }
        }
    }
}

/// The whole answer about these servers.
fn answer(
    judge: &mut Judge<'_>,
    strategy: Strategy,
    servers: &[usize],
    bound: f64,
    steps: Vec<Step>,
) -> Result<Answer, SolveError> {
    let (field, problem) = (judge.field, judge.field.problem);
    let mut plan = match judge.limited() {
        false => Plan::nearest(problem, field.lag, servers)?,
        true => {
            let mut plan = Plan::empty(problem, field.lag, servers)?;
            let seats = Seating::new(field, &plan.servers, &judge.weights).seat(judge.critical_first());
            let room = |s: &usize| problem.sites()[*s].capacity.unwrap_or(f64::INFINITY);
            let capacity = plan.servers.iter().map(room).sum();
            let seats = seats.ok_or(SolveError::Capacity { players: judge.weights.all, capacity })?;
            plan.assignment = seats.into_iter().map(|i| plan.servers[i] as u32).collect();
            plan
        }
    };
    while strategy == Strategy::Best
        && let Some(used) = plan.used(problem)
    {
        plan = match judge.limited() {
            false => Plan::nearest(problem, field.lag, &used)?,
            true => Plan { assignment: plan.assignment, ..Plan::empty(problem, field.lag, &used)? },
        };
    }
    let value = judge.value(&plan);
    Ok(Answer::new(problem, strategy, plan, value, steps).bounded(bound))
}
