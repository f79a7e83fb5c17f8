//! Globally synchronised dead reckoning with local lag: what must hold whatever the game, the delay and the lag.

#![allow(clippy::unwrap_used)]

mod common;

use common::{SENDER, World, at, ms};
use evenkeel::lag::{Lag, LagChange, LocalSite};
use evenkeel::wire::Format;
use evenkeel::{
    Duration, EntityId, GlobalTime, HostId, PlaceError, Placing, Pose, ReceiverEvent, SenderConfig, Simulation,
    Threshold, Tick, Vec3,
};
use proptest::prelude::*;

const TICK_MS: i64 = 20;
const PILOT: HostId = HostId(1);

/// Two ships that one pilot flies: they turn and thrust along their noses.
#[derive(Clone, Debug, Default, PartialEq)]
struct Ships([Ship; 2]);

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Ship {
    position: Vec3,
    velocity: Vec3,
    heading: f64,
    thrust: f64,
    turn: f64,
}

impl Ship {
    fn acceleration(&self) -> Vec3 {
        Vec3::from_heading(self.heading) * self.thrust
    }

    fn pose(&self) -> Pose {
        let pose = Pose::at(self.position).moving(self.velocity).facing(self.heading).turning(self.turn);
        pose.accelerating(self.acceleration())
    }
}

/// Which ship, its thrust and its turn rate from now on.
type Keys = (usize, i8, i8);

impl Simulation for Ships {
    type Act = Keys;
    type Snapshot = Self;
    type Verdict = ();

    fn step_length(&self) -> Duration {
        ms(TICK_MS)
    }

    fn save(&self, into: &mut Self) {
        into.clone_from(self);
    }

    fn restore(&mut self, from: &Self) {
        self.clone_from(from);
    }

    fn step(&mut self, _: &mut Vec<()>) {
        let dt = self.step_length().as_secs_f64();
        for ship in &mut self.0 {
            let acceleration = ship.acceleration();
            ship.position += ship.velocity * dt + acceleration * (dt * dt / 2.0);
            ship.velocity += acceleration * dt;
            ship.heading = evenkeel::wrap_angle(ship.heading + ship.turn * dt);
        }
    }

    fn apply(&mut self, _: HostId, &(ship, thrust, turn): &Keys, _: &mut Vec<()>) {
        let ship = &mut self.0[ship];
        (ship.thrust, ship.turn) = (60.0 * f64::from(thrust), 2.0 * f64::from(turn));
    }

    fn digest(&self) -> u64 {
        evenkeel::determinism::digest(|hasher| {
            self.0.iter().for_each(|ship| hasher.write_u64(ship.position.x.to_bits() ^ ship.heading.to_bits()));
        })
    }
}

#[derive(Clone, Debug)]
struct Scenario {
    /// When which keys are pressed, in milliseconds.
    keys: Vec<(i64, Keys)>,
    /// In pixels and radians.
    threshold: (f64, f64),
    lag_ms: i64,
}

fn scenarios() -> impl Strategy<Value = Scenario> {
    let key = (1i64..4_000, (0usize..2, -1i8..=1, -1i8..=1));
    let threshold = prop_oneof![Just((0.0, 0.0)), (0.5f64..20.0, 0.02f64..0.3)];
    (prop::collection::vec(key, 1..25), threshold, 0i64..40).prop_map(|(mut keys, threshold, lag)| {
        keys.sort_by_key(|(at, _)| *at);
        Scenario { keys, threshold, lag_ms: lag * TICK_MS }
    })
}

/// How far off each site with such a delay shows each ship, by shown tick: position and heading.
fn play(scenario: &Scenario, delays_ms: &[i64]) -> Vec<Vec<[(f64, f64); 2]>> {
    let placing = Placing { lag: ms(scenario.lag_ms), max_age: Duration::from_secs(60), ..Placing::default() };
    let mut world =
        World::new(SenderConfig { format: Format::lossless(), placing, ..SenderConfig::default() }, delays_ms);
    let (position, angle) = scenario.threshold;
    for ship in 0..2 {
        world.sender.add_entity(EntityId(ship), Threshold::within(position).turning(angle), at(0)).unwrap();
    }
    let lag = Lag::constant(placing.lag).unwrap();
    let mut site = LocalSite::new(Ships::default(), lag, at(0));
    let mut keys = scenario.keys.iter().peekable();
    let mut off = vec![Vec::new(); delays_ms.len()];
    for tick in 1..250 {
        let now = at(tick * TICK_MS);
        while let Some((issued, keys)) = keys.next_if(|(issued, _)| at(*issued) <= now) {
            site.issue(PILOT, *keys, at(*issued)).unwrap();
        }
        site.advance(now).unwrap();
        for (id, ship) in site.late().0.iter().enumerate() {
            world.sender.observe(EntityId(id as u32), ship.pose(), now).unwrap();
        }
        world.now = now;
        world.exchange();
        world.exchange(); // no delay is no delay
        for (site_off, receiver) in off.iter_mut().zip(&world.receivers) {
            let ship = |id: usize| {
                let (real, seen) = (&site.real().0[id], receiver.place(EntityId(id as u32), now).ok()?);
                let turned = evenkeel::wrap_angle(seen.attitude.heading() - real.heading).abs();
                Some((seen.position.distance(real.position), turned))
            };
            if let (Some(first), Some(second)) = (ship(0), ship(1)) {
                site_off.push([first, second]);
            } else {
                assert!(site_off.is_empty(), "once shown, always shown");
            }
        }
    }
    assert!(world.receivers.iter().all(|receiver| receiver.vectors_given_up() == 0));
    off
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn inconsistency_depends_on_what_the_delay_exceeds_the_lag_by_and_on_nothing_else(
        scenario in scenarios(),
        excess in 0i64..20,
        other_lag in 0i64..40,
    ) {
        let delay = |lag_ms: i64| lag_ms + excess * TICK_MS;
        let other = Scenario { lag_ms: other_lag * TICK_MS, ..scenario.clone() };
        let mut here = play(&scenario, &[delay(scenario.lag_ms)]).remove(0);
        let mut there = play(&other, &[delay(other.lag_ms)]).remove(0);
        let both = here.len().min(there.len());
        here.truncate(both);
        there.truncate(both);
        prop_assert!(both > 100, "they show enough to compare");
        prop_assert_eq!(here, there);
    }

    #[test]
    fn with_lag_for_the_delay_nobody_is_off_by_more_than_the_threshold(scenario in scenarios(), spare in 0i64..10) {
        let far = scenario.lag_ms;
        let near = (scenario.lag_ms - spare * TICK_MS).max(0);
        let (position, angle) = scenario.threshold;
        for site in play(&scenario, &[far, near, 0]) {
            for (off, turned) in site.into_iter().flatten() {
                // With a threshold of zero this is exact: not a bit is off.
                prop_assert!(off <= position && turned <= angle, "{} px, {} rad", off, turned);
            }
        }
    }

    #[test]
    fn more_lag_than_needed_changes_nothing_for_whoever_needs_less(scenario in scenarios()) {
        // The same run seen by two sites nearer than the lag: they agree to the last bit.
        let off = play(&scenario, &[scenario.lag_ms, scenario.lag_ms / 2 / TICK_MS * TICK_MS]);
        prop_assert_eq!(&off[0], &off[1]);
    }
}

/// A vector every tick, and a lag so long that dozens wait for their time.
#[test]
fn many_updates_wait_for_their_time() {
    let keys = (0..200).map(|n| (n * 20 + 5, (0, (n % 3 - 1) as i8, (n % 2) as i8))).collect();
    let scenario = Scenario { keys, threshold: (0.0, 0.0), lag_ms: 1_000 };
    let off = play(&scenario, &[1_000, 20]);
    assert!(off.iter().flatten().flatten().all(|off| *off == (0.0, 0.0)));
    assert!(off.iter().all(|site| site.len() > 190));
}

/// One tank, with everything that moves on both sides of a change of lag.
struct Changing {
    world: World,
    lag: Lag,
}

const TANK: EntityId = EntityId(3);

impl Changing {
    fn new(delays_ms: &[i64]) -> Self {
        let format = Format::lossless();
        let mut world = World::new(SenderConfig { format, ..SenderConfig::default() }, delays_ms);
        world.sender.add_entity(TANK, Threshold::within(0.1), at(0)).unwrap();
        Self { world, lag: Lag::default() }
    }

    fn change(&mut self, to_ms: i64) {
        let now = self.world.now;
        let change = LagChange::usual(self.lag.at(now), ms(to_ms), now + ms(50));
        self.lag.change(change, now).unwrap();
        self.world.sender.set_lag(change, now).unwrap();
        self.world.receivers.iter_mut().for_each(|receiver| receiver.set_lag(change, now).unwrap());
    }
}

#[test]
fn a_change_of_lag_never_makes_anything_run_backwards_and_the_books_follow() {
    let mut run = Changing::new(&[40, 180]);
    let (mut seen, mut truth, mut last) = ([f64::MIN; 2], [0.0; 2], run.lag.shown(at(0)));
    for step in 0..20_000 {
        match step {
            3_000 => run.change(300),
            8_000 => run.change(60),
            9_500 => run.change(150), // before the last has ended
            _ => {}
        }
        let velocity = |now: GlobalTime| {
            let swerve = if now.as_nanos() / 700_000_000 % 2 == 0 { 4.0 } else { -4.0 };
            Vec3::new(10.0, swerve, 0.0)
        };
        let zigzag = |now: GlobalTime| {
            let into = (now.as_nanos() % 1_400_000_000) as f64 / 1e9;
            let y = if into < 0.7 { 4.0 * into } else { 4.0 * (1.4 - into) };
            Pose::at(Vec3::new(10.0 * now.as_secs_f64(), y, 0.0)).moving(velocity(now))
        };
        run.world.run(1, |sender, now| {
            sender.observe(TANK, zigzag(now), now).unwrap();
        });
        let now = run.world.now;
        let shown = run.lag.shown(now);
        for (i, receiver) in run.world.receivers.iter().enumerate() {
            let Ok(placed) = receiver.place(TANK, now) else { continue };
            assert!(placed.position.x >= seen[i], "{} after {} at {now}", placed.position.x, seen[i]);
            seen[i] = placed.position.x;
            if step > 500 {
                let off = placed.position.distance(zigzag(shown).position());
                truth[i] += off * shown.since(last).as_secs_f64();
            }
        }
        last = shown;
    }
    let now = run.world.now;
    assert_eq!(run.lag.at(now), ms(150));
    let ledger = run.world.sender.ledger();
    for (i, truth) in truth.iter().enumerate() {
        let pair = ledger.pair(ledger.entity(TANK).unwrap(), ledger.receiver(HostId(i as u32)).unwrap());
        let booked = pair.accumulated(now).total() - pair.error_between(at(0), at(501)).total();
        assert!((booked - truth).abs() < 0.02 * truth + 0.02, "receiver {i}: {booked} booked, {truth} measured");
    }
}

#[test]
fn what_leaves_is_shown_until_its_time_has_come() {
    let placing = Placing { lag: ms(200), ..Placing::default() };
    let mut world = World::new(SenderConfig { placing, ..SenderConfig::default() }, &[50]);
    world.sender.add_entity(TANK, Threshold::within(0.1), at(0)).unwrap();
    world.run(1_000, |sender, now| {
        sender.observe(TANK, Pose::at(Vec3::new(now.as_secs_f64(), 0.0, 0.0)), now).unwrap();
    });
    world.sender.remove_entity(TANK, world.now).unwrap();
    world.run(190, |_, _| {});
    assert!(world.receivers[0].place(TANK, world.now).is_ok(), "at its owner it is still to be seen");
    assert!(!world.happened(ReceiverEvent::Retired { entity: TANK }));
    assert!(world.receivers[0].entities().any(|entity| entity == TANK));
    world.run(11, |_, _| {});
    assert!(world.happened(ReceiverEvent::Retired { entity: TANK }));
    assert_eq!(world.receivers[0].place(TANK, world.now), Err(PlaceError::Unknown(TANK)));
    assert_eq!(world.receivers[0].owner(TANK), None);
}

#[test]
fn hindsight_knows_what_was_not_known_then() {
    let mut world = World::new(SenderConfig { format: Format::lossless(), ..SenderConfig::default() }, &[200]);
    world.sender.add_entity(TANK, Threshold::within(0.1), at(0)).unwrap();
    let real = |now: GlobalTime| {
        let (x, v) = if now < at(1_000) { (0.0, 0.0) } else { (20.0 * now.since(at(1_000)).as_secs_f64(), 20.0) };
        Pose::at(Vec3::new(x, 0.0, 0.0)).moving(Vec3::new(v, 0.0, 0.0))
    };
    let observe = |sender: &mut evenkeel::Sender, now: GlobalTime| {
        sender.observe(TANK, real(now), now).unwrap();
    };
    world.run(1_150, observe);
    let fired = world.now;
    let then = world.receivers[0].place(TANK, fired).unwrap().position.x;
    world.run(220, observe);
    let hindsight = world.receivers[0].recall(TANK, fired).unwrap().position.x;
    assert!(then < 0.5 && (hindsight - 3.0).abs() < 0.15, "{then} then, {hindsight} now");
    assert_eq!(world.receivers[0].recall(TANK, at(0)), Err(PlaceError::NotYet(TANK)));
    // Another vector every tick: what is older than the history is forgotten, and one is told so.
    world.run(3_000, |sender, now| {
        let jump = if now.as_nanos() / 20_000_000 % 2 == 0 { 0.0 } else { 9.0 };
        sender.observe(TANK, Pose::at(Vec3::new(jump, 0.0, 0.0)).moving(Vec3::ZERO), now).unwrap();
    });
    assert_eq!(world.receivers[0].recall(TANK, fired), Err(PlaceError::Forgotten(TANK)));
    assert!(world.receivers[0].recall(TANK, world.now - ms(950)).is_ok());
}

/// Whoever leaves does not dodge: what was there when it was shot at is remembered for as long as everything else.
#[test]
fn hindsight_knows_those_that_have_gone() {
    let mut world = World::new(SenderConfig::default(), &[100]);
    world.sender.add_entity(TANK, Threshold::within(0.1), at(0)).unwrap();
    world.run(1_000, |sender, now| {
        sender.observe(TANK, Pose::at(Vec3::new(5.0, 0.0, 0.0)), now).unwrap();
    });
    world.sender.remove_entity(TANK, at(1_000)).unwrap();
    world.run(200, |_, _| {});
    assert!(world.happened(ReceiverEvent::Retired { entity: TANK }));
    let receiver = &world.receivers[0];
    assert_eq!(receiver.recall(TANK, at(900)).unwrap().position.x, 5.0);
    let since = match receiver.recall(TANK, at(1_050)) {
        Err(PlaceError::Gone { entity: TANK, since }) => since,
        other => panic!("{other:?}"),
    };
    assert!(since >= at(1_000) && since <= at(1_001), "{since}");
    assert_eq!(receiver.place(TANK, at(900)), Err(PlaceError::Unknown(TANK)), "it is shown no more");
    assert_eq!(receiver.heard_until(SENDER), Some(since));
}

/// A change that is heard of late changes nothing that was shown, also if nothing else happened since.
#[test]
fn a_change_of_lag_that_is_heard_late_takes_nothing_back() {
    let mut world = World::new(SenderConfig { format: Format::lossless(), ..SenderConfig::default() }, &[0]);
    world.sender.add_entity(TANK, Threshold::within(0.1), at(0)).unwrap();
    let pose = Pose::at(Vec3::ZERO).moving(Vec3::new(10.0, 0.0, 0.0));
    world.sender.observe(TANK, pose, at(0)).unwrap();
    world.exchange();
    world.exchange();
    let receiver = &mut world.receivers[0];
    let before = receiver.place(TANK, at(1_000)).unwrap().position.x;
    receiver.set_lag(LagChange { to: ms(200), begins: at(600), over: ms(200) }, at(1_000)).unwrap();
    assert_eq!(receiver.place(TANK, at(1_000)).unwrap().position.x, before);
    assert!(receiver.place(TANK, at(1_100)).unwrap().position.x >= before);
    let refused = LagChange { to: ms(-1), begins: at(2_000), over: ms(0) };
    assert!(receiver.set_lag(refused, at(9_000)).is_err());
    assert!(receiver.set_lag(LagChange { to: ms(0), ..refused }, at(1_500)).is_ok(), "what is refused moves no time");
    assert!(receiver.set_lag(LagChange { to: ms(0), ..refused }, at(1_400)).is_err(), "time goes on");
}

#[test]
fn ticks_are_those_of_the_clock() {
    assert_eq!(Tick::at_or_before(at(-1), ms(TICK_MS)), Tick(-1));
    assert_eq!(Tick::at_or_after(at(-1), ms(TICK_MS)), Tick(0));
}
