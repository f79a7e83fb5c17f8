//! A running relay in numbers, for Prometheus.

use anyhow::{Context, Result};
use evenkeel_bzflag::{ClientSummary, DeciderSummary, Summary};
use evenkeel_net::metrics::MetricsServer;
use evenkeel_net::transport;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

/// All names start with it.
const PREFIX: &str = "evenkeel_bzflag";

/// What is known by now; whoever asks is told this.
#[derive(Clone, Default)]
pub(super) struct Latest(Arc<Mutex<Summary>>);

impl Latest {
    pub(super) fn set(&self, summary: Summary) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = summary;
    }

    fn text(&self) -> String {
        text(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Starts to answer.
    pub(super) async fn answer(&self, address: SocketAddr) -> Result<MetricsServer> {
        let failed = |source| transport::Error::Bind { address, protocol: "TCP", source };
        let latest = self.clone();
        MetricsServer::of(address, move || latest.text()).await.map_err(failed).context("--metrics")
    }
}

type Labels = Vec<(&'static str, String)>;
type Values = Family<Labels, Gauge<f64, AtomicU64>>;
type Counts = Family<Labels, Counter>;

/// A summary as OpenMetrics text. Clients are those who are here, by name: who was here before is counted with its decider only, so
/// that there are never more series than clients at once.
fn text(summary: &Summary) -> String {
    let mut registry = Registry::with_prefix(PREFIX);
    let clients = Gauge::<i64>::default();
    clients.set(summary.round_trips_ms.len() as i64);
    registry.register("clients", "Clients whose round trip is known", clients);
    let [trips, errors, means, deviations, worst] = [(); 5].map(|()| Values::default());
    let [updates, due, bytes] = [(); 3].map(|()| Counts::default());
    for (name, ms) in &summary.round_trips_ms {
        trips.get_or_create(&vec![("client", name.clone())]).set(ms / 1e3);
    }
    for decider in &summary.deciders {
        let of: Labels = vec![("decider", decider.name.clone()), ("live", decider.live.to_string())];
        for client in present(summary, decider) {
            let labels = [&of[..], &[("client", client.name.clone())]].concat();
            errors.get_or_create(&labels).set(client.mean_m);
        }
        means.get_or_create(&of).set(decider.mean_m);
        deviations.get_or_create(&of).set(decider.std_m);
        worst.get_or_create(&of).set(decider.max_m);
        for (family, count) in [(&updates, decider.updates), (&due, decider.due), (&bytes, decider.bytes)] {
            family.get_or_create(&of).inc_by(count);
        }
    }
    let metres = || Unit::Other("meters".into());
    registry.register_with_unit("round_trip", "The client's measured round trip", Unit::Seconds, trips);
    let help = "How far off the client sees tanks, mean over tanks and time";
    registry.register_with_unit("client_error_mean", help, metres(), errors);
    registry.register_with_unit("error_mean", "Accuracy: the same, mean over clients", metres(), means);
    let help = "Fairness: the standard deviation of the same over clients";
    registry.register_with_unit("error_std", help, metres(), deviations);
    registry.register_with_unit("error_max", "The same of the client worst off", metres(), worst);
    registry.register("updates", "Updates of tanks that clients were sent, or would have been", updates);
    registry.register("updates_due", "What sending everything to everybody would have taken", due);
    registry.register_with_unit("sent", "The bytes of the updates", Unit::Bytes, bytes);
    let mut written = String::new();
    // Writing to memory does not fail.
    let _ = encode(&mut written, &registry);
    written
}

/// What those see who are here now; of one who came several times, the last time.
fn present<'a>(summary: &'a Summary, decider: &'a DeciderSummary) -> impl Iterator<Item = &'a ClientSummary> {
    let last: BTreeMap<&str, &ClientSummary> = decider.clients.iter().map(|c| (c.name.as_str(), c)).collect();
    let here = summary.round_trips_ms.iter().map(|(name, _)| name.as_str());
    here.filter_map(move |name| last.get(name).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_clients_that_are_here_have_series_and_each_has_one() {
        let client = |name: &str, mean_m| ClientSummary {
            name: name.into(),
            mean_m,
            p99_m: 1.0,
            largest_m: 2.0,
            seconds: 3.0,
            unseen_seconds: 0.0,
            updates: 4,
            bytes: 5,
        };
        let decider = DeciderSummary {
            name: "today".into(),
            live: true,
            clients: vec![client("Ada", 9.0), client("Gone", 8.0), client("Ada", 0.5)],
            mean_m: 0.5,
            std_m: 0.25,
            max_m: 0.75,
            updates: 12,
            due: 36,
            bytes: 15,
        };
        let summary =
            Summary { deciders: vec![decider], round_trips_ms: vec![("Ada".into(), 250.0)], ..Summary::default() };
        let text = text(&summary);
        for line in [
            "evenkeel_bzflag_clients 1",
            "evenkeel_bzflag_round_trip_seconds{client=\"Ada\"} 0.25",
            "evenkeel_bzflag_client_error_mean_meters{decider=\"today\",live=\"true\",client=\"Ada\"} 0.5",
            "evenkeel_bzflag_error_std_meters{decider=\"today\",live=\"true\"} 0.25",
            "evenkeel_bzflag_updates_total{decider=\"today\",live=\"true\"} 12",
            "evenkeel_bzflag_updates_due_total{decider=\"today\",live=\"true\"} 36",
            "evenkeel_bzflag_sent_bytes_total{decider=\"today\",live=\"true\"} 15",
            "# EOF",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(!text.contains("Gone"), "{text}");
    }
}
