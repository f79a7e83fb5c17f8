//! Evenkeel beside bevy_replicon and lightyear: the same work, measured in one run. `README.md` says what, how, and how
//! fair it is.

mod contender;
mod crowd;
mod equal;
mod evenkeel_bevy;
mod evenkeel_heart;
mod lightyear_peer;
mod lineup;
mod load;
mod machine;
mod network;
mod parts;
mod plot;
mod replicon;
mod report;
mod svg;
mod tracks;
mod verdict;

use anyhow::{Context, Result, ensure};
use clap::{Parser, ValueEnum};
use equal::Arena;
use evenkeel::GlobalTime;
use lineup::{VARIANTS, Variant};
use report::Report;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tracks::Ground;

/// The recorded games: every frame of every tank.
const TRACES: [&str; 2] = ["bzflag-dense-a", "bzflag-dense-b"];
/// The one-way delays of the receivers in milliseconds, their jitter either way, and how much is lost.
const DELAYS: [f64; 4] = [20.0, 60.0, 120.0, 250.0];
const JITTER: f64 = 5.0;
const LOSS: f64 = 0.01;

/// Measures Evenkeel beside bevy_replicon and lightyear: what serving costs, and how far off things are shown at equal
/// bytes.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// A short run: enough to see that everything works, too short to quote.
    #[arg(long)]
    quick: bool,
    /// Only one of the two halves.
    #[arg(long, value_name = "HALF")]
    only: Option<Half>,
    /// Only contenders whose names contain this, in large or small letters.
    #[arg(long, value_name = "TEXT", default_value = "")]
    who: String,
    /// Ticks of each scenario of the first half; 150, or 40 with --quick.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    ticks: Option<u32>,
    /// Ticks that a contender has in a row before the next has its turn; with 1 everybody always finds cold caches.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    block: u32,
    /// Seconds of each recorded game of the second half; 120, or 30 with --quick.
    #[arg(long, value_parser = seconds)]
    seconds: Option<f64>,
    /// Where the recorded games are: the folder with `traces/`.
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data"))]
    data: PathBuf,
    /// Also write everything as JSON to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Also draw it into this file, as SVG.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

impl Arguments {
    fn wants(&self, name: &str) -> bool {
        name.to_lowercase().contains(&self.who.to_lowercase())
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Half {
    /// What serving costs.
    Load,
    /// How far off things are shown.
    Traces,
}

fn seconds(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    if (5.0..=3600.0).contains(&number) { Ok(number) } else { Err("from 5 to 3600 seconds".into()) }
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("evenkeel-peers: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    // Nobody should wait for results that cannot be had or cannot be written.
    for file in [&arguments.json, &arguments.plot].into_iter().flatten() {
        check(file)?;
    }
    ensure!(arguments.json.is_none() || arguments.json != arguments.plot, "--json and --plot need a file each");
    let wanted = |half| arguments.only.is_none_or(|only| only == half);
    let grounds = if wanted(Half::Traces) { read_grounds(arguments)? } else { Vec::new() };
    let ticks = arguments.ticks.unwrap_or(if arguments.quick { 40 } else { 150 });
    let size = load::Size { entities: 1_000, receivers: 32, ticks, block: arguments.block };
    let (mut costs, mut verdicts) = (Vec::new(), Vec::new());
    if wanted(Half::Load) {
        let mut entrants = lineup::entrants(size.receivers, GlobalTime::from_millis(1_000))?;
        entrants.retain(|entrant| arguments.wants(entrant.name));
        ensure!(!entrants.is_empty(), "nobody's name contains `{}`", arguments.who);
        costs = load::run(&mut entrants, &size, &|step| eprintln!("serving: {step}"))?;
        verdicts.extend(verdict::of_costs(&costs));
    }
    let paths = evenkeel_lab::experiment::paths(&DELAYS, JITTER, LOSS);
    let variants: Vec<Variant> = VARIANTS.into_iter().filter(|variant| arguments.wants(variant.name)).collect();
    let arena = Arena { grounds: &grounds, paths: &paths };
    let show = || equal::run(&arena, &variants, arguments.quick, &|step| eprintln!("showing: {step}"));
    let findings = wanted(Half::Traces).then(show).transpose()?;
    verdicts.extend(findings.iter().flat_map(verdict::of_tracks));
    let report = Report { size, costs, variants, traces: TRACES.map(String::from).to_vec(), paths, findings, verdicts };
    write(arguments, &report)
}

fn read_grounds(arguments: &Arguments) -> Result<Vec<Ground>> {
    let seconds = arguments.seconds.unwrap_or(if arguments.quick { 30.0 } else { 120.0 });
    let read = |name: &&str| {
        let path = arguments.data.join("traces").join(format!("{name}.csv.gz"));
        ensure!(path.is_file(), "{} is missing: say with --data where the project's data is", path.display());
        Ground::read(&path, seconds)
    };
    TRACES.iter().map(read).collect()
}

/// Whether a file can be written.
fn check(file: &Path) -> Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    ensure!(folder.is_none_or(Path::is_dir), "cannot write {}: there is no such directory", file.display());
    ensure!(!file.is_dir(), "cannot write {}: it is a directory", file.display());
    Ok(())
}

fn write(arguments: &Arguments, report: &Report) -> Result<()> {
    let put = |file: &PathBuf, text: String| {
        std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
    };
    if let Some(file) = &arguments.json {
        put(file, format!("{:#}\n", report.to_json()))?;
    }
    if let Some(file) = &arguments.plot {
        put(file, plot::draw(report))?;
    }
    print!("{}", report.to_text());
    Ok(())
}
