//! The recordings in `data/operations`: they are what the bots play, and they replay to the same state everywhere.
#![allow(clippy::unwrap_used)]

use evenkeel::{HostId, Simulation};
use evenkeel_games::operations::{game_of, record};
use evenkeel_games::{
    Arena, Game, Pilot, Recording, ShipPilot, Spaceship, TankPilot, arena,
    spaceship::{self, Act, Turn, Verdict},
};

const DUEL: &[u8] = include_bytes!("../../../data/operations/spaceship-duel.csv");
const FOUR: &[u8] = include_bytes!("../../../data/operations/arena-four.csv");

fn duel() -> Recording<Spaceship> {
    Recording::parse(DUEL).unwrap()
}

fn four() -> Recording<Arena> {
    Recording::parse(FOUR).unwrap()
}

fn verdicts<G: Game>(recording: &Recording<G>) -> Vec<G::Verdict> {
    recording.replay().unwrap().flat_map(|frame| frame.verdicts).collect()
}

/// All digests of a replay in one.
fn digest<G: Game>(recording: &Recording<G>) -> u64 {
    let mut replay = recording.replay().unwrap();
    let mut digests = Vec::new();
    while replay.advance().is_some() {
        digests.push(replay.game().digest());
    }
    evenkeel::determinism::digest(|hasher| digests.iter().for_each(|digest| hasher.write_u64(*digest)))
}

/// The file is what the bots play now, byte for byte.
fn is_played_by<G: Game, P: Pilot<G>>(bytes: &[u8]) {
    let recording = Recording::<G>::parse(bytes).unwrap();
    let played = record::<G, P>(recording.setup().clone()).unwrap();
    assert!(
        played.to_text().as_bytes() == bytes,
        "run the example `record_operations`, and say why they play differently"
    );
}

#[test]
fn bots_still_play_what_was_recorded() {
    is_played_by::<Spaceship, ShipPilot>(DUEL);
    is_played_by::<Arena, TankPilot>(FOUR);
    assert_eq!((game_of(DUEL), game_of(FOUR)), (Ok("spaceship"), Ok("arena")));
}

#[test]
fn replays_are_pinned() {
    // The same on every machine. A change here changes every measurement that replays these.
    assert_eq!((digest(&duel()), digest(&four())), (3_050_040_842_252_355_018, 8_273_793_493_311_120_712));
}

#[test]
fn the_duel_has_all_operations_and_hits_on_both_sides() {
    let recording = duel();
    let has = |act: Act, player| recording.operations().iter().any(|o| o.act == act && o.issuer == HostId(player));
    for player in 0..2 {
        for act in [
            Act::Accelerate(true),
            Act::Accelerate(false),
            Act::Decelerate(true),
            Act::Decelerate(false),
            Act::Turn(Turn::Left),
            Act::Turn(Turn::Right),
            Act::Turn(Turn::None),
            Act::Fire,
        ] {
            assert!(has(act, player), "{act:?} of player {player}");
        }
    }
    let verdicts = verdicts(&recording);
    let hits = |by| verdicts.iter().filter(|v| matches!(v, Verdict::Hit { shooter, .. } if shooter.0 == by)).count();
    assert_eq!((hits(0), hits(1)), (15, 13));
    let end = recording.replay().unwrap().last().unwrap();
    let lives: Vec<u8> = end.game.ships().iter().map(|ship| ship.life).collect();
    assert_eq!(lives, [2, 0]);
    assert_eq!(verdicts.last(), Some(&Verdict::Removed { ship: HostId(1) }));
}

#[test]
fn the_duel_lasts_a_minute_and_stays_about_the_screen() {
    let recording = duel();
    let mut replay = recording.replay().unwrap();
    let (mut removed_at, mut farthest) = (0.0, 0.0f64);
    while let Some(tick) = replay.advance() {
        let seconds = tick.time(replay.game().step_length()).as_secs_f64();
        if replay.verdicts().iter().any(|v| matches!(v, Verdict::Removed { .. })) {
            removed_at = seconds;
        }
        let beyond = |ship: &spaceship::Ship| {
            (ship.position.x.abs() - spaceship::FIELD.0 / 2.0).max(ship.position.y.abs() - spaceship::FIELD.1 / 2.0)
        };
        farthest = replay.game().ships().iter().map(beyond).fold(farthest, f64::max);
    }
    assert!(removed_at > 60.0 && farthest < 200.0, "{removed_at} s, {farthest} pixels");
}

#[test]
fn hands_are_human() {
    let recording = duel();
    for player in 0..2 {
        let count = recording.operations().iter().filter(|o| o.issuer == HostId(player)).count();
        let per_second = count as f64 / 62.0;
        assert!((1.0..8.0).contains(&per_second), "{per_second}");
    }
}

#[test]
fn everybody_hits_and_is_hit_in_the_arena() {
    let recording = four();
    let arena = recording.replay().unwrap().last().unwrap().game;
    assert!(arena.tanks().iter().all(|tank| tank.kills > 0 && tank.deaths > 0), "{:?}", arena.tanks());
    let hits = verdicts(&recording);
    let kills = |player| hits.iter().filter(|arena::Verdict::Hit { shooter, .. }| *shooter == HostId(player)).count();
    for (player, tank) in (0..).zip(arena.tanks()) {
        assert_eq!(kills(player), tank.kills as usize);
    }
}

#[test]
fn poses_stay_within_what_the_games_allow() {
    for frame in four().replay().unwrap() {
        let mut places = Vec::new();
        frame.game.places(&mut places);
        for (entity, state) in places {
            assert!(!frame.game.field().blocks(state.position), "{entity} at {}", frame.tick);
            assert!(state.velocity.length() <= arena::FULL_SPEED + 1e-9);
            assert!(frame.game.pose(HostId(entity.0)).is_some_and(|pose| pose.is_finite()));
        }
    }
}
