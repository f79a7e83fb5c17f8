//! Evenkeel beside bevy_replicon and lightyear: the same work, measured in one run. `README.md` says what, how, and how
//! fair it is.

mod connections;
mod contender;
mod cost;
mod crowd;
mod entrant;
mod equal;
mod evenkeel_bevy;
mod evenkeel_heart;
mod games;
mod held;
mod lightyear_peer;
mod lineup;
mod load;
mod machine;
mod network;
mod parts;
mod plot;
mod replicon;
mod report;
mod scenario;
mod svg;
mod told;
mod tracks;
mod verdict;

use anyhow::{Context, Result, ensure};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, ValueEnum};
use equal::Arena;
use games::{Game, Named};
use lineup::{VARIANTS, Variant};
use report::{Report, Shown};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

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
    /// A recorded game to show instead of the shipped ones, every frame of it: comma-separated values, plain or gzipped,
    /// with the columns t_s, entity, x and y. A --threshold must follow. May be given several times.
    #[arg(long, value_name = "FILE")]
    trace: Vec<PathBuf>,
    /// The error, in the units of the trace, at which something becomes due when our knob is at zero; precision follows
    /// from it. For all --trace since the --threshold before: those are one game, and one result is made of them.
    #[arg(long, value_name = "DISTANCE", value_parser = games::threshold, allow_negative_numbers = true)]
    threshold: Vec<f64>,
    /// Where the shipped games are: the folder with `traces/`.
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
    let matches = Arguments::command().get_matches();
    let result =
        Arguments::from_arg_matches(&matches).map_err(Into::into).and_then(|it| run(&it, named(&it, &matches)?));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("evenkeel-peers: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Which traces belong together, by where they stand on the command line.
fn named(arguments: &Arguments, matches: &ArgMatches) -> Result<Vec<Named>> {
    let places = |id| matches.indices_of(id).into_iter().flatten();
    let traces = places("trace").zip(arguments.trace.iter().cloned()).collect();
    let thresholds: Vec<(usize, f64)> = places("threshold").zip(arguments.threshold.iter().copied()).collect();
    games::pair(traces, &thresholds)
}

fn run(arguments: &Arguments, named: Vec<Named>) -> Result<()> {
    // Nobody should wait for results that cannot be had or cannot be written.
    for file in [&arguments.json, &arguments.plot].into_iter().flatten() {
        check(file)?;
    }
    ensure!(arguments.json.is_none() || arguments.json != arguments.plot, "--json and --plot need a file each");
    let wanted = |half| arguments.only.is_none_or(|only| only == half);
    ensure!(named.is_empty() || wanted(Half::Traces), "--only load shows no traces: leave out --trace");
    let games = if wanted(Half::Traces) { read_games(arguments, &named)? } else { Vec::new() };
    let ticks = arguments.ticks.unwrap_or(if arguments.quick { 40 } else { 150 });
    let size = load::Size { entities: 1_000, receivers: 32, ticks, block: arguments.block };
    let (mut costs, mut verdicts) = (Vec::new(), Vec::new());
    if wanted(Half::Load) {
        let enter = |connections, now| {
            let mut entrants = lineup::entrants(size.receivers, connections, now)?;
            entrants.retain(|entrant| arguments.wants(entrant.name));
            ensure!(!entrants.is_empty(), "nobody's name contains `{}`", arguments.who);
            Ok(entrants)
        };
        costs = load::run(&enter, &size, &|step| eprintln!("serving: {step}"))?;
        verdicts.extend(verdict::of_costs(&costs));
    }
    let paths = evenkeel_lab::experiment::paths(&DELAYS, JITTER, LOSS);
    let variants: Vec<Variant> = VARIANTS.into_iter().filter(|variant| arguments.wants(variant.name)).collect();
    let show = |game: Game| -> Result<Shown> {
        let arena = Arena { game: &game, paths: &paths };
        let progress = |step: &str| eprintln!("showing: {}{step}", game.prefix());
        let findings = equal::run(&arena, &variants, arguments.quick, &progress)?;
        Ok(Shown { game, findings })
    };
    let shown = games.into_iter().map(show).collect::<Result<Vec<_>>>()?;
    verdicts.extend(shown.iter().flat_map(|shown| verdict::of_tracks(shown.game.label(), &shown.findings)));
    let report = Report { size, costs, variants, paths, shown, verdicts };
    write(arguments, &report)
}

fn read_games(arguments: &Arguments, named: &[Named]) -> Result<Vec<Game>> {
    let seconds = arguments.seconds.unwrap_or(if arguments.quick { 30.0 } else { 120.0 });
    if named.is_empty() {
        return Ok(vec![games::shipped(&arguments.data, seconds)?]);
    }
    named.iter().map(|named| games::read(named, seconds)).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn games_of(line: &str) -> Result<Vec<Named>> {
        let matches = Arguments::command().try_get_matches_from(line.split(' '))?;
        named(&Arguments::from_arg_matches(&matches)?, &matches)
    }

    #[test]
    fn traces_go_with_the_threshold_that_follows() {
        let games = games_of("peers --trace a --threshold 0.1 --quick --trace b --trace=c --threshold=10").unwrap();
        let named =
            |traces: &[&str], threshold| Named { traces: traces.iter().map(PathBuf::from).collect(), threshold };
        assert_eq!(games, [named(&["a"], 0.1), named(&["b", "c"], 10.0)]);
        assert!(games_of("peers").unwrap().is_empty());
        for (line, why) in [
            ("peers --trace a", "--trace a needs a --threshold"),
            ("peers --threshold 1", "follows no --trace"),
            ("peers --threshold 1 --trace a", "follows no --trace"),
            ("peers --trace a --threshold x", "`x` is not a number"),
            ("peers --trace a --threshold -1", "in the units of the trace"),
            ("peers --trace a --threshold NaN", "in the units of the trace"),
        ] {
            let error = games_of(line).unwrap_err().to_string();
            assert!(error.contains(why), "{line}: {error}");
        }
    }

    #[test]
    fn traces_without_the_half_that_shows_them_are_refused() {
        let arguments = Arguments::parse_from(["peers", "--only", "load"]);
        let named = vec![Named { traces: vec!["a".into()], threshold: 1.0 }];
        assert!(run(&arguments, named).unwrap_err().to_string().contains("--only load"));
    }
}
