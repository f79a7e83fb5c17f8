//! `evenkeel compare` and `evenkeel recording`.

use anyhow::{Context, Result};
use evenkeel_lab::comparison::{Question, compare};
use evenkeel_lab::recorder::Summary;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// One-way delay to each receiver, in milliseconds.
    #[arg(long, value_name = "MS,MS,...", value_delimiter = ',', default_value = "200,500,800")]
    delays_ms: Vec<i64>,
    /// How many tanks drive.
    #[arg(long, default_value_t = 4)]
    tanks: u32,
    /// For how many seconds.
    #[arg(long, default_value_t = 120.0)]
    seconds: f64,
    /// Drives follow from it: the same seed gives the same table.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Record the run with every vector and global time to this file.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

#[derive(clap::Args)]
pub(crate) struct RecordingArguments {
    /// The recording.
    file: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let (delays_ms, tanks) = (arguments.delays_ms.clone(), arguments.tanks);
    let question = Question { delays_ms, tanks, seconds: arguments.seconds, seed: arguments.seed };
    let create = |path: &PathBuf| -> Result<Box<dyn Write>> {
        let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Box::new(BufWriter::new(file)))
    };
    let record = arguments.record.as_ref().map(create).transpose()?;
    let comparison = compare(&question, record)?;
    println!("{comparison}\n{}", comparison.verdict());
    println!(
        "\nMore: `evenkeel lab compare --trace FILE` does it on your own data; `evenkeel --help` lists all commands."
    );
    Ok(())
}

pub(crate) fn summarise(arguments: &RecordingArguments) -> Result<()> {
    let path = &arguments.file;
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let summary = Summary::read(BufReader::new(file)).with_context(|| path.display().to_string())?;
    print!("{summary}");
    Ok(())
}
