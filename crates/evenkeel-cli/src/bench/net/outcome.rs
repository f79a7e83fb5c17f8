//! What a run has shown, and whether that is good.

use super::Arguments;
use super::bots::Noticed;
use super::course::Course;
use super::ledger::Second;
use super::usage::Usage;
use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// A server fills its tables at first: what it holds is judged after this long, or after a quarter of a shorter run.
const FIRST: f64 = 60.0;
/// The last quarter of a run may hold so much more memory than the second, and the line through all that is judged may rise by
/// so much from its beginning to its end.
const GROWTH: f64 = 0.05;
/// A rise of less than this is how allocators are, whatever it is in percent.
const LEAST_GROWTH_KIB: f64 = 2_048.0;

/// What a run has shown.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Outcome {
    pub(super) policy: String,
    pub(super) players: usize,
    pub(super) entities: usize,
    pub(super) hz: u32,
    pub(super) course: Course,
    pub(super) seconds: f64,
    /// How much of one processor the server took.
    pub(super) cpu: f64,
    /// The same for each player, in thousandths of a processor.
    pub(super) cpu_per_player_milli: f64,
    pub(super) rss_first_mib: f64,
    pub(super) rss_last_mib: f64,
    pub(super) rss_second_quarter_mib: f64,
    pub(super) rss_last_quarter_mib: f64,
    pub(super) rss_slope_kib_per_minute: f64,
    pub(super) messages_sent: u64,
    pub(super) messages_lost: i64,
    pub(super) messages_twice: u64,
    pub(super) messages_out_of_order: u64,
    pub(super) messages_refused: u64,
    pub(super) message_p50_ms: f64,
    pub(super) message_p99_ms: f64,
    message_seconds: Vec<Second>,
    pub(super) players_dropped: u64,
    /// What the owners told the server.
    pub(super) relayed_per_second: f64,
    /// What the server told the players.
    pub(super) vectors_per_second: f64,
    pub(super) datagrams_per_second: f64,
    pub(super) bytes_per_second: f64,
    /// Datagrams of all kinds, to players and from them.
    pub(super) all_sent_per_second: f64,
    pub(super) all_received_per_second: f64,
    pub(super) error_mean_m: f64,
    pub(super) error_p99_m: f64,
    pub(super) players_late_p99_ms: f64,
    pub(super) arrived_waiting: u64,
    /// What the server gave up, by reason.
    pub(super) drops: Value,
    #[serde(skip)]
    fitted_growth_kib: f64,
    samples: Vec<Usage>,
}

impl Outcome {
    pub(super) fn new(
        arguments: &Arguments,
        measured: Duration,
        samples: &[Usage],
        [before, after]: [&Value; 2],
        noticed: &Noticed,
    ) -> Result<Self> {
        let (first, last) = samples.first().zip(samples.last()).context("nothing was measured")?;
        let seconds = measured.as_secs_f64();
        let per_second = |path: &str| {
            let count = |report: &Value| report.pointer(path).and_then(Value::as_f64).unwrap_or(0.0);
            (count(after) - count(before)) / seconds
        };
        let begin = FIRST.min(last.at_s / 4.0);
        let judged: Vec<&Usage> = samples.iter().filter(|sample| sample.at_s >= begin).collect();
        let slope = slope(&judged);
        let quarter = |number: f64| mean(samples, number * last.at_s / 4.0, (number + 1.0) * last.at_s / 4.0) / 1024.0;
        let cpu = (last.cpu_s - first.cpu_s) / (last.at_s - first.at_s).max(1e-9);
        let ms = |span: Duration| span.as_secs_f64() * 1e3;
        Ok(Self {
            policy: after["policy"].as_str().unwrap_or_default().to_owned(),
            players: arguments.players,
            entities: arguments.entities.min(arguments.players),
            hz: arguments.hz,
            course: arguments.course,
            seconds,
            cpu,
            cpu_per_player_milli: cpu * 1e3 / arguments.players as f64,
            rss_first_mib: judged.first().map_or(0.0, |sample| sample.rss_kib / 1024.0),
            rss_last_mib: last.rss_kib / 1024.0,
            rss_second_quarter_mib: quarter(1.0),
            rss_last_quarter_mib: quarter(3.0),
            rss_slope_kib_per_minute: slope * 60.0,
            messages_sent: noticed.sent,
            messages_lost: noticed.lost,
            messages_twice: noticed.twice,
            messages_out_of_order: noticed.out_of_order,
            messages_refused: noticed.refused,
            message_p50_ms: ms(noticed.took[0]),
            message_p99_ms: ms(noticed.took[1]),
            message_seconds: noticed.took_by_second.clone(),
            players_dropped: noticed.dropped,
            relayed_per_second: per_second("/relayed"),
            vectors_per_second: per_second("/sent/vectors"),
            datagrams_per_second: per_second("/sent/datagrams"),
            bytes_per_second: per_second("/sent/bytes"),
            all_sent_per_second: per_second("/messages/all_datagrams/sent"),
            all_received_per_second: per_second("/messages/all_datagrams/received"),
            error_mean_m: noticed.error[0],
            error_p99_m: noticed.error[1],
            players_late_p99_ms: ms(noticed.late),
            arrived_waiting: after.pointer("/queues/arrived").and_then(Value::as_u64).unwrap_or(0),
            drops: after["drops"].clone(),
            fitted_growth_kib: slope * (last.at_s - begin),
            samples: samples.to_vec(),
        })
    }

    /// What must not be.
    pub(super) fn wrong(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut unless = |good: bool, what: String| {
            if !good {
                wrong.push(what);
            }
        };
        unless(self.messages_lost == 0, format!("{} messages were lost", self.messages_lost));
        unless(self.messages_twice == 0, format!("{} messages came twice", self.messages_twice));
        unless(self.messages_out_of_order == 0, format!("{} messages came out of order", self.messages_out_of_order));
        unless(self.players_dropped == 0, format!("{} connections were lost", self.players_dropped));
        let (before, after) = (self.rss_second_quarter_mib, self.rss_last_quarter_mib);
        let room = (before * GROWTH).max(LEAST_GROWTH_KIB / 1024.0);
        unless(after <= before + room, format!("the server's memory grew from {before:.1} to {after:.1} MiB"));
        let slope = self.rss_slope_kib_per_minute;
        unless(
            self.fitted_growth_kib <= room * 1024.0,
            format!("the server's memory grows by {slope:.0} KiB a minute"),
        );
        wrong
    }
}

fn mean(samples: &[Usage], from: f64, until: f64) -> f64 {
    let within: Vec<f64> = samples.iter().filter(|s| (from..=until).contains(&s.at_s)).map(|s| s.rss_kib).collect();
    within.iter().sum::<f64>() / within.len().max(1) as f64
}

/// The slope of the line nearest to all samples, in KiB per second.
fn slope(samples: &[&Usage]) -> f64 {
    let count = samples.len().max(1) as f64;
    let at = samples.iter().map(|s| s.at_s).sum::<f64>() / count;
    let rss = samples.iter().map(|s| s.rss_kib).sum::<f64>() / count;
    let both: f64 = samples.iter().map(|s| (s.at_s - at) * (s.rss_kib - rss)).sum();
    let square: f64 = samples.iter().map(|s| (s.at_s - at) * (s.at_s - at)).sum();
    if square > 0.0 { both / square } else { 0.0 }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { policy, players, entities, hz, course, seconds, .. } = self;
        writeln!(
            f,
            "{players} players, {entities} entities at {hz} Hz on {course:?}, policy {policy}, for {seconds:.0} s"
        )?;
        writeln!(f, "server    {:>9.3} processors, {:.3} thousandths per player", self.cpu, self.cpu_per_player_milli)?;
        let (first, last, slope) = (self.rss_first_mib, self.rss_last_mib, self.rss_slope_kib_per_minute);
        writeln!(f, "memory    {first:>9.1} MiB, {last:.1} at the end, {slope:+.1} KiB a minute")?;
        let (second, fourth) = (self.rss_second_quarter_mib, self.rss_last_quarter_mib);
        writeln!(f, "          {second:>9.1} MiB in the second quarter, {fourth:.1} in the last")?;
        writeln!(
            f,
            "messages  {:>9} sent, {} lost, {} twice, {} out of order, {} refused",
            self.messages_sent,
            self.messages_lost,
            self.messages_twice,
            self.messages_out_of_order,
            self.messages_refused
        )?;
        writeln!(
            f,
            "          {:>9.1} ms on their way, 99 % within {:.1} ms",
            self.message_p50_ms, self.message_p99_ms
        )?;
        writeln!(
            f,
            "movement  {:>9.0} vectors a second from {:.0}, in {:.0} datagrams, {:.0} bytes a second",
            self.vectors_per_second, self.relayed_per_second, self.datagrams_per_second, self.bytes_per_second
        )?;
        let (sent, received) = (self.all_sent_per_second, self.all_received_per_second);
        writeln!(f, "          {sent:>9.0} datagrams of all kinds a second to players, {received:.0} from them")?;
        writeln!(f, "error     {:>9.3} m, 99 % below {:.3} m", self.error_mean_m, self.error_p99_m)?;
        write!(
            f,
            "players   {:>9} connections lost; 99 % of their steps no later than {:.1} ms",
            self.players_dropped, self.players_late_p99_ms
        )
    }
}
