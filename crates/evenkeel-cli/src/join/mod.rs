//! `evenkeel join`: players in a session, driven by bots, who measure what they see.

pub(crate) mod about;
mod bots;
pub(crate) mod clock;
mod player;
mod record;
mod seen;
mod show;
pub(crate) mod tally;
mod trust;
mod truth;
pub(crate) mod wall;

use about::{FleetName, MAX_ENTITIES, MAX_ENTITY_SECONDS, Mover};
use anyhow::{Context, Result, bail, ensure};
use bots::Bots;
use clock::WrongClock;
use evenkeel_lab::study::Body;
use evenkeel_link::Conditions;
use evenkeel_net::seat::SeatConfig;
use evenkeel_net::transport::Conditioner;
use evenkeel_net::{Client, ClientConfig, Peer, PeerConfig};
use indicatif::{ProgressBar, ProgressStyle};
use player::{Joined, Player, Shared};
use record::Recording;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use truth::Truth;
use wall::Wall;

/// How long between being in and moving: for others to hear of it.
const BEFORE_START: i64 = 700_000_000;
const SECOND: i64 = 1_000_000_000;

pub(crate) const MEASURED: &str = "\
Entities of `evenkeel join` say how they move (motion, seed, start), so that every other `evenkeel join` on the same machine works \
out where they really are, at any moment of the machine's own clock, and measures how far off that is what it shows: mean, p99 and \
max. `export` is the distance to where the base case, every vector at once, says that things are.";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The server: https://host:port/, or wss://host:port/ where UDP is blocked.
    url: String,
    #[command(flatten)]
    trusting: trust::Trusting,
    /// Leave to join: a file, or the text that `evenkeel token` prints.
    #[arg(long, value_name = "FILE|TEXT", help_heading = "Server")]
    token: Option<String>,
    /// The session's name.
    #[arg(long, default_value = "main", help_heading = "Server")]
    session: String,
    /// How long it may take until all are in.
    #[arg(long, value_name = "S", default_value_t = 10.0, help_heading = "Server")]
    timeout: f64,

    /// So many players, each with a connection of its own.
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Players")]
    players: u32,
    /// What others shall call them; several are numbered.
    #[arg(long, default_value = "bot", help_heading = "Players")]
    name: String,
    /// For how long.
    #[arg(long, value_name = "S", default_value_t = 60.0, help_heading = "Players")]
    seconds: f64,
    /// Be a peer: one whom others can connect to, and who sends to them directly where the session has it so.
    #[arg(long, help_heading = "Players")]
    peer: bool,

    /// How bots move: tank, tank-inertia, linear, circular, random, shots, spaceship, driven-straight, driven-in-circles.
    #[arg(long, value_name = "NAME", default_value = "tank", help_heading = "What moves")]
    motion: String,
    /// Drives follow from it; each further player has the next.
    #[arg(long, value_name = "X", default_value_t = 1, help_heading = "What moves")]
    seed: u64,
    /// How many entities each player has.
    #[arg(long, value_name = "K", default_value_t = 1, help_heading = "What moves")]
    entities: u32,
    /// A recorded game instead, CSV as for `lab compare`; with --watch, to know where its entities are.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["motion", "entities"], help_heading = "What moves")]
    trace: Option<PathBuf>,
    /// Own nothing: only watch.
    #[arg(long, help_heading = "What moves")]
    watch: bool,

    /// For testing: a worse network, both ways, as in delay=200ms,jitter=exp:20ms,loss=2%.
    #[arg(long, value_name = "CONDITIONS", help_heading = "Testing")]
    condition: Option<Conditions>,
    /// For testing: this host's clock is wrong, as in offset=3s,drift=50ppm,step=60s@10s.
    #[arg(long, value_name = "CLOCK", allow_hyphen_values = true, help_heading = "Testing")]
    clock: Option<WrongClock>,

    /// So many times a second to look at where things are shown.
    #[arg(long, value_name = "HZ", default_value_t = 200.0, help_heading = "Results")]
    sample: f64,
    /// Also write the results as JSON to this file; `-` prints them instead of the table.
    #[arg(long, value_name = "PATH", help_heading = "Results")]
    json: Option<PathBuf>,
    /// Record where things were and where they were shown.
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    record: Option<PathBuf>,

    /// When the fleets' time is zero, in nanoseconds since 1970: for several programs that begin together.
    #[arg(long, value_name = "NS", hide = true)]
    start: Option<i64>,
    /// Note what the session's clock shows in the course of time.
    #[arg(long, hide = true)]
    keep_clock: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    arguments.check()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(if arguments.players > 2 { 2 } else { 1 })
        .enable_all()
        .build()
        .context("no threads to be had")?;
    let wall = Wall::new();
    let mut truth = Truth::default();
    let trace = match &arguments.trace {
        Some(path) => Some(truth::read_trace(path, arguments.seconds)?),
        None => None,
    };
    if let Some((name, fleet)) = &trace {
        truth.learn(*name, fleet.clone());
    }
    let joining = {
        let _inside = runtime.enter();
        (0..arguments.players).map(|number| arguments.player(number, &runtime)).collect::<Result<Vec<Player>>>()
    };
    let mut stay = Stay { arguments, wall, truth, players: joining? };
    stay.come_in()?;
    let start = arguments.start.unwrap_or_else(|| stay.wall.now() + BEFORE_START);
    if !arguments.watch {
        stay.take_the_wheel(start, trace.as_ref())?;
    }
    stay.play(start)?;
    let results = show::json(&arguments.url, arguments.sample, &stay.players);
    let table = show::table(&stay.players);
    let players = stay.players;
    runtime.block_on(async {
        for player in players {
            player.joined.leave().await;
        }
    });
    arguments.write(&results, &table)
}

impl Arguments {
    fn check(&self) -> Result<()> {
        ensure!((1..=1_000).contains(&self.players), "--players must be between 1 and 1000");
        ensure!((1.0..=86_400.0).contains(&self.seconds), "--seconds must be between 1 and 86400");
        ensure!((0.1..=3_600.0).contains(&self.timeout), "--timeout must be between 0.1 and 3600");
        ensure!((1.0..=2_000.0).contains(&self.sample), "--sample must be between 1 and 2000");
        ensure!((1..=MAX_ENTITIES).contains(&self.entities), "--entities must be between 1 and {MAX_ENTITIES}");
        let size = f64::from(self.entities) * self.seconds;
        ensure!(
            size <= MAX_ENTITY_SECONDS || self.watch || self.trace.is_some(),
            "--entities times --seconds must be at most {MAX_ENTITY_SECONDS}: others work out as much to know the truth"
        );
        Body::by_name(&self.motion)?;
        let websocket = self.url.starts_with("wss:");
        ensure!(!(websocket && self.condition.is_some()), "--condition acts on UDP: it needs https://, not wss://");
        for path in [&self.json, &self.record].into_iter().flatten().filter(|path| path.as_os_str() != "-") {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            ensure!(folder.is_none_or(Path::is_dir), "cannot write {}: there is no such directory", path.display());
            ensure!(!path.is_dir(), "cannot write {}: it is a directory", path.display());
        }
        Ok(())
    }

    fn player(&self, number: u32, runtime: &tokio::runtime::Runtime) -> Result<Player> {
        let name = if self.players > 1 { format!("{} {}", self.name, number + 1) } else { self.name.clone() };
        let mut secret = [0; 16];
        let random = ring::rand::SystemRandom::new();
        ring::rand::SecureRandom::fill(&random, &mut secret)
            .map_err(|_| anyhow::anyhow!("this system gives no random numbers"))?;
        let token = self.token.as_deref().map(trust::token).transpose()?.unwrap_or_default();
        let seat = SeatConfig { session: self.session.clone(), token, secret, ..SeatConfig::named(name.clone()) };
        let mut config = ClientConfig::new(&self.url, self.trusting.trust()?, seat);
        config.connect.timeout = std::time::Duration::from_secs_f64(self.timeout);
        config.host_clock = self.clock.as_ref().map(|clock| clock.0.clone());
        if let Some(conditions) = &self.condition {
            let conditioner = Conditioner::new(self.seed.wrapping_add(u64::from(number)));
            conditioner.set_default(conditions.clone(), conditions.clone())?;
            config.connect.conditioner = Some(conditioner);
        }
        let joined = if self.peer {
            let PeerConfig { address, .. } = PeerConfig::new(&self.url, self.trusting.trust()?, SeatConfig::named(""));
            Joined::Peer(runtime.block_on(Peer::start_with(PeerConfig { client: config, address }))?)
        } else {
            Joined::Client(Client::start_with(config)?)
        };
        Ok(Player::new(name, joined, self.keep_clock))
    }

    fn fleet_name(&self, number: u32) -> Result<FleetName> {
        Ok(FleetName {
            mover: Mover::Body(Body::by_name(&self.motion)?),
            seed: self.seed.wrapping_add(u64::from(number)),
            entities: self.entities,
            millis: (self.seconds * 1e3) as u32,
        })
    }

    fn write(&self, results: &serde_json::Value, table: &str) -> Result<()> {
        let json = format!("{results:#}\n");
        match &self.json {
            Some(path) if path.as_os_str() == "-" => crate::lab::print(&json),
            path => {
                if let Some(path) = path {
                    std::fs::write(path, json).with_context(|| format!("cannot write {}", path.display()))?;
                }
                crate::lab::print(table)
            }
        }
    }
}

/// Players from joining to leaving.
struct Stay<'a> {
    arguments: &'a Arguments,
    wall: Wall,
    truth: Truth,
    players: Vec<Player>,
}

impl Stay<'_> {
    /// Waits until all are in.
    fn come_in(&mut self) -> Result<()> {
        let Self { arguments, wall, truth, players } = self;
        let deadline = wall.now() + (arguments.timeout * 1e9) as i64;
        loop {
            let mut missing = None;
            for (number, player) in players.iter_mut().enumerate() {
                let shared = Shared { wall, truth, window: (0, 0), recording: None };
                let is_in = player.is_in(shared).with_context(|| format!("cannot join {}", arguments.url))?;
                missing = missing.or((!is_in).then_some(number));
            }
            let Some(number) = missing else { return Ok(()) };
            if wall.now() > deadline {
                bail!("cannot join {}: {}", arguments.url, players[number].why_not());
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    /// Gives everybody a fleet; a recorded game has one driver only.
    fn take_the_wheel(
        &mut self,
        start: i64,
        trace: Option<&(FleetName, Arc<evenkeel_lab::world::Fleet>)>,
    ) -> Result<()> {
        for (number, player) in (0..).zip(&mut self.players) {
            let (name, fleet) = match trace {
                Some((name, fleet)) if number == 0 => (*name, fleet.clone()),
                Some(_) => continue,
                None => {
                    let name = self.arguments.fleet_name(number)?;
                    let entities = match name.mover {
                        Mover::Body(body) => body.entities(name.entities, self.arguments.seconds, name.seed),
                        Mover::Trace => Vec::new(),
                    };
                    let rules = evenkeel_lab::world::Rules::default();
                    (name, Arc::new(evenkeel_lab::world::Fleet::new("own".into(), entities, &rules)?))
                }
            };
            let mut bots = Bots::new(name, fleet, start);
            // Others hear of what there will be before it moves.
            bots.drive(player.joined.client(), &self.wall).with_context(|| player.name.clone())?;
            player.bots = Some(bots);
        }
        Ok(())
    }

    fn play(&mut self, start: i64) -> Result<()> {
        let arguments = self.arguments;
        let names = self.players.iter().map(|player| player.name.clone()).collect();
        let mut recording = match &arguments.record {
            Some(path) => Some(Recording::new(path, names, arguments.seed, &arguments.url, start)?),
            None => None,
        };
        let end = start + (arguments.seconds * 1e9) as i64;
        let period = (1e9 / arguments.sample) as i64;
        let (mut next_look, mut next_stock) = (self.wall.now(), self.wall.now());
        let bar = bar(arguments.seconds);
        while self.wall.now() < end {
            let bots = self.players.iter().filter_map(|player| player.bots.as_ref());
            let next_drive = bots.filter(|bots| !bots.is_over()).map(Bots::due).min().unwrap_or(i64::MAX);
            self.wall.sleep_until(next_look.min(next_drive).min(end));
            let now = self.wall.now();
            if now >= next_drive {
                self.players.iter_mut().try_for_each(|player| player.drive(&self.wall))?;
            }
            if now >= next_look {
                next_look = now.max(next_look + period);
                self.look((start, end), recording.as_mut())?;
            }
            if now >= next_stock {
                next_stock = now + SECOND;
                self.players.iter_mut().for_each(Player::take_stock);
                self.show(&bar, now - start);
            }
        }
        bar.finish_and_clear();
        self.players.iter_mut().for_each(Player::take_stock);
        recording.map_or(Ok(()), Recording::finish)
    }

    fn look(&mut self, window: (i64, i64), mut recording: Option<&mut Recording>) -> Result<()> {
        let Self { arguments, wall, truth, players } = self;
        for (number, player) in (0..).zip(players) {
            let recording = recording.as_deref_mut();
            player.look(number, Shared { wall, truth, window, recording })?;
            player.ensure_there().with_context(|| format!("the session at {} is over", arguments.url))?;
        }
        Ok(())
    }

    fn show(&self, bar: &ProgressBar, nanos: i64) {
        let seen: usize = self.players.iter().map(|player| player.seen.present()).sum();
        let errors: Vec<f64> = self.players.iter().filter_map(|player| player.seen.real.mean()).collect();
        let off = match errors.len() {
            0 => String::new(),
            count => format!(", {:.3} m off on average", errors.iter().sum::<f64>() / count as f64),
        };
        bar.set_position(u64::try_from(nanos / SECOND).unwrap_or(0));
        bar.set_message(format!("{seen} entities seen{off}"));
    }
}

fn bar(seconds: f64) -> ProgressBar {
    let bar = ProgressBar::new(seconds.ceil() as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:32} {pos}/{len} s, {msg}") {
        bar.set_style(style);
    }
    bar
}
