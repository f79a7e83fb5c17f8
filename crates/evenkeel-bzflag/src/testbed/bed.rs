//! The programs of a bed, from the first to the last.

use super::child::Running;
use super::{BedError, ClientOptions, Died, Drawn, ServerOptions, Tally, Tools, eyes, watch};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// What is preloaded into the clients.
const QUIET: &str = include_str!("../../quiet/quiet.c");
/// A server makes its world and answers well within this.
const START: Duration = Duration::from_secs(20);
const STEP: Duration = Duration::from_millis(20);

/// The real game, running: a server, clients, and one who watches.
///
/// Whatever was started ends with the bed: by [`stop`](Self::stop), when it is dropped (after an error or a panic,
/// too), and when the program that owns it is killed outright. Calls block; from async code, go through
/// `spawn_blocking`.
#[derive(Debug)]
pub struct Bed {
    tools: Tools,
    folder: PathBuf,
    library: PathBuf,
    leash: Child,
    running: Vec<Running>,
}

impl Bed {
    /// Prepares a bed that keeps all its files in `folder`: a log for each program, and each client's own home.
    pub fn new(tools: Tools, folder: impl AsRef<Path>) -> Result<Self, BedError> {
        let folder = folder.as_ref();
        fs::create_dir_all(folder).map_err(BedError::io(folder.display().to_string()))?;
        // The clients run in no particular folder.
        let folder = folder.canonicalize().map_err(BedError::io(folder.display().to_string()))?;
        let library = compile(&tools, &folder)?;
        let leash = leash().map_err(BedError::io("sh does not start"))?;
        Ok(Self { tools, folder, library, leash, running: Vec::new() })
    }

    /// Starts a server and waits until it answers; where.
    pub fn server(&mut self, options: &ServerOptions) -> Result<SocketAddr, BedError> {
        let port = if options.port == 0 { free_port()? } else { options.port };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        self.start("server", options.command(&self.tools, port))?;
        let deadline = Instant::now() + START;
        while !self.answers(address)? {
            self.check()?;
            if Instant::now() > deadline {
                return Err(BedError::Silent { who: "server".into() });
            }
            thread::sleep(STEP);
        }
        Ok(address)
    }

    /// Starts a client, which joins, spawns and plays by itself until the bed is stopped. It tries to join but once:
    /// what it connects to must be there already.
    ///
    /// It is the shipped program with a library of ours preloaded, compiled from the source in this crate. That one
    /// takes the place of the OpenGL functions and does nothing; of the buffer swap, which waits for the next tick of
    /// a 60 Hz clock; and it puts the presses of two keys into SDL's queue of events, once a second until the client
    /// is seen to send that its autopilot is on. From then on the game itself spawns after each death. Keys sent
    /// through a display would need one display for each client, since only the window with the focus hears them, and
    /// nobody would know whether they were heard; the autopilot's key is a switch, so that pressing it again to be
    /// sure turns it off. And it has the client connect from a port that the server hears UDP from.
    pub fn client(&mut self, options: &ClientOptions) -> Result<(), BedError> {
        options.check()?;
        let home = self.home(&options.name);
        fs::create_dir_all(&home).map_err(BedError::io(home.display().to_string()))?;
        self.start(&options.name, options.command(&self.tools, &home, &self.library))
    }

    /// Lets the game's own client for terminals watch, for [`tallies`](Self::tallies). What happened before it is not
    /// seen.
    pub fn watch(&mut self, server: SocketAddr) -> Result<(), BedError> {
        let mut command = Command::new(&self.tools.bzadmin);
        command.env("HOME", &self.folder);
        command.args(["-ui", "stdout", "-show", "spawn", &format!("watch@{server}")]);
        self.start("watch", command)?;
        let deadline = Instant::now() + START;
        while !self.tallies()?.contains_key("watch") {
            self.check()?;
            if Instant::now() > deadline {
                return Err(BedError::Silent { who: "watch".into() });
            }
            thread::sleep(STEP);
        }
        Ok(())
    }

    /// What happened to each player, robots and the watcher included; nothing without a [`watch`](Self::watch).
    pub fn tallies(&self) -> Result<BTreeMap<String, Tally>, BedError> {
        let said = self.running.iter().find(|running| running.who == "watch").map(Running::said);
        Ok(watch::tallies(&said.transpose()?.unwrap_or_default()))
    }

    /// What every client has really drawn, against where the others' tanks were by their own account: nothing of it comes from the
    /// relay. The first `skip` after everybody has seen somebody do not count.
    pub fn drawn(&self, skip: Duration) -> BTreeMap<String, Drawn> {
        let clients = self.running.iter().filter(|running| running.who != "server" && running.who != "watch");
        // A client that has drawn nothing yet has not opened its file.
        let look = |who: &str| fs::read_to_string(self.home(who).join(eyes::FILE)).unwrap_or_default();
        eyes::compare(&clients.map(|client| (client.who.clone(), eyes::read(&look(&client.who)))).collect(), skip)
    }

    /// Whether everything that was started still runs; if not, the first that ended, with the last lines of its log.
    /// A client that the server removed runs on, in its menu: that is told by [`Tally::left`].
    pub fn check(&mut self) -> Result<(), Died> {
        self.running.iter_mut().try_for_each(Running::check)
    }

    /// The time that each program has computed so far, in seconds, in the order they were started.
    pub fn cpu_seconds(&self) -> Vec<(String, f64)> {
        self.running.iter().map(|running| (running.who.clone(), running.cpu_seconds())).collect()
    }

    /// Where the log of a program is: `server`, `watch` or a client's name.
    pub fn log(&self, who: &str) -> Option<&Path> {
        self.running.iter().find(|running| running.who == who).map(|running| running.log.as_path())
    }

    /// The process group that all of them are in.
    pub fn group(&self) -> u32 {
        self.leash.id()
    }

    /// Ends everything that was started, the last first. The files stay.
    pub fn stop(&mut self) {
        while let Some(mut last) = self.running.pop() {
            last.kill();
        }
        // It ends what may be left of the group, and itself with it.
        self.leash.stdin = None;
        let _ = self.leash.wait();
    }

    fn home(&self, who: &str) -> PathBuf {
        self.folder.join(format!("home-{who}"))
    }

    fn start(&mut self, who: &str, command: Command) -> Result<(), BedError> {
        if self.running.iter().any(|running| running.who == who) {
            return Err(BedError::Options(format!("there is a {who} already")));
        }
        let log = self.folder.join(format!("{who}.log"));
        self.running.push(Running::start(who, command, log, self.group() as i32)?);
        Ok(())
    }

    /// Whether it is our server that answers there: some other program's may. Ours tells in its log whom it heard.
    fn answers(&self, address: SocketAddr) -> Result<bool, BedError> {
        let Some(caller) = greet(address) else { return Ok(false) };
        let Some(server) = self.running.iter().find(|running| running.who == "server") else { return Ok(false) };
        Ok(server.said()?.contains(&format!("accept() from {caller} ")))
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Says hello as the game does; from which address, if the answer is the game's.
fn greet(address: SocketAddr) -> Option<SocketAddr> {
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(1))).ok()?;
    stream.write_all(b"BZFLAG\r\n\r\n").ok()?;
    let mut answer = [0; 9];
    stream.read_exact(&mut answer).ok()?;
    answer.starts_with(b"BZFS").then(|| stream.local_addr().ok()).flatten()
}

/// The first of the group: it waits for its input to end, which it does when we let go of it or are no more, and then
/// kills the whole group. So nothing is left behind even where we get no chance to clean up.
fn leash() -> std::io::Result<Child> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "read -r _; kill -KILL 0"]).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}

fn compile(tools: &Tools, folder: &Path) -> Result<PathBuf, BedError> {
    let [source, library] = ["quiet.c", "quiet.so"].map(|name| folder.join(name));
    fs::write(&source, QUIET).map_err(BedError::io(source.display().to_string()))?;
    let mut cc = Command::new(&tools.cc);
    cc.args(["-shared", "-fPIC", "-O2", "-o"]).args([&library, &source]).arg("-ldl");
    let run = cc.output().map_err(BedError::io(tools.cc.display().to_string()))?;
    if !run.status.success() {
        return Err(BedError::Compiler(String::from_utf8_lossy(&run.stderr).into_owned()));
    }
    Ok(library)
}

/// A port from 5300 up that is free for both protocols, and another one at each call.
fn free_port() -> Result<u16, BedError> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let free = |port: &u16| {
        let address = (Ipv4Addr::LOCALHOST, *port);
        TcpListener::bind(address).is_ok() && UdpSocket::bind(address).is_ok()
    };
    // Several programs that look at the same time should not see the same port.
    let first = 5300 + (std::process::id() % 100) as u16 * 10;
    let mut ports = (0..2000).map(|_| first + NEXT.fetch_add(1, Ordering::Relaxed) % 2000);
    ports.find(free).ok_or_else(|| BedError::Options("no port is free from 5300 up".into()))
}
