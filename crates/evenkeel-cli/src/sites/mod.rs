//! `evenkeel sites`: where the servers of a game stand.

mod ask;
mod compare;
mod given;
mod reproduce;
mod solve;
mod watch;

use anyhow::Result;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Chooses servers for players, from measured round-trip times; says how good they are, and how good any could be.
    #[command(allow_negative_numbers = true, after_help = solve::HOW)]
    Solve(Box<solve::Arguments>),
    /// All strategies side by side over many seeds, on measured round-trip times or on networks made by chance.
    #[command(allow_negative_numbers = true)]
    Compare(Box<compare::Arguments>),
    /// Keeps watch over a game: reads who comes, goes and moves, and says when other servers are worth the trouble.
    #[command(allow_negative_numbers = true, after_help = watch::LINES)]
    Watch(Box<watch::Arguments>),
    /// Repeats the paper's experiment on choosing servers, and says which of its claims hold.
    #[command(allow_negative_numbers = true)]
    Reproduce(reproduce::Arguments),
}

pub(crate) fn run(command: &Command) -> Result<()> {
    match command {
        Command::Solve(arguments) => solve::run(arguments),
        Command::Compare(arguments) => compare::run(arguments),
        Command::Watch(arguments) => watch::run(arguments),
        Command::Reproduce(arguments) => reproduce::run(arguments),
    }
}
