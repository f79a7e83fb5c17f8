//! A connection, whatever carries it: what the game holds, and what the socket's task shares with it.

use super::queue::{Inbox, Outbox};
use super::session::Session;
use super::{Bell, Closed, LINGER, Limits, SendError};
use bytes::Bytes;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Something that has arrived.
#[derive(Clone, Debug)]
pub struct Arrived {
    /// When the last packet before it was read from the socket: its own, or one that came a moment later. With a
    /// WebSocket, when the socket's task got it. The game may ask much later.
    pub at: Instant,
    /// What it is.
    pub what: What,
}

/// A datagram or a message of either kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// May be lost, doubled or out of order.
    Datagram(Bytes),
    /// Comes once and in order, or the connection is closed.
    Message(Bytes),
    /// Comes once, or the connection is closed, but waits for no other and may overtake any.
    Unordered(Bytes),
}

impl What {
    /// Its bytes.
    pub fn bytes(&self) -> &Bytes {
        match self {
            Self::Datagram(bytes) | Self::Message(bytes) | Self::Unordered(bytes) => bytes,
        }
    }
}

/// What carries a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// QUIC: datagrams are datagrams.
    WebTransport,
    /// TLS over TCP: datagrams wait behind whatever was lost before them.
    WebSocket,
}

/// How a connection has fared so far.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Statistics {
    /// The smoothed round trip: QUIC's, or that of the WebSocket's pings once one was answered.
    pub round_trip: Option<Duration>,
    /// Packets that QUIC believes lost. A WebSocket cannot see losses: none.
    pub lost_packets: u64,
    /// Datagrams handed to the carrier.
    pub datagrams_sent: u64,
    /// Datagrams refused with [`SendError::Full`].
    pub datagrams_refused: u64,
    /// Datagrams that arrived.
    pub datagrams_received: u64,
    /// Datagrams that arrived and were dropped because the game did not take them in time.
    pub datagrams_dropped: u64,
    /// Datagrams that reached this machine and got no further because it is too busy, with the few that are just under
    /// way. Always 0 for a WebSocket.
    pub datagrams_overrun: u64,
    /// Messages queued to be sent, ordered or not.
    pub messages_sent: u64,
    /// Messages that arrived, ordered or not.
    pub messages_received: u64,
    /// Datagrams that wait for the game.
    pub incoming_datagrams: usize,
    /// Bytes of messages that wait for the game, with what keeping them costs.
    pub incoming_bytes: usize,
    /// Bytes that wait for the carrier, with what keeping them costs.
    pub outgoing_bytes: usize,
}

/// A connection: both halves. [`split`](Self::split) gives them to different tasks.
///
/// When all parts of a connection are dropped, it closes.
pub struct Connection {
    sender: Sender,
    receiver: Receiver,
}

impl Connection {
    pub(super) fn new(core: Arc<Core>) -> Self {
        let handle = Arc::new(Handle(core));
        Self { sender: Sender { handle: handle.clone() }, receiver: Receiver { handle } }
    }

    /// The half that sends, which may be cloned, and the half that receives.
    pub fn split(self) -> (Sender, Receiver) {
        (self.sender, self.receiver)
    }

    /// See [`Sender::send_datagram`].
    pub fn send_datagram(&self, bytes: &[u8]) -> Result<(), SendError> {
        self.sender.send_datagram(bytes)
    }

    /// See [`Sender::max_datagram`].
    pub fn max_datagram(&self) -> usize {
        self.sender.max_datagram()
    }

    /// See [`Sender::send_message`].
    pub fn send_message(&self, bytes: Vec<u8>) -> Result<(), SendError> {
        self.sender.send_message(bytes)
    }

    /// See [`Sender::send_unordered`].
    pub fn send_unordered(&self, bytes: Vec<u8>) -> Result<(), SendError> {
        self.sender.send_unordered(bytes)
    }

    /// See [`Receiver::receive`].
    pub async fn receive(&mut self) -> Option<Arrived> {
        self.receiver.receive().await
    }

    /// See [`Receiver::try_receive`].
    pub fn try_receive(&mut self) -> Option<Arrived> {
        self.receiver.try_receive()
    }

    /// See [`Sender::close`].
    pub fn close(&self, reason: &str) {
        self.sender.close(reason);
    }

    /// See [`Sender::closed_reason`].
    pub fn closed_reason(&self) -> Option<Closed> {
        self.sender.closed_reason()
    }

    /// See [`Sender::closed`].
    pub async fn closed(&self) -> Closed {
        self.sender.closed().await
    }

    /// See [`Sender::statistics`].
    pub fn statistics(&self) -> Statistics {
        self.sender.statistics()
    }

    /// See [`Sender::path`].
    pub fn path(&self) -> &str {
        self.sender.path()
    }

    /// See [`Sender::remote`].
    pub fn remote(&self) -> SocketAddr {
        self.sender.remote()
    }

    /// See [`Sender::carrier`].
    pub fn carrier(&self) -> Carrier {
        self.sender.carrier()
    }
}

/// The half that sends.
#[derive(Clone)]
pub struct Sender {
    handle: Arc<Handle>,
}

impl Sender {
    fn core(&self) -> &Core {
        &self.handle.0
    }

    /// Sends a datagram now, or not at all: it never waits.
    pub fn send_datagram(&self, bytes: &[u8]) -> Result<(), SendError> {
        let core = self.core();
        if core.ending.over() {
            return Err(SendError::Closed);
        }
        let sent = match &core.wire {
            Wire::WebTransport(wire) => super::webtransport::send_datagram(wire, bytes),
            Wire::WebSocket(_) => super::websocket::send_datagram(&core.outbox, bytes),
        };
        match sent {
            Ok(()) => core.counters.datagrams_sent.fetch_add(1, Ordering::Relaxed),
            Err(SendError::Full) => core.counters.datagrams_refused.fetch_add(1, Ordering::Relaxed),
            Err(_) => 0,
        };
        sent
    }

    /// The longest datagram that may be sent at present: it changes as QUIC learns about the path.
    pub fn max_datagram(&self) -> usize {
        match &self.core().wire {
            Wire::WebTransport(wire) => wire.max_datagram(),
            Wire::WebSocket(_) => super::websocket::MAX_DATAGRAM,
        }
    }

    /// Queues a message. [`SendError::Full`] means that the peer does not keep up.
    pub fn send_message(&self, bytes: Vec<u8>) -> Result<(), SendError> {
        let core = self.core();
        let limit = core.limits.message;
        if core.ending.over() {
            return Err(SendError::Closed);
        }
        if bytes.len() > limit {
            return Err(SendError::TooLarge { limit });
        }
        core.outbox.push(What::Message(bytes.into()))?;
        core.counters.messages_sent.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Queues a message that waits for no other: what is lost of one holds up that one alone. [`SendError::Full`] means
    /// that the peer does not keep up.
    ///
    /// A WebSocket cannot do that: there it is as any other message, but arrives marked as what it is.
    pub fn send_unordered(&self, bytes: Vec<u8>) -> Result<(), SendError> {
        let core = self.core();
        let limit = core.limits.unordered;
        if core.ending.over() {
            return Err(SendError::Closed);
        }
        if bytes.len() > limit {
            return Err(SendError::TooLarge { limit });
        }
        let queue = match &core.wire {
            Wire::WebTransport(_) => &core.unordered,
            Wire::WebSocket(_) => &core.outbox,
        };
        queue.push(What::Unordered(bytes.into()))?;
        core.counters.messages_sent.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Closes once what is queued has left, but after a second at the latest; the peer is told the reason.
    pub fn close(&self, reason: &str) {
        self.core().close(reason);
    }

    /// Why the connection ended, if it has.
    pub fn closed_reason(&self) -> Option<Closed> {
        self.core().ending.reason()
    }

    /// Waits until the connection has ended and the peer, if it can be reached, has been told.
    pub async fn closed(&self) -> Closed {
        self.core().ending.gone().await
    }

    /// How the connection has fared so far.
    pub fn statistics(&self) -> Statistics {
        self.core().statistics()
    }

    /// The path of the URL, with its query, for which the client has asked.
    pub fn path(&self) -> &str {
        &self.core().path
    }

    /// The peer's address. A client that changes networks may keep its connection and change this.
    pub fn remote(&self) -> SocketAddr {
        match &self.core().wire {
            Wire::WebTransport(wire) => wire.quic().remote_address(),
            Wire::WebSocket(socket) => socket.remote,
        }
    }

    /// What carries this connection.
    pub fn carrier(&self) -> Carrier {
        match &self.core().wire {
            Wire::WebTransport(_) => Carrier::WebTransport,
            Wire::WebSocket(_) => Carrier::WebSocket,
        }
    }
}

/// The half that receives. When it is dropped, what arrives is thrown away.
pub struct Receiver {
    handle: Arc<Handle>,
}

impl Receiver {
    /// The next that has arrived; nothing once the connection has ended and all of it was taken.
    ///
    /// Nothing is lost when the future is dropped.
    pub async fn receive(&mut self) -> Option<Arrived> {
        self.handle.0.inbox.take().await
    }

    /// The next, if something waits.
    pub fn try_receive(&mut self) -> Option<Arrived> {
        self.handle.0.inbox.try_take()
    }

    /// Rings a bell under this name, from now on, instead of waking whoever [receives](Self::receive).
    pub(crate) fn ring(&self, bell: Arc<Bell>, name: u64) {
        self.handle.0.inbox.ring(bell, name);
    }

    /// Takes up to so many of what waits; if something is left, the bell rings again. Answers whether the connection has ended and
    /// all of it was taken.
    pub(crate) fn take_some(&self, most: usize, into: &mut Vec<Arrived>) -> bool {
        self.handle.0.inbox.take_some(most, into)
    }

    /// See [`Sender::closed_reason`].
    pub fn closed_reason(&self) -> Option<Closed> {
        self.handle.0.ending.reason()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.handle.0.inbox.abandon();
    }
}

/// Shared by the halves, not by the socket's task: when the last half goes, the connection closes.
struct Handle(Arc<Core>);

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.close("left");
    }
}

/// What the halves share with the socket's task.
pub(super) struct Core {
    pub limits: Limits,
    pub path: String,
    pub inbox: Inbox,
    pub outbox: Outbox,
    /// What each has a stream for itself, if the carrier has such.
    pub unordered: Outbox,
    pub counters: Counters,
    pub ending: Ending,
    pub wire: Wire,
}

/// What is asked of the carrier itself.
pub(super) enum Wire {
    WebTransport(Session),
    WebSocket(SocketFacts),
}

/// What a WebSocket's task knows.
pub(super) struct SocketFacts {
    pub remote: SocketAddr,
    /// Smoothed, in nanoseconds; 0 as long as unknown.
    pub round_trip: AtomicU64,
}

#[derive(Default)]
pub(super) struct Counters {
    pub datagrams_sent: AtomicU64,
    pub datagrams_refused: AtomicU64,
    pub datagrams_received: AtomicU64,
    pub messages_sent: AtomicU64,
    pub messages_received: AtomicU64,
}

impl Core {
    pub fn new(limits: Limits, path: String, wire: Wire) -> Arc<Self> {
        Arc::new(Self {
            limits,
            path,
            inbox: Inbox::new(limits),
            outbox: Outbox::new(limits),
            unordered: Outbox::new(limits),
            counters: Counters::default(),
            ending: Ending::default(),
            wire,
        })
    }

    pub fn close(&self, reason: &str) {
        self.ending.ask(reason);
        self.outbox.close();
        self.unordered.close();
    }

    pub fn datagram(&self, bytes: Bytes) {
        self.counters.datagrams_received.fetch_add(1, Ordering::Relaxed);
        self.inbox.datagram(self.stamp(), bytes);
    }

    pub fn message(&self, what: What) {
        self.counters.messages_received.fetch_add(1, Ordering::Relaxed);
        self.inbox.message(self.stamp(), what);
    }

    fn stamp(&self) -> Instant {
        match &self.wire {
            Wire::WebTransport(wire) => wire.stamp(),
            Wire::WebSocket(_) => Instant::now(),
        }
    }

    /// The reason for which a message of this length ends the connection, if it does.
    pub fn too_long(&self, length: usize) -> Option<String> {
        let limit = self.limits.message;
        (length > limit).then(|| format!("a message of {length} bytes is longer than the limit of {limit}"))
    }

    /// The same for one that waits for no other.
    pub fn too_long_unordered(&self, length: usize) -> Option<String> {
        let limit = self.limits.unordered;
        (length > limit).then(|| format!("an unordered message of {length} bytes is longer than the limit of {limit}"))
    }

    fn statistics(&self) -> Statistics {
        let received = self.counters.datagrams_received.load(Ordering::Relaxed);
        let (round_trip, lost_packets, seen) = match &self.wire {
            Wire::WebTransport(wire) => {
                let quic = wire.quic().stats();
                (Some(quic.path.rtt), quic.path.lost_packets, quic.frame_rx.datagram)
            }
            Wire::WebSocket(socket) => match socket.round_trip.load(Ordering::Relaxed) {
                0 => (None, 0, 0),
                nanoseconds => (Some(Duration::from_nanos(nanoseconds)), 0, 0),
            },
        };
        let depth = self.inbox.depth();
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Statistics {
            round_trip,
            lost_packets,
            datagrams_sent: count(&self.counters.datagrams_sent),
            datagrams_refused: count(&self.counters.datagrams_refused),
            datagrams_received: received,
            datagrams_dropped: depth.dropped,
            datagrams_overrun: seen.saturating_sub(received),
            messages_sent: count(&self.counters.messages_sent),
            messages_received: count(&self.counters.messages_received),
            incoming_datagrams: depth.datagrams,
            incoming_bytes: depth.message_bytes,
            outgoing_bytes: self.outbox.bytes() + self.unordered.bytes(),
        }
    }
}

/// How a connection comes to its end: asked to, over for a reason, gone from the network.
pub(super) struct Ending {
    asked: watch::Sender<Option<String>>,
    over: watch::Sender<Option<Closed>>,
    gone: watch::Sender<bool>,
}

impl Default for Ending {
    fn default() -> Self {
        Self { asked: watch::Sender::new(None), over: watch::Sender::new(None), gone: watch::Sender::new(false) }
    }
}

impl Ending {
    /// Asks the socket's task to close. The first reason stands.
    pub fn ask(&self, reason: &str) {
        self.asked.send_if_modified(|asked| {
            let first = asked.is_none();
            if first {
                *asked = Some(reason.to_owned());
            }
            first
        });
    }

    /// Waits until asked, and says with which reason.
    pub async fn asked(&self) -> String {
        let mut asked = self.asked.subscribe();
        // The sender is `self`, so that it cannot be gone.
        asked.wait_for(Option::is_some).await.ok().and_then(|reason| reason.clone()).unwrap_or_default()
    }

    /// Waits until what was asked has taken too long.
    pub async fn overdue(&self) -> Closed {
        let reason = self.asked().await;
        tokio::time::sleep(LINGER).await;
        Closed::Here(reason)
    }

    /// The connection is over. The first reason stands, and is what this returns.
    pub fn end(&self, closed: Closed) -> Closed {
        let first = closed.clone();
        self.over.send_if_modified(|over| {
            let unset = over.is_none();
            if unset {
                *over = Some(first);
            }
            unset
        });
        self.reason().unwrap_or(closed)
    }

    pub fn over(&self) -> bool {
        self.over.borrow().is_some()
    }

    pub fn reason(&self) -> Option<Closed> {
        self.over.borrow().clone()
    }

    /// The socket's task is done.
    pub fn leave(&self) {
        self.gone.send_replace(true);
    }

    pub async fn gone(&self) -> Closed {
        let _ = self.gone.subscribe().wait_for(|gone| *gone).await;
        self.reason().unwrap_or_else(|| Closed::Broken("no reason is known".into()))
    }
}

/// Held by whoever feeds the inbox: when it is dropped, however that comes about, nothing will come any more.
pub(super) struct Feeding(pub Arc<Core>);

impl Drop for Feeding {
    fn drop(&mut self) {
        self.0.inbox.finish();
    }
}

/// Held by the socket's task: when it is dropped, however that comes about, the connection is gone.
pub(super) struct Living(pub Arc<Core>);

impl Drop for Living {
    fn drop(&mut self) {
        self.0.outbox.close();
        self.0.unordered.close();
        self.0.ending.end(Closed::Broken("the task that carried it was stopped".into()));
        if let Wire::WebTransport(wire) = &self.0.wire {
            // Does nothing if it is closed already, as it should be.
            wire.hang_up("");
        }
        self.0.ending.leave();
    }
}

/// Hands the listener's wish to stop on to a connection.
pub(super) async fn obey(core: &Core, mut shutdown: watch::Receiver<Option<String>>) -> std::convert::Infallible {
    let reason = shutdown.wait_for(Option::is_some).await.ok().and_then(|reason| reason.clone());
    // A listener that was dropped without a word: connections outlive it.
    let Some(reason) = reason else { return std::future::pending().await };
    core.close(&reason);
    std::future::pending().await
}
