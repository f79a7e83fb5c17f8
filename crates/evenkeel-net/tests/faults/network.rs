//! What networks do: they lose, black out, reorder and double.

use crate::arena::{Arena, Game, Link, Player, impose, ms};
use evenkeel_net::Client;
use evenkeel_net::hub::HubConfig;
use evenkeel_net::transport::Conditioner;
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
