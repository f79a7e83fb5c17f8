//! What somebody may send who means no good, or reads nothing. The others do not notice.

use crate::arena::{Arena, Game, ms};
use crate::eve::{Eve, Noise};
use evenkeel::clock::Ping;
use evenkeel::wire::datagram::Kind;
use evenkeel::{GlobalTime, Pose, Receiver, ReceiverConfig, Vec3};
use evenkeel_net::hub::{HubConfig, HubEvent};
use evenkeel_net::levels::Level;
use evenkeel_net::protocol::{SERVER, ToServer, entity_of};
use evenkeel_net::seat::SeatEvent;
use evenkeel_net::transport::{ConnectConfig, Limits};
use std::net::UdpSocket;
use std::time::{Duration, Instant};

async fn game() -> (Arena, Game) {
    let arena = Arena::start(HubConfig::default(), |_| {}).await;
    let game = Game::of(arena.players(3), Vec::new()).await;
    (arena, game)
}

fn time(arena: &Arena) -> GlobalTime {
    arena.server().with(|hub, now| hub.now(now))
}

fn expelled(arena: &Arena) -> Vec<String> {
    let event = |event| if let HubEvent::Expelled { why, .. } = event { Some(why) } else { None };
    arena.server().with(|hub, _| std::iter::from_fn(|| hub.poll_event()).filter_map(event).collect())
}

impl Game {
    /// Everybody drives and nobody notices anything while something else happens, and for a while longer.
    async fn undisturbed<T>(&mut self, something: impl Future<Output = T>) -> T {
        let mut something = std::pin::pin!(something);
        loop {
            tokio::select! {
                done = &mut something => {
                    self.play_exactly(ms(500)).await;
                    return done;
                }
                () = self.play_exactly(ms(1)) => {}
            }
        }
    }
}

pub async fn whoever_reads_nothing_is_dropped_and_the_others_get_their_messages() -> String {
    let limits = Limits { outgoing_messages: 128 * 1024, ..Limits::default() };
    let arena = Arena::start(HubConfig::default(), |listen| listen.limits = limits).await;
    let mut game = Game::of(arena.players(3), Vec::new()).await;
    let own = Limits { incoming_messages: 64 * 1024, ..Limits::default() };
    let config = ConnectConfig { limits: own, ..ConnectConfig::new(arena.trust()) };
    let eve = game.undisturbed(Eve::join_with(&arena, config, None)).await;
    let start = Instant::now();
    let mut sent = 0u32;
    // From now on she reads nothing, and everybody is told more and more.
    while eve.connection.closed_reason().is_none() {
        assert!(start.elapsed() < Duration::from_secs(10), "she is still there after {sent} messages");
        let mut message = vec![7; 8 * 1024];
        message[..4].copy_from_slice(&sent.to_le_bytes());
        arena.server().with(|hub, now| hub.broadcast(Level::Ordered, &message, now)).unwrap();
        sent += 1;
        game.play_exactly(ms(10)).await;
    }
    let why = eve.connection.closed_reason().unwrap().to_string();
    assert!(why.contains("does not read what it is sent"), "{why}");
    let dropped = start.elapsed();
    let ordered = |event: &SeatEvent| match event {
        SeatEvent::Message { from: SERVER, level: Level::Ordered, bytes } => {
            Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        }
        _ => None,
    };
    let heard = |game: &Game| -> Vec<Vec<u32>> {
        game.players.iter().map(|player| player.events.iter().filter_map(ordered).collect()).collect()
    };
    let all = vec![(0..sent).collect::<Vec<_>>(); 3];
    game.until("all messages arrive", Duration::from_secs(5), |game| heard(game) == all).await;
    game.play_exactly(ms(1_000)).await;
    arena.assert_owned(&game);
    format!("exact all the time; dropped after {sent} messages of 8 KiB and {} ms", dropped.as_millis())
}

pub async fn garbage_at_the_servers_port_is_nothing_to_anybody() -> String {
    let (arena, mut game) = game().await;
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut noise = Noise(11);
    let garbage = async {
        for n in 0..3_000u32 {
            let mut bytes = noise.bytes(1_400);
            // As any QUIC packet begins: an Initial, a handshake, another version, a short one.
            bytes[0] = match n % 5 {
                0 => 0xC0,
                1 => 0xE0,
                2 => 0x40,
                _ => bytes[0],
            };
            if n % 5 < 2 && bytes.len() > 5 {
                bytes[1..5].copy_from_slice(&[0, 0, 0, (n % 2) as u8]);
            }
            let _ = socket.send_to(&bytes, arena.address);
            if n % 20 == 0 {
                tokio::time::sleep(ms(10)).await;
            }
        }
    };
    game.undisturbed(garbage).await;
    assert_eq!(arena.server().with(|hub, _| (hub.players().count(), hub.counts().unusable)), (3, 0));
    arena.assert_owned(&game);
    "exact all the time, during 3,000 datagrams of garbage".into()
}

pub async fn whoever_sends_random_datagrams_is_sent_away() -> String {
    let (arena, mut game) = game().await;
    let mut eve = game.undisturbed(Eve::join(&arena)).await;
    let mut thrown = 0;
    let random = async {
        let mut noise = Noise(5);
        while thrown < 2_000 && eve.throw(&noise.bytes(300)).await {
            thrown += 1;
            tokio::time::sleep(ms(1)).await;
        }
        eve.end().await
    };
    let why = game.undisturbed(random).await;
    assert!(why.contains("datagrams that cannot be used"), "{why}");
    assert_eq!(arena.server().with(|hub, _| hub.players().count()), 3);
    arena.assert_owned(&game);
    format!("exact all the time; sent away after about {thrown} datagrams")
}

pub async fn nobody_is_moved_by_forged_vectors_receipts_and_pings() -> String {
    let (arena, mut game) = game().await;
    let mut eve = game.undisturbed(Eve::join(&arena)).await;
    let tanks: Vec<_> = game.players.iter().map(|player| player.tank.unwrap()).collect();
    let far = Pose::at(Vec3::new(-900.0, -900.0, 0.0));
    let forging = async {
        // Of her own, so that she is a player as any other.
        let own = entity_of(eve.welcome.you, 0).unwrap();
        eve.say(&ToServer::Make { entity: own, about: Vec::new() });
        let config = ReceiverConfig { placing: eve.agreement().placing, ..ReceiverConfig::default() };
        let mut receiver = Receiver::new(config).unwrap();
        receiver.add_sender(SERVER, eve.agreement(), time(&arena)).unwrap();
        let (mut forged, mut receipts) = (0, 0);
        for round in 0..60u32 {
            let now = time(&arena);
            for tank in &tanks {
                // Now, and from the future, so that nothing newer could ever come.
                eve.throw(&eve.vector(*tank, far, now)).await;
                eve.throw(&eve.vector(*tank, far, now + evenkeel::Duration::from_secs(3_000))).await;
                forged += 2;
            }
            // Something good in between: she is not to be sent away for this alone.
            let ping = Ping { sequence: round, nonce: round };
            let mut bytes = vec![0; Ping::LEN];
            ping.emit(&mut bytes);
            eve.throw(&bytes).await;
            for bytes in eve.read(ms(20)).await {
                if matches!(Kind::of(&bytes), Some(Kind::Vectors)) {
                    let _ = receiver.handle_datagram(SERVER, &bytes, time(&arena));
                }
            }
            while let Some(receipt) = receiver.poll_transmit(time(&arena)) {
                let mut wrong = receipt.bytes.to_vec();
                wrong.iter_mut().skip(2).for_each(|byte| *byte ^= 0x55);
                eve.throw(&wrong).await;
                receipts += 1;
            }
        }
        // And more questions about the time than anybody may ask.
        for sequence in 0..3_000u32 {
            let mut bytes = vec![0; Ping::LEN];
            Ping { sequence, nonce: !sequence }.emit(&mut bytes);
            let _ = eve.connection.send_datagram(&bytes);
            if sequence % 100 == 0 {
                tokio::time::sleep(ms(5)).await;
            }
        }
        (forged, receipts)
    };
    let (forged, receipts) = game.undisturbed(forging).await;
    assert!(receipts > 2, "{receipts}");
    let counts = arena.server().with(|hub, _| hub.counts());
    assert!(counts.unusable > 100, "{counts:?}");
    game.play_exactly(ms(1_000)).await;
    arena.assert_owners();
    drop(eve);
    format!("exact all the time, during {forged} forged vectors and {receipts} forged receipts")
}

pub async fn what_is_replayed_changes_nothing() -> String {
    let (arena, mut game) = game().await;
    let mut eve = game.undisturbed(Eve::join(&arena)).await;
    let own = entity_of(eve.welcome.you, 0).unwrap();
    eve.say(&ToServer::Make { entity: own, about: vec![66] });
    let (here, there) = (Vec3::new(-100.0, 0.0, 0.0), Vec3::new(-200.0, 0.0, 0.0));
    let mut sender =
        evenkeel::Sender::new(evenkeel::SenderConfig { format: eve.format(), ..Default::default() }).unwrap();
    sender.add_receiver(SERVER, time(&arena)).unwrap();
    sender.add_entity(own, evenkeel::Threshold::within(0.1), time(&arena)).unwrap();
    let replaying = async {
        let mut kept = Vec::new();
        for (step, position) in [(0, here), (1, there)] {
            for _ in 0..20 {
                let now = time(&arena);
                sender.observe(own, Pose::at(position), now).unwrap();
                sender.handle_timeout(now);
                while let Some(datagram) = sender.poll_transmit(now) {
                    let bytes = datagram.bytes.to_vec();
                    eve.throw(&bytes).await;
                    if step == 0 {
                        kept.push(bytes);
                    }
                }
                eve.read(ms(10)).await;
            }
        }
        for _ in 0..30 {
            for bytes in &kept {
                eve.throw(bytes).await;
            }
            eve.read(ms(20)).await;
        }
        kept.len()
    };
    let kept = game.undisturbed(replaying).await;
    assert!(kept > 0);
    for player in &game.players {
        let seen = player.link.place(own).unwrap().position;
        assert!(seen.distance(there) < 0.2, "{seen:?}");
    }
    arena.assert_owners();
    drop(eve);
    "exact all the time; nobody saw a tank where it had been".into()
}

pub async fn messages_in_others_names_get_one_sent_away_or_nowhere() -> String {
    let (arena, mut game) = game().await;
    let (tank, other) = (game.players[0].tank.unwrap(), game.players[1].you());
    // What is not hers to give or to take away stays where it is.
    let eve = game.undisturbed(Eve::join(&arena)).await;
    eve.say(&ToServer::Give { entity: tank, to: eve.welcome.you });
    eve.say(&ToServer::Give { entity: tank, to: other });
    eve.say(&ToServer::Unmake { entity: tank });
    eve.say(&ToServer::Linked { peer: other, up: true });
    game.undisturbed(tokio::time::sleep(ms(500))).await;
    arena.assert_owned(&game);
    drop(eve);
    // In another's name.
    let mut eve = game.undisturbed(Eve::join(&arena)).await;
    eve.say(&ToServer::Make { entity: entity_of(other, 7).unwrap(), about: Vec::new() });
    let why = game.undisturbed(eve.end()).await;
    assert!(why.contains("another player's name"), "{why}");
    // Random ones.
    let mut noise = Noise(3);
    for _ in 0..5 {
        let mut eve = game.undisturbed(Eve::join(&arena)).await;
        let mut bytes = noise.bytes(200);
        // Not one that happens to be a farewell.
        bytes[0] |= 0x40;
        eve.connection.send_message(bytes).unwrap();
        let why = game.undisturbed(eve.end()).await;
        assert!(!why.is_empty());
    }
    let expelled = expelled(&arena);
    assert_eq!(expelled.len(), 6, "{expelled:?}");
    arena.assert_owned(&game);
    "exact all the time; six sent away with a reason".into()
}
