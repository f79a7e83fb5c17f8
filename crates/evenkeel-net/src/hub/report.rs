//! How a session is doing, as far as a hub without sockets knows.

use super::{Connection, Hub};
use crate::report::{REPORT_VERSION, ReceiverReport, Sent, SessionReport, Spread};
use evenkeel::{Fairness, GlobalTime, HostId, Instant};
use std::collections::BTreeMap;

impl Hub {
    /// How the session is doing. What only a server with sockets can know is left out.
    pub fn report(&mut self, now: Instant) -> SessionReport {
        let time = self.now(now);
        let fairness = self.sender.fairness(time);
        let spent = fairness.spent;
        let refused: u64 = self.tally.refusals.values().sum();
        SessionReport {
            version: REPORT_VERSION,
            session: self.config.session.clone(),
            policy: self.sender.policy().name().to_string(),
            lag_s: self.config.placing.lag.as_secs_f64(),
            draining: self.ending.is_some(),
            players: self.members.len(),
            max_players: self.config.max_players,
            connected: self.connections.len(),
            guests: self.guests.len(),
            entities: self.entities.len(),
            error: Spread { mean: fairness.mean, std: fairness.std, max: fairness.max },
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
            drops: self.drops(),
            queues: self.queues(),
            receivers: self.members.keys().map(|host| self.receiver_report(*host, &fairness, time)).collect(),
            ..SessionReport::default()
        }
    }

    /// Which connection each player has, in the order of the report's receivers.
    pub(crate) fn player_connections(&self) -> Vec<Option<Connection>> {
        self.members.values().map(|member| member.connection).collect()
    }

    fn drops(&self) -> BTreeMap<&'static str, u64> {
        let events = self.counts.events_dropped + self.sender.events_dropped() + self.receiver.events_dropped();
        BTreeMap::from([
            ("too_many", self.counts.too_many),
            ("unusable", self.counts.unusable),
            ("events", events),
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

    fn receiver_report(&self, host: HostId, fairness: &Fairness, now: GlobalTime) -> ReceiverReport {
        let name = self.members.get(&host).map(|member| member.name.clone()).unwrap_or_default();
        let ledger = self.sender.ledger();
        // Whoever has lost its connection is no receiver until it is back.
        let Some(index) = ledger.receiver(host) else {
            return ReceiverReport { host: host.0, name, ..ReceiverReport::default() };
        };
        let path = ledger.path(index);
        let row = fairness.receivers.iter().find(|row| row.host == host);
        // What is gone is known for sure: only the books of what there is are open.
        let estimated = ledger.entities().map(|entity| ledger.pair(entity, index).estimated(now).total());
        let error_estimated = estimated.fold(0.0, |sum, error| sum + error);
        ReceiverReport {
            host: host.0,
            name,
            delay_s: path.delay().map(|span| span.as_secs_f64()),
            jitter_s: path.jitter().as_secs_f64(),
            round_trip_s: path.round_trip().map(|span| span.as_secs_f64()),
            clock_uncertainty_s: path.least_round_trip().map(|span| span.as_secs_f64() / 2.0),
            vectors: row.map_or(0, |row| row.vectors),
            bytes: row.map_or(0, |row| row.bytes),
            lost: self.tally.lost(host),
            error_known: row.map_or(0.0, |row| (row.error.total() - error_estimated).max(0.0)),
            error_estimated,
            shown_s: row.map_or(0.0, |row| row.shown.as_secs_f64()),
            mean_distance: row.map_or(0.0, |row| row.mean_distance),
            queued: self.sender.queued(host).unwrap_or(0),
            connection: None,
        }
    }
}
