//! A server: a [`Hub`] on real sockets.

mod watch;

pub use watch::Watcher;

use crate::hub::{Connection, Hub, HubConfig, Outgoing, What};
use crate::report::{SessionReport, Totals};
use crate::ticking::Ticking;
use crate::transport::{self, Identity, ListenConfig, Listener};
use evenkeel::{ConfigError, Instant};
use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tracing::Span;

/// So much of what arrived waits at most for the hub, over all connections.
const MAX_ARRIVED: usize = 16_384;
/// How long the hub sleeps at most if nothing is due.
const LONGEST_SLEEP: std::time::Duration = std::time::Duration::from_millis(500);
/// So many looks, 5 ms apart, are taken at whether the last words have left.
const LAST_WORDS: u32 = 60;

/// Why a server could not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServerError {
    /// The session is set up wrongly.
    Config(ConfigError),
    /// It cannot listen.
    Transport(transport::Error),
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Transport(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ServerError {}

/// A session's server, running in the background on the runtime it was started on. It stops when it is dropped.
pub struct Server {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    hub: Mutex<Hub>,
    ticking: Ticking,
    /// Somebody did something to the hub that may have to be sent.
    touched: Notify,
    listener: Listener,
    /// Whoever holds both holds the hub first.
    connections: Mutex<Connections>,
    /// For the readers of connections.
    report: mpsc::Sender<(Connection, Report)>,
}

#[derive(Default)]
struct Connections {
    open: HashMap<Connection, Open>,
    /// What those did that are gone.
    past: Totals,
}

struct Open {
    sender: transport::Sender,
    span: Span,
}

impl Shared {
    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hub(&self) -> MutexGuard<'_, Hub> {
        // A panic elsewhere while the hub was held is no reason to stop serving everybody.
        self.hub.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Server {
    /// Starts a server.
    pub async fn start(listen: ListenConfig, session: HubConfig) -> Result<Self, ServerError> {
        let hub = Hub::new(session).map_err(ServerError::Config)?;
        let listener = Listener::bind(listen).await.map_err(ServerError::Transport)?;
        let (report, reports) = mpsc::channel(MAX_ARRIVED);
        let shared = Arc::new(Shared {
            hub: Mutex::new(hub),
            ticking: Ticking::new(None),
            touched: Notify::new(),
            listener,
            connections: Mutex::default(),
            report,
        });
        let task = tokio::spawn(Service { shared: shared.clone(), next: 0, reports }.run());
        Ok(Self { shared, task })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.shared.listener.local_address()
    }

    /// Where it listens for WebSockets, if it does.
    pub fn websocket_address(&self) -> Option<SocketAddr> {
        self.shared.listener.websocket_address()
    }

    /// Shows another certificate from now on. See [`Listener::renew`].
    pub fn renew(&self, identity: &Identity) -> Result<(), transport::Error> {
        self.shared.listener.renew(identity)
    }

    /// How the session is doing. It takes its time, and holds nobody up: of many players not all are looked at at the same instant.
    pub async fn report(&self) -> SessionReport {
        self.shared.session_report().await
    }

    /// Something that can ask for reports without keeping the server alive.
    pub fn watcher(&self) -> Watcher {
        Watcher::new(&self.shared)
    }

    /// Looks at the session, or does something to it. Be brief: nothing is served meanwhile.
    pub fn with<R>(&self, act: impl FnOnce(&mut Hub, Instant) -> R) -> R {
        let answer = act(&mut self.shared.hub(), self.shared.ticking.now());
        self.shared.touched.notify_one();
        answer
    }

    /// Tells everybody why it ends, closes all connections and stops: within about two seconds.
    pub async fn stop(self, why: &str) {
        self.with(|hub, _| hub.end(why));
        for _ in 0..LAST_WORDS {
            // Until all is handed to the connections, which then take the time they need.
            if self.shared.hub().poll_timeout() != Some(Instant::MIN) {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        self.shared.listener.shutdown(why).await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
        // Whatever else holds on to what is shared: connections end with their server.
        self.shared.connections().open.clear();
    }
}

/// What the reader of a connection reports.
enum Report {
    Arrived(transport::Arrived),
    Ended,
}

struct Service {
    shared: Arc<Shared>,
    next: u64,
    reports: mpsc::Receiver<(Connection, Report)>,
}

impl Service {
    async fn run(mut self) {
        let shared = self.shared.clone();
        loop {
            let wake = self.wake();
            tokio::select! {
                accepted = shared.listener.accept() => match accepted {
                    Some(connection) => self.welcome(connection),
                    None => return,
                },
                Some((from, report)) = self.reports.recv() => self.take(from, report),
                () = self.shared.touched.notified() => {}
                () = tokio::time::sleep_until(wake) => {}
            }
            self.flush();
        }
    }

    fn wake(&self) -> tokio::time::Instant {
        let latest = tokio::time::Instant::now() + LONGEST_SLEEP;
        self.shared.hub().poll_timeout().map_or(latest, |due| self.shared.ticking.wake(due).min(latest))
    }

    fn welcome(&mut self, connection: transport::Connection) {
        let name = Connection(self.next);
        self.next += 1;
        let remote = Some(connection.remote());
        let (sender, mut receiver) = connection.split();
        let (host, called) = (tracing::field::Empty, tracing::field::Empty);
        let span = tracing::info_span!("connection", number = name.0, remote = %sender.remote(), host, name = called);
        let entered = span.enter();
        tracing::debug!(carrier = ?sender.carrier(), "connected");
        self.shared.hub().handle_connected(name, remote, self.shared.ticking.now());
        drop(entered);
        self.shared.connections().open.insert(name, Open { sender, span });
        let reports = self.shared.report.clone();
        tokio::spawn(async move {
            while let Some(arrived) = receiver.receive().await {
                if reports.send((name, Report::Arrived(arrived))).await.is_err() {
                    return;
                }
            }
            let _ = reports.send((name, Report::Ended)).await;
        });
    }

    fn take(&mut self, from: Connection, report: Report) {
        let (mut hub, ticking) = (self.shared.hub(), &self.shared.ticking);
        let mut connections = self.shared.connections();
        let span = connections.open.get(&from).map_or_else(Span::none, |open| open.span.clone());
        let _entered = span.enter();
        match report {
            Report::Arrived(transport::Arrived { at, what: transport::What::Datagram(bytes) }) => {
                hub.handle_datagram(from, &bytes, ticking.at(at));
            }
            Report::Arrived(transport::Arrived { at, what: transport::What::Unordered(bytes) }) => {
                hub.handle_unordered(from, &bytes, ticking.at(at));
            }
            Report::Arrived(transport::Arrived { at, what: transport::What::Message(bytes) }) => {
                hub.handle_message(from, &bytes, ticking.at(at));
            }
            Report::Ended => {
                hub.handle_disconnected(from, ticking.now());
                if let Some(open) = connections.open.remove(&from) {
                    tracing::debug!(why = open.sender.closed_reason().map(tracing::field::display), "disconnected");
                    connections.past.add(&open.sender.statistics());
                }
            }
        }
    }

    /// Sends whatever is to be sent. What a connection does not take is its own loss: datagrams are missed, and one that
    /// takes no messages is closed.
    fn flush(&mut self) {
        let ticking = &self.shared.ticking;
        let mut hub = self.shared.hub();
        let connections = self.shared.connections();
        hub.advance(ticking.now());
        while let Some(Outgoing { to, what }) = hub.poll_transmit(ticking.now()) {
            let Some(Open { sender, .. }) = connections.open.get(&to) else { continue };
            match what {
                What::Datagram(bytes) => {
                    let _ = sender.send_datagram(&bytes);
                }
                What::Message(bytes) => {
                    if sender.send_message(bytes).is_err() {
                        sender.close("it does not read what it is sent");
                    }
                }
                What::Unordered(bytes) => {
                    if sender.send_unordered(bytes).is_err() {
                        sender.close("it does not read what it is sent");
                    }
                }
                What::Close(why) => sender.close(&why),
            }
        }
    }
}
