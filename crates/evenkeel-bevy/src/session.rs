//! A session, as an app takes part in it.

use bevy_ecs::prelude::*;
use bevy_platform::cell::SyncCell;
use evenkeel::{ConfigError, GlobalTime, HostId, Instant};
use evenkeel_net::hub::{Hub, HubConfig};
use evenkeel_net::part::{Part, PartEvent};
use evenkeel_net::protocol::MessageError;
use evenkeel_net::seat::{Seat, SeatConfig};
#[cfg(feature = "net")]
use evenkeel_net::{Client, Server};

/// The session this app takes part in: as its server or as a player. Insert it when the game begins, remove it when it ends.
///
/// Whatever a [`Hub`] or a [`Seat`] can do is had by [`hub`](Self::hub) and [`seat`](Self::seat): the game's own messages at five levels
/// of service, lag compensation, the books.
#[derive(Resource)]
pub struct Session {
    half: Half,
    /// This app's time, for halves that have none of their own.
    now: Instant,
    /// Whether nobody has asked yet whether it is new.
    new: bool,
    /// The same of whoever carries its bytes.
    #[cfg(feature = "replicon")]
    fresh: bool,
}

enum Half {
    Hub(SyncCell<Box<Hub>>),
    Seat(SyncCell<Box<Seat>>),
    #[cfg(feature = "net")]
    Server(Server),
    #[cfg(feature = "net")]
    Client(Client),
}

impl Session {
    /// Serves a session whose bytes the app carries: by replicon, say. A secret that is all zeros is replaced by random bytes.
    pub fn host(mut config: HubConfig) -> Result<Self, ConfigError> {
        config.secret = evenkeel_net::secret(config.secret);
        Ok(Self::of(Half::Hub(SyncCell::new(Box::new(Hub::new(config)?)))))
    }

    /// Takes part in such a session.
    pub fn join(mut config: SeatConfig) -> Result<Self, MessageError> {
        config.secret = evenkeel_net::secret(config.secret);
        Ok(Self::of(Half::Seat(SyncCell::new(Box::new(Seat::new(config)?)))))
    }

    /// Serves a session on a network of its own.
    #[cfg(feature = "net")]
    pub fn server(server: Server) -> Self {
        Self::of(Half::Server(server))
    }

    /// Takes part in a session on a network of its own.
    #[cfg(feature = "net")]
    pub fn client(client: Client) -> Self {
        Self::of(Half::Client(client))
    }

    fn of(half: Half) -> Self {
        Self {
            half,
            now: Instant::from_nanos(0),
            new: true,
            #[cfg(feature = "replicon")]
            fresh: true,
        }
    }

    /// The server's half, if this app has it, and what time it is there.
    pub fn hub<R>(&mut self, act: impl FnOnce(&mut Hub, Instant) -> R) -> Option<R> {
        match &mut self.half {
            Half::Hub(hub) => Some(act(hub.get(), self.now)),
            #[cfg(feature = "net")]
            Half::Server(server) => Some(server.with(act)),
            _ => None,
        }
    }

    /// A player's half, if this app has it, and what time it is there.
    pub fn seat<R>(&mut self, act: impl FnOnce(&mut Seat, Instant) -> R) -> Option<R> {
        match &mut self.half {
            Half::Seat(seat) => Some(act(seat.get(), self.now)),
            #[cfg(feature = "net")]
            Half::Client(client) => Some(client.with(act)),
            _ => None,
        }
    }

    /// Whether this app is the server.
    pub fn is_server(&self) -> bool {
        match &self.half {
            Half::Hub(_) => true,
            #[cfg(feature = "net")]
            Half::Server(_) => true,
            _ => false,
        }
    }

    /// The session's time, once it is known.
    pub fn time(&mut self) -> Option<GlobalTime> {
        self.part(|mut part, now| part.time(now))
    }

    /// This host's number, once it has one.
    pub fn you(&mut self) -> Option<HostId> {
        self.part(|part, _| part.you())
    }

    /// The app's time goes on.
    pub(crate) fn set_now(&mut self, now: Instant) {
        self.now = now;
    }

    /// Whether this is the first time that anybody asks.
    pub(crate) fn take_new(&mut self) -> bool {
        std::mem::take(&mut self.new)
    }

    /// The same for whoever carries its bytes.
    #[cfg(feature = "replicon")]
    pub(crate) fn take_fresh(&mut self) -> bool {
        std::mem::take(&mut self.fresh)
    }

    pub(crate) fn part<R>(&mut self, act: impl FnOnce(Part<'_>, Instant) -> R) -> R {
        match &mut self.half {
            Half::Hub(hub) => act(Part::Hub(hub.get()), self.now),
            Half::Seat(seat) => act(Part::Seat(seat.get()), self.now),
            #[cfg(feature = "net")]
            Half::Server(server) => server.with(|hub, now| act(Part::Hub(hub), now)),
            #[cfg(feature = "net")]
            Half::Client(client) => client.with(|seat, now| act(Part::Seat(seat), now)),
        }
    }
}

/// What happened in the session: for the game. What concerns entities has become components already.
#[derive(Message, Clone, Debug)]
pub struct SessionSaid(pub PartEvent);
