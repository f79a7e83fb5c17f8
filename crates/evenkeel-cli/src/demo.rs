//! `evenkeel demo`, and what the program does without a command: a game to drive in, and to watch fairness happen.

use crate::serve::signals::Signals;
use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};
use evenkeel_demo::settings::{Crowd, GameName, Settings, World};
use evenkeel_demo::{Demo, DemoConfig};
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The page's port for other devices.
const LAN_PORT: u16 = 8443;
/// Nobody waits longer for the farewells.
const FAREWELL: Duration = Duration::from_secs(5);

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The page's port; if it is in use, one of the next is taken.
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// The page's address.
    #[arg(long, default_value = "127.0.0.1")]
    address: IpAddr,
    /// Serve the page over HTTPS too, for other devices on the network.
    #[arg(long)]
    lan: bool,
    /// What is played.
    #[arg(long, default_value = "tanks")]
    game: Game,
    /// Who takes part: receivers at 200, 500 and 800 ms as in the papers, or bots at 20 to 250 ms as on the internet.
    #[arg(long, default_value = "papers")]
    crowd: Takers,
    /// How many bots drive; as on the internet, at least eight.
    #[arg(long, default_value_t = Settings::default().bots)]
    bots: u32,
    /// By which policy the game is run.
    #[arg(long, value_name = "POLICY", default_value_t = Settings::default().left.policy)]
    left: String,
    /// By which policy the same movement is sent for comparison, or `off`.
    #[arg(long, value_name = "POLICY|off", default_value = "even")]
    right: String,
    /// What both may spend: a share of all updates (1/3), or a rate in updates (200/s) or bytes (20kB/s), for each receiver if it ends in
    /// /receiver (4kB/s/receiver).
    #[arg(long, default_value_t = Settings::default().left.budget)]
    budget: String,
    /// Bots follow from it.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Open the page in the browser.
    #[arg(long)]
    open: bool,
}

impl Default for Arguments {
    /// As if none were given.
    fn default() -> Self {
        #[derive(clap::Parser)]
        struct Alone {
            #[command(flatten)]
            arguments: Arguments,
        }
        Alone::parse_from(["evenkeel"]).arguments
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum Game {
    Tanks,
    Ships,
}

#[derive(Clone, Copy, ValueEnum)]
enum Takers {
    Papers,
    Internet,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let settings = settings(arguments)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("no threads to be had")?;
    runtime.block_on(demonstrate(arguments, settings))
}

/// What was asked for, if it can be.
fn settings(arguments: &Arguments) -> Result<Settings> {
    let world = |policy: &str| World { policy: policy.into(), budget: arguments.budget.clone() };
    let settings = Settings {
        game: match arguments.game {
            Game::Tanks => GameName::Tanks,
            Game::Ships => GameName::Ships,
        },
        crowd: match arguments.crowd {
            Takers::Papers => Crowd::Papers,
            Takers::Internet => Crowd::Internet,
        },
        bots: arguments.bots,
        left: world(&arguments.left),
        right: (arguments.right != "off").then(|| world(&arguments.right)),
        ..Settings::default()
    };
    Ok(settings.patched(&serde_json::json!({}))?)
}

async fn demonstrate(arguments: &Arguments, settings: Settings) -> Result<()> {
    // From now on a signal means to end well.
    let mut signals = Signals::new()?;
    let about = about(&settings);
    let config = DemoConfig {
        settings,
        address: SocketAddr::new(arguments.address, arguments.port),
        lan: arguments.lan.then_some(LAN_PORT),
        seed: arguments.seed,
    };
    let demo = Demo::start(config).await?;
    announce(&demo, &about);
    if arguments.open {
        open(&demo.url());
    }
    // Whatever it is: there is nothing to be read again, and a terminal that is closed takes the demo with it.
    signals.asked().await;
    // Who does not go in time is left behind.
    let _ = tokio::time::timeout(FAREWELL, demo.stop()).await;
    Ok(())
}

fn about(settings: &Settings) -> String {
    let crafts = match settings.game {
        GameName::Tanks => "tank",
        GameName::Ships => "ship",
    };
    match settings.crowd {
        Crowd::Papers => {
            let more = if settings.bots == 1 { "" } else { "s" };
            format!("{} {crafts}{more}, receivers at 200, 500 and 800 ms", settings.bots)
        }
        Crowd::Internet => format!("8 {crafts}s at 20 to 250 ms"),
    }
}

/// The one line that people need. Whoever closed the pipe does not want to know.
fn announce(demo: &Demo, about: &str) {
    let (mut out, mut notes) = (std::io::stdout(), std::io::stderr());
    for notice in demo.notices() {
        let _ = writeln!(notes, "{notice}");
    }
    let _ = writeln!(out, "Evenkeel demo: {about}.  Open {}   (Ctrl-C stops)", demo.url());
    let _ = out.flush();
    for link in demo.links() {
        let _ = writeln!(
            notes,
            "From another device: {}   (it will warn of the certificate, which is this program's own)",
            link.url
        );
    }
}

/// Shows the page in the browser that the system prefers, if it has one.
fn open(url: &str) {
    let (program, before): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let started = Command::new(program)
        .args(before)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Err(error) = started {
        let _ = writeln!(std::io::stderr(), "--open: no browser can be started ({program}: {error})");
    }
}
