//! Other processes, which can be killed: this program again, told by its environment what to be.

use crate::arena::{Link, Player, View, ms};
use crate::masquerade;
use evenkeel::HostId;
use evenkeel_net::hub::HubConfig;
use evenkeel_net::protocol::Model;
use evenkeel_net::seat::SeatConfig;
use evenkeel_net::transport::{Identity, ListenConfig, Trust};
use evenkeel_net::{Client, Peer, PeerConfig, Server};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// What to be: `server ADDRESS IDENTITY MODEL`, `client URL HASH NUMBER`, `peer URL HASH NUMBER ADDRESS`, or
/// `router`.
pub const ROLE: &str = "EVENKEEL_FAULTS_ROLE";

/// Another process. It is killed when this is dropped.
pub struct Process {
    child: Child,
    lines: Receiver<(Instant, String)>,
}

impl Process {
    pub fn start(role: &str) -> Self {
        Self::spawn(Command::new(std::env::current_exe().unwrap()), role)
    }

    /// In a network namespace of that name.
    pub fn start_in(namespace: &str, role: &str) -> Self {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", namespace]).arg(std::env::current_exe().unwrap());
        Self::spawn(command, role)
    }

    fn spawn(mut command: Command, role: &str) -> Self {
        let mut child =
            command.env(ROLE, role).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("another process");
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = sender.send((Instant::now(), line));
            }
        });
        Self { child, lines }
    }

    /// Kills it without a word (SIGKILL).
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// What it has said since it was last asked, and when.
    pub fn said(&self) -> Vec<(Instant, String)> {
        self.lines.try_iter().collect()
    }

    /// Waits until it says something that begins like that.
    pub async fn says(&self, beginning: &str) -> String {
        let start = Instant::now();
        loop {
            if let Some((_, line)) = self.said().into_iter().find(|(_, line)| line.starts_with(beginning)) {
                return line;
            }
            assert!(start.elapsed() < Duration::from_secs(15), "it never says {beginning}");
            tokio::time::sleep(ms(5)).await;
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn hex(hash: [u8; 32]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Trust {
    let mut hash = [0; 32];
    for (byte, pair) in hash.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    }
    Trust::Hashes(vec![hash])
}

/// This process is somebody in another's game, for as long as that one lives.
pub fn be(role: &str) {
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let words: Vec<&str> = role.split(' ').collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        match words[..] {
            ["server", address, identity, model] => serve(address, identity, model).await,
            ["client", url, hash, number] => {
                let seat = SeatConfig::named(format!("Player {number}"));
                let client = Client::start(url, unhex(hash), seat).unwrap();
                play(Player::new(Link::Client(client), number.parse().unwrap())).await;
            }
            ["peer", url, hash, number, address] => {
                let seat = SeatConfig::named(format!("Player {number}"));
                let mut config = PeerConfig::new(url, unhex(hash), seat);
                config.address = address.parse().unwrap();
                let peer = Peer::start_with(config).await.unwrap();
                play(Player::new(Link::Peer(peer), number.parse().unwrap())).await;
            }
            ["router"] => {
                match masquerade::start() {
                    Ok(()) => println!("ready"),
                    Err(error) => println!("cannot: {error}"),
                }
                std::future::pending().await
            }
            _ => panic!("what is {role}?"),
        }
    });
}

async fn serve(address: &str, identity: &str, model: &str) {
    let (_, model) = Model::ALL.into_iter().find(|(name, _)| *name == model).unwrap();
    let listen = ListenConfig::new(address.parse().unwrap(), Identity::load(identity).unwrap());
    let server = Server::start(listen, HubConfig { model, ..HubConfig::default() }).await.unwrap();
    println!("ready {}", server.address());
    let mut last = String::new();
    loop {
        tokio::time::sleep(ms(100)).await;
        let counts = server.with(|hub, _| hub.counts());
        let said = format!("counts {} {}", counts.relayed, counts.passed_on);
        if said != last {
            println!("{said}");
            last = said;
        }
    }
}

/// Drives, and says how it sees the others.
async fn play(mut player: Player) {
    let (mut ready, mut told) = (false, Instant::now());
    loop {
        tokio::time::sleep(ms(10)).await;
        player.tick();
        if !ready && player.tank.is_some() {
            println!("ready {}", player.you().0);
            ready = true;
        }
        if told.elapsed() > ms(50) {
            told = Instant::now();
            let linked: Vec<HostId> = player.link.with(|seat, _| seat.linked().collect());
            match player.view() {
                View::Turning => {}
                View::Exact => println!("exact {} linked {}", player.known.len(), linked.len()),
                off => println!("off {off:?}"),
            }
        }
    }
}
