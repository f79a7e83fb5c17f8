//! What strangers, broken clients and broken servers do. It is logged, it costs at most the connection that it came by, and the others
//! play on.

use crate::world::{Peer, Player, World, config, message, received, server_sockets, soon, update};
use evenkeel_bzflag::ServiceConfig;
use evenkeel_bzflag::message::{CLIENT_HELLO, Code, LagPing, MAX_PAYLOAD, TankUpdate};
use std::time::Duration;
use tokio::net::{TcpListener, UdpSocket};

/// A world with a player in it, who is to notice nothing.
async fn world_with_ada() -> (World, Player) {
    let world = World::new(config()).await;
    let ada = world.join(0, "Ada").await;
    (world, ada)
}

fn nan(player: u8) -> Vec<u8> {
    let mut bytes = update(&TankUpdate::of(player));
    bytes[4 + 11..][..4].copy_from_slice(&f32::NAN.to_be_bytes());
    bytes
}

fn short(player: u8) -> Vec<u8> {
    message(Code::TANK_UPDATE, &update(&TankUpdate::of(player))[4..20])
}

#[tokio::test]
async fn garbage_instead_of_a_hello() {
    let (world, mut ada) = world_with_ada().await;
    let mut stranger = world.client().await;
    let mut far = world.accept().await;
    stranger.send(b"GET / HTTP/1.1\r\n\r\n").await;
    assert_eq!(stranger.rest().await, []);
    assert_eq!(far.rest().await, [], "the server hears nothing of it");
    world.logged("this is not how the game begins").await;
    world.plays_on(&mut ada).await;
}

#[tokio::test]
async fn frames_before_the_welcome() {
    let (world, mut ada) = world_with_ada().await;
    let mut hasty = world.client().await;
    let mut far = world.accept().await;
    hasty.send(&[CLIENT_HELLO, &message(Code::MESSAGE, b"me first")[..]].concat()).await;
    hasty.is_closed().await;
    far.is_closed().await;
    world.logged("before it is greeted").await;
    world.plays_on(&mut ada).await;
}

#[tokio::test]
async fn a_frame_that_is_too_long() {
    let (world, mut ada) = world_with_ada().await;
    let too_long = [(MAX_PAYLOAD as u16 + 1).to_be_bytes(), *b"mg"].concat();
    for by_the_server in [false, true] {
        let Player { mut near, mut far, .. } = world.join(1, "Bob").await;
        // What came before it was good.
        let sent = [&message(Code::MESSAGE, b"good")[..], &too_long].concat();
        if by_the_server {
            far.send(&sent).await;
            near.expect(Code::MESSAGE, b"good").await;
        } else {
            near.send(&sent).await;
            far.expect(Code::MESSAGE, b"good").await;
        }
        near.is_closed().await;
        far.is_closed().await;
        world.logged("claims 1021 bytes").await;
        world.plays_on(&mut ada).await;
    }
}

#[tokio::test]
async fn updates_that_cannot_be_read() {
    let (world, mut ada) = world_with_ada().await;
    for (bad, said) in [(nan(1), "the position at byte 11 is not a finite number"), (short(1), "takes")] {
        let mut bob = world.join(1, "Bob").await;
        // A datagram may be anybody's: it is dropped, and that is all.
        world.send_up(&bob, &bad).await;
        world.logged(said).await;
        world.plays_on(&mut bob).await;
        // What the server passes on is somebody else's fault: nobody sees it, and nobody is closed.
        world.send_down(&bob, &bad).await;
        world.plays_on(&mut bob).await;
        ada.far.send(&bad).await;
        world.plays_on(&mut ada).await;
        // A stream is the client's own.
        bob.near.send(&bad).await;
        bob.near.is_closed().await;
        assert_eq!(bob.far.next_or_end().await, None);
        world.plays_on(&mut ada).await;
    }
}

#[tokio::test]
async fn an_update_about_the_tank_of_another() {
    let (world, mut ada) = world_with_ada().await;
    let mut bob = world.join(1, "Bob").await;
    let about_ada = update(&TankUpdate { position: [9.0; 3], ..TankUpdate::of(ada.number) });
    world.send_up(&bob, &about_ada).await;
    bob.near.send(&about_ada).await;
    world.logged("an update about somebody else's tank").await;
    // Neither came through before this.
    world.plays_on(&mut bob).await;
    world.plays_on(&mut ada).await;
}

#[tokio::test]
async fn answers_to_pings_that_nobody_sent() {
    let (world, mut ada) = world_with_ada().await;
    let mut bob = world.join(1, "Bob").await;
    let mut bytes = Vec::new();
    for number in [0x8000, 0xffff, 0x8123, 0x8000] {
        LagPing(number).emit(&mut bytes);
    }
    bob.near.send(&bytes).await;
    world.send_up(&bob, &bytes).await;
    // The server's own are between it and the client.
    bob.near.send(&message(Code::LAG_PING, &[0, 7])).await;
    bob.far.expect(Code::LAG_PING, &[0, 7]).await;
    // One that does not read is no ping of ours.
    bob.near.send(&message(Code::LAG_PING, &[0xff])).await;
    bob.far.expect(Code::LAG_PING, &[0xff]).await;
    world.plays_on(&mut bob).await;
    world.plays_on(&mut ada).await;
}

#[tokio::test]
async fn a_client_that_says_nothing() {
    let handshake = evenkeel::Duration::from_millis(300);
    let world = World::new(ServiceConfig { handshake, ..config() }).await;
    let mut ada = world.join(0, "Ada").await;
    for begins in [&b""[..], b"BZFL", CLIENT_HELLO] {
        let mut silent = world.client().await;
        let mut far = world.accept().await;
        silent.send(begins).await;
        assert_eq!(silent.rest().await, []);
        far.is_closed().await;
        world.plays_on(&mut ada).await;
    }
    world.logged("it said nothing that the game says").await;
}

#[tokio::test]
async fn a_client_that_vanishes_while_it_is_greeted() {
    let (world, mut ada) = world_with_ada().await;
    for begins in [&b""[..], b"BZFL", CLIENT_HELLO] {
        let mut gone = world.client().await;
        let mut far = world.accept().await;
        gone.send(begins).await;
        drop(gone);
        far.is_closed().await;
        world.plays_on(&mut ada).await;
    }
    world.logged("the client has gone").await;
}

#[tokio::test]
async fn a_server_that_goes_away_and_comes_back() {
    let (world, ada) = world_with_ada().await;
    let Player { mut near, far, .. } = ada;
    let (service, server, _logging) = world.without_server();
    drop(far);
    near.is_closed().await;
    // Nobody is there: whoever comes is closed.
    let mut early = Peer::connect(service.local_addr()).await;
    assert_eq!(early.rest().await, []);
    let back = TcpListener::bind(server).await.expect("the port is free again");
    let mut late = Peer::connect(service.local_addr()).await;
    late.send(CLIENT_HELLO).await;
    let mut far = Peer::new(soon("a connection", back.accept()).await.expect("the relay connects").0);
    assert_eq!(far.bytes(10).await, CLIENT_HELLO);
}

#[tokio::test]
async fn a_server_that_takes_nobody() {
    let (listener, datagrams) = server_sockets().await;
    let nobody = listener.local_addr().unwrap();
    drop((listener, datagrams));
    let world = World::new(config()).await;
    let service = evenkeel_bzflag::Service::start(ServiceConfig { server: nobody, ..config() }).await.unwrap();
    for _ in 0..3 {
        let mut client = Peer::connect(service.local_addr()).await;
        client.is_closed().await;
    }
    world.logged("the server takes no connection for this client").await;
}

#[tokio::test]
async fn whom_the_server_does_not_want_reads_why() {
    let (world, mut ada) = world_with_ada().await;
    for pieces in
        [&[&b"BZFS0220\x04"[..]][..], &[b"BZFS0221\xff"], &[b"REFUSED:", b" you ", b"cheat\n"], &[b"HTTP/1.1 400"]]
    {
        let mut near = world.client().await;
        let mut far = world.accept().await;
        near.send(CLIENT_HELLO).await;
        assert_eq!(far.bytes(10).await, CLIENT_HELLO);
        let mut read = 0;
        for piece in pieces {
            far.send(piece).await;
            assert_eq!(near.bytes(piece.len()).await, *piece);
            read += piece.len();
        }
        drop(far);
        assert_eq!(near.rest().await, [], "after {read} bytes");
        world.plays_on(&mut ada).await;
    }
    world.logged("the server lets nobody in: Full").await;
    world.logged("the server lets nobody in: Refused").await;
    world.logged("this is not how the game begins: \"BZFS0220\"").await;
}

#[tokio::test]
async fn a_client_that_never_reads() {
    let (world, mut ada) = world_with_ada().await;
    let Player { mut near, mut far, .. } = world.join(1, "Bob").await;
    let piece = message(Code::GET_WORLD, &[7; MAX_PAYLOAD]);
    let mut sent = 0;
    while far.try_send(&piece.repeat(64)).await {
        sent += 64 * piece.len();
        // The system's own buffers hold some megabytes; the relay adds one.
        assert!(sent < 64 << 20, "{sent} bytes, and still it is served");
        if sent % (1 << 20) == 0 {
            world.plays_on(&mut ada).await;
        }
    }
    world.logged("it does not read what it is sent").await;
    // What was already written to it does not wait for ever: its socket is closed, though it still does not read.
    let closed = async {
        while near.try_send(&message(Code::MESSAGE, b"?")).await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    soon("the end", closed).await;
    world.plays_on(&mut ada).await;
}

#[tokio::test]
async fn a_flood_of_datagrams_of_strangers() {
    let (world, mut ada) = world_with_ada().await;
    let stranger = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let relay = world.service.local_addr();
    let garbage = [vec![], vec![0xff; 1400], update(&TankUpdate::of(0)), message(Code::UDP_LINK_REQUEST, &[77])];
    for _ in 0..50 {
        // No more at once than the system holds, or it is the system that drops what Ada sends.
        for n in 0..60 {
            stranger.send_to(&garbage[n % garbage.len()], relay).await.unwrap();
        }
        world.plays_on(&mut ada).await;
    }
    world.logged("a datagram of nobody known").await;
    assert!(tokio::time::timeout(Duration::ZERO, received(&ada)).await.is_err(), "Ada hears nothing of it");
}

#[tokio::test]
async fn more_clients_than_there_is_room_for() {
    let world = World::new(ServiceConfig { most_clients: 2, ..config() }).await;
    let mut ada = world.join(0, "Ada").await;
    // All at once: none is served yet when the last one comes.
    let mut crowd = Vec::new();
    for _ in 0..10 {
        crowd.push(world.client().await);
    }
    world.logged("a client is turned away: there are 2 already").await;
    for mut turned_away in crowd.drain(1..) {
        turned_away.is_closed().await;
    }
    drop(world.accept().await);
    for mut gone in crowd {
        gone.is_closed().await;
    }
    // There is room again.
    let mut bob = world.join(1, "Bob").await;
    world.plays_on(&mut bob).await;
    world.plays_on(&mut ada).await;
}
