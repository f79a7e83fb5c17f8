//! The stage on real sockets: what is set acts, and what is measured shows it.

use evenkeel_demo::feed::{Frame, Second, Text};
use evenkeel_demo::settings::Settings;
use evenkeel_demo::stage::{Stage, StageConfig};
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;
use tokio::time::timeout;

/// Long enough for the slowest machine.
const PATIENCE: Duration = Duration::from_secs(60);

async fn stage(patch: Value) -> Stage {
    let settings = Settings::default().patched(&patch).expect("settings");
    let address = (Ipv4Addr::LOCALHOST, 0).into();
    let config = StageConfig { settings, address, websocket: Some(address), seed: 7, lan_names: Vec::new() };
    Stage::start(config).await.expect("a stage")
}

/// Waits for a picture like this.
async fn picture(stage: &Stage, what: &str, like: impl Fn(&Frame) -> bool) -> Arc<Frame> {
    let mut frames = stage.frames();
    let found = timeout(PATIENCE, frames.wait_for(|frame| like(frame))).await;
    let found = found.unwrap_or_else(|_| panic!("no picture in which {what}"));
    found.expect("it goes on").clone()
}

/// Whether every view shows every craft.
fn all_shown(frame: &Frame, worlds: usize, views: usize, crafts: usize) -> bool {
    let marks = || frame.shown.iter().flatten().flatten();
    frame.truth.len() == crafts
        && frame.shown.len() == worlds
        && marks().count() == worlds * views * crafts
        && marks().zip(frame.truth.iter().cycle()).all(|(mark, truth)| mark.flags & 1 == 1 || truth.flags == 0)
}

/// The next second, or the first after so many.
async fn second(texts: &mut broadcast::Receiver<Arc<Text>>, least_window: f64) -> Second {
    let find = async {
        loop {
            match texts.recv().await.as_deref() {
                Ok(Text::Second(second)) if second.window_s >= least_window => return (**second).clone(),
                Err(broadcast::error::RecvError::Closed) => panic!("it has ended"),
                _ => {}
            }
        }
    };
    timeout(PATIENCE, find).await.expect("seconds pass")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tanks_move_and_are_seen_in_all_views() {
    let stage = stage(json!({"bots": 3})).await;
    let first = picture(&stage, "all is shown", |frame| all_shown(frame, 2, 3, 3)).await;
    let moved = |frame: &Frame| {
        let (a, b) = (first.shown.iter().flatten().flatten(), frame.shown.iter().flatten().flatten());
        a.zip(b).filter(|(a, b)| (a.x - b.x).hypot(a.y - b.y) > 5.0).count() >= 9
    };
    picture(&stage, "half of all have moved", moved).await;
    let state = stage.state();
    assert_eq!(state.crafts.len(), 3);
    assert_eq!(state.views.iter().map(|view| view.delay_ms).collect::<Vec<_>>(), [200.0, 500.0, 800.0]);
    let mut texts = stage.texts();
    let second = second(&mut texts, 2.0).await;
    assert!(second.worlds.len() == 2 && second.worlds[0].vectors_per_s > 1.0, "{second:?}");
    stage.stop().await;
}
