use std::time::Duration;

use proptest::{collection::vec, prelude::*};

use super::*;
use crate::{
    Objective, Request, Site, Use,
    field::Field,
    testing::{lags, problems},
};

fn second(s: u64) -> Duration {
    Duration::from_secs(s)
}

fn objectives() -> impl Strategy<Value = Objective> {
    use Objective::*;
    prop::sample::select(vec![Critical, Mean, Percentile(0.9), MeanPlusStd, HalfMeanHalfMax, Servers, Cost])
}

/// What a fresh keeper says about the same players and servers, and what a plan made from nothing says.
fn agrees(keeper: &Keeper) -> Result<(), TestCaseError> {
    let (problem, request) = (keeper.problem(), keeper.request);
    let mut fresh = Keeper::new(problem.sites().to_vec(), problem.between.clone(), request, keeper.settings).unwrap();
    for (p, player) in problem.players().iter().enumerate() {
        fresh.join(&player.name, player.weight, problem.row(p)).unwrap();
        prop_assert_eq!(keeper.row(&player.name).unwrap(), problem.row(p));
    }
    fresh.stand(keeper.servers().to_vec());
    prop_assert_eq!(fresh.responses(), keeper.responses());
    prop_assert_eq!(fresh.value(), keeper.value());
    let Ok(plan) = keeper.plan() else { return Ok(()) };
    if problem.players().is_empty() {
        return Ok(());
    }
    prop_assert_eq!(plan.responses(problem), keeper.responses());
    let field = Field::new(problem, request.lag).unwrap();
    let worth = crate::strategy::search::Judge::new(&field, keeper.goal(), 1).worth(keeper.servers(), None);
    prop_assert_eq!(keeper.value().ok(), (worth.lack == crate::strategy::search::Lack::Nothing).then_some(worth.value));
    if keeper.problem().sites().iter().all(|site| site.capacity.is_none()) {
        prop_assert_eq!(crate::Plan::nearest(problem, request.lag, keeper.servers()).unwrap(), plan);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Whatever happens, what is kept up to date is what one would find from nothing.
    #[test]
    fn nothing_drifts(
        problem in problems(), lag in lags(), objective in objectives(), limit in prop::option::of(50.0..250.0f64),
        rooms in prop::option::of(2u8..9),
        events in vec((0u8..8, 0usize..8, 0usize..8, prop_oneof![8 => 0.0f32..200.0, 1 => Just(f32::INFINITY), 1 => Just(f32::NAN)]), 1..30),
    ) {
        let mut sites = problem.sites().to_vec();
        sites.iter_mut().for_each(|site| site.capacity = rooms.map(f64::from));
        let request = Request { lag, objective, critical_limit: limit, price: 0.5, ..Request::default() };
        let settings = Settings { pause: second(3), move_ms: 2.0, max_players: 6, ..Settings::default() };
        let Ok(mut keeper) = Keeper::new(sites, problem.between.clone(), request, settings) else { return Ok(()) };
        for (time, (kind, one, other, ms)) in events.into_iter().enumerate() {
            let (p, now) = (one % problem.players().len(), second(time as u64));
            let name = problem.players()[p].name.clone();
            let before = (keeper.problem().clone(), keeper.responses().to_vec(), keeper.servers().to_vec());
            let mut row = problem.row(p).to_vec();
            let done = match kind {
                0..3 => keeper.join(&name, problem.players()[p].weight, problem.row(p)),
                3 => keeper.leave(&name),
                4 => { row.rotate_left(other % problem.sites().len()); keeper.measured(&name, &row) }
                5 => keeper.measured_to(&name, other, ms),
                6 => keeper.measured_between(one, other, ms),
                _ => keeper.advise(now).map_or(Ok(()), |change| keeper.accept(&change, now)),
            };
            prop_assert!(kind < 7 || done.is_ok(), "advice that is refused: {:?}", done);
            if done.is_err() {
                prop_assert_eq!(before, (keeper.problem().clone(), keeper.responses().to_vec(), keeper.servers().to_vec()));
            }
            agrees(&keeper)?;
        }
    }

    /// What is advised is worth it, and gives what it says.
    #[test]
    fn advice_is_worth_it(problem in problems(), lag in lags(), objective in objectives(), which in any::<prop::sample::Index>(),
        start_ms in 0.0..5.0f64, move_ms in 0.0..20.0f64) {
        let request = Request { lag, objective, ..Request::default() };
        let settings = Settings { hysteresis: 0.03, start_ms, move_ms, pause: second(10), ..Settings::default() };
        let Ok(mut keeper) = Keeper::new(problem.sites().to_vec(), problem.between.clone(), request, settings) else { return Ok(()) };
        for (p, player) in problem.players().iter().enumerate() {
            if keeper.join(&player.name, player.weight, problem.row(p)).is_err() { return Ok(()) }
        }
        if keeper.run(&[which.index(problem.sites().len())]).is_err() { return Ok(()) }
        let best = crate::solve(&problem, &request);
        let Some(change) = keeper.advise(second(0)) else {
            // What solving finds would not have been worth it either.
            if let (Ok(best), Ok(value)) = (best, keeper.value()) {
                let (start, stop) = look::difference(keeper.servers(), &best.plan.servers);
                let most = value * 0.03 * (start.len() + stop.len()) as f64 + start_ms * start.len() as f64 + move_ms;
                prop_assert!(value - best.value <= most + 1e-6, "{} {}", value, best.value);
            }
            return Ok(());
        };
        prop_assert_eq!(keeper.advise(second(0)), Some(change.clone()), "the same again");
        if let (Some(before), Some(gain)) = (change.before, change.gain_ms) {
            let changed = (change.start.len() + change.stop.len()) as f64;
            prop_assert!(gain > 0.03 * before * changed + start_ms * change.start.len() as f64 + move_ms * change.moved);
            prop_assert!((change.cost_ms - start_ms * change.start.len() as f64 - move_ms * change.moved).abs() < 1e-9);
        }
        keeper.accept(&change, second(0)).unwrap();
        prop_assert_eq!(keeper.value().ok(), change.after);
        let lags: Vec<_> = keeper.servers().iter().copied().zip(keeper.lags().iter().copied()).collect();
        prop_assert_eq!(lags, change.lags_after.clone());
        for moved in &change.moves {
            let p = problem.players().iter().position(|player| player.name == moved.player).unwrap();
            prop_assert_eq!(keeper.seats.at[p].map(|s| s as usize), moved.to);
        }
        prop_assert_eq!(keeper.accept(&change, second(0)), Err(KeeperError::Stale));
        prop_assert_eq!(keeper.advise(second(9)), None);
    }
}

fn two(settings: Settings) -> Keeper {
    let sites = ["F", "T"].map(Site::new).to_vec();
    let mut keeper = Keeper::new(sites, vec![0.0, 100.0, 100.0, 0.0], Request::default(), settings).unwrap();
    keeper.run(&[0]).unwrap();
    keeper.join("a", 1.0, &[90.0, 100.0]).unwrap();
    keeper
}

#[test]
fn small_gains_are_left() {
    let mut keeper = two(Settings { hysteresis: 0.03, ..Settings::default() });
    assert_eq!(keeper.advise(second(0)), None);
    // To swap is two changes, 6 %.
    keeper.measured("a", &[106.0, 100.0]).unwrap();
    assert_eq!(keeper.advise(second(1)), None);
    keeper.measured("a", &[107.0, 100.0]).unwrap();
    let change = keeper.advise(second(2)).unwrap();
    assert_eq!((change.start.as_slice(), change.stop.as_slice()), (&[1][..], &[0][..]));
    keeper.decline(second(2));
    assert_eq!(keeper.advise(second(61)), None, "the pause");
    assert_eq!(keeper.advise(second(62)), Some(change.clone()));
    keeper.run(&[0, 1]).unwrap();
    assert_eq!(keeper.accept(&change, second(62)), Err(KeeperError::Stale), "a gain, but other servers run");
    keeper.run(&[0]).unwrap();
    keeper.measured("a", &[99.0, 100.0]).unwrap();
    assert_eq!(keeper.accept(&change, second(62)), Err(KeeperError::Stale));
    assert_eq!(keeper.servers(), [0]);
}

#[test]
fn who_cannot_play_is_helped() {
    let mut keeper = two(Settings { hysteresis: 10.0, ..Settings::default() });
    keeper.join("b", 1.0, &[f32::INFINITY, 5.0]).unwrap();
    assert_eq!(keeper.value(), Err(Trouble::Unreachable(1)));
    let change = keeper.advise(second(0)).unwrap();
    assert_eq!((change.trouble, change.before), (Some(Trouble::Unreachable(1)), None));
    assert_eq!(change.moves.iter().map(|m| (m.player.as_str(), m.from)).next_back(), Some(("b", None)));
    keeper.accept(&change, second(0)).unwrap();
    assert!(keeper.value().is_ok());
}

#[test]
fn who_cannot_play_does_not_wait() {
    let mut keeper = two(Settings::default());
    keeper.decline(second(0));
    keeper.measured("a", &[200.0, 100.0]).unwrap();
    assert_eq!(keeper.advise(second(1)), None, "a slow player waits");
    keeper.join("b", 1.0, &[f32::INFINITY, 5.0]).unwrap();
    let change = keeper.advise(second(1)).unwrap();
    assert_eq!((change.after, keeper.advise(second(1))), (Some(100.0), Some(change)));
    keeper.decline(second(2));
    assert_eq!(keeper.advise(second(3)), None, "this has been declined");
    keeper.join("c", 1.0, &[f32::INFINITY, 7.0]).unwrap();
    let change = keeper.advise(second(4)).unwrap();
    keeper.accept(&change, second(4)).unwrap();
    assert_eq!(keeper.value(), Ok(100.0));
    // Where nobody can be helped, there is nothing to say.
    let sites = ["F", "T"].map(Site::new).to_vec();
    let mut keeper = Keeper::new(sites, vec![f32::INFINITY; 4], Request::default(), Settings::default()).unwrap();
    keeper.run(&[0]).unwrap();
    keeper.join("a", 1.0, &[90.0, f32::INFINITY]).unwrap();
    keeper.decline(second(0));
    keeper.join("b", 1.0, &[f32::INFINITY, 5.0]).unwrap();
    assert_eq!((keeper.advise(second(1)), keeper.value()), (None, Err(Trouble::Unreachable(1))));
}

/// What can serve nobody is no advice, and what was advised can be done.
#[test]
fn servers_that_lose_each_other_are_given_up() {
    let with_room = |capacity| {
        let sites: Vec<Site> = (0..5).map(|s| Site { capacity, ..Site::new(format!("{s}")) }).collect();
        let mut keeper = Keeper::new(sites, vec![10.0; 25], Request::default(), Settings::default()).unwrap();
        ["a", "b"].iter().for_each(|name| keeper.join(name, 1.0, &[30.0; 5]).unwrap());
        assert_eq!(keeper.value(), Err(Trouble::NoServers));
        assert!(keeper.advise(second(0)).is_some());
        keeper.run(&[0, 1, 2, 3, 4]).unwrap();
        keeper.decline(second(0));
        for (s, t) in (0..5).flat_map(|s| (0..s).map(move |t| (s, t))) {
            keeper.measured_between(s, t, f32::INFINITY).unwrap();
        }
        assert_eq!(keeper.value(), Err(Trouble::Apart));
        keeper
    };
    assert_eq!(with_room(Some(1.0)).advise(second(1)), None, "no server can hold both");
    let mut keeper = with_room(None);
    let change = keeper.advise(second(1)).unwrap();
    keeper.accept(&change, second(1)).unwrap();
    assert_eq!((keeper.servers(), keeper.value()), (&[0][..], Ok(30.0)));
}

#[test]
fn a_full_server_is_helped() {
    let sites = ["F", "T"].map(|name| Site { capacity: Some(1.0), ..Site::new(name) }).to_vec();
    let mut keeper = Keeper::new(sites, vec![0.0; 4], Request::default(), Settings::default()).unwrap();
    keeper.run(&[0]).unwrap();
    keeper.join("a", 1.0, &[10.0, 20.0]).unwrap();
    keeper.decline(second(0));
    keeper.join("b", 1.0, &[10.0, 30.0]).unwrap();
    assert_eq!((keeper.value(), keeper.responses()), (Err(Trouble::Full), &[10.0, 10.0][..]));
    let change = keeper.advise(second(1)).unwrap();
    keeper.accept(&change, second(1)).unwrap();
    assert_eq!((keeper.value(), keeper.responses()), (Ok(20.0), &[20.0, 10.0][..]));
    keeper.measured_to("b", 0, f32::INFINITY).unwrap();
    assert_eq!(keeper.responses(), [10.0, 30.0]);
    keeper.measured_to("a", 1, f32::INFINITY).unwrap();
    keeper.measured_to("b", 0, 10.0).unwrap();
    keeper.leave("a").unwrap();
    assert_eq!((keeper.value(), keeper.responses()), (Ok(10.0), &[10.0][..]));
}

/// An event looks at one player, not at all of them; with none there is nothing left behind.
#[test]
fn an_event_is_little_work() {
    let sites: Vec<Site> = (0..50).map(|s| Site::new(format!("s{s}"))).collect();
    let mut keeper = Keeper::new(sites, vec![10.0; 2500], Request::default(), Settings::default()).unwrap();
    keeper.run(&[1, 5, 9]).unwrap();
    for p in 0..1000 {
        keeper.join(&format!("p{p}"), 1.0, &[p as f32; 50]).unwrap();
    }
    assert_eq!(keeper.looked(), 3 * 1000);
    keeper.leave("p7").unwrap();
    keeper.measured_to("p8", 5, 1.0).unwrap();
    keeper.measured_between(2, 3, 7.0).unwrap();
    assert_eq!(keeper.looked(), 3 * 1001);
    assert_eq!(keeper.response("p8"), Ok(6.0));
    (0..1000).filter(|p| *p != 7).for_each(|p| keeper.leave(&format!("p{p}")).unwrap());
    assert_eq!((keeper.problem.rtt.len(), keeper.value(), keeper.advise(second(0))), (0, Ok(0.0), None));
}

#[test]
fn what_cannot_be_is_refused() {
    let mut keeper = two(Settings { max_players: 1, ..Settings::default() });
    assert_eq!(keeper.join("b", 1.0, &[1.0, 1.0]), Err(KeeperError::TooManyPlayers(1)));
    assert_eq!(keeper.join("a", 1.0, &[1.0, 1.0]), Err(KeeperError::KnownPlayer("a".into())));
    assert_eq!(keeper.join(&"b".repeat(257), 1.0, &[1.0, 1.0]), Err(KeeperError::LongName(257)));
    assert_eq!(keeper.leave("b"), Err(KeeperError::UnknownPlayer("b".into())));
    assert_eq!(keeper.measured("a", &[1.0]), Err(KeeperError::Row { given: 1, sites: 2 }));
    assert_eq!(keeper.measured("a", &[f32::INFINITY; 2]), Err(KeeperError::Nowhere("a".into())));
    assert_eq!(keeper.measured_to("a", 2, 1.0), Err(KeeperError::UnknownSite(2)));
    assert_eq!(keeper.measured_between(0, 2, 1.0), Err(KeeperError::UnknownSite(2)));
    for wrong in
        [keeper.measured_to("a", 0, -1.0), keeper.measured_between(0, 1, f32::NAN), keeper.measured_between(0, 0, 1.0)]
    {
        assert!(matches!(wrong, Err(KeeperError::Problem(_))), "{wrong:?}");
    }
    keeper.leave("a").unwrap();
    assert!(keeper.join("a", 0.0, &[1.0, 1.0]).is_err());
    assert_eq!(keeper.join("a", 1.0, &[1.0]), Err(KeeperError::Row { given: 1, sites: 2 }));
    assert_eq!(keeper.join("a", 1.0, &[f32::INFINITY; 2]), Err(KeeperError::Nowhere("a".into())));
    assert!(keeper.problem().players().is_empty());
    assert!(keeper.run(&[2]).is_err());
    let sites = ["F", "T"].map(|name| Site { usage: Use::Required, ..Site::new(name) }).to_vec();
    let settings = Settings { hysteresis: f64::NAN, ..Settings::default() };
    assert!(Keeper::new(sites.clone(), vec![9.0; 4], Request::default(), settings).is_err());
    let mut keeper = Keeper::new(sites, vec![9.0; 4], Request::default(), Settings::default()).unwrap();
    assert!(keeper.measured_between(0, 1, f32::INFINITY).is_err(), "both are required");
    assert_eq!(keeper.problem().between(0, 1), 4.5);
}
