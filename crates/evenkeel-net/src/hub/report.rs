//! How a session is doing, as far as a hub without sockets knows.

use super::Hub;
use crate::report::{FairnessReport, REPORT_VERSION, ReceiverReport, Sent, SessionReport};
use evenkeel::{HostId, Instant};
use std::collections::BTreeMap;

impl Hub {
    /// How the session is doing. What only a server with sockets can know is left out.
    pub fn report(&mut self, now: Instant) -> SessionReport {
        let hosts: Vec<HostId> = self.members.keys().copied().collect();
        let receivers = hosts.into_iter().filter_map(|host| self.receiver_report(host, now)).collect();
        self.summary().with_receivers(receivers)
    }

    /// The report but for the receivers: quickly read.
    pub(crate) fn summary(&self) -> SessionReport {
        let spent = self.sender.ledger().spent();
        let refused: u64 = self.tally.refusals.values().sum();
        SessionReport {
            version: REPORT_VERSION,
            session: self.config.session.clone(),
            policy: self.sender.policy().name(),
            lag_s: self.config.placing.lag.as_secs_f64(),
            draining: self.ending.is_some(),
            players: self.members.len(),
            max_players: self.config.max_players,
            connected: self.connections.len(),
            guests: self.guests.len(),
            entities: self.entities.len(),
            fairness: self
                .sender
                .cost_of_fairness()
                .map(|cost| FairnessReport { taken: cost.taken, given: cost.given }),
            sent: Sent {
                triggers: spent.triggers,
                due: spent.due,
                vectors: spent.vectors,
                resent: spent.resent,
                datagrams: spent.datagrams,
                bytes: spent.bytes,
            },
            relayed: self.counts.relayed,
            refusals: self.tally.refusals.clone(),
            expelled: self.counts.expelled.saturating_sub(refused),
            messages: self.tally.messages.clone(),
            drops: self.drops(),
            queues: self.queues(),
            ..SessionReport::default()
        }
    }

    /// Who is here, or may come back, and by which connection.
    #[cfg(feature = "sockets")]
    pub(crate) fn player_connections(&self) -> Vec<(HostId, Option<super::Connection>)> {
        self.members.iter().map(|(host, member)| (*host, member.connection)).collect()
    }

    fn drops(&self) -> BTreeMap<&'static str, u64> {
        let events = self.counts.events_dropped + self.sender.events_dropped() + self.receiver.events_dropped();
        let refused = self.receiver.all_refusals();
        BTreeMap::from([
            ("datagrams_foreign", refused.foreign),
            ("datagrams_undecodable", refused.undecodable()),
            ("datagrams_undecoded_by_players", self.tally.undecoded),
            ("disagreements", refused.disagreement + self.tally.disagreements),
            ("too_many", self.counts.too_many),
            ("unusable", self.counts.unusable),
            ("events", events),
            ("messages_undelivered", self.counts.undelivered),
            ("heart_full", self.tally.heart_full),
            ("forged_receipts", self.tally.forged),
            ("vectors_given_up", self.receiver.vectors_given_up()),
        ])
    }

    fn queues(&self) -> BTreeMap<&'static str, u64> {
        let heart: usize = self.members.keys().map(|host| self.sender.queued(*host).unwrap_or(0)).sum();
        BTreeMap::from([
            ("heart", heart as u64),
            ("hub", (self.outgoing.len() + self.pongs.len()) as u64),
            ("events", self.events.len() as u64),
        ])
    }

    /// How one player is served, if it is still here: its books are read, which takes longer with more entities.
    pub(crate) fn receiver_report(&mut self, host: HostId, now: Instant) -> Option<ReceiverReport> {
        let time = self.now(now);
        let known = ReceiverReport {
            host: host.0,
            name: self.members.get(&host)?.name.clone(),
            lost: self.tally.lost(host),
            queued: self.sender.queued(host).unwrap_or(0),
            ..ReceiverReport::default()
        };
        let ledger = self.sender.ledger();
        // Whoever has lost its connection is no receiver until it is back.
        let Some(index) = ledger.receiver(host) else { return Some(known) };
        let (path, row) = (ledger.path(index), ledger.fairness_of(index, time));
        let error_known = ledger.known_of(index, time).total();
        Some(ReceiverReport {
            delay_s: path.delay().map(|span| span.as_secs_f64()),
            jitter_s: path.jitter().as_secs_f64(),
            round_trip_s: path.round_trip().map(|span| span.as_secs_f64()),
            clock_uncertainty_s: path.least_round_trip().map(|span| span.as_secs_f64() / 2.0),
            vectors: row.vectors,
            bytes: row.bytes,
            error_known,
            error_estimated: (row.error.total() - error_known).max(0.0),
            shown_s: row.shown.as_secs_f64(),
            mean_distance: row.mean_distance,
            ..known
        })
    }
}
