//! `evenkeel demo` from outside: one line, a page, an end.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod common;

use common::{errors, evenkeel, folder, text};
use futures_util::{SinkExt, StreamExt};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite::Message;

/// Everything here takes much less.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program while it runs.
struct Running {
    child: Child,
    line: String,
}

impl Running {
    fn start(arguments: &[&str]) -> Self {
        let mut child = spawn(arguments);
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        Self { child, line }
    }

    /// Where the page is.
    fn host(&self) -> &str {
        self.line.split("http://").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap()
    }

    fn get(&self, path: &str) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.host()).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.host()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&answer));
        let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
        answer.split_off(end + 4)
    }

    /// Asks it to end, which it does well. What it said besides.
    fn stop(mut self, signal: &str) -> String {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert_eq!(ended(&mut self.child), Some(0));
        let mut said = String::new();
        self.child.stderr.as_mut().unwrap().read_to_string(&mut said).unwrap();
        said
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_evenkeel"));
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn ended(child: &mut Child) -> Option<i32> {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        assert!(begin.elapsed() < PATIENCE, "it does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn without_a_command_it_is_the_demo_and_a_signal_ends_it_well() {
    let running = Running::start(&[]);
    let begin = "Evenkeel demo: 4 tanks, receivers at 200, 500 and 800 ms.  Open http://127.0.0.1:";
    assert!(running.line.starts_with(begin) && running.line.ends_with("   (Ctrl-C stops)\n"), "{}", running.line);
    assert!(String::from_utf8(running.get("/")).unwrap().contains("Evenkeel"));
    running.stop("-INT");
    let running = Running::start(&["demo", "--port", "0", "--game", "ships", "--crowd", "internet", "--right", "off"]);
    assert!(running.line.starts_with("Evenkeel demo: 8 ships at 20 to 250 ms.  Open "), "{}", running.line);
    assert_eq!(running.stop("-TERM"), "");
    Running::start(&["demo", "--bots", "1", "--port", "0"]).stop("-HUP");
}

#[test]
fn a_port_in_use_is_said() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let running = Running::start(&["demo", "--bots", "1", "--port", &port.to_string()]);
    let host = running.host().to_owned();
    let said = running.stop("-INT");
    let other = host.rsplit(':').next().unwrap();
    assert_eq!(said, format!("Port {port} is in use: {other} instead.\n"));
}

#[test]
fn a_closed_pipe_is_no_reason_to_panic() {
    let mut child = spawn(&["demo", "--bots", "1", "--port", "0", "--lan"]);
    drop((child.stdout.take(), child.stderr.take()));
    // Until it would have said its line.
    std::thread::sleep(Duration::from_secs(2));
    assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(ended(&mut child), Some(0));
}

#[test]
fn what_is_wrong_is_said_on_one_line() {
    for (arguments, said) in [
        (["--left", "evn"], "did you mean `even`"),
        (["--right", "nobody"], "unknown policy `nobody`"),
        (["--budget", "3"], "budget `3`"),
        (["--bots", "17"], "bots must be 1 to 16, not 17"),
        (["--address", "203.0.113.1"], "no address of this machine"),
    ] {
        let output = evenkeel(&[&["demo"], &arguments[..]].concat());
        let error = errors(&output);
        assert_eq!((output.status.code(), error.lines().count()), (Some(2), 1), "{error}");
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn the_laboratory_reads_what_the_demo_recorded() {
    let running = Running::start(&["demo", "--bots", "2", "--port", "0"]);
    let recording = running.get(&recorded(running.host()));
    running.stop("-INT");
    let file = folder("demo-recording").join("run.evkrec");
    std::fs::write(&file, recording).unwrap();

    let summary = evenkeel(&["recording", text(&file)]);
    let said = String::from_utf8(summary.stdout).unwrap();
    for part in ["6 hosts, 2 entities", "left: base/3 at 1/3", "left, 200 ms: ", "right, 800 ms: "] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    let compared = evenkeel(&["lab", "compare", "--trace", text(&file), "--policies", "base"]);
    let said = String::from_utf8(compared.stdout.clone()).unwrap();
    assert!(compared.status.success() && said.contains("base"), "{said}{}", errors(&compared));
}

/// Has some seconds recorded; where the recording is.
fn recorded(host: &str) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let work = async {
        let stream = tokio::net::TcpStream::connect(host).await.unwrap();
        let (mut feed, _) = tokio_tungstenite::client_async(format!("ws://{host}/feed"), stream).await.unwrap();
        let (mut seconds, mut pictures) = (0, 0);
        loop {
            match feed.next().await.unwrap().unwrap() {
                Message::Binary(_) => {
                    pictures += usize::from(seconds >= 3);
                    if pictures == 150 {
                        feed.send(Message::text(r#"{"do": "stop-recording"}"#)).await.unwrap();
                    }
                }
                Message::Text(told) => {
                    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
                    if told["kind"] == "recorded" {
                        return told["url"].as_str().unwrap().to_owned();
                    }
                    seconds += usize::from(told["kind"] == "second");
                    if told["kind"] == "second" && seconds == 3 {
                        feed.send(Message::text(r#"{"do": "record"}"#)).await.unwrap();
                    }
                }
                _ => {}
            }
        }
    };
    runtime.block_on(async { tokio::time::timeout(PATIENCE, work).await.expect("in time") })
}
