//! Several sessions behind one set of connections, and a list of them.
//!
//! A connection begins as the lobby's guest: it may ask which sessions there are, and it joins one by its hello. From then on
//! everything it says goes to that session's [`Hub`], and nothing to any other. Like the hub it is a state machine without
//! sockets: connections, bytes and time go in, bytes come out.
//!
//! ```
//! use evenkeel::Instant;
//! use evenkeel_net::hub::{Connection, HubConfig, What};
//! use evenkeel_net::lobby::{Lobby, LobbyConfig};
//! use evenkeel_net::protocol::{Filter, ToPlayer, ToServer, decode, encode};
//!
//! let mut lobby = Lobby::new(LobbyConfig::default());
//! for name in ["hills", "plains"] {
//!     lobby.add(HubConfig { session: name.into(), ..HubConfig::default() })?;
//! }
//! let (guest, now) = (Connection(1), Instant::from_millis(0));
//! lobby.handle_connected(guest, None, now);
//! lobby.handle_message(guest, &encode(&ToServer::List(Filter::default()))?, now);
//! let Some(What::Message(bytes)) = lobby.poll_transmit(now).map(|out| out.what) else { panic!("no answer") };
//! let ToPlayer::Sessions { sessions, more: false } = decode(&bytes)? else { panic!("another answer") };
//! assert_eq!(sessions.iter().map(|session| session.name.as_str()).collect::<Vec<_>>(), ["hills", "plains"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod config;
mod guests;
mod list;

pub use config::{AddError, LobbyConfig, MAX_SESSIONS};

use crate::hub::{Connection, Hub, HubConfig, Outgoing, What};
use crate::protocol::SessionInfo;
use evenkeel::{Duration, Instant};
use guests::Guest;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// So often time passes for every session, whatever it says itself is due: what its application gave it to ask, such as a gate,
/// may change its mind at any time.
const AT_LEAST_EVERY: Duration = Duration::from_millis(500);

/// Several sessions, as one server runs them. See the [module](self).
pub struct Lobby {
    config: LobbyConfig,
    sessions: BTreeMap<String, Session>,
    guests: HashMap<Connection, Guest>,
    /// Who has joined which session, or tried to.
    joined: HashMap<Connection, String>,
    outgoing: VecDeque<Outgoing>,
    ending: bool,
    counts: LobbyCounts,
}

/// What happened so far to those who have not joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LobbyCounts {
    /// Connections that came.
    pub came: u64,
    /// Lists that were asked for and given.
    pub listed: u64,
    /// Connections that were handed to a session.
    pub handed_on: u64,
    /// Connections that were refused or closed for what they did.
    pub expelled: u64,
}

/// A session, and whether there is anything to do for it: those where nothing happens cost the others nothing.
struct Session {
    hub: Hub,
    /// Something was done to it since it last had nothing to send.
    touched: bool,
    /// When there is something to do if nothing happens before.
    due: Instant,
}

impl Session {
    fn touch(&mut self) -> &mut Hub {
        self.touched = true;
        &mut self.hub
    }

    fn is_due(&self, now: Instant) -> bool {
        self.touched || self.due <= now
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing> {
        if !self.is_due(now) {
            return None;
        }
        let outgoing = self.hub.poll_transmit(now);
        self.touched = outgoing.is_some();
        if outgoing.is_none() {
            let latest = now + AT_LEAST_EVERY;
            self.due = self.hub.poll_timeout().map_or(latest, |due| due.min(latest));
        }
        outgoing
    }
}

impl Lobby {
    /// A lobby without sessions.
    pub fn new(config: LobbyConfig) -> Self {
        Self {
            config,
            sessions: BTreeMap::new(),
            guests: HashMap::new(),
            joined: HashMap::new(),
            outgoing: VecDeque::new(),
            ending: false,
            counts: LobbyCounts::default(),
        }
    }

    /// Adds a session. It goes by the name in its configuration.
    pub fn add(&mut self, config: HubConfig) -> Result<(), AddError> {
        let name = config.session.clone();
        if self.sessions.contains_key(&name) {
            return Err(AddError::Taken(name));
        }
        self.check_room()?;
        let hub = Hub::new(config).map_err(AddError::Config)?;
        hub.info().check().map_err(AddError::Info)?;
        self.sessions.insert(name, Session { hub, touched: true, due: Instant::MIN });
        Ok(())
    }

    fn check_room(&self) -> Result<(), AddError> {
        if self.sessions.len() >= MAX_SESSIONS { Err(AddError::TooMany) } else { Ok(()) }
    }

    /// Adds a session that another server has exported. It goes by the name it had there, and takes the place of one of that name
    /// in which nobody is. See [`Hub::import`].
    pub fn import(
        &mut self,
        config: HubConfig,
        bytes: &[u8],
        since_1970: Duration,
        now: Instant,
    ) -> Result<(), AddError> {
        let hub = Hub::import(config, bytes, since_1970, now).map_err(AddError::Import)?;
        let name = hub.info().name;
        match self.sessions.get(&name) {
            Some(here) if here.hub.players().len() > 0 => return Err(AddError::Taken(name)),
            Some(_) => {}
            None => self.check_room()?,
        }
        self.sessions.insert(name, Session { hub, touched: true, due: Instant::MIN });
        Ok(())
    }

    /// Ends a session: everybody in it is told why, and its connections are closed. The others do not notice. Answers whether
    /// there was one.
    pub fn remove(&mut self, name: &str, why: &str, now: Instant) -> bool {
        let Some(mut session) = self.sessions.remove(name) else { return false };
        session.hub.end(why);
        let last_words = std::iter::from_fn(|| session.hub.poll_transmit(now));
        self.outgoing.extend(last_words.filter(|out| !matches!(out.what, What::Datagram(_))));
        self.joined.retain(|_, joined| joined != name);
        true
    }

    /// Ends all sessions, closes all connections, and lets nobody in from now on.
    pub fn end(&mut self, why: &str) {
        self.ending = true;
        for to in std::mem::take(&mut self.guests).into_keys() {
            self.outgoing.push_back(Outgoing { to, what: What::Close(why.to_owned()) });
        }
        for session in self.sessions.values_mut() {
            session.touch().end(why);
        }
    }

    /// A session.
    pub fn hub(&self, name: &str) -> Option<&Hub> {
        self.sessions.get(name).map(|session| &session.hub)
    }

    /// A session, to do something to it. What it then has to send is sent by the next [`poll_transmit`](Self::poll_transmit).
    pub fn hub_mut(&mut self, name: &str) -> Option<&mut Hub> {
        self.sessions.get_mut(name).map(Session::touch)
    }

    /// The sessions there are, by name.
    pub fn sessions(&self) -> impl ExactSizeIterator<Item = SessionInfo> {
        self.sessions.values().map(|session| session.hub.info())
    }

    /// What the player of a connection is called, if it has joined.
    pub(crate) fn player_name(&self, connection: Connection) -> Option<&str> {
        self.hub(self.joined.get(&connection)?)?.player_name(connection)
    }

    /// How many connections have not joined a session.
    pub fn guests(&self) -> usize {
        self.guests.len()
    }

    /// What happened so far to those who have not joined.
    pub fn counts(&self) -> LobbyCounts {
        self.counts
    }

    /// A message arrived.
    pub fn handle_message(&mut self, from: Connection, bytes: &[u8], now: Instant) {
        match self.session_of(from) {
            Some(session) => session.touch().handle_message(from, bytes, now),
            None => self.handle_guest(from, bytes, now),
        }
    }

    /// Something arrived that was sent to be reliable and unordered. A guest has no use for it.
    pub fn handle_unordered(&mut self, from: Connection, bytes: &[u8], now: Instant) {
        match self.session_of(from) {
            Some(session) => session.touch().handle_unordered(from, bytes, now),
            None => self.turn_away(from),
        }
    }

    /// A datagram arrived. Those of guests are of no use to anybody.
    pub fn handle_datagram(&mut self, from: Connection, bytes: &[u8], received: Instant) {
        if let Some(session) = self.session_of(from) {
            session.touch().handle_datagram(from, bytes, received);
        }
    }

    /// A connection is gone.
    pub fn handle_disconnected(&mut self, connection: Connection, now: Instant) {
        self.guests.remove(&connection);
        if let Some(session) = self.session_of(connection) {
            session.touch().handle_disconnected(connection, now);
        }
        self.joined.remove(&connection);
    }

    fn session_of(&mut self, connection: Connection) -> Option<&mut Session> {
        self.sessions.get_mut(self.joined.get(&connection)?)
    }

    /// The next thing to do for a connection: call it until it answers `None`, whenever something was handled and when
    /// [`poll_timeout`](Self::poll_timeout) says so. Send at once what it answers.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing> {
        let own = self.outgoing.pop_front();
        own.or_else(|| self.sessions.values_mut().find_map(|session| session.poll_transmit(now)))
    }

    /// When to call [`advance`](Self::advance) and [`poll_transmit`](Self::poll_transmit) again if nothing else happens before.
    pub fn poll_timeout(&self) -> Option<Instant> {
        if !self.outgoing.is_empty() || self.sessions.values().any(|session| session.touched) {
            return Some(Instant::MIN);
        }
        let guests = self.guests.values().map(|guest| guest.due(&self.config));
        guests.chain(self.sessions.values().map(|session| session.due)).min()
    }

    /// Time passes: guests who do not join are let go, and every session goes on.
    pub fn advance(&mut self, now: Instant) {
        self.turn_away_the_idle(now);
        for session in self.sessions.values_mut().filter(|session| session.is_due(now)) {
            session.touch().advance(now);
        }
    }
}
