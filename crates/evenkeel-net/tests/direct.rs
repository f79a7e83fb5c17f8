//! Players who send to each other directly, over real sockets.

#![allow(clippy::unwrap_used)]

use evenkeel::{EntityId, GlobalTime, HostId, Pose, Threshold, Vec3};
use evenkeel_net::hub::{Asking, HubConfig, Pass};
use evenkeel_net::protocol::{Model, PeerOffer, Refusal, SERVER};
use evenkeel_net::seat::{SeatConfig, SeatEvent};
use evenkeel_net::transport::{Identity, ListenConfig, Trust};
use evenkeel_net::{Client, LinkState, Peer, PeerConfig, Server};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

fn identity() -> Identity {
    Identity::self_made(["127.0.0.1"], Duration::from_secs(86_400)).unwrap()
}

async fn server(model: Model) -> (Server, Identity) {
    let identity = identity();
    let listen = ListenConfig::new("127.0.0.1:0".parse().unwrap(), identity.clone());
    (Server::start(listen, HubConfig { model, ..HubConfig::default() }).await.unwrap(), identity)
}

async fn peer(server: &Server, identity: &Identity, name: &str) -> Peer {
    let trust = Trust::Hashes(vec![identity.hash()]);
    let mut config = PeerConfig::new(&format!("https://{}/", server.address()), trust, SeatConfig::named(name));
    config.address = "127.0.0.1:0".parse().unwrap();
    Peer::start_with(config).await.unwrap()
}

async fn until(what: &str, within: Duration, mut so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < within, "{what} took too long");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn drive(number: usize, t: GlobalTime) -> Pose {
    let x = (t.as_nanos() % 1_000_000_000_000) as f64 / 1e8;
    Pose::at(Vec3::new(x, 5.0 * number as f64, 0.0)).moving(Vec3::new(10.0, 0.0, 0.0))
}

/// Everybody drives until everybody sees everybody where they are; time runs backwards for nobody.
async fn see_each_other(peers: &[&Client], tanks: &[EntityId], within: Duration) {
    let start = Instant::now();
    let mut shown = vec![None; peers.len()];
    loop {
        for (number, (peer, tank)) in peers.iter().zip(tanks).enumerate() {
            let time = peer.now();
            assert!(time >= shown[number], "time runs backwards");
            shown[number] = time;
            peer.observe(*tank, drive(number, time.unwrap())).unwrap();
        }
        let off = |viewer: &&Client, owner: usize| {
            let seen = viewer.place(tanks[owner]).map(|placed| placed.position);
            seen.map_or(f64::MAX, |seen| seen.distance(drive(owner, peers[owner].now().unwrap()).position()))
        };
        let pairs = (0..peers.len()).flat_map(|viewer| (0..peers.len()).map(move |owner| (viewer, owner)));
        let worst = pairs.filter(|(v, o)| v != o).map(|(v, o)| off(&peers[v], o)).fold(0.0, f64::max);
        if worst < 0.25 {
            return;
        }
        assert!(start.elapsed() < within, "{worst} m off after {within:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn peers_play_directly_and_on_when_their_host_and_the_server_are_killed() {
    let (server, identity) = server(Model::PeerToPeer).await;
    let mut peers = Vec::new();
    for name in ["Ada", "Ben", "Cy"] {
        peers.push(peer(&server, &identity, name).await);
    }
    let all_linked = |peers: &[Peer]| peers.iter().all(|peer| peer.linked().len() == peers.len() - 1);
    until("linking", Duration::from_secs(5), || all_linked(&peers)).await;
    until("the clocks", Duration::from_secs(5), || peers.iter().all(|peer| peer.is_ready())).await;
    let mut tanks: Vec<EntityId> =
        peers.iter().map(|peer| peer.make(Threshold::within(0.1), Vec::new()).unwrap()).collect();
    let clients: Vec<&Client> = peers.iter().map(|peer| &**peer).collect();
    see_each_other(&clients, &tanks, Duration::from_secs(5)).await;
    let counts = server.with(|hub, _| hub.counts());
    assert_eq!((counts.relayed, counts.passed_on), (0, 0), "the server hears no vector");

    // The host, whose clock was the session's, is killed without a word.
    let leader = peers[1].with(|seat, _| seat.leader()).unwrap();
    let at = peers.iter().position(|peer| peer.you() == Some(leader)).unwrap();
    drop(peers.remove(at));
    tanks.remove(at);
    let clients: Vec<&Client> = peers.iter().map(|peer| &**peer).collect();
    see_each_other(&clients, &tanks, Duration::from_secs(2)).await;
    let led = |client: &&Client| client.with(|seat, _| seat.leader());
    until("another leads", Duration::from_secs(6), || {
        let leaders: Vec<Option<HostId>> = clients.iter().map(led).collect();
        leaders[0] == leaders[1] && leaders[0] != Some(leader)
    })
    .await;
    see_each_other(&clients, &tanks, Duration::from_secs(2)).await;

    // Then the server.
    drop(server);
    tokio::time::sleep(Duration::from_millis(500)).await;
    see_each_other(&clients, &tanks, Duration::from_secs(2)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_and_peers_share_a_hybrid_session() {
    let (server, identity) = server(Model::Hybrid).await;
    let (ada, ben) = (peer(&server, &identity, "Ada").await, peer(&server, &identity, "Ben").await);
    let trust = Trust::Hashes(vec![identity.hash()]);
    let cy = Client::start(&format!("https://{}/", server.address()), trust, SeatConfig::named("Cy")).unwrap();
    until("linking", Duration::from_secs(5), || ada.linked().len() == 1 && ben.linked().len() == 1).await;
    let clients = [&*ada, &*ben, &cy];
    until("the clocks", Duration::from_secs(5), || clients.iter().all(|client| client.is_ready())).await;
    let tanks: Vec<EntityId> =
        clients.iter().map(|client| client.make(Threshold::within(0.1), Vec::new()).unwrap()).collect();
    see_each_other(&clients, &tanks, Duration::from_secs(5)).await;
    assert_eq!(ada.with(|seat, _| seat.leader()), Some(SERVER));
    assert!(server.with(|hub, _| hub.counts().relayed) > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_was_not_sent_by_the_server_is_not_listened_to() {
    let (server, identity) = server(Model::PeerToPeer).await;
    let (ada, ben) = (peer(&server, &identity, "Ada").await, peer(&server, &identity, "Ben").await);
    until("linking", Duration::from_secs(5), || ada.linked().len() == 1).await;
    // Somebody who knows the address and Ben's number, but not the ticket.
    let config = evenkeel_net::transport::ConnectConfig::new(Trust::Hashes(vec![ada.certificate()]));
    let url = format!("https://{}/peer/{}/0123456789abcdef", ada.address(), ben.you().unwrap().0);
    let stranger = evenkeel_net::transport::connect_with(&url, &config).await.unwrap();
    let closed = tokio::time::timeout(Duration::from_secs(3), stranger.closed()).await.unwrap();
    assert!(closed.to_string().contains("the server has not sent you"), "{closed}");
    assert_eq!(ada.linked().len(), 1);
}

/// Until a peer is in a session in which it is new, and has reached somebody there.
async fn linked_anew(peer: &Peer) {
    let (mut new, mut linked) = (false, false);
    until("linking anew", Duration::from_secs(15), || {
        for event in std::iter::from_fn(|| peer.poll_event()) {
            match event {
                SeatEvent::Welcome { again, .. } => (new, linked) = (!again, false),
                SeatEvent::Linked { directly, .. } => linked = directly,
                _ => {}
            }
        }
        new && linked
    })
    .await;
}

/// A restarted server gives numbers anew. Whether they are the old ones or others, players reach each other directly again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_are_made_anew_with_a_new_session() {
    let identity = identity();
    let start = async |address: SocketAddr, first: &'static str| {
        let mut here = false;
        // Whoever is to be the second is told to come again.
        let gate = Box::new(move |asking: &Asking<'_>| {
            here |= asking.name == first;
            if here { Ok(Pass::with_entities(4)) } else { Err(Refusal::Full) }
        });
        // Until the port is free again.
        until("the port", Duration::from_secs(5), || std::net::UdpSocket::bind(address).is_ok()).await;
        let session = HubConfig { model: Model::PeerToPeer, gate, ..HubConfig::default() };
        Server::start(ListenConfig::new(address, identity.clone()), session).await.unwrap()
    };
    let mut server = start("127.0.0.1:0".parse().unwrap(), "Ada").await;
    let address = server.address();
    let (ada, ben) = (peer(&server, &identity, "Ada").await, peer(&server, &identity, "Ben").await);
    linked_anew(&ada).await;
    linked_anew(&ben).await;
    for (first, numbers) in [("Ada", [1, 2]), ("Ben", [2, 1])] {
        drop(server);
        server = start(address, first).await;
        linked_anew(&ada).await;
        linked_anew(&ben).await;
        assert_eq!([ada.you(), ben.you()], numbers.map(|number| Some(HostId(number))));
    }
}

/// What is dropped hangs up, also where nobody has anything to say: the server, and then a peer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_dropped_hangs_up_on_the_silent_too() {
    let (server, identity) = server(Model::PeerToPeer).await;
    let (ada, ben) = (peer(&server, &identity, "Ada").await, peer(&server, &identity, "Ben").await);
    linked_anew(&ada).await;
    linked_anew(&ben).await;
    drop(server);
    let away = |peer: &Peer| peer.link() != LinkState::Connected;
    until("the server has gone", Duration::from_secs(5), || away(&ada) && away(&ben)).await;
    assert_eq!(ada.linked().len(), 1);
    drop(ben);
    until("Ben has gone", Duration::from_secs(5), || ada.linked().is_empty()).await;
}

/// Whoever does not answer is dialled again, several times: each attempt is another connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_way_that_does_not_open_at_first_is_tried_again() {
    let (server, identity) = server(Model::Hybrid).await;
    let deaf = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let offer = PeerOffer { certificate: [9; 32], addresses: vec![deaf.local_addr().unwrap()] };
    let seat = SeatConfig { peer: Some(offer), ..SeatConfig::named("Ben") };
    let trust = Trust::Hashes(vec![identity.hash()]);
    let _ben = Client::start(&format!("https://{}/", server.address()), trust, seat).unwrap();
    let ada = peer(&server, &identity, "Ada").await;
    let three = async {
        let (mut attempts, mut buffer) = (BTreeSet::new(), [0; 2_000]);
        while attempts.len() < 3 {
            let (length, from) = deaf.recv_from(&mut buffer).await.unwrap();
            assert_eq!(from, ada.address());
            // As QUIC's first packets have it: flags, version, and the name of the connection after its length.
            if let [0x80..=0xff, _, _, _, _, length, rest @ ..] = &buffer[..length] {
                attempts.insert(rest[..usize::from(*length)].to_vec());
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), three).await.unwrap();
}
