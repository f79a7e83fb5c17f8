//! `evenkeel lab advise`: which lag and which policy for my game?

use super::outputs::print;
use super::waiting::Waiting;
use anyhow::{Context, Result, ensure};
use evenkeel_lab::advice::{Limits, Network, Question, advise};
use evenkeel_lab::experiment::{Settings, Source};
use evenkeel_lab::workload::Motion;
use evenkeel_lab::world::Rules;
use evenkeel_lab::{Budget, Duration};
use std::path::{Path, PathBuf};

/// How much of a game is run unless told otherwise: enough to choose by, and soon over.
const MOTION_SECONDS: f64 = 60.0;
const TRACE_SECONDS: f64 = 120.0;
/// Synthetic motions are averaged over so many seeds; a trace is what it is.
const SEEDS: u64 = 2;

/// How the choice is made, and what the columns mean.
pub(super) const HOW: &str = "\
The game is run with several lags up to the limit and with each policy that keeps to the budget. Recommended is the policy with \
the smallest export error (mean plus standard deviation over receivers), with the shortest lag that buys nearly as much as the \
longest. mean, std, max: metres between where things are exported and where receivers show them, at shown time, over receivers. \
response: how much later players see what they do.";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A trace of true paths: CSV, plain or gzipped, as for `lab compare`.
    #[arg(long, value_name = "FILE", conflicts_with = "motion", help_heading = "What moves")]
    trace: Option<PathBuf>,
    /// A synthetic motion instead: tank, tank-inertia, linear, circular, random, shots, spaceship.
    #[arg(long, value_name = "NAME", default_value = "tank", help_heading = "What moves")]
    motion: String,
    /// How many entities a synthetic motion has.
    #[arg(long, default_value_t = 4, conflicts_with = "trace", help_heading = "What moves")]
    entities: u32,
    /// For how long, or how much of the trace. Default: 60 s of a motion, 120 s of a trace.
    #[arg(long, value_name = "S", help_heading = "What moves")]
    seconds: Option<f64>,
    /// The trace holds DR vectors, not true paths: each row is passed on as a vector.
    #[arg(long, requires = "trace", help_heading = "What moves")]
    vectors_only: bool,
    /// Take a trace as the true path even if it looks like DR vectors only.
    #[arg(long, requires = "trace", help_heading = "What moves")]
    force: bool,

    /// One-way delay to each receiver, in milliseconds.
    #[arg(
        long,
        value_name = "MS,MS,...",
        value_delimiter = ',',
        default_value = "30,80,200",
        help_heading = "Network"
    )]
    delays_ms: Vec<f64>,
    /// Jitter: evenly spread by so much either way, per packet.
    #[arg(long, value_name = "MS", default_value_t = 0.0, help_heading = "Network")]
    jitter_ms: f64,
    /// Share of packets lost.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, help_heading = "Network")]
    loss: f64,

    /// What may be sent: a share of all updates (1/3, 0.4), or a rate in vectors (200/s) or bytes (20kB/s), to each player if it ends in
    /// /receiver (4kB/s/receiver).
    #[arg(long, default_value = "1/3", help_heading = "Limits")]
    budget: String,
    /// How long actions may wait, by kind: movement, verdicts (hits, kills, goals).
    #[arg(long, value_name = "KIND=MS,...", default_value = "movement=100,verdicts=250", help_heading = "Limits")]
    max_lag: String,
    /// The game's tick: lags are whole numbers of them.
    #[arg(long, value_name = "MS", default_value_t = 50.0 / 3.0, hide_default_value = true, help_heading = "Limits",
        help = "The game's tick: lags are whole numbers of them. Default: a sixtieth of a second")]
    tick_ms: f64,

    /// The same seed gives the same bytes.
    #[arg(long, value_name = "X", default_value_t = 1, help_heading = "Runs and results")]
    seed: u64,
    /// Also write the advice as JSON to this file; `-` prints it instead of the text.
    #[arg(long, value_name = "PATH", help_heading = "Runs and results")]
    json: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let question = arguments.question()?;
    question.check()?;
    arguments.check_output()?;
    let waiting = Waiting::new();
    let advice = advise(&question, &|progress| waiting.tell(progress))?;
    waiting.end();
    let json = format!("{:#}\n", advice.to_json());
    match &arguments.json {
        Some(path) if path.as_os_str() == "-" => print(&json)?,
        path => {
            if let Some(path) = path {
                std::fs::write(path, json).with_context(|| format!("cannot write {}", path.display()))?;
            }
            print(&advice.to_text())?;
        }
    }
    waiting.report_speed(advice.simulated_seconds);
    Ok(())
}

impl Arguments {
    fn question(&self) -> Result<Question> {
        let max_gap = if self.vectors_only { 3.0 } else { 1.0 };
        let source = match &self.trace {
            Some(path) => Source::Trace { path: path.clone(), max_gap, force: self.force },
            None => Source::Motion { motion: Motion::by_name(&self.motion)?, entities: self.entities },
        };
        let seconds = if self.trace.is_some() { TRACE_SECONDS } else { MOTION_SECONDS };
        let budget: Budget = self.budget.parse().with_context(|| format!("`{}` is no budget", self.budget))?;
        let game = Settings {
            source,
            budget,
            rules: Rules { relays: self.vectors_only, ..Rules::default() },
            seeds: if self.trace.is_some() { 1 } else { SEEDS },
            seed: self.seed,
            seconds: Some(self.seconds.unwrap_or(seconds)),
            ..Settings::default()
        };
        Ok(Question {
            game,
            network: self.network()?,
            limits: Limits::parse(&self.max_lag).context("--max-lag")?,
            tick: Duration::from_secs_f64(self.tick_ms / 1e3),
        })
    }

    fn network(&self) -> Result<Network> {
        let possible = |ms: &f64| (0.0..=60_000.0).contains(ms);
        ensure!(self.delays_ms.iter().all(possible), "--delays-ms must be between 0 and 60000, as in 30,80,200");
        ensure!(possible(&self.jitter_ms), "--jitter-ms must be between 0 and 60000");
        ensure!((0.0..1.0).contains(&self.loss), "--loss must be at least 0 and below 1: 0.05 is one packet in twenty");
        Ok(Network { delays_ms: self.delays_ms.clone(), jitter_ms: self.jitter_ms, loss: self.loss })
    }

    /// Whether the advice can go where it is wanted, before anybody waits for it.
    fn check_output(&self) -> Result<()> {
        let Some(path) = self.json.as_ref().filter(|path| path.as_os_str() != "-") else { return Ok(()) };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        ensure!(folder.is_none_or(Path::is_dir), "cannot write {}: there is no such directory", path.display());
        ensure!(!path.is_dir(), "cannot write {}: it is a directory", path.display());
        let same = |trace: &PathBuf| trace.canonicalize().ok().is_some_and(|t| path.canonicalize().ok() == Some(t));
        let clash = self.trace.as_ref().is_some_and(same);
        ensure!(!clash, "cannot write {}: the same file is read from", path.display());
        Ok(())
    }
}
