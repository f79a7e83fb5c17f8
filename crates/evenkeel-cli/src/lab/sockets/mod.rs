//! `evenkeel lab sockets`: the same bodies in two worlds.

mod cast;
mod clock;
mod compare;
mod scenes;
mod server;

pub(crate) use server::{ServerArguments, serve};

use super::outputs::print;
use crate::join::tally::Tally;
use crate::join::wall::Wall;
use anyhow::{Context, Result, ensure};
use cast::{Cast, LEAD_NANOS, Stage};
use compare::{Row, compare};
use indicatif::{ProgressBar, ProgressStyle};
use scenes::{Scene, scenes};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// How long everybody drives unless told otherwise.
const SECONDS: f64 = 45.0;
const QUICK_SECONDS: f64 = 30.0;

pub(crate) const HOW: &str = "\
Every scene is run twice: in the laboratory's world, and by real processes over loopback, in real time, all scenes at once: a server, \
an owner, and one process for every receiver whose packets are delayed beneath QUIC. All their clocks are wrong by seconds and drift \
by 50 ppm or less. The server is told nothing about delays. Distances are metres between where things really are and where they are \
shown, measured by the machine's own clock. `seeds` is the laboratory's own deviation over ten drives; `repeats` over ten runs of the \
same drive with other draws and uplinks that differ by up to 2 ms.";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A first look: two scenes and the clock, for 30 s.
    #[arg(long)]
    quick: bool,
    /// For so many seconds of driving. Default: 45.
    #[arg(long, value_name = "S")]
    seconds: Option<f64>,
    /// Drives follow from it.
    #[arg(long, value_name = "X", default_value_t = 1)]
    seed: u64,
    /// Also write the results as JSON to this file; `-` prints them instead of the table.
    #[arg(long, value_name = "PATH")]
    json: Option<PathBuf>,
    /// Only scenes whose names contain this.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let seconds = arguments.seconds.unwrap_or(if arguments.quick { QUICK_SECONDS } else { SECONDS });
    ensure!((5.0..=600.0).contains(&seconds), "--seconds must be between 5 and 600");
    let wanted = |scene: &Scene| {
        let named = arguments.only.as_ref().is_none_or(|only| scene.name().contains(only.as_str()));
        named && (scene.quick || !arguments.quick)
    };
    let chosen: Vec<(usize, Scene)> =
        scenes(seconds).into_iter().enumerate().filter(|(_, scene)| wanted(scene)).collect();
    ensure!(!chosen.is_empty(), "no scene is called that; see `evenkeel lab sockets` without --only");
    let folder = Folder::new("sockets")?;
    let rows = play(arguments, &chosen, seconds, &folder.0)?;
    let results = format!("{:#}\n", to_json(&rows, seconds, arguments.seed));
    match &arguments.json {
        Some(path) if path.as_os_str() == "-" => print(&results),
        path => {
            if let Some(path) = path {
                std::fs::write(path, results).with_context(|| format!("cannot write {}", path.display()))?;
            }
            print(&to_text(&rows))
        }
    }
}

/// A directory for what processes leave behind, while this lasts.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Result<Self> {
        let path = std::env::temp_dir().join(format!("evenkeel-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn play(arguments: &Arguments, chosen: &[(usize, Scene)], seconds: f64, folder: &Path) -> Result<Vec<Row>> {
    let wall = Wall::new();
    let begin = wall.now();
    let stage = Stage { folder, wall: &wall, start: begin + LEAD_NANOS, seed: arguments.seed };
    let casts =
        chosen.iter().map(|(number, scene)| Cast::start(*number, scene, &stage)).collect::<Result<Vec<Cast>>>()?;
    let bar = ProgressBar::new(((stage.start - begin) as f64 / 1e9 + seconds) as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:32} {pos}/{len} s") {
        bar.set_style(style);
    }
    let end = stage.start + (seconds * 1e9) as i64;
    while stage.wall.now() < end {
        std::thread::sleep(std::time::Duration::from_millis(250));
        bar.set_position(((wall.now() - begin) / 1_000_000_000) as u64);
    }
    bar.finish_and_clear();
    let reports = casts.into_iter().map(|cast| cast.reports(&wall)).collect::<Result<Vec<_>>>()?;
    let rows = chosen.iter().zip(&reports).map(|((_, scene), reports)| compare(scene, arguments.seed, reports));
    Ok(rows.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

fn to_json(rows: &[Row], seconds: f64, seed: u64) -> Value {
    let rows: Vec<Value> = rows.iter().map(Row::json).collect();
    json!({ "version": 1, "seconds": seconds, "seed": seed, "rows": rows })
}

fn to_text(rows: &[Row]) -> String {
    let head =
        ["scene", "policy", "receiver", "lab m", "sockets m", "ratio", "export", "seeds", "repeats", "measured ms"];
    let mut table = vec![head.map(str::to_owned)];
    for row in rows.iter().filter(|row| !row.is_clock) {
        let share = |value: f64| format!("±{:.1} %", 100.0 * value);
        table.push([
            row.cell.clone(),
            row.policy.clone(),
            row.receiver.clone(),
            format!("{:.3}", row.lab),
            format!("{:.3}", row.sockets),
            format!("{:.3}", row.ratio()),
            format!("{:.3}", row.export_ratio()),
            share(row.over_seeds),
            share(row.over_repeats),
            row.measured_ms.map_or_else(|| "–".into(), |ms| format!("{ms:.1}")),
        ]);
    }
    let widths: Vec<usize> =
        (0..head.len()).map(|n| table.iter().map(|row| row[n].chars().count()).max().unwrap_or(0)).collect();
    let line = |row: &[String; 10]| {
        let cell = |(n, (text, width)): (usize, (&String, &usize))| match n {
            0..=2 => format!(" {text:<width$} "),
            _ => format!(" {text:>width$} "),
        };
        row.iter().zip(&widths).enumerate().map(cell).collect::<String>().trim_end().to_owned() + "\n"
    };
    let text = if table.len() > 1 { table.iter().map(line).collect() } else { String::new() };
    text + &clocks(rows)
}

/// The clocks of those on the path `far`, in a line.
fn clocks(rows: &[Row]) -> String {
    let mut all = Tally::default();
    let far: Vec<&Row> = rows.iter().filter(|row| row.is_clock).collect();
    far.iter().for_each(|row| all.merge(&row.clock));
    let (Some(half), Some(most), Some(max)) = (all.quantile(0.5), all.quantile(0.99), all.max()) else {
        return String::new();
    };
    let settled = far.iter().map(|row| row.settled_s).fold(0.0, f64::max);
    format!(
        " The clock over sockets, path `far` (100 ms + exp 20 ms, both ways), drifts of 50 ppm, after {settled:.0} s: \
         p50 {half:.2} ms, p99 {most:.2} ms, max {max:.2} ms over {} players.\n",
        far.len()
    )
}
