//! Processes that are killed without a word.

use crate::arena::{Arena, Game, Link, Player, SPEED, WITHIN, identity, loopback, ms};
use crate::child::{Process, hex};
use evenkeel::HostId;
use evenkeel_net::hub::HubConfig;
use evenkeel_net::protocol::Model;
use evenkeel_net::seat::SeatEvent;
use std::net::UdpSocket;
use std::path::PathBuf;
use std::time::{Duration, Instant};

pub async fn a_client_is_killed_and_its_tank_goes_when_its_time_is_up() -> String {
    let (idle, rejoin) = (ms(2_000), ms(1_500));
    let hub = HubConfig { rejoin_within: evenkeel::Duration::from_millis(1_500), ..HubConfig::default() };
    let arena = Arena::start(hub, |listen| (listen.idle_timeout, listen.keep_alive) = (idle, ms(500))).await;
    let mut victim = Process::start(&format!("client {} {} 9", arena.url(), hex(arena.identity.hash())));
    let mut game = Game::of(arena.players(3), vec![9]).await;
    victim.kill();
    let killed = Instant::now();
    game.strangers.clear();
    // At once, and not only in two seconds.
    game.play_exactly(ms(1_200)).await;
    assert!(game.players.iter().all(|player| player.known.values().any(|number| *number == 9)), "it may come back");
    let gone = |game: &mut Game| game.players.iter().all(|p| !p.known.values().any(|number| *number == 9));
    game.until("its tank is gone", idle + rejoin + ms(2_000), gone).await;
    let took = killed.elapsed();
    assert!(took > rejoin, "{took:?}");
    let left = |e: &SeatEvent| matches!(e, SeatEvent::Left { why, .. } if why.contains("connection was lost"));
    game.until("all are told", ms(500), |game| game.players.iter().all(|p| p.events.iter().any(left))).await;
    game.play_exactly(ms(1_000)).await;
    arena.assert_owned(&game);
    format!("exact all the time; its tank went after {} ms", took.as_millis())
}

/// A server in a process of its own, and how to start it again.
struct Killable {
    arena: Arena,
    role: String,
    file: PathBuf,
}

impl Killable {
    fn new(name: &str) -> Self {
        let identity = identity();
        let file = std::env::temp_dir().join(format!("evenkeel-faults-{name}-{}", std::process::id()));
        identity.save(&file).unwrap();
        let address = UdpSocket::bind(loopback()).unwrap().local_addr().unwrap();
        let role = format!("server {address} {} client-server", file.display());
        Self { arena: Arena { identity, address, server: None }, role, file }
    }

    async fn start(&self) -> Process {
        let process = Process::start(&self.role);
        process.says("ready").await;
        process
    }
}

impl Drop for Killable {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}

fn is_in_again(player: &Player) -> bool {
    player.events.iter().filter(|event| matches!(event, SeatEvent::Welcome { .. })).count() == 2
}

pub async fn the_server_is_killed_and_restarted() -> String {
    let server = Killable::new("restarted");
    let mut first = server.start().await;
    let mut game = Game::of(server.arena.players(3), Vec::new()).await;
    first.kill();
    game.play(ms(1_000)).await;
    let _second = game.beside(server.start()).await;
    let since = Instant::now();
    game.until("everybody is in again", WITHIN, |game| game.players.iter().all(is_in_again)).await;
    let measured = game.recover(since).await;
    game.play_exactly(ms(2_000)).await;
    measured
}

pub async fn the_server_is_down_for_longer_than_connections_last() -> String {
    let server = Killable::new("down");
    let mut first = server.start().await;
    let players = (1..=3).map(|number| {
        let mut config = server.arena.client(number);
        (config.connect.idle_timeout, config.connect.keep_alive) = (ms(1_500), ms(300));
        let client = evenkeel_net::Client::start_with(config).unwrap();
        Player::new(Link::Client(client), number)
    });
    let mut game = Game::of(players.collect(), Vec::new()).await;
    first.kill();
    game.play(ms(6_000)).await;
    let lost = |e: &SeatEvent| matches!(e, SeatEvent::Lost { .. });
    assert!(game.players.iter().all(|player| player.events.iter().any(lost)), "everybody has noticed");
    let _second = game.beside(server.start()).await;
    let since = Instant::now();
    game.until("everybody is in again", WITHIN, |game| game.players.iter().all(is_in_again)).await;
    let measured = game.recover(since).await;
    game.play_exactly(ms(2_000)).await;
    measured
}

pub async fn the_host_of_peers_is_killed_and_another_leads() -> String {
    let rejoin_within = evenkeel::Duration::from_millis(1_000);
    let hub = HubConfig { model: Model::PeerToPeer, rejoin_within, ..HubConfig::default() };
    let arena = Arena::start(hub, |_| {}).await;
    let role = format!("peer {} {} 9 127.0.0.1:0", arena.url(), hex(arena.identity.hash()));
    let mut host = Process::start(&role);
    host.says("ready").await;
    let mut players = Vec::new();
    for number in 1..=3 {
        players.push(arena.peer(number, |_| {}).await);
    }
    let mut game = Game::of(players, vec![9]).await;
    let leaders = |game: &Game| -> Vec<Option<HostId>> {
        game.players.iter().map(|player| player.link.with(|seat, _| seat.leader())).collect()
    };
    let led = leaders(&game)[0];
    assert_eq!(leaders(&game), vec![led; 3]);
    assert!(game.players.iter().all(|player| player.link.you() != led), "the other process leads");
    let before: Vec<_> = game.players.iter().map(|player| player.link.now().unwrap()).collect();
    host.kill();
    let killed = Instant::now();
    game.strangers.clear();
    let mut took = None;
    while killed.elapsed() < Duration::from_secs(7) {
        game.play_exactly(ms(100)).await;
        let now = leaders(&game);
        if took.is_none() && now[0] != led && now == vec![now[0]; 3] {
            took = Some(killed.elapsed());
        }
    }
    let took = took.expect("another leads");
    for (player, before) in game.players.iter().zip(before) {
        // Time went on at its own pace all the while.
        let passed = player.link.now().unwrap().since(before).as_secs_f64();
        assert!((passed - killed.elapsed().as_secs_f64()).abs() < 0.02, "{passed} s");
        assert!(!player.known.values().any(|number| *number == 9), "its tank is gone");
    }
    assert_eq!(arena.server().with(|hub, _| hub.counts().relayed), 0);
    arena.assert_owned(&game);
    format!("exact all the time ({SPEED} m/s); another led after {} ms", took.as_millis())
}
