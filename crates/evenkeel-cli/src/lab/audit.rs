//! `evenkeel lab audit`: is my game fair?

use super::outputs::{Outputs, Report};
use anyhow::{Context, Result, ensure};
use evenkeel_lab::audit::{Audit, Question, audit};
use std::path::{Path, PathBuf};

/// What logs must look like.
pub(super) const LOGS: &str = "\
Logs are CSV, plain or gzipped, with the columns t_s, entity (or player), x, y and if known z, none of them blank: a row for every \
frame, all with the same clock. Between two rows paths are straight; a gap is no time.";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Where things really were.
    #[arg(long, value_name = "FILE", help_heading = "Logs")]
    real: PathBuf,
    /// Where a receiver showed them, and what to call it; once for each receiver. Entities have the same names.
    #[arg(long, value_name = "NAME=FILE", required = true, help_heading = "Logs")]
    placed: Vec<String>,
    /// Between rows farther apart than this, in seconds, nothing is known.
    #[arg(long, value_name = "S", default_value_t = 1.0, help_heading = "Logs")]
    max_gap: f64,
    #[command(flatten)]
    outputs: Outputs,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let placed = arguments.placed.iter().map(|text| receiver(text)).collect::<Result<Vec<_>>>()?;
    let logs: Vec<&Path> = placed.iter().map(|(_, path)| path.as_path()).chain([arguments.real.as_path()]).collect();
    arguments.outputs.check(&logs)?;
    let question = Question { real: arguments.real.clone(), placed, max_gap: arguments.max_gap };
    arguments.outputs.write(&audit(&question)?)
}

fn receiver(text: &str) -> Result<(String, PathBuf)> {
    let parts = text.split_once('=');
    let (name, file) = parts.with_context(|| format!("--placed needs NAME=FILE, and `{text}` has no `=`"))?;
    ensure!(!name.is_empty() && !file.is_empty(), "--placed needs NAME=FILE, and half of `{text}` is missing");
    Ok((name.to_owned(), file.into()))
}

impl Report for Audit {
    fn json(&self) -> serde_json::Value {
        self.to_json()
    }

    fn csv(&self) -> Result<String> {
        self.to_csv()
    }

    fn html(&self) -> String {
        self.to_html()
    }

    fn text(&self) -> String {
        self.to_text()
    }
}
