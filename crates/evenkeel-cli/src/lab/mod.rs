//! `evenkeel lab`: the laboratory.

mod advise;
mod audit;
mod compare;
mod outputs;
mod plan;
mod sockets;
mod studies;
mod waiting;

pub(crate) use outputs::{Outputs, Report, print};
pub(crate) use sockets::Folder;
pub(crate) use waiting::Waiting;

use anyhow::Result;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Lists the experiments: the papers' figures and what goes beyond them.
    List(studies::ListArguments),
    /// Runs one experiment and says which of the papers' claims hold.
    #[command(allow_negative_numbers = true)]
    Run(studies::RunArguments),
    /// Runs all experiments: the whole report.
    #[command(allow_negative_numbers = true)]
    All(studies::AllArguments),
    /// Compares policies on a recorded trace or a synthetic motion, at equal numbers of vectors.
    #[command(allow_negative_numbers = true)]
    Compare(Box<compare::Arguments>),
    /// Is my game fair? From logs of where things were and where each player saw them.
    #[command(allow_negative_numbers = true, after_help = audit::LOGS)]
    Audit(audit::Arguments),
    /// Which lag and which policy for my game? Short runs of it, and three sentences.
    #[command(allow_negative_numbers = true, after_help = advise::HOW)]
    Advise(Box<advise::Arguments>),
    /// The same scenarios in the laboratory and on real sockets, side by side; and the clock over sockets.
    #[command(after_help = sockets::HOW)]
    Sockets(sockets::Arguments),
    /// The server of one scenario.
    #[command(hide = true)]
    SocketsServer(sockets::ServerArguments),
}

pub(crate) fn run(command: &Command) -> Result<()> {
    match command {
        Command::List(arguments) => studies::list(arguments),
        Command::Run(arguments) => studies::run_one(arguments),
        Command::All(arguments) => studies::run_all(arguments),
        Command::Compare(arguments) => compare::run(arguments),
        Command::Audit(arguments) => audit::run(arguments),
        Command::Advise(arguments) => advise::run(arguments),
        Command::Sockets(arguments) => sockets::run(arguments),
        Command::SocketsServer(arguments) => sockets::serve(arguments),
    }
}
