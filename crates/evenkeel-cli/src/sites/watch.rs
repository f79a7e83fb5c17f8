//! `evenkeel sites watch`: players come, go and move, and it says when other servers are worth the trouble.

use super::ask::Question;
use super::given::{Given, between};
use anyhow::{Context, Result, ensure};
use evenkeel_sites::live::{Settings, stream::Watch};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

pub(crate) const LINES: &str = "\
Events are read from standard input, one JSON object in a line, with the time in seconds:

  {\"at_s\": 0, \"servers\": [\"Frankfurt\"]}
  {\"at_s\": 12.5, \"join\": \"Ada\", \"weight\": 1, \"rtt_ms\": {\"Frankfurt\": 20.1, \"Tokyo\": 240}}
  {\"at_s\": 13, \"player\": \"Ada\", \"rtt_ms\": {\"Frankfurt\": 25, \"Tokyo\": null}}
  {\"at_s\": 14, \"between_ms\": 225, \"sites\": [\"Frankfurt\", \"Tokyo\"]}
  {\"at_s\": 15, \"leave\": \"Ada\"}

Advice goes to standard output, one JSON object in a line. Without --ask it counts as followed; with it, as soon as a line says
{\"at_s\": 16, \"accept\": true}. What is wrong with a line goes to standard error, and the line counts for nothing.";

/// Nobody needs a longer line, in bytes.
const LONGEST: u64 = 1 << 20;
/// A day: nobody waits longer.
const LONGEST_PAUSE: f64 = 86_400.0;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Round-trip times between the sites in milliseconds: CSV as for `sites solve`. Players come with the events.
    #[arg(long, value_name = "FILE", help_heading = "What is given")]
    rtt: PathBuf,
    #[command(flatten)]
    given: Given,
    #[command(flatten)]
    question: Question,
    /// How much every server that starts or stops must gain, in percent of the objective.
    #[arg(long, value_name = "PERCENT", default_value_t = 100.0 * Settings::default().hysteresis, help_heading = "When a change is worth it")]
    hysteresis: f64,
    /// What starting a server costs, in milliseconds of the objective.
    #[arg(long, value_name = "MS", default_value_t = 0.0, help_heading = "When a change is worth it")]
    start_ms: f64,
    /// What it would cost to move everybody to another server, in milliseconds of the objective; some cost their share.
    #[arg(long, value_name = "MS", default_value_t = 0.0, help_heading = "When a change is worth it")]
    move_ms: f64,
    /// How long nothing is advised after a change, unless somebody cannot play.
    #[arg(long, value_name = "S", default_value_t = Settings::default().pause.as_secs_f64(), help_heading = "When a change is worth it")]
    pause_s: f64,
    /// Wait for a line that accepts or declines what is advised.
    #[arg(long)]
    ask: bool,
    /// End with the first line that is wrong.
    #[arg(long)]
    strict: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let settings = arguments.settings()?;
    let request = arguments.question.request(0)?;
    let known = arguments.given.known(&arguments.given.load(&arguments.rtt)?, 0, None)?;
    arguments.question.check(&known.problem)?;
    let (sites, between) = (known.problem.sites().to_vec(), between(&known.problem));
    let mut watch = Watch::new(sites, between, request, settings)?;
    if arguments.ask {
        watch = watch.asking();
    }
    follow(watch, BufReader::new(std::io::stdin().lock()), std::io::stdout().lock(), arguments.strict)
}

/// Reads events to their end.
fn follow(mut watch: Watch, mut events: impl BufRead, mut advice: impl Write, strict: bool) -> Result<()> {
    let mut line = String::new();
    loop {
        line.clear();
        let read = (&mut events).take(LONGEST + 1).read_line(&mut line).context("standard input")?;
        if read == 0 {
            return Ok(());
        }
        ensure!(read as u64 <= LONGEST, "a line is longer than {LONGEST} bytes");
        match watch.line(&line) {
            Ok(None) => {}
            Ok(Some(said)) => {
                // Whoever reads it acts on it now. If nobody reads any more, there is nothing left to do.
                if writeln!(advice, "{said}").and_then(|()| advice.flush()).is_err() {
                    return Ok(());
                }
            }
            Err(error) if strict => return Err(error.into()),
            Err(error) => eprintln!("evenkeel: {error}"),
        }
    }
}

impl Arguments {
    fn settings(&self) -> Result<Settings> {
        let costs = [("--hysteresis", self.hysteresis), ("--start-ms", self.start_ms), ("--move-ms", self.move_ms)];
        for (flag, value) in costs {
            ensure!(value >= 0.0 && value.is_finite(), "{flag} {value}: it cannot be below 0");
        }
        let pause = self.pause_s;
        ensure!((0.0..=LONGEST_PAUSE).contains(&pause), "--pause-s {pause}: choose between 0 and {LONGEST_PAUSE}");
        Ok(Settings {
            hysteresis: self.hysteresis / 100.0,
            start_ms: self.start_ms,
            move_ms: self.move_ms,
            pause: Duration::from_secs_f64(pause),
            ..Settings::default()
        })
    }
}
