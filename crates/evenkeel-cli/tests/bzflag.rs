//! `evenkeel bzflag` from outside: exit codes, messages, files; and the real game, where it is installed.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod common;

use common::{errors, folder, text};
use evenkeel_bzflag::message::TankUpdate;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};

/// A recording of the game's own.
const REAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../evenkeel-bzflag/tests/data/real.rec");

fn evenkeel(arguments: &[&str]) -> Output {
    common::evenkeel(&[&["bzflag"], arguments].concat())
}

/// It ended with one line that says this, and code 2.
fn complains(arguments: &[&str], said: &[&str]) {
    let output = evenkeel(arguments);
    let error = errors(&output);
    assert_eq!((output.status.code(), error.lines().count()), (Some(2), 1), "{arguments:?}: {error}");
    assert!(said.iter().all(|part| error.contains(part)), "{arguments:?}: {error}");
}

/// A port of this machine where nobody listens.
fn nobody() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn bad_input_is_one_line_and_nothing_is_started_or_written() {
    let folder = folder("bzflag-bad");
    let out = folder.join("out.json");
    let here = ["relay", "--server", "127.0.0.1:5155", "--listen", "127.0.0.1:0", "--seconds", "1"];
    for (flags, said) in [
        (&["--policy", "evn"][..], &["--policy: unknown policy `evn`", "did you mean `even`", "`today`"][..]),
        (&["--shadow", "today,bass"], &["--shadow: unknown policy `bass`", "`base`"]),
        (&["--budget", "3"], &["--budget: `3` is no budget"]),
        (&["--frames-per-second", "0"], &["--frames-per-second 0", "between 10 and 1000"]),
        (&["--max-clients", "0"], &["--max-clients 0", "between 1 and 200"]),
        (&["--record", "tanks.txt"], &["tanks.txt", ".csv, .csv.gz or .evk"]),
        (&["--record", "no/such/tanks.csv"], &["no such directory"]),
        (&["--condition", "player=Ada,far", "--condition", "player=Ada,far"], &["`Ada` has two conditions"]),
        (&["--metrics", "192.0.2.1:1"], &["--metrics: "]),
    ] {
        let json = ["--json", text(&out)];
        complains(&[&here[..], flags, &json].concat(), said);
    }
    complains(&["relay", "--server", "::1", "--seconds", "1"], &["--server ::1"]);
    complains(&["relay", "--server", "127.0.0.1", "--listen", "[::1]:0"], &["--listen [::1]:0", "IPv4"]);
    for listen in ["127.0.0.1:5154", "0.0.0.0:5154"] {
        let own = ["relay", "--server", "127.0.0.1", "--listen", listen, "--seconds", "1"];
        complains(&own, &[listen, "that is the server's own address"]);
    }
    let condition = evenkeel(&["relay", "--server", "127.0.0.1", "--condition", "Ada,far"]);
    assert_eq!(condition.status.code(), Some(2));
    assert!(errors(&condition).contains("expected player=NAME,CONDITIONS"), "{}", errors(&condition));
    complains(&["testbed", "--players", "1"], &["--players 1"]);
    complains(&["testbed", "--policies", "base,evn"], &["--policies: unknown policy `evn`"]);
    complains(&["testbed", "--delays-ms", "0,2000"], &["--delays-ms 2000", "between 0 and 800"]);
    assert!(std::fs::read_dir(&folder).unwrap().next().is_none());
}

#[test]
fn what_a_testbed_lacks_is_said_at_once() {
    let output = Command::new(env!("CARGO_BIN_EXE_evenkeel"))
        .args(["bzflag", "testbed", "--seconds", "10"])
        .env("PATH", "/nowhere")
        .output()
        .unwrap();
    let error = errors(&output);
    // The game may be where Debian puts games, the compiler is not.
    assert_eq!((output.status.code(), error.lines().count()), (Some(2), 1), "{error}");
    assert!(error.contains("cc") && error.contains("apt-get install") && error.contains("gcc"), "{error}");
}

#[test]
fn a_port_in_use_is_said() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let arguments = ["relay", "--server", "127.0.0.1:9", "--listen", &address, "--seconds", "1"];
    complains(&arguments, &["--listen: ", "is in use"]);
}

/// A relay that runs, and what it says.
struct Running {
    child: Child,
    said: BufReader<ChildStderr>,
}

impl Running {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_evenkeel"));
        command.arg("bzflag").args(arguments).stderr(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        Self { child, said }
    }

    /// Reads on until a line has this.
    fn until(&mut self, wanted: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.said.read_line(&mut line).unwrap() > 0, "it ended without `{wanted}`");
            if line.contains(wanted) {
                return line;
            }
        }
    }

    /// Where players connect.
    fn address(&mut self) -> String {
        let line = self.until("Join: bzflag NAME@");
        line.split("NAME@").nth(1).unwrap().split_whitespace().next().unwrap().to_owned()
    }

    fn stop(mut self) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        // Nobody else reads it, and it must not wait for that.
        let mut rest = String::new();
        self.said.read_to_string(&mut rest).unwrap();
        let output = self.child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    }
}

#[test]
fn a_relay_ends_by_itself_and_says_what_came_of_it() {
    let folder = folder("bzflag-ends");
    let (json, trace) = (folder.join("out.json"), folder.join("tanks.csv"));
    let server = nobody();
    let mut arguments = vec!["relay", "--server", &server, "--listen", "127.0.0.1:0", "--seconds", "1"];
    arguments.extend(["--policy", "even", "--shadow", "today,base", "--json", text(&json), "--record", text(&trace)]);
    let output = evenkeel(&arguments);
    assert!(output.status.success(), "{}", errors(&output));
    assert!(errors(&output).contains(&format!("Relaying to {server} by even.")), "{}", errors(&output));
    let value = read(&json);
    assert_eq!((&value["version"], &value["settings"]["policy"]), (&1.into(), &"even".into()));
    let names: Vec<&Value> =
        value["summary"]["deciders"].as_array().unwrap().iter().map(|decider| &decider["name"]).collect();
    assert_eq!(names, ["even", "today", "accuracy model"]);
    assert_eq!(value["summary"]["deciders"][0]["live"], true);
    assert_eq!(std::fs::read_to_string(trace).unwrap().lines().count(), 1, "a head, and no tank");
}

#[test]
fn a_server_that_is_not_there_is_no_reason_to_stop() {
    let server = nobody();
    let mut relay = Running::start(&["relay", "--server", &server, "--listen", "127.0.0.1:0", "--json", "-"]);
    let address = relay.address();
    for _ in 0..2 {
        let mut client = TcpStream::connect(&address).unwrap();
        client.write_all(b"BZFLAG\r\n\r\n").unwrap();
        relay.until("the server takes no connection for this client");
        assert_eq!(client.read(&mut [0; 9]).unwrap_or(0), 0, "the client is not kept waiting");
    }
    let (code, said) = relay.stop();
    assert_eq!(code, Some(0));
    let value: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(value["summary"]["deciders"][0]["name"], "accuracy model");
}

#[test]
fn metrics_are_answered() {
    let mut relay =
        Running::start(&["relay", "--server", &nobody(), "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0"]);
    let line = relay.until("Metrics: http://");
    let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap();
    let mut answer = String::new();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("application/openmetrics-text"), "{answer}");
    assert!(answer.contains("evenkeel_bzflag_clients 0\n") && answer.contains("# EOF"), "{answer}");
    assert_eq!(relay.stop().0, Some(0));
}

#[test]
fn recordings_of_the_game_become_traces() {
    let folder = folder("bzflag-record");
    for name in ["tanks.csv", "tanks.csv.gz", "tanks.evk"] {
        let out = folder.join(name);
        let output = evenkeel(&["record", "--rec", REAL, "--out", text(&out)]);
        assert!(output.status.success(), "{}", errors(&output));
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(said, format!("166 updates of tanks in 22.5 s are in {}.\n", out.display()));
        let lab = ["lab", "compare", "--trace", text(&out), "--vectors-only", "--policies", "base", "--json", "-"];
        let compared = common::evenkeel(&lab);
        assert!(compared.status.success(), "{name}: {}", errors(&compared));
    }
    let out = folder.join("tanks.csv");
    let kept = std::fs::read(&out).unwrap();
    let (png, cut) = (folder.join("a.rec"), folder.join("cut.rec"));
    std::fs::write(&png, b"\x89PNG....").unwrap();
    complains(&["record", "--rec", text(&png), "--out", text(&out)], &["a.rec", "no recording of the game"]);
    complains(&["record", "--rec", "none.rec", "--out", text(&out)], &["cannot read none.rec"]);
    complains(&["record", "--rec", REAL, "--out", "tanks.txt"], &["tanks.txt", ".csv, .csv.gz or .evk"]);
    assert_eq!(std::fs::read(&out).unwrap(), kept, "nothing is written over");
    // Of one that was cut off, what there is.
    let real = std::fs::read(REAL).unwrap();
    std::fs::write(&cut, &real[..real.len() - 100]).unwrap();
    complains(&["record", "--rec", text(&cut), "--out", text(&out)], &["cut.rec", "ends too early", "tanks.csv"]);
    assert!(std::fs::read_to_string(&out).unwrap().lines().count() > 150);
    let neither = evenkeel(&["record", "--out", text(&out)]);
    assert_eq!(neither.status.code(), Some(2));
}

#[test]
fn what_passes_live_is_recorded() {
    let out = folder("bzflag-live").join("tanks.csv");
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap().to_string();
    let mut relay = Running::start(&["record", "--server", &address, "--listen", "127.0.0.1:0", "--out", text(&out)]);
    let mut client = TcpStream::connect(relay.address()).unwrap();
    client.write_all(b"BZFLAG\r\n\r\n").unwrap();
    let (mut taken, _) = server.accept().unwrap();
    taken.read_exact(&mut [0; 10]).unwrap();
    taken.write_all(b"BZFS0221\x03").unwrap();
    client.read_exact(&mut [0; 9]).unwrap();
    let mut frame = Vec::new();
    TankUpdate { position: [1.5, -2.0, 0.0], order: 7, ..TankUpdate::of(3) }.emit(&mut frame);
    client.write_all(&frame).unwrap();
    // When the server has it, so has the recorder.
    let mut passed = vec![0; frame.len()];
    taken.read_exact(&mut passed).unwrap();
    assert_eq!(passed, frame);
    assert_eq!(relay.stop().0, Some(0));
    let written = std::fs::read_to_string(out).unwrap();
    assert!(written.lines().count() == 2 && written.ends_with("\n0,3,1.5,-2,0,0,0,0,0,0,1,7\n"), "{written}");
}

/// The whole of it with the real game, where that is installed.
#[test]
fn the_real_game_is_played_and_measured() {
    if std::env::var_os("EVENKEEL_BZFLAG_TESTS").is_none() {
        return eprintln!("SKIPPED, nothing was played: set EVENKEEL_BZFLAG_TESTS=1 where the game is installed");
    }
    let folder = folder("bzflag-testbed");
    let [json, report, logs] = ["out.json", "report", "logs"].map(|name| folder.join(name));
    let mut arguments = vec!["testbed", "--seconds", "20", "--delays-ms", "0,200", "--policies", "today,base"];
    arguments.extend(["--json", text(&json), "--report", text(&report), "--keep-logs", text(&logs)]);
    let output = evenkeel(&arguments);
    assert!(output.status.success(), "{}", errors(&output));
    let value = read(&json);
    let deciders = value["summary"]["deciders"].as_array().unwrap();
    let mean = |name: &str| {
        let decider = deciders.iter().find(|decider| decider["name"] == name).unwrap();
        assert_eq!(decider["clients"].as_array().unwrap().len(), 2, "{decider}");
        decider["mean_m"].as_f64().unwrap()
    };
    // As they were asked for, not as they came.
    assert_eq!((&deciders[0]["name"], &deciders[0]["clients"][0]["name"]), (&"today".into(), &"Ada".into()));
    let (today, model) = (mean("today"), mean("accuracy model"));
    assert!(0.0 < model && model < today, "{model} {today}");
    assert_eq!(value["game"]["trouble"], serde_json::json!([]));
    let players = value["game"]["players"].as_array().unwrap();
    assert_eq!(players.iter().filter(|player| player["spawned"].as_u64().unwrap() > 0).count(), 2, "{players:?}");
    let page = std::fs::read_to_string(report.join("index.html")).unwrap();
    assert!(page.matches("<svg").count() == 2 && page.contains("Ada, 0 ms"), "{page}");
    assert!(logs.join("server.log").is_file());
}
