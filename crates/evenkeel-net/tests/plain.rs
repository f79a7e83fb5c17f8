//! What a game programmer relies on first: a game without tokio, and being told what is wrong.

#![allow(clippy::unwrap_used)]

mod common;

use common::{World, ms};
use evenkeel::{Duration, EntityId, HostId, Pose, Threshold, Vec3};
use evenkeel_net::hub::{Asking, HubConfig, HubEvent, Pass};
use evenkeel_net::levels::Level;
use evenkeel_net::protocol::{Filter, Model, Refusal, SERVER, ToPlayer, VERSION, Welcome, encode};
use evenkeel_net::seat::{SeatConfig, SeatEvent};
use evenkeel_net::transport::{Error, Identity, ListenConfig, Listener, Trust};
use evenkeel_net::{Client, ClientConfig, LinkState, Server, ServerConfig, StartError, list_sessions_blocking};

fn identity() -> Identity {
    Identity::self_made(["127.0.0.1"], std::time::Duration::from_secs(24 * 3600)).unwrap()
}

fn listen(identity: &Identity) -> ListenConfig {
    ListenConfig::new("127.0.0.1:0".parse().unwrap(), identity.clone())
}

fn serve(identity: &Identity, session: HubConfig) -> (Server, String) {
    let server = Server::spawn(ServerConfig::new(listen(identity), session)).unwrap();
    let url = format!("https://{}/", server.address());
    (server, url)
}

fn join(url: &str, trusted: [u8; 32], name: &str) -> Client {
    Client::spawn(ClientConfig::new(url, Trust::Hashes(vec![trusted]), SeatConfig::named(name))).unwrap()
}

/// Asks until there is an answer; gives up after half a minute.
fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    for _ in 0..6_000 {
        if let Some(answer) = ask() {
            return answer;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("never: {what}");
}

#[test]
fn a_game_without_tokio_comes_and_goes() {
    let identity = identity();
    let (server, url) = serve(&identity, HubConfig::default());
    let listed = list_sessions_blocking(&url, Trust::Hashes(vec![identity.hash()]), Filter::default()).unwrap();
    assert_eq!(listed[0].name, "main");

    let (ada, ben) = (join(&url, identity.hash(), "Ada"), join(&url, identity.hash(), "Ben"));
    wait_for("both are in", || (ada.is_ready() && ben.is_ready()).then_some(()));
    let number = ada.you().unwrap();
    server.send(number, Level::Ordered, b"only you".to_vec()).unwrap();
    server.broadcast(Level::Ordered, b"all of you").unwrap();
    let heard = |client: &Client| {
        wait_for("the server is heard", || match client.poll_event()? {
            SeatEvent::Message { from: SERVER, bytes, .. } => Some(bytes),
            _ => None,
        })
    };
    assert_eq!([heard(&ada), heard(&ada), heard(&ben)].map(|bytes| bytes.len()), [8, 10, 10]);

    // Whoever leaves has said so when it has left: the program may end.
    ada.leave_blocking();
    let why = wait_for("she left", || match server.poll_event()? {
        HubEvent::Left { host, why } if host == number => Some(why),
        _ => None,
    });
    assert_eq!(why, "it said farewell");
    server.stop_blocking("that was all");
    let why = wait_for("it ended", || match ben.poll_event()? {
        SeatEvent::Ending { why } => Some(why),
        _ => None,
    });
    assert_eq!(why, "that was all");
}

#[test]
fn whoever_drops_its_client_is_gone_at_once() {
    let identity = identity();
    let (server, url) = serve(&identity, HubConfig { rejoin_within: Duration::from_secs(600), ..HubConfig::default() });
    let ada = join(&url, identity.hash(), "Ada");
    wait_for("she is in", || ada.is_ready().then_some(()));
    drop(ada);
    wait_for("she left", || server.with(|hub, _| hub.players().count() == 0).then_some(()));
}

#[test]
fn what_can_never_work_is_an_error_at_once() {
    let start = |url: &str, trust| Client::spawn(ClientConfig::new(url, trust, SeatConfig::named("Ada"))).err();
    for url in ["", "127.0.0.1:4433", "http://127.0.0.1:4433/", "https://:4433/", "https://a b/"] {
        let refused = start(url, Trust::Hashes(vec![[0; 32]]));
        assert!(matches!(refused, Some(StartError::Transport(Error::Url(_)))), "{url}: {refused:?}");
    }
    let refused = start("https://127.0.0.1:4433/", Trust::Certificates("no certificate".into()));
    assert!(matches!(refused, Some(StartError::Transport(Error::Certificate(_)))), "{refused:?}");
}

#[test]
fn trouble_says_what_to_do() {
    let identity = identity();
    let says = |client: &Client, what: &str| {
        wait_for(what, || client.trouble().filter(|trouble| trouble.contains(what)));
    };
    // Nobody is there. A socket that answers nothing, so that nobody else is either.
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let client = join(&format!("https://{}/", silent.local_addr().unwrap()), identity.hash(), "Ada");
    says(&client, "check the address, and that UDP gets through");
    assert!(matches!(client.link(), LinkState::Connecting { .. }), "it goes on trying");

    // Somebody else is there.
    let (_server, url) = serve(&identity, HubConfig::default());
    let client = join(&url, [7; 32], "Ada");
    says(&client, "ask its operator for the present hash");
    assert!(matches!(client.link(), LinkState::Connecting { .. }), "it goes on trying");

    // Somebody of another version is there.
    let newer = |_: &Asking<'_>| -> Result<Pass, Refusal> { Err(Refusal::Version { ours: VERSION + 1 }) };
    let (_server, url) = serve(&identity, HubConfig { gate: Box::new(newer), ..HubConfig::default() });
    let client = join(&url, identity.hash(), "Ada");
    says(&client, "update the older one");
    assert!(matches!(client.link(), LinkState::Over { .. }), "there is no use in trying");
}

#[tokio::test]
async fn a_welcome_that_cannot_be_used_is_no_secret() {
    let identity = identity();
    let listener = Listener::bind(listen(&identity)).await.unwrap();
    let client = join(&format!("https://{}/", listener.local_address()), identity.hash(), "Ada");
    let strange = Welcome {
        you: HostId(1),
        secret: 1,
        agreement: vec![255; 3],
        model: Model::ClientServer,
        peers_policy: ("base".into(), String::new()),
        leader: SERVER,
        again: false,
    };
    let connection = listener.accept().await.unwrap();
    connection.send_message(encode(&ToPlayer::Welcome(Box::new(strange))).unwrap()).unwrap();
    let told = tokio::task::spawn_blocking(move || {
        wait_for("it says so", || client.trouble().filter(|trouble| trouble.contains("welcome cannot be used")))
    });
    told.await.unwrap();
}

#[test]
fn the_server_learns_who_is_away_and_who_is_back() {
    let mut world = World::new(HubConfig::default());
    world.join(SeatConfig::named("Ada"), 20);
    world.run(500, |_| {});
    let ada = HostId(1);
    assert!(world.hub.is_connected(ada) && !world.hub.is_connected(HostId(2)));
    let (lost, now) = (world.guests[0].connection, world.now);
    world.guests[0].linked = false;
    world.hub.handle_disconnected(lost, now);
    world.hub_events.clear();
    world.run(500, |_| {});
    assert_eq!(world.hub_events, [HubEvent::Lost { host: ada }]);
    assert!(!world.hub.is_connected(ada) && world.hub.players().count() == 1, "its place is kept");
    world.reconnect(0);
    world.hub_events.clear();
    world.run(500, |_| {});
    assert_eq!(world.hub_events, [HubEvent::Came { host: ada, name: "Ada".into(), again: true }]);
    assert!(world.hub.is_connected(ada));
}

/// What a player was shown of a moving ball so long ago, in a session that remembers for so long.
fn remembered(history: Duration, ago: Duration) -> bool {
    let mut world = World::new(HubConfig { history, ..HubConfig::default() });
    world.join(SeatConfig::named("Ada"), 20);
    let now = world.now;
    let ball: EntityId = world.hub.make(Threshold::within(0.1), Vec::new(), now).unwrap();
    world.run(9_000, |world| {
        let (now, phase) = (world.now, (world.now.as_nanos() % 1_000_000_000) as f64 / 1e9);
        let (x, v) = if phase < 0.5 { (10.0 * phase, 10.0) } else { (10.0 * (1.0 - phase), -10.0) };
        world.hub.observe(ball, Pose::at(Vec3::new(x, 0.0, 0.0)).moving(Vec3::new(v, 0.0, 0.0)), now).unwrap();
    });
    let then = world.hub.now(world.now) - ago;
    world.hub.seen_by(HostId(1), ball, then).unwrap().is_some()
}

#[test]
fn what_was_seen_is_remembered_for_as_long_as_is_wanted() {
    assert!(remembered(HubConfig::default().history, ms(1_500)));
    assert!(!remembered(HubConfig::default().history, ms(6_000)));
    assert!(remembered(ms(7_000), ms(6_000)));
}
