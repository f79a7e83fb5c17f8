//! Whoever records what passes through the relay gets every update once, as it was made.
#![allow(clippy::unwrap_used)]

use evenkeel::{GlobalTime, HostId};
use evenkeel_bzflag::message::{TankUpdate, frames};
use evenkeel_bzflag::{Relay, RelayConfig, Way};
use std::sync::{Arc, Mutex};

const ADA: HostId = HostId(0);
const BOB: HostId = HostId(1);

fn update(player: u8, order: i32) -> TankUpdate {
    TankUpdate { order, stamp: 7.0 + order as f32, position: [order as f32, 0.0, 0.0], ..TankUpdate::of(player) }
}

#[test]
fn every_update_is_shown_once_with_when_it_was_received() {
    let mut relay = Relay::new(RelayConfig::default()).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let shown = seen.clone();
    relay.set_tap(move |at, update| shown.lock().unwrap().push((at, update.player, update.order)));
    relay.connected(ADA, 1);
    relay.connected(BOB, 2);
    let at = GlobalTime::from_millis;
    let mut bytes = Vec::new();
    // Ada's own, which was held up for 30 ms; the server passes it on to Bob.
    update(1, 5).emit(&mut bytes);
    let frame = frames(&bytes).next().unwrap().unwrap();
    relay.handle_client(ADA, Way::Udp, frame, at(10), at(40));
    relay.handle_server(BOB, Way::Udp, frame, at(41));
    // Somebody pretends to be somebody else.
    relay.handle_client(BOB, Way::Udp, frame, at(42), at(42));
    // One who is not behind this relay, passed on to both, and an old one again.
    for (order, ms) in [(8, 50), (9, 60), (8, 70)] {
        bytes.clear();
        update(77, order).emit(&mut bytes);
        let frame = frames(&bytes).next().unwrap().unwrap();
        relay.handle_server(ADA, Way::Udp, frame, at(ms));
        relay.handle_server(BOB, Way::Tcp, frame, at(ms + 1));
    }
    assert_eq!(*seen.lock().unwrap(), [(at(10), 1, 5), (at(50), 77, 8), (at(60), 77, 9)]);
}
