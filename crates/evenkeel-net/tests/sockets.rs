//! A session over real sockets on this machine: servers, clients, both carriers.

#![allow(clippy::unwrap_used)]

use evenkeel::{EntityId, GlobalTime, Pose, Threshold, Vec3};
use evenkeel_net::hub::{HubConfig, HubEvent};
use evenkeel_net::levels::{Channel, Level, Party};
use evenkeel_net::protocol::{Filter, Refusal};
use evenkeel_net::seat::{SeatConfig, SeatEvent};
use evenkeel_net::transport::{Identity, ListenConfig, Trust};
use evenkeel_net::{Client, ClientConfig, LinkState, ListError, Server, list_sessions};
use std::net::SocketAddr;
use std::time::Duration;

const FORTNIGHT: Duration = Duration::from_secs(14 * 24 * 3600);

fn any_port() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

fn identity() -> Identity {
    Identity::self_made(["localhost", "127.0.0.1"], FORTNIGHT).unwrap()
}

async fn server(address: SocketAddr, identity: &Identity) -> Server {
    Server::start(ListenConfig::new(address, identity.clone()), HubConfig::default()).await.unwrap()
}

fn client(address: SocketAddr, identity: &Identity, name: &str) -> Client {
    let url = format!("https://127.0.0.1:{}/", address.port());
    Client::start(&url, Trust::Hashes(vec![identity.hash()]), SeatConfig::named(name)).unwrap()
}

/// Waits until something is so; gives up after ten seconds.
async fn until(what: &str, mut so: impl FnMut() -> bool) {
    for _ in 0..2_000 {
        if so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("never: {what}");
}

/// Along a line, by the session's time.
fn drive(t: GlobalTime) -> Pose {
    let velocity = Vec3::new(10.0, 0.0, 0.0);
    Pose::at(velocity * t.as_secs_f64()).moving(velocity)
}

/// Tells where a tank is until a viewer sees it there: within its threshold and what 20 ms of clock error make.
async fn follow(owner: &Client, tank: EntityId, viewer: &Client) {
    until("the tank is seen where it is", || {
        let now = owner.now().unwrap();
        owner.observe(tank, drive(now)).unwrap();
        let Ok(seen) = viewer.place(tank) else { return false };
        let there = drive(viewer.now().unwrap()).position();
        seen.position.distance(there) < 0.1 + 0.2
    })
    .await;
}

/// Greets somebody at all levels, until all greetings have arrived: two of them may be lost.
async fn greet(from: &Client, to: &Client) {
    let surely = [Level::Ordered, Level::Unordered, Level::Quickest];
    for level in surely {
        from.send(Party::Everybody, level, b"hello".to_vec()).unwrap();
    }
    let mut heard = Vec::new();
    until("the greetings are heard", || {
        for level in [Level::Unreliable, Level::Newest(Channel(1))].iter().filter(|level| !heard.contains(*level)) {
            from.send(to.you().unwrap(), *level, b"hello".to_vec()).unwrap();
        }
        for event in std::iter::from_fn(|| to.poll_event()) {
            let SeatEvent::Message { from: by, level, bytes } = event else { continue };
            assert_eq!((Some(by), bytes), (from.you(), b"hello".to_vec()));
            assert!(!surely.contains(&level) || !heard.contains(&level), "once");
            heard.push(level);
        }
        let all = [Level::Unreliable, Level::Newest(Channel(1))].into_iter().chain(surely);
        all.into_iter().all(|level| heard.contains(&level))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn players_see_each_other_over_real_sockets() {
    let identity = identity();
    let server = server(any_port(), &identity).await;
    let [ada, ben] = ["Ada", "Ben"].map(|name| client(server.address(), &identity, name));
    until("both are in", || ada.is_ready() && ben.is_ready()).await;
    let tank = ada.make(Threshold::within(0.1), b"a red one".to_vec()).unwrap();
    follow(&ada, tank, &ben).await;
    let mut told = Vec::new();
    until("Ben is told about the tank", || {
        told.extend(std::iter::from_fn(|| ben.poll_event()));
        told.iter().any(|e| matches!(e, SeatEvent::Made(made) if made.about == b"a red one"))
    })
    .await;
    greet(&ada, &ben).await;
    ada.leave().await;
    until("the tank has gone with Ada", || ben.place(tank).is_err()).await;
    assert_eq!(server.with(|hub, _| hub.players().count()), 1);
    server.stop("the test is over").await;
    until("Ben is told", || std::iter::from_fn(|| ben.poll_event()).any(|e| matches!(e, SeatEvent::Ending { .. })))
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_and_restarted_gets_its_players_back() {
    let identity = identity();
    let first = server(any_port(), &identity).await;
    let address = first.address();
    let [ada, ben] = ["Ada", "Ben"].map(|name| client(address, &identity, name));
    until("both are in", || ada.is_ready() && ben.is_ready()).await;
    drop(first);
    until("the port is free", || std::net::UdpSocket::bind(address).is_ok()).await;
    let second = server(address, &identity).await;
    until("both are back", || second.with(|hub, _| hub.players().count()) == 2).await;
    until("they know the time", || ada.is_ready() && ben.is_ready()).await;
    let tank = ada.make(Threshold::within(0.1), Vec::new()).unwrap();
    follow(&ada, tank, &ben).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_sent_away_is_told_why_and_stays_away() {
    let identity = identity();
    let server = server(any_port(), &identity).await;
    let eve = client(server.address(), &identity, "Eve");
    until("she is in", || eve.is_ready()).await;
    for _ in 0..70 {
        eve.make(Threshold::within(0.1), Vec::new()).unwrap();
    }
    let mut told = Vec::new();
    until("she is told", || {
        told.extend(std::iter::from_fn(|| eve.poll_event()));
        told.iter().any(|e| matches!(e, SeatEvent::Refused(why) if why.to_string().contains("more entities")))
    })
    .await;
    until("it is over", || matches!(eve.link(), LinkState::Over { .. })).await;
    assert_eq!(server.with(|hub, _| hub.players().count()), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_udp_is_blocked_a_websocket_carries_the_same() {
    let identity = identity();
    let config = ListenConfig { websocket: Some(any_port()), ..ListenConfig::new(any_port(), identity.clone()) };
    let server = Server::start(config, HubConfig::default()).await.unwrap();
    let ada = client(server.address(), &identity, "Ada");
    let url = format!("wss://127.0.0.1:{}/", server.websocket_address().unwrap().port());
    let ben = Client::start(&url, Trust::Hashes(vec![identity.hash()]), SeatConfig::named("Ben")).unwrap();
    until("both are in", || ada.is_ready() && ben.is_ready()).await;
    let tank = ben.make(Threshold::within(0.1), Vec::new()).unwrap();
    follow(&ben, tank, &ada).await;
    greet(&ben, &ada).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_server_has_several_sessions_and_says_which() {
    let identity = identity();
    let session = |name: &str| HubConfig { session: name.into(), ..HubConfig::default() };
    let listen = || ListenConfig::new(any_port(), identity.clone());
    assert!(Server::start_many(listen(), Vec::new()).await.is_err());
    assert!(Server::start_many(listen(), ["hills", "hills"].map(session).into()).await.is_err());
    let server = Server::start_many(listen(), ["hills", "plains"].map(session).into()).await.unwrap();
    // More than fit into one answer.
    (0..100).for_each(|n| server.add_session(session(&format!("spare {n:03}"))).unwrap());
    let url = format!("https://127.0.0.1:{}/", server.address().port());
    let trust = Trust::Hashes(vec![identity.hash()]);
    let join = |session: &str| {
        let config = SeatConfig { session: session.into(), ..SeatConfig::named("Ada") };
        Client::start(&url, trust.clone(), config).unwrap()
    };
    let [ada, _ben, cy] = ["hills", "plains", "plains"].map(join);
    let nowhere = join("valleys");
    until("those who can be are in", || ada.is_ready() && cy.is_ready()).await;
    until("the one who cannot is told", || {
        std::iter::from_fn(|| nowhere.poll_event()).any(|e| matches!(e, SeatEvent::Refused(Refusal::NoSuchSession)))
    })
    .await;
    until("everybody is where they belong", || {
        server.with(|hub, _| hub.players().count()) == 1
            && server.with_session("plains", |hub, _| hub.players().count()) == Some(2)
    })
    .await;
    assert_eq!(server.with_session("valleys", |_, _| ()), None);
    let all = list_sessions(&url, trust.clone(), Filter::default()).await.unwrap();
    assert_eq!(all, server.sessions());
    assert_eq!(all.len(), 102);
    let plain = Filter { name: "plain".into(), ..Filter::default() };
    let found = list_sessions(&url, trust.clone(), plain.clone()).await.unwrap();
    assert_eq!(found.iter().map(|s| (s.name.as_str(), s.players)).collect::<Vec<_>>(), [("plains", 2)]);
    assert!(server.remove_session("plains", "it rains") && !server.remove_session("hills", "it rains"));
    until("Cy is told", || std::iter::from_fn(|| cy.poll_event()).any(|e| matches!(e, SeatEvent::Ending { .. }))).await;
    assert!(list_sessions(&url, trust, plain).await.unwrap().is_empty());
    assert!(ada.is_ready());
    assert_eq!(server.lobby_counts().listed, 4);
    let stranger = list_sessions(&url, Trust::Hashes(vec![[0; 32]]), Filter::default()).await;
    assert!(matches!(stranger, Err(ListError::Transport(_))), "{stranger:?}");
}

/// Its place would be kept for an hour: it is the farewell that ends it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_drops_its_client_takes_its_entities_along_at_once() {
    let identity = identity();
    let session = HubConfig { rejoin_within: evenkeel::Duration::from_secs(3_600), ..HubConfig::default() };
    let server = Server::start(ListenConfig::new(any_port(), identity.clone()), session).await.unwrap();
    let url = format!("https://127.0.0.1:{}/", server.address().port());
    let config = |name: &str| ClientConfig::new(&url, Trust::Hashes(vec![identity.hash()]), SeatConfig::named(name));
    let started = Client::start_with(config("Ada")).unwrap();
    let spawned = Client::spawn(config("Ben")).unwrap();
    for (client, left) in [(started, 1), (spawned, 0)] {
        until("it is in", || client.is_ready()).await;
        client.make(Threshold::within(0.1), Vec::new()).unwrap();
        until("it has a tank", || server.with(|hub, _| hub.entities().count()) == 1).await;
        drop(client);
        until("the tank is gone", || server.with(|hub, _| hub.entities().count()) == 0).await;
        assert_eq!(server.with(|hub, _| hub.players().count()), left);
    }
    let events: Vec<HubEvent> = server.with(|hub, _| std::iter::from_fn(|| hub.poll_event()).collect());
    let farewell = |event: &&HubEvent| matches!(event, HubEvent::Left { why, .. } if why == "it said farewell");
    assert_eq!(events.iter().filter(farewell).count(), 2, "{events:?}");
}
