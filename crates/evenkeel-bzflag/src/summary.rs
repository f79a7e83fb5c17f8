//! What came of a run, in numbers.

use crate::relay::Relay;
use serde::Serialize;

/// What every decider's clients saw.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// One per decider; the first was live.
    pub deciders: Vec<DeciderSummary>,
    /// What the clients saw of shots.
    pub shots: Vec<ShotSummary>,
    /// The clients' round trips as measured at the end, in milliseconds.
    pub round_trips_ms: Vec<(String, f64)>,
    /// How long messages that wait for nothing stayed in the relay.
    pub added_latency: Latency,
}

/// What one client saw of shots.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShotSummary {
    /// Its name.
    pub client: String,
    /// How many it was sent.
    pub count: u64,
    /// How far from where they were they are shown, as they are: the mean.
    pub mean_m: f64,
    /// The same if they were advanced.
    pub advanced_mean_m: f64,
    /// How far they would jump from the barrel if they were advanced.
    pub jump_m: f64,
}

/// How long messages stayed in the relay, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Latency {
    /// How many were looked at.
    pub messages: u64,
    /// The mean.
    pub mean_us: f64,
    /// The longest.
    pub longest_us: f64,
}

impl Latency {
    pub(crate) fn add(&mut self, stay: std::time::Duration) {
        let us = stay.as_secs_f64() * 1e6;
        self.messages += 1;
        self.mean_us += (us - self.mean_us) / self.messages as f64;
        self.longest_us = self.longest_us.max(us);
    }
}

/// What one decider's clients saw.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeciderSummary {
    /// What tables call it.
    pub name: String,
    /// Whether clients were really told what it decided.
    pub live: bool,
    /// One per client.
    pub clients: Vec<ClientSummary>,
    /// Over clients.
    pub mean_m: f64,
    /// The standard deviation over clients.
    pub std_m: f64,
    /// The worst client's mean.
    pub max_m: f64,
    /// Updates sent, over all clients.
    pub updates: u64,
    /// What it would have taken to send every update that was due to everybody.
    pub due: u64,
    /// The bytes of those sent.
    pub bytes: u64,
}

/// What one client saw.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClientSummary {
    /// Its name.
    pub name: String,
    /// The mean distance between where tanks were and where they were shown.
    pub mean_m: f64,
    /// What is not exceeded for 99 % of the time, to 5 cm and up to 200 m.
    pub p99_m: f64,
    /// The largest.
    pub largest_m: f64,
    /// For how long tanks were seen, added up over tanks.
    pub seconds: f64,
    /// For how long living tanks were not seen at all.
    pub unseen_seconds: f64,
    /// Updates sent to it.
    pub updates: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Summary {
    /// What a relay's clients have seen so far.
    pub fn of(relay: &Relay) -> Self {
        let deciders = relay.desks().iter().enumerate().map(|(index, desk)| {
            let clients = relay.gauge().seen(index).map(|(name, sums)| ClientSummary {
                name: name.to_owned(),
                mean_m: sums.mean_m(),
                p99_m: sums.quantile_m(0.99),
                largest_m: sums.largest_m,
                seconds: sums.seconds,
                unseen_seconds: sums.unseen_seconds,
                updates: sums.updates,
                bytes: sums.bytes,
            });
            let due = desk.sender().ledger().spent().due;
            DeciderSummary::new(desk.decider().name(), index == 0, due, clients.collect())
        });
        let round_trips = relay
            .round_trips()
            .map(|(name, trip)| (name.to_owned(), trip.map_or(f64::NAN, |trip| trip.as_millis_f64())));
        let shots = relay.gauge().shots().map(|(client, shots)| {
            let mean = |sum: f64| sum / shots.count.max(1) as f64;
            ShotSummary {
                client: client.to_owned(),
                count: shots.count,
                mean_m: mean(shots.error),
                advanced_mean_m: mean(shots.advanced_error),
                jump_m: mean(shots.jumped),
            }
        });
        Self {
            deciders: deciders.collect(),
            shots: shots.collect(),
            round_trips_ms: round_trips.filter(|(_, ms)| ms.is_finite()).collect(),
            added_latency: Latency::default(),
        }
    }
}

impl DeciderSummary {
    fn new(name: String, live: bool, due: u64, clients: Vec<ClientSummary>) -> Self {
        let means: Vec<f64> =
            clients.iter().filter(|client| client.seconds > 0.0).map(|client| client.mean_m).collect();
        let count = means.len().max(1) as f64;
        // Adding to zero: the sum of nothing is a zero below zero.
        let mean_m = means.iter().fold(0.0, |sum, mean| sum + mean) / count;
        let variance = means.iter().map(|m| (m - mean_m) * (m - mean_m)).fold(0.0, |sum, square| sum + square) / count;
        Self {
            name,
            live,
            mean_m,
            std_m: variance.sqrt(),
            max_m: means.iter().copied().fold(0.0, f64::max),
            due,
            updates: clients.iter().map(|client| client.updates).sum(),
            bytes: clients.iter().map(|client| client.bytes).sum(),
            clients,
        }
    }
}
