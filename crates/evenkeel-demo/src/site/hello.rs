//! The first that a page is told.

use super::lan::Link;
use super::{Site, files};
use crate::feed::VERSION;
use crate::stage::Play;
use axum::extract::ws::Utf8Bytes;
use data_encoding::BASE64;
use evenkeel_games::{Arena, arena, spaceship};
use serde_json::{Value, json};

/// How to get the part for browsers.
const HOW: &str = "This program was built without its WebAssembly part, so one can watch but not drive. With rustup: \
                   `rustup target add wasm32-unknown-unknown`, then build again. README.md says how to do without rustup.";

impl Site {
    /// `hello`; nothing while the demo stops.
    pub(super) async fn hello(&self) -> Option<Utf8Bytes> {
        let play = self.screen.play().await?;
        Some(hello(&play, &self.links).to_string().into())
    }
}

fn hello(play: &Play, links: &[Link]) -> Value {
    let wasm = files::can_play();
    json!({
        "kind": "hello",
        "version": VERSION,
        "program": env!("CARGO_PKG_VERSION"),
        "games": games(),
        "policies": evenkeel::policy::NAMES,
        "play": {
            "wasm": wasm,
            "session": play.session,
            "port": play.port,
            "websocket_port": play.websocket_port,
            "hashes": play.hashes.iter().map(|hash| BASE64.encode(hash)).collect::<Vec<_>>(),
            "path": "/",
            "how": (!wasm).then_some(HOW),
        },
        "links": links,
    })
}

fn games() -> Value {
    let (half_side, obstacles) = field();
    json!({
        "tanks": {
            "half_width": half_side, "half_height": half_side, "radius": arena::RADIUS, "unit": "m", "obstacles": obstacles,
        },
        "ships": {
            "half_width": spaceship::FIELD.0 / 2.0, "half_height": spaceship::FIELD.1 / 2.0,
            "radius": spaceship::RADIUS, "unit": "px", "obstacles": [],
        },
    })
}

/// The arena, as it is unless somebody chooses another.
fn field() -> (f64, Vec<[f64; 4]>) {
    let rules = arena::Rules::default();
    let corners = |o: &arena::Obstacle| [o.low.x, o.low.y, o.high.x, o.high.y];
    let obstacles = Arena::new(rules, 1, 0).map(|game| game.field().obstacles().iter().map(corners).collect());
    (rules.half_side.into(), obstacles.unwrap_or_default())
}
