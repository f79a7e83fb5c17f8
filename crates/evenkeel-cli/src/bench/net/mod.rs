//! `evenkeel bench net`: a server under load, in a process of its own and measured from outside.
//!
//! The load is many players in this process, each a client on a connection of its own. What the server costs and holds is what
//! the operating system says of its process; whether messages arrive is what their receivers say.

mod bots;
mod course;
mod ledger;
mod most;
mod outcome;
mod server;
mod usage;

use anyhow::{Context, Result, ensure};
use bots::Bots;
use outcome::Outcome;
use server::Server;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use usage::Sampler;

/// How long what is still under way at the end may take.
const SETTLE: Duration = Duration::from_secs(10);

#[derive(Clone, clap::Args)]
pub(crate) struct Arguments {
    /// Players.
    #[arg(long, default_value_t = 500)]
    players: usize,
    /// Moving entities: so many of the players have one each, the others watch.
    #[arg(long, default_value_t = 100)]
    entities: usize,
    /// For how long to measure, once all have joined. Default: 60, and 10 with --most.
    #[arg(long)]
    seconds: Option<u64>,
    /// How often each entity is observed, per second.
    #[arg(long, default_value_t = 20)]
    hz: u32,
    /// How entities move.
    #[arg(long, value_enum, default_value = "legs")]
    course: course::Course,
    /// The server's policy.
    #[arg(long, default_value = "even")]
    policy: String,
    /// What the policy may send: a share (1/3), or a rate in vectors (200/s) or bytes (20kB/s), for each player if it ends in /receiver.
    #[arg(long, default_value = "1/3")]
    budget: String,
    /// The processors the server may use, as `taskset -c` takes them. Default: all.
    #[arg(long, value_name = "LIST")]
    server_cores: Option<String>,
    /// The processors the players may use. Default: all.
    #[arg(long, value_name = "LIST")]
    player_cores: Option<String>,
    /// Finds the largest number of players with whom the server keeps up on one processor: doubles from --players on, then
    /// halves the difference.
    #[arg(long)]
    most: bool,
    /// Also write the figures as JSON to this file; `-` prints them instead of the table.
    #[arg(long, value_name = "PATH")]
    json: Option<PathBuf>,
}

impl Arguments {
    fn span(&self) -> Duration {
        Duration::from_secs(self.seconds.unwrap_or(if self.most { 10 } else { 60 }))
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    ensure!(arguments.players >= 2, "two players at least, or nobody sees anybody");
    ensure!((1..=100).contains(&arguments.hz), "between 1 and 100 observations a second");
    if let Some(cores) = &arguments.player_cores {
        server::pin(std::process::id(), cores)?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("no threads to be had")?;
    if arguments.most {
        return most::find(arguments, &runtime);
    }
    let outcome = runtime.block_on(measure(arguments))?;
    write(arguments, &outcome)?;
    let wrong = outcome.wrong();
    ensure!(wrong.is_empty(), "{}", wrong.join("; "));
    Ok(())
}

fn write(arguments: &Arguments, outcome: &Outcome) -> Result<()> {
    let text = || serde_json::to_string_pretty(outcome).context("the figures cannot be written");
    match arguments.json.as_deref() {
        Some(path) if path.as_os_str() == "-" => println!("{}", text()?),
        Some(path) => {
            std::fs::write(path, text()?).with_context(|| format!("cannot write {}", path.display()))?;
            println!("{outcome}");
        }
        None => println!("{outcome}"),
    }
    Ok(())
}

/// One run: a server, players, and what became of both.
async fn measure(arguments: &Arguments) -> Result<Outcome> {
    let server = Server::start(arguments)?;
    let mut bots = Bots::join(arguments, &server).await?;
    let before = server.report()?;
    let sampler = Sampler::start(server.process())?;
    let start = Instant::now();
    bots.play(arguments.span()).await;
    let measured = start.elapsed();
    let samples = sampler.stop();
    let after = server.report()?;
    bots.settle(&server, SETTLE).await?;
    Outcome::new(arguments, measured, &samples, [&before, &after], &bots.finish(&server)?)
}
