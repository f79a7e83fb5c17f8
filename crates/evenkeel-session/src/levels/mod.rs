//! The game's own messages, at five levels of service between two hosts on one connection.
//!
//! | level | arrives | in order | carried by |
//! |---|---|---|---|
//! | [`Ordered`](Level::Ordered) | surely | yes, with everything else that is ordered | the transport's stream |
//! | [`Unordered`](Level::Unordered) | surely | no: a lost one delays no other | streams of their own |
//! | [`Unreliable`](Level::Unreliable) | perhaps, perhaps twice | no | a datagram |
//! | [`Newest`](Level::Newest) | perhaps | what is older than what was handed out is dropped, per channel | a datagram |
//! | [`Quickest`](Level::Quickest) | surely, once | as they arrive | datagrams, again and again until acknowledged |
//!
//! These are the five levels of the thesis's library. Its remote procedure calls and its partial state are left to the
//! application's own messages: a call is an `Ordered` message with a number in it, partial state a channel of `Newest` for each
//! part.
//!
//! [`Levels`] is one end of a connection, without sockets: bytes and time go in, bytes come out. It does not know whose end it is.
//! A message travels in an [`Envelope`]: on its way to the server that says to whom it goes, on its way from the server where it
//! comes from. The server hands out what a player sent and sends it anew, at the same level, to whoever it is for.
//!
//! What must arrive (`Ordered`, `Unordered` and `Quickest`) outlasts the connection: it is kept until the other end has acknowledged
//! it, and [`begin_again`](Levels::begin_again) sends it again by another connection; what comes twice is handed out once. Another host
//! can go on where this one was: [`Levels::state`].
//!
//! ```
//! use evenkeel::{HostId, Instant};
//! use evenkeel_session::levels::{Envelope, Level, LevelError, LevelLimits, Levels, Outgoing};
//!
//! let now = Instant::from_millis(0);
//! let [mut player, mut server] = [(); 2].map(|()| Levels::new(LevelLimits::default()));
//! player.send(Level::Quickest, Envelope::to(HostId(2), b"fire!".to_vec()), now)?;
//! while let Some(out) = player.poll_transmit(now) {
//!     let Outgoing::Datagram(bytes) = out else { unreachable!("quickest travels in datagrams") };
//!     server.handle_datagram(&bytes, now)?;
//!     server.handle_datagram(&bytes, now)?; // what comes twice is handed out once
//! }
//! assert_eq!(server.poll_message(), Some((Level::Quickest, Envelope::to(HostId(2), b"fire!".to_vec()))));
//! assert_eq!(server.poll_message(), None);
//! # Ok::<(), LevelError>(())
//! ```
//!
//! # How quick the quickest is
//!
//! A `Quickest` message goes along with every other datagram, and alone every quarter of a round trip if there is no other. So
//! a loss costs the time until the next datagram, not the time until somebody notices. With 50 ms one way and 30 % loss, 20,000
//! messages took, in milliseconds:
//!
//! | | median | 99 % | 99.9 % | times sent |
//! |---|---|---|---|---|
//! | `Quickest`, beside 20 other datagrams a second | 51 | 133 | 180 | 5.5 |
//! | `Quickest`, alone | 51 | 159 | 247 | 5.0 |
//! | in order, each loss repaired after 150 ms | 50 | 500 | 850 | 1.4 |
//!
//! The last is a plain reliable stream that always knows after one and a half round trips that something was lost, and is never more
//! patient than that. The price is in the last column: without any loss a message is sent 4.9 times too, since an acknowledgement
//! takes a round trip. `cargo test -p evenkeel-net --test levels how_quick -- --nocapture` prints the figures.
//!
//! # On the wire
//!
//! Everything begins with [`APPLICATION`] and the level's number: 0 ordered, 1 unordered, 2 unreliable, 3 newest, 4 quickest.
//! Numbers are little-endian; a *varint* has seven bits to the byte, lowest first, and no superfluous bytes. A *party* is a
//! varint: 0 for everybody, a host's number plus 1 otherwise.
//!
//! | level | what follows |
//! |---|---|
//! | 0, 1 | number: 4 bytes, one count for both levels; party; the message until the end |
//! | 2 | party; the message until the end |
//! | 3 | channel: 1 byte; sequence number: 4 bytes, one count for all channels; party; the message until the end |
//! | 4 | acknowledgement; messages until the end, if any |
//! | 5 | of levels 0 and 1, the number of the first message that has not arrived: 4 bytes; it travels in order |
//!
//! An *acknowledgement* is the number of the first message that has not arrived (4 bytes), a count of bytes (1 byte, at most 8) and
//! so many bytes of bits for the messages after that one, lowest first, the last byte not zero. The *messages* begin with the number
//! of the oldest that is not acknowledged (4 bytes); then, for each: its distance from that (1 byte, below 64), party, length as a
//! varint, and so many bytes.

mod arrivals;
mod error;
mod heard;
mod kept;
mod limits;
mod message;
mod newest;
mod queue;
mod repeating;
mod state;
mod wire;

pub use error::LevelError;
pub use limits::LevelLimits;
pub use message::{Channel, Envelope, Level, Party};
pub use state::LevelsState;

use crate::protocol::APPLICATION;
use arrivals::Arrivals;
use evenkeel::{Duration, Instant};
use heard::Heard;
use kept::Kept;
use newest::Newest;
use queue::Queue;
use repeating::Repeating;
use wire::{Parsed, Quick};

/// So many `Quickest` messages are on their way at most, counted from the oldest that is not acknowledged.
pub const QUICKEST_WINDOW: usize = 64;

/// So many `Ordered` and `Unordered` messages are on their way at most, counted from the oldest that is not acknowledged.
pub const RELIABLE_WINDOW: usize = 4_096;

/// Something to be sent to the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outgoing {
    /// Surely, and in order with the others: for [`Levels::handle_ordered`].
    Ordered(Vec<u8>),
    /// Surely, and without waiting for others: for [`Levels::handle_unordered`].
    Unordered(Vec<u8>),
    /// At once, or not at all: for [`Levels::handle_datagram`].
    Datagram(Vec<u8>),
}

/// What happened so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LevelCounts {
    /// Messages that were taken to be sent.
    pub sent: u64,
    /// Messages that were handed out, or wait to be.
    pub received: u64,
    /// How often a `Quickest` message was sent again.
    pub repeated: u64,
    /// `Newest` messages that were dropped because something newer had come.
    pub old: u64,
    /// Messages that must arrive, and came again.
    pub duplicates: u64,
    /// `Unreliable` and `Newest` messages that were dropped because the game did not ask for them in time.
    pub crowded_out: u64,
}

/// One end of a connection, for the game's own messages. See the [module](self).
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    limits: LevelLimits,
    /// `Ordered` and `Unordered` messages.
    kept: Kept,
    heard: Heard,
    /// Datagrams.
    outgoing: Queue<Outgoing>,
    incoming: Queue<(Level, Envelope)>,
    newest: Newest,
    repeating: Repeating,
    arrivals: Arrivals,
    counts: LevelCounts,
    /// A datagram was sent, and nothing went along with it so far.
    sent_one: bool,
}

impl Levels {
    /// One end of a new connection.
    pub fn new(mut limits: LevelLimits) -> Self {
        limits.max_datagram = limits.max_datagram.max(64);
        Self {
            limits,
            kept: Kept::new(limits.queued_bytes),
            heard: Heard::default(),
            outgoing: Queue::new(limits.queued_bytes),
            incoming: Queue::new(limits.queued_bytes),
            newest: Newest::new(limits.newest_streams),
            repeating: Repeating::new(limits.quickest_bytes),
            arrivals: Arrivals::default(),
            counts: LevelCounts::default(),
            sent_one: false,
        }
    }

    /// How much it sends and holds.
    pub fn limits(&self) -> LevelLimits {
        self.limits
    }

    /// What happened so far.
    pub fn counts(&self) -> LevelCounts {
        self.counts
    }

    /// `Quickest` messages that are not acknowledged.
    pub fn unacknowledged(&self) -> usize {
        self.repeating.len()
    }

    /// The round trip as it is believed to be: as it was set, or else as acknowledgements tell.
    pub fn round_trip(&self) -> Duration {
        self.repeating.round_trip()
    }

    /// Bytes that it holds at present, for what is of changing size.
    pub fn memory_bytes(&self) -> usize {
        let queues = self.kept.cost() + self.outgoing.cost() + self.incoming.cost();
        queues + self.heard.memory_bytes() + self.newest.memory_bytes() + self.repeating.memory_bytes()
    }

    /// The round trip, from somebody who knows: how often `Quickest` messages go alone depends on it.
    pub fn set_round_trip(&mut self, round_trip: Duration) {
        self.repeating.set_round_trip(round_trip);
    }

    /// Sends a message. An error changes nothing.
    pub fn send(&mut self, level: Level, envelope: Envelope, now: Instant) -> Result<(), LevelError> {
        let longest = self.limits.longest(level);
        if envelope.bytes.len() > longest {
            return Err(LevelError::TooLong { length: envelope.bytes.len(), longest });
        }
        if level == Level::Quickest {
            self.repeating.push(envelope, now)?;
        } else {
            self.post(level, &envelope)?;
        }
        self.counts.sent += 1;
        Ok(())
    }

    fn post(&mut self, level: Level, envelope: &Envelope) -> Result<(), LevelError> {
        let reliable = |kept: &Kept| wire::emit(level, kept.upcoming(), envelope);
        match level {
            Level::Ordered => return self.kept.push(Outgoing::Ordered(reliable(&self.kept))),
            Level::Unordered => return self.kept.push(Outgoing::Unordered(reliable(&self.kept))),
            _ => {}
        }
        let bytes = wire::emit(level, self.newest.upcoming(), envelope);
        let length = bytes.len();
        self.outgoing.push(Outgoing::Datagram(bytes), length).map_err(|_| LevelError::Full)?;
        if matches!(level, Level::Newest(_)) {
            self.newest.count();
        }
        Ok(())
    }

    /// What the other end sent as [`Outgoing::Ordered`] arrived. An error changes nothing.
    pub fn handle_ordered(&mut self, bytes: &[u8]) -> Result<(), LevelError> {
        self.handle_reliable(Level::Ordered, bytes)
    }

    /// What the other end sent as [`Outgoing::Unordered`] arrived. An error changes nothing.
    pub fn handle_unordered(&mut self, bytes: &[u8]) -> Result<(), LevelError> {
        self.handle_reliable(Level::Unordered, bytes)
    }

    fn handle_reliable(&mut self, expected: Level, bytes: &[u8]) -> Result<(), LevelError> {
        match wire::parse(bytes)? {
            Parsed::Reliable(level, number, envelope) if level == expected => {
                self.take_reliable(level, number, envelope)
            }
            Parsed::Heard(number) if expected == Level::Ordered => self.kept.acknowledge(number),
            _ => Err(LevelError::Malformed),
        }
    }

    fn take_reliable(&mut self, level: Level, number: u32, envelope: Envelope) -> Result<(), LevelError> {
        let (length, longest) = (envelope.bytes.len(), self.limits.max_message);
        if length > longest {
            return Err(LevelError::TooLong { length, longest });
        }
        if !self.heard.is_new(number)? {
            self.counts.duplicates += 1;
            self.heard.owe(0);
            return Ok(());
        }
        if !self.take(level, envelope) {
            return Err(LevelError::Full);
        }
        self.heard.note(number, length);
        Ok(())
    }

    /// Another connection takes the place of one that was lost: what is not acknowledged goes again, and is handed out once.
    pub fn begin_again(&mut self, now: Instant) {
        self.outgoing.clear();
        self.sent_one = false;
        self.kept.begin_again();
        self.heard.begin_again();
        self.repeating.begin_again(now);
        self.arrivals.begin_again();
    }

    /// A datagram arrived that begins with [`APPLICATION`]. An error changes nothing.
    pub fn handle_datagram(&mut self, bytes: &[u8], now: Instant) -> Result<(), LevelError> {
        match wire::parse(bytes)? {
            Parsed::Unreliable(envelope) => {
                let taken = self.take(Level::Unreliable, envelope);
                self.counts.crowded_out += u64::from(!taken);
                Ok(())
            }
            Parsed::Newest(channel, sequence, envelope) => {
                self.take_newest(channel, sequence, envelope);
                Ok(())
            }
            Parsed::Quickest(quick) => self.take_quickest(quick, now),
            Parsed::Reliable(..) | Parsed::Heard(_) => Err(LevelError::Malformed),
        }
    }

    fn take_newest(&mut self, channel: Channel, sequence: u32, envelope: Envelope) {
        if !self.newest.is_newer(envelope.party, channel, sequence) {
            self.counts.old += 1;
            return;
        }
        let party = envelope.party;
        if self.take(Level::Newest(channel), envelope) {
            self.newest.note(party, channel, sequence);
        } else {
            self.counts.crowded_out += 1;
        }
    }

    fn take_quickest(&mut self, quick: Quick<'_>, now: Instant) -> Result<(), LevelError> {
        // All of it is looked at before any of it counts.
        self.repeating.check(quick.acknowledgement)?;
        self.arrivals.check(&quick)?;
        self.repeating.acknowledge(quick.acknowledgement, now);
        for message in &quick.messages {
            let number = quick.first.wrapping_add(u32::from(message.offset));
            if self.arrivals.has(number) {
                self.counts.duplicates += 1;
            } else if self.take(Level::Quickest, message.envelope()) {
                // What there is no room for is not acknowledged, and comes again.
                self.arrivals.note(number);
            }
        }
        if !quick.messages.is_empty() {
            self.arrivals.owe(now);
        }
        Ok(())
    }

    /// Hands a message to the game, if there is room for it.
    fn take(&mut self, level: Level, envelope: Envelope) -> bool {
        let length = envelope.bytes.len();
        let taken = self.incoming.push((level, envelope), length).is_ok();
        self.counts.received += u64::from(taken);
        taken
    }

    /// The next message from the other end.
    pub fn poll_message(&mut self) -> Option<(Level, Envelope)> {
        self.incoming.pop()
    }

    /// The next thing to send: call it until it answers `None`, whenever something was sent or handled and when
    /// [`poll_timeout`](Self::poll_timeout) says so.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing> {
        if core::mem::take(&mut self.sent_one) {
            if let Some(along) = self.ride_along(now, self.limits.max_datagram) {
                return Some(Outgoing::Datagram(along));
            }
        }
        if let Some(expected) = self.heard.tell(now) {
            return Some(Outgoing::Ordered(wire::emit_heard(expected)));
        }
        if let Some(next) = self.kept.pop() {
            return Some(next);
        }
        if let Some(next) = self.outgoing.pop() {
            self.sent_one = true;
            return Some(next);
        }
        if !self.repeating.is_due(now) && !self.arrivals.is_due(now) {
            return None;
        }
        self.repeating.ease_off(now);
        self.write_quickest(now, self.limits.max_datagram).map(Outgoing::Datagram)
    }

    /// Another datagram has just been sent to the other end, and so many bytes would fit beside it: what is to go along. QUIC puts
    /// both into one packet.
    pub fn ride_along(&mut self, now: Instant, max_bytes: usize) -> Option<Vec<u8>> {
        let willing = self.repeating.may_go_along(now) || self.arrivals.may_go_along(now);
        if willing { self.write_quickest(now, max_bytes.min(self.limits.max_datagram)) } else { None }
    }

    /// Acknowledgements and as many messages as fit; nothing if there is no use in it.
    fn write_quickest(&mut self, now: Instant, max_bytes: usize) -> Option<Vec<u8>> {
        let mut bytes = wire::begin_quickest(self.arrivals.acknowledgement());
        let room = max_bytes.checked_sub(bytes.len())?;
        let written = self.repeating.write(&mut bytes, room, now);
        if written.messages == 0 && !self.arrivals.owes() {
            return None;
        }
        self.counts.repeated += written.again;
        self.arrivals.acknowledged(now);
        Some(bytes)
    }

    /// When to call [`poll_transmit`](Self::poll_transmit) again if nothing else happens before.
    pub fn poll_timeout(&self) -> Option<Instant> {
        if !self.outgoing.is_empty() || self.kept.waits() {
            return Some(Instant::MIN);
        }
        [self.repeating.due(), self.arrivals.due(), self.heard.due()].into_iter().flatten().min()
    }
}

/// Whether a message that arrived on a stream is the game's own, and not the session's.
pub fn is_message(bytes: &[u8]) -> bool {
    bytes.first() == Some(&APPLICATION)
}

/// Whether it is the game's own, and only says what has arrived.
pub fn is_acknowledgement(bytes: &[u8]) -> bool {
    wire::is_heard(bytes)
}
