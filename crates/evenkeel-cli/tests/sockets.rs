//! `evenkeel join` and `evenkeel lab sockets` from outside: real processes, real sockets, real time.

#![allow(clippy::unwrap_used)]

mod common;

use common::{errors, evenkeel, folder, text};
use evenkeel_net::protocol::{Refusal, ToPlayer, encode};
use evenkeel_net::transport::{Identity, ListenConfig, Listener};
use serde_json::Value;
use std::time::{Duration, Instant};

/// How far sockets and laboratory may be apart: 5 % for a machine that is busy with other tests, and three deviations of the
/// laboratory's own figure. For the base case those over repeats of the same drive. A policy with a budget learns from its first
/// choices, and which they are depends on microseconds: after half a minute two runs of one drive differ like runs of two drives.
fn allowed(row: &Value) -> f64 {
    let over = if row["policy"] == "base" { "deviation_over_repeats" } else { "deviation_over_seeds" };
    0.05 + 3.0 * row[over].as_f64().unwrap()
}

#[test]
fn the_same_scenarios_come_to_the_same_on_sockets_and_the_clock_holds() {
    let folder = folder("sockets");
    let path = folder.join("results.json");
    let output = evenkeel(&["lab", "sockets", "--quick", "--seconds", "30", "--json", text(&path)]);
    assert!(output.status.success(), "{}", errors(&output));
    let results: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(results["version"], 1);
    let rows = results["rows"].as_array().unwrap();
    let of = |is_clock: bool| rows.iter().filter(move |row| row["clock_scene"] == is_clock);
    assert_eq!((of(false).count(), of(true).count()), (6, 3), "{results:#}");
    for row in of(false) {
        for ratio in ["ratio", "ratio_export"] {
            let off = (row[ratio].as_f64().unwrap() - 1.0).abs();
            // What is a few centimetres off for want of a better vector is not worth a percentage.
            let small = row["sockets_export_m"].as_f64().unwrap() < 0.15;
            assert!(off < allowed(row) + if small { 0.05 } else { 0.0 }, "{ratio} of {row:#}\n{results:#}");
        }
        let (measured, told) = (row["measured_delay_ms"].as_f64().unwrap(), row["receiver"].as_str().unwrap());
        let real: f64 = told.trim_end_matches(" ms").parse().unwrap();
        assert!((measured - real).abs() < 10.0, "the server believes {measured} ms: {row:#}");
    }
    for row in of(true) {
        let (p99, settled) = (row["clock_p99_ms"].as_f64().unwrap(), row["clock_settled_s"].as_f64().unwrap());
        assert!(p99 < 5.0 && settled > 15.0, "{row:#}");
    }
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("policies tank") && printed.contains("p99"), "{printed}");
}

/// One line, exit code 2.
fn refused(arguments: &[&str], why: &str) {
    let output = evenkeel(arguments);
    let said = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    assert!(said.contains(why), "{arguments:?}: {said}");
}

#[test]
fn bad_flags_are_refused_at_once() {
    let url = "https://127.0.0.1:9/";
    for (flags, why) in [
        (&["--players", "0"][..], "--players must be between 1 and 1000"),
        (&["--seconds", "0"], "--seconds must be between"),
        (&["--entities", "65"], "--entities must be between 1 and 64"),
        (&["--entities", "64", "--seconds", "86400"], "must be at most 20000"),
        (&["--motion", "tnak"], "did you mean `tank`?"),
        (&["--hash", "abc"], "a hash has 64 hex digits"),
        (&["--trust", "everybody"], "only `system` can be trusted by name"),
        (&["--certificate", "/no/such/file.pem"], "--certificate /no/such/file.pem"),
        (&["--condition", "delay=fast"], "expected a time such as 200ms"),
        (&["--clock", "offset=3"], "expected a time such as 3s"),
        (&["--clock", "tick=3s"], "expected offset=3s, drift=50ppm or step=60s@10s"),
        (&["--trace", "/no/such/game.csv"], "cannot read /no/such/game.csv"),
        (&["--json", "/no/such/folder/x.json"], "there is no such directory"),
        (&["--sample", "0"], "--sample must be between"),
    ] {
        refused(&[&["join", url][..], flags].concat(), why);
    }
    refused(&["join", "127.0.0.1:9", "--timeout", "1"], "begins with neither https nor wss");
    refused(&["join", "wss://127.0.0.1:9/", "--condition", "delay=5ms"], "--condition acts on UDP");
    refused(&["lab", "sockets", "--seconds", "1"], "--seconds must be between 5 and 600");
    refused(&["lab", "sockets", "--only", "chess"], "no scene is called that");
}

#[test]
fn a_server_that_is_not_there_is_said_in_one_line_and_in_time() {
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", silent.local_addr().unwrap());
    let began = Instant::now();
    let output = evenkeel(&["join", &url, "--hash", &"00".repeat(32), "--timeout", "2"]);
    let said = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.starts_with(&format!("evenkeel: cannot join {url}: ")) && said.contains("did not answer in time"),
        "{said}"
    );
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
}

#[test]
fn another_version_is_named() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let identity = Identity::self_made(["localhost", "127.0.0.1"], Duration::from_secs(3600)).unwrap();
    let hash: String = identity.hash().iter().map(|byte| format!("{byte:02x}")).collect();
    let address = "127.0.0.1:0".parse().unwrap();
    let listener = runtime.block_on(Listener::bind(ListenConfig::new(address, identity))).unwrap();
    let url = format!("https://{}/", listener.local_address());
    // A server of another version: whatever it is told, it speaks 99.
    runtime.spawn(async move {
        while let Some(connection) = listener.accept().await {
            let (sender, mut receiver) = connection.split();
            receiver.receive().await;
            let _ = sender.send_message(encode(&ToPlayer::Refused(Refusal::Version { ours: 99 })).unwrap());
            while receiver.receive().await.is_some() {}
        }
    });
    let output = evenkeel(&["join", &url, "--hash", &hash, "--timeout", "20"]);
    let said = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("the server speaks protocol version 99") && said.contains("update the older one"), "{said}");
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
}
