//! A session written down and read again, without sockets.

#![allow(clippy::unwrap_used)]

mod common;

use common::{World, ms};
use evenkeel::{Duration, HostId, Instant, Pose, Relevance, Threshold, Vec3};
use evenkeel_net::hub::{Connection, Hub, HubConfig, ImportError, MoveError, What};
use evenkeel_net::levels::{Level, LevelError};
use evenkeel_net::protocol::{Model, Place, ToPlayer, ToServer, VERSION, decode, encode};
use evenkeel_net::seat::{SeatConfig, SeatError, SeatEvent, ToSend};

const SINCE: Duration = Duration::from_secs(1_700_000_000);

/// Ada has a tank that matters little to Ben; the server has a ball; there are messages under way.
fn game() -> World {
    let mut world = World::new(HubConfig { secret: [7; 16], ..HubConfig::default() });
    world.join(SeatConfig::named("Ada"), 20);
    world.join(SeatConfig::named("Ben"), 20);
    world.run(2_000, |_| {});
    let local = world.local(0);
    let tank = world.guests[0].seat.make(Threshold::within(0.1), b"a tank".to_vec(), local).unwrap();
    let ball = world.hub.make(Threshold::within(0.1), Vec::new(), world.now).unwrap();
    world.run(500, |world| {
        let local = world.local(0);
        let pose = Pose::at(Vec3::ZERO).moving(Vec3::new(1.0, 0.0, 0.0));
        let _ = world.guests[0].seat.observe(tank, pose, local);
        let _ = world.hub.observe(ball, pose, world.now);
    });
    world.hub.set_relevance(tank, HostId(2), Relevance::Weight(0.5), world.now).unwrap();
    world.hub.set_relevances(ball, Relevance::Weight(0.25), &[].into(), world.now).unwrap();
    for level in [Level::Ordered, Level::Unordered, Level::Quickest] {
        world.hub.send(HostId(2), level, b"under way".to_vec(), world.now).unwrap();
    }
    world
}

fn import(bytes: &[u8], now: Instant) -> Result<Hub, ImportError> {
    Hub::import(HubConfig::default(), bytes, SINCE + Duration::from_secs(2), now)
}

/// Says hello as somebody who was there; answers who it is then, and whether it is the same.
fn knock(hub: &mut Hub, connection: u64, rejoin: Option<(HostId, u64)>, now: Instant) -> (HostId, bool, u64) {
    let (session, name, token) = ("main".into(), "Ada".into(), Vec::new());
    let hello = ToServer::Hello { version: VERSION, session, name, token, rejoin, peer: None };
    hub.handle_connected(Connection(connection), None, now);
    hub.handle_message(Connection(connection), &encode(&hello).unwrap(), now);
    while let Some(out) = hub.poll_transmit(now) {
        if let (What::Message(bytes), true) = (out.what, out.to == Connection(connection))
            && let Ok(ToPlayer::Welcome(welcome)) = decode(&bytes)
        {
            return (welcome.you, welcome.again, welcome.secret);
        }
    }
    panic!("it was not let in");
}

#[test]
fn another_server_goes_on_with_everything() {
    let mut world = game();
    let before = world.hub.now(world.now);
    let exported = world.hub.export(SINCE, world.now).unwrap();
    let now = Instant::from_millis(77);
    let mut hub = import(&exported, now).unwrap();
    assert!(hub.players().eq(world.hub.players()) && hub.entities().eq(world.hub.entities()));
    assert_eq!(hub.now(now), before + Duration::from_secs(2), "time has gone on");
    for made in world.hub.entities() {
        let (there, here) = [&hub, &world.hub].map(|hub| hub.whereabouts(made.entity, before).unwrap().position).into();
        assert!(there.distance(here) < 0.01, "{} is elsewhere", made.entity);
    }
    let again = hub.export(SINCE + Duration::from_secs(2), now).unwrap();
    assert_eq!(again.len(), exported.len(), "nothing is lost");
}

#[test]
fn only_whoever_knows_the_secret_is_who_it_was() {
    let mut hub = Hub::new(HubConfig { secret: [7; 16], ..HubConfig::default() }).unwrap();
    let now = Instant::from_millis(5_000);
    let (ada, _, secret) = knock(&mut hub, 1, None, now);
    let exported = hub.export(SINCE, now).unwrap();
    let mut hub = import(&exported, now).unwrap();
    let (thief, again, _) = knock(&mut hub, 1, Some((ada, secret ^ 1)), now);
    assert!(thief != ada && !again, "a newcomer like any other");
    let (back, again, _) = knock(&mut hub, 2, Some((ada, secret)), now);
    assert!(back == ada && again);
}

#[test]
fn what_no_session_has_written_is_refused() {
    let mut world = game();
    let exported = world.hub.export(SINCE, world.now).unwrap();
    for length in 0..exported.len() {
        assert_eq!(import(&exported[..length], world.now).err(), Some(ImportError::Malformed), "{length} bytes");
    }
    let longer = [&exported[..], &[0]].concat();
    assert_eq!(import(&longer, world.now).err(), Some(ImportError::Malformed));
    let (mut taken, mut refused) = (0, 0);
    for at in 0..exported.len() {
        for flip in [1, 0x80, 0xFF] {
            let mut bytes = exported.clone();
            bytes[at] ^= flip;
            // Much of it may be anything, such as names; none of it makes a hub that does not run.
            match import(&bytes, world.now) {
                Ok(mut hub) => {
                    hub.advance(world.now + ms(100));
                    while hub.poll_transmit(world.now + ms(100)).is_some() {}
                    taken += 1;
                }
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    refused += 1;
                }
            }
        }
    }
    assert!(taken > 0 && refused > 100, "{taken} taken, {refused} refused");
    let few = HubConfig { max_players: 1, ..HubConfig::default() };
    assert_eq!(Hub::import(few, &exported, SINCE, world.now).err(), Some(ImportError::TooManyPlayers));
}

#[test]
fn sessions_with_peers_stay_where_they_are() {
    let mut hub = Hub::new(HubConfig { model: Model::Hybrid, ..HubConfig::default() }).unwrap();
    assert_eq!(hub.export(SINCE, Instant::ZERO), Err(MoveError::Model));
    assert!(!hub.is_moving());
}

#[test]
fn an_export_that_is_not_used_is_void() {
    let mut world = game();
    world.hub.export(SINCE, world.now).unwrap();
    assert_eq!(world.hub.send(HostId(1), Level::Ordered, Vec::new(), world.now), Err(LevelError::Moving));
    let local = world.local(0);
    world.guests[0].seat.send(HostId(2), Level::Ordered, b"held".to_vec(), local).unwrap();
    let heard = |world: &World| {
        let held = |event: &SeatEvent| matches!(event, SeatEvent::Message { bytes, .. } if bytes == b"held");
        world.guests[1].events.iter().filter(|event| held(event)).count()
    };
    world.run(29_000, |_| {});
    assert_eq!(heard(&world), 0);
    world.run(2_000, |_| {});
    assert_eq!((heard(&world), world.hub.is_moving()), (1, false), "everything goes on here");
    let place = Place::at("https://frankfurt.example/");
    assert_eq!(world.hub.move_to(place, ms(1_000), world.now), Err(MoveError::NotExported));
}

#[test]
fn nobody_is_missed_meanwhile_and_nothing_is_due_for_it() {
    let mut world = game();
    world.hub.export(SINCE, world.now).unwrap();
    world.hub.handle_disconnected(world.guests[0].connection, world.now);
    world.guests[0].linked = false;
    world.run(15_000, |_| {});
    assert_eq!(world.hub.players().count(), 2);
    assert!(world.hub.poll_timeout().is_none_or(|due| due > world.now), "{:?}", world.hub.poll_timeout());
    world.run(16_000, |_| {});
    assert_eq!((world.hub.is_moving(), world.hub.players().count()), (false, 1));
}

#[test]
fn whoever_comes_back_meanwhile_says_again_what_waited() {
    let mut world = game();
    world.hub.export(SINCE, world.now).unwrap();
    let mut number = 0u32;
    for _ in 0..3 {
        world.run(5_000, |world| {
            if world.now.as_nanos() % 10_000_000 == 0 {
                let local = world.local(0);
                let said = number.to_le_bytes().to_vec();
                world.guests[0].seat.send(HostId(2), Level::Ordered, said, local).unwrap();
                number += 1;
            }
        });
        world.hub.handle_disconnected(world.guests[0].connection, world.now);
        world.guests[0].linked = false;
        world.run(50, |_| {});
        world.reconnect(0);
        world.run(100, |_| {});
    }
    world.hub.stay(world.now);
    world.run(500, |_| {});
    let heard = world.guests[1].events.iter().filter_map(|event| match event {
        SeatEvent::Message { from: HostId(1), bytes, .. } => Some(u32::from_le_bytes(bytes[..].try_into().unwrap())),
        _ => None,
    });
    assert!(heard.eq(0..1_500), "each once, and in order");
    assert_eq!(world.hub.counts().expelled, 0);
}

#[test]
fn whoever_is_not_known_at_the_other_server_stays() {
    let mut world = game();
    let mut other = Hub::new(HubConfig::default()).unwrap();
    let local = world.local(0);
    let seat = &mut world.guests[0].seat;
    seat.handle_message(&encode(&ToPlayer::Move(Place::at("https://other.example/"))).unwrap(), local).unwrap();
    assert!(seat.poll_move().is_some());
    seat.reconnect_there().unwrap();
    let Some(ToSend::Message(hello)) = seat.poll_transmit(local) else { panic!("it says nothing") };
    other.handle_connected(Connection(1), None, world.now);
    other.handle_message(Connection(1), &hello, world.now);
    let Some(What::Message(welcome)) = other.poll_transmit(world.now).map(|out| out.what) else { panic!("nor it") };
    assert!(matches!(seat.handle_message(&welcome, local), Err(SeatError::Welcome(_))));
    seat.stay("it does not know us", local);
    world.hub.handle_disconnected(world.guests[0].connection, world.now);
    world.reconnect(0);
    world.run(500, |_| {});
    let events = &world.guests[0].events;
    assert!(events.contains(&SeatEvent::Welcome { you: HostId(1), again: true }));
    assert!(!events.iter().any(|event| matches!(event, SeatEvent::Gone { .. })), "nothing has changed");
}

#[test]
fn nobody_is_sent_from_server_to_server_for_ever() {
    let mut world = game();
    let mut declined = 0;
    for hop in 0..8 {
        let place = Place::at(format!("https://{hop}.example/"));
        let local = world.local(0);
        let seat = &mut world.guests[0].seat;
        seat.handle_message(&encode(&ToPlayer::Move(place)).unwrap(), local).unwrap();
        match seat.poll_move() {
            Some(_) => seat.stay("a test", local),
            None => declined += 1,
        }
    }
    assert_eq!(declined, 4, "so many hops, and no more");
    let insecure = encode(&ToPlayer::Move(Place::at("http://a.example/"))).unwrap();
    let local = world.local(1);
    world.guests[1].seat.handle_message(&insecure, local).unwrap();
    assert_eq!(world.guests[1].seat.poll_move(), None);
}
