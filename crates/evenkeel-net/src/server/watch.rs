//! A running server looked at from outside.

use super::Shared;
use crate::hub::{Connection, Hub};
use crate::report::{ConnectionReport, ReceiverReport, SessionReport};
use evenkeel::HostId;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};

/// How long the hub is held at most for reading books, but for the last player's.
const READING: std::time::Duration = std::time::Duration::from_micros(500);

/// Asks a server how it is doing, as long as there is one.
#[derive(Clone)]
pub struct Watcher(Weak<Shared>);

impl Watcher {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self(Arc::downgrade(shared))
    }

    /// How a session is doing, the first if none is named; none if there is no such session, or once the server is gone.
    pub async fn report(&self, session: Option<&str>) -> Option<SessionReport> {
        let shared = self.0.upgrade()?;
        shared.session_report(session.unwrap_or(&shared.first)).await
    }

    /// Whether the server lets players in.
    pub fn is_serving(&self) -> bool {
        self.0.upgrade().is_some_and(|shared| shared.with_hub(&shared.first, |hub| !hub.is_draining()).unwrap_or(false))
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watcher")
    }
}

impl Shared {
    fn with_hub<R>(&self, session: &str, look: impl FnOnce(&mut Hub) -> R) -> Option<R> {
        self.lobby().hub_mut(session).map(look)
    }

    /// How a session is doing. The books of many players take long to read: the hub is let go of again and again.
    pub(super) async fn session_report(&self, session: &str) -> Option<SessionReport> {
        let (summary, players) = self.with_hub(session, |hub| (hub.summary(), hub.player_connections()))?;
        let (mut receivers, mut connections) = (Vec::with_capacity(players.len()), Vec::with_capacity(players.len()));
        let mut left = players.into_iter().peekable();
        while left.peek().is_some() {
            self.with_hub(session, |hub| self.read_books(hub, &mut left, &mut receivers, &mut connections))?;
            if left.peek().is_some() {
                // Asking again at once would mostly win over whoever waits.
                tokio::time::sleep(READING).await;
            }
        }
        let mut report = summary.with_receivers(receivers);
        self.add_transport(&mut report, &connections);
        Some(report)
    }

    /// Reads the books of as many players as can be read while nobody has to wait for long; of one at least.
    fn read_books(
        &self,
        hub: &mut Hub,
        left: &mut impl Iterator<Item = (HostId, Option<Connection>)>,
        receivers: &mut Vec<ReceiverReport>,
        connections: &mut Vec<Option<Connection>>,
    ) {
        let start = std::time::Instant::now();
        for (host, connection) in left {
            if let Some(receiver) = hub.receiver_report(host, self.ticking.now()) {
                receivers.push(receiver);
                connections.push(connection);
            }
            if start.elapsed() >= READING {
                return;
            }
        }
    }

    /// What the sockets know.
    fn add_transport(&self, report: &mut SessionReport, connections: &[Option<Connection>]) {
        // Since the server was made, as the heart counts.
        report.uptime_s = self.ticking.now().as_nanos() as f64 / 1e9;
        report.handshakes_refused = self.listener.refused();
        report.queues.insert("arrived", self.bell.waiting() as u64);
        let open = self.connections();
        let mut totals = open.past;
        let statistics: HashMap<_, _> =
            open.open.iter().map(|(connection, open)| (*connection, open.sender.statistics())).collect();
        statistics.values().for_each(|statistics| totals.add(statistics));
        totals.tell(report);
        for (receiver, connection) in report.receivers.iter_mut().zip(connections) {
            receiver.connection = connection.and_then(|connection| {
                let sender = &open.open.get(&connection)?.sender;
                Some(ConnectionReport::new(sender.remote(), sender.carrier(), statistics.get(&connection)?))
            });
        }
    }
}
