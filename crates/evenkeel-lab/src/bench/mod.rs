//! The table of figures that the heart must reach: accuracy of the integral, bytes on the wire, cost of sending, the clock.
//!
//! Absolute times depend on the machine; what counts are the ratios, both sides of which are measured in the same run.

mod accuracy;
mod deciding;
mod load;
mod rollback;
mod sending;
mod traffic;

pub use accuracy::{IntegralClass, integral_classes};
pub use deciding::{Deciding, deciding};
pub use rollback::{Rollback, rollback};
pub use sending::{AllDue, CountAllocations, Idle, Million, all_due, idle, million};
pub use traffic::eight_players;

use crate::world::Traffic;
use crate::{clock, wire};
use anyhow::{Context, Result};
use serde_json::{Map, Value, json};
use std::fmt;
use std::path::{Path, PathBuf};

/// The traces that wire sizes are measured on.
const TRACES: [&str; 3] = ["bzflag-default-a", "bzflag-dense-a", "bzflag-dense-b"];
/// The version of the JSON form.
const JSON_VERSION: u32 = 1;

/// How much to measure.
pub struct Options<'a> {
    /// Where `traces/` is.
    pub data: PathBuf,
    /// Runs of the clock per path; 20 for the figures in the documentation.
    pub clock_runs: u64,
    /// How to count allocations, if the program can.
    pub count: Option<CountAllocations>,
    /// Told what is being measured.
    pub progress: &'a dyn Fn(&str),
}

/// All figures.
#[derive(Clone, Debug)]
pub struct Figures {
    /// The worst relative error of the integral per class.
    pub integral: Vec<IntegralClass>,
    /// Bytes per vector on each trace.
    pub wire: Vec<(&'static str, wire::WireSize)>,
    /// Eight players told to one receiver.
    pub traffic: Traffic,
    /// Everything due.
    pub all_due: AllDue,
    /// Everything due, without errors being booked.
    pub without_books: AllDue,
    /// A tenth due, decided by `even`.
    pub deciding: Deciding,
    /// Nothing due.
    pub idle: Idle,
    /// A million pairs.
    pub million: Million,
    /// Going back in time.
    pub rollback: Rollback,
    /// The clock.
    pub clock: clock::ClockReport,
}

/// Measures everything.
pub fn run(options: &Options<'_>) -> Result<Figures> {
    let step = options.progress;
    step("integral");
    let integral = integral_classes(2_000);
    step("bytes on the wire");
    let measure = |name| Ok((name, wire::measure(&trace(&options.data, name)?)?));
    let wire = TRACES.into_iter().map(measure).collect::<Result<_>>()?;
    let traffic = eight_players(&options.data)?;
    step("sending, everything due");
    let without_books = all_due(40, false, None);
    let all_due = all_due(40, true, options.count);
    step("deciding");
    let deciding = deciding(800);
    step("sending, nothing due");
    let idle = idle(200);
    step("a million pairs");
    let million = million(100, options.count);
    step("going back in time");
    let rollback = rollback(200)?;
    step("clock");
    let clock = clock::measure(options.clock_runs, 1)?;
    Ok(Figures { integral, wire, traffic, all_due, without_books, deciding, idle, million, rollback, clock })
}

/// The file of a recorded game, by its name.
pub(crate) fn trace(data: &Path, name: &str) -> Result<PathBuf> {
    let path = data.join("traces").join(format!("{name}.csv.gz"));
    path.is_file().then(|| path.clone()).with_context(|| {
        format!("{} is missing: run from the project's folder, or say where its data is with --data", path.display())
    })
}

/// The folder with the project's data: `data` here, or where the program was built.
pub fn default_data() -> PathBuf {
    let here = PathBuf::from("data");
    if here.join("traces").is_dir() { here } else { Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data") }
}

impl Figures {
    /// Mean bytes per vector over all traces: alone, and against a baseline of each age.
    fn mean_bytes(&self) -> (f64, Vec<(i64, f64)>) {
        let vectors: usize = self.wire.iter().map(|(_, size)| size.vectors).sum();
        let mean = |of: &dyn Fn(&wire::WireSize) -> f64| {
            self.wire.iter().map(|(_, size)| of(size) * size.vectors as f64).sum::<f64>() / vectors as f64
        };
        let ages = wire::BASELINE_AGES_MS.iter().enumerate();
        (mean(&|s| s.absolute_bytes), ages.map(|(i, age)| (*age, mean(&|s| s.against_bytes[i].1))).collect())
    }

    /// The figures for programs.
    pub fn to_json(&self) -> Value {
        let (absolute, against) = self.mean_bytes();
        let worst_against = against.iter().map(|(_, bytes)| *bytes).fold(0.0, f64::max);
        let per_path = |paths: &[clock::PathReport], of: &dyn Fn(&clock::PathReport) -> f64| -> Value {
            paths.iter().map(|p| (p.path.clone(), json!(of(p)))).collect::<Map<_, _>>().into()
        };
        let paths = &self.clock.paths;
        let mut figures = json!({
            "version": JSON_VERSION,
            "program": env!("CARGO_PKG_VERSION"),
            "integral_worst_relative_error": self.integral.iter().map(|c| (c.name.to_string(), json!(c.worst))).collect::<Map<_, _>>(),
            "bytes_per_vector_absolute": absolute,
            "bytes_per_vector_baseline": worst_against,
            "bytes_per_vector_baseline_by_age_ms": against.iter().map(|(age, b)| (age.to_string(), json!(b))).collect::<Map<_, _>>(),
            "bytes_per_vector_by_trace": self.wire.iter().map(|(name, size)| (name.to_string(), json!({
                "vectors": size.vectors,
                "absolute": size.absolute_bytes,
                "baseline_by_age_ms": size.against_bytes.iter().map(|(age, b)| (age.to_string(), json!(b))).collect::<Map<_, _>>(),
            }))).collect::<Map<_, _>>(),
            "ratio_sending_to_packing": self.all_due.ratio(),
            "ns_per_pair_sending": self.all_due.ns_per_pair_sending,
            "ns_per_pair_packing": self.all_due.ns_per_pair_packing,
            "ns_per_pair_copying": self.all_due.ns_per_pair_copying,
            "ns_per_pair_receipts": self.all_due.ns_per_pair_receipts,
            "ns_per_pair_sending_without_books": self.without_books.ns_per_pair_sending,
            "ns_per_pair_receipts_without_books": self.without_books.ns_per_pair_receipts,
            "bytes_per_pair_sent": self.all_due.bytes_per_pair_sent,
            "allocations_per_tick": self.all_due.allocations_per_tick,
            "ns_per_entity_idle": self.idle.ns_per_entity,
            "ns_per_extrapolation": self.idle.ns_per_extrapolation,
            "ratio_idle_512_to_32_receivers": self.idle.ratio_512_to_32_receivers,
            "bytes_per_pair": self.million.bytes_per_pair,
            "million_pairs_bytes_in_all": self.million.bytes_in_all,
            "million_pairs_ms_per_tick": self.million.tick_seconds * 1e3,
            "million_pairs_ratio_to_memory_pass": self.million.tick_seconds / self.million.memory_pass_seconds,
            "ratio_rollback_to_stepping": self.rollback.ratio(),
            "rollback_ms": self.rollback.ms_again,
            "rollback_plain_ms": self.rollback.ms_plain,
            "rollback_tick_ms": self.rollback.ms_per_tick,
            "rollback_history_bytes": self.rollback.history_bytes,
            "clock_p99_ms": per_path(paths, &|p| p.ours.p99_ms),
            "clock_max_ms": per_path(paths, &|p| p.ours.max_ms),
            "clock_p99_ms_with_echoes": per_path(&self.clock.paths_with_echoes, &|p| p.ours.p99_ms),
            "clock_p99_ms_ewma": per_path(paths, &|p| p.ewma.p99_ms),
            "clock_p99_ms_min_of_eight": per_path(paths, &|p| p.min_of_eight.p99_ms),
            "clock_p99_ms_lightyear": per_path(paths, &|p| p.lightyear.p99_ms),
            "clock_seconds_to_5ms_p90": per_path(paths, &|p| p.under_5ms_secs),
            "clock_seconds_to_1ms_p90": per_path(paths, &|p| p.under_1ms_secs),
            "clock_random_paths_under_1ms": self.clock.random_share[0],
            "clock_backward_ticks": paths.iter().map(|p| u64::from(p.backward_ticks)).sum::<u64>(),
            "clock_memory_bytes": paths.iter().map(|p| p.memory_bytes).max(),
            "clock_ratio_to_naive_exchange": self.clock.cost.multiple(),
        });
        // One macro holds only so many keys.
        figures["ratio_even_to_base"] = json!(self.deciding.ratio());
        figures["ratio_even_to_base_vectors"] = json!(self.deciding.vectors);
        figures["datagram_header_bytes"] = json!(self.traffic.datagram_header_bytes());
        figures["receipt_bytes_per_datagram"] = json!(self.traffic.receipt_bytes_per_datagram());
        figures["bytes_per_second_eight_players"] = json!(self.traffic.bytes_per_second());
        figures
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_integral(f)?;
        self.write_wire(f)?;
        self.write_sending(f)?;
        self.write_rollback(f)?;
        writeln!(f, "\n{}", self.clock)
    }
}

impl Figures {
    fn write_integral(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Integral: worst relative error (target 1e-12)")?;
        for class in &self.integral {
            writeln!(f, "  {:<28} {:>9.1e}   {:>7.0} ns", class.name, class.worst, class.nanos)?;
        }
        Ok(())
    }

    fn write_wire(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nBytes per vector record (targets: 18 alone, 10 against a baseline)")?;
        let ages = wire::BASELINE_AGES_MS.map(|age| format!("{age:>5} ms")).join(" ");
        writeln!(f, "  {:<18} {:>8} {:>6} {ages}", "trace", "vectors", "alone")?;
        for (name, size) in &self.wire {
            let against: Vec<_> = size.against_bytes.iter().map(|(_, bytes)| format!("{bytes:>8.2}")).collect();
            writeln!(f, "  {:<18} {:>8} {:>6.2} {}", name, size.vectors, size.absolute_bytes, against.join(" "))?;
        }
        let traffic = &self.traffic;
        writeln!(f, "\nEight players of bzflag-dense-a to one receiver at 100 ms, everything sent, both ways")?;
        writeln!(f, "  datagram header (target 10) {:>21.2} bytes", traffic.datagram_header_bytes())?;
        writeln!(f, "  receipts, per datagram      {:>21.2} bytes", traffic.receipt_bytes_per_datagram())?;
        writeln!(f, "  in all                      {:>19.0} bytes/s", traffic.bytes_per_second())
    }

    fn write_sending(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (due, idle, million) = (&self.all_due, &self.idle, &self.million);
        writeln!(f, "\nSending: 1,000 entities x 32 receivers, everything due")?;
        let row = |f: &mut fmt::Formatter<'_>, name: &str, value: String| writeln!(f, "  {name:<44} {value:>12}");
        row(f, "sending, per entity and receiver", format!("{:.0} ns", due.ns_per_pair_sending))?;
        row(f, "packing alone", format!("{:.0} ns", due.ns_per_pair_packing))?;
        row(f, "copying alone, each vector coded once", format!("{:.0} ns", due.ns_per_pair_copying))?;
        row(f, "sending / packing (target 4)", format!("{:.2}", due.ratio()))?;
        row(f, "taking in receipts and booking errors", format!("{:.0} ns", due.ns_per_pair_receipts))?;
        let (bare, receipts) = (&self.without_books, self.without_books.ns_per_pair_receipts);
        let bare = format!("{:.0} + {receipts:.0} ns", bare.ns_per_pair_sending);
        row(f, "without booking errors: sending + receipts", bare)?;
        row(f, "bytes per vector, datagram headers included", format!("{:.1}", due.bytes_per_pair_sent))?;
        if let Some(allocations) = due.allocations_per_tick {
            row(f, "allocations per tick (target 0)", format!("{allocations:.2}"))?;
        }
        let Deciding { base_ms, even_ms, vectors } = self.deciding;
        writeln!(f, "\nDeciding: a tenth of the entities due, a third of the vectors sent")?;
        row(f, "every third vector to everybody, a tick", format!("{base_ms:.2} ms"))?;
        row(f, "even, a tick", format!("{even_ms:.2} ms"))?;
        row(f, "even / every third (target 1.5)", format!("{:.2}", self.deciding.ratio()))?;
        row(f, "vectors sent, even / every third", format!("{vectors:.2}"))?;
        writeln!(f, "\nNothing due")?;
        row(f, "per entity and tick", format!("{:.0} ns", idle.ns_per_entity))?;
        row(f, "one extrapolation of an arc", format!("{:.0} ns", idle.ns_per_extrapolation))?;
        row(f, "512 receivers / 32 receivers (target 1)", format!("{:.2}", idle.ratio_512_to_32_receivers))?;
        writeln!(f, "\n1,000,000 pairs (10,000 x 100), 2 % of the entities due per tick")?;
        row(f, "ledger, per pair", format!("{:.0} bytes", million.bytes_per_pair))?;
        if let Some(bytes) = million.bytes_in_all {
            row(f, "in all (target 1 GB)", format!("{:.0} MB", bytes as f64 / 1e6))?;
        }
        row(f, "a tick", format!("{:.1} ms", million.tick_seconds * 1e3))?;
        row(f, "a plain pass over the same bytes", format!("{:.1} ms", million.memory_pass_seconds * 1e3))?;
        row(f, "tick / pass", format!("{:.2}", million.tick_seconds / million.memory_pass_seconds))
    }

    fn write_rollback(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rollback = &self.rollback;
        writeln!(f, "\nGoing back in time: 1,000 tanks at 60 Hz, 300 ms (18 ticks)")?;
        let row = |f: &mut fmt::Formatter<'_>, name: &str, value: String| writeln!(f, "  {name:<44} {value:>12}");
        row(f, "rolling back and executing again", format!("{:.2} ms", rollback.ms_again))?;
        row(f, "executing the same ticks plainly", format!("{:.2} ms", rollback.ms_plain))?;
        row(f, "again / plainly (target 1.5)", format!("{:.2}", rollback.ratio()))?;
        row(f, "a tick, its state saved", format!("{:.3} ms", rollback.ms_per_tick))?;
        row(f, "a history of a second", format!("{:.1} MB", rollback.history_bytes as f64 / 1e6))
    }
}
