//! A server: a [`Lobby`] of one or more sessions on real sockets.

use crate::hub::{Connection, Hub, HubConfig, Outgoing, What};
use crate::levels;
use crate::lobby::{AddError, Lobby, LobbyConfig, LobbyCounts};
use crate::protocol::SessionInfo;
use crate::ticking::Ticking;
use crate::transport::{self, ListenConfig, Listener};
use evenkeel::{ConfigError, Instant};
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
    /// A session cannot be added to the others, or there is none.
    Session(String),
    /// It cannot listen.
    Transport(transport::Error),
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Session(why) => write!(f, "{why}"),
            Self::Transport(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ServerError {}

impl From<AddError> for ServerError {
    fn from(error: AddError) -> Self {
        match error {
            AddError::Config(error) => Self::Config(error),
            error => Self::Session(error.to_string()),
        }
    }
}

/// A server of one or more sessions, running in the background on the runtime it was started on. It stops when it is dropped.
pub struct Server {
    shared: Arc<Shared>,
    address: SocketAddr,
    websocket: Option<SocketAddr>,
    task: JoinHandle<()>,
}

struct Shared {
    lobby: Mutex<Lobby>,
    /// The session that there always is.
    first: String,
    ticking: Ticking,
    /// Somebody did something to a session that may have to be sent.
    touched: Notify,
}

impl Shared {
    fn lobby(&self) -> MutexGuard<'_, Lobby> {
        // A panic elsewhere while the lobby was held is no reason to stop serving everybody.
        self.lobby.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Server {
    /// Starts a server of one session.
    pub async fn start(listen: ListenConfig, session: HubConfig) -> Result<Self, ServerError> {
        Self::start_many(listen, vec![session]).await
    }

    /// Starts a server of several sessions: players join one by its name, and [list](crate::list_sessions) them to choose.
    pub async fn start_many(listen: ListenConfig, sessions: Vec<HubConfig>) -> Result<Self, ServerError> {
        let none = || ServerError::Session("a server needs at least one session".into());
        let first = sessions.first().ok_or_else(none)?.session.clone();
        let mut lobby = Lobby::new(LobbyConfig::of(&sessions));
        sessions.into_iter().try_for_each(|session| lobby.add(session))?;
        let listener = Listener::bind(listen).await.map_err(ServerError::Transport)?;
        let (address, websocket) = (listener.local_address(), listener.websocket_address());
        let (lobby, ticking, touched) = (Mutex::new(lobby), Ticking::new(None), Notify::new());
        let shared = Arc::new(Shared { lobby, first, ticking, touched });
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

    /// Looks at the session, the first if there are several, or does something to it. Be brief: nothing is served meanwhile.
    pub fn with<R>(&self, act: impl FnOnce(&mut Hub, Instant) -> R) -> R {
        let Some(answer) = self.with_session(&self.shared.first, act) else {
            unreachable!("the first session is never removed");
        };
        answer
    }

    /// Looks at the session of that name, or does something to it; none if there is none. Be brief: nothing is served meanwhile.
    pub fn with_session<R>(&self, name: &str, act: impl FnOnce(&mut Hub, Instant) -> R) -> Option<R> {
        self.with_lobby(|lobby, now| lobby.hub_mut(name).map(|hub| act(hub, now)))
    }

    /// What there is to know about each session, by name.
    pub fn sessions(&self) -> Vec<SessionInfo> {
        self.shared.lobby().sessions().collect()
    }

    /// What happened so far to those who have not joined any session.
    pub fn lobby_counts(&self) -> LobbyCounts {
        self.shared.lobby().counts()
    }

    /// Adds a session to those there are.
    pub fn add_session(&self, session: HubConfig) -> Result<(), ServerError> {
        Ok(self.with_lobby(|lobby, _| lobby.add(session))?)
    }

    /// Ends a session: everybody in it is told why. Answers whether there was one that could go: the first one stays for as long
    /// as the server does.
    pub fn remove_session(&self, name: &str, why: &str) -> bool {
        name != self.shared.first && self.with_lobby(|lobby, now| lobby.remove(name, why, now))
    }

    fn with_lobby<R>(&self, act: impl FnOnce(&mut Lobby, Instant) -> R) -> R {
        let answer = act(&mut self.shared.lobby(), self.shared.ticking.now());
        self.shared.touched.notify_one();
        answer
    }

    /// Tells everybody why it ends, closes all connections and stops.
    pub async fn stop(self, why: &str) {
        self.with_lobby(|lobby, _| lobby.end(why));
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
        self.shared.lobby().poll_timeout().map_or(latest, |due| self.shared.ticking.wake(due).min(latest))
    }

    fn welcome(&mut self, connection: transport::Connection) {
        let name = Connection(self.next);
        self.next += 1;
        let remote = Some(connection.remote());
        let (sender, mut receiver) = connection.split();
        self.connections.insert(name, sender);
        self.shared.lobby().handle_connected(name, remote, self.shared.ticking.now());
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
        let (mut lobby, ticking) = (self.shared.lobby(), &self.shared.ticking);
        match report {
            Report::Arrived(transport::Arrived { at, what: transport::What::Datagram(bytes) }) => {
                lobby.handle_datagram(from, &bytes, ticking.at(at));
            }
            Report::Arrived(transport::Arrived { at, what: transport::What::Message(bytes) })
                if levels::is_unordered(&bytes) =>
            {
                lobby.handle_unordered(from, &bytes, ticking.at(at));
            }
            Report::Arrived(transport::Arrived { at, what: transport::What::Message(bytes) }) => {
                lobby.handle_message(from, &bytes, ticking.at(at));
            }
            Report::Ended => {
                lobby.handle_disconnected(from, ticking.now());
                self.connections.remove(&from);
            }
        }
    }

    /// Sends whatever is to be sent. What a connection does not take is its own loss: datagrams are missed, and one that
    /// takes no messages is closed.
    fn flush(&mut self) {
        let ticking = &self.shared.ticking;
        let mut lobby = self.shared.lobby();
        lobby.advance(ticking.now());
        while let Some(Outgoing { to, what }) = lobby.poll_transmit(ticking.now()) {
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
