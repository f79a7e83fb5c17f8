//! A server under load, in short: nothing is lost, nobody is dropped, and memory does not grow.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod common;

use common::{errors, evenkeel, folder, text};

/// Enough to meet each other, and few enough for two processors that others use too.
const PLAYERS: &str = "100";
/// Most of a minute, with what it takes to join and to leave.
const SECONDS: &str = "35";

#[test]
fn many_players_lose_nothing_and_cost_no_memory() {
    let file = folder("soak").join("figures.json");
    let load = ["--players", PLAYERS, "--entities", "20", "--seconds", SECONDS, "--json", text(&file)];
    let output = evenkeel(&[&["bench", "net"], &load[..]].concat());
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    // What it says is judged by the program itself: lost, doubled or disordered messages, lost connections, growing memory.
    assert!(output.status.success(), "{printed}\n{}", errors(&output));
    let figures: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let figure = |name: &str| figures[name].as_f64().unwrap();
    assert_eq!((figure("messages_lost"), figure("players_dropped")), (0.0, 0.0), "{printed}");
    assert!(figure("messages_sent") >= 4_000.0, "{printed}");
    assert!(figure("vectors_per_second") > 100.0 && figure("error_mean_m") < 3.0, "{printed}");
}
