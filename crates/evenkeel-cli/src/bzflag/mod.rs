//! `evenkeel bzflag`: a game that knows nothing of Evenkeel, made accurate and fair.

mod announce;
mod deciders;
mod findings;
mod metrics;
mod record;
mod relay;
mod tape;
mod testbed;

use anyhow::{Context, Result};

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Stands between players' clients and a server, neither of which is changed, and decides who is told what.
    #[command(after_help = relay::HOW)]
    Relay(Box<relay::Arguments>),
    /// Plays the real game on this machine, through the relay, and measures what everybody sees.
    #[command(after_help = testbed::HOW)]
    Testbed(Box<testbed::Arguments>),
    /// Writes down how tanks move: from a recording of the game's own server, or from players who connect here.
    #[command(after_help = record::HOW)]
    Record(record::Arguments),
}

pub(crate) fn run(command: &Command) -> Result<()> {
    match command {
        Command::Relay(arguments) => relay::run(arguments),
        Command::Testbed(arguments) => testbed::run(arguments),
        Command::Record(arguments) => record::run(arguments),
    }
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().context("no threads to be had")
}
