//! The program `evenkeel`. Glue only: every command is a call into one of the crates.

mod bench;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Accurate and fair multiplayer movement. Without a command: a short comparison of ways to tell others where things are.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Measures the library on this machine: accuracy, bytes, cost of sending, the clock.
    Bench(bench::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        None => compare(),
        Some(Command::Bench(arguments)) => bench::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("evenkeel: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn compare() -> Result<()> {
    use evenkeel_lab::comparison::{PAPER_DELAYS_MS, compare};
    let comparison = compare(&PAPER_DELAYS_MS, 4, 120.0, 1)?;
    println!("{comparison}\n{}", comparison.verdict());
    println!("\nMore: evenkeel bench measures this machine; evenkeel --help lists all commands.");
    Ok(())
}
