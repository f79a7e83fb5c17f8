//! The whole, against all plans of small problems.

use proptest::prelude::*;

use crate::{
    Answer, Assessment, Effort, Lag, Objective, Plan, Player, Problem, Request, Site, SolveError, Strategy,
    field::Field,
    solve,
    testing::{all_plans, lags, problems},
};

fn objectives() -> impl proptest::strategy::Strategy<Value = Objective> {
    prop_oneof![
        Just(Objective::Critical),
        Just(Objective::Mean),
        Just(Objective::Percentile(0.7)),
        Just(Objective::MeanPlusStd),
        Just(Objective::HalfMeanHalfMax),
        Just(Objective::Servers),
        Just(Objective::Cost),
    ]
}

/// The objective in other words.
fn value(problem: &Problem, request: &Request, servers: &[usize], responses: &[f64]) -> f64 {
    let all = Assessment::of(problem, responses.to_vec());
    let cost: f64 = servers.iter().map(|&s| problem.sites()[s].cost).sum();
    let players = match request.objective {
        Objective::Critical => all.max,
        Objective::Mean => all.mean,
        Objective::Percentile(part) => all.percentile(part).unwrap(),
        Objective::MeanPlusStd => all.mean + all.std,
        Objective::HalfMeanHalfMax => (all.mean + all.max) / 2.0,
        Objective::Servers => return servers.len() as f64,
        Objective::Cost => return cost,
    };
    players + request.price * cost
}

fn sound(problem: &Problem, request: &Request, answer: &Answer) -> Result<(), TestCaseError> {
    let responses = answer.plan.responses(problem);
    let value = value(problem, request, &answer.plan.servers, &responses);
    prop_assert!((value - answer.value).abs() <= 1e-9 * value.max(1.0), "{} {}", value, answer.value);
    prop_assert!(answer.gap >= 0.0 && answer.gap <= 1.0);
    prop_assert_eq!(answer.proven, answer.gap == 0.0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn bounds_hold_and_answers_keep_to_what_is_asked(
        problem in problems(),
        lag in lags(),
        objective in objectives(),
        most in 1usize..6,
        limit in proptest::option::of(50.0f64..300.0),
        price in prop_oneof![Just(0.0), Just(3.0)],
    ) {
        let request = Request { lag, objective, max_servers: Some(most), critical_limit: limit, price, ..Request::default() };
        let answer = solve(&problem, &request);
        let Ok(field) = Field::new(&problem, lag) else {
            prop_assert!(answer.is_err());
            return Ok(());
        };
        let critical = |responses: &[f64]| responses.iter().copied().fold(0.0, f64::max);
        let plans = all_plans(&field);
        // A server that serves nobody makes others wait longer, and by that sometimes more alike: that is no plan.
        let serves = |servers: &[usize]| Plan::nearest(&problem, lag, servers).is_ok_and(|plan| plan.used(&problem).is_none());
        let honest = |servers: &[usize]| objective != Objective::MeanPlusStd || serves(servers);
        let few = plans.iter().filter(|(servers, _)| servers.len() <= most && honest(servers));
        let nearest = few.clone().map(|(_, responses)| critical(responses)).reduce(f64::min);
        let fine = few.filter(|(_, responses)| limit.is_none_or(|limit| critical(responses) <= limit));
        let least = fine.map(|(servers, responses)| value(&problem, &request, servers, responses)).reduce(f64::min);
        match (answer, least) {
            (Ok(answer), Some(least)) => {
                sound(&problem, &request, &answer)?;
                prop_assert!(answer.bound <= least + 1e-9, "bound {} best {}", answer.bound, least);
                prop_assert!(answer.plan.servers.len() <= most);
                prop_assert_eq!(answer.plan.used(&problem), None, "a server that serves nobody");
                prop_assert!(limit.is_none_or(|limit| answer.assessment.max <= limit));
                prop_assert!(answer.proven && answer.value <= least + 1e-9, "{:?} best {}", answer, least);
            }
            (Err(SolveError::Limit { nearest: said, proven, .. }), None) => {
                prop_assert!(proven);
                prop_assert_eq!(Some(said), nearest);
            }
            (Err(SolveError::TooFewServers { needed, .. }), None) => {
                let enough = plans.iter().map(|(servers, _)| servers.len()).min();
                prop_assert!(needed > most && enough.is_none_or(|enough| needed <= enough), "{} {:?}", needed, enough);
                prop_assert!(field.required.len() > most || Some(needed) == enough, "{} {:?}", needed, enough);
            }
            (Err(SolveError::Disconnected), None) => prop_assert!(plans.is_empty()),
            (answer, least) => prop_assert!(false, "{:?} {:?}", answer, least),
        }
    }

    #[test]
    fn nothing_else_is_better(problem in problems(), lag in lags(), seed in any::<u64>()) {
        let ask = |strategy| solve(&problem, &Request { lag, strategy, seed, ..Request::default() });
        let Ok(best) = ask(Strategy::Best) else { return Ok(()) };
        for strategy in [Strategy::CentralMean, Strategy::CentralCritical, Strategy::CentralRandom, Strategy::Heuristic] {
            if let Ok(other) = ask(strategy) {
                prop_assert!(best.value <= other.value);
                prop_assert!(other.bound <= best.value);
                sound(&problem, &Request { lag, strategy, ..Request::default() }, &other)?;
            }
        }
    }
}

/// Two sites, three players who would all like to be on the first.
fn narrow(rooms: [Option<f64>; 2]) -> Problem {
    let sites = rooms.into_iter().enumerate().map(|(s, capacity)| Site { capacity, ..Site::new(format!("s{s}")) });
    let players = ["a", "b", "c"].map(Player::new).to_vec();
    Problem::new(players, sites.collect(), vec![10.0, 30.0, 12.0, 20.0, 14.0, 50.0], vec![0.0, 8.0, 8.0, 0.0]).unwrap()
}

#[test]
fn who_finds_no_room_moves_on() {
    let free = solve(&narrow([None, None]), &Request::default()).unwrap();
    assert_eq!((free.plan.assignment.as_slice(), free.value), (&[0, 0, 0][..], 14.0));
    let problem = narrow([Some(2.0), Some(5.0)]);
    let tight = solve(&problem, &Request::default()).unwrap();
    assert_eq!(tight.plan.assignment, [0, 1, 0], "the one whom it costs least");
    assert_eq!((tight.value, tight.bound), (24.0, 24.0), "all plans were looked at");
    let effort = Effort { nodes: 100, responses: 10 };
    let hasty = solve(&problem, &Request { effort, ..Request::default() }).unwrap();
    assert_eq!((hasty.value, hasty.bound), (24.0, 14.0), "the bound does not know of rooms");
    assert_eq!(tight.plan.loads(&problem), [2.0, 1.0]);
}

/// Whoever is heaviest and chooses first leaves no room for the last.
#[test]
fn different_weights_are_packed() {
    let sites = [7.0, 5.0].map(|room| Site { capacity: Some(room), ..Site::new("") }).to_vec();
    let players = [4.0, 3.0, 3.0, 2.0].map(|weight| Player { weight, ..Player::new("") }).to_vec();
    let rtt = vec![30.0, 10.0, 10.0, 20.0, 10.0, 25.0, 15.0, 15.0];
    let problem = Problem::new(players, sites, rtt, vec![0.0, 8.0, 8.0, 0.0]).unwrap();
    let answer = solve(&problem, &Request::default()).unwrap();
    assert_eq!((answer.plan.assignment.as_slice(), answer.value), (&[0, 1, 0, 1][..], 34.0));
    assert!(answer.proven);
    let hasty = Effort { nodes: 0, ..Effort::default() };
    assert!(solve(&problem, &Request { effort: hasty, ..Request::default() }).is_err());
}

#[test]
fn what_is_missing_is_named() {
    let ask =
        |problem: &Problem, max_servers| solve(problem, &Request { max_servers, ..Request::default() }).unwrap_err();
    let small = narrow([Some(1.0), Some(1.0)]);
    assert_eq!(ask(&small, None), SolveError::Capacity { players: 3.0, capacity: 2.0 });
    let two = narrow([Some(2.0), Some(1.0)]);
    assert_eq!(ask(&two, Some(1)), SolveError::TooFewServers { allowed: 1, needed: 2 });
    let limit = Request { critical_limit: Some(13.0), ..Request::default() };
    let error = solve(&narrow([None, None]), &limit).unwrap_err();
    assert_eq!(error, SolveError::Limit { limit: 13.0, nearest: 14.0, proven: true });
    assert_eq!(error.to_string(), "no plan has a critical response within 13 ms: the nearest is 14 ms");
    let never = Request { price: f64::NAN, ..Request::default() };
    assert!(matches!(solve(&two, &never), Err(SolveError::Request { what: "price", .. })));
}

#[test]
fn a_partial_lag_answers_sooner() {
    let problem = narrow([Some(2.0), None]);
    let lag = Lag::new(crate::Rule::PerServer, 0.5).unwrap();
    assert_eq!(solve(&problem, &Request { lag, ..Request::default() }).unwrap().value, 22.0);
}

/// Two cheap servers are no answer where there may be one.
#[test]
fn the_cheapest_are_not_too_many() {
    let sites = [3.0, 1.0, 1.0].map(|cost| Site { cost, ..Site::new("") }).to_vec();
    let players = ["a", "b"].map(Player::new).to_vec();
    let problem = Problem::new(players, sites, vec![0.0, 123.0, 0.0, 0.0, 0.0, 123.0], vec![0.0; 9]).unwrap();
    let any = Request { objective: Objective::Cost, critical_limit: Some(100.0), ..Request::default() };
    assert_eq!(solve(&problem, &any).unwrap().plan.servers, [1, 2]);
    let one = solve(&problem, &Request { max_servers: Some(1), ..any }).unwrap();
    assert_eq!((one.plan.servers.as_slice(), one.value, one.bound), (&[0][..], 3.0, 3.0));
}
