//! A session, as a program takes part in it that may be its server or one of its players, on a network of ours or on another.

use crate::hub::{Connection, Hub, HubConfig};
use crate::part::{Part, PartEvent, Refused};
use crate::protocol::MessageError;
use crate::seat::{Seat, SeatConfig};
#[cfg(feature = "sockets")]
use crate::{Client, Server};
use evenkeel::{ConfigError, GlobalTime, HostId, Instant};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The session that a program takes part in: as its server or as a player.
///
/// What both halves can do is had by [`part`](Self::part). Whatever else a [`Hub`] or a [`Seat`] can do is had by [`hub`](Self::hub) and
/// [`seat`](Self::seat): the game's own messages at five levels of service, lag compensation, the books.
///
/// ```
/// use evenkeel::{Instant, Pose, Threshold, Vec3};
/// use evenkeel_net::Session;
/// use evenkeel_net::hub::HubConfig;
/// let mut session = Session::host(HubConfig::default())?;
/// session.advance(Instant::from_millis(5_000));
/// session.part(|mut part, now| {
///     let tank = part.make(Threshold::within(0.1), Vec::new(), now)?;
///     part.observe(tank, Pose::at(Vec3::ZERO), now)
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg_attr(feature = "bevy", derive(bevy_ecs::prelude::Resource))]
pub struct Session {
    /// Never locked: it only makes what is not to be shared shareable.
    half: Mutex<Half>,
    serves: bool,
    /// The program's time, for halves that have none of their own.
    now: Instant,
    /// Whether its beginning has been told.
    begun: bool,
    /// Who is connected, where the program carries the bytes.
    connections: BTreeSet<Connection>,
}

/// Whichever half it is, and whoever carries its bytes.
enum Half {
    Hub(Box<Hub>),
    Seat(Box<Seat>),
    #[cfg(feature = "sockets")]
    Server(Server),
    #[cfg(feature = "sockets")]
    Client(Client),
}

impl Session {
    /// Serves a session whose bytes the program carries. A secret that is all zeros is replaced by random bytes.
    pub fn host(mut config: HubConfig) -> Result<Self, ConfigError> {
        config.secret = crate::secret(config.secret);
        Ok(Self::of(Half::Hub(Box::new(Hub::new(config)?)), true))
    }

    /// Takes part in such a session.
    pub fn join(mut config: SeatConfig) -> Result<Self, MessageError> {
        config.secret = crate::secret(config.secret);
        Ok(Self::of(Half::Seat(Box::new(Seat::new(config)?)), false))
    }

    /// Serves a session on a network of its own.
    #[cfg(feature = "sockets")]
    pub fn server(server: Server) -> Self {
        Self::of(Half::Server(server), true)
    }

    /// Takes part in a session on a network of its own.
    #[cfg(feature = "sockets")]
    pub fn client(client: Client) -> Self {
        Self::of(Half::Client(client), false)
    }

    fn of(half: Half, serves: bool) -> Self {
        let (half, now) = (Mutex::new(half), Instant::from_nanos(0));
        Self { half, serves, now, begun: false, connections: BTreeSet::new() }
    }

    /// What both halves can do, and what time it is there.
    pub fn part<R>(&mut self, act: impl FnOnce(Part<'_>, Instant) -> R) -> R {
        match self.half.get_mut().unwrap_or_else(PoisonError::into_inner) {
            Half::Hub(hub) => act(Part::Hub(hub), self.now),
            Half::Seat(seat) => act(Part::Seat(seat), self.now),
            #[cfg(feature = "sockets")]
            Half::Server(server) => server.with(|hub, now| act(Part::Hub(hub), now)),
            #[cfg(feature = "sockets")]
            Half::Client(client) => client.with(|seat, now| act(Part::Seat(seat), now)),
        }
    }

    /// The server's half, if this is it, and what time it is there.
    pub fn hub<R>(&mut self, act: impl FnOnce(&mut Hub, Instant) -> R) -> Option<R> {
        self.part(|part, now| if let Part::Hub(hub) = part { Some(act(hub, now)) } else { None })
    }

    /// A player's half, if this is it, and what time it is there.
    pub fn seat<R>(&mut self, act: impl FnOnce(&mut Seat, Instant) -> R) -> Option<R> {
        self.part(|part, now| if let Part::Seat(seat) = part { Some(act(seat, now)) } else { None })
    }

    /// Whether this is the server's.
    pub fn is_server(&self) -> bool {
        self.serves
    }

    /// The session's time, once it is known.
    pub fn time(&mut self) -> Option<GlobalTime> {
        self.part(|mut part, now| part.time(now))
    }

    /// This host's number, once it has one.
    pub fn you(&mut self) -> Option<HostId> {
        self.part(|part, _| part.you())
    }

    /// The program's time, as it was last told.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The program's time goes on.
    pub fn advance(&mut self, now: Instant) {
        self.now = now;
        self.hub(|hub, now| hub.advance(now));
    }

    /// The next thing the program may want to know. The first is that the session has [begun](PartEvent::Begun).
    pub fn poll_event(&mut self) -> Option<PartEvent> {
        if !std::mem::replace(&mut self.begun, true) {
            return Some(PartEvent::Begun);
        }
        self.part(|mut part, _| part.poll_event())
    }

    /// Who is connected, where the program carries the bytes: players to the server, or a player [to it](crate::part::TO_SERVER). Who is
    /// not in it any more is not connected any more.
    pub fn set_connections(&mut self, here: BTreeSet<Connection>) -> Result<(), Refused> {
        let before = std::mem::replace(&mut self.connections, here.clone());
        self.part(|mut part, now| {
            for gone in before.difference(&here) {
                part.handle_disconnected(*gone, "the connection was lost", now);
            }
            here.difference(&before).try_for_each(|came| part.handle_connected(*came, now))
        })
    }
}
