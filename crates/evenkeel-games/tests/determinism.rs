//! Equal inputs give equal states, whatever was saved, restored and played again in between.
#![allow(clippy::unwrap_used)]

use evenkeel::determinism::check;
use evenkeel::{GlobalTime, HostId, Simulation, State, Tick};
use evenkeel_games::operations::{Replay, Setup, record};
use evenkeel_games::{Arena, Game, Pilot, Recording, ShipPilot, Spaceship, TankPilot, View, arena, spaceship};
use std::fmt::Debug;

fn duel() -> Recording<Spaceship> {
    let rules = spaceship::Rules { life: 5, ..Default::default() };
    record::<_, ShipPilot>(Setup { rules, players: 3, seed: 5, ticks: 1_500 }).unwrap()
}

fn tanks(inertia: bool) -> Recording<Arena> {
    let rules = arena::Rules { inertia, ..Default::default() };
    record::<_, TankPilot>(Setup { rules, players: 6, seed: 5, ticks: 1_500 }).unwrap()
}

fn runs_alike<G: Game, P: Pilot<G>>(setup: &Setup<G::Rules>)
where
    G::Verdict: Debug,
{
    let agreed = check(|transcript| {
        let recording = record::<G, P>(setup.clone()).unwrap();
        transcript.bytes(recording.to_text().as_bytes());
        let mut replay = recording.replay().unwrap();
        while replay.advance().is_some() {
            transcript.event(&(replay.game().digest(), replay.verdicts()));
        }
    });
    agreed.unwrap();
}

#[test]
fn two_runs_are_equal() {
    runs_alike::<Spaceship, ShipPilot>(duel().setup());
    runs_alike::<Arena, TankPilot>(tanks(false).setup());
    runs_alike::<Arena, TankPilot>(tanks(true).setup());
}

/// A few ticks into an unwanted future, in which everybody does what nobody did, and back again.
fn stray<G: Game>(game: &mut G, saved: &mut G::Snapshot, act: &G::Act) {
    game.save(saved);
    let mut verdicts = Vec::new();
    for player in 0..game.players() {
        game.apply(HostId(player), act, &mut verdicts);
    }
    for _ in 0..5 {
        game.step(&mut verdicts);
    }
    game.restore(saved);
}

/// At every tick: save, stray, restore, and go on as if nothing had happened.
fn returns<G: Game>(recording: &Recording<G>, act: &G::Act)
where
    G::Verdict: Debug,
{
    let mut plain: Replay<'_, G> = recording.replay().unwrap();
    let mut game = recording.start().unwrap();
    let (mut saved, mut verdicts, mut operations) = (G::Snapshot::default(), Vec::new(), recording.operations());
    while let Some(tick) = plain.advance() {
        stray(&mut game, &mut saved, act);
        verdicts.clear();
        game.step(&mut verdicts);
        let (due, later) = operations.split_at(operations.partition_point(|o| o.at <= tick.time(game.step_length())));
        operations = later;
        let mut due = due.to_vec();
        due.sort_by_key(|operation| (operation.issuer, operation.sequence));
        due.iter().for_each(|operation| game.apply(operation.issuer, &operation.act, &mut verdicts));
        assert_eq!(game.digest(), plain.game().digest(), "{tick}");
        assert_eq!(verdicts, plain.verdicts(), "{tick}");
    }
    assert!(G::snapshot_bytes(&saved) > 100);
}

#[test]
fn whoever_goes_back_gets_to_the_same_state() {
    returns(&duel(), &spaceship::Act::Fire);
    returns(&tanks(false), &arena::Act::Fire);
    returns(&tanks(true), &arena::Act::Drive { speed: -100, turn: 30 });
}

/// From every hundredth tick on, the whole rest played again from the saved state.
fn resumes<G: Game>(recording: &Recording<G>) {
    let frames: Vec<_> = recording.replay().unwrap().collect();
    let end = frames.last().unwrap().game.digest();
    for frame in frames.iter().step_by(100) {
        let mut saved = G::Snapshot::default();
        frame.game.save(&mut saved);
        let mut game = recording.start().unwrap();
        game.restore(&saved);
        assert_eq!(game.digest(), frame.game.digest());
        let step = game.step_length();
        for later in frames.iter().filter(|later| later.tick > frame.tick) {
            game.step(&mut Vec::new());
            let (from, to) = (Tick(later.tick.0 - 1).time(step), later.tick.time(step));
            let due = recording.operations().iter().filter(|o| o.at > from && o.at <= to);
            let mut due: Vec<_> = due.collect();
            due.sort_by_key(|operation| (operation.issuer, operation.sequence));
            due.iter().for_each(|operation| game.apply(operation.issuer, &operation.act, &mut Vec::new()));
        }
        assert_eq!(game.digest(), end, "from {}", frame.tick);
    }
}

#[test]
fn the_rest_follows_from_any_saved_state() {
    resumes(&duel());
    resumes(&tanks(false));
}

/// Drives by the last bits of what it sees: whatever it was shown can be told from what it did.
struct Witness(HostId);

impl Witness {
    fn drive(state: &State) -> arena::Act {
        let low = |x: f64| x.to_bits() as i8;
        arena::Act::Drive { speed: low(state.position.x), turn: low(state.attitude.heading()) }
    }
}

impl Pilot<Arena> for Witness {
    fn seated(_seed: u64, player: HostId, _game: &Arena) -> Self {
        Self(player)
    }

    fn act(&mut self, view: &View<'_>, _now: GlobalTime) -> Vec<arena::Act> {
        let own = view.shown.iter().find(|(player, _)| *player == self.0);
        assert_eq!(own.map(|(_, state)| *state), view.own);
        own.map(|(_, state)| Self::drive(state)).into_iter().collect()
    }
}

#[test]
fn bots_were_shown_what_the_replay_shows() {
    let setup = Setup { rules: arena::Rules::default(), players: 3, seed: 2, ticks: 400 };
    let recording = record::<_, Witness>(setup).unwrap();
    let step = recording.setup().rules.step_length;
    let mut did = recording.operations().to_vec();
    did.sort_by_key(|operation| (Tick::at_or_after(operation.at, step), operation.issuer));
    let mut did = did.iter().map(|operation| operation.act);
    let games = std::iter::once(recording.start().unwrap()).chain(recording.replay().unwrap().map(|frame| frame.game));
    for game in games.take(400) {
        for player in (0..3).map(HostId) {
            assert_eq!(did.next(), Some(Witness::drive(&game.state(player).unwrap())));
        }
    }
    assert_eq!(did.next(), None);
}

#[test]
fn digests_tell_states_apart() {
    let recording = tanks(false);
    let mut digests: Vec<u64> = recording.replay().unwrap().map(|frame| frame.game.digest()).collect();
    let ticks = digests.len();
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), ticks);
    // Keys that are held matter later.
    let game = recording.start().unwrap();
    let mut other = game.clone();
    other.apply(HostId(0), &arena::Act::Drive { speed: 1, turn: 0 }, &mut Vec::new());
    assert_ne!(game.digest(), other.digest());
}
