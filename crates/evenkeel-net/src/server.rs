//! A server: a [`Hub`] on real sockets.

use crate::hub::{Connection, Hub, HubConfig, Outgoing, What};
use crate::levels;
use crate::ticking::Ticking;
use crate::transport::{self, ListenConfig, Listener};
use evenkeel::{ConfigError, Instant};
use evenkeel_link::HostClock;
use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

/// So much of what arrived waits at most for the hub, over all connections.
const MAX_ARRIVED: usize = 16_384;
/// How long the hub sleeps at most if nothing is due.
const LONGEST_SLEEP: std::time::Duration = std::time::Duration::from_millis(500);

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
    address: SocketAddr,
    websocket: Option<SocketAddr>,
    task: JoinHandle<()>,
}

struct Shared {
    hub: Mutex<Hub>,
    ticking: Ticking,
    /// Somebody did something to the hub that may have to be sent.
    touched: Notify,
}

impl Shared {
    fn hub(&self) -> MutexGuard<'_, Hub> {
        // A panic elsewhere while the hub was held is no reason to stop serving everybody.
        self.hub.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Server {
    /// Starts a server.
    pub async fn start(listen: ListenConfig, session: HubConfig) -> Result<Self, ServerError> {
        Self::start_with(listen, session, None).await
    }

    /// The same with a clock that is wrong on purpose, for testing.
    pub async fn start_with(
        listen: ListenConfig,
        session: HubConfig,
        host_clock: Option<HostClock>,
    ) -> Result<Self, ServerError> {
        let hub = Hub::new(session).map_err(ServerError::Config)?;
        let listener = Listener::bind(listen).await.map_err(ServerError::Transport)?;
        let (address, websocket) = (listener.local_address(), listener.websocket_address());
        let shared = Arc::new(Shared { hub: Mutex::new(hub), ticking: Ticking::new(host_clock), touched: Notify::new() });
        let task = tokio::spawn(Service::new(shared.clone()).run(listener));
        Ok(Self { shared, address, websocket, task })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it listens for WebSockets, if it does.
    pub fn websocket_address(&self) -> Option<SocketAddr> {
        self.websocket
    }

    /// Looks at the session, or does something to it. Be brief: nothing is served meanwhile.
    pub fn with<R>(&self, act: impl FnOnce(&mut Hub, Instant) -> R) -> R {
        let answer = act(&mut self.shared.hub(), self.shared.ticking.now());
        self.shared.touched.notify_one();
        answer
    }

    /// Tells everybody why it ends, closes all connections and stops.
    pub async fn stop(self, why: &str) {
        self.with(|hub, _| hub.end(why));
        // Long enough for the last words to leave.
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        self.task.abort();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What the reader of a connection reports.
enum Report {
    Arrived(transport::Arrived),
    Ended,
}

struct Service {
    shared: Arc<Shared>,
    connections: HashMap<Connection, transport::Sender>,
    next: u64,
    /// For the readers of connections.
    report: mpsc::Sender<(Connection, Report)>,
    reports: mpsc::Receiver<(Connection, Report)>,
}

impl Service {
    fn new(shared: Arc<Shared>) -> Self {
        let (report, reports) = mpsc::channel(MAX_ARRIVED);
        Self { shared, connections: HashMap::new(), next: 0, report, reports }
    }

    async fn run(mut self, listener: Listener) {
        loop {
            let wake = self.wake();
            tokio::select! {
                accepted = listener.accept() => match accepted {
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
        self.connections.insert(name, sender);
        self.shared.hub().handle_connected(name, remote, self.shared.ticking.now());
        let reports = self.report.clone();
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
        match report {
            Report::Arrived(transport::Arrived { at, what: transport::What::Datagram(bytes) }) => {
                hub.handle_datagram(from, &bytes, ticking.at(at));
            }
            Report::Arrived(transport::Arrived { at, what: transport::What::Unordered(bytes) }) => {
                hub.handle_unordered(from, &bytes, ticking.at(at));
            }
            Report::Arrived(transport::Arrived { at, what: transport::What::Message(bytes) })
                if levels::is_unordered(&bytes) =>
            {
                hub.handle_unordered(from, &bytes, ticking.at(at));
            }
            Report::Arrived(transport::Arrived { at, what: transport::What::Message(bytes) }) => {
                hub.handle_message(from, &bytes, ticking.at(at));
            }
            Report::Ended => {
                hub.handle_disconnected(from, ticking.now());
                self.connections.remove(&from);
            }
        }
    }

    /// Sends whatever is to be sent. What a connection does not take is its own loss: datagrams are missed, and one that
    /// takes no messages is closed.
    fn flush(&mut self) {
        let ticking = &self.shared.ticking;
        let mut hub = self.shared.hub();
        hub.advance(ticking.now());
        while let Some(Outgoing { to, what }) = hub.poll_transmit(ticking.now()) {
            let Some(sender) = self.connections.get(&to) else { continue };
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
                    if send_unordered(sender, bytes).is_err() {
                        sender.close("it does not read what it is sent");
                    }
                }
                What::Close(why) => sender.close(&why),
            }
        }
    }
}

/// Sends what need not be in order. So far it is: the transport has one stream, and such messages tell by their second byte.
fn send_unordered(sender: &transport::Sender, bytes: Vec<u8>) -> Result<(), transport::SendError> {
    sender.send_message(bytes)
}
