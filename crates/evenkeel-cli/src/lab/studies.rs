//! `evenkeel lab list`, `run` and `all`: experiments by name.

use super::outputs::{Outputs, Report, print};
use super::waiting::Waiting;
use anyhow::{Context, Result, ensure};
use evenkeel_lab::bench::default_data;
use evenkeel_lab::report::Volume;
use evenkeel_lab::study::{Brief, ENTRIES, Entry, Size, Study};
use serde_json::{Value, json};
use std::path::PathBuf;

/// About how many seconds an experiment takes on two cores: with --quick, and at full size.
const ROUGH_SECONDS: &[(&str, [f64; 2])] = &[
    ("accuracy", [1.0, 10.0]),
    ("clock", [2.0, 8.0]),
    ("scheduling", [3.0, 30.0]),
    ("budget", [5.0, 50.0]),
    ("threshold", [3.0, 25.0]),
    ("policies", [20.0, 150.0]),
    ("recorded", [12.0, 70.0]),
    ("baselines", [1.0, 6.0]),
    ("hits", [1.0, 3.0]),
    ("liar", [6.0, 35.0]),
    ("local-lag", [2.0, 6.0]),
    ("lag-fairness", [6.0, 60.0]),
    ("verdicts", [2.0, 15.0]),
    ("timewarp", [3.0, 25.0]),
    ("mirrors", [3.0, 30.0]),
    ("prediction", [2.0, 15.0]),
    ("sites", [10.0, 40.0]),
];

#[derive(clap::Args)]
pub(crate) struct ListArguments {
    /// As JSON.
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(crate) struct RunArguments {
    /// The experiment; `evenkeel lab list` names them.
    name: String,
    #[command(flatten)]
    how: How,
}

#[derive(clap::Args)]
pub(crate) struct AllArguments {
    #[command(flatten)]
    how: How,
}

/// How much to run, and where results go.
#[derive(clap::Args)]
struct How {
    /// A first look: 5 seeds of 240 s instead of 20 of 600 s.
    #[arg(long, help_heading = "Runs and results")]
    quick: bool,
    /// Average over so many seeds.
    #[arg(long, value_name = "N", help_heading = "Runs and results")]
    seeds: Option<u64>,
    /// For so many seconds each.
    #[arg(long, value_name = "S", help_heading = "Runs and results")]
    seconds: Option<f64>,
    /// The first seed. The same seed gives the same bytes.
    #[arg(long, value_name = "X", default_value_t = 1, help_heading = "Runs and results")]
    seed: u64,
    /// Where the project's data is: the folder that holds traces/. Default: data here, or where the program was built.
    #[arg(long, value_name = "DIR", help_heading = "Runs and results")]
    data: Option<PathBuf>,
    #[command(flatten)]
    outputs: Outputs,
}

impl How {
    fn brief(&self) -> Result<Brief> {
        let whole = if self.quick { Size::QUICK } else { Size::FULL };
        let size = Size {
            seeds: self.seeds.unwrap_or(whole.seeds),
            seconds: self.seconds.unwrap_or(whole.seconds),
            seed: self.seed,
        };
        size.check()?;
        Ok(Brief { size, own: Vec::new(), data: self.data.clone().unwrap_or_else(default_data) })
    }
}

pub(super) fn list(arguments: &ListArguments) -> Result<()> {
    if arguments.json {
        let all: Vec<Value> = ENTRIES.iter().map(entry_json).collect();
        return print(&format!("{:#}\n", json!({ "experiments": all })));
    }
    print(&ENTRIES.iter().map(entry_text).collect::<String>())
}

fn rough_seconds(entry: &Entry) -> Option<[f64; 2]> {
    ROUGH_SECONDS.iter().find(|(name, _)| *name == entry.name).map(|(_, seconds)| *seconds)
}

/// The same for any size: in proportion to the work below --quick, and along the line through both above.
fn rough_seconds_at(entry: &Entry, size: Size) -> f64 {
    let work = |size: Size| size.seeds as f64 * size.seconds;
    let [quick, full] = rough_seconds(entry).unwrap_or([1.0, 10.0]);
    let (least, most, asked) = (work(Size::QUICK), work(Size::FULL), work(size));
    if asked < least { quick * asked / least } else { quick + (full - quick) * (asked - least) / (most - least) }
}

fn entry_json(entry: &Entry) -> Value {
    let [quick, full] = rough_seconds(entry).map_or([None; 2], |seconds| seconds.map(Some));
    json!({
        "name": entry.name,
        "question": entry.question,
        "reproduces": entry.reproduces,
        "rough_seconds": full,
        "rough_seconds_quick": quick,
    })
}

fn entry_text(entry: &Entry) -> String {
    let Entry { name, question, reproduces, .. } = entry;
    let duration = rough_seconds(entry).map_or_else(String::new, |[quick, full]| {
        format!("{:13}takes about {} (--quick: {})\n", "", words(full), words(quick))
    });
    format!("{name:<12} {question}\n{:13}{reproduces}\n{duration}", "")
}

fn words(seconds: f64) -> String {
    if seconds < 90.0 { format!("{seconds:.0} s") } else { format!("{:.1} min", seconds / 60.0) }
}

pub(super) fn run_one(arguments: &RunArguments) -> Result<()> {
    run(&[Entry::by_name(&arguments.name)?], &arguments.how)
}

pub(super) fn run_all(arguments: &AllArguments) -> Result<()> {
    run(ENTRIES, &arguments.how)
}

fn run(entries: &[Entry], how: &How) -> Result<()> {
    ensure!(!entries.is_empty(), "there are no experiments");
    let brief = how.brief()?;
    how.outputs.check(&[])?;
    let waiting = Waiting::for_all(entries.iter().map(|entry| rough_seconds_at(entry, brief.size)).collect());
    let mut studies: Vec<Study> = Vec::new();
    for (number, entry) in (1..).zip(entries) {
        match entries.len() {
            1 => waiting.begin(entry.name),
            all => waiting.begin(&format!("{number}/{all} {}", entry.name)),
        }
        if let Some(why) = entry.missing(&brief).filter(|_| entries.len() > 1) {
            waiting.say(&format!("evenkeel: {} is left out: {why:#}", entry.name));
            studies.push(Study::left_out(entry, &why));
            continue;
        }
        studies.push(entry.run(&brief, &|progress| waiting.tell(progress)).with_context(|| entry.name)?);
    }
    waiting.end();
    let volume = Volume { size: brief.size, studies };
    how.outputs.write(&volume)?;
    waiting.report_speed(volume.simulated_seconds());
    Ok(())
}

impl Report for Volume {
    fn json(&self) -> Value {
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
