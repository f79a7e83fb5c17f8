//! What keeps a seat going: a connection to the server, others to peers, and one task that carries bytes between them and the
//! seat.

use super::links::Links;
use super::{LinkState, Shared, lock};
use crate::protocol::{self, Refusal, ToPlayer};
use crate::seat::{SeatError, ToSend};
use crate::transport::{self, Arrived, ConnectConfig, Endpoint, Listener, SendError, What, connect_with};
use evenkeel::HostId;
use futures_util::stream::{FuturesUnordered, StreamExt};
use siphasher::sip::SipHasher24;
use std::collections::VecDeque;
use std::hash::Hasher;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// How long to wait before connecting again after a connection was lost, or was not to be had: at first, and at most.
const PATIENCE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(3));
/// How long to wait before asking again after a server had no room, or was about to end: at first, and at most.
const PUT_OFF: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));
/// How long an attempt to connect goes unanswered before another begins beside it: for a stranger, and for whoever was
/// connected before at least and at most.
const KNOCK: (Duration, Duration, Duration) =
    (Duration::from_secs(1), Duration::from_millis(500), Duration::from_secs(2));
/// So many round trips connecting may take.
const ROUND_TRIPS: u32 = 6;
/// So many attempts may be under way at once.
const ATTEMPTS: u32 = 8;
/// How long it sleeps at most if nothing is due.
const LONGEST_SLEEP: Duration = Duration::from_millis(500);
/// So much of what arrived waits at most for the seat; more waits, or is dropped, with its connection.
const MAX_REPORTS: usize = 1_024;

/// So many reports are taken in at once, at most.
const AT_ONCE: usize = 64;

/// From where connections are made.
pub(super) enum Dialler {
    /// Each from a socket of its own.
    Alone,
    /// All from one, on which others' are accepted.
    On(Endpoint, Arc<Listener>),
}

/// What connections report.
pub(super) enum Report {
    /// There is a connection to the server.
    Up(transport::Sender),
    /// Something came from the server.
    Arrived(Arrived),
    /// The connection to the server is gone, or could not be made.
    Down(String),
    /// Somebody connected, or let us connect.
    Met(super::links::Meeting),
    /// Something came from a peer.
    FromPeer(HostId, u64, Arrived),
    /// A connection to a peer has ended, of this number.
    Parted(HostId, u64),
    /// It is time to try a peer again.
    Retry(HostId),
}

/// Carries bytes between a seat and its connections.
pub(super) struct Driver {
    shared: Arc<Shared>,
    server: Option<transport::Sender>,
    links: Option<Links>,
    /// What must arrive and does not fit into the connection yet.
    held: VecDeque<ToSend>,
    reports: mpsc::Receiver<Report>,
    /// What keeps the connections up; ends with the driver.
    _tasks: JoinSet<()>,
}

impl Driver {
    pub(super) fn new(shared: Arc<Shared>, dialler: Dialler, url: String, config: ConnectConfig) -> Self {
        let (report, reports) = mpsc::channel(MAX_REPORTS);
        let mut tasks = JoinSet::new();
        let (endpoint, links) = match dialler {
            Dialler::Alone => (None, None),
            Dialler::On(endpoint, listener) => {
                tasks.spawn(super::links::accept(listener, report.clone()));
                let links = Links::new(endpoint.clone(), config.clone(), report.clone());
                (Some(endpoint), Some(links))
            }
        };
        let seed = shared.seat().seed();
        tasks.spawn(keep_up(endpoint, url, config, seed, report));
        Self { shared, server: None, links, held: VecDeque::new(), reports, _tasks: tasks }
    }

    pub(super) async fn run(mut self) {
        loop {
            self.flush();
            if self.shared.leaving.load(Ordering::Relaxed) {
                return;
            }
            let wake = self.wake();
            tokio::select! {
                report = self.reports.recv() => match report {
                    Some(report) => self.take_all(report),
                    None => return,
                },
                () = self.shared.touched.notified() => {}
                () = tokio::time::sleep_until(wake) => {}
            }
            if self.shared.seat().is_refused() && self.server.is_none() {
                return;
            }
        }
    }

    fn wake(&self) -> tokio::time::Instant {
        let latest = tokio::time::Instant::now() + LONGEST_SLEEP;
        self.shared.seat().poll_timeout().map_or(latest, |due| self.shared.ticking.wake(due).min(latest))
    }

    /// Takes this in and whatever else is there already, before anything is answered.
    fn take_all(&mut self, first: Report) {
        self.take(first);
        for _ in 1..AT_ONCE {
            let Ok(report) = self.reports.try_recv() else { return };
            self.take(report);
        }
    }

    fn take(&mut self, report: Report) {
        let (shared, now) = (self.shared.clone(), self.shared.ticking.now());
        match report {
            Report::Up(sender) => self.connected(sender),
            Report::Down(why) => self.disconnected(&why),
            Report::Arrived(Arrived { at, what: What::Datagram(bytes) }) => {
                shared.seat().handle_datagram(&bytes, shared.ticking.at(at));
            }
            Report::Arrived(Arrived { what: What::Unordered(bytes), .. }) => {
                let _ = shared.seat().handle_unordered(&bytes);
            }
            Report::Arrived(Arrived { at, what: What::Message(bytes) }) => {
                let handled = shared.seat().handle_message(&bytes, shared.ticking.at(at));
                self.judge(handled);
            }
            Report::FromPeer(from, number, Arrived { at, what: What::Datagram(bytes) }) => {
                if self.links.as_ref().is_some_and(|links| links.is_current(from, number)) {
                    shared.seat().handle_peer_datagram(from, &bytes, shared.ticking.at(at));
                }
            }
            // Players say to each other by the server what must arrive.
            Report::FromPeer(..) => {}
            Report::Met(meeting) => {
                if let Some(host) = self.links.as_mut().and_then(|links| links.met(meeting)) {
                    shared.seat().handle_linked(host, now);
                }
            }
            Report::Parted(host, number) => {
                if self.links.as_mut().is_some_and(|links| links.parted(host, number)) {
                    shared.seat().handle_unlinked(host, now);
                }
            }
            Report::Retry(host) => {
                if let Some(links) = &mut self.links {
                    links.retry(host);
                }
            }
        }
    }

    /// A server that says what cannot be read is of another version: what it says is left out. Without a welcome, though, there
    /// is nothing to wait for on this connection, and the reason is to be seen.
    fn judge(&self, handled: Result<(), SeatError>) {
        if let (Err(error @ SeatError::Welcome(_)), Some(server)) = (handled, &self.server) {
            server.close(&error.to_string());
        }
    }

    fn connected(&mut self, sender: transport::Sender) {
        *lock(&self.shared.link) = LinkState::Connected;
        *lock(&self.shared.sender) = Some(sender.clone());
        self.server = Some(sender);
        // What was said once, to be able to start, can be said again.
        let _ = self.shared.seat().reconnect();
    }

    fn disconnected(&mut self, why: &str) {
        *lock(&self.shared.sender) = None;
        let mut seat = self.shared.seat();
        if self.server.take().is_some() {
            seat.handle_lost(why, self.shared.ticking.now());
        }
        *lock(&self.shared.link) = match seat.is_refused() {
            true => LinkState::Over { why: why.to_owned() },
            false => LinkState::Connecting { after: Some(why.to_owned()) },
        };
    }

    /// Sends whatever is to be sent. What a connection does not take is lost; what matters is sent again by the heart.
    fn flush(&mut self) {
        let shared = self.shared.clone();
        let mut seat = shared.seat();
        if let Some(links) = &mut self.links {
            let you = seat.you();
            while let Some(host) = seat.poll_departed() {
                links.forget(host);
            }
            while let Some(introduction) = seat.poll_introduction() {
                links.introduce(introduction, you);
            }
        }
        while let Some(out) = seat.poll_transmit(shared.ticking.now()) {
            match (out, &self.server, &self.links) {
                (ToSend::ToPeer(to, bytes), _, Some(links)) => drop(links.send_datagram(to, &bytes)),
                (ToSend::Datagram(bytes), Some(server), _) => drop(server.send_datagram(&bytes)),
                (reliable, Some(_), _) => self.held.push_back(reliable),
                _ => {}
            }
            self.send_held();
        }
        self.send_held();
        seat.set_congested(!self.held.is_empty());
    }
}

impl Driver {
    /// Sends what must arrive, as far as the connection takes it. The rest waits, and the game is told that there is no room.
    fn send_held(&mut self) {
        let Some(server) = &self.server else { return self.held.clear() };
        while let Some(next) = self.held.front() {
            let sent = match next {
                ToSend::Message(bytes) => server.send_message(bytes.clone()),
                ToSend::Unordered(bytes) => server.send_unordered(bytes.clone()),
                ToSend::Datagram(_) | ToSend::ToPeer(..) => Ok(()),
            };
            if matches!(sent, Err(SendError::Full)) {
                return;
            }
            self.held.pop_front();
        }
    }
}

/// Connects to the server, and connects again.
async fn keep_up(
    endpoint: Option<Endpoint>,
    url: String,
    config: ConnectConfig,
    seed: u64,
    report: mpsc::Sender<Report>,
) {
    let (mut knock, mut wait, mut times) = (KNOCK.0, PATIENCE.0, 0);
    while let Some(connection) = reach(endpoint.as_ref(), &url, &config, knock, &report).await {
        let since = std::time::Instant::now();
        let Some(Ended { why, round_trip, put_off }) = carry(connection, &report).await else { return };
        if let Some(round_trip) = round_trip {
            knock = (round_trip * ROUND_TRIPS).clamp(KNOCK.1, KNOCK.2);
        }
        if report.send(Report::Down(why)).await.is_err() {
            return;
        }
        // Who was in for a while comes back soon; a server that one does not get on with is asked less and less often.
        wait = if since.elapsed() > PATIENCE.1 { PATIENCE.0 } else { wait };
        times = if put_off { times + 1 } else { 0 };
        tokio::time::sleep(if put_off { patience(times, seed) } else { wait }).await;
        wait = (wait * 2).min(PATIENCE.1);
    }
}

/// How long to wait after having been put off so many times in a row. Those who were put off together do not come back together.
fn patience(times: u32, seed: u64) -> Duration {
    let Some(doublings) = times.checked_sub(1) else { return PATIENCE.0 };
    let longest = (PUT_OFF.0 * (1 << doublings.min(16))).min(PUT_OFF.1);
    let mut hasher = SipHasher24::new_with_keys(seed, u64::from(times));
    hasher.write(b"put off");
    longest.mul_f64(0.75 + 0.25 * (hasher.finish() as f64 / u64::MAX as f64))
}

/// Whether a server lets nobody in at present, but may later.
fn puts_off(arrived: &What) -> bool {
    let What::Message(bytes) = arrived else { return false };
    matches!(protocol::decode(bytes), Ok(ToPlayer::Refused(Refusal::Full | Refusal::Ending)))
}

/// Connects, sooner or later; none if nobody wants to know any more. QUIC repeats the first packet of a handshake ever more
/// rarely, and who was away for long is to be met soon after coming back: so attempts begin every `knock`, beside each other,
/// until one succeeds.
async fn reach(
    endpoint: Option<&Endpoint>,
    url: &str,
    config: &ConnectConfig,
    knock: Duration,
    report: &mpsc::Sender<Report>,
) -> Option<transport::Connection> {
    let config = ConnectConfig { timeout: config.timeout.min(knock * ATTEMPTS), ..config.clone() };
    let attempt = async || match endpoint {
        Some(endpoint) => endpoint.connect(url, &config).await,
        None => connect_with(url, &config).await,
    };
    let mut attempts = FuturesUnordered::new();
    let mut wait = PATIENCE.0;
    loop {
        attempts.push(attempt());
        let error = tokio::select! {
            Some(done) = attempts.next() => match done {
                Ok(connection) => return Some(connection),
                Err(error) => error,
            },
            () = tokio::time::sleep(knock) => {
                // It may still answer; whoever looks is not to wait for long before there is something to see.
                report.send(Report::Down(transport::Error::TimedOut.to_string())).await.ok()?;
                continue;
            }
        };
        report.send(Report::Down(error.to_string())).await.ok()?;
        if !matches!(error, transport::Error::TimedOut) {
            // Somebody was there and did not want us, or there is no way at all: asks less and less often.
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(PATIENCE.1);
        }
    }
}

/// How a connection ended.
struct Ended {
    why: String,
    /// How long a round trip took.
    round_trip: Option<Duration>,
    /// Whether the server said to come back later.
    put_off: bool,
}

/// Reports what arrives until the connection ends; none if nobody wants to know any more.
async fn carry(connection: transport::Connection, report: &mpsc::Sender<Report>) -> Option<Ended> {
    let (sender, mut receiver) = connection.split();
    report.send(Report::Up(sender.clone())).await.ok()?;
    let mut put_off = None;
    while let Some(arrived) = receiver.receive().await {
        // A refusal is the first thing said; all else is for the seat to read.
        put_off.get_or_insert_with(|| puts_off(&arrived.what));
        report.send(Report::Arrived(arrived)).await.ok()?;
    }
    let why = sender.closed_reason().map_or_else(|| "the connection ended".into(), |closed| closed.to_string());
    Some(Ended { why, round_trip: sender.statistics().round_trip, put_off: put_off.unwrap_or(false) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_put_off_asks_ever_more_rarely() {
        for seed in 0..100 {
            assert_eq!(patience(0, seed), PATIENCE.0, "whoever was lost is back at once");
            for (times, most) in [(1, 1.0), (2, 2.0), (3, 4.0), (5, 16.0), (6, 30.0), (7, 30.0), (u32::MAX, 30.0)] {
                let wait = patience(times, seed).as_secs_f64();
                assert!((0.75 * most..=most).contains(&wait), "{times}: {wait}");
            }
        }
        let waits: std::collections::BTreeSet<_> = (0..100).map(|seed| patience(6, seed)).collect();
        assert!(waits.len() > 90, "they do not come back together");
    }

    #[test]
    fn only_who_may_come_later_is_put_off() {
        let said = |message| puts_off(&What::Message(protocol::encode(&message).unwrap().into()));
        assert!(
            [Refusal::Full, Refusal::Ending].map(|why| said(ToPlayer::Refused(why))).iter().all(|put_off| *put_off)
        );
        assert!(!said(ToPlayer::Refused(Refusal::Name)) && !said(ToPlayer::Ending { why: "late".into() }));
        assert!(!puts_off(&What::Message(vec![0xFF].into())) && !puts_off(&What::Datagram(vec![1, 2].into())));
    }
}
