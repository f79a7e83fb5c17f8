//! A client: a [`Seat`] on real sockets, for programs and for game loops.

use crate::seat::{Seat, SeatConfig, SeatError, SeatEvent, ToSend};
use crate::ticking::Ticking;
use crate::transport::{self, Trust, connect};
use evenkeel::{EntityConfig, EntityId, GlobalTime, HostId, Instant, PlaceError, Placement, Pose};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// How long to wait before connecting again: at first, and at most.
const PATIENCE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(3));
/// How long it sleeps at most if nothing is due.
const LONGEST_SLEEP: Duration = Duration::from_millis(500);

/// A player's part in a session, kept up in the background on the runtime it was started on: it connects, connects again when the
/// connection is lost, and sends and receives by itself. No method waits: call them from a game loop as well as from a task.
///
/// It leaves when it is dropped.
pub struct Client {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    seat: Mutex<Seat>,
    ticking: Ticking,
    /// The game did something that may have to be sent.
    touched: Notify,
    /// What the connection does at present, and why the last one ended.
    link: Mutex<LinkState>,
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

impl Shared {
    fn seat(&self) -> MutexGuard<'_, Seat> {
        self.seat.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_link(&self, state: LinkState) {
        *self.link.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

impl Client {
    /// Asks to join the session at a URL, `https://host:port/`, in the background. [`is_ready`](Self::is_ready) says when one is
    /// in; [`poll_event`](Self::poll_event) says so too, or why not.
    pub fn start(url: &str, trust: Trust, config: SeatConfig) -> Result<Self, SeatError> {
        let seat = Seat::new(config).map_err(SeatError::Message)?;
        let shared = Arc::new(Shared {
            seat: Mutex::new(seat),
            ticking: Ticking::new(),
            touched: Notify::new(),
            link: Mutex::new(LinkState::Connecting { after: None }),
        });
        let task = tokio::spawn(keep_up(shared.clone(), url.to_owned(), trust));
        Ok(Self { shared, task })
    }

    /// What the connection does at present.
    pub fn link(&self) -> LinkState {
        self.shared.link.lock().unwrap_or_else(PoisonError::into_inner).clone()
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

    /// Where to show an entity of somebody else's: call it every frame.
    pub fn place(&self, entity: EntityId) -> Result<Placement, PlaceError> {
        self.shared.seat().place(entity, self.shared.ticking.now())
    }

    /// Sends a message of the game. See [`Seat::send`].
    pub fn send(&self, to: Option<HostId>, bytes: Vec<u8>) -> Result<(), SeatError> {
        self.with(|seat, _| seat.send(to, bytes))
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
}

impl Drop for Client {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Connects, and connects again.
async fn keep_up(shared: Arc<Shared>, url: String, trust: Trust) {
    let mut wait = PATIENCE.0;
    let mut before = false;
    loop {
        match connect(&url, trust.clone()).await {
            Ok(connection) => {
                shared.set_link(LinkState::Connected);
                if before && shared.seat().reconnect().is_err() {
                    return;
                }
                (before, wait) = (true, PATIENCE.0);
                let why = carry(&shared, connection).await;
                shared.seat().handle_lost(&why);
                if shared.seat().is_refused() {
                    return shared.set_link(LinkState::Over { why });
                }
                shared.set_link(LinkState::Connecting { after: Some(why) });
            }
            Err(error) => shared.set_link(LinkState::Connecting { after: Some(error.to_string()) }),
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(PATIENCE.1);
    }
}

/// Carries bytes between the seat and a connection until that ends. Answers why it did.
async fn carry(shared: &Shared, mut connection: transport::Connection) -> String {
    loop {
        flush(shared, &connection);
        let wake = wake(shared);
        tokio::select! {
            arrived = connection.receive() => match arrived {
                Some(arrived) => take(shared, arrived),
                None => break,
            },
            () = shared.touched.notified() => {}
            () = tokio::time::sleep_until(wake) => {}
        }
    }
    connection.closed_reason().map_or_else(|| "the connection ended".into(), |closed| closed.to_string())
}

fn wake(shared: &Shared) -> tokio::time::Instant {
    let latest = tokio::time::Instant::now() + LONGEST_SLEEP;
    shared.seat().poll_timeout().map_or(latest, |due| shared.ticking.wake(due).min(latest))
}

fn take(shared: &Shared, arrived: transport::Arrived) {
    let at = shared.ticking.at(arrived.at);
    let mut seat = shared.seat();
    match arrived.what {
        transport::What::Datagram(bytes) => seat.handle_datagram(&bytes, at),
        // A server that says what cannot be read is of another version: what it says is left out.
        transport::What::Message(bytes) | transport::What::Unordered(bytes) => drop(seat.handle_message(&bytes, at)),
    }
}

fn flush(shared: &Shared, connection: &transport::Connection) {
    let mut seat = shared.seat();
    while let Some(out) = seat.poll_transmit(shared.ticking.now()) {
        let _ = match out {
            ToSend::Datagram(bytes) => connection.send_datagram(&bytes),
            ToSend::Message(bytes) => connection.send_message(bytes),
        };
    }
}
