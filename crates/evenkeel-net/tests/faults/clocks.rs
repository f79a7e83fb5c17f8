//! Clocks that are set while they run.

use crate::arena::{Arena, Game, Link, Player, ms};
use evenkeel::{Duration, GlobalTime};
use evenkeel_link::HostClock;
use evenkeel_net::Client;
use evenkeel_net::hub::HubConfig;
use std::time::Instant;

async fn set(jump: Duration) -> String {
    let arena = Arena::start(HubConfig::default(), |_| {}).await;
    let after = ms(5_000);
    let at = GlobalTime::from_secs_f64(after.as_secs_f64());
    let mut config = arena.client(4);
    config.host_clock = Some(HostClock::new(Duration::from_secs(1_000), 30.0).unwrap().with_step(at, jump));
    let start = Instant::now();
    let fourth = Player::new(Link::Client(Client::start_with(config).unwrap()), 4);
    let mut game = Game::of(arena.players(3).into_iter().chain([fourth]).collect(), Vec::new()).await;
    let left = after.checked_sub(start.elapsed()).expect("all were in before the clock was set");
    game.play_exactly(left.saturating_sub(ms(30))).await;
    // The others do not notice.
    let mut fourth = game.players.pop().unwrap();
    while start.elapsed() < after {
        fourth.tick();
        game.play_exactly(ms(5)).await;
    }
    let since = Instant::now();
    while since.elapsed() < ms(500) {
        fourth.tick();
        game.play_exactly(ms(5)).await;
    }
    game.players.push(fourth);
    let measured = game.recover(since).await;
    game.play_exactly(ms(2_000)).await;
    arena.assert_owned(&game);
    measured
}

pub async fn a_clock_is_set_a_minute_forward() -> String {
    set(Duration::from_secs(60)).await
}

pub async fn a_clock_is_set_a_minute_back() -> String {
    set(Duration::from_secs(-60)).await
}
