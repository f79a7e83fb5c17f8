//! Direct connections between players. Both dial each other at once, from the sockets on which they accept: that opens the way
//! through most firewalls. If both get through, the connection that the lower number dialled stays.

use super::driver::Report;
use crate::protocol::Introduction;
use crate::transport::{self, ConnectConfig, Connection, Endpoint, Listener, SendError, Trust};
use evenkeel::HostId;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// How long one attempt may take.
const DIAL_WITHIN: Duration = Duration::from_secs(5);
/// After how much silence a peer counts as gone, and after how much to make a sound.
pub(super) const SILENCE: (Duration, Duration) = (Duration::from_secs(3), Duration::from_millis(500));
/// So often a peer is tried, and after how long again.
const TRIES: (u32, Duration) = (5, Duration::from_secs(1));
/// So many who have connected wait for the server to introduce them, and for how long.
const WAITING: (usize, Duration) = (32, Duration::from_secs(3));
/// What a peer asks for: this, its number and the ticket.
const PATH: &str = "/peer/";

/// A connection to a peer.
pub(super) struct Meeting {
    connection: Connection,
    host: HostId,
    /// What it showed, if it came to us; who was dialled is known by its certificate.
    ticket: Option<u64>,
}

struct Link {
    sender: transport::Sender,
    number: u64,
    /// Whether the lower number dialled it.
    preferred: bool,
}

/// What is known of a peer.
struct Acquaintance {
    introduction: Introduction,
    tries: u32,
    link: Option<Link>,
}

/// All direct connections.
pub(super) struct Links {
    endpoint: Endpoint,
    config: ConnectConfig,
    report: mpsc::Sender<Report>,
    you: Option<HostId>,
    known: HashMap<HostId, Acquaintance>,
    /// Those whom the server has not introduced yet.
    early: Vec<(Instant, Meeting)>,
    next: u64,
}

/// Reports whoever connects.
pub(super) async fn accept(listener: Arc<Listener>, report: mpsc::Sender<Report>) {
    while let Some(connection) = listener.accept().await {
        match asked(connection.path()) {
            Some((host, ticket)) => {
                let meeting = Meeting { connection, host, ticket: Some(ticket) };
                if report.send(Report::Met(meeting)).await.is_err() {
                    return;
                }
            }
            None => connection.close("this is a player, not a server"),
        }
    }
}

fn asked(path: &str) -> Option<(HostId, u64)> {
    let (host, ticket) = path.strip_prefix(PATH)?.split_once('/')?;
    Some((HostId(host.parse().ok()?), u64::from_str_radix(ticket, 16).ok()?))
}

impl Links {
    pub(super) fn new(endpoint: Endpoint, config: ConnectConfig, report: mpsc::Sender<Report>) -> Self {
        Self { endpoint, config, report, you: None, known: HashMap::new(), early: Vec::new(), next: 0 }
    }

    /// The server has somebody for us, whom we are to dial under this number of ours. Those of another session have been
    /// [forgotten](Self::forget).
    pub(super) fn introduce(&mut self, introduction: Introduction, you: Option<HostId>) {
        self.you = you;
        let host = introduction.host;
        let same = |known: &Acquaintance| known.introduction.certificate == introduction.certificate;
        if !self.known.get(&host).is_some_and(same) {
            self.forget(host);
        }
        self.dial(&introduction);
        let link = self.known.remove(&host).and_then(|known| known.link);
        self.known.insert(host, Acquaintance { introduction, tries: 1, link });
        self.retry_later(host);
        let now = Instant::now();
        let (theirs, others) = std::mem::take(&mut self.early)
            .into_iter()
            .filter(|(came, _)| now.duration_since(*came) < WAITING.1)
            .partition::<Vec<_>, _>(|(_, meeting)| meeting.host == host);
        self.early = others;
        for (_, meeting) in theirs {
            let report = self.report.clone();
            tokio::spawn(async move {
                let _ = report.send(Report::Met(meeting)).await;
            });
        }
    }

    /// Somebody has left, or is somebody else now.
    pub(super) fn forget(&mut self, host: HostId) {
        if let Some(link) = self.known.remove(&host).and_then(|known| known.link) {
            link.sender.close("left");
        }
    }

    /// Whether that is the connection in use.
    pub(super) fn is_current(&self, host: HostId, number: u64) -> bool {
        let link = self.known.get(&host).and_then(|known| known.link.as_ref());
        link.is_some_and(|link| link.number == number)
    }

    fn dial(&self, introduction: &Introduction) {
        let Some(you) = self.you else { return };
        let path = format!("{PATH}{}/{:016x}", you.0, introduction.ticket);
        let config = ConnectConfig {
            trust: Trust::Hashes(vec![introduction.certificate]),
            timeout: DIAL_WITHIN,
            idle_timeout: SILENCE.0,
            keep_alive: SILENCE.1,
            ..self.config.clone()
        };
        for address in introduction.addresses.clone() {
            let attempt = attempt(self.endpoint.clone(), address, path.clone(), config.clone());
            let (report, host) = (self.report.clone(), introduction.host);
            tokio::spawn(async move {
                if let Some(connection) = attempt.await {
                    let _ = report.send(Report::Met(Meeting { connection, host, ticket: None })).await;
                }
            });
        }
    }

    /// Somebody is connected. Answers who, if that is the first connection to it.
    pub(super) fn met(&mut self, meeting: Meeting) -> Option<HostId> {
        let host = meeting.host;
        let Some(known) = self.known.get_mut(&host) else {
            self.early.retain(|(came, _)| came.elapsed() < WAITING.1);
            if self.early.len() < WAITING.0 {
                self.early.push((Instant::now(), meeting));
            }
            return None;
        };
        if meeting.ticket.is_some_and(|ticket| ticket != known.introduction.ticket) {
            meeting.connection.close("the server has not sent you");
            return None;
        }
        let dialler = if meeting.ticket.is_some() { Some(host) } else { self.you };
        let preferred = dialler == self.you.map(|you| you.min(host));
        let before = known.link.as_ref().map(|link| link.preferred);
        if before == Some(true) || before == Some(preferred) {
            meeting.connection.close("there is a connection already");
            return None;
        }
        self.next += 1;
        let sender = read(meeting.connection, host, self.next, self.report.clone());
        if let Some(old) = known.link.replace(Link { sender, number: self.next, preferred }) {
            old.sender.close("another connection is used");
        }
        known.tries = 0;
        before.is_none().then_some(host)
    }

    /// A connection has ended. Answers whether it was the one in use.
    pub(super) fn parted(&mut self, host: HostId, number: u64) -> bool {
        let Some(known) = self.known.get_mut(&host) else { return false };
        if known.link.as_ref().is_none_or(|link| link.number != number) {
            return false;
        }
        known.link = None;
        self.retry_later(host);
        true
    }

    fn retry_later(&mut self, host: HostId) {
        let Some(known) = self.known.get(&host).filter(|known| known.tries < TRIES.0) else { return };
        let (report, wait) = (self.report.clone(), TRIES.1 * (1 << known.tries));
        tokio::spawn(async move {
            tokio::time::sleep(wait).await;
            let _ = report.send(Report::Retry(host)).await;
        });
    }

    /// Dials somebody again.
    pub(super) fn retry(&mut self, host: HostId) {
        if let Some(known) = self.known.get_mut(&host).filter(|known| known.link.is_none()) {
            known.tries += 1;
            let introduction = known.introduction.clone();
            self.dial(&introduction);
            self.retry_later(host);
        }
    }

    pub(super) fn send_datagram(&self, to: HostId, bytes: &[u8]) -> Result<(), SendError> {
        match self.known.get(&to).and_then(|known| known.link.as_ref()) {
            Some(link) => link.sender.send_datagram(bytes),
            None => Err(SendError::Closed),
        }
    }
}

/// Those who read would notice only when something arrives.
impl Drop for Links {
    fn drop(&mut self) {
        for link in self.known.drain().filter_map(|(_, known)| known.link) {
            link.sender.close("left");
        }
    }
}

async fn attempt(endpoint: Endpoint, address: SocketAddr, path: String, config: ConnectConfig) -> Option<Connection> {
    endpoint.dial(address, &path, &config).await.ok()
}

/// Reports what comes from a peer.
fn read(connection: Connection, host: HostId, number: u64, report: mpsc::Sender<Report>) -> transport::Sender {
    let (sender, mut receiver) = connection.split();
    tokio::spawn(async move {
        while let Some(arrived) = receiver.receive().await {
            if report.send(Report::FromPeer(host, number, arrived)).await.is_err() {
                return;
            }
        }
        let _ = report.send(Report::Parted(host, number)).await;
    });
    sender
}
