//! The program `evenkeel`. Glue only: every command is a call into one of the crates.

mod bench;
#[cfg(unix)]
mod bzflag;
mod compare;
mod demo;
mod join;
mod lab;
mod serve;
mod sites;
mod token;

use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// Accurate and fair multiplayer movement.
///
/// Without a command: `demo` with its defaults.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Drive in a browser and watch fairness happen: a server, bots as real clients, and a page.
    Demo(demo::Arguments),
    /// Compares ways of telling others where things are: today's, global time, fewer updates.
    Compare(compare::Arguments),
    /// The laboratory: experiments on one's own data.
    #[command(subcommand)]
    Lab(lab::Command),
    /// Measures the library on this machine: accuracy, bytes, cost of sending, the clock.
    Bench(bench::Arguments),
    /// Serves a session: players join it, and see each other move.
    #[command(allow_negative_numbers = true, after_help = serve::CONFIG)]
    Serve(Box<serve::Arguments>),
    /// Where servers should stand, and how long they should wait for each other.
    #[command(subcommand)]
    Sites(sites::Command),
    /// BZFlag as it is, made accurate and fair: a relay between its clients and its server, a testbed, a recorder.
    #[cfg(unix)]
    #[command(subcommand)]
    Bzflag(bzflag::Command),
    /// Join tokens: who may join which session.
    #[command(subcommand)]
    Token(token::Command),
    /// Joins a session with bots, and measures how far off what they see is.
    #[command(after_help = join::MEASURED)]
    Join(Box<join::Arguments>),
    /// Says what is in a recording.
    Recording(compare::RecordingArguments),
}

/// What the program understands, for whoever checks command lines without running them.
pub fn command() -> clap::Command {
    Arguments::command()
}

/// Does what the command line says.
pub fn run() -> ExitCode {
    let result = match Arguments::parse().command {
        None => demo::run(&demo::Arguments::default()),
        Some(Command::Demo(arguments)) => demo::run(&arguments),
        Some(Command::Compare(arguments)) => compare::run(&arguments),
        Some(Command::Lab(command)) => lab::run(&command),
        Some(Command::Bench(arguments)) => bench::run(&arguments),
        Some(Command::Serve(arguments)) => serve::run(*arguments),
        Some(Command::Sites(command)) => sites::run(&command),
        #[cfg(unix)]
        Some(Command::Bzflag(command)) => bzflag::run(&command),
        Some(Command::Token(command)) => token::run(&command),
        Some(Command::Join(arguments)) => join::run(&arguments),
        Some(Command::Recording(arguments)) => compare::summarise(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("evenkeel: {error:#}");
            ExitCode::from(2)
        }
    }
}
