//! Coming back, to a server that went on and to one that began anew: without sockets.

#![allow(clippy::unwrap_used)]

mod common;

use common::{World, ms};
use evenkeel::{Duration, HostId, Instant, LagChange};
use evenkeel_net::hub::{Connection, Hub, HubConfig, HubEvent, What};
use evenkeel_net::levels::{Level, LevelError, RELIABLE_WINDOW};
use evenkeel_net::protocol::{PeerOffer, SERVER, ToPlayer, ToServer, VERSION, Welcome, decode, encode};
use evenkeel_net::seat::{Seat, SeatConfig, SeatEvent};
use evenkeel_net::transport::Limits;

const SECRET: [u8; 16] = [7; 16];

fn welcomes(world: &World, guest: usize) -> Vec<(HostId, bool)> {
    let welcome = |event: &SeatEvent| match event {
        SeatEvent::Welcome { you, again } => Some((*you, *again)),
        _ => None,
    };
    world.guests[guest].events.iter().filter_map(welcome).collect()
}

fn lose(world: &mut World, guest: usize) {
    world.guests[guest].linked = false;
    world.hub.handle_disconnected(world.guests[guest].connection, world.now);
}

#[test]
fn whoever_missed_a_change_of_lag_learns_of_it_when_it_is_back() {
    let mut world = World::new(HubConfig::default());
    let ada = world.join(SeatConfig::named("Ada"), 20);
    world.run(3_000, |_| {});
    lose(&mut world, ada);
    let now = world.hub.now(world.now);
    world.hub.set_lag(LagChange::usual(Duration::ZERO, ms(160), now), world.now).unwrap();
    world.run(1_000, |_| {});
    world.reconnect(ada);
    world.run(1_000, |_| {});
    assert_eq!(welcomes(&world, ada), [(HostId(1), false), (HostId(1), true)]);
    let time = world.hub.now(world.now);
    assert_eq!(world.guests[ada].seat.lag().unwrap().at(time), ms(160));
}

#[test]
fn a_change_of_lag_before_the_time_is_known_is_not_missed() {
    let mut world = World::new(HubConfig::default());
    let ada = world.join(SeatConfig::named("Ada"), 20);
    while world.guests[ada].seat.you().is_none() {
        world.run(1, |_| {});
    }
    assert!(!world.guests[ada].seat.is_ready());
    let begins = world.hub.now(world.now) + ms(10);
    world.hub.set_lag(LagChange::usual(Duration::ZERO, ms(160), begins), world.now).unwrap();
    world.run(3_000, |_| {});
    assert_eq!(world.guests[ada].seat.lag().unwrap().target(), ms(160));
}

/// The worst case: the server's own secret is the same as before, and its clock begins anew.
#[test]
fn an_old_number_is_of_no_use_after_a_restart() {
    let config = || HubConfig { secret: SECRET, ..HubConfig::default() };
    let mut world = World::new(config());
    let ada = world.join(SeatConfig::named("Ada"), 20);
    world.run(2_000, |_| {});
    lose(&mut world, ada);
    world.hub = Hub::new(config()).unwrap();
    let ben = world.join(SeatConfig::named("Ben"), 20);
    world.run(500, |_| {});
    assert_eq!((welcomes(&world, ada), welcomes(&world, ben)), (vec![(HostId(1), false)], vec![(HostId(1), false)]));
    // Now both believe to be number one.
    world.reconnect(ada);
    world.run(500, |_| {});
    assert_eq!(welcomes(&world, ada)[1..], [(HostId(2), false)]);
    assert_eq!(welcomes(&world, ben), [(HostId(1), false)]);
    assert!(world.guests[ben].closed.is_none() && world.guests[ada].closed.is_none());
    let names: Vec<_> = world.hub.players().map(|(_, name)| name.to_owned()).collect();
    assert_eq!(names, ["Ben", "Ada"]);
}

const MUST_ARRIVE: [Level; 3] = [Level::Ordered, Level::Unordered, Level::Quickest];

/// Says something to the server and hears something from it, at all levels that must arrive.
fn talk(world: &mut World, guest: usize, what: &str) {
    let (local, host) = (world.local(guest), world.guests[guest].seat.you().unwrap());
    for level in MUST_ARRIVE {
        world.guests[guest].seat.send(SERVER, level, what.into(), local).unwrap();
        world.hub.send(host, level, what.into(), world.now).unwrap();
    }
}

/// How often the server, and the player, were told that.
fn told(world: &World, guest: usize, what: &str) -> (usize, usize) {
    let up = |event: &&HubEvent| matches!(event, HubEvent::Message { bytes, .. } if bytes == what.as_bytes());
    let down = |event: &&SeatEvent| matches!(event, SeatEvent::Message { bytes, .. } if bytes == what.as_bytes());
    (world.hub_events.iter().filter(up).count(), world.guests[guest].events.iter().filter(down).count())
}

#[test]
fn after_a_restart_both_begin_their_messages_anew() {
    let config = || HubConfig { secret: SECRET, ..HubConfig::default() };
    let mut world = World::new(config());
    let ada = world.join(SeatConfig::named("Ada"), 20);
    world.run(2_000, |_| {});
    for _ in 0..50 {
        talk(&mut world, ada, "before");
        world.run(20, |_| {});
    }
    // Some of it is under way when the server ends.
    talk(&mut world, ada, "lost");
    lose(&mut world, ada);
    world.hub = Hub::new(config()).unwrap();
    world.run(50, |_| {});
    world.reconnect(ada);
    world.run(500, |_| {});
    for _ in 0..50 {
        talk(&mut world, ada, "after");
        world.run(20, |_| {});
    }
    world.run(1_000, |_| {});
    assert_eq!((told(&world, ada, "after"), told(&world, ada, "lost")), ((150, 150), (0, 0)));
    assert_eq!((&world.guests[ada].closed, world.hub.counts().expelled), (&None, 0));
    let ends = [world.hub.levels(HostId(1)).unwrap(), world.guests[ada].seat.levels()];
    let idle = ends.map(|end| (end.memory_bytes(), end.poll_timeout()));
    assert_eq!(idle, [(0, None); 2], "all of it is acknowledged, and there is nothing more to say");
}

#[test]
fn a_player_who_was_restarted_is_somebody_else() {
    let mut world = World::new(HubConfig::default());
    let ada = world.join(SeatConfig::named("Ada"), 20);
    world.run(2_000, |_| {});
    talk(&mut world, ada, "before");
    world.run(500, |_| {});
    lose(&mut world, ada);
    world.hub.send(HostId(1), Level::Ordered, b"for the one before".to_vec(), world.now).unwrap();
    world.guests[ada].seat = Seat::new(SeatConfig::named("Ada")).unwrap();
    world.reconnect(ada);
    world.run(2_000, |_| {});
    talk(&mut world, ada, "after");
    world.run(500, |_| {});
    assert_eq!((told(&world, ada, "after"), told(&world, ada, "for the one before")), ((3, 3), (0, 0)));
    assert_eq!((world.guests[ada].seat.you(), world.hub.counts().expelled), (Some(HostId(2)), 0));
    world.run(10_000, |_| {});
    assert_eq!(world.hub.players().count(), 1, "nobody waits for the one before any more");
}

#[test]
fn what_piles_up_for_whoever_is_away_harms_nobody() {
    let mut world = World::new(HubConfig::default());
    let [ada, ben] = ["Ada", "Ben"].map(|name| world.join(SeatConfig::named(name), 20));
    world.run(2_000, |_| {});
    lose(&mut world, ben);
    let mut number = 0u32;
    world.run(1_000, |world| {
        for _ in 0..5 {
            world.hub.broadcast(Level::Ordered, &number.to_le_bytes(), world.now).unwrap();
            number += 1;
        }
    });
    world.run(500, |_| {});
    let beyond = world.hub.send(HostId(2), Level::Ordered, Vec::new(), world.now);
    assert_eq!((beyond, world.hub.counts().undelivered), (Err(LevelError::Full), 5_000 - RELIABLE_WINDOW as u64));
    world.reconnect(ben);
    world.run(1_000, |_| {});
    world.hub.broadcast(Level::Ordered, &number.to_le_bytes(), world.now).unwrap();
    world.run(500, |_| {});
    let heard = |guest: usize| {
        let number = |event: &SeatEvent| match event {
            SeatEvent::Message { bytes, .. } => Some(u32::from_le_bytes(bytes[..].try_into().unwrap())),
            _ => None,
        };
        world.guests[guest].events.iter().filter_map(number).collect::<Vec<_>>()
    };
    assert_eq!(heard(ada), (0..=5_000).collect::<Vec<_>>());
    assert_eq!(heard(ben), (0..RELIABLE_WINDOW as u32).chain([5_000]).collect::<Vec<_>>(), "what there was room for");
    assert_eq!(world.hub.counts().expelled, 0);
}

#[test]
fn what_waits_for_a_player_fits_into_its_next_connection() {
    let mut world = World::new(HubConfig::default());
    let ada = world.join(SeatConfig::named("Ada"), 20);
    world.run(2_000, |_| {});
    lose(&mut world, ada);
    while world.hub.send(HostId(1), Level::Unordered, vec![0; 30_000], world.now).is_ok() {}
    world.reconnect(ada);
    world.run(20, |_| {});
    let kept = world.hub.levels(HostId(1)).unwrap().memory_bytes();
    assert!((400_000..=Limits::default().outgoing_messages / 2).contains(&kept), "{kept} bytes go at once");
    world.run(1_000, |_| {});
    assert_eq!(world.hub.levels(HostId(1)).unwrap().memory_bytes(), 0);
}

#[test]
fn whoever_was_not_heard_for_long_may_say_it_all_again() {
    let mut world = World::new(HubConfig::default());
    let ada = world.join(SeatConfig::named("Ada"), 20);
    world.run(2_000, |_| {});
    // Nobody notices yet that nothing arrives.
    world.guests[ada].linked = false;
    let mut spoken = 0;
    world.run(8_000, |world| {
        if world.now.as_nanos() % 10_000_000 == 0 {
            let local = world.local(ada);
            world.guests[ada].seat.send(SERVER, Level::Ordered, b"hello?".to_vec(), local).unwrap();
            spoken += 1;
        }
    });
    lose(&mut world, ada);
    world.reconnect(ada);
    world.run(1_000, |_| {});
    assert_eq!((spoken, told(&world, ada, "hello?").0, world.hub.counts().expelled), (800, 800, 0));
}

/// What the first player of a session is told when it comes at that time of the host's.
fn first_welcome(config: HubConfig, now: Instant) -> Welcome {
    let mut hub = Hub::new(HubConfig { secret: SECRET, ..config }).unwrap();
    let (session, name, token) = (hub.info().name, "Ada".into(), Vec::new());
    let hello = ToServer::Hello { version: VERSION, session, name, token, rejoin: None, peer: None };
    hub.handle_connected(Connection(1), None, now);
    hub.handle_message(Connection(1), &encode(&hello).unwrap(), now);
    let Some(What::Message(bytes)) = hub.poll_transmit(now).map(|out| out.what) else { panic!("it said nothing") };
    let ToPlayer::Welcome(welcome) = decode(&bytes).unwrap() else { panic!("it said something else") };
    *welcome
}

#[test]
fn no_two_players_have_the_same_secret() {
    let now = Instant::from_millis(5_000);
    let plain = first_welcome(HubConfig::default(), now);
    let other = first_welcome(HubConfig { session: "other".into(), ..HubConfig::default() }, now);
    // The host's clock begins anew with every start; the session's goes on.
    let later = first_welcome(HubConfig { origin: Some(ms(1)), ..HubConfig::default() }, now);
    assert!([&other, &later].iter().all(|welcome| welcome.you == plain.you));
    assert_eq!((plain.secret == other.secret, plain.secret == later.secret), (false, false));
}

#[test]
fn peers_of_before_a_restart_are_nobody_after_it() {
    let config = || HubConfig { model: evenkeel_net::protocol::Model::PeerToPeer, ..HubConfig::default() };
    let offer = PeerOffer { certificate: [1; 32], addresses: vec!["127.0.0.1:9".parse().unwrap()] };
    let mut world = World::new(config());
    for name in ["Ada", "Ben"] {
        world.join(SeatConfig { peer: Some(offer.clone()), ..SeatConfig::named(name) }, 20);
    }
    world.run(1_000, |world| world.connect_peers(|_, _| true));
    assert_eq!(world.guests[0].seat.linked().collect::<Vec<_>>(), [HostId(2)]);
    [0, 1].iter().for_each(|guest| lose(&mut world, *guest));
    world.hub = Hub::new(config()).unwrap();
    for guest in [0, 1] {
        world.reconnect(guest);
        world.run(500, |_| {});
    }
    assert_eq!(welcomes(&world, 0), [(HostId(1), false), (HostId(1), false)]);
    // The connection of before is to be closed before anybody is dialled: it is another player's now, for all one knows.
    let seat = &mut world.guests[0].seat;
    assert_eq!((seat.poll_departed(), seat.poll_departed()), (Some(HostId(2)), None));
    assert_eq!(seat.poll_introduction().map(|introduction| introduction.host), Some(HostId(2)));
    assert_eq!(seat.linked().count(), 0);
}
