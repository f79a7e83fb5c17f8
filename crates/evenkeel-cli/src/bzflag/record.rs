//! `evenkeel bzflag record`: how tanks move, written down.

use super::relay::{HANDSHAKE, Plan, resolve};
use super::tape::create;
use anyhow::{Context, Result, bail, ensure};
use evenkeel_bzflag::record::{Replay, record_replay};
use evenkeel_bzflag::{Decider, RelayConfig, ServiceConfig};
use std::fs::File;
use std::io::BufReader;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

pub(crate) const HOW: &str = "\
A server writes recordings by itself (`-recdir DIR -recbuf 10`, then `/record start` and `/record save NAME`); they hold what it told \
everybody. Live, players connect here instead of to the server, and are told exactly what the server says. What is written can be \
handed to `evenkeel lab compare --trace FILE`; if the server runs with its default settings, it holds what the game's own trigger let \
through, and --vectors-only says so.";

/// As many as a server takes.
const MOST_CLIENTS: usize = 200;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A recording of the game's own server.
    #[arg(long, value_name = "FILE.rec", conflicts_with_all = ["server", "seconds"], required_unless_present = "server")]
    rec: Option<PathBuf>,
    /// Live instead: where the game's server is.
    #[arg(long, value_name = "HOST[:PORT]")]
    server: Option<String>,
    /// Live: where players connect; TCP and UDP.
    #[arg(long, value_name = "ADDR", default_value = "0.0.0.0:5154")]
    listen: SocketAddr,
    /// Live: end after so many seconds. Default: run until Ctrl-C or SIGTERM.
    #[arg(long, value_name = "N")]
    seconds: Option<f64>,
    /// What to write: a name ending with .csv, .csv.gz or .evk.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    match (&arguments.rec, &arguments.server) {
        (Some(rec), _) => convert(rec, &arguments.out),
        (None, Some(server)) => live(arguments, server),
        (None, None) => bail!("give --rec or --server"),
    }
}

fn convert(rec: &Path, out: &Path) -> Result<()> {
    super::tape::Format::of(out)?;
    let file = File::open(rec).with_context(|| format!("cannot read {}", rec.display()))?;
    // Nothing is written over before it is known to be a recording.
    let mut replay = Replay::new(BufReader::new(file)).with_context(|| format!("{}", rec.display()))?;
    let same = out.canonicalize().is_ok_and(|out| rec.canonicalize().is_ok_and(|rec| rec == out));
    ensure!(!same, "cannot write {}: it is read from", out.display());
    let mut recorder = create(out)?;
    let read = record_replay(&mut replay, &mut *recorder);
    // Of a damaged recording, what came before the damage is kept.
    recorder.finish().with_context(|| format!("cannot write {}", out.display()))?;
    let count = read.with_context(|| format!("{}, what could be read is in {}", rec.display(), out.display()))?;
    let header = replay.header();
    println!("{count} updates of tanks in {:.1} s are in {}.", header.length.as_secs_f64(), out.display());
    Ok(())
}

fn live(arguments: &Arguments, server: &str) -> Result<()> {
    let config = ServiceConfig {
        listen: arguments.listen,
        server: resolve(server)?,
        conditions: Vec::new(),
        most_clients: MOST_CLIENTS,
        handshake: HANDSHAKE,
        relay: RelayConfig { deciders: vec![Decider::today()], ..RelayConfig::default() },
    };
    let plan = Plan { config, metrics: None, record: Some(arguments.out.clone()), seconds: arguments.seconds };
    plan.check()?;
    plan.run().map(drop)
}
