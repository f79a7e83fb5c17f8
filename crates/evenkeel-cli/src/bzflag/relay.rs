//! `evenkeel bzflag relay`: between players and a server.

use super::announce::Line;
use super::deciders::{budget, decider, in_order};
use super::findings::Findings;
use super::metrics::Latest;
use super::runtime;
use super::tape::{Format, Tape};
use crate::lab::Outputs;
use crate::serve::conditions::{Condition, check};
use crate::serve::log;
use crate::serve::signals::{Asked, Signals};
use anyhow::{Context, Result, ensure};
use evenkeel_bzflag::{Decider, RelayConfig, Service, ServiceConfig, Summary};
use evenkeel_net::transport;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub(crate) const HOW: &str = "\
Players start the game's own client and join the relay's address instead of the server's:

  bzfs -p 5155 -set _positionTolerance -1 -set _updateThrottleRate 0 -set _noSmallPackets 1
  evenkeel bzflag relay --server 127.0.0.1:5155
  bzflag Ada@127.0.0.1:5154

With those three settings every client tells the server where it is on every frame; the relay passes on what each client needs. \
Without them it works with what the game's own trigger lets through. Everything but updates of living tanks on their way to clients \
passes untouched. Deciders are `today` (what the game does by itself) and the policies of `evenkeel lab compare`, which advance \
tanks to where they will be when a client reads of them; `base` is that and nothing else. \
What is logged is chosen by EVENKEEL_LOG, as with `evenkeel serve`.";

/// The game's own port.
const PORT: u16 = 5154;
/// A day or ten: beyond that, leave --seconds out.
pub(super) const LONGEST: f64 = 864_000.0;
/// How often what came of it so far is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long the server has to greet a client.
pub(super) const HANDSHAKE: evenkeel::Duration = evenkeel::Duration::from_secs(10);
/// The server itself takes no more.
const MOST_CLIENTS: usize = 200;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Where the game's server is.
    #[arg(long, value_name = "HOST[:PORT]", help_heading = "Network")]
    server: String,
    /// Where players connect; TCP and UDP.
    #[arg(long, value_name = "ADDR", default_value = "0.0.0.0:5154", help_heading = "Network")]
    listen: SocketAddr,
    /// So many clients at once; more are turned away.
    #[arg(long, value_name = "N", default_value_t = 64, help_heading = "Network")]
    max_clients: usize,
    /// Where to answer /metrics over plain HTTP; an address that strangers do not reach. Default: nowhere.
    #[arg(long, value_name = "ADDR", help_heading = "Network")]
    metrics: Option<SocketAddr>,
    /// Who is told what and when. A name that is not known is answered with all that are.
    #[arg(long, value_name = "NAME", default_value = "base", help_heading = "Who decides")]
    policy: String,
    /// What policies other than base may send: a share of all updates that are due (1/3, 0.4), or a rate in updates (200/s) or bytes
    /// (20kB/s), for each client if it ends in /receiver (4kB/s/receiver). Bytes are those that clients with our own protocol would get.
    #[arg(long, value_name = "B", default_value = "1/3", help_heading = "Who decides")]
    budget: String,
    /// Do not advance tanks to where they will be when a client reads of them.
    #[arg(long, help_heading = "Who decides")]
    no_advance: bool,
    /// Advance shots as well. They are then where they really are, but have jumped over whatever stood before the barrel.
    #[arg(long, conflicts_with = "no_advance", help_heading = "Who decides")]
    advance_shots: bool,
    /// Also measure what clients would see if this decided: `today` or a policy. Several with commas, or repeat it.
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "Who decides")]
    shadow: Vec<String>,
    /// How many frames clients draw per second: what they read counts from a frame, not from when it arrives.
    #[arg(long, value_name = "F", default_value_t = 60.0, help_heading = "Who decides")]
    frames_per_second: f64,
    /// For policies that draw lots, and for conditions.
    #[arg(long, value_name = "S", default_value_t = 1, help_heading = "Who decides")]
    seed: u64,
    /// Also write down how tanks move: a name ending with .csv, .csv.gz or .evk.
    #[arg(long, value_name = "FILE", help_heading = "Runs and results")]
    record: Option<PathBuf>,
    /// End after so many seconds. Default: run until Ctrl-C or SIGTERM.
    #[arg(long, value_name = "N", help_heading = "Runs and results")]
    seconds: Option<f64>,
    #[command(flatten)]
    outputs: Outputs,
    /// For testing: a worse network for one player, both ways, as in player=Ada,delay=200ms,jitter=exp:20ms. May be repeated.
    #[arg(long, value_name = "player=NAME,CONDITIONS", help_heading = "Testing")]
    condition: Vec<Condition>,
}

/// A relay to be run.
pub(super) struct Plan {
    pub(super) config: ServiceConfig,
    pub(super) metrics: Option<SocketAddr>,
    pub(super) record: Option<PathBuf>,
    pub(super) seconds: Option<f64>,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let plan = arguments.plan()?;
    arguments.outputs.check(&[])?;
    let (summary, seconds) = plan.run()?;
    let title = "BZFlag through the relay".to_owned();
    arguments.outputs.write(&Findings { title, summary, seconds, settings: arguments.settings(), game: None })
}

impl Arguments {
    fn plan(&self) -> Result<Plan> {
        let budget = budget(&self.budget)?;
        let mut live = decider(&self.policy, budget).context("--policy")?;
        live.advance &= !self.no_advance;
        let shadows = self.shadow.iter().map(|name| decider(name, budget).context("--shadow"));
        let deciders = in_order(live, shadows.collect::<Result<_>>()?)?;
        check_frames_per_second(self.frames_per_second)?;
        let most = self.max_clients;
        ensure!((1..=MOST_CLIENTS).contains(&most), "--max-clients {most}: choose between 1 and {MOST_CLIENTS}");
        check(&self.condition)?;
        let conditions = self.condition.iter().map(|one| {
            // As a flag, both ways are alike.
            Ok((one.player.clone(), one.parse()?.outgoing.unwrap_or_default()))
        });
        let conditions = conditions.collect::<Result<_>>()?;
        let relay = RelayConfig {
            deciders,
            frames_per_second: self.frames_per_second,
            advance_shots: self.advance_shots,
            seed: self.seed,
            ..RelayConfig::default()
        };
        let server = resolve(&self.server)?;
        let config =
            ServiceConfig { listen: self.listen, server, conditions, most_clients: most, handshake: HANDSHAKE, relay };
        let plan = Plan { config, metrics: self.metrics, record: self.record.clone(), seconds: self.seconds };
        plan.check()?;
        Ok(plan)
    }

    fn settings(&self) -> Vec<(String, String)> {
        let conditions: Vec<String> = self
            .condition
            .iter()
            .map(|c| format!("{}: {}", c.player, c.outgoing.as_deref().unwrap_or_default()))
            .collect();
        let all = [
            ("server", self.server.clone()),
            ("listen", self.listen.to_string()),
            ("policy", self.policy.clone()),
            ("budget", self.budget.clone()),
            ("advance shots", self.advance_shots.to_string()),
            ("advance", (!self.no_advance && self.policy != "today").to_string()),
            ("shadow", self.shadow.join(", ")),
            ("frames-per-second", self.frames_per_second.to_string()),
            ("seed", self.seed.to_string()),
            ("condition", conditions.join("; ")),
        ];
        all.into_iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// Refuses rates at which nobody plays.
pub(super) fn check_frames_per_second(rate: f64) -> Result<()> {
    ensure!((10.0..=1000.0).contains(&rate), "--frames-per-second {rate}: choose between 10 and 1000");
    Ok(())
}

/// The address of a server, which speaks IPv4 alone.
pub(super) fn resolve(server: &str) -> Result<SocketAddr> {
    let named = if server.contains(':') { server.to_owned() } else { format!("{server}:{PORT}") };
    let mut found = named.to_socket_addrs().with_context(|| format!("--server {server}"))?;
    found.find(SocketAddr::is_ipv4).with_context(|| format!("--server {server}: the game speaks IPv4 alone"))
}

impl Plan {
    /// Refuses what cannot work, before anything is started.
    pub(super) fn check(&self) -> Result<()> {
        if let Some(seconds) = self.seconds {
            ensure!((0.1..=LONGEST).contains(&seconds), "--seconds {seconds}: choose between 0.1 and {LONGEST}");
        }
        if let Some(path) = &self.record {
            Format::of(path)?;
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            ensure!(folder.is_none_or(Path::is_dir), "cannot write {}: there is no such directory", path.display());
        }
        let ServiceConfig { listen, server, .. } = &self.config;
        ensure!(listen.is_ipv4(), "--listen {listen}: the game speaks IPv4 alone");
        // A relay to itself would have itself as a client, and that one too.
        let here = listen.ip() == server.ip() || (listen.ip().is_unspecified() && server.ip().is_loopback());
        ensure!(!here || listen.port() != server.port(), "--listen {listen}: that is the server's own address");
        Ok(())
    }

    /// Runs it to its end; what came of it, and how long that took.
    pub(super) fn run(self) -> Result<(Summary, f64)> {
        let line = Line::new();
        log(tracing::Level::INFO, line.beside());
        runtime()?.block_on(self.serve(line))
    }

    async fn serve(self, mut line: Line) -> Result<(Summary, f64)> {
        // From now on a signal means to end well.
        let mut signals = Signals::new()?;
        let Self { config, metrics, record, seconds } = self;
        let (listen, server) = (config.listen, config.server);
        let (policy, conditions) = (config.relay.deciders.first().map(Decider::name), config.conditions.clone());
        let failed = |source| transport::Error::Bind { address: listen, protocol: "TCP and UDP", source };
        let service = Service::start(config).await.map_err(failed).context("--listen")?;
        let latest = Latest::default();
        let door = match metrics {
            Some(address) => Some(latest.answer(address).await?),
            None => None,
        };
        let tape = match &record {
            Some(path) => {
                let (tape, tap) = Tape::start(path)?;
                service.tap(tap).await;
                Some(tape)
            }
            None => None,
        };
        let address = service.local_addr();
        eprintln!(
            "Relaying to {server} by {}.  Join: bzflag NAME@{}   (Ctrl-C stops)",
            policy.unwrap_or_default(),
            shown(address)
        );
        if let Some(door) = &door {
            eprintln!("Metrics: http://{}/metrics", door.address());
        }
        for (player, conditions) in &conditions {
            tracing::warn!(player, %conditions, "this player's network is made worse, for testing");
        }
        let begin = Instant::now();
        line.start();
        wait(&service, &mut signals, seconds, |summary| {
            line.show(&summary);
            latest.set(summary);
        })
        .await;
        line.end();
        let summary = service.stop().await;
        if let Some((tape, path)) = tape.zip(record) {
            eprintln!("{} updates of tanks are in {}.", tape.finish()?, path.display());
        }
        Ok((summary, begin.elapsed().as_secs_f64()))
    }
}

/// Until somebody asks to stop, or the time is over.
async fn wait(service: &Service, signals: &mut Signals, seconds: Option<f64>, mut see: impl FnMut(Summary)) {
    let over = async {
        match seconds {
            Some(seconds) => tokio::time::sleep(Duration::from_secs_f64(seconds)).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(over);
    let mut look = tokio::time::interval(LOOK_EVERY);
    loop {
        tokio::select! {
            asked = signals.asked() => if let Asked::Stop(signal) = asked {
                tracing::info!(signal, "stopping");
                return;
            },
            () = &mut over => return,
            _ = look.tick() => see(service.summary().await),
        }
    }
}

/// An address as players of this machine write it.
fn shown(address: SocketAddr) -> String {
    if address.ip().is_unspecified() { format!("localhost:{}", address.port()) } else { address.to_string() }
}
