//! Either half of a session: for programs that may be its server or one of its players, and do the same things as both.
//!
//! ```
//! use evenkeel::{Instant, Pose, Threshold, Vec3};
//! use evenkeel_net::hub::{Hub, HubConfig};
//! use evenkeel_net::part::{Part, Refused};
//! use evenkeel_net::seat::{Seat, SeatConfig};
//! # let now = Instant::from_millis(5_000);
//! // The same code, whoever it is that drives the tank.
//! fn drive(mut part: Part<'_>, now: Instant) -> Result<(), Refused> {
//!     let tank = part.make(Threshold::within(0.1), Vec::new(), now)?;
//!     part.observe(tank, Pose::at(Vec3::ZERO), now)
//! }
//!
//! let mut hub = Hub::new(HubConfig::default())?;
//! assert_eq!(drive(Part::Hub(&mut hub), now), Ok(()));
//! let mut seat = Seat::new(SeatConfig::named("Ada"))?;
//! assert_eq!(drive(Part::Seat(&mut seat), now), Err(Refused::NotReady), "nobody has let her in");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::hub::{Connection, EntityError, Hub, HubEvent, What};
use crate::protocol::{MessageError, SERVER};
use crate::seat::{Seat, SeatError, SeatEvent, ToSend};
use evenkeel::{EntityConfig, EntityId, GlobalTime, HostId, Instant, Pose, Receiver, Relevance};
use std::collections::BTreeMap;
use std::fmt;

/// Why something was not done. Nothing changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// This host is not in the session, or not any more: try again later.
    NotReady,
    /// It is no use to try again.
    Because(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReady => SeatError::NotReady.fmt(f),
            Self::Because(why) => write!(f, "{why}"),
        }
    }
}

impl std::error::Error for Refused {}

impl From<SeatError> for Refused {
    fn from(error: SeatError) -> Self {
        match error {
            SeatError::NotReady | SeatError::Lost => Self::NotReady,
            error => Self::Because(error.to_string()),
        }
    }
}

impl From<MessageError> for Refused {
    fn from(error: MessageError) -> Self {
        Self::Because(error.to_string())
    }
}

impl From<EntityError> for Refused {
    fn from(error: EntityError) -> Self {
        Self::Because(error.to_string())
    }
}

/// Something the application may want to know.
#[derive(Clone, Debug, PartialEq)]
pub enum PartEvent {
    /// A [session](crate::Session) begins, and what was known of another is not known of this one.
    Begun,
    /// The server's.
    Hub(HubEvent),
    /// A player's.
    Seat(SeatEvent),
}

/// What became of entities, whichever half tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News<'a> {
    /// One is here, or has another owner.
    Owned {
        /// Which.
        entity: EntityId,
        /// Whose it is. If it is this host's and was not before, it is to be [adopted](Part::adopt).
        owner: HostId,
        /// What the game said of it when it was made, if that is told.
        about: &'a [u8],
    },
    /// One is gone.
    Gone(EntityId),
    /// All that was here is gone, what this host made included.
    Anew,
}

impl PartEvent {
    /// What it says about entities, if it is about them.
    pub fn news(&self) -> Option<News<'_>> {
        match self {
            Self::Hub(HubEvent::Made { owner, entity, about }) => {
                Some(News::Owned { entity: *entity, owner: *owner, about })
            }
            Self::Hub(HubEvent::Owned { entity, owner }) => {
                Some(News::Owned { entity: *entity, owner: *owner, about: &[] })
            }
            Self::Seat(SeatEvent::Made(made) | SeatEvent::Given(made)) => {
                Some(News::Owned { entity: made.entity, owner: made.owner, about: &made.about })
            }
            Self::Hub(HubEvent::Gone { entity }) | Self::Seat(SeatEvent::Gone { entity }) => Some(News::Gone(*entity)),
            Self::Begun | Self::Seat(SeatEvent::Welcome { again: false, .. }) => Some(News::Anew),
            _ => None,
        }
    }
}

/// How bytes travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carriage {
    /// In order, and surely.
    Ordered,
    /// Surely, and without waiting for others.
    Unordered,
    /// At once, or not at all.
    Unreliable,
}

/// What is to be done by whoever carries a session's bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum Errand {
    /// Carry them: to a player of this server's, or to the server.
    Carry(Carriage, Vec<u8>),
    /// Close the connection.
    Close(String),
}

/// By this name a player knows its only connection, the one to the server.
pub const TO_SERVER: Connection = Connection(0);

/// Either half of a session, and what both can do.
pub enum Part<'a> {
    /// The server's.
    Hub(&'a mut Hub),
    /// A player's.
    Seat(&'a mut Seat),
}

impl Part<'_> {
    /// The session's time, once it is known.
    pub fn time(&mut self, now: Instant) -> Option<GlobalTime> {
        match self {
            Self::Hub(hub) => Some(hub.now(now)),
            Self::Seat(seat) => seat.now(now),
        }
    }

    /// This host's number, once it has one.
    pub fn you(&self) -> Option<HostId> {
        match self {
            Self::Hub(_) => Some(SERVER),
            Self::Seat(seat) => seat.you(),
        }
    }

    /// Where everything of others' is.
    pub fn receiver(&self) -> Option<&Receiver> {
        match self {
            Self::Hub(hub) => Some(hub.receiver()),
            Self::Seat(seat) => seat.receiver(),
        }
    }

    /// Makes an entity that this host moves. `about` is what others are told of it.
    pub fn make(&mut self, config: impl Into<EntityConfig>, about: Vec<u8>, now: Instant) -> Result<EntityId, Refused> {
        match self {
            Self::Hub(hub) => Ok(hub.make(config, about, now)?),
            Self::Seat(seat) => Ok(seat.make(config, about, now)?),
        }
    }

    /// Filters an entity of this host's in another way from now on.
    pub fn configure(&mut self, entity: EntityId, config: impl Into<EntityConfig>) -> Result<(), Refused> {
        match self {
            Self::Hub(hub) => Ok(hub.configure(entity, config)?),
            Self::Seat(seat) => Ok(seat.configure(entity, config)?),
        }
    }

    /// Tells where an entity of this host's really is: call it every tick.
    pub fn observe(&mut self, entity: EntityId, pose: Pose, now: Instant) -> Result<(), Refused> {
        match self {
            Self::Hub(hub) => Ok(hub.observe(entity, pose, now)?),
            Self::Seat(seat) => Ok(seat.observe(entity, pose, now)?),
        }
    }

    /// Takes an entity away: one of this host's, or any if this is the server.
    pub fn unmake(&mut self, entity: EntityId, now: Instant) -> Result<(), Refused> {
        match self {
            Self::Hub(hub) => Ok(hub.unmake(entity, now)?),
            Self::Seat(seat) => Ok(seat.unmake(entity, now)?),
        }
    }

    /// Gives an entity to another host: one of this host's, or any if this is the server.
    pub fn give(&mut self, entity: EntityId, to: HostId, now: Instant) -> Result<(), Refused> {
        match self {
            Self::Hub(hub) => Ok(hub.assign(entity, to, now)?),
            Self::Seat(seat) => Ok(seat.give(entity, to, now)?),
        }
    }

    /// Takes what has come to this host, and moves it from now on. To take what it has taken before changes nothing.
    pub fn adopt(&mut self, entity: EntityId, config: impl Into<EntityConfig>, now: Instant) -> Result<(), Refused> {
        let config = config.into();
        match self {
            Self::Hub(hub) => Ok(hub.configure(entity, config)?),
            Self::Seat(seat) => match seat.adopt(entity, config, now) {
                Err(SeatError::NotGiven(_)) if seat.owned().any(|own| own == entity) => {
                    Ok(seat.configure(entity, config)?)
                }
                taken => Ok(taken?),
            },
        }
    }

    /// Says how much an entity matters to whom: see [`Hub::set_relevances`]. A player is not asked, and nothing happens.
    pub fn set_relevances(
        &mut self,
        entity: EntityId,
        usual: Relevance,
        to: &BTreeMap<HostId, Relevance>,
        now: Instant,
    ) -> Result<(), Refused> {
        match self {
            Self::Hub(hub) => Ok(hub.set_relevances(entity, usual, to, now).map_err(EntityError::Sender)?),
            Self::Seat(_) => Ok(()),
        }
    }

    /// Whose an entity is, as far as this host has been told.
    pub fn owner(&self, entity: EntityId) -> Option<HostId> {
        match self {
            Self::Hub(hub) => hub.owner(entity),
            Self::Seat(seat) => seat.owner(entity),
        }
    }

    /// There is a connection: of a player, or [to the server](TO_SERVER).
    pub fn handle_connected(&mut self, connection: Connection, now: Instant) -> Result<(), Refused> {
        match self {
            Self::Hub(hub) => hub.handle_connected(connection, None, now),
            Self::Seat(seat) => seat.reconnect()?,
        }
        Ok(())
    }

    /// A connection is no more.
    pub fn handle_disconnected(&mut self, connection: Connection, why: &str, now: Instant) {
        match self {
            Self::Hub(hub) => hub.handle_disconnected(connection, now),
            Self::Seat(seat) => seat.handle_lost(why, now),
        }
    }

    /// Bytes have come.
    pub fn handle(&mut self, from: Connection, how: Carriage, bytes: &[u8], now: Instant) -> Result<(), Refused> {
        match (self, how) {
            (Self::Hub(hub), Carriage::Ordered) => hub.handle_message(from, bytes, now),
            (Self::Hub(hub), Carriage::Unordered) => hub.handle_unordered(from, bytes, now),
            (Self::Hub(hub), Carriage::Unreliable) => hub.handle_datagram(from, bytes, now),
            (Self::Seat(seat), Carriage::Ordered) => seat.handle_message(bytes, now)?,
            (Self::Seat(seat), Carriage::Unordered) => seat.handle_unordered(bytes)?,
            (Self::Seat(seat), Carriage::Unreliable) => seat.handle_datagram(bytes, now),
        }
        Ok(())
    }

    /// The next thing to be done for a connection. Nothing is carried from player to player: that takes sockets of our own.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<(Connection, Errand)> {
        use Carriage::{Ordered, Unordered, Unreliable};
        match self {
            Self::Hub(hub) => hub.poll_transmit(now).map(|outgoing| match outgoing.what {
                What::Message(bytes) => (outgoing.to, Errand::Carry(Ordered, bytes)),
                What::Unordered(bytes) => (outgoing.to, Errand::Carry(Unordered, bytes)),
                What::Datagram(bytes) => (outgoing.to, Errand::Carry(Unreliable, bytes)),
                What::Close(why) => (outgoing.to, Errand::Close(why)),
            }),
            Self::Seat(seat) => std::iter::from_fn(|| seat.poll_transmit(now)).find_map(|send| match send {
                ToSend::Message(bytes) => Some((TO_SERVER, Errand::Carry(Ordered, bytes))),
                ToSend::Unordered(bytes) => Some((TO_SERVER, Errand::Carry(Unordered, bytes))),
                ToSend::Datagram(bytes) => Some((TO_SERVER, Errand::Carry(Unreliable, bytes))),
                ToSend::ToPeer(..) => None,
            }),
        }
    }

    /// The next thing the application may want to know.
    pub fn poll_event(&mut self) -> Option<PartEvent> {
        match self {
            Self::Hub(hub) => hub.poll_event().map(PartEvent::Hub),
            Self::Seat(seat) => seat.poll_event().map(PartEvent::Seat),
        }
    }
}
