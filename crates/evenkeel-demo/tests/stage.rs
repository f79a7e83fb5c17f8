//! The stage on real sockets: what is set acts, and what is measured shows it.

use evenkeel::{Pose, Threshold, Vec3};
use evenkeel_demo::feed::{Frame, Mark, Second, Text, WorldSecond};
use evenkeel_demo::settings::Settings;
use evenkeel_demo::stage::{Stage, StageConfig};
use evenkeel_games::words::{GameKind, about};
use evenkeel_net::levels::Level;
use evenkeel_net::protocol::SERVER;
use evenkeel_net::seat::SeatConfig;
use evenkeel_net::transport::Trust;
use evenkeel_net::{Client, LinkState};
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
    // Every third vector comes in bursts: in a single second there may be none.
    let sends = second.worlds.iter().any(|world| world.vectors_per_s > 1.0);
    assert!(second.worlds.len() == 2 && sends, "{second:?}");
    stage.stop().await;
}

/// The mean error of each receiver on the left, over so many seconds of a window.
async fn errors(stage: &Stage, seconds: f64) -> Vec<f64> {
    let mut texts = stage.texts();
    // What was under way when the window began is told first.
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    let second = second(&mut texts, seconds).await;
    second.worlds[0].receivers.iter().map(|receiver| receiver.window.expect("it shows something")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_act_at_once_and_nonsense_is_refused() {
    let stage = stage(json!({"bots": 2, "right": null, "left": {"policy": "base"}})).await;
    picture(&stage, "two are shown", |frame| all_shown(frame, 1, 3, 2)).await;
    for nonsense in [json!({"bots": 0}), json!({"left": {"policy": "x"}}), json!({"players": {"x": {"delay_ms": 1}}})] {
        assert!(stage.set(&nonsense).is_err(), "{nonsense}");
    }
    let none = json!({"players": {"Eve": {"delay_ms": 1, "jitter_ms": 0, "loss_percent": 0}}});
    let error = stage.set(&none).expect_err("nobody is called that").to_string();
    assert!(error.starts_with("there is no player `Eve`; there are 200 ms, 500 ms, 800 ms, bot 1"), "{error}");
    // More bots, and the other world.
    stage.set(&json!({"bots": 5, "right": {"policy": "even", "budget": "1/3"}})).expect("it can be");
    let before: Vec<u32> = stage.state().crafts.iter().map(|craft| craft.id).collect();
    picture(&stage, "five are shown twice", |frame| all_shown(frame, 2, 3, 5)).await;
    let state = stage.state();
    let after: Vec<u32> = state.crafts.iter().map(|craft| craft.id).collect();
    assert_eq!((after.len(), &after[..2]), (5, &before[..]), "who was there is not disturbed");
    // Another network, as the session itself measures it.
    stage.set(&json!({"players": {"200 ms": {"delay_ms": 60}}})).expect("it can be");
    let mut texts = stage.texts();
    let near = |second: &Second| second.worlds[0].receivers[0].delay_ms.is_some_and(|delay| delay < 100.0);
    let measured = async { while !near(&second(&mut texts, 0.0).await) {} };
    timeout(PATIENCE, measured).await.expect("the session notices");
    assert_eq!(stage.state().views[0].delay_ms, 60.0);
    // Other players, one world, another game.
    stage.set(&json!({"crowd": "internet", "right": null, "game": "ships"})).expect("it can be");
    let flies = picture(&stage, "eight fly", |frame| all_shown(frame, 1, 8, 8)).await;
    let own = |view: usize| (0..8).filter(|craft| flies.shown[0][view][*craft].flags & 4 != 0).collect::<Vec<_>>();
    let in_the_game = |craft: usize| flies.truth[craft].flags == 1;
    assert!((0..8).all(|view| !in_the_game(view) || own(view) == [view]), "{flies:?}");
    stage.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_arrival_everything_is_shown_late() {
    let stage = stage(json!({"right": null, "left": {"policy": "base"}})).await;
    picture(&stage, "all is shown", |frame| all_shown(frame, 1, 3, 4)).await;
    stage.reset();
    let global = errors(&stage, 8.0).await;
    stage.set(&json!({"clock": "local"})).expect("it can be");
    let local = errors(&stage, 8.0).await;
    stage.stop().await;
    assert!(local[1] > 2.0 * global[1] && local[1] > 4.0, "{local:?} from arrival, {global:?} from generation");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn even_is_fairer_than_every_third() {
    let stage = stage(json!({"crowd": "internet"})).await;
    picture(&stage, "all is shown", |frame| all_shown(frame, 2, 8, 8)).await;
    stage.reset();
    let mut texts = stage.texts();
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    let second = second(&mut texts, 30.0).await;
    let hits: u32 = stage.state().scores.iter().map(|score| score.hits).sum();
    stage.stop().await;
    assert!(hits > 0 && second.verdicts.decided >= 3 * second.verdicts.wrong, "{hits} hits, {:?}", second.verdicts);
    let [left, right] = &second.worlds[..] else { panic!("two worlds") };
    let deviation = |world: &WorldSecond| world.std.zip(world.mean).expect("something is shown");
    let (every_third, even) = (deviation(left), deviation(right));
    assert!(even.0 < every_third.0 && even.1 < every_third.1, "{even:?} and not below {every_third:?}");
    let clocks = second.worlds.iter().flat_map(|world| &world.receivers).filter_map(|r| r.clock_error_ms);
    let worst = clocks.fold(0.0, f64::max);
    assert!(worst < 25.0, "a clock is {worst} ms off");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_restart_everybody_is_back() {
    let stage = stage(json!({"bots": 2})).await;
    picture(&stage, "all is shown", |frame| all_shown(frame, 2, 3, 2)).await;
    let play = stage.play();
    stage.restart_server().await;
    picture(&stage, "something is missing", |frame| !all_shown(frame, 2, 3, 2)).await;
    picture(&stage, "all is shown again", |frame| all_shown(frame, 2, 3, 2)).await;
    assert_eq!(stage.play(), play);
    let mut texts = stage.texts();
    let far = |second: &Second| second.worlds[0].receivers[2].delay_ms.is_some_and(|delay| delay > 600.0);
    let measured = async { while !far(&second(&mut texts, 0.0).await) {} };
    timeout(PATIENCE, measured).await.expect("networks are as they were");
    stage.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lag_makes_ships_more_exact() {
    let stage = stage(json!({"game": "ships", "right": null, "left": {"policy": "base"}})).await;
    picture(&stage, "all is shown", |frame| all_shown(frame, 1, 3, 4)).await;
    stage.reset();
    let at_once = errors(&stage, 8.0).await;
    stage.set(&json!({"lag": {"movement_ms": 300}})).expect("it can be");
    // It comes gradually, for as long as it takes everybody to hear of it.
    tokio::time::sleep(Duration::from_secs(2)).await;
    stage.reset();
    let late = errors(&stage, 8.0).await;
    stage.stop().await;
    let (sooner, later): (f64, f64) = (at_once.iter().sum(), late.iter().sum());
    assert!(later < 0.8 * sooner && late[0] < 0.5 * at_once[0], "{late:?} with lag, {at_once:?} without");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_joins_from_outside_is_seen_in_both_worlds() {
    let stage = stage(json!({"bots": 1})).await;
    let play = stage.play();
    let url = format!("https://127.0.0.1:{}/", play.port);
    let seat = SeatConfig { session: play.session.into(), ..SeatConfig::named("Ada") };
    let ada = Client::start(&url, Trust::Hashes(play.hashes), seat).expect("a client");
    let place = Vec3::new(20.0, -40.0, 0.0);
    let mut tank = None;
    let shown = |frame: &Frame| {
        let at_place = |mark: &Mark| mark.flags & 1 == 1 && (mark.x - 20.0).hypot(mark.y + 40.0) < 1.0;
        frame.shown.len() == 2 && frame.shown.iter().flatten().all(|view| view.get(1).is_some_and(at_place))
    };
    let mut frames = stage.frames();
    let seen = async {
        while !shown(&frames.borrow_and_update()) {
            tank = tank.or_else(|| ada.make(Threshold::within(0.1), about(GameKind::Tanks)).ok());
            let _ = tank.map(|tank| ada.observe(tank, Pose::at(place).facing(0.0)));
            let _ = ada.send(SERVER, Level::Quickest, b"nonsense".to_vec());
            frames.changed().await.expect("it goes on");
        }
    };
    timeout(PATIENCE, seen).await.expect("everybody sees her");
    let state = stage.state();
    assert_eq!(state.crafts.iter().map(|craft| craft.human).collect::<Vec<_>>(), [false, true]);
    assert!(state.settings.players.contains_key("Ada"));
    stage.set(&json!({"players": {"Ada": {"delay_ms": 30}}})).expect("she has a network too");
    drop(ada);
    picture(&stage, "she has left", |frame| frame.truth.len() == 1).await;
    assert!(!stage.state().settings.players.contains_key("Ada"));
    stage.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_cast_is_not_taken_for_people_nor_people_for_the_cast() {
    let stage = stage(json!({"bots": 2, "right": null})).await;
    let mut texts = stage.texts();
    let play = stage.play();
    let seat = SeatConfig { session: play.session.into(), ..SeatConfig::named("bot 7") };
    let url = format!("https://127.0.0.1:{}/", play.port);
    let impostor = Client::start(&url, Trust::Hashes(play.hashes), seat).expect("a client");
    picture(&stage, "two are shown", |frame| all_shown(frame, 1, 3, 2)).await;
    // Faster than clients connect.
    for crowd in ["internet", "papers", "internet", "papers", "internet", "papers"] {
        stage.set(&json!({"crowd": crowd})).expect("it can be");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    picture(&stage, "two are shown again", |frame| all_shown(frame, 1, 3, 2)).await;
    let state = stage.state();
    assert_eq!(state.views.iter().map(|view| view.delay_ms).collect::<Vec<_>>(), [200.0, 500.0, 800.0]);
    assert_eq!(state.settings.players.len(), 5, "{:?}", state.settings.players);
    assert!(state.crafts.iter().all(|craft| !craft.human));
    let refused = async {
        while !matches!(impostor.link(), LinkState::Over { .. }) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, refused).await.expect("the name is a bot's");
    while let Ok(text) = texts.try_recv() {
        let news = |text: &str| text.ends_with("has joined") || text.ends_with("has left");
        assert!(!matches!(&*text, Text::News { text } if news(text)), "{text:?}");
    }
    stage.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_lag_who_is_hit_is_shown_until_the_hit_is() {
    let stage =
        stage(json!({"bots": 16, "right": null, "left": {"policy": "base"}, "lag": {"movement_ms": 1_000}})).await;
    let shows = |frame: &Frame| frame.shown[0][0].iter().filter(|mark| mark.flags & 1 == 1).count();
    picture(&stage, "the nearest receiver shows most", |frame| !frame.shown.is_empty() && shows(frame) >= 12).await;
    let mut texts = stage.texts();
    let hit = async {
        loop {
            let text = texts.recv().await.expect("it goes on");
            if let Text::News { text } = &*text
                && let Some((_, target)) = text.split_once(" hit ")
            {
                break target.to_owned();
            }
        }
    };
    let target = timeout(PATIENCE, hit).await.expect("somebody is hit");
    let target = stage.state().crafts.iter().position(|craft| craft.name == target).expect("it is here");
    // By now its craft knows, and until a second has passed nobody is to see it.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let frame = stage.frames().borrow().clone();
    stage.stop().await;
    assert!(frame.truth[target].flags == 0 || frame.shown[0][0][target].flags & 1 == 1, "it has vanished too early");
}
