//! A session without sockets: what must hold whatever carries it.

#![allow(clippy::unwrap_used)]

mod common;

use common::{World, ms};
use evenkeel::{Duration, EntityId, GlobalTime, HostId, Instant, LagChange, PlaceError, Pose, Threshold, Vec3};
use evenkeel_net::hub::{Asking, Connection, HubConfig, HubEvent, Pass};
use evenkeel_net::levels::{Channel, Level, LevelError, Party};
use evenkeel_net::protocol::{Refusal, SERVER, ToServer, encode, entity_of};
use evenkeel_net::seat::{SeatConfig, SeatError, SeatEvent};

/// Where a tank is at a time of the session: forth and back along a line of its own.
fn drive(number: usize, t: GlobalTime) -> Pose {
    let phase = (t.as_nanos() % 4_000_000_000) as f64 / 1e9;
    let (x, v) = if phase < 2.0 { (10.0 * phase, 10.0) } else { (10.0 * (4.0 - phase), -10.0) };
    Pose::at(Vec3::new(x, 5.0 * number as f64, 0.0)).moving(Vec3::new(v, 0.0, 0.0))
}

/// Three players, each with a tank, until everybody is in.
fn game(config: HubConfig) -> (World, Vec<EntityId>) {
    let mut world = World::new(config);
    for (name, delay) in [("Ada", 20), ("Ben", 80), ("Cy", 150)] {
        world.join(SeatConfig::named(name), delay);
    }
    world.run(1_500, |_| {});
    let tanks = (0..3).map(|n| make(&mut world, n)).collect();
    (world, tanks)
}

fn make(world: &mut World, guest: usize) -> EntityId {
    let local = world.local(guest);
    world.guests[guest].seat.make(Threshold::within(0.1), vec![guest as u8], local).unwrap()
}

fn play(world: &mut World, tanks: &[EntityId], millis: i64) {
    world.run(millis, |world| {
        for (guest, tank) in tanks.iter().enumerate() {
            let local = world.local(guest);
            let time = world.guests[guest].seat.now(local).unwrap();
            world.guests[guest].seat.observe(*tank, drive(guest, time), local).unwrap();
        }
    });
}

/// How far off the worst of all tanks is shown anywhere, by the hub's clock.
fn worst(world: &mut World, tanks: &[EntityId]) -> f64 {
    let truth = world.hub.now(world.now);
    let mut worst = 0.0f64;
    for viewer in 0..world.guests.len() {
        let local = world.local(viewer);
        for (owner, tank) in tanks.iter().enumerate().filter(|(owner, _)| *owner != viewer) {
            let seen = world.guests[viewer].seat.place(*tank, local).unwrap();
            worst = worst.max(seen.position.distance(drive(owner, truth).position()));
        }
    }
    worst
}

/// A moment at which nobody has turned for longer than anything takes to arrive.
fn settle(world: &mut World, tanks: &[EntityId]) {
    while !(1_200..1_300).contains(&(world.hub.now(world.now).as_nanos() / 1_000_000 % 2_000)) {
        play(world, tanks, 10);
    }
}

#[test]
fn everybody_sees_everybody_where_they_are_whatever_their_clocks_say() {
    let (mut world, tanks) = game(HubConfig::default());
    play(&mut world, &tanks, 5_000);
    settle(&mut world, &tanks);
    let off = worst(&mut world, &tanks);
    assert!(off < 0.15, "{off} m");
    assert!(world.guests.iter().all(|g| g.closed.is_none()) && world.hub.counts().unusable == 0);
    assert_eq!(world.hub.players().count(), 3);
    // Nobody is told about what it owns.
    let local = world.local(0);
    assert_eq!(world.guests[0].seat.place(tanks[0], local), Err(PlaceError::Unknown(tanks[0])));
    // And the hub knows how everybody is served.
    let fairness = world.hub.fairness(world.now);
    assert_eq!(fairness.receivers.len(), 3);
    let delays: Vec<i64> = fairness.receivers.iter().map(|r| r.delay.unwrap().as_millis()).collect();
    assert!((15..30).contains(&delays[0]) && (140..160).contains(&delays[2]), "{delays:?}");
}

#[test]
fn whoever_comes_late_sees_everything_at_once() {
    let (mut world, tanks) = game(HubConfig::default());
    play(&mut world, &tanks, 1_000);
    let late = world.join(SeatConfig::named("Dee"), 40);
    play(&mut world, &tanks, 1_500);
    let made = |event: &&SeatEvent| matches!(event, SeatEvent::Made(_));
    let came = |event: &&SeatEvent| matches!(event, SeatEvent::Came(_));
    assert_eq!(world.guests[late].events.iter().filter(made).count(), 3);
    assert_eq!(world.guests[late].events.iter().filter(came).count(), 3);
    settle(&mut world, &tanks);
    assert!(worst(&mut world, &tanks) < 0.15);
    assert!(world.guests[0].events.iter().any(|e| matches!(e, SeatEvent::Came(p) if p.name == "Dee")));
}

#[test]
fn whoever_loses_the_connection_comes_back_to_its_place() {
    let (mut world, tanks) = game(HubConfig::default());
    play(&mut world, &tanks, 1_000);
    world.guests[1].linked = false;
    let lost = world.guests[1].connection;
    world.hub.handle_disconnected(lost, world.now);
    play(&mut world, &tanks, 3_000);
    assert_eq!(world.hub.players().count(), 3, "its place is kept");
    world.reconnect(1);
    play(&mut world, &tanks, 2_000);
    assert!(world.guests[1].events.contains(&SeatEvent::Welcome { you: HostId(2), again: true }));
    settle(&mut world, &tanks);
    let off = worst(&mut world, &tanks);
    assert!(off < 0.15, "{off} m");
}

#[test]
fn whoever_stays_away_leaves_and_takes_its_tank_along() {
    let (mut world, tanks) = game(HubConfig::default());
    play(&mut world, &tanks, 1_000);
    world.guests[1].linked = false;
    let lost = world.guests[1].connection;
    world.hub.handle_disconnected(lost, world.now);
    play(&mut world, &tanks, 10_300);
    assert_eq!(world.hub.players().count(), 2);
    let local = world.local(0);
    assert_eq!(world.guests[0].seat.place(tanks[1], local), Err(PlaceError::Unknown(tanks[1])));
    assert!(world.guests[0].events.contains(&SeatEvent::Gone { entity: tanks[1] }));
    world.reconnect(1);
    world.run(1_000, |_| {});
    let again = |e: &&SeatEvent| matches!(e, SeatEvent::Welcome { again: false, .. });
    assert_eq!(world.guests[1].events.iter().filter(again).count(), 2, "a newcomer");
}

#[test]
fn nobody_moves_or_makes_what_is_not_theirs() {
    let (mut world, tanks) = game(HubConfig::default());
    play(&mut world, &tanks, 1_000);
    let stolen = encode(&ToServer::Make { entity: tanks[0], about: Vec::new() }).unwrap();
    let thief = world.guests[1].connection;
    world.hub.handle_message(thief, &stolen, world.now);
    world.run(300, |_| {});
    assert!(world.guests[1].closed.as_deref().unwrap().contains("another player's name"));
    assert!(world.guests[1].seat.is_refused(), "it is told why, and does not come back");
    assert!(world.hub_events.iter().any(|e| matches!(e, HubEvent::Expelled { host: Some(HostId(2)), .. })));
    // A farewell in another's name changes nothing.
    let other = world.guests[2].connection;
    let unmake = encode(&ToServer::Unmake { entity: tanks[0] }).unwrap();
    world.hub.handle_message(other, &unmake, world.now);
    assert!(world.hub.entities().any(|e| e.entity == tanks[0]));
}

#[test]
fn the_door_is_guarded() {
    let gate = Box::new(|asking: &Asking<'_>| match asking.token {
        b"let me in" => Ok(Pass::with_entities(1)),
        _ => Err(Refusal::Token("it is not signed".into())),
    });
    let mut world = World::new(HubConfig { gate, max_players: 1, ..HubConfig::default() });
    let good = SeatConfig { token: b"let me in".to_vec(), ..SeatConfig::named("Ada") };
    let configs = [
        (SeatConfig::named("Eve"), Refusal::Token("it is not signed".into())),
        (SeatConfig { session: "other".into(), ..good.clone() }, Refusal::NoSuchSession),
        (SeatConfig { name: "x".repeat(65), ..good.clone() }, Refusal::Name),
    ];
    for (config, refusal) in configs {
        let guest = world.join(config, 10);
        world.run(50, |_| {});
        assert_eq!(world.guests[guest].events, [SeatEvent::Refused(refusal)]);
        assert!(world.guests[guest].closed.is_some());
    }
    assert_eq!(world.hub.players().count(), 0);
    let ada = world.join(good.clone(), 10);
    world.run(1_000, |_| {});
    let second = world.join(good, 10);
    world.run(50, |_| {});
    assert_eq!(world.guests[second].events, [SeatEvent::Refused(Refusal::Full)]);
    make(&mut world, ada);
    world.run(50, |_| {});
    make(&mut world, ada);
    world.run(50, |_| {});
    assert!(world.guests[ada].closed.as_deref().unwrap().contains("more entities"), "one was allowed");
}

#[test]
fn garbage_floods_and_silence_hurt_nobody_else() {
    let (mut world, tanks) = game(HubConfig::default());
    play(&mut world, &tanks, 1_000);
    // Silence.
    world.hub.handle_connected(Connection(900), None, world.now);
    // Garbage of all lengths and kinds.
    let noisy = world.guests[2].connection;
    for round in 0..400u32 {
        let bytes: Vec<u8> = (0..round % 90).map(|i| (i * 37 + round * 11) as u8).chain([0xE0]).rev().collect();
        world.hub.handle_datagram(noisy, &bytes, world.now);
    }
    play(&mut world, &tanks, 300);
    assert!(world.guests[2].closed.as_deref().unwrap().contains("cannot be used"));
    // A flood of messages.
    let flood = world.join(SeatConfig::named("Flo"), 10);
    play(&mut world, &tanks, 1_000);
    let chatter = encode(&ToServer::Unmake { entity: EntityId(7) }).unwrap();
    for _ in 0..1_000 {
        world.hub.handle_message(Connection(flood as u64), &chatter, world.now);
    }
    play(&mut world, &tanks, 6_000);
    assert!(world.guests[flood].closed.as_deref().unwrap().contains("too many messages"));
    assert!(
        world.hub_events.iter().any(|e| matches!(e, HubEvent::Expelled { host: None, why } if why.contains("in time")))
    );
    settle(&mut world, &tanks[..2]);
    world.guests.truncate(2);
    let off = worst(&mut world, &tanks[..2]);
    assert!(off < 0.15, "{off} m");
}

/// All levels.
const LEVELS: [Level; 5] =
    [Level::Ordered, Level::Unordered, Level::Unreliable, Level::Newest(Channel(7)), Level::Quickest];

fn send(world: &mut World, guest: usize, to: impl Into<Party>, level: Level, text: &str) {
    let local = world.local(guest);
    world.guests[guest].seat.send(to, level, text.into(), local).unwrap();
}

/// What a player was told by others and by the server, in the order of its levels.
fn told(world: &World, guest: usize) -> Vec<(HostId, Level, String)> {
    let message = |event: &SeatEvent| match event {
        SeatEvent::Message { from, level, bytes } => Some((*from, *level, String::from_utf8(bytes.clone()).unwrap())),
        _ => None,
    };
    let mut told: Vec<_> = world.guests[guest].events.iter().filter_map(message).collect();
    told.sort();
    told
}

#[test]
fn messages_of_the_game_go_where_they_should_at_every_level() {
    let (mut world, _) = game(HubConfig::default());
    for level in LEVELS {
        send(&mut world, 0, Party::Everybody, level, "to all");
        send(&mut world, 1, HostId(3), level, "to Cy");
        send(&mut world, 2, SERVER, level, "to the server");
        world.hub.send(HostId(1), level, b"to Ada".to_vec(), world.now).unwrap();
        world.hub.broadcast(level, b"from the server", world.now).unwrap();
        // Whoever is not here misses it.
        send(&mut world, 0, HostId(99), level, "to nobody");
        world.hub.send(HostId(99), level, b"to nobody".to_vec(), world.now).unwrap();
        world.run(400, |_| {});
    }
    let at_all = |from: u32, text: &str| LEVELS.map(|level| (HostId(from), level, text.to_owned()));
    let server = at_all(0, "from the server");
    let sorted = |parts: &[&[(HostId, Level, String)]]| {
        let mut all = parts.concat();
        all.sort();
        all
    };
    assert_eq!(told(&world, 0), sorted(&[&server, &at_all(0, "to Ada")]));
    assert_eq!(told(&world, 1), sorted(&[&server, &at_all(1, "to all")]));
    assert_eq!(told(&world, 2), sorted(&[&server, &at_all(1, "to all"), &at_all(2, "to Cy")]));
    for level in LEVELS {
        let to_server = HubEvent::Message { from: HostId(3), level, bytes: b"to the server".to_vec() };
        assert_eq!(world.hub_events.iter().filter(|event| **event == to_server).count(), 1, "{level:?}");
    }
    assert!(world.guests.iter().all(|g| g.closed.is_none()) && world.hub.counts().unusable == 0);
    assert!(world.guests.iter().all(|g| g.seat.levels().unacknowledged() == 0));
}

#[test]
fn what_is_quickest_arrives_once_whatever_is_lost() {
    let (mut world, tanks) = game(HubConfig::default());
    world.lose_one_in = 3;
    for n in 0..100 {
        send(&mut world, 0, Party::Everybody, Level::Quickest, &format!("{n:02}"));
        send(&mut world, 1, HostId(1), Level::Newest(Channel(0)), &format!("{n:02}"));
        play(&mut world, &tanks, 40);
    }
    play(&mut world, &tanks, 3_000);
    let expected: Vec<_> = (0..100).map(|n| (HostId(1), Level::Quickest, format!("{n:02}"))).collect();
    assert_eq!((told(&world, 1), told(&world, 2)), (expected.clone(), expected));
    let newest = |event: &SeatEvent| matches!(event, SeatEvent::Message { level: Level::Newest(_), .. });
    let newest: Vec<_> = world.guests[0].events.iter().filter(|event| newest(event)).collect();
    assert!((30..60).contains(&newest.len()), "two losses of a third each: {}", newest.len());
    assert!(world.guests.iter().all(|g| g.seat.levels().unacknowledged() == 0));
    assert!((1..=3).all(|host| world.hub.levels(HostId(host)).unwrap().unacknowledged() == 0));
}

#[test]
fn whoever_acknowledges_nothing_slows_nobody_else() {
    let (mut world, _) = game(HubConfig::default());
    world.guests[2].linked = false;
    for n in 0..100 {
        send(&mut world, 0, Party::Everybody, Level::Quickest, &format!("{n:02}"));
        world.run(50, |_| {});
    }
    world.run(400, |_| {});
    assert_eq!(told(&world, 1).len(), 100);
    assert_eq!((world.hub.counts().slowed, world.hub.counts().undelivered), (100 - 64, 0));
    // The application itself is told.
    let sent = world.hub.send(HostId(3), Level::Quickest, b"x".to_vec(), world.now);
    assert_eq!(sent, Err(LevelError::Full));
}

#[test]
fn messages_that_must_arrive_outlast_their_connection() {
    let (mut world, _) = game(HubConfig::default());
    for level in LEVELS {
        send(&mut world, 1, HostId(1), level, "before");
    }
    world.run(300, |_| {});
    world.guests[1].linked = false;
    let lost = world.guests[1].connection;
    let local = world.local(1);
    world.guests[1].seat.handle_lost("a test", local);
    world.hub.handle_disconnected(lost, world.now);
    let local = world.local(1);
    let refused = world.guests[1].seat.send(HostId(1), Level::Quickest, Vec::new(), local);
    assert_eq!(refused, Err(SeatError::Lost));
    for level in LEVELS {
        send(&mut world, 0, HostId(2), level, "meanwhile");
    }
    world.run(200, |_| {});
    world.reconnect(1);
    world.run(500, |_| {});
    for level in LEVELS {
        send(&mut world, 1, HostId(1), level, "later");
        send(&mut world, 0, HostId(2), level, "welcome back");
    }
    world.run(500, |_| {});
    assert_eq!(told(&world, 0), LEVELS.map(|level| ["before", "later"].map(|t| (HostId(2), level, t.into()))).concat());
    let must_arrive = |level| matches!(level, Level::Ordered | Level::Unordered | Level::Quickest);
    let meanwhile = |level| must_arrive(level).then(|| (HostId(1), level, "meanwhile".to_owned()));
    let expected = LEVELS
        .iter()
        .flat_map(|level| meanwhile(*level).into_iter().chain([(HostId(1), *level, "welcome back".to_owned())]));
    assert_eq!(told(&world, 1), expected.collect::<Vec<_>>());
}

#[test]
fn limits_hold_at_every_level() {
    let (mut world, tanks) = game(HubConfig::default());
    let local = world.local(0);
    let seat = &mut world.guests[0].seat;
    let sent = seat.send(SERVER, Level::Quickest, vec![0; 1_200], local);
    assert_eq!(sent, Err(SeatError::Level(LevelError::TooLong { length: 1_200, longest: 1_073 })));
    let sent = world.hub.broadcast(Level::Ordered, &[0; 65_537], world.now);
    assert_eq!(sent, Err(LevelError::TooLong { length: 65_537, longest: 65_536 }));
    // Too many datagrams are dropped.
    for _ in 0..3_000 {
        send(&mut world, 0, SERVER, Level::Unreliable, "x");
    }
    play(&mut world, &tanks, 300);
    assert!(world.guests[0].closed.is_none());
    assert!(world.hub.counts().too_many > 500, "{}", world.hub.counts().too_many);
    // Too many messages are not forgiven, however they come.
    for (guest, level) in [(0, Level::Unordered), (1, Level::Quickest)] {
        world.run(4_000, |world| {
            let local = world.local(guest);
            let _ = world.guests[guest].seat.send(SERVER, level, vec![1], local);
            let _ = world.guests[guest].seat.send(SERVER, level, vec![2], local);
        });
        assert!(world.guests[guest].closed.as_deref().unwrap().contains("too many messages"), "{level:?}");
    }
    // Nor is what does not parse on a stream.
    world.hub.handle_unordered(world.guests[2].connection, &[0xA0, 0, 0, 1], world.now);
    world.run(300, |_| {});
    assert!(world.guests[2].closed.as_deref().unwrap().contains("does not parse"));
}

#[test]
fn everybody_changes_the_lag_together_and_the_end_is_told() {
    let (mut world, tanks) = game(HubConfig::default());
    play(&mut world, &tanks, 1_000);
    let begins = world.hub.now(world.now) + ms(400);
    let change = LagChange::usual(Duration::ZERO, ms(160), begins);
    world.hub.set_lag(change, world.now).unwrap();
    play(&mut world, &tanks, 2_000);
    let lags: Vec<_> = world.guests.iter().map(|g| g.seat.lag().unwrap().target().as_millis()).collect();
    assert_eq!(lags, [160; 3]);
    world.hub.end("maintenance");
    world.run(300, |_| {});
    let told = |g: &common::Guest| g.events.contains(&SeatEvent::Ending { why: "maintenance".into() });
    assert!(world.guests.iter().all(|g| told(g) && g.closed.is_some()));
    let late = world.join(SeatConfig::named("Late"), 10);
    world.run(100, |_| {});
    assert_eq!(world.guests[late].events, [SeatEvent::Refused(Refusal::Ending)]);
}

#[test]
fn a_hub_asks_to_be_called_again_when_it_must() {
    let mut world = World::new(HubConfig::default());
    assert_eq!(world.hub.poll_timeout(), None);
    world.hub.handle_connected(Connection(5), None, Instant::from_millis(1_000));
    assert_eq!(world.hub.poll_timeout(), Some(Instant::from_millis(6_000)));
    assert_eq!(entity_of(HostId(70_000), 1), None);
}

/// What the hub says a player saw is what the player saw: also right after a turn, when that is not where the tank was.
#[test]
fn the_hub_knows_what_a_player_saw() {
    let (mut world, tanks) = game(HubConfig::default());
    play(&mut world, &tanks, 3_000);
    let (mut seen, mut stale) = (Vec::new(), 0);
    for _ in 0..100 {
        play(&mut world, &tanks, 17);
        for viewer in 1..3 {
            let local = world.local(viewer);
            let placed = world.guests[viewer].seat.place(tanks[0], local).unwrap().position;
            let time = world.guests[viewer].seat.now(local).unwrap();
            seen.push((HostId(viewer as u32 + 1), time, placed));
            stale += usize::from(placed.distance(drive(0, world.hub.now(world.now)).position()) > 0.5);
        }
        if seen.len() > 40 {
            // Some 300 ms later all receipts have come.
            let (viewer, time, placed) = seen.remove(0);
            let said = world.hub.seen_by(viewer, tanks[0], time).unwrap().unwrap();
            assert!(said.position.distance(placed) < 0.05, "{viewer} at {time}: {placed:?}, not {:?}", said.position);
        }
    }
    assert!(stale > 5, "turns were seen late");
}

#[test]
fn the_clock_rule_changes_for_everybody_at_once_and_for_whoever_comes_later() {
    use evenkeel::ClockRule;
    let (mut world, tanks) = game(HubConfig::default());
    play(&mut world, &tanks, 1_900);
    let now = world.now;
    world.hub.set_rule(ClockRule::Local, now).unwrap();
    // Over a turn, so that everybody hears of every tank by the new rule.
    play(&mut world, &tanks, 2_600);
    let late = worst(&mut world, &tanks);
    assert!(late > 1.0, "as late as the network at 10 m/s: {late} m");
    let newcomer = world.join(SeatConfig::named("Dee"), 100);
    play(&mut world, &tanks, 2_500);
    let local = world.local(newcomer);
    let (seen, time) = (world.guests[newcomer].seat.place(tanks[0], local).unwrap(), world.hub.now(world.now));
    let off = seen.position.distance(drive(0, time).position());
    assert!(off > 0.5, "the newcomer goes by the same rule: {off} m");
    let now = world.now;
    world.hub.set_rule(ClockRule::Global, now).unwrap();
    play(&mut world, &tanks, 2_500);
    settle(&mut world, &tanks);
    let exact = worst(&mut world, &tanks);
    assert!(exact < 0.3, "{exact} m");
}
