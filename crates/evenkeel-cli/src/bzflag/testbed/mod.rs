//! `evenkeel bzflag testbed`: the real game, played and measured.

mod play;

use super::deciders::{budget, decider, in_order};
use super::runtime;
use crate::lab::{Folder, Outputs};
use crate::serve::log;
use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use evenkeel_bzflag::Decider;
use evenkeel_bzflag::testbed::Tools;
use std::path::PathBuf;

pub(crate) const HOW: &str = "\
Needs the game (on Debian: apt-get install bzflag-server bzflag-client gcc) and says what is missing; no display, no graphics driver. \
The game's own server and clients run as they were installed, on loopback; the clients' tanks are driven by the game's own autopilot, \
and are drawn nowhere. Each client's network is delayed within the relay, both ways. One decider is live; the others look on, and what \
their clients would see is measured on the same movement. Everything that was started ends with the command, by Ctrl-C too, and what \
was measured until then is shown.";

/// What they are called; more are numbered.
const NAMES: [&str; 16] =
    ["Ada", "Bob", "Cid", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida", "Jon", "Kim", "Leo", "Mia", "Ned", "Oda", "Pia"];
/// The server takes forty, one of whom watches.
const MOST_TANKS: u32 = 39;
/// Books reach back three of the slowest client's round trips.
const LONGEST_DELAY_MS: f64 = 800.0;

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum ServerSettings {
    /// Clients say where they are on every frame: the relay sees true paths.
    Dense,
    /// The game's own: clients say where they are when they are off by 9 cm.
    Default,
}

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many clients play. Default: as many as there are delays.
    #[arg(long, value_name = "N", help_heading = "What is played")]
    players: Option<u32>,
    /// For how long, from when all have been started.
    #[arg(long, value_name = "S", default_value_t = 300, help_heading = "What is played")]
    seconds: u32,
    /// How long everything takes between the relay and each client, one way; used again from the first if there are more players.
    #[arg(
        long,
        value_name = "MS",
        value_delimiter = ',',
        default_value = "0,200,500,800",
        help_heading = "What is played"
    )]
    delays_ms: Vec<f64>,
    /// Who decides, to be compared: `today`, what the game does by itself, or policies with the accuracy model.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "today,base,base/3,credits,even")]
    #[arg(help_heading = "Who decides")]
    policies: Vec<String>,
    /// Which of them clients really obey.
    #[arg(long, value_name = "NAME", default_value = "base", help_heading = "Who decides")]
    live: String,
    /// What policies other than base may send: a share of all updates that are due (1/3, 0.4), or a rate in updates (200/s) or bytes
    /// (20kB/s), for each client if it ends in /receiver (4kB/s/receiver). Bytes are those that clients with our own protocol would get.
    #[arg(long, value_name = "B", default_value = "1/3", help_heading = "Who decides")]
    budget: String,
    /// How the server is set up.
    #[arg(long, value_enum, default_value = "dense", help_heading = "What is played")]
    server_settings: ServerSettings,
    /// So many more tanks are driven by each client.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "What is played")]
    robots: u32,
    /// For policies that draw lots. What players do differs from run to run.
    #[arg(long, value_name = "S", default_value_t = 1, help_heading = "Who decides")]
    seed: u64,
    /// Keep what the game's programs said in this directory.
    #[arg(long, value_name = "DIR", help_heading = "Runs and results")]
    keep_logs: Option<PathBuf>,
    #[command(flatten)]
    outputs: Outputs,
}

/// A match to be played.
struct Match {
    /// Names, and one-way delays in milliseconds.
    clients: Vec<(String, f64)>,
    /// The one that is live first.
    deciders: Vec<Decider>,
    /// What they are called, in the order in which they were asked for.
    shown: Vec<String>,
    seconds: u32,
    dense: bool,
    robots: u32,
    seed: u64,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let planned = arguments.plan()?;
    arguments.outputs.check(&[])?;
    let tools = Tools::find()?;
    let temporary = arguments.keep_logs.is_none().then(|| Folder::new("bzflag")).transpose()?;
    let folder = temporary.as_ref().map(|folder| &folder.0).or(arguments.keep_logs.as_ref());
    let folder = folder.context("there is no directory for logs")?;
    // That clients come and go is no news here.
    log(tracing::Level::WARN, std::io::stderr);
    let mut findings = runtime()?.block_on(play::play(&planned, tools, folder))?;
    findings.settings = arguments.settings(&planned);
    arguments.outputs.write(&findings)
}

impl Arguments {
    fn plan(&self) -> Result<Match> {
        let delays = &self.delays_ms;
        for delay in delays {
            let fits = (0.0..=LONGEST_DELAY_MS).contains(delay);
            ensure!(fits, "--delays-ms {delay}: choose between 0 and {LONGEST_DELAY_MS}");
        }
        let players = self.players.unwrap_or(delays.len() as u32);
        ensure!(players >= 2, "--players {players}: there must be somebody to be seen by somebody");
        let tanks = u64::from(players) * (1 + u64::from(self.robots));
        ensure!(tanks <= u64::from(MOST_TANKS), "{tanks} tanks, robots included: the server takes {MOST_TANKS}");
        ensure!((10..=86_400).contains(&self.seconds), "--seconds {}: choose between 10 and 86400", self.seconds);
        let budget = budget(&self.budget)?;
        let live = decider(&self.live, budget).context("--live")?;
        let compared = self.policies.iter().map(|name| decider(name, budget).context("--policies"));
        let compared = compared.collect::<Result<Vec<_>>>()?;
        let shown = compared.iter().map(Decider::name).collect();
        let deciders = in_order(live, compared)?;
        let name = |n: usize| NAMES.get(n).map_or_else(|| format!("Tank{n}"), |name| (*name).to_owned());
        let clients = (0..players as usize).map(|n| (name(n), delays[n % delays.len()])).collect();
        let dense = self.server_settings == ServerSettings::Dense;
        Ok(Match { clients, deciders, shown, seconds: self.seconds, dense, robots: self.robots, seed: self.seed })
    }

    fn settings(&self, planned: &Match) -> Vec<(String, String)> {
        let delays: Vec<String> = planned.clients.iter().map(|(name, ms)| format!("{name} {ms} ms")).collect();
        let all = [
            ("clients, one-way delays", delays.join(", ")),
            ("robots per client", self.robots.to_string()),
            ("seconds", self.seconds.to_string()),
            ("server settings", if planned.dense { "dense" } else { "default" }.to_owned()),
            ("policies", self.policies.join(", ")),
            ("live", self.live.clone()),
            ("budget", self.budget.clone()),
            ("seed", self.seed.to_string()),
        ];
        all.map(|(name, value)| (name.to_owned(), value)).to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(clap::Parser)]
    struct Alone {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn plan(flags: &str) -> Result<Match> {
        Alone::parse_from(["testbed"].into_iter().chain(flags.split_whitespace())).arguments.plan()
    }

    #[test]
    fn players_and_delays_follow_from_each_other() {
        let clients = |flags| plan(flags).unwrap().clients;
        let named = |name: &str, ms| (name.to_owned(), ms);
        assert_eq!(clients("")[3], named("Dan", 800.0));
        assert_eq!(clients("--delays-ms 5,60"), [named("Ada", 5.0), named("Bob", 60.0)]);
        assert_eq!(clients("--players 17 --delays-ms 5,60")[16], named("Tank16", 5.0));
        assert_eq!(plan("--live even").unwrap().deciders[0].policy, "even");
        assert_eq!(plan("--policies base --live today").unwrap().deciders.len(), 2);
        for bad in ["--players 1", "--players 40", "--robots 9", "--delays-ms 900", "--delays-ms -1,3", "--seconds 3"] {
            assert!(plan(&bad.replace(" -1", "=-1")).is_err(), "{bad}");
        }
    }
}
