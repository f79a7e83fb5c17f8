//! Our answers, confirmed by solvers that know nothing of how we came to them.
//!
//! Small problems by microlp; with the feature `highs`, larger ones by HiGHS.

use evenkeel_sites::{
    Answer, Lag, Objective, Player, Problem, Request, Rule, Site, SolveError, Use,
    milp::{self, Options},
    solve,
};

/// What solvers' tolerances may make of a value.
const CLOSE: f64 = 1e-6;

/// Numbers that repeat themselves.
struct Numbers(u64);

impl Numbers {
    /// From 0 to 1.
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }

    /// A whole number below `n`.
    fn below(&mut self, n: usize) -> usize {
        ((self.next() * n as f32) as usize).min(n - 1)
    }
}

/// What sort of problem.
#[derive(Clone, Copy, Debug)]
struct Kind {
    sites: usize,
    players: usize,
    /// In a plane, where ways through others are never shorter.
    metric: bool,
    /// Some sites must or must not be used, and some ways are missing.
    strict: bool,
    /// Sites hold about this part of the players.
    room: Option<f64>,
    /// Players count one to four times.
    weighted: bool,
}

fn problem(kind: Kind, seed: u64) -> Problem {
    let mut numbers = Numbers(seed);
    (0..4).for_each(|_| numbers.0 ^= u64::from(numbers.next().to_bits()));
    let places: Vec<(f32, f32)> =
        (0..kind.sites + kind.players).map(|_| (numbers.next() * 200.0, numbers.next() * 100.0)).collect();
    let mut times = Vec::new();
    for from in &places {
        for to in &places[..kind.sites] {
            let missing = kind.strict && numbers.below(15) == 0;
            let far = (from.0 - to.0).hypot(from.1 - to.1);
            times.push(match (missing, kind.metric) {
                (true, _) => f32::INFINITY,
                (false, true) => far,
                (false, false) => far * (0.5 + numbers.next()) + 10.0 * numbers.next(),
            });
        }
    }
    let weight = |numbers: &mut Numbers| if kind.weighted { 1.0 + numbers.below(4) as f64 } else { 1.0 };
    let players: Vec<Player> =
        (0..kind.players).map(|p| Player { weight: weight(&mut numbers), ..Player::new(format!("p{p}")) }).collect();
    let all: f64 = players.iter().map(|player| player.weight).sum();
    let site = |s: usize| Site {
        cost: 1.0 + numbers.below(3) as f64,
        capacity: kind.room.map(|part| (all * part * (0.5 + f64::from(numbers.next()))).floor()),
        usage: match numbers.below(9) {
            0 if kind.strict => Use::Required,
            1 if kind.strict => Use::Forbidden,
            _ => Use::Allowed,
        },
        ..Site::new(format!("s{s}"))
    };
    let sites = (0..kind.sites).map(site).collect();
    let (between, rtt) = times.split_at(kind.sites * kind.sites);
    Problem::new(players, sites, rtt.to_vec(), between.to_vec()).expect("all numbers can be")
}

/// What a plan is worth, from its servers and who plays where alone.
fn worth(problem: &Problem, request: &Request, answer: &Answer) -> f64 {
    let servers = &answer.plan.servers;
    let part = |s: usize, t: usize| problem.between(s, t) * request.lag.share();
    let longest = |s: usize| servers.iter().map(|&t| part(s, t)).fold(0.0, f64::max);
    let lag = |s: usize| match request.lag.rule() {
        Rule::PerServer => longest(s),
        Rule::Common => servers.iter().map(|&s| longest(s)).fold(0.0, f64::max),
    };
    let (mut mean, mut max) = (0.0, 0.0f64);
    let mut loads = vec![0.0; problem.sites().len()];
    for (p, player) in problem.players().iter().enumerate() {
        let s = answer.plan.assignment[p] as usize;
        assert!(servers.contains(&s), "there is a server");
        let response = problem.rtt(p, s) + lag(s);
        (mean, max) = (mean + response * player.weight / problem.weight(), max.max(response));
        loads[s] += player.weight;
    }
    assert!(max <= request.critical_limit.unwrap_or(f64::INFINITY) && max.is_finite(), "within the limit");
    assert!(servers.len() <= request.max_servers.unwrap_or(usize::MAX), "not too many");
    for (s, site) in problem.sites().iter().enumerate() {
        assert!(loads[s] <= site.capacity.unwrap_or(f64::INFINITY), "there is room");
        assert!(site.usage != Use::Required || servers.contains(&s), "required");
        assert!(site.usage != Use::Forbidden || !servers.contains(&s), "forbidden");
    }
    let cost: f64 = servers.iter().map(|&s| problem.sites()[s].cost).sum();
    match request.objective {
        Objective::Critical => max + request.price * cost,
        Objective::Mean => mean + request.price * cost,
        Objective::HalfMeanHalfMax => (mean + max) / 2.0 + request.price * cost,
        Objective::Servers => servers.len() as f64,
        _ => cost,
    }
}

/// How often what was the case.
#[derive(Debug, Default)]
struct Tally {
    plans: usize,
    proven: usize,
    none: usize,
    /// Where ours was not proven to be the best, and is not.
    better: usize,
}

/// Asks both and compares.
fn confirm(problem: &Problem, request: &Request, options: &Options, tally: &mut Tally) {
    let (ours, theirs) = (solve(problem, request), milp::solve(problem, request, options));
    match (ours, theirs) {
        (Ok(ours), Ok(Some(theirs))) => {
            assert!(theirs.proven, "{request:?}");
            for answer in [&ours, &theirs] {
                let worth = worth(problem, request, answer);
                assert!((worth - answer.value).abs() <= 1e-9 * worth.max(1.0), "{worth} {answer:?}");
            }
            let slack = CLOSE * ours.value.max(1.0);
            assert!(theirs.value <= ours.value + slack, "{} {} {request:?}", theirs.value, ours.value);
            assert!(theirs.value >= ours.bound - slack, "{} {} {request:?}", theirs.value, ours.bound);
            assert!(!ours.proven || theirs.value >= ours.value - slack, "{} {} {request:?}", theirs.value, ours.value);
            tally.plans += 1;
            tally.proven += usize::from(ours.proven);
            tally.better += usize::from(theirs.value < ours.value - slack);
        }
        (Err(SolveError::NothingFound | SolveError::Limit { proven: false, .. }), Ok(_)) => {}
        (Err(SolveError::NothingFound), _) => {}
        (Err(_), Ok(None) | Err(milp::Error::Request(_))) => tally.none += 1,
        (ours, theirs) => panic!("{ours:?} {theirs:?} {request:?}"),
    }
}

/// Both rules, the whole lag or half of it.
fn lag(seed: u64) -> Lag {
    let rule = if seed.is_multiple_of(2) { Rule::PerServer } else { Rule::Common };
    Lag::new(rule, if seed % 4 < 2 { 1.0 } else { 0.5 }).expect("a part")
}

fn confirm_all(kind: Kind, seeds: u64, options: &Options, requests: impl Fn(u64, &Problem) -> Vec<Request>) -> Tally {
    let mut tally = Tally::default();
    for seed in 0..seeds {
        let kind = Kind { metric: seed % 3 == 0, strict: seed % 5 < 3, ..kind };
        let problem = problem(kind, seed);
        for request in requests(seed, &problem) {
            confirm(&problem, &Request { lag: lag(seed), ..request }, options, &mut tally);
        }
    }
    tally
}

/// The critical response, with few servers or not, and the fewest and cheapest servers that are about as good.
fn critical_and_fewest(seed: u64, problem: &Problem) -> Vec<Request> {
    let any = Request { lag: lag(seed), ..Request::default() };
    let some = Request { max_servers: Some(1 + seed as usize % 3), ..any };
    let limit = solve(problem, &any).map(|answer| answer.value * (1.0 + (seed % 4) as f64 / 10.0)).ok();
    let fewest = |objective| Request { objective, critical_limit: limit, ..any };
    vec![any, some, fewest(Objective::Servers), fewest(Objective::Cost)]
}

/// The mean response, with few servers or within a limit or not, and together with the critical one.
fn means(seed: u64, _: &Problem) -> Vec<Request> {
    let price = (seed % 2) as f64;
    let any = Request { objective: Objective::Mean, price, ..Request::default() };
    let some = Request { max_servers: Some(1 + seed as usize % 3), ..any };
    let limit = Request { critical_limit: Some(120.0), ..any };
    let half = Request { objective: Objective::HalfMeanHalfMax, ..any };
    vec![any, some, limit, half, Request { objective: Objective::Critical, price: 1.0, ..any }]
}

const SMALL: Kind = Kind { sites: 6, players: 7, metric: true, strict: true, room: None, weighted: false };

#[test]
fn the_critical_response_and_the_fewest_servers_are_confirmed() {
    let tally = confirm_all(SMALL, 60, &Options::default(), critical_and_fewest);
    assert!(tally.plans > 150 && tally.proven == tally.plans, "{tally:?}");
}

#[test]
fn means_are_confirmed() {
    let tally = confirm_all(Kind { weighted: true, ..SMALL }, 40, &Options::default(), means);
    assert!(tally.plans > 100 && tally.proven == tally.plans, "{tally:?}");
}

#[test]
fn rooms_are_confirmed() {
    let kind = Kind { sites: 5, players: 6, room: Some(0.5), ..SMALL };
    let tally = confirm_all(kind, 24, &Options::default(), critical_and_fewest);
    assert!(tally.plans > 60 && tally.proven == tally.plans, "{tally:?}");
    let tally = confirm_all(kind, 12, &Options::default(), means);
    assert!(tally.plans > 30 && tally.proven > tally.plans / 3, "{tally:?}");
    let tally = confirm_all(Kind { weighted: true, ..kind }, 20, &Options::default(), critical_and_fewest);
    assert!(tally.plans > 50 && tally.proven >= tally.plans / 2, "every second is per server: {tally:?}");
}

#[cfg(feature = "highs")]
mod by_highs {
    use super::*;
    use evenkeel_sites::{
        input::{Candidates, Files, Players, read},
        milp::Solver,
    };

    const HIGHS: Options = Options { solver: Solver::Highs, size: 20_000_000, nodes: 100_000, known: f64::INFINITY };

    #[test]
    fn small_problems_are_confirmed() {
        let tally = confirm_all(Kind { sites: 7, players: 9, ..SMALL }, 24, &HIGHS, critical_and_fewest);
        assert!(tally.plans > 60 && tally.proven == tally.plans, "{tally:?}");
        let tally = confirm_all(Kind { weighted: true, ..SMALL }, 12, &HIGHS, means);
        assert!(tally.plans > 30 && tally.proven == tally.plans, "{tally:?}");
        let rooms = Kind { sites: 5, players: 6, room: Some(0.5), weighted: true, ..SMALL };
        let tally = confirm_all(rooms, 12, &HIGHS, means);
        assert!(tally.plans > 20, "{tally:?}");
    }

    #[test]
    fn forty_sites_are_confirmed() {
        let kind = Kind { sites: 40, players: 30, ..SMALL };
        for seed in 0..6 {
            let problem = problem(Kind { metric: seed % 2 == 0, strict: seed % 3 == 0, ..kind }, seed);
            for request in critical_and_fewest(0, &problem) {
                confirm(&problem, &request, &HIGHS, &mut Tally::default());
            }
        }
    }

    /// No plan is better than ours by as little as a rounding.
    #[test]
    fn planetlab_is_confirmed() {
        let bytes = include_bytes!("../../../data/latency/planetlab490_median_rtt_ms.csv.gz");
        for seed in 1..=10 {
            let options = evenkeel_sites::input::Options {
                players: Some(Players::Drawn { count: 48, seed }),
                candidates: Some(Candidates::Rest),
                ..Default::default()
            };
            let problem = read(&Files::new(bytes), &options).unwrap().problem;
            let ours = solve(&problem, &Request::default()).unwrap();
            assert!(ours.proven);
            assert!((worth(&problem, &Request::default(), &ours) - ours.value).abs() < 1e-9);
            let better = Options { known: ours.value.next_down(), ..HIGHS };
            assert_eq!(milp::solve(&problem, &Request::default(), &better), Ok(None));
        }
    }
}
