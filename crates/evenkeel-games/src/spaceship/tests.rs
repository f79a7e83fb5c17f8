use super::*;
use evenkeel::MotionKind;

fn duel() -> Spaceship {
    Spaceship::new(Rules { life: 2, ..Rules::default() }, 2).unwrap()
}

fn run(game: &mut Spaceship, steps: u32) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    (0..steps).for_each(|_| game.step(&mut verdicts));
    verdicts
}

fn act(game: &mut Spaceship, player: u32, act: Act) {
    game.apply(HostId(player), &act, &mut Vec::new());
}

/// Brings the first two ships within reach of each other's beams.
fn approach(game: &mut Spaceship) {
    for player in 0..2 {
        act(game, player, Act::Accelerate(true));
    }
    run(game, 80);
}

#[test]
fn a_ship_gets_to_its_top_speed_and_stops_without_reversing() {
    let mut game = duel();
    act(&mut game, 0, Act::Accelerate(true));
    run(&mut game, 150);
    assert_eq!(game.ships[0].speed, TOP_SPEED);
    assert!((game.ships[0].position.x - (-200.0 + 160.0 + 160.0)).abs() < 1e-9);
    act(&mut game, 0, Act::Accelerate(false));
    act(&mut game, 0, Act::Decelerate(true));
    run(&mut game, 150);
    assert_eq!(game.ships[0].speed, 0.0);
    assert_eq!(game.ships[1], duel().ships[1]);
}

#[test]
fn dead_reckoning_foresees_what_nobody_operates() {
    let mut game = duel();
    act(&mut game, 0, Act::Accelerate(true));
    act(&mut game, 0, Act::Turn(Turn::Left));
    run(&mut game, 10);
    let foreseen = game.pose(HostId(0)).unwrap().motion(MotionKind::Turning).at(1.0);
    run(&mut game, 50);
    let state = game.state(HostId(0)).unwrap();
    assert!(foreseen.position.distance(state.position) < 1e-9);
    assert!(foreseen.velocity.distance(state.velocity) < 1e-9);
    assert!(foreseen.attitude.angle_to(&state.attitude) < 1e-12);
}

#[test]
fn beams_take_life_until_the_ship_is_removed() {
    let mut game = duel();
    act(&mut game, 0, Act::Fire);
    assert_eq!(run(&mut game, 30), [], "out of reach");
    approach(&mut game);
    act(&mut game, 0, Act::Fire);
    assert!(game.ships[0].beam().is_some());
    let hit = |life_left| Verdict::Hit { shooter: HostId(0), target: HostId(1), life_left };
    assert_eq!(run(&mut game, 1), [hit(1)]);
    act(&mut game, 0, Act::Fire);
    assert_eq!(run(&mut game, 19), [], "not ready");
    act(&mut game, 0, Act::Fire);
    assert_eq!(run(&mut game, 1), [hit(0), Verdict::Removed { ship: HostId(1) }]);
    assert!(game.pose(HostId(1)).is_none() && game.pose(HostId(0)).is_some());
    let mut places = Vec::new();
    game.places(&mut places);
    assert_eq!(places.len(), 1);
    let before = game.clone();
    act(&mut game, 1, Act::Fire);
    assert_eq!(game, before, "who has lost does nothing");
}

#[test]
fn beams_of_one_tick_strike_at_once() {
    let mut game = Spaceship::new(Rules { life: 1, ..Rules::default() }, 2).unwrap();
    approach(&mut game);
    act(&mut game, 0, Act::Fire);
    act(&mut game, 1, Act::Fire);
    let removed: Vec<Verdict> =
        run(&mut game, 1).into_iter().filter(|v| matches!(v, Verdict::Removed { .. })).collect();
    assert_eq!(removed.len(), 2);
    assert!(game.ships.iter().all(|ship| ship.beam().is_none()));
}

#[test]
fn only_players_are_permitted() {
    let mut game = duel();
    assert!(game.permits(HostId(1), &Act::Fire) && !game.permits(HostId(2), &Act::Fire));
    let before = game.clone();
    act(&mut game, 2, Act::Fire);
    assert_eq!(game, before);
}

#[test]
fn games_that_cannot_be_played_are_refused() {
    let refused = |rules, players| Spaceship::new(rules, players).unwrap_err();
    let rules = Rules::default();
    assert_eq!(refused(rules, 0), SetupError::Players(0));
    assert_eq!(refused(Rules { life: 0, ..rules }, 2), SetupError::Rule("life"));
    let error = refused(Rules { step_length: Duration::ZERO, ..rules }, 2);
    assert_eq!(alloc::format!("{error}"), "a step takes 1 ms to 250 ms, not 0 ms");
}
