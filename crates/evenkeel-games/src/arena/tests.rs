use super::*;
use evenkeel::Vec3;

const STEPS_PER_SECOND: u32 = 50;

/// An arena in which the first two tanks stand 51 m apart where nothing is in the way, and the first points at the second.
fn lane(rules: Rules) -> Arena {
    let mut arena = Arena::new(rules, 3, 1).unwrap();
    arena.now.tanks[0] = Tank::new(Vec3::new(-90.0, 40.0, 0.0), 0.0);
    arena.now.tanks[1] = Tank::new(Vec3::new(-39.0, 40.0, 0.0), 0.0);
    arena.now.tanks[2] = Tank::new(Vec3::new(140.0, -140.0, 0.0), 0.0);
    arena
}

fn run(arena: &mut Arena, steps: u32) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    (0..steps).for_each(|_| arena.step(&mut verdicts));
    verdicts
}

fn act(arena: &mut Arena, player: u32, act: Act) {
    arena.apply(HostId(player), &act, &mut Vec::new());
}

#[test]
fn tanks_drive_as_dead_reckoning_foresees() {
    let mut arena = lane(Rules::default());
    act(&mut arena, 1, Act::Drive { speed: 100, turn: -50 });
    let foreseen = arena.pose(HostId(1)).unwrap().motion(evenkeel::MotionKind::Auto).at(1.0);
    run(&mut arena, STEPS_PER_SECOND);
    let state = arena.state(HostId(1)).unwrap();
    assert!((state.velocity.length() - 25.0).abs() < 1e-9);
    assert!(foreseen.position.distance(state.position) < 1e-9);
    assert!(foreseen.attitude.angle_to(&state.attitude) < 1e-12);
}

#[test]
fn inertia_takes_its_time() {
    let mut arena = lane(Rules { inertia: true, ..Rules::default() });
    act(&mut arena, 1, Act::Drive { speed: -100, turn: 100 });
    run(&mut arena, STEPS_PER_SECOND / 2);
    assert!((arena.now.tanks[1].speed + 10.0).abs() < 1e-9);
    assert!((arena.now.tanks[1].turn_rate - TURN_RATE).abs() < 1e-9);
    run(&mut arena, STEPS_PER_SECOND / 2);
    assert!((arena.now.tanks[1].speed + REVERSE_SPEED).abs() < 1e-9);
}

#[test]
fn tanks_stop_at_walls_and_say_so() {
    for inertia in [false, true] {
        let mut arena = lane(Rules { inertia, ..Rules::default() });
        arena.now.tanks[1].position = Vec3::new(-90.0, 0.0, 0.0);
        act(&mut arena, 1, Act::Drive { speed: 100, turn: 0 });
        run(&mut arena, 6 * STEPS_PER_SECOND);
        let state = arena.state(HostId(1)).unwrap();
        // The box in the middle begins at -12, and a step at full speed is half a metre.
        assert!(state.position.x <= -15.0 && state.position.x > -15.6, "{state:?}");
        assert_eq!(state.velocity.length(), 0.0);
        act(&mut arena, 1, Act::Drive { speed: -100, turn: 0 });
        run(&mut arena, STEPS_PER_SECOND);
        assert!(arena.state(HostId(1)).unwrap().velocity.x < -12.0, "and get away");
    }
}

#[test]
fn a_shot_hits_and_its_victim_comes_back() {
    let mut arena = lane(Rules::default());
    act(&mut arena, 0, Act::Fire);
    assert_eq!(run(&mut arena, 22), []);
    assert_eq!(run(&mut arena, 1), [Verdict::Hit { shooter: HostId(0), target: HostId(1), shot: 1 }]);
    assert_eq!((arena.tanks()[0].kills, arena.tanks()[1].deaths, arena.shots().len()), (1, 1, 0));
    assert!(arena.pose(HostId(1)).is_none());
    act(&mut arena, 1, Act::Fire);
    assert!(arena.shots().is_empty(), "who is out does not fire");
    run(&mut arena, 5 * STEPS_PER_SECOND - 1);
    assert!(arena.pose(HostId(1)).is_none());
    run(&mut arena, 1);
    let back = arena.pose(HostId(1)).unwrap().position();
    assert!(!arena.field().blocks(back) && back.distance(Vec3::new(-39.0, 40.0, 0.0)) > 1.0);
}

#[test]
fn slots_reload_and_shots_end() {
    let mut arena = lane(Rules::default());
    arena.now.tanks[0].heading = core::f64::consts::PI;
    (0..5).for_each(|_| act(&mut arena, 0, Act::Fire));
    assert_eq!((arena.shots().len(), arena.tanks()[0].loaded()), (SLOTS, 0));
    run(&mut arena, STEPS_PER_SECOND);
    assert_eq!(arena.shots(), [], "at the wall");
    act(&mut arena, 0, Act::Fire);
    assert_eq!(arena.shots(), [], "not loaded");
    run(&mut arena, 3 * STEPS_PER_SECOND);
    assert_eq!(arena.tanks()[0].loaded(), SLOTS);

    let mut open = Arena::new(Rules { half_side: 2_000, ..Rules::default() }, 1, 1).unwrap();
    open.now.tanks[0] = Tank::new(Vec3::new(-1_900.0, 1_200.0, 0.0), 0.0);
    act(&mut open, 0, Act::Fire);
    run(&mut open, 174);
    let flown = open.shots()[0].position.x + 1_897.0;
    assert!((flown - 348.0).abs() < 1e-6, "{flown}");
    run(&mut open, 1);
    assert_eq!(open.shots(), [], "its time is over");
}

#[test]
fn obstacles_stop_shots() {
    let mut arena = lane(Rules::default());
    arena.now.tanks[0].position = Vec3::new(-30.0, 0.0, 0.0);
    arena.now.tanks[1].position = Vec3::new(30.0, 0.0, 0.0);
    act(&mut arena, 0, Act::Fire);
    assert_eq!(run(&mut arena, 4 * STEPS_PER_SECOND), []);
    assert!(arena.tanks()[1].is_alive());
}

#[test]
fn of_two_shots_the_one_that_strikes_earlier_counts() {
    let mut arena = lane(Rules::default());
    // Number 2 is half a metre nearer on the other side.
    arena.now.tanks[2] = Tank::new(Vec3::new(11.5, 40.0, 0.0), core::f64::consts::PI);
    act(&mut arena, 0, Act::Fire);
    act(&mut arena, 2, Act::Fire);
    assert_eq!(run(&mut arena, 30), [Verdict::Hit { shooter: HostId(2), target: HostId(1), shot: 1 }]);
    assert!(arena.shots().is_empty());
}

#[test]
fn only_players_are_permitted_and_wishes_are_bounded() {
    let mut arena = lane(Rules::default());
    assert!(arena.permits(HostId(2), &Act::Fire) && !arena.permits(HostId(3), &Act::Fire));
    let before = arena.digest();
    act(&mut arena, 3, Act::Fire);
    assert_eq!(arena.digest(), before);
    act(&mut arena, 1, Act::Drive { speed: 127, turn: -128 });
    assert_eq!((arena.tanks()[1].speed, arena.tanks()[1].turn_rate), (FULL_SPEED, -TURN_RATE));
    let refused = Arena::new(Rules { half_side: 10, ..Rules::default() }, 2, 0).unwrap_err();
    assert_eq!(refused, SetupError::Rule("half_side_m"));
}

#[test]
fn thousands_of_tanks_start_apart_from_walls() {
    let arena = Arena::new(Rules { half_side: 1_000, ..Rules::default() }, 2_000, 9).unwrap();
    assert!(arena.tanks().iter().all(|tank| !arena.field().blocks(tank.position)));
}
