//! A server: a [`Lobby`] of one or more sessions on real sockets.

mod conditions;
mod config;
mod moving;
mod totals;
mod watch;

pub use conditions::ConditionError;
pub use config::ServerConfig;
pub use watch::Watcher;

use crate::background::Background;
use crate::hub::{Connection, Hub, HubConfig, HubEvent, Outgoing, What};
use crate::levels::{Level, LevelError};
use crate::lobby::{AddError, Lobby, LobbyConfig, LobbyCounts};
use crate::protocol::SessionInfo;
use crate::report::SessionReport;
use crate::ticking::Ticking;
use crate::transport::{self, Conditioner, Conditions, Identity, ListenConfig, Listener};
use evenkeel::{ConfigError, HostId, Instant};
use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use totals::Totals;
use tracing::Span;

/// So many connections are listened to at once, at most, before anything is sent, and so much is taken from each: a server that
/// lags behind tells each player more with one datagram, and so catches up.
const AT_ONCE: (usize, usize) = (256, 8);
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
    /// A session cannot be added to the others, or there is none.
    Session(String),
    /// It cannot listen.
    Transport(transport::Error),
    /// There is no thread for it.
    Thread(std::io::Error),
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Session(why) => write!(f, "{why}"),
            Self::Transport(error) => error.fmt(f),
            Self::Thread(error) => write!(f, "the system gives no thread: {error}"),
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

/// A server of one or more sessions, running in the background on the runtime it was started on. It stops when it is dropped;
/// [`stop`](Self::stop) and [`stop_blocking`](Self::stop_blocking) tell everybody why before.
pub struct Server {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
    /// The thread it runs on, if it has one of its own.
    background: Option<Background>,
}

struct Shared {
    lobby: Mutex<Lobby>,
    /// The session that there always is.
    first: String,
    ticking: Ticking,
    /// Somebody did something to a session that may have to be sent.
    touched: Notify,
    listener: Listener,
    conditioner: Option<Conditioner>,
    /// Whoever holds both holds the hub first.
    connections: Mutex<Connections>,
    /// Rung by connections on which something has arrived: it waits there, and is bounded there.
    bell: Arc<transport::Bell>,
}

#[derive(Default)]
struct Connections {
    open: HashMap<Connection, Open>,
    /// What those did that are gone.
    past: Totals,
    /// By the names of players, what their networks are made to be: to them, and from them.
    conditions: HashMap<String, (Conditions, Conditions)>,
}

struct Open {
    sender: transport::Sender,
    receiver: transport::Receiver,
    span: Span,
}

impl Shared {
    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

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
        Self::start_with(ServerConfig { listen, sessions, host_clock: None }).await
    }

    /// The same without a tokio runtime, on a thread of its own.
    pub fn spawn(config: ServerConfig) -> Result<Self, ServerError> {
        let background = Background::start("evenkeel-server").map_err(ServerError::Thread)?;
        let gone = || ServerError::Thread(std::io::Error::other("the thread has ended"));
        let mut server = background.run(Self::start_with(config)).ok_or_else(gone)??;
        server.background = Some(background);
        Ok(server)
    }

    /// Starts with more to say about it.
    pub async fn start_with(config: ServerConfig) -> Result<Self, ServerError> {
        let ServerConfig { listen, sessions, host_clock } = config;
        let none = || ServerError::Session("a server needs at least one session".into());
        let first = sessions.first().ok_or_else(none)?.session.clone();
        let mut lobby = Lobby::new(LobbyConfig::of(&sessions));
        let ticking = Ticking::new(host_clock);
        sessions.into_iter().try_for_each(|session| lobby.add(config::dated(session, ticking.now())))?;
        let conditioner = listen.conditioner.clone();
        let listener = Listener::bind(listen).await.map_err(ServerError::Transport)?;
        let shared = Arc::new(Shared {
            lobby: Mutex::new(lobby),
            first,
            ticking,
            conditioner,
            touched: Notify::new(),
            listener,
            connections: Mutex::default(),
            bell: Arc::default(),
        });
        let service = Service { shared: shared.clone(), next: 0, rung: Vec::new(), taken: Vec::new() };
        let task = tokio::spawn(service.run());
        Ok(Self { shared, task, background: None })
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

    /// How the session, the first if there are several, is doing. It takes its time, and holds nobody up: of many players not all
    /// are looked at at the same instant.
    pub async fn report(&self) -> SessionReport {
        self.shared.session_report(&self.shared.first).await.unwrap_or_default()
    }

    /// Something that can ask for reports without keeping the server alive.
    pub fn watcher(&self) -> Watcher {
        Watcher::new(&self.shared)
    }

    /// The next thing that happened in the session, the first if there are several. Ask often: only so many are kept.
    pub fn poll_event(&self) -> Option<HubEvent> {
        self.with(|hub, _| hub.poll_event())
    }

    /// Sends a message of the game to one player of the session, the first if there are several. See [`Hub::send`].
    pub fn send(&self, to: HostId, level: Level, bytes: Vec<u8>) -> Result<(), LevelError> {
        self.with(|hub, now| hub.send(to, level, bytes, now))
    }

    /// Sends a message of the game to all players of the session, the first if there are several. See [`Hub::broadcast`].
    pub fn broadcast(&self, level: Level, bytes: &[u8]) -> Result<(), LevelError> {
        self.with(|hub, now| hub.broadcast(level, bytes, now))
    }

    /// Looks at the session, the first if there are several, or does something to it. Be brief: nothing is served meanwhile. Whatever
    /// a [`Hub`] can do is had here; do not ask the server itself inside.
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
        Ok(self.with_lobby(|lobby, now| lobby.add(config::dated(session, now)))?)
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

    /// Tells everybody why it ends, closes all connections and stops: within about two seconds.
    pub async fn stop(self, why: &str) {
        self.with_lobby(|lobby, _| lobby.end(why));
        for _ in 0..LAST_WORDS {
            // Until all is handed to the connections, which then take the time they need.
            if self.shared.lobby().poll_timeout() != Some(Instant::MIN) {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        self.shared.listener.shutdown(why).await;
    }

    /// The same without a tokio runtime.
    pub fn stop_blocking(mut self, why: &str) {
        let background = self.background.take().map_or_else(|| Background::start("evenkeel-stop"), Ok);
        // If nobody can wait, it stops as one does that is dropped.
        let Ok(background) = background else { return };
        let why = why.to_owned();
        background.run(async move { self.stop(&why).await });
        background.finish();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
        // Whatever else holds on to what is shared: connections end with their server. Their readers would notice only when
        // something arrives.
        for (_, Open { sender, .. }) in self.shared.connections().open.drain() {
            sender.close("left");
        }
    }
}

struct Service {
    shared: Arc<Shared>,
    next: u64,
    /// Who has rung, and what is being taken in; empty in between.
    rung: Vec<u64>,
    taken: Vec<transport::Arrived>,
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
                // What is there already is taken in before anything is answered.
                () = shared.bell.listen(&mut self.rung, AT_ONCE.0) => self.take_all(),
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
        let (sender, receiver) = connection.split();
        let (host, called) = (tracing::field::Empty, tracing::field::Empty);
        let span = tracing::info_span!("connection", number = name.0, remote = %sender.remote(), host, name = called);
        let entered = span.enter();
        tracing::debug!(carrier = ?sender.carrier(), "connected");
        self.shared.lobby().handle_connected(name, remote, self.shared.ticking.now());
        drop(entered);
        receiver.ring(self.shared.bell.clone(), name.0);
        self.shared.connections().open.insert(name, Open { sender, receiver, span });
    }

    fn take_all(&mut self) {
        let (mut lobby, mut connections) = (self.shared.lobby(), self.shared.connections());
        for from in self.rung.drain(..).map(Connection) {
            let Some(open) = connections.open.get(&from) else { continue };
            let _entered = open.span.clone().entered();
            let ended = open.receiver.take_some(AT_ONCE.1, &mut self.taken);
            for arrived in self.taken.drain(..) {
                self.shared.take(&mut lobby, &connections, from, arrived);
            }
            if ended {
                self.shared.part(&mut lobby, &mut connections, from);
            }
        }
    }

    /// Sends whatever is to be sent. What a connection does not take is its own loss: datagrams are missed, and one that
    /// takes no messages is closed.
    fn flush(&mut self) {
        let ticking = &self.shared.ticking;
        let mut lobby = self.shared.lobby();
        let connections = self.shared.connections();
        lobby.advance(ticking.now());
        while let Some(Outgoing { to, what }) = lobby.poll_transmit(ticking.now()) {
            let Some(Open { sender, .. }) = connections.open.get(&to) else { continue };
            match what {
                What::Datagram(bytes) => {
                    let _ = sender.send_datagram(&bytes);
                }
                What::Message(bytes) => {
                    if matches!(sender.send_message(bytes), Err(transport::SendError::Full)) {
                        sender.close("it does not read what it is sent");
                    }
                }
                What::Unordered(bytes) => {
                    if matches!(sender.send_unordered(bytes), Err(transport::SendError::Full)) {
                        sender.close("it does not read what it is sent");
                    }
                }
                What::Close(why) => sender.close(&why),
            }
        }
    }
}

impl Shared {
    /// Takes in what has arrived on a connection.
    fn take(&self, lobby: &mut Lobby, connections: &Connections, from: Connection, arrived: transport::Arrived) {
        let at = self.ticking.at(arrived.at);
        match arrived.what {
            transport::What::Datagram(bytes) => lobby.handle_datagram(from, &bytes, at),
            transport::What::Unordered(bytes) => lobby.handle_unordered(from, &bytes, at),
            transport::What::Message(bytes) => {
                lobby.handle_message(from, &bytes, at);
                if !connections.conditions.is_empty()
                    && let Some(player) = lobby.player_name(from)
                {
                    self.condition(connections, from, player);
                }
            }
        }
    }

    /// A connection has ended, and all that came before was taken in.
    fn part(&self, lobby: &mut Lobby, connections: &mut Connections, from: Connection) {
        lobby.handle_disconnected(from, self.ticking.now());
        if let Some(open) = connections.open.remove(&from) {
            tracing::debug!(why = open.sender.closed_reason().map(tracing::field::display), "disconnected");
            connections.past.add(&open.sender.statistics());
            if let Some(conditioner) = &self.conditioner {
                conditioner.clear(open.sender.remote());
            }
        }
    }
}
