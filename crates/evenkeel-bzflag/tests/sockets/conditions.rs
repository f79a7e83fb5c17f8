//! Clients that are put under conditions.

use crate::world::{World, config, message, received};
use evenkeel_bzflag::ServiceConfig;
use evenkeel_bzflag::message::Code;
use std::time::{Duration, Instant};

fn under(conditions: &str) -> ServiceConfig {
    ServiceConfig { conditions: vec![("far".into(), conditions.parse().unwrap())], ..config() }
}

#[tokio::test]
async fn a_delay_is_seen_both_ways_and_by_nobody_else() {
    let world = World::new(under("delay=100ms")).await;
    let (mut far, mut near) = (world.join(1, "far").await, world.join(2, "near").await);
    let begin = Instant::now();
    world.send_up(&far, &message(Code::SHOT_END, &[1])).await;
    far.near.send(&message(Code::MESSAGE, &[1])).await;
    // Said later, heard sooner.
    world.send_up(&near, &message(Code::SHOT_END, &[2])).await;
    assert_eq!(world.datagram().await, (message(Code::SHOT_END, &[2]), near.up));
    assert_eq!(world.datagram().await, (message(Code::SHOT_END, &[1]), far.up));
    far.far.expect(Code::MESSAGE, &[1]).await;
    assert!(begin.elapsed() >= Duration::from_millis(100));
    let begin = Instant::now();
    world.send_down(&far, &message(Code::SHOT_END, &[3])).await;
    far.far.send(&message(Code::MESSAGE, &[3])).await;
    near.far.send(&message(Code::MESSAGE, &[4])).await;
    near.near.expect(Code::MESSAGE, &[4]).await;
    let none_yet = tokio::time::timeout(Duration::ZERO, received(&far)).await;
    assert!(none_yet.is_err() || begin.elapsed() >= Duration::from_millis(100), "{none_yet:?}");
    far.near.expect(Code::MESSAGE, &[3]).await;
    if none_yet.is_err() {
        assert_eq!(received(&far).await, message(Code::SHOT_END, &[3]));
    }
    assert!(begin.elapsed() >= Duration::from_millis(100));
}

#[tokio::test]
async fn a_stream_stays_whole_and_in_order() {
    let world = World::new(under("delay=20ms,jitter=uniform:15ms,loss=40%")).await;
    let mut far = world.join(1, "far").await;
    for n in 0..200u8 {
        far.near.send(&message(Code::MESSAGE, &[n])).await;
        far.far.send(&message(Code::MESSAGE, &[n])).await;
    }
    for n in 0..200u8 {
        far.far.expect(Code::MESSAGE, &[n]).await;
        far.near.expect(Code::MESSAGE, &[n]).await;
    }
}

#[tokio::test]
async fn a_request_for_a_link_is_never_lost() {
    let world = World::new(under("loss=100%")).await;
    // This asks for the link and waits for its answers.
    let mut far = world.join(1, "far").await;
    let mut near = world.join(2, "near").await;
    world.send_up(&far, &message(Code::SHOT_END, &[1])).await;
    far.near.send(&message(Code::MESSAGE, &[1])).await;
    far.far.expect(Code::MESSAGE, &[1]).await;
    // Were it not lost, it would come before this.
    world.plays_on(&mut near).await;
}

#[tokio::test]
async fn last_words_are_heard_before_their_time() {
    let world = World::new(under("delay=5s")).await;
    let (near, mut far) = world.greeted(1).await;
    let mut near = near;
    let enter = [&[0; 4][..], &evenkeel_bzflag::message::Text::<32>::new("far").0, &[0; 128]].concat();
    near.send(&message(Code::ENTER, &enter)).await;
    far.expect(Code::ENTER, &enter).await;
    far.send(&message(Code::REJECT, b"no")).await;
    drop(far);
    near.expect(Code::REJECT, b"no").await;
    assert_eq!(near.next_or_end().await, None);
}
