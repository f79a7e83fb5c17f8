//! Tanks in a window: how far off players see each other, and what fairness does about it.

mod arena;
mod client;
mod draw;
mod forward;
mod game;
mod rules;
mod sample;
mod server;
mod truth;
mod watch;

use anyhow::{Result, bail};
use bevy::app::AppExit;
use clap::{Parser, Subcommand};
use evenkeel_link::Conditions;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;

/// Tanks, seen by players who are far from each other.
///
/// Start a server in one terminal and clients in others, on one machine.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Drives some tanks, and lets players join.
    Server {
        #[command(flatten)]
        common: Common,
        /// How many tanks drive by themselves.
        #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u8).range(0..=16))]
        bots: u8,
        /// The policy to begin with, by its key.
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=5))]
        policy: u8,
    },
    /// Joins a server, and drives a tank.
    Client {
        #[command(flatten)]
        common: Common,
        /// What the network does to packets, each way: a delay, or more, as in `150ms,jitter=exp:10ms,loss=2%`.
        #[arg(long, value_parser = conditions, default_value = "0ms")]
        delay: Conditions,
        /// Drive by itself, until a key is pressed.
        #[arg(long)]
        autopilot: bool,
    },
}

/// What both take.
#[derive(clap::Args, Clone)]
struct Common {
    /// The address of the server.
    #[arg(long, default_value = "127.0.0.1")]
    ip: IpAddr,
    /// The port of the server. The truth is told on the next one.
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u16).range(1024..=65534))]
    port: u16,
    /// Quit after so many frames.
    #[arg(long)]
    frames: Option<u32>,
    /// Save a picture of the window, and quit.
    #[arg(long, value_name = "FILE.png")]
    screenshot: Option<PathBuf>,
    /// How long to wait for the picture.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, requires = "screenshot")]
    after: u32,
}

/// Conditions as text, of which a delay may come first without its name.
fn conditions(text: &str) -> Result<Conditions, String> {
    let bare = text.starts_with(|c: char| c.is_ascii_digit());
    let text = if bare { format!("delay={text}") } else { text.to_owned() };
    text.parse().map_err(|why| format!("{why}"))
}

fn run(command: Command) -> Result<AppExit> {
    let (Command::Server { common, .. } | Command::Client { common, .. }) = &command;
    if let Some(path) = &common.screenshot
        && path.extension().is_none_or(|extension| extension != "png")
    {
        bail!("a screenshot is saved as PNG: name it so, as in `--screenshot tanks.png`");
    }
    // Without one, the window's library panics.
    if cfg!(target_os = "linux") && std::env::var_os("DISPLAY").is_none() {
        bail!("there is no display to open a window on: set DISPLAY, or run this under `xvfb-run`");
    }
    match command {
        Command::Server { common, bots, policy } => server::run(&common, bots, policy - 1),
        Command::Client { common, delay, autopilot } => client::run(&common, delay, autopilot),
    }
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(AppExit::Success) => ExitCode::SUCCESS,
        Ok(AppExit::Error(code)) => ExitCode::from(code.get()),
        Err(error) => {
            eprintln!("tanks: {error:#}");
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_needs_no_name() {
        assert_eq!(conditions("150ms,loss=2%").unwrap().to_string(), "delay=150ms,loss=2%");
        assert_eq!(conditions("delay=150ms").unwrap(), conditions("150ms").unwrap());
        assert_eq!(conditions("far").unwrap(), Conditions::named("far").unwrap());
        assert!(conditions("150").unwrap_err().contains("200ms"));
        assert!(conditions("").unwrap() == Conditions::ideal());
    }
}
