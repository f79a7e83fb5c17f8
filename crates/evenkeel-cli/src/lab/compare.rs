//! `evenkeel lab compare`: policies on one's own data.

use super::outputs::{Outputs, Report};
use super::waiting::Waiting;
use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use evenkeel_lab::experiment::{Findings, Senders, Settings, Source, paths, run as run_experiment};
use evenkeel_lab::report;
use evenkeel_lab::workload::Motion;
use evenkeel_lab::world::{Rules, VectorKind};
use evenkeel_lab::{Budget, ClockRule, Conditions, Duration, Placing, Threshold};
use std::path::PathBuf;

#[derive(Clone, Copy, ValueEnum)]
enum Clock {
    Global,
    Local,
    OneWay,
}

#[derive(Clone, Copy, ValueEnum)]
enum Vector {
    Linear,
    Arc,
    Auto,
}

#[derive(Clone, Copy, ValueEnum)]
enum Owner {
    One,
    Each,
}

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A trace of true paths: CSV, plain or gzipped, with the columns t_s, entity (or player), x, y, and if known z, vx, vy,
    /// vz, heading (or azimuth), angvel, status; or a recording, such as the demo's. A blank cell from vx on is not known in
    /// that row, as if there were no such column; a velocity is blank as a whole or not at all.
    #[arg(long, value_name = "FILE", conflicts_with = "motion", help_heading = "What moves")]
    trace: Option<PathBuf>,
    /// A synthetic motion instead: tank, tank-inertia, linear, circular, random, shots, spaceship.
    #[arg(long, value_name = "NAME", default_value = "tank", help_heading = "What moves")]
    motion: String,
    /// How many entities a synthetic motion has.
    #[arg(long, default_value_t = 4, conflicts_with = "trace", help_heading = "What moves")]
    entities: u32,
    /// For how long, or how much of the trace. Default: 120 s of a motion, all of a trace.
    #[arg(long, value_name = "S", help_heading = "What moves")]
    seconds: Option<f64>,
    /// A life in a trace ends at a gap longer than this, in seconds. Default: 1, or 3 with --vectors-only.
    #[arg(long, value_name = "S", help_heading = "What moves")]
    max_gap: Option<f64>,
    /// The trace holds DR vectors, not true paths: each row is passed on as a vector, and only export errors are measured.
    #[arg(long, requires = "trace", help_heading = "What moves")]
    vectors_only: bool,
    /// Take a trace as the true path even if it looks like DR vectors only.
    #[arg(long, help_heading = "What moves")]
    force: bool,
    /// Who tells the receivers: one server for all entities, within one budget, or each entity's owner, peer to peer.
    #[arg(long, value_enum, default_value = "one", help_heading = "What moves")]
    senders: Owner,

    /// One-way delay to each receiver, in milliseconds.
    #[arg(
        long,
        value_name = "MS,MS,...",
        value_delimiter = ',',
        default_value = "800,500,200",
        help_heading = "Network"
    )]
    delays_ms: Vec<f64>,
    /// The server does not own the entities: what their owners export reaches it after this one-way delay, without jitter or
    /// loss. 0: it owns them. Not with --senders each, nor with the policy `tolerance`: the thresholds are the owners'.
    #[arg(long, value_name = "MS", default_value_t = 0.0, help_heading = "Network")]
    uplink_ms: f64,
    /// Jitter: evenly spread by so much either way, per packet.
    #[arg(long, value_name = "MS", default_value_t = 0.0, help_heading = "Network")]
    jitter_ms: f64,
    /// Share of packets lost.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, help_heading = "Network")]
    loss: f64,

    /// The policies to compare.
    #[arg(
        long,
        value_name = "NAME,NAME,...",
        value_delimiter = ',',
        default_value = "base,base/3",
        help_heading = "Sending"
    )]
    policies: Vec<String>,
    /// What policies may send: a share of the base case (1/3, 0.4), or a rate for each sender in vectors (200/s) or bytes (20kB/s), to
    /// each receiver if it ends in /receiver (4kB/s/receiver).
    #[arg(long, default_value = "1/3", help_heading = "Sending")]
    budget: String,
    /// Trim budgets until the numbers of vectors (or bytes, if the budget is in bytes) sent agree within 1 %, as far as they can;
    /// `base/k` sends what it sends.
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set, help_heading = "Sending")]
    trim: bool,
    /// What vectors carry: lines, arcs along the heading, or whatever fits.
    #[arg(long, value_enum, default_value = "auto", help_heading = "Sending")]
    vector: Vector,
    /// How far off the position may be before a vector is due, in metres.
    #[arg(long, value_name = "M", default_value_t = 0.1, help_heading = "Sending")]
    threshold: f64,
    /// How far off the heading may be, in radians.
    #[arg(long, value_name = "RAD", default_value_t = 0.05, help_heading = "Sending")]
    angle: f64,
    /// A vector is due after this long in any case.
    #[arg(long, value_name = "S", default_value_t = 1.0, help_heading = "Sending")]
    heartbeat_s: f64,
    /// From when receivers extrapolate: a vector's generation (global), its arrival (local), or its arrival less the delay.
    #[arg(long, value_enum, default_value = "global", help_heading = "Showing")]
    clock: Clock,
    /// How long everything waits before it is shown.
    #[arg(long, value_name = "MS", default_value_t = 0.0, help_heading = "Showing")]
    lag_ms: f64,
    /// For how long a vector is extrapolated at most. Default: ten heartbeats.
    #[arg(long, value_name = "S", help_heading = "Showing")]
    extrapolate_s: Option<f64>,

    /// Also print a lower bound on the mean export error, which holds for every policy that sends as many vectors, and the share of
    /// the gap between `tolerance` and the bound that each policy closes. Needs constant delays and the global clock.
    #[arg(long, help_heading = "Runs and results")]
    bound: bool,
    /// Average over so many seeds.
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Runs and results")]
    seeds: u64,
    /// The first seed. The same seed gives the same bytes.
    #[arg(long, value_name = "X", default_value_t = 1, help_heading = "Runs and results")]
    seed: u64,
    #[command(flatten)]
    outputs: Outputs,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let settings = arguments.settings()?;
    arguments.outputs.check(&arguments.trace.as_deref().into_iter().collect::<Vec<_>>())?;
    let waiting = Waiting::new();
    let findings = run_experiment(&settings, &|progress| waiting.tell(progress))?;
    waiting.end();
    arguments.outputs.write(&findings)?;
    waiting.report_speed(findings.simulated_seconds);
    Ok(())
}

impl Report for Findings {
    fn json(&self) -> serde_json::Value {
        report::to_json(self)
    }

    fn csv(&self) -> Result<String> {
        report::to_csv(self)
    }

    fn html(&self) -> String {
        report::to_html(self)
    }

    fn text(&self) -> String {
        let verdict = report::verdict(self);
        let verdict = if verdict.is_empty() { verdict } else { format!(" {verdict}\n") };
        report::to_table(self) + &verdict
    }
}

impl Arguments {
    fn settings(&self) -> Result<Settings> {
        let max_gap = self.max_gap.unwrap_or(if self.vectors_only { 3.0 } else { 1.0 });
        let source = match &self.trace {
            Some(path) => Source::Trace { path: path.clone(), max_gap, force: self.force },
            None => Source::Motion { motion: Motion::by_name(&self.motion)?, entities: self.entities },
        };
        let budget: Budget = self.budget.parse().with_context(|| format!("`{}` is no budget", self.budget))?;
        let settings = Settings {
            source,
            senders: match self.senders {
                Owner::One => Senders::One,
                Owner::Each => Senders::Each,
            },
            own: Vec::new(),
            policies: self.policies.iter().map(|name| name.trim().to_owned()).collect(),
            budget,
            trim: self.trim,
            paths: self.paths()?,
            uplink: self.uplink()?,
            rules: self.rules()?,
            seeds: self.seeds,
            seed: self.seed,
            seconds: self.seconds,
            bound: self.bound,
        };
        settings.check()?;
        Ok(settings)
    }

    fn paths(&self) -> Result<Vec<Conditions>> {
        span("--jitter-ms", self.jitter_ms / 1e3)?;
        for ms in &self.delays_ms {
            span("--delays-ms", ms / 1e3)?;
        }
        ensure!((0.0..1.0).contains(&self.loss), "--loss must be at least 0 and below 1");
        Ok(paths(&self.delays_ms, self.jitter_ms, self.loss))
    }

    fn uplink(&self) -> Result<Option<Conditions>> {
        let delay = span("--uplink-ms", self.uplink_ms / 1e3)?;
        let peers = matches!(self.senders, Owner::Each);
        ensure!(
            !peers || delay == Duration::ZERO,
            "--uplink-ms is the way to a server: there is none with --senders each"
        );
        Ok((delay > Duration::ZERO).then(|| Conditions::delay(delay)))
    }

    fn rules(&self) -> Result<Rules> {
        let heartbeat = span("--heartbeat-s", self.heartbeat_s)?;
        let max_age = match self.extrapolate_s {
            Some(seconds) => span("--extrapolate-s", seconds)?,
            None => heartbeat * 10,
        };
        let rule = match self.clock {
            Clock::Global => ClockRule::Global,
            Clock::Local => ClockRule::Local,
            Clock::OneWay => ClockRule::OneWay,
        };
        let vector = match self.vector {
            Vector::Linear => VectorKind::Linear,
            Vector::Arc => VectorKind::Arc,
            Vector::Auto => VectorKind::Auto,
        };
        Ok(Rules {
            vector,
            threshold: Threshold::within(self.threshold).turning(self.angle).at_least_every(heartbeat),
            placing: Placing { rule, lag: span("--lag-ms", self.lag_ms / 1e3)?, max_age },
            relays: self.vectors_only,
        })
    }
}

/// A span of time that makes sense here: not negative, at most an hour.
fn span(name: &str, seconds: f64) -> Result<Duration> {
    if !(0.0..=3600.0).contains(&seconds) {
        bail!("{name} must be between 0 and an hour");
    }
    Ok(Duration::from_secs_f64(seconds))
}
