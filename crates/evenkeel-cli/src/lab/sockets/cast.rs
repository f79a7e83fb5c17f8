//! The processes of one scene: a server, an owner, and one for every receiver, each with a clock of its own that is wrong.

use super::scenes::Scene;
use crate::join::wall::Wall;
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Between the start of the processes and that of the drive: whoever is 800 ms away needs several round trips to come in.
pub(super) const LEAD_NANOS: i64 = 14_000_000_000;
/// How long results may take after the drive.
const PATIENCE_NANOS: i64 = 10_000_000_000;
/// By so much the hosts' clocks drift, to one side or the other.
const DRIFTS_PPM: [i32; 4] = [50, -50, 50, -20];

/// A process that ends with this program.
struct Actor {
    child: Child,
    what: String,
    results: PathBuf,
    complaints: PathBuf,
}

impl Drop for Actor {
    fn drop(&mut self) {
        // One that has ended already cannot be ended, which is as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What one scene is run with.
pub(super) struct Stage<'a> {
    pub(super) folder: &'a Path,
    pub(super) wall: &'a Wall,
    /// When the drive begins.
    pub(super) start: i64,
    pub(super) seed: u64,
}

/// All processes of one scene.
pub(super) struct Cast {
    server: Actor,
    owner: Actor,
    receivers: Vec<Actor>,
    end: i64,
}

/// What they know in the end.
pub(super) struct Reports {
    pub(super) server: Value,
    pub(super) owner: Value,
    /// In the order of the paths.
    pub(super) receivers: Vec<Value>,
}

impl Cast {
    pub(super) fn start(number: usize, scene: &Scene, stage: &Stage<'_>) -> Result<Self> {
        let seconds = scene.scenario.seconds;
        let end = stage.start + (seconds * 1e9) as i64;
        let mut server = stage.actor(number, "server", |command| {
            command.args(["lab", "sockets-server", "--scene", &number.to_string()]);
            command.args(["--seconds", &seconds.to_string(), "--until", &(end + 500_000_000).to_string()]);
            command.args(["--seed", &stage.seed.to_string(), "--clock", &clock(0)]);
        })?;
        let (url, hash) = server.address()?;
        let common = |command: &mut Command, host: usize| {
            command.args(["join", &url, "--hash", &hash, "--timeout", "40", "--keep-clock", "--clock", &clock(host)]);
            command.args(["--start", &stage.start.to_string(), "--seconds", &seconds.to_string()]);
        };
        let mut receivers = Vec::new();
        for ((host, path), player) in (2..).zip(&scene.scenario.paths).zip(scene.players()) {
            receivers.push(stage.actor(number, &format!("receiver-{host}"), |command| {
                common(command, host);
                command.args(["--watch", "--name", &player, "--condition", &path.to_string()]);
                // Of which the fates of its packets follow.
                command.args(["--seed", &(stage.seed + 100 * number as u64 + host as u64).to_string()]);
            })?);
        }
        let owner = stage.actor(number, "owner", |command| {
            common(command, 1);
            command.args(["--name", "owner", "--motion", scene.scenario.body.name()]);
            command.args(["--entities", &scene.scenario.entities.to_string(), "--seed", &stage.seed.to_string()]);
        })?;
        Ok(Self { server, owner, receivers, end })
    }

    /// Waits for all of them.
    pub(super) fn reports(mut self, wall: &Wall) -> Result<Reports> {
        let deadline = self.end + PATIENCE_NANOS;
        let owner = self.owner.report(wall, deadline)?;
        let receivers = self.receivers.iter_mut().map(|receiver| receiver.report(wall, deadline));
        let receivers = receivers.collect::<Result<Vec<Value>>>()?;
        let server = self.server.report(wall, deadline)?;
        ensure!(server["undecodable"] == 0, "{} datagrams could not be decoded", server["undecodable"]);
        Ok(Reports { server, owner, receivers })
    }
}

/// The clock of a host: seconds off, and drifting.
fn clock(host: usize) -> String {
    let sign = if host.is_multiple_of(2) { "" } else { "-" };
    format!("offset={sign}{}s,drift={}ppm", 3 + 2 * host, DRIFTS_PPM[host % DRIFTS_PPM.len()])
}

impl Stage<'_> {
    fn actor(&self, number: usize, role: &str, arguments: impl FnOnce(&mut Command)) -> Result<Actor> {
        let what = format!("{role} of scene {number}");
        let file = |ending: &str| self.folder.join(format!("{number}-{role}.{ending}"));
        let (results, complaints) = (file("json"), file("err"));
        let mut command = Command::new(std::env::current_exe().context("this program cannot find itself")?);
        arguments(&mut command);
        command.arg("--json").arg(&results).stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(File::create(&complaints)?);
        let child = command.spawn().with_context(|| format!("the {what} cannot be started"))?;
        Ok(Actor { child, what, results, complaints })
    }
}

impl Actor {
    /// What a server says first: its URL and the hash of its certificate.
    fn address(&mut self) -> Result<(String, String)> {
        let mut line = String::new();
        if let Some(said) = self.child.stdout.take() {
            BufReader::new(said).read_line(&mut line)?;
        }
        let said = line.trim().split_once(' ');
        let (url, hash) = said.with_context(|| format!("the {} did not start: {}", self.what, self.complaint()))?;
        Ok((url.to_owned(), hash.to_owned()))
    }

    fn complaint(&self) -> String {
        std::fs::read_to_string(&self.complaints).unwrap_or_default().trim().to_owned()
    }

    fn report(&mut self, wall: &Wall, deadline: i64) -> Result<Value> {
        // Its table is short enough for the pipe, and nobody reads it.
        loop {
            match self.child.try_wait()? {
                Some(status) if status.success() => break,
                Some(_) => bail!("the {} failed: {}", self.what, self.complaint()),
                None if wall.now() > deadline => bail!("the {} does not come to an end", self.what),
                None => std::thread::sleep(std::time::Duration::from_millis(20)),
            }
        }
        let text =
            std::fs::read_to_string(&self.results).with_context(|| format!("the {} has left no results", self.what))?;
        serde_json::from_str(&text).with_context(|| format!("the results of the {} cannot be read", self.what))
    }
}
