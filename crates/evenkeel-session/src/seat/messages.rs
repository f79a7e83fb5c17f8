//! The game's own messages, from a player's seat.

use super::{Seat, SeatError, SeatEvent, ToSend};
use crate::levels::{self, Envelope, Level, LevelError, LevelLimits, Levels, Party};
use evenkeel::Instant;

/// So much that came before the welcome waits for it, in bytes, at most.
const MAX_EARLY: usize = 1024 * 1024;

/// This end of the connections to a server.
pub(super) struct Mail {
    levels: Levels,
    /// Whether the server has let us in on this connection: it wants no messages before.
    open: bool,
    /// Whether the connection takes no more of what must arrive.
    congested: bool,
    /// What overtook the welcome: whether it goes on from before is not known yet.
    early: Vec<Vec<u8>>,
    early_bytes: usize,
}

impl Mail {
    pub(super) fn new(max_datagram: usize) -> Self {
        Self {
            levels: Levels::new(LevelLimits { max_datagram, ..LevelLimits::default() }),
            open: false,
            congested: false,
            early: Vec::new(),
            early_bytes: 0,
        }
    }

    /// The connection is gone: what must arrive waits for another.
    pub(super) fn close(&mut self) {
        (self.open, self.congested) = (false, false);
        self.early.clear();
        self.early_bytes = 0;
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.levels.poll_timeout().filter(|_| self.open)
    }
}

impl Seat {
    /// Sends a message of the game: to one host, to the server ([`SERVER`](crate::protocol::SERVER)), or to everybody else
    /// ([`Party::Everybody`]). An error changes nothing. What is `Ordered`, `Unordered` or `Quickest` arrives once, also if the connection
    /// is lost meanwhile or the session moves to another server, unless this player's place is given up before it is back.
    ///
    /// ```
    /// use evenkeel::Instant;
    /// use evenkeel_session::levels::{Level, Party};
    /// use evenkeel_session::protocol::{MessageError, SERVER};
    /// use evenkeel_session::seat::{Seat, SeatConfig, SeatError};
    ///
    /// let mut seat = Seat::new(SeatConfig::named("Ada"))?;
    /// let now = Instant::from_millis(5);
    /// // Nobody listens to those who are not in.
    /// assert_eq!(seat.send(Party::Everybody, Level::Ordered, b"hello".to_vec(), now), Err(SeatError::NotReady));
    /// assert_eq!(seat.send(SERVER, Level::Quickest, b"fire!".to_vec(), now), Err(SeatError::NotReady));
    /// # Ok::<(), MessageError>(())
    /// ```
    pub fn send(&mut self, to: impl Into<Party>, level: Level, bytes: Vec<u8>, now: Instant) -> Result<(), SeatError> {
        // On the way to another server there is nobody to talk to for a moment: what must arrive waits for that.
        let waits = self.is_moving() && matches!(level, Level::Ordered | Level::Unordered | Level::Quickest);
        if !self.mail.open && !waits {
            return Err(self.unheard());
        }
        if self.mail.congested && !level.in_datagrams() {
            return Err(SeatError::Level(LevelError::Full));
        }
        self.mail.levels.send(level, Envelope { party: to.into(), bytes }, now).map_err(SeatError::Level)?;
        self.collect_mail(now);
        Ok(())
    }

    /// The connection takes no more of what must arrive, or does again: until then the game is told that there is no room.
    pub fn set_congested(&mut self, congested: bool) {
        self.mail.congested = congested;
    }

    /// This player's messages: what happened to them so far, and what waits.
    pub fn levels(&self) -> &Levels {
        &self.mail.levels
    }

    /// Something arrived that the server sent to be reliable and unordered. It may be here before the welcome.
    pub fn handle_unordered(&mut self, bytes: &[u8]) -> Result<(), SeatError> {
        if !self.mail.open {
            self.mail.early_bytes += bytes.len() + 64;
            if self.mail.early_bytes > MAX_EARLY {
                return Err(SeatError::Level(LevelError::Full));
            }
            self.mail.early.push(bytes.to_vec());
            return Ok(());
        }
        self.mail.levels.handle_unordered(bytes).map_err(SeatError::Level)?;
        self.hand_out();
        Ok(())
    }

    /// The server has let us in: goes on with what was said before, if we are who we were.
    pub(super) fn open_mail(&mut self, again: bool, now: Instant) {
        let early = std::mem::take(&mut self.mail.early);
        if again {
            self.mail.levels.begin_again(now);
        } else {
            self.mail = Mail::new(self.config.max_datagram);
        }
        (self.mail.open, self.mail.early_bytes) = (true, 0);
        for bytes in early {
            let _ = self.handle_unordered(&bytes);
        }
        self.collect_mail(now);
    }

    /// A message of the game arrived in order.
    pub(super) fn take_ordered(&mut self, bytes: &[u8]) -> Result<(), SeatError> {
        self.mail.levels.handle_ordered(bytes).map_err(SeatError::Level)?;
        self.hand_out();
        Ok(())
    }

    /// A datagram of the game arrived. What cannot be used is left out.
    pub(super) fn take_datagram(&mut self, bytes: &[u8], now: Instant) {
        let _ = self.mail.levels.handle_datagram(bytes, now);
        self.hand_out();
        self.collect_mail(now);
    }

    fn hand_out(&mut self) {
        while let Some((level, Envelope { party, bytes })) = self.mail.levels.poll_message() {
            // From the server, a message says where it comes from.
            if let Party::Host(from) = party {
                self.tell(SeatEvent::Message { from, level, bytes });
            }
        }
    }

    /// Collects what is to be sent: at once, so that it keeps its place among what the seat itself says.
    fn collect_mail(&mut self, now: Instant) {
        if !self.mail.open {
            return;
        }
        if let Some(round_trip) = self.clock.rtt_min() {
            self.mail.levels.set_round_trip(round_trip);
        }
        while let Some(out) = self.mail.levels.poll_transmit(now) {
            self.outgoing.push_back(match out {
                levels::Outgoing::Ordered(bytes) => ToSend::Message(bytes),
                levels::Outgoing::Unordered(bytes) => ToSend::Unordered(bytes),
                levels::Outgoing::Datagram(bytes) => ToSend::Datagram(bytes),
            });
        }
    }

    /// A datagram of so many bytes goes to the server: lets `Quickest` messages go along.
    pub(super) fn go_along(&mut self, beside: usize, now: Instant) {
        let room = self.config.max_datagram.saturating_sub(beside);
        if !self.mail.open {
            return;
        }
        if let Some(bytes) = self.mail.levels.ride_along(now, room) {
            self.outgoing.push_back(ToSend::Datagram(bytes));
        }
    }

    /// What is due without company.
    pub(super) fn poll_mail(&mut self, now: Instant) -> Option<ToSend> {
        self.collect_mail(now);
        self.outgoing.pop_front()
    }
}
