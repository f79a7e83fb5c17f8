//! What sender and receiver do together, one promise per test.

#![allow(clippy::unwrap_used)]

mod common;

use common::{SENDER, TANK, Way, World, at, ms, zigzag};
use evenkeel::ledger::Ledger;
use evenkeel::motion::LAW_PARAMETERS;
use evenkeel::policy::{Decision, Overtaken, Policy, Trigger};
use evenkeel::wire::{Format, Laws};
use evenkeel::{
    Beyond, Budget, Cause, ClockRule, Constraint, Duration, EntityId, GlobalTime, HostId, Law, Motion, PlaceError,
    Placing, Pose, Receiver, ReceiverConfig, ReceiverEvent, Relevance, Sender, SenderConfig, SenderEvent, Smoothing,
    State, Threshold, Vec3, policy,
};

fn lossless() -> SenderConfig {
    SenderConfig { format: Format::lossless(), ..SenderConfig::default() }
}

fn drive(sender: &mut Sender, now: GlobalTime) {
    sender.observe(TANK, zigzag(now), now).unwrap();
}

fn with_tank(mut world: World) -> World {
    world.sender.add_entity(TANK, Threshold::within(0.1), world.now).unwrap();
    world
}

fn exported(world: &World, t: GlobalTime) -> Vec3 {
    let ledger = world.sender.ledger();
    let newest = ledger.newest(ledger.entity(TANK).unwrap()).unwrap();
    newest.motion.position_at(t.since(newest.generated).as_secs_f64())
}

#[test]
fn receivers_place_exactly_what_is_exported_once_they_have_it() {
    let mut world = with_tank(World::new(SenderConfig::default(), &[20, 150]));
    world.run(3_000, drive);
    // No turn in the last 200 ms: everybody has the newest vector.
    world.run(190, |_, _| {});
    for receiver in &world.receivers {
        let placed = receiver.place(TANK, world.now).unwrap();
        assert_eq!(placed.position, exported(&world, world.now));
        assert!(placed.uncertainty > 0.0 && !placed.frozen);
    }
}

#[test]
fn with_lag_of_at_least_the_delay_everybody_shows_the_exported_path() {
    let placing = Placing { lag: ms(160), ..Placing::default() };
    let mut world = with_tank(World::new(SenderConfig { placing, ..lossless() }, &[20, 150]));
    let mut path = Vec::new();
    for _ in 0..3_000 {
        world.run(1, drive);
        path.push((world.now, exported(&world, world.now)));
        let shown = path.len().checked_sub(161).map(|i| path[i]);
        let Some((_, position)) = shown.filter(|(t, _)| *t > at(300)) else { continue };
        for receiver in &world.receivers {
            assert_eq!(receiver.place(TANK, world.now).unwrap().position, position);
        }
    }
    let fairness = world.sender.fairness(world.now);
    assert_eq!((fairness.mean, fairness.std), (0.0, 0.0));
}

#[test]
fn the_three_clock_rules_count_from_generation_arrival_and_arrival_less_delay() {
    let place = |rule: ClockRule| {
        let placing = Placing { rule, ..Placing::default() };
        let mut world = with_tank(World::new(SenderConfig { placing, ..lossless() }, &[100]));
        let straight =
            |t: GlobalTime| Pose::at(Vec3::new(10.0 * t.as_secs_f64(), 0.0, 0.0)).moving(Vec3::new(10.0, 0.0, 0.0));
        world.run(3_000, |sender, now| {
            sender.observe(TANK, straight(now), now).unwrap();
        });
        let x = world.receivers[0].place(TANK, world.now).unwrap().position.x;
        x - 10.0 * world.now.as_secs_f64()
    };
    assert!(place(ClockRule::Global).abs() < 1e-9);
    assert!((place(ClockRule::Local) + 1.0).abs() < 2e-4, "100 ms late at 10 m/s, to a stamp of the wire");
    assert!(place(ClockRule::OneWay).abs() < 0.02, "the delay is estimated, to a tick of this test");
}

#[test]
fn many_vectors_share_a_datagram_and_none_exceeds_its_size() {
    let config = SenderConfig { max_datagram: 320, ..SenderConfig::default() };
    let mut world = World::new(config, &[10]);
    for i in 0..200 {
        world.sender.add_entity(EntityId(i), Threshold::within(0.1), world.now).unwrap();
        let pose = Pose::at(Vec3::new(f64::from(i), 1.0, 0.0)).moving(Vec3::new(1.0, 2.0, 3.0));
        world.sender.observe(EntityId(i), pose, world.now).unwrap();
    }
    world.run(50, |_, _| {});
    assert!(world.sent.len() > 5 && world.sent.len() < 30, "{} datagrams", world.sent.len());
    assert!(world.sent.iter().all(|(_, bytes)| bytes.len() <= 320));
    assert_eq!(world.receivers[0].entities().count(), 200);
    let placed = world.receivers[0].place(EntityId(150), world.now).unwrap();
    assert!((placed.position.x - 150.05).abs() < 0.02, "{placed:?}");
}

#[test]
fn a_late_joiner_gets_everything_at_once_and_owes_no_past() {
    let mut world = with_tank(World::new(SenderConfig::default(), &[20]));
    world.sender.add_entity(EntityId(9), Threshold::within(0.1), at(0)).unwrap();
    world.sender.observe(EntityId(9), Pose::at(Vec3::ZERO), at(0)).unwrap();
    world.run(5_000, drive);
    world.join(Format::default(), ReceiverConfig::default(), 50);
    world.run(51, |_, _| {});
    assert_eq!(world.receivers[1].entities().count(), 2);
    world.run(100, |_, _| {});
    let rows = world.sender.fairness(world.now).receivers;
    assert!(rows[0].shown > ms(9_000) && rows[1].shown < ms(250), "{rows:?}");
}

#[test]
fn a_removed_entity_disappears_even_if_the_farewell_is_lost() {
    let mut world = with_tank(World::new(SenderConfig::default(), &[20]));
    world.run(500, drive);
    world.sender.remove_entity(TANK, world.now).unwrap();
    let until = world.now + ms(300);
    world.lost = Box::new(move |_, _, now| now < until);
    world.run(250, |_, _| {});
    assert!(world.receivers[0].place(TANK, world.now).is_ok(), "it cannot know yet");
    world.run(2_000, |_, _| {});
    assert_eq!(world.receivers[0].place(TANK, world.now), Err(PlaceError::Unknown(TANK)));
    assert!(world.happened(ReceiverEvent::Retired { entity: TANK }));
    // The same name again is a new life.
    world.sender.add_entity(TANK, Threshold::within(0.1), world.now).unwrap();
    world.run(100, drive);
    assert!(world.receivers[0].place(TANK, world.now).is_ok());
}

#[test]
fn out_of_scope_is_gone_and_in_scope_is_back() {
    let mut world = with_tank(World::new(SenderConfig::default(), &[20, 20]));
    world.run(500, drive);
    world.sender.set_relevance(TANK, HostId(1), Relevance::OutOfScope, world.now).unwrap();
    let before = world.sent.iter().filter(|(i, _)| *i == 1).count();
    world.run(1_500, drive);
    assert!(world.receivers[0].place(TANK, world.now).is_ok());
    assert_eq!(world.receivers[1].place(TANK, world.now), Err(PlaceError::Unknown(TANK)));
    let after = world.sent.iter().filter(|(i, _)| *i == 1).count();
    assert!(after - before <= 3, "one farewell and acknowledgements, not {}", after - before);
    world.sender.set_relevance(TANK, HostId(1), Relevance::Weight(2.0), world.now).unwrap();
    world.run(30, |_, _| {});
    assert_eq!(world.receivers[1].place(TANK, world.now).unwrap().position, exported(&world, world.now));
}

#[test]
fn a_lost_vector_is_sent_again_when_nothing_newer_was() {
    let mut world = with_tank(World::new(SenderConfig::default(), &[100]));
    world.run(1_000, drive);
    let stop = world.now;
    world.lost = Box::new(move |way, _, now| way == Way::Down && now <= stop + ms(20));
    // It stops, and the vector that says so is lost. Heartbeats are far away.
    let still = zigzag(stop).moving(Vec3::ZERO);
    world.sender.configure_entity(TANK, Threshold::within(0.1).at_least_every(Duration::from_secs(60))).unwrap();
    world.run(1_500, |sender, now| {
        sender.observe(TANK, still, now).unwrap();
    });
    assert!(world.sender.ledger().spent().resent >= 1);
    assert_eq!(world.receivers[0].place(TANK, world.now).unwrap().position, exported(&world, world.now));
    let mut lost = 0;
    while let Some(event) = world.sender.poll_event() {
        lost += usize::from(event == SenderEvent::DatagramLost { to: HostId(0) });
    }
    assert!(lost >= 1);
}

#[test]
fn a_lost_receipt_never_becomes_a_lost_vector() {
    let mut world = with_tank(World::new(SenderConfig::default(), &[50]));
    let mut n = 0;
    world.lost = Box::new(move |way, _, _| {
        n += 1;
        way == Way::Up && n % 3 != 0
    });
    world.run(10_000, drive);
    assert_eq!(world.sender.ledger().spent().resent, 0, "two receipts in three are lost, no vector is");
    assert_eq!(world.receivers[0].receipts_given_up(SENDER), 0);
}

#[test]
fn positions_alone_are_enough() {
    let mut world = with_tank(World::new(SenderConfig::default(), &[100]));
    world.run(2_000, |sender, now| {
        let t = now.as_secs_f64();
        sender.observe(TANK, Pose::at(Vec3::new(10.0 * t, 5.0 * t, 0.0)), now).unwrap();
    });
    let placed = world.receivers[0].place(TANK, world.now).unwrap();
    let real = Vec3::new(10.0 * world.now.as_secs_f64(), 5.0 * world.now.as_secs_f64(), 0.0);
    assert!(placed.position.distance(real) < 0.15, "{placed:?}");
    assert!(placed.velocity.distance(Vec3::new(10.0, 5.0, 0.0)) < 0.1);
}

#[test]
fn a_silent_sender_is_reported_and_its_entities_freeze_or_hide() {
    for beyond in [Beyond::Freeze, Beyond::Hide] {
        let config = SenderConfig::default();
        let mut world =
            with_tank(World::with_receivers(config, &[10], || ReceiverConfig { beyond, ..ReceiverConfig::default() }));
        world.run(1_000, drive);
        world.run(6_000, |_, _| {});
        assert!(world.happened(ReceiverEvent::SenderSilent { sender: SENDER }));
        let (one, two) = (at(6_000), at(6_500));
        match beyond {
            Beyond::Freeze => {
                let placed = world.receivers[0].place(TANK, one).unwrap();
                assert!(placed.frozen && placed.velocity == Vec3::ZERO);
                assert_eq!(placed.position, world.receivers[0].place(TANK, two).unwrap().position);
            }
            Beyond::Hide => assert_eq!(world.receivers[0].place(TANK, one), Err(PlaceError::TooOld(TANK))),
        }
    }
}

#[test]
fn smoothing_hides_every_jump_and_says_what_it_adds() {
    let smoothing = Smoothing::Blend { over: ms(100), snap_beyond: 50.0 };
    let mut world = with_tank(World::with_receivers(SenderConfig::default(), &[80], || ReceiverConfig {
        smoothing,
        ..ReceiverConfig::default()
    }));
    let mut last: Option<Vec3> = None;
    let mut added = 0.0f64;
    for _ in 0..3_000 {
        world.run(1, drive);
        let Ok(placed) = world.receivers[0].place(TANK, world.now) else { continue };
        if let Some(last) = last {
            // 14 m/s, and up to 1.6 m of correction over 100 ms.
            assert!(placed.position.distance(last) < 0.06, "{} m in a millisecond", placed.position.distance(last));
        }
        last = Some(placed.position);
        added = added.max(placed.smoothing_error);
    }
    assert!(added > 0.5, "{added}");
}

#[test]
fn an_entity_changes_hands_and_late_words_of_its_old_owner_are_ignored() {
    let format = Format::default();
    let new_sender = || {
        let mut sender = Sender::new(SenderConfig::default()).unwrap();
        sender.add_receiver(HostId(1), at(0)).unwrap();
        sender
    };
    let (mut old, mut new) = (new_sender(), new_sender());
    let mut receiver = Receiver::new(ReceiverConfig::default()).unwrap();
    receiver.add_sender(HostId(10), receiver.agreement(&format), at(0)).unwrap();
    receiver.add_sender(HostId(11), receiver.agreement(&format), at(0)).unwrap();
    let say = |sender: &mut Sender, x: f64, t: i64| {
        sender.observe(TANK, Pose::at(Vec3::new(x, 0.0, 0.0)).moving(Vec3::ZERO), at(t)).unwrap();
        sender.poll_transmit(at(t)).map(|d| d.bytes.to_vec()).unwrap_or_default()
    };
    old.add_entity(TANK, Threshold::within(0.1), at(0)).unwrap();
    let first = say(&mut old, 1.0, 0);
    let late = say(&mut old, 2.0, 100);
    let handover = old.release_entity(TANK, at(110)).unwrap();
    assert_eq!(handover.epoch, 1);
    new.adopt_entity(&handover, Threshold::within(0.1), at(120)).unwrap();
    let taken_over = say(&mut new, 5.0, 130);

    let place = |receiver: &Receiver| receiver.place(TANK, at(200)).unwrap().position.x;
    receiver.handle_datagram(HostId(10), &first, at(140)).unwrap();
    assert_eq!(place(&receiver), 1.0);
    receiver.handle_datagram(HostId(11), &taken_over, at(150)).unwrap();
    assert_eq!((place(&receiver), receiver.owner(TANK)), (5.0, Some(HostId(11))));
    receiver.handle_datagram(HostId(10), &late, at(160)).unwrap();
    assert_eq!(place(&receiver), 5.0);
    let events: Vec<_> = std::iter::from_fn(|| receiver.poll_event(at(160))).collect();
    assert!(events.contains(&ReceiverEvent::OwnerChanged { entity: TANK, owner: HostId(11) }));
    assert!(!events.contains(&ReceiverEvent::NotOwner { entity: TANK, from: HostId(10) }), "late words are no crime");
}

#[test]
fn nobody_moves_what_was_granted_to_another() {
    let config = ReceiverConfig { require_grants: true, ..ReceiverConfig::default() };
    let mut receiver = Receiver::new(config).unwrap();
    receiver.add_sender(SENDER, receiver.agreement(&Format::default()), at(0)).unwrap();
    let mut sender = Sender::new(SenderConfig::default()).unwrap();
    sender.add_receiver(HostId(0), at(0)).unwrap();
    sender.add_entity(TANK, Threshold::within(0.1), at(0)).unwrap();
    sender.observe(TANK, Pose::at(Vec3::ZERO), at(0)).unwrap();
    let bytes = sender.poll_transmit(at(0)).unwrap().bytes.to_vec();
    receiver.grant(TANK, HostId(55), 0);
    let handled = receiver.handle_datagram(SENDER, &bytes, at(10)).unwrap();
    assert_eq!((handled.vectors, handled.refused), (0, 1));
    assert_eq!(receiver.poll_event(at(10)), Some(ReceiverEvent::NotOwner { entity: TANK, from: SENDER }));
    assert!(receiver.place(TANK, at(10)).is_err());
}

/// A vector may overtake the word that its sender owns the entity: it is believed as soon as that comes, and only then.
#[test]
fn what_an_owner_says_too_early_is_taken_in_with_its_grant() {
    let config = ReceiverConfig { require_grants: true, ..ReceiverConfig::default() };
    let mut receiver = Receiver::new(config).unwrap();
    let (owner, thief) = (HostId(10), HostId(11));
    receiver.add_sender(owner, receiver.agreement(&Format::default()), at(0)).unwrap();
    receiver.add_sender(thief, receiver.agreement(&Format::default()), at(0)).unwrap();
    let say = |receiver: &mut Receiver, from: HostId, x: f64| {
        let mut sender = Sender::new(SenderConfig::default()).unwrap();
        sender.add_receiver(HostId(0), at(0)).unwrap();
        sender.add_entity(TANK, Threshold::within(0.1), at(0)).unwrap();
        sender.observe(TANK, Pose::at(Vec3::new(x, 0.0, 0.0)), at(0)).unwrap();
        let bytes = sender.poll_transmit(at(0)).unwrap().bytes.to_vec();
        let handled = receiver.handle_datagram(from, &bytes, at(10)).unwrap();
        assert_eq!((handled.vectors, handled.refused), (0, 1));
    };
    say(&mut receiver, owner, 1.0);
    say(&mut receiver, thief, 2.0);
    assert!(receiver.place(TANK, at(20)).is_err() && receiver.poll_updated().is_none());
    receiver.grant(TANK, owner, 0);
    assert_eq!(receiver.place(TANK, at(20)).unwrap().position.x, 1.0);
    assert_eq!((receiver.owner(TANK), receiver.poll_updated()), (Some(owner), Some(TANK)));
}

#[test]
fn base_over_k_spends_a_kth_of_base() {
    for k in 1..=4u64 {
        let policy = policy::by_name(&format!("base/{k}"), Budget::Unlimited, 0).unwrap();
        let mut world = with_tank(World::new(SenderConfig { policy, ..SenderConfig::default() }, &[20, 90, 200]));
        world.run(20_000, drive);
        let spent = world.sender.ledger().spent();
        assert_eq!(spent.due, spent.triggers * 3);
        assert!((spent.share_of_base() - 1.0 / k as f64).abs() < 0.02, "base/{k}: {spent:?}");
    }
}

/// Holds every vector back by a fixed time.
struct Hold(Duration, Overtaken);

impl Policy for Hold {
    fn name(&self) -> String {
        "hold".into()
    }

    fn decide(&mut self, _ledger: &Ledger, trigger: &Trigger, decisions: &mut [Decision]) {
        decisions.fill(Decision::At(trigger.at + self.0));
    }

    fn overtaken(&self) -> Overtaken {
        self.1
    }
}

#[test]
fn held_vectors_go_out_on_time_and_the_overtaken_are_dropped_or_sent() {
    // The zigzag triggers every 400 ms.
    let run = |hold: i64, overtaken| {
        let policy = Box::new(Hold(ms(hold), overtaken));
        let mut world = with_tank(World::new(SenderConfig { policy, ..lossless() }, &[10]));
        world.run(200, drive);
        let spent = world.sender.ledger().spent();
        world.run(4_000, drive);
        let then = world.sender.ledger().spent();
        (then.triggers - spent.triggers, then.vectors - spent.vectors)
    };
    let (triggers, vectors) = run(300, Overtaken::Drop);
    assert!(triggers >= 9 && vectors.abs_diff(triggers) <= 1, "{triggers} {vectors}");
    let (_, vectors) = run(900, Overtaken::Drop);
    assert_eq!(vectors, 0);
    let (triggers, vectors) = run(900, Overtaken::Send);
    assert!(vectors.abs_diff(triggers) <= 1, "{triggers} {vectors}");
}

/// Tells everybody everything once more, every half second.
struct Again(Option<GlobalTime>);

impl Policy for Again {
    fn name(&self) -> String {
        "again".into()
    }

    fn decide(&mut self, _ledger: &Ledger, trigger: &Trigger, _decisions: &mut [Decision]) {
        self.0.get_or_insert(trigger.at + ms(500));
    }

    fn next_wake(&self) -> Option<GlobalTime> {
        self.0
    }

    fn wake(
        &mut self,
        ledger: &Ledger,
        now: GlobalTime,
        send: &mut dyn FnMut(evenkeel::ledger::EntityIndex, evenkeel::ledger::ReceiverIndex),
    ) {
        self.0 = Some(now + ms(500));
        for entity in ledger.entities() {
            ledger.receivers().for_each(|receiver| send(entity, receiver));
        }
    }
}

#[test]
fn a_policy_may_act_between_triggers() {
    let policy = Box::new(Again(None));
    let mut world = with_tank(World::new(SenderConfig { policy, ..lossless() }, &[10, 20]));
    world.run(5_100, drive);
    let vectors = world.sender.ledger().spent().vectors;
    assert!((20..=24).contains(&vectors), "first vectors, then ten rounds to two: {vectors}");
}

/// A ground to stand on.
struct Ground;

impl Constraint for Ground {
    fn id(&self) -> u64 {
        7
    }

    fn constrain(&self, _entity: EntityId, state: &mut State) {
        state.position.z = state.position.z.max(0.0);
    }
}

#[test]
fn nothing_sinks_into_the_ground_between_vectors() {
    let config = SenderConfig { constraint: Some(Box::new(Ground)), ..SenderConfig::default() };
    let mut world = with_tank(World::with_receivers(config, &[200], || ReceiverConfig {
        constraint: Some(Box::new(Ground)),
        ..ReceiverConfig::default()
    }));
    let gravity = Vec3::new(0.0, 0.0, -9.8);
    let mut triggers = 0;
    for _ in 0..2_000 {
        world.run(1, |sender, now| {
            let t = now.as_secs_f64();
            let z = 5.0 - 4.9 * t * t;
            let pose = if z > 0.0 {
                Pose::at(Vec3::new(0.0, 0.0, z)).moving(gravity * t).accelerating(gravity)
            } else {
                Pose::at(Vec3::ZERO).moving(Vec3::ZERO)
            };
            triggers += usize::from(matches!(sender.observe(TANK, pose, now), Ok(Some(Cause::Distance))));
        });
        if let Ok(placed) = world.receivers[0].place(TANK, world.now) {
            assert!(placed.position.z >= 0.0);
        }
    }
    assert_eq!(triggers, 0, "a ballistic vector and the ground say it all");
}

/// Round and round, given by radius and angular frequency.
struct Orbit;

impl Law for Orbit {
    fn id(&self) -> u8 {
        7
    }

    fn displacement(&self, p: &[f64; LAW_PARAMETERS], dt: f64) -> Vec3 {
        Vec3::from_heading(p[2] + p[1] * dt) * p[0] - Vec3::from_heading(p[2]) * p[0]
    }

    fn velocity(&self, p: &[f64; LAW_PARAMETERS], dt: f64) -> Vec3 {
        Vec3::from_heading(p[2] + p[1] * dt + core::f64::consts::FRAC_PI_2) * (p[0] * p[1])
    }

    fn advanced(&self, p: &[f64; LAW_PARAMETERS], dt: f64) -> [f64; LAW_PARAMETERS] {
        [p[0], p[1], p[2] + p[1] * dt, 0.0, 0.0, 0.0]
    }
}

#[test]
fn a_law_of_the_games_own_travels() {
    const LAWS: &[&dyn Law] = &[&Orbit];
    let format = Format { laws: Laws::new(LAWS), ..Format::lossless() };
    let mut world = with_tank(World::new(SenderConfig { format, ..SenderConfig::default() }, &[100]));
    let moon = Motion::custom(Vec3::ZERO, &Orbit, [50.0, 0.5, 0.0, 0.0, 0.0, 0.0]);
    world.run(3_000, |sender, now| {
        let seen = moon.advanced(now.as_secs_f64());
        sender.observe_motion(TANK, &seen, now).unwrap();
    });
    let placed = world.receivers[0].place(TANK, world.now).unwrap();
    assert!(placed.position.distance(moon.position_at(world.now.as_secs_f64())) < 1e-9);
    assert!(world.sender.ledger().spent().triggers <= 4, "heartbeats only");
}

#[test]
fn a_relay_passes_vectors_on_as_they_were_generated() {
    let mut owner = with_tank(World::new(SenderConfig::default(), &[60]));
    let mut relay = Sender::new(SenderConfig::default()).unwrap();
    let mut far = Receiver::new(ReceiverConfig::default()).unwrap();
    far.add_sender(HostId(0), far.agreement(&Format::default()), at(0)).unwrap();
    relay.add_receiver(HostId(5), at(0)).unwrap();
    relay.add_entity(TANK, Threshold::within(0.1), at(0)).unwrap();
    for _ in 0..2_000 {
        owner.run(1, drive);
        while let Some(entity) = owner.receivers[0].poll_updated() {
            let (generated, motion) = owner.receivers[0].newest(entity).unwrap();
            relay.relay(entity, &motion, generated, owner.now).unwrap();
        }
        relay.handle_timeout(owner.now);
        while let Some(datagram) = relay.poll_transmit(owner.now) {
            far.handle_datagram(HostId(0), datagram.bytes, owner.now).unwrap();
        }
    }
    let (here, there) = (owner.receivers[0].place(TANK, owner.now), far.place(TANK, owner.now));
    assert_eq!(here.unwrap().position, there.unwrap().position);
}

#[test]
fn a_liar_that_adds_a_second_is_booked_at_what_is_possible() {
    // Receipts are rewritten on the way: the same entries, a second later.
    let mut sender = Sender::new(lossless()).unwrap();
    let mut receiver = Receiver::new(ReceiverConfig::default()).unwrap();
    sender.add_receiver(HostId(0), at(0)).unwrap();
    sender.add_entity(TANK, Threshold::within(0.1), at(0)).unwrap();
    receiver.add_sender(SENDER, receiver.agreement(&Format::lossless()), at(0)).unwrap();
    let mut bounded = 0;
    for i in 0..100 {
        let now = at(i * 200);
        drive(&mut sender, now);
        // Receptions happen by a clock that is a second ahead once the lie begins.
        let lie = if i < 20 { ms(0) } else { Duration::from_secs(1) };
        sender.handle_timeout(now);
        while let Some(datagram) = sender.poll_transmit(now) {
            receiver.handle_datagram(SENDER, datagram.bytes, now + ms(40) + lie).unwrap();
        }
        while let Some(datagram) = receiver.poll_transmit(now + ms(40) + lie) {
            sender.handle_datagram(HostId(0), datagram.bytes, now + ms(80)).unwrap();
        }
        while let Some(event) = sender.poll_event() {
            bounded += usize::from(matches!(event, SenderEvent::ClaimBounded { .. }));
        }
    }
    let ledger = sender.ledger();
    let delay = ledger.path(ledger.receiver(HostId(0)).unwrap()).delay().unwrap();
    assert!(delay < ms(60) && delay >= ms(40), "{delay}");
    assert!(bounded >= 35, "{bounded}");
}

#[test]
fn a_refused_entity_does_not_spoil_the_others() {
    // The receiver takes two entities of three; all three go on moving in the same datagrams.
    let config = SenderConfig::default();
    let mut world =
        World::with_receivers(config, &[30], || ReceiverConfig { max_entities: 2, ..ReceiverConfig::default() });
    for i in 0..3 {
        world.sender.add_entity(EntityId(i), Threshold::within(0.1), at(0)).unwrap();
    }
    world.run(5_000, |sender, now| {
        for i in 0..3 {
            sender.observe(EntityId(i), zigzag(now), now).unwrap();
        }
    });
    assert_eq!(world.receivers[0].entities().count(), 2);
    assert_eq!(world.sender.ledger().spent().resent, 0);
}

#[test]
fn a_receiver_that_forgot_everything_recovers_by_itself() {
    let mut world = with_tank(World::new(SenderConfig::default(), &[30]));
    world.run(2_000, drive);
    // It restarts under the same name; the sender still codes against what it had acknowledged.
    let mut fresh = Receiver::new(ReceiverConfig::default()).unwrap();
    fresh.add_sender(SENDER, fresh.agreement(&Format::default()), world.now).unwrap();
    let mut refused = 0;
    for _ in 0..4_000 {
        world.now += ms(1);
        drive(&mut world.sender, world.now);
        world.sender.handle_timeout(world.now);
        while let Some(datagram) = world.sender.poll_transmit(world.now) {
            refused += usize::from(fresh.handle_datagram(SENDER, datagram.bytes, world.now).is_err());
        }
        while let Some(datagram) = fresh.poll_transmit(world.now) {
            world.sender.handle_datagram(HostId(0), datagram.bytes, world.now).unwrap();
        }
    }
    assert!(refused > 0 && refused < 6, "{refused}");
    assert_eq!(fresh.place(TANK, world.now).unwrap().position, exported(&world, world.now));
}

#[test]
fn scope_and_life_may_change_within_one_tick() {
    let mut world = with_tank(World::new(SenderConfig::default(), &[20]));
    let still = Pose::at(Vec3::new(5.0, 0.0, 0.0)).facing(0.0);
    let observe = |sender: &mut Sender, now| {
        sender.observe(TANK, still, now).unwrap();
    };
    world.sender.configure_entity(TANK, Threshold::within(0.1).at_least_every(Duration::from_secs(60))).unwrap();
    world.run(500, observe);
    // Out and in again, with a datagram in between and no trigger.
    world.sender.set_relevance(TANK, HostId(0), Relevance::OutOfScope, world.now).unwrap();
    world.exchange();
    world.sender.set_relevance(TANK, HostId(0), Relevance::USUAL, world.now).unwrap();
    world.run(100, observe);
    assert!(world.receivers[0].place(TANK, world.now).is_ok());
    // Gone and back again under the same name.
    world.sender.remove_entity(TANK, world.now).unwrap();
    world.exchange();
    world.sender.add_entity(TANK, Threshold::within(0.1), world.now).unwrap();
    observe(&mut world.sender, world.now);
    world.run(100, observe);
    assert!(world.receivers[0].place(TANK, world.now).is_ok());
    assert_eq!(world.sender.ledger().spent().resent, 0);
}

#[test]
fn a_receiver_that_is_forgotten_and_met_again_goes_on_without_a_hitch() {
    let mut world = with_tank(World::new(SenderConfig::default(), &[40]));
    world.run(3_000, drive);
    // The sender forgets it and meets it again; the receiver notices nothing.
    world.sender.remove_receiver(HostId(0)).unwrap();
    world.sender.add_receiver(HostId(0), world.now).unwrap();
    world.run(2_000, drive);
    world.run(100, |_, _| {});
    assert_eq!(world.receivers[0].place(TANK, world.now).unwrap().position, exported(&world, world.now));
    let events: Vec<_> = std::iter::from_fn(|| world.sender.poll_event()).collect();
    assert!(!events.iter().any(|e| matches!(e, SenderEvent::ForgedReceipt { .. })), "{events:?}");
    assert_eq!(world.sender.ledger().spent().resent, 0);
}

#[test]
fn a_gap_in_receipts_is_noticed_long_before_the_time_out() {
    let mut world = with_tank(World::new(SenderConfig::default(), &[40]));
    world.sender.add_entity(EntityId(8), Threshold::within(0.1), at(0)).unwrap();
    let resting = Pose::at(Vec3::new(1.0, 2.0, 0.0));
    world.run(1_000, |sender, now| {
        drive(sender, now);
        sender.observe(EntityId(8), resting, now).unwrap();
    });
    // One datagram is lost: the one that says where the resting one moved. The other goes on moving.
    let moved = world.now;
    world.lost = Box::new(move |way, _, now| way == Way::Down && now == moved + ms(1));
    let elsewhere = Pose::at(Vec3::new(9.0, 2.0, 0.0));
    world.run(600, |sender, now| {
        drive(sender, now);
        sender.observe(EntityId(8), elsewhere, now).unwrap();
    });
    // The next turn is 400 ms on at most, its receipt 80 ms later, the repetition 40 ms after that.
    let placed = world.receivers[0].place(EntityId(8), world.now).unwrap();
    assert!(placed.position.distance(elsewhere.position()) < 0.01, "{placed:?}");
}

#[test]
fn the_first_pose_of_an_adopted_entity_knows_its_velocity() {
    let mut old = with_tank(World::new(SenderConfig::default(), &[10]));
    let rolling = |t: GlobalTime| Pose::at(Vec3::new(4.0 * t.as_secs_f64(), 0.0, 0.0));
    old.run(500, |sender, now| {
        sender.observe(TANK, rolling(now), now).unwrap();
    });
    let handover = old.sender.release_entity(TANK, old.now).unwrap();
    let mut new = Sender::new(SenderConfig::default()).unwrap();
    new.adopt_entity(&handover, Threshold::within(0.1), old.now).unwrap();
    new.observe(TANK, rolling(old.now), old.now).unwrap();
    let ledger = new.ledger();
    let first = ledger.newest(ledger.entity(TANK).unwrap()).unwrap();
    assert!((first.motion.velocity_at(0.0).x - 4.0).abs() < 0.1, "{first:?}");
    // Whoever watched it could have taken it over too, had its owner vanished.
    let known = old.receivers[0].handover(TANK).unwrap();
    assert_eq!((known.entity, known.epoch), (handover.entity, handover.epoch));
}

#[test]
fn cleared_books_begin_anew_and_nobody_else_notices() {
    let far = |world: &World| {
        let ledger = world.sender.ledger();
        ledger.fairness_of(ledger.receiver(HostId(1)).unwrap(), world.now)
    };
    let mut world = with_tank(World::new(lossless(), &[20, 300]));
    world.run(8_000, drive);
    let before = far(&world);
    assert!(before.error.total() > 3.0 && before.shown > ms(7_000), "{before:?}");
    world.sender.clear_books(world.now).unwrap();
    let after = far(&world);
    // What is on its way, and what is not known to have arrived, is open.
    assert!(after.error.total() < 0.2 * before.error.total() && after.shown < ms(900), "{after:?}");
    assert_eq!(after.vectors, before.vectors);
    world.run(8_000, drive);
    let again = far(&world);
    assert!((again.mean_distance / before.mean_distance - 1.0).abs() < 0.15, "{again:?} after {before:?}");
    assert!(world.receivers.iter().all(|receiver| receiver.place(TANK, world.now).is_ok()));
}

/// Entities that come and go are told of in few places of the ledger, and their farewells, which get lost and are said again, in many.
#[test]
fn more_farewells_than_places_fit_in_a_datagram() {
    let mut world = World::new(SenderConfig::default(), &[20]);
    // For four fifths of every second nothing gets through.
    world.lost = Box::new(|way, _, now| way == Way::Down && now.as_nanos() % 1_000_000_000 < 800_000_000);
    for id in 0..400 {
        let id = EntityId(id);
        world.sender.add_entity(id, Threshold::within(0.1), world.now).unwrap();
        world.run(30, |sender, now| {
            sender.observe(id, zigzag(now), now).unwrap();
        });
        world.sender.remove_entity(id, world.now).unwrap();
    }
    world.lost = Box::new(|_, _, _| false);
    world.run(2_000, |_, _| {});
    assert_eq!(world.receivers[0].entities().count(), 0);
}
