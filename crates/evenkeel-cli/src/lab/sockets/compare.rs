//! One scene in the laboratory and on sockets, side by side.

use super::cast::Reports;
use super::clock;
use super::scenes::{Scene, name_of};
use crate::join::tally::Tally;
use anyhow::{Context, Result};
use evenkeel_lab::world::{Outcome, Seen, statistics};
use evenkeel_link::Conditions;
use serde_json::{Value, json};

/// Over so many seeds the laboratory says how much a drive matters.
const SEEDS: u64 = 10;
/// So many times the laboratory repeats the same drive, each with other jitter and draws, and an uplink a little longer.
const REPEATS: i64 = 10;
/// By so much: what a program's timers make of it.
const LONGER: evenkeel::Duration = evenkeel::Duration::from_micros(200);

/// One receiver in both worlds.
pub(super) struct Row {
    pub(super) cell: String,
    pub(super) policy: String,
    pub(super) receiver: String,
    /// The mean distance between real and shown, in the laboratory, over its repeats.
    pub(super) lab: f64,
    pub(super) sockets: f64,
    /// The same against what the base case exports.
    pub(super) lab_export: f64,
    pub(super) sockets_export: f64,
    /// Deviations of the laboratory's figure as shares of it: over seeds, and over repeats of the same seed.
    pub(super) over_seeds: f64,
    pub(super) over_repeats: f64,
    /// Vectors that the receiver was sent.
    pub(super) lab_vectors: f64,
    pub(super) sockets_vectors: f64,
    /// The delay that the server has measured.
    pub(super) measured_ms: Option<f64>,
    /// The player's clock, in milliseconds.
    pub(super) clock: Tally,
    pub(super) settled_s: f64,
    pub(super) is_clock: bool,
}

impl Row {
    pub(super) fn ratio(&self) -> f64 {
        self.sockets / self.lab
    }

    pub(super) fn export_ratio(&self) -> f64 {
        self.sockets_export / self.lab_export
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "cell": self.cell,
            "policy": self.policy,
            "receiver": self.receiver,
            "lab_m": self.lab,
            "sockets_m": self.sockets,
            "ratio": self.ratio(),
            "lab_export_m": self.lab_export,
            "sockets_export_m": self.sockets_export,
            "ratio_export": self.export_ratio(),
            "deviation_over_seeds": self.over_seeds,
            "deviation_over_repeats": self.over_repeats,
            "lab_vectors": self.lab_vectors,
            "sockets_vectors": self.sockets_vectors,
            "measured_delay_ms": self.measured_ms,
            "clock_scene": self.is_clock,
            "clock_settled_s": self.settled_s,
            "clock_p50_ms": self.clock.quantile(0.5),
            "clock_p99_ms": self.clock.quantile(0.99),
            "clock_max_ms": self.clock.max(),
        })
    }
}

/// One row for every receiver.
pub(super) fn compare(scene: &Scene, seed: u64, reports: &Reports) -> Result<Vec<Row>> {
    let scenario = &scene.scenario;
    let up = reports.owner["rows"][0]["round_trip_ms"].as_f64().unwrap_or(0.0) / 2e3;
    let up = evenkeel::Duration::from_secs_f64(up);
    let repeats = (0..REPEATS).map(|n| scenario.run(seed, seed + n as u64, &Conditions::delay(up + LONGER * n)));
    let repeats = repeats.collect::<Result<Vec<Outcome>>>()?;
    let seeds = (0..SEEDS).map(|n| scenario.run(seed + n, seed + n, &Conditions::delay(up)));
    let seeds = seeds.collect::<Result<Vec<Outcome>>>()?;
    let mut rows = Vec::new();
    for (number, (path, player)) in scenario.paths.iter().zip(scene.players()).enumerate() {
        let report = &reports.receivers[number];
        let measured = |name: &str| {
            report["rows"][0][name]["mean"]
                .as_f64()
                .with_context(|| format!("{player} in {} saw nothing", scene.name()))
        };
        let of =
            |outcomes: &[Outcome], of: fn(&Seen) -> f64| statistics(outcomes.iter().map(|o| of(&o.receivers[number])));
        let (lab, over_repeats, _) = of(&repeats, |seen| seen.real_error);
        let (mean, over_seeds, _) = of(&seeds, |seen| seen.real_error);
        let told = reports.server["rows"].as_array().into_iter().flatten().find(|row| row["player"] == player.as_str());
        let (clock, settled_s) = clock::errors(&reports.server, report);
        rows.push(Row {
            cell: scene.name(),
            policy: scenario.policy.clone(),
            receiver: if scene.clock { player.clone() } else { name_of(path) },
            lab,
            sockets: measured("real_m")?,
            lab_export: of(&repeats, |seen| seen.export_error).0,
            sockets_export: measured("export_m")?,
            over_seeds: over_seeds / mean,
            over_repeats: over_repeats / lab,
            lab_vectors: of(&repeats, |seen| seen.vectors as f64).0,
            sockets_vectors: told.and_then(|row| row["vectors"].as_f64()).unwrap_or(f64::NAN),
            measured_ms: told.and_then(|row| row["delay_ms"].as_f64()),
            clock,
            settled_s,
            is_clock: scene.clock,
        });
    }
    Ok(rows)
}
