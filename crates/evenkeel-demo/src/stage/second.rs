//! A second in numbers.

use super::gauge::{Account, Gauge};
use super::house::House;
use crate::feed::{ReceiverSecond, Second, WorldSecond};
use crate::settings::Settings;
use evenkeel::HostId;
use evenkeel_net::report::{ReceiverReport, SessionReport, Spread};
use std::collections::BTreeMap;
use std::time::Instant;

/// The system counts time in so many parts of a second, wherever it has `/proc`.
const TICKS: f64 = 100.0;

/// A view's numbers in the sessions, by world.
type Hosts = [Option<HostId>; 2];

/// Remembers what there was a second ago.
pub(super) struct Clerk {
    started: Instant,
    last: Instant,
    cpu: Option<f64>,
    /// By world.
    counts: [Counts; 2],
}

/// What was sent so far.
#[derive(Clone, Default)]
struct Counts {
    vectors: u64,
    bytes: u64,
    /// Vectors by host.
    receivers: BTreeMap<u32, u64>,
}

impl Counts {
    fn of(report: &SessionReport) -> Self {
        let receivers = report.receivers.iter().map(|r| (r.host, r.vectors)).collect();
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
    pub(super) fn second(&mut self, house: &House, gauge: &mut Gauge, settings: &Settings, views: &[Hosts]) -> Second {
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
        views: &[Hosts],
        span: f64,
    ) -> WorldSecond {
        let now = Counts::of(report);
        let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / span;
        let before = std::mem::replace(&mut self.counts[world], now.clone());
        let receivers: Vec<ReceiverSecond> = views
            .iter()
            .zip(accounts)
            .map(|(hosts, account)| {
                let known = report.receivers.iter().find(|receiver| hosts[world] == Some(HostId(receiver.host)));
                let before = |host: &u32| before.receivers.get(host).copied().unwrap_or_default();
                let vectors_per_s = known.map(|known| rate(known.vectors, before(&known.host)));
                ReceiverSecond { vectors_per_s, ..receiver(account, known) }
            })
            .collect();
        let spread = spread(&receivers);
        WorldSecond {
            policy: policy.to_owned(),
            vectors_per_s: rate(now.vectors, before.vectors),
            bytes_per_s: rate(now.bytes, before.bytes),
            mean: spread.map(|spread| spread.mean),
            std: spread.map(|spread| spread.std),
            max: spread.map(|spread| spread.max),
            fairness_cost: report.fairness.map(|fairness| fairness.taken - fairness.given),
            receivers,
        }
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
        unseen: account.unseen.second(),
        loss: known.and_then(|known| account.losses.second(known.host, known.vectors, known.lost)),
        ..ReceiverSecond::default()
    }
}

/// How receivers' errors differ; unknown as long as one of them has seen nothing, however well the others see.
fn spread(receivers: &[ReceiverSecond]) -> Option<Spread> {
    let windows: Option<Vec<f64>> = receivers.iter().map(|receiver| receiver.window).collect();
    windows.filter(|windows| !windows.is_empty()).map(|windows| Spread::over(&windows))
}

/// Seconds of processors that this process has used, where the system says so.
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in parentheses, may hold anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_seen_is_not_exact() {
        let receiver = |window| ReceiverSecond { window, ..ReceiverSecond::default() };
        assert_eq!(spread(&[]).map(|spread| spread.max), None);
        assert_eq!(spread(&[receiver(Some(1.0)), receiver(None)]).map(|spread| spread.max), None);
        assert_eq!(spread(&[receiver(Some(1.0)), receiver(Some(3.0))]).map(|spread| spread.mean), Some(2.0));
    }
}
