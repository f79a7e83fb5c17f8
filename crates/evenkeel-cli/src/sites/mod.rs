//! `evenkeel sites`: where servers should stand.

mod reproduce;

use anyhow::Result;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Repeats the paper's experiment on choosing servers, and says which of its claims hold.
    #[command(allow_negative_numbers = true)]
    Reproduce(reproduce::Arguments),
}

pub(crate) fn run(command: &Command) -> Result<()> {
    match command {
        Command::Reproduce(arguments) => reproduce::run(arguments),
    }
}
