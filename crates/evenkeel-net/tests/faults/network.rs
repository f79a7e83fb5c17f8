//! What networks do: they lose, black out, reorder and double.

use crate::arena::{Arena, Game, Link, Player, impose, ms};
use crate::eve::{Eve, Noise};
use evenkeel::wire::datagram::Kind;
use evenkeel::{GlobalTime, Pose, Receiver, ReceiverConfig, Threshold, Vec3};
use evenkeel_link::Oracle;
use evenkeel_net::Client;
use evenkeel_net::hub::HubConfig;
use evenkeel_net::protocol::SERVER;
use evenkeel_net::transport::{Conditioner, ConnectConfig, What};
use std::time::{Duration, Instant};

/// Three players and a network that can be made worse.
async fn game() -> (Arena, Game, Conditioner) {
    let conditioner = Conditioner::new(1);
    impose(&conditioner, "delay=15ms,jitter=exp:2ms");
    let arena = Arena::start(HubConfig::default(), |listen| listen.conditioner = Some(conditioner.clone())).await;
    let game = Game::of(arena.players(3), Vec::new()).await;
    (arena, game, conditioner)
}

fn assert_all_here(arena: &Arena, game: &Game) {
    let counts = arena.server().with(|hub, _| (hub.players().count(), hub.counts().expelled));
    assert_eq!(counts, (game.players.len(), 0), "nobody was lost or sent away");
    arena.assert_owned(game);
}

pub async fn ten_seconds_of_heavy_loss_are_over_when_they_are_over() -> String {
    let (arena, mut game, conditioner) = game().await;
    impose(&conditioner, "delay=15ms,jitter=exp:2ms,loss=30%");
    game.play(Duration::from_secs(10)).await;
    impose(&conditioner, "delay=15ms,jitter=exp:2ms");
    let measured = game.recover(Instant::now()).await;
    game.play_exactly(ms(2_000)).await;
    assert!(conditioner.statistics().lost > 100);
    assert_all_here(&arena, &game);
    measured
}

pub async fn one_player_is_blacked_out_and_the_others_do_not_notice() -> String {
    let (conditioner, arena) = (Conditioner::new(2), Arena::start(HubConfig::default(), |_| {}).await);
    let mut config = arena.client(4);
    config.connect.conditioner = Some(conditioner.clone());
    let fourth = Player::new(Link::Client(Client::start_with(config).unwrap()), 4);
    let mut game = Game::of(arena.players(3).into_iter().chain([fourth]).collect(), Vec::new()).await;
    impose(&conditioner, "loss=100%");
    let dark = Instant::now();
    let mut fourth = game.players.pop().unwrap();
    while dark.elapsed() < Duration::from_secs(5) {
        fourth.tick();
        game.play_exactly(ms(10)).await;
    }
    game.players.push(fourth);
    impose(&conditioner, "ideal");
    let measured = game.recover(Instant::now()).await;
    game.play_exactly(ms(2_000)).await;
    assert_all_here(&arena, &game);
    measured
}

pub async fn the_server_is_blacked_out() -> String {
    let (arena, mut game, conditioner) = game().await;
    impose(&conditioner, "loss=100%");
    game.play(Duration::from_secs(5)).await;
    impose(&conditioner, "delay=15ms,jitter=exp:2ms");
    let measured = game.recover(Instant::now()).await;
    game.play_exactly(ms(2_000)).await;
    assert_all_here(&arena, &game);
    measured
}

pub async fn packets_overtake_each_other_and_come_twice() -> String {
    let (arena, mut game, conditioner) = game().await;
    impose(&conditioner, "delay=10ms,jitter=exp:10ms,reorder=30%:40ms,duplicate=30%");
    let during = game.recover(Instant::now()).await;
    game.play_exactly(Duration::from_secs(5)).await;
    impose(&conditioner, "delay=15ms,jitter=exp:2ms");
    let after = game.recover(Instant::now()).await;
    game.play_exactly(ms(2_000)).await;
    assert!(conditioner.statistics().duplicated > 50);
    assert_all_here(&arena, &game);
    format!("during: {during}; afterwards: {after}")
}

/// Entities that are elsewhere in every frame, told over a network that reorders by up to a quarter of a second: a client of the
/// heart's own, which keeps every record it decodes, compares each with what the server exported.
pub async fn every_vector_is_decoded_as_it_was_exported() -> String {
    let (conditioner, arena) = (Conditioner::new(7), Arena::start(HubConfig::default(), |_| {}).await);
    impose(&conditioner, "delay=40ms,jitter=uniform:30ms,reorder=20%:200ms,duplicate=20%,loss=10%");
    let mut config = ConnectConfig::new(arena.trust());
    config.conditioner = Some(conditioner.clone());
    let mut client = Eve::join_with(&arena, config, None).await;
    let time = |arena: &Arena| arena.server().with(|hub, now| hub.now(now));
    let placing = client.agreement().placing;
    let mut receiver = Receiver::new(ReceiverConfig { placing, ..ReceiverConfig::default() }).unwrap();
    receiver.add_sender(SERVER, client.agreement(), time(&arena)).unwrap();
    let make = |_| arena.server().with(|hub, now| hub.make(Threshold::within(0.1), Vec::new(), now)).unwrap();
    let entities: Vec<_> = (0..3).map(make).collect();
    let (mut oracle, mut noise, mut ignored) = (Oracle::default(), Noise(3), 0);
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(8) {
        arena.server().with(|hub, now| {
            for entity in &entities {
                let mut metres = || (noise.next() % 10_000) as f64 / 100.0;
                let pose = Pose::at(Vec3::new(metres(), metres(), 0.0)).moving(Vec3::new(metres(), metres(), 0.0));
                hub.observe(*entity, pose.facing(metres()), now).unwrap();
            }
            oracle.note(SERVER, hub.sender());
        });
        let frame = Instant::now();
        while let Some(left) = ms(8).checked_sub(frame.elapsed()) {
            let Ok(arrived) = tokio::time::timeout(left, client.connection.receive()).await else { break };
            let What::Datagram(bytes) = arrived.expect("the connection stays").what else { continue };
            if Kind::of(&bytes).is_some_and(Kind::is_for_receivers) {
                let handled = receiver.handle_datagram(SERVER, &bytes, time(&arena)).unwrap();
                oracle.check(SERVER, &receiver).unwrap();
                ignored += handled.ignored;
            }
        }
        answer(&mut receiver, &client, time(&arena));
    }
    let (checked, refused) = (oracle.checked(), receiver.all_refusals());
    assert!(checked > 300 && ignored > 10, "{checked} vectors, {ignored} of them overtaken");
    assert_eq!(refused.total(), 0, "{refused:?}");
    format!("{checked} vectors as they were exported, {ignored} of them overtaken")
}

/// Sends the receipts that are due.
fn answer(receiver: &mut Receiver, client: &Eve, now: GlobalTime) {
    while let Some(receipt) = receiver.poll_transmit(now) {
        let _ = client.connection.send_datagram(receipt.bytes);
    }
}
