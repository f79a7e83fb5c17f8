//! Moving a session to another server while people play.
//!
//! 1. [`Hub::export`] writes the session down. From then on nothing is decided here: movement is still passed on, but messages, and
//!    what players say of their entities, wait.
//! 2. The other server makes a hub of it: [`Hub::import`].
//! 3. [`Hub::move_to`] tells every player where to go. Each connects there as who it was, and says so here, or that it cannot.
//!    Until all have, or time is up, everybody may come back.
//!
//! Whoever stays plays on here: if that is everybody nothing has happened, and what waited is done.

use super::{Connection, Hub, Outgoing, What};
use crate::levels;
use crate::protocol::{self, Model, Place, ToPlayer, ToServer};
use evenkeel::{Duration, HostId, Instant};
use std::collections::BTreeMap;
use std::fmt;

/// How long an export is good for: by then players must have been told where to go, and the places of those that were imported are
/// kept for so much longer.
pub(super) const GOOD_FOR: Duration = Duration::from_secs(30);
/// So many bytes of one player's wait at most: an honest one sends no more than this unacknowledged.
const MAX_HELD: usize = 2 * 1024 * 1024;
/// So often a player is told where to go: one who comes back twice will not find the way.
const TELLINGS: u32 = 2;

/// Why a session is not moved. Nothing changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MoveError {
    /// Only sessions in which everything goes through the server can be moved.
    Model,
    /// It is being moved already, or has ended.
    Busy,
    /// It was not [exported](Hub::export), or that was too long ago.
    NotExported,
    /// Players cannot be sent there: it must be a `https://` URL, with a `wss://` one at most beside it, and few certificates.
    Place,
    /// It is larger than [`MAX_EXPORT`](super::MAX_EXPORT).
    TooLarge,
    /// There is no session of that name.
    NoSuchSession,
}

impl fmt::Display for MoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Model => "only a session of clients and a server can be moved, not one with peers",
            Self::Busy => "the session is being moved already, or has ended",
            Self::NotExported => "the session was not exported within the last half minute: export it anew",
            Self::Place => "players can only be sent to a https:// URL, and to a wss:// one beside it",
            Self::TooLarge => "the session is too large to be moved",
            Self::NoSuchSession => "there is no session of that name",
        })
    }
}

impl std::error::Error for MoveError {}

/// Who went, and who did not.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct MoveReport {
    /// Those who are in at the other server.
    pub moved: Vec<HostId>,
    /// Those who are not, and why.
    pub stayed: Vec<(HostId, String)>,
    /// Those of whom it is not known yet.
    pub pending: Vec<HostId>,
}

/// What has become of a player.
#[derive(Clone, Debug, PartialEq)]
enum Fate {
    /// It was told so often.
    Told(u32),
    Moved,
    Stays(String),
}

/// A move under way.
#[derive(Debug)]
pub(super) struct Moving {
    /// None until players are told.
    place: Option<Place>,
    until: Instant,
    fates: BTreeMap<HostId, Fate>,
    /// What players said since the export, and whether in order.
    held: Vec<(Connection, bool, Vec<u8>)>,
    held_bytes: BTreeMap<Connection, usize>,
}

impl Moving {
    fn report(&self) -> MoveReport {
        let mut report = MoveReport::default();
        for (host, fate) in &self.fates {
            match fate {
                Fate::Told(_) => report.pending.push(*host),
                Fate::Moved => report.moved.push(*host),
                Fate::Stays(why) => report.stayed.push((*host, why.clone())),
            }
        }
        report
    }
}

impl Hub {
    /// Nothing is decided here from now on, until [`move_to`](Self::move_to) is through.
    pub(super) fn freeze(&mut self, now: Instant) {
        let fates = self.members.keys().map(|host| (*host, Fate::Told(0))).collect();
        self.moving =
            Some(Moving { place: None, until: now + GOOD_FOR, fates, held: Vec::new(), held_bytes: BTreeMap::new() });
    }

    /// Whether it was exported, and it is not settled yet who goes.
    pub fn is_moving(&self) -> bool {
        self.moving.is_some()
    }

    pub(super) fn may_move(&self) -> Result<(), MoveError> {
        match self.config.model {
            Model::ClientServer if self.moving.is_some() || self.ended => Err(MoveError::Busy),
            Model::ClientServer => Ok(()),
            _ => Err(MoveError::Model),
        }
    }

    /// Tells every player that the session goes on there, where its [export](Self::export) was imported. For so long they may try;
    /// [`move_report`](Self::move_report) says how far they are.
    pub fn move_to(&mut self, place: Place, within: Duration, now: Instant) -> Result<(), MoveError> {
        if !place.is_possible() {
            return Err(MoveError::Place);
        }
        let moving = self.moving.as_mut().filter(|moving| moving.place.is_none()).ok_or(MoveError::NotExported)?;
        tracing::info!(url = place.url, players = moving.fates.len(), "the session moves");
        (moving.place, moving.until) = (Some(place), now + within);
        self.moved = None;
        for host in self.members.keys().copied().collect::<Vec<_>>() {
            self.send_on(host);
        }
        self.settle(now);
        Ok(())
    }

    /// Does not move after all: everybody who is here plays on, and the export is void.
    pub fn stay(&mut self, now: Instant) {
        if let Some(moving) = &mut self.moving {
            moving.until = now;
            self.settle(now);
        }
    }

    /// Who went and who did not, during the present move or the last one.
    pub fn move_report(&self) -> Option<MoveReport> {
        let told = self.moving.as_ref().filter(|moving| moving.place.is_some());
        told.map(Moving::report).or_else(|| self.moved.clone())
    }

    /// Tells a player where the session goes on, if it is here and has not been told too often.
    pub(super) fn send_on(&mut self, host: HostId) {
        let Some(Moving { place: Some(place), fates, .. }) = &mut self.moving else { return };
        if self.members.get(&host).is_none_or(|member| member.connection.is_none()) {
            return;
        }
        let fate = fates.entry(host).or_insert(Fate::Told(0));
        match fate {
            Fate::Told(times) if *times < TELLINGS => *times += 1,
            Fate::Stays(_) => return,
            _ => {
                *fate = Fate::Stays("it came back".into());
                return;
            }
        }
        let message = ToPlayer::Move(place.clone());
        self.tell(host, &message);
    }

    /// A player says what has become of it.
    pub(super) fn hear_fate(&mut self, host: HostId, from: Connection, word: ToServer, now: Instant) {
        let Some(moving) = self.moving.as_mut().filter(|moving| moving.place.is_some()) else { return };
        match word {
            ToServer::Stays { why } => _ = moving.fates.insert(host, Fate::Stays(why.chars().take(200).collect())),
            _ => {
                moving.fates.insert(host, Fate::Moved);
                self.outgoing.push_back(Outgoing { to: from, what: What::Close("it moved on".into()) });
            }
        }
        self.settle(now);
    }

    /// Whether what a player said has to wait until it is settled who goes; if so, it does. It has been counted.
    pub(super) fn hold(&mut self, from: Connection, ordered: bool, bytes: &[u8], now: Instant) -> bool {
        let Some(moving) = &mut self.moving else { return false };
        let about_it = || matches!(protocol::decode(bytes), Ok(ToServer::Moved | ToServer::Stays { .. }));
        if levels::is_acknowledgement(bytes) || (ordered && !levels::is_message(bytes) && about_it()) {
            return false;
        }
        let held = moving.held_bytes.entry(from).or_default();
        *held += bytes.len() + 64;
        if *held > MAX_HELD {
            self.expel(from, "it sends too much while the session moves", now);
        } else {
            moving.held.push((from, ordered, bytes.to_vec()));
        }
        true
    }

    /// A connection is gone, and what it said with it: whoever comes back says it again.
    pub(super) fn forget_held(&mut self, connection: Connection) {
        let Some(moving) = &mut self.moving else { return };
        if moving.held_bytes.remove(&connection).is_some() {
            moving.held.retain(|(from, ..)| *from != connection);
        }
    }

    /// When something happens of itself.
    pub(super) fn move_timeout(&self) -> Option<Instant> {
        self.moving.as_ref().map(|moving| moving.until)
    }

    /// Ends the move once everybody's fate is known, or time is up: whoever is still here plays on here.
    pub(super) fn settle(&mut self, now: Instant) {
        let due = |moving: &Moving| {
            let answered = !moving.fates.values().any(|fate| matches!(fate, Fate::Told(_)));
            moving.until <= now || (answered && moving.place.is_some())
        };
        let Some(moving) = self.moving.take_if(|moving| due(moving)) else { return };
        if moving.place.is_some() {
            let mut report = moving.report();
            for host in std::mem::take(&mut report.pending) {
                let why = if self.is_connected(host) { "it did not answer" } else { "its connection is lost" };
                report.stayed.push((host, why.into()));
            }
            tracing::info!(moved = report.moved.len(), stayed = report.stayed.len(), "the session has moved");
            if !report.moved.is_empty() {
                self.drain("the session has moved to another server");
            }
            self.moved = Some(report);
        }
        for (from, ordered, bytes) in moving.held {
            self.take_held(from, ordered, &bytes, now);
        }
    }
}
