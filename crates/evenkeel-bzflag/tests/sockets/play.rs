//! A game that goes well.

use crate::world::{Player, World, config, message, received, update};
use evenkeel_bzflag::message::{Code, MAX_PAYLOAD, Status, TankUpdate, frames};
use tokio::net::UdpSocket;

/// Messages of all lengths and of kinds that the relay has no business with; every third a whole piece of a world.
fn messages() -> Vec<(Code, Vec<u8>)> {
    let length = |n: usize| if n.is_multiple_of(3) { MAX_PAYLOAD } else { n * 37 % 200 };
    let code = |n: usize| [Code::GET_WORLD, Code::MESSAGE, Code(0x0102)][n % 3];
    (0..300).map(|n| (code(n), (0..length(n)).map(|byte| (byte * 7 + n) as u8).collect())).collect()
}

#[tokio::test]
async fn a_stream_passes_byte_for_byte_in_order_both_ways() {
    let world = World::new(config()).await;
    let Player { mut near, mut far, .. } = world.join(3, "Ada").await;
    let sent = messages();
    let stream: Vec<u8> = sent.iter().flat_map(|(code, payload)| message(*code, payload)).collect();
    for odd_size in [7, 1999] {
        for piece in stream.chunks(odd_size) {
            near.send(piece).await;
            far.send(piece).await;
        }
        for (code, payload) in &sent {
            far.expect(*code, payload).await;
            near.expect(*code, payload).await;
        }
    }
}

#[tokio::test]
async fn a_hello_in_single_bytes_is_a_hello() {
    let world = World::new(config()).await;
    let mut near = world.client().await;
    let mut far = world.accept().await;
    for byte in b"BZFLAG\r\n\r\n" {
        near.send(&[*byte]).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(far.bytes(10).await, b"BZFLAG\r\n\r\n");
    for byte in b"BZFS0221\x07" {
        far.send(&[*byte]).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(near.bytes(9).await, b"BZFS0221\x07");
    near.send(&message(Code::MESSAGE, b"x")).await;
    far.expect(Code::MESSAGE, b"x").await;
}

/// A tank of which every update must be heard: its flag goes on and off.
fn tank(player: &Player, n: i16) -> TankUpdate {
    TankUpdate {
        order: 1000 + i32::from(n),
        status: Status::ALIVE.with(Status::FLAG_ACTIVE, n % 2 == 0),
        position: [f32::from(n), 2.0, 0.0],
        ..TankUpdate::of(player.number)
    }
}

#[tokio::test]
async fn updates_of_a_living_tank_are_told_anew_in_order_and_all_else_is_untouched() {
    let world = World::new(config()).await;
    let (ada, bob) = (world.join(3, "Ada").await, world.join(5, "Bob").await);
    let mut last = 0;
    for n in 0..20 {
        let said = update(&tank(&ada, n));
        world.send_up(&ada, &said).await;
        assert_eq!(world.datagram().await, (said.clone(), ada.up), "the server hears what the client says");
        // The server puts several messages in one datagram.
        world
            .send_down(&bob, &[message(Code::SHOT_END, &[1; 9]), said, message(Code::SHOT_END, &[2; 9])].concat())
            .await;
        let mut heard = [received(&bob).await, received(&bob).await, received(&bob).await];
        heard.sort_by_key(Vec::len);
        assert_eq!(heard[..2], [message(Code::SHOT_END, &[1; 9]), message(Code::SHOT_END, &[2; 9])]);
        let told = TankUpdate::parse(frames(&heard[2]).next().unwrap().unwrap()).unwrap();
        assert!(told.order > last, "{} after {last}", told.order);
        last = told.order;
        // It stands: it is where it says, whenever that is.
        assert_eq!(TankUpdate { order: 1000 + i32::from(n), stamp: 0.0, ..told }, tank(&ada, n));
    }
    let dead = TankUpdate { order: 2000, status: Status(0), ..TankUpdate::of(3) };
    world.send_up(&ada, &update(&dead)).await;
    world.datagram().await;
    world.send_down(&bob, &update(&dead)).await;
    let told = received(&bob).await;
    assert_eq!(told, update(&TankUpdate { order: last + 1, ..dead }));
}

#[tokio::test]
async fn clients_at_one_address_are_told_apart_whatever_ports_their_datagrams_come_from() {
    let world = World::new(config()).await;
    let mut players = vec![world.join(0, "Ada").await];
    for (number, name) in [(1, "Bob"), (2, "Cid")] {
        let (near, far) = world.greeted(number).await;
        let elsewhere = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        players.push(world.enter(number, name, near, far, elsewhere).await);
    }
    for _ in 0..3 {
        for player in &mut players {
            world.plays_on(player).await;
        }
    }
    assert!(players[0].up != players[1].up && players[1].up != players[2].up && players[0].up != players[2].up);
}

#[tokio::test]
async fn nobody_takes_over_the_link_of_another() {
    let world = World::new(config()).await;
    let (mut ada, mut bob) = (world.join(3, "Ada").await, world.join(5, "Bob").await);
    let theft = message(Code::UDP_LINK_REQUEST, &[ada.number]);
    // By one whose own link is known: to the server, everybody behind the relay has its address.
    world.send_up(&bob, &theft).await;
    // By a stranger at the same address.
    let stranger = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    stranger.send_to(&theft, world.service.local_addr()).await.unwrap();
    world.logged("a datagram of nobody known").await;
    world.logged("asks for the link of player 3").await;
    world.plays_on(&mut ada).await;
    world.plays_on(&mut bob).await;
}

#[tokio::test]
async fn last_words_are_heard() {
    let world = World::new(config()).await;
    for round in 0..20 {
        let Player { mut near, mut far, .. } = world.join(3, "Ada").await;
        if round % 2 == 0 {
            far.send(&[message(Code::MESSAGE, b"go away"), message(Code::SUPER_KILL, &[3])].concat()).await;
            drop(far);
            near.expect(Code::MESSAGE, b"go away").await;
            near.expect(Code::SUPER_KILL, &[3]).await;
            assert_eq!(near.next_or_end().await, None);
        } else {
            near.send(&[message(Code::MESSAGE, b"bye"), message(Code::EXIT, &[])].concat()).await;
            drop(near);
            far.expect(Code::MESSAGE, b"bye").await;
            far.expect(Code::EXIT, &[]).await;
            assert_eq!(far.next_or_end().await, None);
        }
    }
}
