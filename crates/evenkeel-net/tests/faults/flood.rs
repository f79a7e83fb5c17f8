//! Handshakes by the thousand from one address.

use crate::arena::{Arena, Game, ms};
use evenkeel_net::hub::HubConfig;
use evenkeel_net::transport::{ConnectConfig, connect_with};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long the flood lasts.
const FLOOD: Duration = Duration::from_secs(3);

/// No packet of a handshake is longer, in bytes.
const LONGEST: usize = 1_200;

/// First packets of handshakes, each of another: what clients send to somebody who never answers.
async fn initials(arena: &Arena, count: usize) -> Vec<Vec<u8>> {
    let sink = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/", sink.local_addr().unwrap());
    let config = ConnectConfig { timeout: ms(500), ..ConnectConfig::new(arena.trust()) };
    let mut packets = Vec::new();
    let mut buffer = [0; 2_000];
    while packets.len() < count {
        let (url, config) = (url.clone(), config.clone());
        let dialling = tokio::spawn(async move { drop(connect_with(&url, &config).await) });
        let length = tokio::time::timeout(Duration::from_secs(5), sink.recv(&mut buffer)).await.unwrap().unwrap();
        packets.push(buffer[..length].to_vec());
        dialling.abort();
    }
    packets
}

/// What somebody gets who sends one first packet and says nothing more: bytes sent, and bytes received.
fn amplification(server: SocketAddr, initial: &[u8]) -> (usize, usize) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(ms(1_200))).unwrap();
    socket.send_to(initial, server).unwrap();
    let (mut received, mut buffer) = (0, [0; 2_000]);
    let start = Instant::now();
    while start.elapsed() < ms(2_500) {
        let Ok((length, from)) = socket.recv_from(&mut buffer) else { break };
        // Somebody else may not have noticed yet that the port is another's now.
        received += if from == server { length } else { 0 };
    }
    (initial.len(), received)
}

pub async fn no_more_is_answered_than_was_asked_before_the_asker_is_known() -> String {
    let mut measured = Vec::new();
    for retry in [true, false] {
        let arena = Arena::start(HubConfig::default(), |listen| listen.retry = retry).await;
        let mut game = Game::of(arena.players(3), Vec::new()).await;
        let initial = initials(&arena, 1).await.remove(0);
        let address = arena.address;
        let asking = tokio::task::spawn_blocking(move || amplification(address, &initial));
        let (sent, received) = game.beside(asking).await.unwrap();
        // As a server is set up unless told otherwise, a fraction. Without a retry QUIC's own bound holds, which is three
        // times as much, but the library in use lets the last packet begin as long as there is anything left of that.
        let most = if retry { sent } else { 3 * sent + LONGEST };
        assert!(received > 0 && received <= most, "{received} bytes for {sent}");
        game.play_exactly(ms(500)).await;
        measured.push(format!("{received} bytes for {sent}"));
    }
    format!("with a retry {}, without {}", measured[0], measured[1])
}

pub async fn a_flood_of_handshakes_keeps_nobody_from_playing() -> String {
    let arena = Arena::start(HubConfig::default(), |_| {}).await;
    let mut game = Game::of(arena.players(3), Vec::new()).await;
    let (packets, address) = (initials(&arena, 64).await, arena.address);
    let (over, thrown) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let flood = std::thread::spawn({
        let (over, thrown) = (over.clone(), thrown.clone());
        move || {
            let sockets: Vec<UdpSocket> = (0..32).map(|_| UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
            let start = Instant::now();
            while !over.load(Ordering::Relaxed) {
                // As many as should have been sent by now, at 1,500 a second.
                while thrown.load(Ordering::Relaxed) < (start.elapsed().as_secs_f64() * 1_500.0) as u64 {
                    let n = thrown.fetch_add(1, Ordering::Relaxed) as usize;
                    let _ = sockets[n % sockets.len()].send_to(&packets[n % packets.len()], address);
                }
                std::thread::sleep(ms(2));
            }
        }
    });
    // And some who mean it: they answer, and so get as far as the limit for their address lets them.
    let (let_in, refused) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let start = Instant::now();
    let knocking: Vec<_> = (0..4)
        .map(|_| {
            let (url, config) = (arena.url(), ConnectConfig::new(arena.trust()));
            let (let_in, refused) = (let_in.clone(), refused.clone());
            tokio::spawn(async move {
                while start.elapsed() < FLOOD {
                    match connect_with(&url, &config).await {
                        Ok(_) => let_in.fetch_add(1, Ordering::Relaxed),
                        Err(_) => refused.fetch_add(1, Ordering::Relaxed),
                    };
                    tokio::time::sleep(ms(5)).await;
                }
            })
        })
        .collect();
    game.play_exactly(FLOOD).await;
    for task in knocking {
        game.beside(task).await.unwrap();
    }
    let lasted = start.elapsed().as_secs_f64();
    over.store(true, Ordering::Relaxed);
    flood.join().unwrap();
    let per_second = thrown.load(Ordering::Relaxed) as f64 / lasted;
    let (let_in, refused) = (let_in.load(Ordering::Relaxed), refused.load(Ordering::Relaxed));
    assert!(per_second > 1_000.0, "{per_second} handshakes a second");
    // 32 at once, and four a second: the limit per source.
    assert!(let_in as f64 <= 33.0 + 4.0 * lasted, "{let_in} in {lasted} s");
    assert!(refused > 10, "{refused}");
    let counted = game.beside(arena.server().report()).await.handshakes_refused;
    assert!(counted >= refused, "{counted} of {refused}");
    // Somebody from the same address gets in afterwards.
    let after = Instant::now();
    game.players.push(arena.player(4));
    let took = game.until_exact(after, Duration::from_secs(8)).await;
    game.play_exactly(ms(1_000)).await;
    arena.assert_owned(&game);
    let (per_second, took) = (per_second as u64, took.as_millis());
    format!(
        "exact all the time at {per_second} handshakes a second, {let_in} let in and {refused} refused by the limit; \
         another player in and exact after {took} ms"
    )
}
