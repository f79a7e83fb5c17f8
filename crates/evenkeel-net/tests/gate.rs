//! A door that wants tokens: forged, stolen, expired, revoked ones, and those of a key that is being replaced.

#![allow(clippy::unwrap_used)]

mod common;

use common::World;
use evenkeel::{HostId, Instant};
use evenkeel_net::hub::{Connection, Hub, HubConfig, HubEvent, Outgoing, TokenGate, What};
use evenkeel_net::levels::{Level, Party};
use evenkeel_net::protocol::{Refusal, ToPlayer, ToServer, VERSION, decode, encode};
use evenkeel_net::seat::{SeatConfig, SeatEvent};
use evenkeel_net::token::{
    KeyRing, Player, Revocations, Rights, SecondUse, SigningKey, Token, TokenError, TokenId, Window,
};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

const NOW: u64 = 1_900_000_000;

fn key(seed: u8) -> SigningKey {
    SigningKey::generate([seed; 32])
}

fn token(id: u8) -> Token {
    Token {
        player: Player::Name("Ada".into()),
        session: "main".into(),
        rights: Rights::JOIN | Rights::MOVE,
        not_before: NOW - 10,
        expires: NOW + 100,
        id: TokenId([id; 16]),
        max_entities: 2,
    }
}

/// A wall clock that a test sets.
#[derive(Clone)]
struct Wall(Arc<AtomicU64>);

impl Wall {
    fn new() -> Self {
        Self(Arc::new(AtomicU64::new(NOW)))
    }

    fn pass(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::Relaxed);
    }

    fn gate(&self, ring: KeyRing) -> TokenGate {
        let wall = self.clone();
        TokenGate::new(ring, 100, move || wall.0.load(Ordering::Relaxed))
    }
}

fn world(gate: TokenGate) -> World {
    World::new(HubConfig { gate: Box::new(gate), ..HubConfig::default() })
}

fn ring() -> KeyRing {
    KeyRing::of(key(1).verifying_key())
}

fn with(token: Vec<u8>) -> SeatConfig {
    SeatConfig { token, ..SeatConfig::named("Ada") }
}

/// Whether somebody with these gets in, or why not.
fn asks(world: &mut World, config: SeatConfig) -> Result<usize, String> {
    let guest = world.join(config, 5);
    world.run(30, |_| {});
    match &world.guests[guest].events[..] {
        [SeatEvent::Refused(Refusal::Token(why)), ..] => Err(why.clone()),
        [SeatEvent::Welcome { .. }, ..] => Ok(guest),
        other => panic!("{other:?}"),
    }
}

fn says(refused: Result<usize, String>, error: &TokenError) {
    assert_eq!(refused.unwrap_err(), error.to_string());
}

fn file(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("evenkeel-gate-{name}-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

#[test]
fn a_good_token_lets_in_as_bytes_and_as_text_and_says_how_much_is_allowed() {
    let mut world = world(Wall::new().gate(ring()));
    asks(&mut world, with(key(1).sign(&token(1)).unwrap())).unwrap();
    let ada = asks(&mut world, with(key(1).sign_text(&token(2)).unwrap().into_bytes())).unwrap();
    world.run(500, |_| {});
    for _ in 0..3 {
        let local = world.local(ada);
        world.guests[ada].seat.make(evenkeel::Threshold::within(0.1), Vec::new(), local).unwrap();
    }
    world.run(50, |_| {});
    assert!(world.guests[ada].closed.as_deref().unwrap().contains("more entities"), "two were allowed");
}

#[test]
fn what_is_not_good_is_refused_and_leaves_nothing_behind() {
    let wall = Wall::new();
    let mut world = world(wall.gate(ring()));
    let mut forged = key(1).sign(&token(1)).unwrap();
    forged[12] ^= 1;
    says(asks(&mut world, with(forged)), &TokenError::BadSignature);
    says(
        asks(&mut world, with(key(2).sign(&token(1)).unwrap())),
        &TokenError::UnknownKey { key: key(2).verifying_key().id() },
    );
    let elsewhere = Token { session: "other".into(), ..token(1) };
    says(
        asks(&mut world, with(key(1).sign(&elsewhere).unwrap())),
        &TokenError::WrongSession { granted: "other".into() },
    );
    let bens = Token { player: Player::Name("Ben".into()), ..token(1) };
    assert!(asks(&mut world, with(key(1).sign(&bens).unwrap())).unwrap_err().contains("for player Ben"));
    let idle = Token { rights: Rights::ADMIN, max_entities: 0, ..token(1) };
    assert!(asks(&mut world, with(key(1).sign(&idle).unwrap())).unwrap_err().contains("no right to join"));
    assert!(asks(&mut world, with(Vec::new())).unwrap_err().contains("this server wants one"));
    assert!(asks(&mut world, with(vec![0xff; 40])).unwrap_err().contains("not a join token"));
    wall.pass(100);
    let late = asks(&mut world, with(key(1).sign(&token(1)).unwrap()));
    says(late, &TokenError::Expired { since: NOW + 100 });
    assert_eq!((world.hub.players().count(), world.hub.entities().count()), (0, 0));
}

#[test]
fn a_stolen_token_is_of_no_use_while_its_owner_plays() {
    let mut world = world(Wall::new().gate(ring()));
    let bytes = key(1).sign(&token(1)).unwrap();
    let ada = asks(&mut world, with(bytes.clone())).unwrap();
    says(asks(&mut world, with(bytes.clone())), &TokenError::InUse);
    assert!(world.guests[ada].closed.is_none());
    // It is free again once she has left for good.
    world.guests[ada].seat.leave().unwrap();
    world.run(50, |_| {});
    asks(&mut world, with(bytes)).unwrap();
}

#[test]
fn whoever_rejoins_uses_up_nothing_even_if_the_token_has_expired() {
    let wall = Wall::new();
    let mut world = world(wall.gate(ring()));
    let bytes = key(1).sign(&token(1)).unwrap();
    let ada = asks(&mut world, with(bytes.clone())).unwrap();
    for _ in 0..3 {
        let lost = world.guests[ada].connection;
        world.hub.handle_disconnected(lost, world.now);
        wall.pass(90);
        world.run(1_000, |_| {});
        world.reconnect(ada);
        world.run(100, |_| {});
        assert!(world.guests[ada].closed.is_none());
    }
    assert_eq!(world.hub.players().count(), 1);
    let again = |event: &&SeatEvent| matches!(event, SeatEvent::Welcome { again: true, .. });
    assert_eq!(world.guests[ada].events.iter().filter(again).count(), 3);
}

#[test]
fn a_newcomer_may_be_told_to_take_over() {
    let mut world = world(Wall::new().gate(ring()).with_second_use(SecondUse::TakesOver));
    let bytes = key(1).sign(&token(1)).unwrap();
    let first = asks(&mut world, with(bytes.clone())).unwrap();
    let second = asks(&mut world, with(bytes)).unwrap();
    assert!(world.guests[first].closed.as_deref().unwrap().contains("came later"));
    assert!(world.guests[second].closed.is_none());
    assert_eq!(world.hub.players().count(), 1);
}

#[test]
fn a_revoked_token_sends_its_holder_away_and_stays_revoked_after_a_restart() {
    let path = file("revoked");
    let wall = Wall::new();
    let gate = wall.gate(ring()).with_revocations(Revocations::at(&path)).unwrap();
    let mut before = world(gate);
    let bytes = key(1).sign(&token(1)).unwrap();
    let ada = asks(&mut before, with(bytes.clone())).unwrap();
    // Another program takes it back.
    Revocations::at(&path).append(TokenId([1; 16]), NOW + 100).unwrap();
    wall.pass(1);
    before.run(50, |_| {});
    assert!(before.guests[ada].closed.as_deref().unwrap().contains("revoked"));
    says(asks(&mut before, with(bytes.clone())), &TokenError::Revoked);
    let mut after = world(wall.gate(ring()).with_revocations(Revocations::at(&path)).unwrap());
    says(asks(&mut after, with(bytes)), &TokenError::Revoked);
    asks(&mut after, with(key(1).sign(&token(2)).unwrap())).unwrap();
    std::fs::write(&path, "not a token's id\n").unwrap();
    let error = wall.gate(ring()).with_revocations(Revocations::at(&path)).err().unwrap().to_string();
    assert!(error.contains("line 1"), "{error}");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_key_is_replaced_while_people_play() {
    let wall = Wall::new();
    let mut rotating = KeyRing::default();
    rotating.add(key(1).verifying_key(), Window { from: None, until: Some(NOW + 50) }).unwrap();
    rotating.add(key(2).verifying_key(), Window { from: Some(NOW), until: None }).unwrap();
    let mut world = world(wall.gate(rotating));
    let old = asks(&mut world, with(key(1).sign(&token(1)).unwrap())).unwrap();
    asks(&mut world, with(key(2).sign(&token(2)).unwrap())).unwrap();
    wall.pass(60);
    says(
        asks(&mut world, with(key(1).sign(&token(3)).unwrap())),
        &TokenError::KeyNotInForce { key: key(1).verifying_key().id() },
    );
    asks(&mut world, with(key(2).sign(&token(4)).unwrap())).unwrap();
    assert!(world.guests[old].closed.is_none(), "whoever is in stays in");
}

#[test]
fn keys_change_and_tokens_are_taken_back_while_the_hub_asks() {
    let gate = Arc::new(Mutex::new(Wall::new().gate(ring())));
    let mut world = World::new(HubConfig { gate: Box::new(gate.clone()), ..HubConfig::default() });
    let ada = asks(&mut world, with(key(1).sign(&token(1)).unwrap())).unwrap();
    gate.lock().unwrap().set_keys(KeyRing::of(key(2).verifying_key()));
    assert!(asks(&mut world, with(key(1).sign(&token(2)).unwrap())).unwrap_err().contains("does not know"));
    asks(&mut world, with(key(2).sign(&token(3)).unwrap())).unwrap();
    assert!(world.guests[ada].closed.is_none(), "whoever is in stays in");
    gate.lock().unwrap().revoke(TokenId([1; 16]), NOW + 100).unwrap();
    world.run(50, |_| {});
    assert!(world.guests[ada].closed.as_deref().unwrap().contains("revoked"));
    assert_eq!(gate.lock().unwrap().in_use(), 1);
}

#[test]
fn watchers_see_and_say_nothing() {
    let mut world = world(Wall::new().gate(ring()));
    let watch = Token { rights: Rights::OBSERVE, max_entities: 0, ..token(1) };
    let eve = asks(&mut world, with(key(1).sign(&watch).unwrap())).unwrap();
    world.run(500, |_| {});
    assert!(world.guests[eve].seat.is_ready());
    let local = world.local(eve);
    let seat = &mut world.guests[eve].seat;
    seat.send(Party::Everybody, Level::Ordered, b"psst".to_vec(), local).unwrap();
    world.run(50, |_| {});
    assert!(world.guests[eve].closed.as_deref().unwrap().contains("may only watch"));
}

/// Says hello on a new connection, and answers what the hub says first.
fn hello(hub: &mut Hub, number: u64, name: &str, token: &[u8], rejoin: Option<(HostId, u64)>) -> ToPlayer {
    let (connection, now) = (Connection(number), Instant::from_millis(100 * number as i64));
    let (session, name, token) = ("main".into(), name.into(), token.to_vec());
    let hello = ToServer::Hello { version: VERSION, session, name, token, rejoin, peer: None };
    hub.handle_connected(connection, None, now);
    hub.handle_message(connection, &encode(&hello).unwrap(), now);
    let said = |out: Outgoing| match out {
        Outgoing { to, what: What::Message(bytes) } if to == connection => Some(decode(&bytes).unwrap()),
        _ => None,
    };
    let said: Vec<ToPlayer> = std::iter::from_fn(|| hub.poll_transmit(now)).filter_map(said).collect();
    said.into_iter().next().unwrap()
}

/// A token is for a name; whoever rejoins needs none, and has the name it had.
#[test]
fn whoever_rejoins_keeps_the_name_that_its_token_gave() {
    let gate = Box::new(Wall::new().gate(ring()));
    let mut hub = Hub::new(HubConfig { gate, ..HubConfig::default() }).unwrap();
    let token = key(1).sign(&token(1)).unwrap();
    let ToPlayer::Welcome(first) = hello(&mut hub, 1, "Ada", &token, None) else { panic!("she has a token") };
    let secret = Some((first.you, first.secret));
    let ToPlayer::Welcome(again) = hello(&mut hub, 2, "Eve", &[], secret) else { panic!("it is her secret") };
    assert!(again.again && again.you == first.you);
    assert_eq!(hub.players().collect::<Vec<_>>(), [(first.you, "Ada")]);
    let came = std::iter::from_fn(|| hub.poll_event()).filter_map(|event| match event {
        HubEvent::Came { name, again, .. } => Some((name, again)),
        _ => None,
    });
    assert_eq!(came.collect::<Vec<_>>(), [("Ada".to_owned(), false), ("Ada".to_owned(), true)]);
    // The first secret was for one time; without a good one it is the token that counts.
    let ToPlayer::Refused(why) = hello(&mut hub, 3, "Eve", &token, secret) else { panic!("it is used up") };
    assert!(why.to_string().contains("for player Ada"), "{why}");
    assert_eq!(hub.players().collect::<Vec<_>>(), [(first.you, "Ada")]);
}
