//! `evenkeel serve` and `evenkeel token`, as an operator uses them.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod common;

use common::{errors, evenkeel, folder, text};
use evenkeel_net::Client;
use evenkeel_net::seat::{SeatConfig, SeatEvent};
use evenkeel_net::transport::{Identity, Trust};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", errors(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// It ended with one line that says this, and code 2.
fn complains(arguments: &[&str], said: &[&str]) {
    let output = evenkeel(arguments);
    let error = errors(&output);
    assert_eq!((output.status.code(), error.lines().count()), (Some(2), 1), "{error}");
    assert!(said.iter().all(|part| error.contains(part)), "{error}");
}

#[test]
fn printed_settings_are_settings() {
    let folder = folder("serve-print");
    let (file, again) = (folder.join("server.toml"), folder.join("again.toml"));
    let toml = "policy = \"credits\"\nlag-ms = 40\nmax-players = 8\nrates = \"messages=50\"\nname = [\"play.example\"]\n\n\
                [[condition]]\nplayer = \"Ada\"\noutgoing = \"delay=200ms,jitter=exp:20ms\"\n";
    std::fs::write(&file, toml).unwrap();
    let flags = ["--config", text(&file), "--max-players", "9", "--metrics", "127.0.0.1:9464", "--print-config"];
    let first = printed(&evenkeel(&[&["serve"], &flags[..]].concat()));
    for line in ["policy = \"credits\"", "lag-ms = 40.0", "max-players = 9", "metrics = \"127.0.0.1:9464\""] {
        assert!(first.lines().any(|found| found == line), "{line}\n{first}");
    }
    assert!(first.contains("rates = \"datagrams=1000,messages=50,handshakes=4\"") && first.contains("[[condition]]"));
    std::fs::write(&again, &first).unwrap();
    assert_eq!(printed(&evenkeel(&["serve", "--config", text(&again), "--print-config"])), first);
    let flag = ["serve", "--condition", "player=Ben,far,loss=2%", "--print-config"];
    assert!(printed(&evenkeel(&flag)).contains("incoming = \"far,loss=2%\""));
}

#[test]
fn what_is_wrong_is_said_on_one_line() {
    let folder = folder("serve-wrong");
    let write = |name: &str, what: &str| {
        let path = folder.join(name);
        std::fs::write(&path, what).unwrap();
        text(&path).to_owned()
    };
    let unknown = write("unknown.toml", "session = \"main\"\n\npolcy = \"even\"\n");
    complains(&["serve", "--config", &unknown], &["unknown.toml, line 3", "polcy", "`policy`"]);
    let broken = write("broken.toml", "listen = \"0.0.0.0:4433\nsession = 3\n");
    complains(&["serve", "--config", &broken], &["broken.toml, line 1"]);
    let address = write("address.toml", "# Here?\nlisten = \"somewhere\"\n");
    complains(&["serve", "--config", &address], &["address.toml, line 2"]);
    let condition = write("condition.toml", "[[condition]]\nplayer = \"Ada\"\nincoming = \"los=3%\"\n");
    complains(&["serve", "--config", &condition], &["player `Ada`", "los=3%"]);
    complains(&["serve", "--config", "/nowhere.toml"], &["/nowhere.toml", "--config"]);
    complains(&["serve", "--policy", "evn", "--print-config"], &["did you mean `even`"]);
    complains(&["serve", "--budget", "3"], &["`3` is no budget"]);
    complains(&["serve", "--lag-ms", "-3"], &["lag-ms -3", "between 0"]);
    complains(&["serve", "--certificate", &unknown], &["--key"]);
    let listen = ["serve", "--listen", "127.0.0.1:0"];
    complains(
        &[&listen[..], &["--certificate", &unknown, "--key", &unknown]].concat(),
        &["certificate cannot be used"],
    );
    complains(&[&listen[..], &["--token-keys", &unknown]].concat(), &["unknown.toml, line 1", "evenkeel-key-1"]);
    let empty = write("empty.keys", "# none yet\n");
    complains(&[&listen[..], &["--token-keys", &empty]].concat(), &["has no key", "evenkeel token keys new"]);
}

#[test]
fn a_port_in_use_is_said() {
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let taken = udp.local_addr().unwrap().to_string();
    complains(&["serve", "--listen", &taken], &["UDP port", "is in use", "choose another"]);
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = tcp.local_addr().unwrap().to_string();
    let output = evenkeel(&["serve", "--listen", "127.0.0.1:0", "--metrics", &taken]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("--metrics: TCP port"), "{}", errors(&output));
}

/// A secret key, and the file of its public line.
fn keys(folder: &Path) -> (String, String) {
    let (secret, public) = (folder.join("operator.key"), folder.join("server.keys"));
    let line = printed(&evenkeel(&["token", "keys", "new", "--secret", text(&secret)]));
    std::fs::write(&public, line).unwrap();
    (text(&secret).to_owned(), text(&public).to_owned())
}

#[test]
fn tokens_are_issued_shown_and_revoked() {
    let folder = folder("serve-tokens");
    let (secret, public) = keys(&folder);
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&secret).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600, "a secret is the owner's");
    assert_eq!(
        printed(&evenkeel(&["token", "keys", "public", "--secret", &secret])),
        std::fs::read_to_string(&public).unwrap()
    );
    complains(&["token", "keys", "new", "--secret", &secret], &["operator.key"]);

    let issue = ["token", "issue", "--secret", &secret, "--player", "Ada", "--session", "arena"];
    let token = printed(&evenkeel(&[&issue[..], &["--rights", "join+move", "--expires", "2h"]].concat()));
    let token = token.trim();
    let shown = printed(&evenkeel(&["token", "show", token, "--keys", &public]));
    for part in ["player    Ada", "session   arena", "rights    join+move", "entities  64", "h left", "signature good"]
    {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let watch = printed(&evenkeel(&[&issue[..], &["--rights", "observe"]].concat()));
    assert!(printed(&evenkeel(&["token", "show", watch.trim()])).contains("entities  0"));
    complains(&[&issue[..], &["--rights", "move"]].concat(), &["move needs join"]);
    complains(&["token", "show", "hello"], &["not a join token"]);
    complains(&["token", "issue", "--secret", &public, "--player", "Ada"], &["this is a public key"]);

    let revoked = folder.join("revoked");
    printed(&evenkeel(&["token", "revoke", token, "--revoked", text(&revoked)]));
    let id = shown.lines().next().unwrap().trim_start_matches("id").trim();
    assert!(std::fs::read_to_string(&revoked).unwrap().starts_with(id));
    printed(&evenkeel(&["token", "revoke", id, "--revoked", text(&revoked)]));
    complains(&["token", "revoke", "hello", "--revoked", text(&revoked)], &["neither a join token"]);
}

/// A server that runs, and what it said of itself.
struct Running {
    child: Child,
    url: String,
    hash: String,
    metrics: String,
    said: BufReader<ChildStderr>,
}

impl Running {
    fn start(arguments: &[&str]) -> Self {
        let listen = ["serve", "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_evenkeel"));
        command.args(listen).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let after = |word: &str| words[words.iter().position(|w| *w == word).unwrap() + 1];
        let (url, hash) = (after("join").to_owned(), after("--hash").to_owned());
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut metrics = String::new();
        while !metrics.starts_with("Metrics: http://") {
            metrics.clear();
            assert!(said.read_line(&mut metrics).unwrap() > 0, "it never said where the metrics are");
        }
        let metrics = metrics.trim().trim_start_matches("Metrics: http://").trim_end_matches("/metrics").to_owned();
        Self { child, url, hash, metrics, said }
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.metrics).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn trust(&self) -> Trust {
        let byte = |at: usize| u8::from_str_radix(&self.hash[2 * at..2 * at + 2], 16).unwrap();
        Trust::Hashes(vec![std::array::from_fn(byte)])
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Ends it, well, within a few seconds. Answers what it logged.
    fn stop(mut self, signal: &str) -> String {
        self.signal(signal);
        let start = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < Duration::from_secs(10), "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        let mut log = String::new();
        self.said.read_to_string(&mut log).unwrap();
        log
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn until(what: &str, mut so: impl FnMut() -> bool) {
    for _ in 0..2_000 {
        if so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("never: {what}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_serves_is_scraped_and_ends_well() {
    let folder = folder("serve-run");
    let (secret, public) = keys(&folder);
    let state = folder.join("state");
    let arguments = ["--session", "arena", "--token-keys", &public, "--state", text(&state)];
    let running = Running::start(&arguments);
    assert!(running.get("/healthz").starts_with("HTTP/1.1 200"));

    let issue = ["token", "issue", "--secret", &secret, "--player", "Ada", "--session", "arena"];
    let token = printed(&evenkeel(&issue)).trim().as_bytes().to_vec();
    let ada = SeatConfig { session: "arena".into(), token, ..SeatConfig::named("Ada") };
    let eve = SeatConfig { token: Vec::new(), ..ada.clone() };
    let ada = Client::start(&running.url, running.trust(), ada).unwrap();
    let eve = Client::start(&running.url, running.trust(), eve).unwrap();
    until("Ada is in", || ada.is_ready()).await;
    until("Eve is told", || std::iter::from_fn(|| eve.poll_event()).any(|e| matches!(e, SeatEvent::Refused(_)))).await;
    let metrics = running.get("/metrics");
    assert!(metrics.contains("evenkeel_players{session=\"arena\"} 1"), "{metrics}");
    assert!(metrics.contains("evenkeel_refusals_total{session=\"arena\",reason=\"token\"} 1"), "{metrics}");
    assert!(running.get("/report").contains("\"policy\":\"even\""));

    let hash = running.hash.clone();
    let log = running.stop("-TERM");
    assert!(log.contains("joined") && log.contains("refused") && log.contains("SIGTERM"), "{log}");
    until("Ada is told", || std::iter::from_fn(|| ada.poll_event()).any(|e| matches!(e, SeatEvent::Ending { .. })))
        .await;

    let again = Running::start(&arguments);
    assert_eq!(again.hash, hash, "a restart keeps the certificate");
    assert!(state.join("reset.key").exists());
    again.stop("-INT");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn measured_round_trips_are_written_for_the_planner() {
    let folder = folder("serve-rtts");
    let file = folder.join("rtts.csv");
    let running = Running::start(&["--rtts", text(&file), "--site", "Vienna, AT"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "from,to,rtt_ms\n", "it is there from the start");
    let ada = Client::start(&running.url, running.trust(), SeatConfig::named("Ada")).unwrap();
    until("Ada is in", || ada.is_ready()).await;
    until("she is measured", || running.get("/report").contains("\"round_trip_s\":0.")).await;
    running.stop("-TERM");
    let written = std::fs::read_to_string(&file).unwrap();
    let line = written.lines().nth(1).unwrap();
    let rtt = line.strip_prefix("Ada,\"Vienna, AT\",").and_then(|rtt| rtt.parse::<f64>().ok());
    assert!(written.lines().count() == 2 && rtt.is_some_and(|rtt| rtt > 0.0 && rtt < 10_000.0), "{written}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside it");
    complains(&["serve", "--rtts", "/no/such/folder/rtts.csv", "--listen", "127.0.0.1:0"], &["--rtts /no/such/folder"]);
    complains(&["serve", "--site", "Vienna"], &["give --rtts"]);
}

#[test]
fn certificate_and_keys_are_read_again_without_a_restart() {
    let folder = folder("serve-renew");
    let file = folder.join("both.pem");
    let make = || {
        let made = Identity::self_made(["localhost"], Duration::from_secs(86_400)).unwrap();
        made.save(&file).unwrap();
        made.hash().iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    let first = make();
    let (_, public) = keys(&folder);
    let guarded = ["--certificate", text(&file), "--key", text(&file), "--token-keys", &public];
    let mut running = Running::start(&guarded);
    assert_eq!(running.hash, first);
    let second = make();
    running.signal("-HUP");
    let mut log = String::new();
    while !log.contains(&second) {
        assert!(running.said.read_line(&mut log).unwrap() > 0, "it never said that it shows another");
    }
    assert!(log.contains("read again keys=1"), "{log}");
    running.stop("-TERM");
}
