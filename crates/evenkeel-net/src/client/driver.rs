//! What keeps a seat going: a connection to the server, others to peers, and one task that carries bytes between them and the
//! seat.

use super::keeping::{News, Reporter, Way, keep_up};
use super::links::Links;
use super::moving::Trip;
use super::{LinkState, Shared, lock};
use crate::seat::{SeatError, ToSend};
use crate::transport::{self, Arrived, ConnectConfig, Endpoint, Listener, SendError, What};
use evenkeel::HostId;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

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
    /// About the connection to the server, by the way of that number.
    Server(u32, News),
    /// There is a connection to where the server said to go, or there is no way.
    Reached(Result<transport::Connection, String>),
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
    pub(super) shared: Arc<Shared>,
    pub(super) server: Option<transport::Sender>,
    /// The way to the server, and how many there were before.
    pub(super) way: Way,
    number: u32,
    /// Keeps the connection up.
    keeping: AbortHandle,
    pub(super) trip: Trip,
    links: Option<Links>,
    /// What must arrive and does not fit into the connection yet.
    pub(super) held: VecDeque<ToSend>,
    pub(super) report: mpsc::Sender<Report>,
    reports: mpsc::Receiver<Report>,
    /// What makes connections and keeps them up; ends with the driver.
    pub(super) tasks: JoinSet<()>,
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
        let way = Way { endpoint, url, config };
        let keeping = tasks.spawn(keep_up(None, way.clone(), seed, Reporter { number: 0, to: report.clone() }));
        let (server, number, trip, held) = (None, 0, Trip::default(), VecDeque::new());
        Self { shared, server, way, number, keeping, trip, links, held, report, reports, tasks }
    }

    /// Takes another way to the server from now on, by this connection first if there is one. What the one before still has to
    /// say is not heard.
    pub(super) fn take_way(&mut self, way: Way, first: Option<transport::Connection>) {
        self.keeping.abort();
        self.number += 1;
        self.held.clear();
        let seed = self.shared.seat().seed();
        let reporter = Reporter { number: self.number, to: self.report.clone() };
        self.keeping = self.tasks.spawn(keep_up(first, way.clone(), seed, reporter));
        self.way = way;
    }

    pub(super) async fn run(mut self) {
        loop {
            self.travel();
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
        let latest = self.trip.until().map_or(latest, |until| until.min(latest));
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
            Report::Server(number, news) if number == self.number => self.hear(news),
            // The way it is about was given up.
            Report::Server(..) => {}
            Report::Reached(reached) => self.go(reached),
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

    fn hear(&mut self, news: News) {
        let shared = self.shared.clone();
        match news {
            News::Up(sender) => self.connected(sender),
            News::Down(why) if self.trip.is_on() && shared.seat().is_moving() => self.turn_back(&why),
            News::Down(why) => self.disconnected(&why),
            News::Arrived(Arrived { at, what: What::Datagram(bytes) }) => {
                shared.seat().handle_datagram(&bytes, shared.ticking.at(at));
            }
            News::Arrived(Arrived { what: What::Unordered(bytes), .. }) => {
                let _ = shared.seat().handle_unordered(&bytes);
            }
            News::Arrived(Arrived { at, what: What::Message(bytes) }) => {
                let handled = shared.seat().handle_message(&bytes, shared.ticking.at(at));
                self.judge(handled);
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
        let mut seat = self.shared.seat();
        let _ = if self.trip.is_on() { seat.reconnect_there() } else { seat.reconnect() };
    }

    pub(super) fn disconnected(&mut self, why: &str) {
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
