//! A server of one scenario, as a process of its own.

use super::scenes::{Scene, scenes};
use crate::join::clock::WrongClock;
use crate::join::wall::Wall;
use anyhow::{Context, Result};
use evenkeel_lab::policies::make_policy;
use evenkeel_lab::world::format;
use evenkeel_net::hub::HubConfig;
use evenkeel_net::transport::{Identity, ListenConfig};
use evenkeel_net::{Server, ServerConfig};
use serde_json::{Value, json};
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// How often both clocks are noted.
const NOTED: Duration = Duration::from_millis(100);

#[derive(clap::Args)]
pub(crate) struct ServerArguments {
    /// Which scenario, by number.
    #[arg(long)]
    scene: usize,
    /// For how long the scenario goes on.
    #[arg(long)]
    seconds: f64,
    /// When to end, in nanoseconds since 1970.
    #[arg(long)]
    until: i64,
    /// What policies draw from.
    #[arg(long)]
    seed: u64,
    /// This host's clock, deliberately wrong.
    #[arg(long, allow_hyphen_values = true)]
    clock: Option<WrongClock>,
    /// Where to write what it knows in the end.
    #[arg(long)]
    json: PathBuf,
}

pub(crate) fn serve(arguments: &ServerArguments) -> Result<()> {
    let scene = scenes(arguments.seconds).into_iter().nth(arguments.scene).context("there is no such scenario")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let wall = Wall::new();
    let server = runtime.block_on(start(arguments, &scene))?;
    let mut pairs: Vec<(i64, i64)> = Vec::new();
    while wall.now() < arguments.until {
        pairs.push(server.with(|hub, now| (wall.now(), hub.now(now).as_nanos())));
        std::thread::sleep(NOTED);
    }
    let known = report(&server, pairs);
    std::fs::write(&arguments.json, format!("{known:#}\n"))
        .with_context(|| format!("cannot write {}", arguments.json.display()))
}

async fn start(arguments: &ServerArguments, scene: &Scene) -> Result<Server> {
    let identity = Identity::self_made(["localhost", "127.0.0.1"], Duration::from_secs(24 * 3600))?;
    let hash: String = identity.hash().iter().map(|byte| format!("{byte:02x}")).collect();
    let listen = ListenConfig::new(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), identity);
    let scenario = &scene.scenario;
    let session = HubConfig {
        format: format(),
        policy: make_policy(&scenario.policy, &[], scenario.budget, arguments.seed)?,
        placing: scenario.rules.placing,
        ..HubConfig::default()
    };
    let host_clock = arguments.clock.as_ref().map(|clock| clock.0.clone());
    let server = Server::start_with(ServerConfig { listen, sessions: vec![session], host_clock }).await?;
    println!("https://{}/ {hash}", server.address());
    std::io::stdout().flush()?;
    Ok(server)
}

/// What the server knows: whom it has sent how much, and how far away they are, as it measured.
fn report(server: &Server, pairs: Vec<(i64, i64)>) -> Value {
    server.with(|hub, now| {
        let fairness = hub.fairness(now);
        let names: Vec<(u32, String)> = hub.players().map(|(host, name)| (host.0, name.to_owned())).collect();
        let receiver = |receiver: &evenkeel::ledger::ReceiverFairness| {
            let name = names.iter().find(|(host, _)| *host == receiver.host.0).map(|(_, name)| name.clone());
            json!({
                "player": name,
                "vectors": receiver.vectors,
                "bytes": receiver.bytes,
                "booked_export_m": receiver.mean_distance,
                "delay_ms": receiver.delay.map(|delay| delay.as_millis_f64()),
            })
        };
        let receivers: Vec<Value> = fairness.receivers.iter().map(receiver).collect();
        let drops = hub.report(now).drops;
        let undecodable: u64 =
            drops.iter().filter(|(cause, _)| cause.starts_with("datagrams_undecod")).map(|(_, count)| count).sum();
        json!({ "version": 1, "rows": receivers, "clock_unix_ns_session_ns": pairs, "undecodable": undecodable })
    })
}
