//! A session in numbers, over HTTP: for Prometheus at `/metrics`, as JSON at `/report`, and at `/healthz` whether it lets
//! players in.
//!
//! Everything is read when it is asked for. Receivers are told apart by a label that is never above the number of players at
//! once; who is behind it says `evenkeel_receiver_host`. Names of players are in the JSON only.
//!
//! Nobody is asked who they are, and nothing is encrypted: listen on an address that only those reach who may know.

mod catalogue;
mod slots;

pub use catalogue::names;

use crate::report::SessionReport;
use crate::{Server, Watcher};
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use catalogue::{Kind, LABELLED, Metric, RECEIVER, SESSION};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};
use slots::Slots;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::JoinHandle;

/// All names start with it.
const PREFIX: &str = "evenkeel";

/// What Prometheus wants to be told of the form.
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A server's numbers over HTTP, in the background on the runtime it was started on. It stops when it is dropped, and does not
/// keep the server alive.
pub struct MetricsServer {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl MetricsServer {
    /// Starts to answer. Port 0 takes any free one.
    pub async fn start(address: SocketAddr, server: &Server) -> io::Result<Self> {
        Self::answer(address, routes(server.watcher())).await
    }

    /// For a program with numbers of its own: answers `/metrics` with what this says each time, in the same form.
    pub async fn of(
        address: SocketAddr,
        text: impl Fn() -> String + Clone + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let answer = move || std::future::ready(([(CONTENT_TYPE, OPENMETRICS)], text()));
        Self::answer(address, Router::new().route("/metrics", get(answer))).await
    }

    async fn answer(address: SocketAddr, routes: Router) -> io::Result<Self> {
        let listener = tokio::net::TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let task = tokio::spawn(async move {
            // It only ends when it is stopped.
            let _ = axum::serve(listener, routes).await;
        });
        Ok(Self { address, task })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The answers, for a server of one's own.
pub fn routes(watcher: Watcher) -> Router {
    let asked = Arc::new(Asked { exporter: Exporter::default(), watcher });
    Router::new()
        .route("/metrics", get(metrics))
        .route("/report", get(report))
        .route("/healthz", get(health))
        .with_state(asked)
}

struct Asked {
    watcher: Watcher,
    exporter: Exporter,
}

async fn metrics(State(asked): State<Arc<Asked>>, RawQuery(query): RawQuery) -> Response {
    answer(&asked, query, OPENMETRICS, |report| asked.exporter.text(&report).ok()).await
}

async fn report(State(asked): State<Arc<Asked>>, RawQuery(query): RawQuery) -> Response {
    answer(&asked, query, "application/json", |report| serde_json::to_string(&report).ok()).await
}

/// `?session=NAME` asks for one of several.
async fn answer(
    asked: &Asked,
    query: Option<String>,
    kind: &'static str,
    write: impl Fn(SessionReport) -> Option<String>,
) -> Response {
    let pairs = query.unwrap_or_default();
    let session = url::form_urlencoded::parse(pairs.as_bytes()).find(|(key, _)| key == "session");
    match asked.watcher.report(session.as_ref().map(|(_, name)| name.as_ref())).await.map(write) {
        Some(Some(text)) => ([(CONTENT_TYPE, kind)], text).into_response(),
        Some(None) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        None => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

async fn health(State(asked): State<Arc<Asked>>) -> Response {
    if asked.watcher.is_serving() {
        "ok\n".into_response()
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "draining\n").into_response()
    }
}

/// Writes what Prometheus reads. Keep one for all reports of a server: it remembers which receiver is which.
#[derive(Debug, Default)]
pub struct Exporter {
    slots: Mutex<Slots>,
}

impl Exporter {
    /// A report as OpenMetrics text.
    pub fn text(&self, report: &SessionReport) -> Result<String, fmt::Error> {
        let hosts: Vec<u32> = report.receivers.iter().map(|receiver| receiver.host).collect();
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner).of(&hosts);
        let labels = [("session".into(), report.session.clone().into())];
        let mut registry = Registry::with_prefix_and_labels(PREFIX, labels.into_iter());
        registry.register_collector(Box::new(Collected { report: report.clone(), slots }));
        let mut written = String::new();
        text::encode(&mut written, &registry)?;
        Ok(written)
    }
}

/// A report on its way to text. Nothing is registered but this: a report is a whole, and its numbers are not kept anywhere else.
#[derive(Debug)]
struct Collected {
    report: SessionReport,
    slots: Vec<usize>,
}

impl Collector for Collected {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        session(&self.report, &mut encoder)?;
        for metric in RECEIVER {
            describe(&mut encoder, metric, |into| {
                for (receiver, slot) in self.report.receivers.iter().zip(&self.slots) {
                    if let Some(value) = (metric.read)(receiver) {
                        put(into.encode_family(&[("receiver", slot.to_string())])?, metric.kind, value)?;
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

fn session(report: &SessionReport, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    for metric in SESSION {
        describe(encoder, metric, |into| put(into.encode_family(&NONE)?, metric.kind, (metric.read)(report)))?;
    }
    for metric in LABELLED {
        let (label, read) = metric.read;
        describe(encoder, metric, |into| {
            for (of, value) in read(report) {
                put(into.encode_family(&[(label, of)])?, metric.kind, value)?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

const NONE: [(&str, &str); 0] = [];

/// Announces a metric and has its values written.
fn describe<Read>(
    encoder: &mut DescriptorEncoder<'_>,
    metric: &Metric<Read>,
    values: impl FnOnce(&mut MetricEncoder<'_>) -> fmt::Result,
) -> fmt::Result {
    let unit = (!metric.unit.is_empty()).then(|| Unit::Other(metric.unit.to_owned()));
    let kind = match metric.kind {
        Kind::Gauge => MetricType::Gauge,
        Kind::Counter => MetricType::Counter,
    };
    values(&mut encoder.encode_descriptor(metric.name, metric.help, unit.as_ref(), kind)?)
}

fn put(mut into: MetricEncoder<'_>, kind: Kind, value: f64) -> fmt::Result {
    match kind {
        Kind::Gauge => into.encode_gauge(&value),
        Kind::Counter => into.encode_counter::<NoLabelSet, f64, f64>(&value, None),
    }
}
