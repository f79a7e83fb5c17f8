//! Every number there is: its name, its unit, what it says and where it comes from.
//!
//! Names are what Prometheus wants: base units, and the unit last. The prefix, the unit and `_total` are put around the names here.

use crate::report::{ConnectionReport, ReceiverReport, SessionReport};

/// Whether a number only grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Gauge,
    Counter,
}

use Kind::{Counter, Gauge};

/// A number, and how it is read.
pub(super) struct Metric<Read> {
    pub(super) name: &'static str,
    pub(super) unit: &'static str,
    pub(super) kind: Kind,
    pub(super) help: &'static str,
    pub(super) read: Read,
}

const fn metric<Read>(
    name: &'static str,
    unit: &'static str,
    kind: Kind,
    help: &'static str,
    read: Read,
) -> Metric<Read> {
    Metric { name, unit, kind, help, read }
}

impl<Read> Metric<Read> {
    /// The name under which it is asked for.
    pub(super) fn full_name(&self) -> String {
        let unit = if self.unit.is_empty() { String::new() } else { format!("_{}", self.unit) };
        let total = if self.kind == Counter { "_total" } else { "" };
        format!("{}_{}{unit}{total}", super::PREFIX, self.name)
    }
}

type OfSession = fn(&SessionReport) -> f64;
type OfReceiver = fn(&ReceiverReport) -> Option<f64>;
/// A label, and a value for each of what it may be.
type ByLabel = (&'static str, fn(&SessionReport) -> Vec<(&'static str, f64)>);

/// Of the whole session.
#[rustfmt::skip]
pub(super) const SESSION: &[Metric<OfSession>] = &[
    metric("uptime", "seconds", Gauge, "For how long the session has been running", |r| r.uptime_s),
    metric("lag", "seconds", Gauge, "How long everything waits before it is shown", |r| r.lag_s),
    metric("draining", "", Gauge, "1 while nobody is let in any more", |r| f64::from(u8::from(r.draining))),
    metric("players", "", Gauge, "Players who are here, or may come back", |r| r.players as f64),
    metric("players_max", "", Gauge, "So many players are let in", |r| r.max_players as f64),
    metric("players_connected", "", Gauge, "Players who have a connection", |r| r.connected as f64),
    metric("guests", "", Gauge, "Connections that have not come in yet", |r| r.guests as f64),
    metric("entities", "", Gauge, "Entities", |r| r.entities as f64),
    metric("error_mean", "meters", Gauge, "Accuracy: distance between exported and placed paths, mean over receivers", |r| r.error.mean),
    metric("error_std", "meters", Gauge, "Fairness: the standard deviation of the same over receivers", |r| r.error.std),
    metric("error_max", "meters", Gauge, "The same of the receiver worst off", |r| r.error.max),
    metric("fairness_taken", "meters", Gauge, "What fairness costs of late: mean error taken on by receivers that are better off, as the policy estimates it", |r| r.fairness.map_or(0.0, |f| f.taken)),
    metric("fairness_given", "meters", Gauge, "What fairness gains of late: mean error spared to receivers that are worse off", |r| r.fairness.map_or(0.0, |f| f.given)),
    metric("triggers", "", Counter, "Vectors that everybody could have been told", |r| r.sent.triggers as f64),
    metric("vectors_due", "", Counter, "Vectors that sending everything to everybody would have taken", |r| r.sent.due as f64),
    metric("vectors_sent", "", Counter, "Vectors sent, counted per receiver", |r| r.sent.vectors as f64),
    metric("vectors_resent", "", Counter, "Of these, vectors sent again because they were lost", |r| r.sent.resent as f64),
    metric("vectors_relayed", "", Counter, "Vectors of players that were passed on, each counted once", |r| r.relayed as f64),
    metric("datagrams_sent", "", Counter, "Datagrams with vectors", |r| r.sent.datagrams as f64),
    metric("sent", "bytes", Counter, "Bytes in datagrams with vectors", |r| r.sent.bytes as f64),
    metric("expulsions", "", Counter, "Connections that were closed for what they did", |r| r.expelled as f64),
    metric("handshakes_refused", "", Counter, "Handshakes refused: too many from one source, or no room", |r| r.handshakes_refused as f64),
];

/// Of the whole session, by what a label says.
#[rustfmt::skip]
pub(super) const LABELLED: &[Metric<ByLabel>] = &[
    metric("refusals", "", Counter, "Who was not let in", ("reason", |r| counts(&r.refusals))),
    metric("drops", "", Counter, "What was given up", ("reason", |r| counts(&r.drops))),
    metric("queue_depth", "", Gauge, "How much waits", ("queue", |r| counts(&r.queues))),
    metric("messages_sent", "", Counter, "What was said to players, by how sure it is to arrive",
        ("level", |r| r.messages.iter().map(|(level, traffic)| (*level, traffic.sent as f64)).collect())),
    metric("messages_received", "", Counter, "What players said, by how sure it is to arrive",
        ("level", |r| r.messages.iter().map(|(level, traffic)| (*level, traffic.received as f64)).collect())),
];

/// Of one receiver. What is unknown is left out.
#[rustfmt::skip]
pub(super) const RECEIVER: &[Metric<OfReceiver>] = &[
    metric("receiver_host", "", Gauge, "Which player this is: its number", |r| Some(f64::from(r.host))),
    metric("receiver_delay", "seconds", Gauge, "The one-way delay to the receiver", |r| r.delay_s),
    metric("receiver_jitter", "seconds", Gauge, "How much single delays deviate from that", |r| Some(r.jitter_s)),
    metric("receiver_round_trip", "seconds", Gauge, "The smoothed round trip, with the receiver's share", |r| r.round_trip_s),
    metric("receiver_carrier_round_trip", "seconds", Gauge, "The carrier's own round trip", |r| of(r, |c| c.round_trip_s)),
    metric("receiver_clock_uncertainty", "seconds", Gauge, "How far off the receiver's clock can be at most", |r| r.clock_uncertainty_s),
    metric("receiver_vectors", "", Counter, "Vectors sent to the receiver", |r| Some(r.vectors as f64)),
    metric("receiver", "bytes", Counter, "Bytes sent to the receiver with vectors", |r| Some(r.bytes as f64)),
    metric("receiver_datagrams_sent", "", Counter, "Datagrams handed to the carrier", |r| of(r, |c| Some(c.datagrams.sent as f64))),
    metric("receiver_datagrams_received", "", Counter, "Datagrams that came from the receiver", |r| of(r, |c| Some(c.datagrams.received as f64))),
    metric("receiver_datagrams_lost", "", Counter, "Datagrams for which no receipt came in time", |r| Some(r.lost as f64)),
    metric("receiver_packets_lost", "", Counter, "Packets that the carrier believes lost", |r| of(r, |c| Some(c.lost_packets as f64))),
    metric("receiver_error_known", "meter_seconds", Gauge, "Export error that receipts have made certain, over all entities", |r| Some(r.error_known)),
    metric("receiver_error_estimated", "meter_seconds", Gauge, "Export error since then, as far as is to be expected", |r| Some(r.error_estimated)),
    metric("receiver_error_mean", "meters", Gauge, "The mean distance between what it should show and what it shows", |r| Some(r.mean_distance)),
    metric("receiver_shown", "seconds", Counter, "For how long it has been showing things, added up over entities", |r| Some(r.shown_s)),
    metric("receiver_queued_vectors", "", Gauge, "Vectors that wait in the heart to be sent to the receiver", |r| Some(r.queued as f64)),
    metric("receiver_outgoing", "bytes", Gauge, "Bytes that wait for the carrier", |r| of(r, |c| Some(c.outgoing_bytes as f64))),
];

fn counts(by: &std::collections::BTreeMap<&'static str, u64>) -> Vec<(&'static str, f64)> {
    by.iter().map(|(label, count)| (*label, *count as f64)).collect()
}

fn of(receiver: &ReceiverReport, read: impl Fn(&ConnectionReport) -> Option<f64>) -> Option<f64> {
    receiver.connection.as_ref().and_then(read)
}

/// The names of all metrics, as they are asked for.
pub fn names() -> Vec<String> {
    let session = SESSION.iter().map(Metric::full_name);
    let labelled = LABELLED.iter().map(Metric::full_name);
    session.chain(labelled).chain(RECEIVER.iter().map(Metric::full_name)).collect()
}
