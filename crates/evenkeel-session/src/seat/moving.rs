//! Going where the session goes on: another server, as the same player.
//!
//! Whoever carries the bytes asks [`Seat::poll_move`], connects there while the connection to the server before is still up, and
//! says [`Seat::reconnect_there`] once it is connected: the rest is a rejoin. After the welcome it takes leave of the server before with
//! [`Seat::farewell`]. If there is no way, or it is not welcome there as who it was, it says [`Seat::stay`] and nothing has changed.
//! Whoever does none of this loses the connection in the end, and comes back to the server before as long as there is one.

use super::{Seat, SeatEvent};
use crate::protocol::{self, MessageError, Model, Place, ToServer};
use evenkeel::{Duration, Instant};

/// Nobody is sent on more often than this, each time within [`SOON`] of the last: servers that point at each other are not obeyed.
const MAX_HOPS: u32 = 4;
const SOON: Duration = Duration::from_secs(60);
/// Where it could not go it is not tried again so soon.
const AGAIN: Duration = Duration::from_secs(5);
/// So much of a reason is passed on, in bytes.
const MAX_WHY: usize = 200;

/// Where the server says to go.
#[derive(Debug, Default)]
pub(super) struct Moves {
    /// Not handed to whoever carries the bytes yet.
    asked: Option<Place>,
    /// Where this player is going at present.
    to: Option<String>,
    /// Whether the present connection is to there.
    there: bool,
    /// Where it could not go, and when it gave up.
    failed: Option<(String, Instant)>,
    hops: u32,
    last: Option<Instant>,
}

impl Moves {
    /// The server has let us in: where, if that is where we were going.
    pub(super) fn arrive(&mut self) -> Option<String> {
        if !self.there {
            return None;
        }
        (self.asked, self.there) = (None, false);
        self.to.take()
    }

    /// The connection is gone, or another.
    pub(super) fn connect(&mut self, there: bool) {
        self.there = there;
    }

    /// Whether the present connection is to where the server said, and has not let us in yet.
    pub(super) fn is_there(&self) -> bool {
        self.there && self.to.is_some()
    }

    /// Whether another move is not one too many.
    fn count(&mut self, now: Instant) -> bool {
        let soon = self.last.is_some_and(|last| now.since(last) < SOON);
        self.hops = if soon { self.hops + 1 } else { 1 };
        self.last = Some(now);
        self.hops <= MAX_HOPS
    }
}

impl Seat {
    /// Where to connect to, beside the present connection: the session goes on there.
    pub fn poll_move(&mut self) -> Option<Place> {
        self.moves.asked.take()
    }

    /// Whether it is on its way to where the server said, and not in there yet.
    pub fn is_moving(&self) -> bool {
        self.moves.to.is_some()
    }

    /// There is another connection, to where the server said to go: asks to be let in, as who one was.
    pub fn reconnect_there(&mut self) -> Result<(), MessageError> {
        self.reconnect()?;
        self.moves.connect(true);
        Ok(())
    }

    /// There is no way to where the server said, or it does not let us in: stays at the server before. If there is no connection to that
    /// any more, it is to be made again.
    pub fn stay(&mut self, why: &str, now: Instant) {
        self.moves.asked = None;
        self.moves.there = false;
        if let Some(url) = self.moves.to.take() {
            self.moves.failed = Some((url, now));
            self.decline(why);
        }
    }

    /// The last message to the server before, once one is in where it said to go.
    pub fn farewell() -> Vec<u8> {
        // A message without content always fits.
        protocol::encode(&ToServer::Moved).unwrap_or_default()
    }

    /// The server says where the session goes on.
    pub(super) fn be_moved(&mut self, place: Place, now: Instant) {
        // Whoever is not in has nothing to take along.
        if self.model().is_none() || self.is_moving() {
            return;
        }
        if self.model() != Some(Model::ClientServer) || !place.is_possible() {
            return self.decline("the server sends it where nobody can go");
        }
        let failed = |(url, at): &(String, Instant)| *url == place.url && now.since(*at) < AGAIN;
        if self.moves.failed.as_ref().is_some_and(failed) {
            return self.decline("it was there and could not get in");
        }
        if !self.moves.count(now) {
            return self.decline("it was sent on too often");
        }
        self.moves.to = Some(place.url.clone());
        self.tell(SeatEvent::Moving { url: place.url.clone() });
        self.moves.asked = Some(place);
    }

    fn decline(&mut self, why: &str) {
        let end = (0..=why.len().min(MAX_WHY)).rev().find(|end| why.is_char_boundary(*end)).unwrap_or(0);
        let why = why[..end].to_owned();
        let _ = self.say(&ToServer::Stays { why: why.clone() });
        self.tell(SeatEvent::Stayed { why });
    }
}
