//! `evenkeel bench`.

mod net;

use anyhow::{Context, Result};
use evenkeel_lab::bench;
use indicatif::ProgressBar;
use std::path::PathBuf;
use std::time::Duration;

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Also write the figures as JSON to this file; `-` prints them instead of the table.
    #[arg(long, value_name = "PATH")]
    json: Option<PathBuf>,
    /// One run of the clock per path instead of twenty.
    #[arg(long)]
    quick: bool,
    /// Where the project's data is.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Measures a server under the load of many players on this machine: memory, work, lost messages.
    Net(net::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if let Some(Command::Net(arguments)) = &arguments.command {
        return net::run(arguments);
    }
    let bar = ProgressBar::new_spinner();
    bar.enable_steady_tick(Duration::from_millis(120));
    let options = bench::Options {
        data: arguments.data.clone().unwrap_or_else(bench::default_data),
        clock_runs: if arguments.quick { 1 } else { 20 },
        count: Some(|body| {
            let info = allocation_counter::measure(body);
            (info.count_total, info.bytes_current, info.bytes_max)
        }),
        progress: &|what| bar.set_message(format!("measuring: {what}")),
    };
    let figures = bench::run(&options)?;
    bar.finish_and_clear();
    match arguments.json.as_deref() {
        Some(path) if path.as_os_str() == "-" => println!("{:#}", figures.to_json()),
        Some(path) => {
            let text = format!("{:#}\n", figures.to_json());
            std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
            println!("{figures}");
        }
        None => println!("{figures}"),
    }
    Ok(())
}
