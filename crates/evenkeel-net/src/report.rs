//! How a session is doing, in numbers: for metrics, for JSON, for whoever wants to know.

use serde::Serialize;
use std::collections::BTreeMap;

/// The version of the form, which changes when a field is renamed, removed or means something else.
pub const REPORT_VERSION: u32 = 1;

/// How a session is doing. Seconds are seconds, distances are metres, sizes are bytes; what counts, counts from the start of the
/// server.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SessionReport {
    /// [`REPORT_VERSION`].
    pub version: u32,
    /// The session's name.
    pub session: String,
    /// The policy that decides who is told what.
    pub policy: String,
    /// For how long the session has been running.
    pub uptime_s: f64,
    /// How long everything waits before it is shown.
    pub lag_s: f64,
    /// Whether nobody is let in any more.
    pub draining: bool,
    /// Players who are here, or may come back.
    pub players: usize,
    /// So many players are let in.
    pub max_players: usize,
    /// Players who have a connection.
    pub connected: usize,
    /// Connections that have not come in yet.
    pub guests: usize,
    /// Entities.
    pub entities: usize,
    /// The mean distance between what should be shown and what is, over receivers.
    pub error: Spread,
    /// What fairness has cost of late, if the policy says so.
    pub fairness: Option<FairnessReport>,
    /// What was sent.
    pub sent: Sent,
    /// Vectors of players that were passed on, each counted once.
    pub relayed: u64,
    /// Who was not let in, by reason.
    pub refusals: BTreeMap<&'static str, u64>,
    /// Connections that were closed for what they did.
    pub expelled: u64,
    /// Handshakes that were refused before anything was said: too many from one source, or no room.
    pub handshakes_refused: u64,
    /// What was given up, by reason.
    pub drops: BTreeMap<&'static str, u64>,
    /// What hosts said to each other, by level: how sure it is to arrive.
    pub messages: BTreeMap<&'static str, Traffic>,
    /// How much waits, by queue.
    pub queues: BTreeMap<&'static str, u64>,
    /// Every player as a receiver.
    pub receivers: Vec<ReceiverReport>,
}

/// What fairness has cost of late, as the policy estimates it: against the smallest mean error with as many vectors, in metres of the
/// mean over all receivers and entities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FairnessReport {
    /// The error taken on by receivers that are better off.
    pub taken: f64,
    /// The error spared to receivers that are worse off.
    pub given: f64,
}

/// A value over all receivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// On average.
    pub mean: f64,
    /// The standard deviation: how unequal they are.
    pub std: f64,
    /// That of the one worst off.
    pub max: f64,
}

impl Spread {
    /// Over these values; of none, zero.
    pub fn over(values: &[f64]) -> Self {
        let count = values.len().max(1) as f64;
        // The sum of nothing is minus zero; nobody wants to read that.
        let mean = values.iter().fold(0.0, |sum, value| sum + value) / count;
        let variance = values.iter().fold(0.0, |sum, value| sum + (value - mean) * (value - mean)) / count;
        Self { mean, std: variance.sqrt(), max: values.iter().copied().fold(0.0, f64::max) }
    }
}

/// What was sent to all receivers together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sent {
    /// Vectors that everybody could have been told.
    pub triggers: u64,
    /// Vectors that sending everything to everybody would have taken.
    pub due: u64,
    /// Vectors sent.
    pub vectors: u64,
    /// Of these, vectors sent again because they were lost.
    pub resent: u64,
    /// Datagrams with them.
    pub datagrams: u64,
    /// Bytes in those.
    pub bytes: u64,
}

/// What went out and came in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Out.
    pub sent: u64,
    /// In.
    pub received: u64,
}

/// How one player is served.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReceiverReport {
    /// Its number.
    pub host: u32,
    /// Its name.
    pub name: String,
    /// The one-way delay to it, once known.
    pub delay_s: Option<f64>,
    /// How much single delays deviate from that, on average.
    pub jitter_s: f64,
    /// The smoothed round trip of the heart's datagrams, once known.
    pub round_trip_s: Option<f64>,
    /// How far off its clock can be at most: half the least round trip, because nothing tells the way there from the way back. Its
    /// own estimate is smaller, and is not told to the server.
    pub clock_uncertainty_s: Option<f64>,
    /// Vectors sent to it since it came, or came back.
    pub vectors: u64,
    /// Bytes sent to it with them.
    pub bytes: u64,
    /// Datagrams for which no receipt came in time.
    pub lost: u64,
    /// Export error that receipts have made certain, in metres times seconds, over all entities.
    pub error_known: f64,
    /// Export error since then, as far as is to be expected.
    pub error_estimated: f64,
    /// For how long it has been showing things, added up over entities.
    pub shown_s: f64,
    /// The mean distance between what it should show and what it shows.
    pub mean_distance: f64,
    /// Vectors that wait in the heart to be sent to it.
    pub queued: usize,
    /// What carries it; none while its connection is lost.
    pub connection: Option<ConnectionReport>,
}

/// How a connection fares.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ConnectionReport {
    /// Where the other end is.
    pub remote: String,
    /// "webtransport" or "websocket".
    pub carrier: &'static str,
    /// The carrier's own round trip, once known.
    pub round_trip_s: Option<f64>,
    /// Packets that the carrier believes lost.
    pub lost_packets: u64,
    /// Datagrams.
    pub datagrams: Traffic,
    /// Messages.
    pub messages: Traffic,
    /// Bytes that wait for the carrier.
    pub outgoing_bytes: usize,
    /// Datagrams that wait for the session.
    pub incoming_datagrams: usize,
    /// Bytes of messages that wait for the session.
    pub incoming_bytes: usize,
}

impl SessionReport {
    /// Takes in how the receivers are served.
    pub(crate) fn with_receivers(self, receivers: Vec<ReceiverReport>) -> Self {
        let showing = receivers.iter().filter(|receiver| receiver.shown_s > 0.0);
        let distances: Vec<f64> = showing.map(|receiver| receiver.mean_distance).collect();
        Self { error: Spread::over(&distances), receivers, ..self }
    }
}
