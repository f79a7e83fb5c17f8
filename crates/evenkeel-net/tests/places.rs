//! A player's place in a session: how it is left, taken over and come back to, and how much may be said from it.

#![allow(clippy::unwrap_used)]

mod common;

use common::World;
use evenkeel::{EntityId, HostId, Pose, Threshold, Vec3};
use evenkeel_net::hub::{Connection, HubConfig, HubEvent};
use evenkeel_net::levels::Level;
use evenkeel_net::protocol::{Refusal, SERVER, ToServer, VERSION, encode};
use evenkeel_net::seat::{SeatConfig, SeatEvent};

/// Ada, who has a tank, and two others.
fn game() -> (World, EntityId) {
    let mut world = World::new(HubConfig::default());
    for (name, delay) in [("Ada", 20), ("Ben", 60), ("Cy", 100)] {
        world.join(SeatConfig::named(name), delay);
    }
    world.run(1_500, |_| {});
    let local = world.local(0);
    let tank = world.guests[0].seat.make(Threshold::within(0.1), Vec::new(), local).unwrap();
    world.guests[0].seat.observe(tank, Pose::at(Vec3::new(1.0, 2.0, 3.0)), local).unwrap();
    world.run(500, |_| {});
    (world, tank)
}

fn sees(world: &mut World, guest: usize, tank: EntityId) -> bool {
    let local = world.local(guest);
    let seen = world.guests[guest].seat.place(tank, local);
    seen.is_ok_and(|seen| seen.position.distance(Vec3::new(1.0, 2.0, 3.0)) < 0.15)
}

fn lose(world: &mut World, guest: usize) {
    world.guests[guest].linked = false;
    let lost = world.guests[guest].connection;
    world.hub.handle_disconnected(lost, world.now);
}

/// How often a player was told that it has its place again.
fn times_back(world: &World, guest: usize) -> usize {
    let back = |event: &&SeatEvent| matches!(event, SeatEvent::Welcome { again: true, .. });
    world.guests[guest].events.iter().filter(back).count()
}

/// Says so many messages of 30,000 bytes at once.
fn say(world: &mut World, guest: usize, level: Level, count: usize) {
    for _ in 0..count {
        let local = world.local(guest);
        world.guests[guest].seat.send(SERVER, level, vec![7; 30_000], local).unwrap();
    }
    world.run(250, |_| {});
}

#[test]
fn whoever_says_too_many_bytes_is_sent_away_and_nobody_else_notices() {
    let (mut world, tank) = game();
    // 180 kB a second are allowed, for as long as one likes.
    for _ in 0..20 {
        say(&mut world, 0, Level::Ordered, 1);
        say(&mut world, 0, Level::Unordered, 2);
    }
    // So are twice 256 KiB at once, and no more: few messages, but many bytes.
    say(&mut world, 1, Level::Ordered, 17);
    assert!(world.guests[1].closed.is_none());
    // Another connection is no way to say more.
    lose(&mut world, 1);
    world.reconnect(1);
    world.run(300, |_| {});
    assert_eq!(times_back(&world, 1), 1);
    say(&mut world, 1, Level::Ordered, 10);
    assert!(world.guests[1].closed.as_deref().unwrap().contains("too many messages"));
    say(&mut world, 2, Level::Unordered, 18);
    assert!(world.guests[2].closed.as_deref().unwrap().contains("too many messages"));
    // Ada plays on, and whoever comes sees it.
    let late = world.join(SeatConfig::named("Dee"), 30);
    world.run(1_500, |_| {});
    assert!(world.guests[0].closed.is_none() && sees(&mut world, late, tank));
    let heard = |event: &&HubEvent| matches!(event, HubEvent::Message { from: HostId(1), .. });
    assert_eq!(world.hub_events.iter().filter(heard).count(), 60);
}

#[test]
fn a_farewell_ends_the_place_and_the_connection() {
    let (mut world, tank) = game();
    let connection = world.guests[0].connection;
    world.guests[0].seat.leave().unwrap();
    world.run(200, |_| {});
    assert_eq!(world.closed, [(connection, "it said farewell".to_owned())]);
    assert_eq!((world.hub.players().count(), world.hub.entities().count()), (2, 0));
    assert!(world.guests[1].events.contains(&SeatEvent::Gone { entity: tank }));
    // There is no place to come back to.
    world.reconnect(0);
    world.run(200, |_| {});
    assert_eq!((times_back(&world, 0), world.guests[0].seat.you()), (0, Some(HostId(4))));
}

#[test]
fn whoever_comes_back_before_the_loss_is_noticed_has_the_old_connection_closed() {
    let (mut world, tank) = game();
    let old = world.guests[0].connection;
    world.reconnect(0);
    world.run(300, |_| {});
    assert_eq!(times_back(&world, 0), 1);
    assert_eq!(world.closed, [(old, "the player came back by another connection".to_owned())]);
    // Whatever the old one still says, and its end, are nobody's.
    world.hub.handle_message(old, &encode(&ToServer::Bye).unwrap(), world.now);
    world.hub.handle_disconnected(old, world.now);
    world.run(11_000, |_| {});
    assert!(world.guests[0].closed.is_none());
    assert_eq!((world.hub.players().count(), world.hub.entities().count()), (3, 1));
    let gone = |event: &SeatEvent| matches!(event, SeatEvent::Left { .. } | SeatEvent::Gone { .. });
    assert!(!world.guests[1].events.iter().any(gone), "nobody noticed");
    assert!(sees(&mut world, 1, tank));
}

#[test]
fn while_a_session_drains_only_those_who_have_a_place_come_back() {
    let (mut world, tank) = game();
    world.hub.drain("maintenance");
    let late = world.join(SeatConfig::named("Dee"), 10);
    world.run(100, |_| {});
    assert_eq!(world.guests[late].events, [SeatEvent::Refused(Refusal::Ending)]);
    assert!(!world.guests[late].seat.is_refused(), "it may ask again");
    lose(&mut world, 0);
    world.run(3_000, |_| {});
    world.reconnect(0);
    world.run(500, |_| {});
    assert!(times_back(&world, 0) == 1 && sees(&mut world, 1, tank));
    // Whoever guesses at a place is a newcomer.
    let (guess, (session, name)) = (Connection(500), ("main".into(), "Eve".into()));
    let rejoin = Some((HostId(1), 12_345));
    let hello = ToServer::Hello { version: VERSION, session, name, token: Vec::new(), rejoin, peer: None };
    world.hub.handle_connected(guess, None, world.now);
    world.hub.handle_message(guess, &encode(&hello).unwrap(), world.now);
    world.run(10, |_| {});
    assert_eq!(world.closed.last(), Some(&(guess, Refusal::Ending.to_string())));
    // So is whoever was away for too long.
    lose(&mut world, 2);
    world.run(10_100, |_| {});
    world.reconnect(2);
    world.run(300, |_| {});
    assert_eq!(world.guests[2].events.last(), Some(&SeatEvent::Refused(Refusal::Ending)));
    // And once it has ended, nobody comes back.
    world.hub.end("maintenance");
    world.run(100, |_| {});
    assert!(world.guests[0].closed.is_some());
    world.reconnect(0);
    world.run(100, |_| {});
    assert_eq!(world.guests[0].events.last(), Some(&SeatEvent::Refused(Refusal::Ending)));
}
