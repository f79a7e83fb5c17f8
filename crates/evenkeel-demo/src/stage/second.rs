//! A second in numbers.

use super::gauge::{Account, Gauge};
use super::house::House;
use crate::feed::{ReceiverSecond, Second, WorldSecond};
use crate::settings::Settings;
use evenkeel_net::report::{ReceiverReport, SessionReport, Spread};
use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

/// The system counts time in so many parts of a second, wherever it has `/proc`.
const TICKS: f64 = 100.0;

/// Remembers what there was a second ago.
pub(super) struct Clerk {
    started: Instant,
    last: Instant,
    cpu: Option<f64>,
    /// By world, of the last seconds, newest last.
    counts: [VecDeque<Counts>; 2],
}

/// Losses are rare: they are counted over so many seconds.
const LOSSES_OVER: usize = 10;

/// What was sent so far.
#[derive(Clone, Default)]
struct Counts {
    vectors: u64,
    bytes: u64,
    /// Vectors and losses.
    receivers: BTreeMap<String, (u64, u64)>,
}

impl Counts {
    fn of(report: &SessionReport) -> Self {
        let receivers = report.receivers.iter().map(|r| (r.name.clone(), (r.vectors, r.lost))).collect();
        Self { vectors: report.sent.vectors, bytes: report.sent.bytes, receivers }
    }
}

impl Clerk {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self { started: now, last: now, cpu: cpu_seconds(), counts: Default::default() }
    }

    /// Seconds since the demo began.
    pub(super) fn time_s(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Whether a second has passed.
    pub(super) fn is_due(&self) -> bool {
        self.last.elapsed().as_secs_f64() >= 1.0
    }

    /// The numbers of the second that has passed.
    pub(super) fn second(&mut self, house: &House, gauge: &mut Gauge, settings: &Settings, views: &[String]) -> Second {
        let span = self.last.elapsed().as_secs_f64().max(1e-3);
        self.last = Instant::now();
        let cpu = cpu_seconds();
        let server_cpu = cpu.zip(self.cpu).map(|(now, before)| ((now - before) / span).max(0.0));
        self.cpu = cpu;
        gauge.second();
        let policies = [Some(&settings.left), settings.right.as_ref()];
        let mut worlds = Vec::new();
        for (world, policy) in policies.into_iter().enumerate() {
            let (Some(policy), Some(accounts)) = (policy, gauge.accounts.get_mut(world)) else { continue };
            let report = house.with(world, |hub, now| hub.report(now)).unwrap_or_default();
            worlds.push(self.world(world, &policy.policy, &report, accounts, views, span));
        }
        Second { time_s: self.time_s(), window_s: gauge.window_s(), server_cpu, worlds, verdicts: gauge.verdicts }
    }

    fn world(
        &mut self,
        world: usize,
        policy: &str,
        report: &SessionReport,
        accounts: &mut [Account],
        views: &[String],
        span: f64,
    ) -> WorldSecond {
        let now = Counts::of(report);
        let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / span;
        let (none, past) = (Counts::default(), &self.counts[world]);
        let (before, since) = (past.back().unwrap_or(&none), past.front().unwrap_or(&none));
        let receivers: Vec<ReceiverSecond> = views
            .iter()
            .zip(accounts)
            .map(|(name, account)| {
                let known = report.receivers.iter().find(|receiver| receiver.name == *name);
                let pair = |counts: &Counts| counts.receivers.get(name).copied();
                let vectors_per_s = pair(&now).map(|(now, _)| rate(now, pair(before).unwrap_or_default().0));
                let loss = pair(&now).and_then(|now| share_lost(now, pair(since).unwrap_or_default()));
                ReceiverSecond { vectors_per_s, loss, ..receiver(account, known) }
            })
            .collect();
        let windows: Vec<f64> = receivers.iter().filter_map(|receiver| receiver.window).collect();
        let spread = (!windows.is_empty()).then(|| Spread::over(&windows));
        let second = WorldSecond {
            policy: policy.to_owned(),
            vectors_per_s: rate(now.vectors, before.vectors),
            bytes_per_s: rate(now.bytes, before.bytes),
            mean: spread.map(|spread| spread.mean),
            std: spread.map(|spread| spread.std),
            max: spread.map(|spread| spread.max),
            receivers,
        };
        let counts = &mut self.counts[world];
        counts.push_back(now);
        while counts.len() > LOSSES_OVER {
            counts.pop_front();
        }
        second
    }
}

/// What a receiver's picture and the session know of it.
fn receiver(account: &mut Account, known: Option<&ReceiverReport>) -> ReceiverSecond {
    let ms = |seconds: f64| seconds * 1e3;
    ReceiverSecond {
        error: account.error.second(),
        accumulated: account.error.integral(),
        window: account.error.window(),
        delay_ms: known.and_then(|known| known.delay_s).map(ms),
        jitter_ms: known.filter(|known| known.delay_s.is_some()).map(|known| ms(known.jitter_s)),
        clock_error_ms: account.clock.second(),
        uncertainty_ms: account.uncertainty_ms,
        agreement: account.agreement(),
        ..ReceiverSecond::default()
    }
}

/// The share of what was sent that got lost. Most datagrams carry one vector.
fn share_lost(now: (u64, u64), since: (u64, u64)) -> Option<f64> {
    let (vectors, lost) = (now.0.saturating_sub(since.0), now.1.saturating_sub(since.1));
    (vectors > 0).then(|| (lost as f64 / vectors as f64).min(1.0))
}

/// Seconds of processors that this process has used, where the system says so.
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in parentheses, may hold anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / TICKS)
}
