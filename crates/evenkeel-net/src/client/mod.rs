//! A client: a [`Seat`] on real sockets, for programs and for game loops.

mod driver;
mod frame;
mod keeping;
mod links;
mod moving;
mod peer;

pub use frame::Frame;
pub use peer::{Peer, PeerConfig};

use crate::background::Background;
use crate::levels::{Level, Party};
use crate::seat::{Seat, SeatConfig, SeatError, SeatEvent};
use crate::ticking::Ticking;
use crate::transport::{self, ConnectConfig, Trust};
use driver::{Dialler, Driver};
use evenkeel::{EntityConfig, EntityId, GlobalTime, HostId, Instant, PlaceError, Placement, Pose};
pub use evenkeel_link::HostClock;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// How a [`Client`] is set up. Start from [`ClientConfig::new`] and change what matters.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// Where the server is: `https://host:port/`, or `wss://host:port/` where UDP is blocked.
    pub url: String,
    /// Whom to believe, and more about connecting.
    pub connect: ConnectConfig,
    /// Who joins what.
    pub seat: SeatConfig,
    /// A clock that is wrong on purpose, for testing. Default: this host's own.
    pub host_clock: Option<HostClock>,
}

impl ClientConfig {
    /// A player at a server that it trusts so far.
    pub fn new(url: &str, trust: Trust, seat: SeatConfig) -> Self {
        Self { url: url.to_owned(), connect: ConnectConfig::new(trust), seat, host_clock: None }
    }
}

/// Why a client could not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// What it is to say to the server cannot be said.
    Seat(SeatError),
    /// The URL is none, whom to trust cannot be read, or it cannot listen for peers.
    Transport(transport::Error),
    /// There is no thread for it.
    Thread(std::io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seat(error) => error.fmt(f),
            Self::Transport(error) => error.fmt(f),
            Self::Thread(error) => write!(f, "the system gives no thread: {error}"),
        }
    }
}

impl std::error::Error for StartError {}

/// A player's part in a session, kept up in the background: it connects, connects again when the connection is lost, and sends
/// and receives by itself. No method waits: call them from a game loop as well as from a task.
///
/// [`start`](Self::start) it within a tokio runtime, or [`spawn`](Self::spawn) it without one. It says farewell when it is dropped,
/// in the background: [`leave`](Self::leave) and [`leave_blocking`](Self::leave_blocking) wait for that, which a program about to
/// end should. While nothing happens, [`trouble`](Self::trouble) says why. Inside [`with`](Self::with), use the seat and not the client.
pub struct Client {
    shared: Arc<Shared>,
    /// The thread it runs on, if it has one of its own.
    background: Option<Background>,
}

pub(crate) struct Shared {
    seat: Mutex<Seat>,
    ticking: Ticking,
    /// The game did something that may have to be sent.
    touched: Notify,
    /// What the connection does at present, and why the last one ended.
    link: Mutex<LinkState>,
    /// How the connection fares, if there is one.
    sender: Mutex<Option<transport::Sender>>,
    /// Whether it is to end once all is said.
    leaving: AtomicBool,
}

/// What the connection does.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkState {
    /// It is being made.
    Connecting {
        /// Why the last attempt failed, or the last connection ended.
        after: Option<String>,
    },
    /// It is there.
    Connected,
    /// The server does not want this player: there will be no other connection.
    Over {
        /// Why.
        why: String,
    },
}

/// A panic elsewhere while it was held is no reason to stop.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn seat(&self) -> MutexGuard<'_, Seat> {
        lock(&self.seat)
    }
}

impl Client {
    /// Asks to join the session at a URL, `https://host:port/`, in the background. [`is_ready`](Self::is_ready) says when one is
    /// in; [`poll_event`](Self::poll_event) says so too, or why the server does not want it; [`trouble`](Self::trouble) says why it
    /// cannot be reached. Must be called within a tokio runtime. What can never work, such as a URL that is none, is an error.
    pub fn start(url: &str, trust: Trust, seat: SeatConfig) -> Result<Self, StartError> {
        Self::start_with(ClientConfig::new(url, trust, seat))
    }

    /// Starts with more to say about it. Must be called within a tokio runtime.
    pub fn start_with(config: ClientConfig) -> Result<Self, StartError> {
        Self::drive(config, Dialler::Alone)
    }

    /// The same without a tokio runtime, on a thread of its own: for game loops.
    ///
    /// ```
    /// use evenkeel_net::seat::SeatConfig;
    /// use evenkeel_net::transport::Trust;
    /// use evenkeel_net::{Client, ClientConfig};
    /// let config = ClientConfig::new("https://127.0.0.1:4433/", Trust::Hashes(vec![[0; 32]]), SeatConfig::named("Ada"));
    /// let client = Client::spawn(config)?;
    /// // Once per frame:
    /// let frame = client.frame();
    /// assert!(frame.time.is_none() && frame.placed.is_empty(), "nobody is there");
    /// # Ok::<(), evenkeel_net::StartError>(())
    /// ```
    pub fn spawn(config: ClientConfig) -> Result<Self, StartError> {
        let background = Background::start("evenkeel-client").map_err(StartError::Thread)?;
        let started = background.run(async move { Self::start_with(config) });
        let gone = || StartError::Thread(std::io::Error::other("the thread has ended"));
        let client = started.ok_or_else(gone)??;
        Ok(client.on(background))
    }

    fn on(mut self, background: Background) -> Self {
        self.background = Some(background);
        self
    }

    fn drive(config: ClientConfig, dialler: Dialler) -> Result<Self, StartError> {
        transport::check(&config.url, &config.connect).map_err(StartError::Transport)?;
        let seat = SeatConfig { secret: crate::secret(config.seat.secret), ..config.seat };
        let seat = Seat::new(seat).map_err(|error| StartError::Seat(SeatError::Message(error)))?;
        let shared = Arc::new(Shared {
            seat: Mutex::new(seat),
            ticking: Ticking::new(config.host_clock),
            touched: Notify::new(),
            link: Mutex::new(LinkState::Connecting { after: None }),
            sender: Mutex::new(None),
            leaving: AtomicBool::new(false),
        });
        let driver = Driver::new(shared.clone(), dialler, config.url, config.connect);
        tokio::spawn(driver.run());
        Ok(Self { shared, background: None })
    }

    /// What the connection does at present.
    pub fn link(&self) -> LinkState {
        lock(&self.shared.link).clone()
    }

    /// Why there is no connection, in a line that says what to do about it: for showing to the player. None while there is one,
    /// and while the first attempt is young. It is tried again all the same, unless [`link`](Self::link) says that it is over.
    pub fn trouble(&self) -> Option<String> {
        match self.link() {
            LinkState::Connecting { after } => after,
            LinkState::Connected => None,
            LinkState::Over { why } => Some(why),
        }
    }

    /// How the connection fares, if there is one.
    pub fn statistics(&self) -> Option<transport::Statistics> {
        lock(&self.shared.sender).as_ref().map(transport::Sender::statistics)
    }

    /// Looks at the seat, or does something to it, with this host's time.
    pub fn with<R>(&self, act: impl FnOnce(&mut Seat, Instant) -> R) -> R {
        let answer = act(&mut self.shared.seat(), self.shared.ticking.now());
        self.shared.touched.notify_one();
        answer
    }

    /// Whether one is in and knows the time.
    pub fn is_ready(&self) -> bool {
        self.shared.seat().is_ready()
    }

    /// The player's number, once it has one.
    pub fn you(&self) -> Option<HostId> {
        self.shared.seat().you()
    }

    /// The session's time, once it is known.
    pub fn now(&self) -> Option<GlobalTime> {
        self.shared.seat().now(self.shared.ticking.now())
    }

    /// Makes an entity of one's own. See [`Seat::make`].
    pub fn make(&self, config: impl Into<EntityConfig>, about: Vec<u8>) -> Result<EntityId, SeatError> {
        self.with(|seat, now| seat.make(config, about, now))
    }

    /// Tells where an entity of one's own really is: call it every tick.
    pub fn observe(&self, entity: EntityId, pose: Pose) -> Result<(), SeatError> {
        self.with(|seat, now| seat.observe(entity, pose, now))
    }

    /// Takes an entity of one's own away.
    pub fn unmake(&self, entity: EntityId) -> Result<(), SeatError> {
        self.with(|seat, now| seat.unmake(entity, now))
    }

    /// Gives an entity of one's own to another player. See [`Seat::give`].
    pub fn give(&self, entity: EntityId, to: HostId) -> Result<(), SeatError> {
        self.with(|seat, now| seat.give(entity, to, now))
    }

    /// Takes what was given. See [`Seat::adopt`].
    pub fn adopt(&self, entity: EntityId, config: impl Into<EntityConfig>) -> Result<(), SeatError> {
        self.with(|seat, now| seat.adopt(entity, config, now))
    }

    /// Where to show an entity of somebody else's: call it every frame.
    pub fn place(&self, entity: EntityId) -> Result<Placement, PlaceError> {
        self.shared.seat().place(entity, self.shared.ticking.now())
    }

    /// Sends a message of the game. See [`Seat::send`].
    pub fn send(&self, to: impl Into<Party>, level: Level, bytes: Vec<u8>) -> Result<(), SeatError> {
        self.with(|seat, now| seat.send(to, level, bytes, now))
    }

    /// The next thing the game may want to know.
    pub fn poll_event(&self) -> Option<SeatEvent> {
        self.shared.seat().poll_event()
    }

    /// Says farewell and stops.
    pub async fn leave(self) {
        let _ = self.with(|seat, _| seat.leave());
        // Long enough for the farewell to be on its way.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }

    /// The same without a tokio runtime, for clients that were [spawned](Self::spawn): waits until the farewell is said, for
    /// about a second at most.
    pub fn leave_blocking(mut self) {
        let background = self.background.take();
        drop(self);
        if let Some(background) = background {
            background.finish();
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.with(|seat, _| seat.leave());
        self.shared.leaving.store(true, Ordering::Relaxed);
        self.shared.touched.notify_one();
    }
}
