//! Peers who cannot reach each other.

use crate::arena::{Arena, Game, Link, Player, conditions, loopback, ms};
use evenkeel_net::hub::HubConfig;
use evenkeel_net::protocol::{Model, PeerOffer};
use evenkeel_net::transport::Conditioner;
use evenkeel_net::{Client, Peer};
use std::net::UdpSocket;
use std::time::Duration;

fn links(player: &Player) -> usize {
    match &player.link {
        Link::Peer(peer) => Peer::linked(peer).len(),
        Link::Client(_) => 0,
    }
}

pub async fn peers_who_cannot_reach_each_other_are_passed_on() -> String {
    let arena = Arena::start(HubConfig { model: Model::PeerToPeer, ..HubConfig::default() }, |_| {}).await;
    let second = UdpSocket::bind(loopback()).unwrap().local_addr().unwrap();
    // Nothing passes between the first two, either way.
    let wall = Conditioner::new(4);
    wall.set(second, conditions("loss=100%"), conditions("loss=100%")).unwrap();
    let mut players = vec![arena.peer(1, |config| config.client.connect.conditioner = Some(wall.clone())).await];
    players.push(arena.peer(2, |config| config.address = second).await);
    players.push(arena.peer(3, |_| {}).await);
    // The fourth says that it can be reached where the third is, by a certificate that nobody there has.
    let Link::Peer(third) = &players[2].link else { unreachable!() };
    let mut config = arena.client(4);
    config.seat.peer = Some(PeerOffer { certificate: [4; 32], addresses: vec![third.address()] });
    players.push(Player::new(Link::Client(Client::start_with(config).unwrap()), 4));
    let mut game = Game::of(players, Vec::new()).await;
    game.play_exactly(Duration::from_secs(4)).await;
    let linked: Vec<usize> = game.players.iter().map(links).collect();
    assert_eq!(linked, [1, 1, 2, 0]);
    let counts = arena.server().with(|hub, _| hub.counts());
    assert!(counts.passed_on > 50 && counts.relayed == 0, "{counts:?}");
    assert!(wall.statistics().lost > 0);
    // The wall falls: they find each other by themselves, and nobody notices.
    wall.clear(second);
    game.play_exactly(ms(1_000)).await;
    arena.assert_owned(&game);
    format!("exact all the time; {} datagrams passed on unread", counts.passed_on)
}
