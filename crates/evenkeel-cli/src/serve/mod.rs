//! `evenkeel serve`: a session's server.

pub(crate) mod conditions;
pub(crate) mod door;
pub(crate) mod identity;
mod rates;
mod rtts;
mod settings;
pub(crate) mod signals;

use anyhow::{Context, Result};
use evenkeel::{Budget, Duration};
use evenkeel_net::Server;
use evenkeel_net::discovery::Announcement;
use evenkeel_net::hub::HubConfig;
use evenkeel_net::metrics::MetricsServer;
use evenkeel_net::transport::{self, Conditioner, Identity, ListenConfig, Rate};
use settings::Settings;
use signals::{Asked, Signals};
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::PathBuf;
use tracing_subscriber::fmt::MakeWriter;

/// How often to look whether the certificate is about to expire, or has been replaced.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_secs(3600);
/// How often those on the local network are told how many players there are.
const NEWS_EVERY: std::time::Duration = std::time::Duration::from_secs(5);
/// How often the measured round-trip times are written down.
const RTTS_EVERY: std::time::Duration = std::time::Duration::from_secs(5);
/// How often what happens in the sessions is let go of: nobody here wants to know, and it would wait in memory.
const FORGET_EVERY: std::time::Duration = std::time::Duration::from_secs(1);
/// What players are told.
const FAREWELL: &str = "the server is shutting down";

pub(crate) const CONFIG: &str = "The file after --config is TOML with the same names as the flags (flags win):

  listen = \"0.0.0.0:4433\"
  policy = \"even\"
  budget = \"1/3\"

  [[condition]]
  player = \"Ada\"
  outgoing = \"delay=200ms,jitter=exp:20ms\"

SIGHUP has the files after --certificate, --key and --token-keys read again; certificates are looked at every hour anyway.
What is logged is chosen by EVENKEEL_LOG: error, warn, info (the default), debug, or as in evenkeel_net=debug.";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    settings: Settings,
    /// Read settings from a file.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print the settings that hold, as a file for --config, and do nothing else.
    #[arg(long)]
    print_config: bool,
}

pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let file = arguments.config.as_deref().map(Settings::from_file).transpose()?.unwrap_or_default();
    let settings = arguments.settings.or(file).or(Settings::defaults());
    settings.check()?;
    if arguments.print_config {
        // Also what would only be noticed later.
        session(&settings)?;
        print!("{}", settings.to_toml()?);
        return Ok(());
    }
    log(tracing::Level::INFO, std::io::stderr);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("no threads to be had")?;
    runtime.block_on(serve(&settings))
}

/// Tells the terminal, or whoever reads standard error, what happens; from this level on unless EVENKEEL_LOG says otherwise.
pub(crate) fn log(level: tracing::Level, to: impl for<'w> MakeWriter<'w> + Send + Sync + 'static) {
    let filter = tracing_subscriber::EnvFilter::builder()
        .with_default_directive(level.into())
        .with_env_var("EVENKEEL_LOG")
        .from_env_lossy();
    let colours = std::io::stderr().is_terminal();
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colours).with_writer(to).init();
}

async fn serve(settings: &Settings) -> Result<()> {
    // From now on a signal means to end well.
    let mut signals = Signals::new()?;
    if let Some(state) = &settings.state {
        std::fs::create_dir_all(state).with_context(|| format!("--state {} cannot be made", state.display()))?;
    }
    let mut rtts = settings.rtts.as_deref().map(|file| rtts::Rtts::new(file, settings.site())).transpose()?;
    let mut identity = identity::identity(settings)?;
    let door = door::Door::new(settings)?;
    let session = HubConfig { gate: door.gate(), ..session(settings)? };
    let server = Server::start(listen(settings, identity.clone())?, session).await?;
    let metrics = match settings.metrics {
        Some(address) => Some(answer(address, &server).await?),
        None => None,
    };
    conditions::apply_conditions(&server, &settings.condition)?;
    announce(settings, &server, &identity, metrics.as_ref());
    let announced = settings.announce.unwrap_or_default();
    let mut known = announced.then(|| make_known(&server, &identity)).transpose()?;
    let begin = tokio::time::Instant::now();
    let mut look = tokio::time::interval_at(begin + LOOK_EVERY, LOOK_EVERY);
    let mut news = tokio::time::interval_at(begin + NEWS_EVERY, NEWS_EVERY);
    let mut forget = tokio::time::interval(FORGET_EVERY);
    let mut measure = tokio::time::interval_at(begin + RTTS_EVERY, RTTS_EVERY);
    loop {
        tokio::select! {
            asked = signals.asked() => match asked {
                Asked::Stop(signal) => {
                    tracing::info!(signal, "stopping");
                    break;
                }
                Asked::Reload => {
                    door.reload();
                    identity = renewed(settings, &server, identity);
                }
            },
            _ = look.tick() => identity = renewed(settings, &server, identity),
            _ = news.tick(), if known.is_some() => {
                if let Some(known) = &mut known {
                    known.update(&server.sessions()).context("--announce")?;
                }
            }
            _ = measure.tick(), if rtts.is_some() => {
                if let Some(rtts) = &mut rtts {
                    rtts.update(&server).await;
                }
            }
            _ = forget.tick() => forget_events(&server),
        }
    }
    if let Some(rtts) = &mut rtts {
        rtts.update(&server).await;
    }
    // The metrics go on: they say that it is draining.
    server.stop(FAREWELL).await;
    Ok(())
}

fn forget_events(server: &Server) {
    for session in server.sessions() {
        server.with_session(&session.name, |hub, _| while hub.poll_event().is_some() {});
    }
}

fn listen(settings: &Settings, identity: Identity) -> Result<ListenConfig> {
    let address = settings.listen.context("where to listen?")?;
    let rates = settings.rates.unwrap_or_default();
    let handshakes = Rate { per_second: f64::from(rates.handshakes), burst: rates.handshakes.saturating_mul(8) };
    let guests = HubConfig::default().max_guests;
    Ok(ListenConfig {
        websocket: settings.websocket,
        handshakes_per_source: handshakes,
        max_connections: u32::try_from(settings.max_players.unwrap_or_default() + guests)?,
        reset_key: identity::reset_key(settings)?,
        // Nobody pays for it who does not want it.
        conditioner: (!settings.condition.is_empty()).then(|| Conditioner::new(0)),
        ..ListenConfig::new(address, identity)
    })
}

fn session(settings: &Settings) -> Result<HubConfig> {
    let budget = settings.budget.as_deref().unwrap_or_default();
    let budget: Budget = budget.parse().with_context(|| format!("`{budget}` is no budget"))?;
    let seed = u64::from_le_bytes(identity::random()?);
    let policy = evenkeel::policy::by_name(settings.policy.as_deref().unwrap_or_default(), budget, seed)?;
    let rates = settings.rates.unwrap_or_default();
    let suits = HubConfig::default();
    let lag = Duration::from_secs_f64(settings.lag_ms.unwrap_or_default() / 1e3);
    Ok(HubConfig {
        session: settings.session.clone().unwrap_or_default(),
        policy,
        model: settings.model()?,
        // Players who send to each other directly keep to the same rule.
        peers_policy: (settings.policy.clone().unwrap_or_default(), settings.budget.clone().unwrap_or_default()),
        token_needed: settings.token_keys.is_some(),
        placing: evenkeel::Placing { lag, ..suits.placing },
        max_players: settings.max_players.unwrap_or_default(),
        datagrams_per_second: rates.datagrams,
        messages_per_second: rates.messages,
        secret: identity::random()?,
        ..suits
    })
}

async fn answer(address: SocketAddr, server: &Server) -> Result<MetricsServer> {
    let failed = |source| transport::Error::Bind { address, protocol: "TCP", source };
    MetricsServer::start(address, server).await.map_err(failed).context("--metrics")
}

/// Makes the session known on the local network.
fn make_known(server: &Server, identity: &Identity) -> Result<Announcement> {
    Announcement::start(&server.sessions(), server.address().port(), identity.hash())
        .context("--announce: the local network cannot be told; leave it out if there is none")
}

/// The one line that players need, and what the operator should know besides.
fn announce(settings: &Settings, server: &Server, identity: &Identity, metrics: Option<&MetricsServer>) {
    let (session, hash) = (settings.session.as_deref().unwrap_or_default(), hex(&identity.hash()));
    let url = url(server.address());
    let named = if session == "main" { String::new() } else { format!(" --session {session}") };
    println!(
        "Serving session {session} at {url}, certificate {hash}.  Join: evenkeel join {url} --hash {hash}{named}   (Ctrl-C stops)"
    );
    if let Some(websocket) = server.websocket_address() {
        eprintln!("Where UDP is blocked: {}", url_of("wss", websocket));
    }
    match &settings.token_keys {
        Some(file) => eprintln!("Only with a token signed by a key of {}.", file.display()),
        None => eprintln!("Open to all: give --token-keys to let in only whom you choose."),
    }
    if settings.state.is_none() && settings.certificate.is_none() {
        eprintln!("The certificate is new with every start: give --state to keep it.");
    }
    if let Some(metrics) = metrics {
        let open = if metrics.address().ip().is_loopback() { "" } else { " (to whoever reaches this address)" };
        eprintln!("Metrics: http://{}/metrics{open}", metrics.address());
    }
}

/// Shows another certificate if there is one: from the files, or made before the old one expires. What fails is tried again at
/// the next look.
fn renewed(settings: &Settings, server: &Server, identity: Identity) -> Identity {
    if settings.certificate.is_none() && !identity::is_too_old(&identity) {
        return identity;
    }
    let renew = || -> Result<Identity> {
        let next = identity::identity(settings)?;
        if next.hash() != identity.hash() {
            server.renew(&next)?;
            tracing::info!(certificate = hex(&next.hash()), "another certificate from now on");
        }
        Ok(next)
    };
    renew().unwrap_or_else(|error| {
        tracing::error!("the certificate cannot be replaced: {error:#}");
        identity
    })
}

fn url(address: SocketAddr) -> String {
    url_of("https", address)
}

fn url_of(scheme: &str, address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        format!("{scheme}://localhost:{}/", address.port())
    } else {
        format!("{scheme}://{address}/")
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
