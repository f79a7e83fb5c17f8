//! The server's half of a session, without sockets: who is here, who owns what, and everybody's movement passed on.
//!
//! Players send vectors of what they own; the hub checks that it is theirs and passes them on by the policy, per receiver, on
//! measured delays. The session's clock is the hub's. Like the heart it is a state machine: connections, bytes and time go in,
//! bytes come out.

pub(crate) mod allowance;
mod config;
mod entities;
mod export;
mod gate;
mod guests;
mod info;
mod members;
mod messages;
mod moving;
mod peers;
mod report;
mod scope;
mod tally;
mod token_gate;

pub use config::{Heir, HubConfig};
pub use entities::EntityError;
pub use export::{ImportError, MAX_EXPORT};
pub use gate::{Asking, Gate, Open, Pass};
pub use moving::{MoveError, MoveReport};
pub use scope::{Scope, Sight};
pub use token_gate::TokenGate;

use crate::levels::Level;
use crate::protocol::{self, APPLICATION, PASSED_ON, SERVER, ToPlayer};
use evenkeel::clock::{Ping, Pong};
use evenkeel::ledger::EntityIndex;
use evenkeel::wire::datagram::Kind;
use evenkeel::{
    Clock, ConfigError, Duration, EntityId, Fairness, GlobalTime, HostId, Instant, LagChange, Receiver, ReceiverConfig,
    Relevance, Sender, SenderConfig, SenderError, State,
};
use evenkeel_session::events::Events;
use guests::Guest;
use members::Member;
use moving::Moving;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use tally::Tally;

/// A connection, by a number of the transport's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Connection(pub u64);

/// Something to be done for a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Outgoing {
    /// Which.
    pub to: Connection,
    /// What.
    pub what: What,
}

/// Something to be done for a connection.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// Send it in order, and surely.
    Message(Vec<u8>),
    /// Send it surely, and without waiting for others.
    Unordered(Vec<u8>),
    /// Send it at once, or not at all.
    Datagram(Vec<u8>),
    /// Close the connection.
    Close(String),
}

/// Something the server's application may want to know.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum HubEvent {
    /// A player came, for the first time or again.
    Came {
        /// Who.
        host: HostId,
        /// What it is called.
        name: String,
        /// Whether it was here before, and is back after [`Lost`](Self::Lost).
        again: bool,
    },
    /// A player's connection was lost. Its place is kept for a while ([`HubConfig::rejoin_within`]): it comes back, or has left.
    Lost {
        /// Who.
        host: HostId,
    },
    /// A player left for good.
    Left {
        /// Who.
        host: HostId,
        /// Why.
        why: String,
    },
    /// A player made an entity.
    Made {
        /// Whose.
        owner: HostId,
        /// Which.
        entity: EntityId,
        /// What the game said of it.
        about: Vec<u8>,
    },
    /// An entity has another owner.
    Owned {
        /// Which.
        entity: EntityId,
        /// Whose it is now.
        owner: HostId,
    },
    /// An entity is no more.
    Gone {
        /// Which.
        entity: EntityId,
    },
    /// A message of the game for the server.
    Message {
        /// From whom.
        from: HostId,
        /// How it came.
        level: Level,
        /// What.
        bytes: Vec<u8>,
    },
    /// A connection was closed because of what it did.
    Expelled {
        /// Who, if it had come in.
        host: Option<HostId>,
        /// Why.
        why: String,
    },
}

impl HubEvent {
    /// So many bytes it holds besides itself.
    fn holds(&self) -> usize {
        match self {
            Self::Came { name, .. } => name.len(),
            Self::Left { why, .. } | Self::Expelled { why, .. } => why.len(),
            Self::Made { about: bytes, .. } | Self::Message { bytes, .. } => bytes.len(),
            Self::Lost { .. } | Self::Owned { .. } | Self::Gone { .. } => 0,
        }
    }
}

/// What happened so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct HubCounts {
    /// Vectors that players sent and that were passed on, each counted once.
    pub relayed: u64,
    /// Datagrams that were passed on unread between players who cannot reach each other.
    pub passed_on: u64,
    /// Datagrams that were dropped because a player sent too many.
    pub too_many: u64,
    /// Datagrams that could not be used.
    pub unusable: u64,
    /// Connections that were refused or closed for what they did.
    pub expelled: u64,
    /// Events that nobody asked for in time: at most 65,536 wait, and 16 MiB of them.
    pub events_dropped: u64,
    /// `Quickest` messages that were passed on `Unordered`, to players who acknowledge too slowly.
    pub slowed: u64,
    /// Messages of the game that could not be passed on to a player.
    pub undelivered: u64,
}

/// So many unusable datagrams in a row are forgiven: a few come with every change of format or address.
const FORGIVEN: u32 = 200;

/// A session, as its server runs it. See the [module](self).
pub struct Hub {
    config: HubConfig,
    clock: Clock,
    sender: Sender,
    receiver: Receiver,
    guests: HashMap<Connection, Guest>,
    members: BTreeMap<HostId, Member>,
    connections: HashMap<Connection, HostId>,
    /// Players whose connection is lost, and since when.
    lost: BTreeMap<HostId, Instant>,
    /// Players to whom messages of the game are under way.
    talking: BTreeSet<HostId>,
    entities: BTreeMap<EntityId, protocol::Entity>,
    /// What was said about who may see what.
    judged: HashMap<(EntityId, HostId), Relevance>,
    /// When the scope was asked about everything.
    reviewed: Option<Instant>,
    /// How many entities the server has made.
    made: u32,
    /// The place in the ledger of the one that was observed last.
    observed: EntityIndex,
    /// The player whose clock is the session's, in a session of peers only.
    leader: Option<HostId>,
    pongs: VecDeque<(Connection, Pong)>,
    outgoing: VecDeque<Outgoing>,
    events: Events<HubEvent>,
    counts: HubCounts,
    tally: Tally,
    /// The number of the last player who came.
    last_host: u32,
    ending: Option<String>,
    /// Whether all connections were closed for it.
    ended: bool,
    /// A move to another server that is under way, and what came of the last one.
    moving: Option<Moving>,
    moved: Option<MoveReport>,
}

impl Hub {
    /// A session without players. Its time is this host's.
    pub fn new(mut config: HubConfig) -> Result<Self, ConfigError> {
        let policy = core::mem::replace(&mut config.policy, Box::new(evenkeel::policy::Base));
        let sender = Sender::new(SenderConfig {
            format: config.format,
            policy,
            placing: config.placing,
            max_datagram: config.max_datagram,
            history: config.history,
            secret: config.secret,
            ..SenderConfig::default()
        })?;
        let receiver = Receiver::new(ReceiverConfig {
            max_datagram: config.max_datagram,
            history: config.history,
            require_grants: true,
            ..ReceiverConfig::default()
        })?;
        Ok(Self {
            clock: Clock::reference(config.origin.unwrap_or(Duration::ZERO)),
            config,
            sender,
            receiver,
            guests: HashMap::new(),
            members: BTreeMap::new(),
            connections: HashMap::new(),
            lost: BTreeMap::new(),
            talking: BTreeSet::new(),
            entities: BTreeMap::new(),
            judged: HashMap::new(),
            reviewed: None,
            made: 0,
            observed: EntityIndex(0),
            leader: None,
            pongs: VecDeque::new(),
            outgoing: VecDeque::new(),
            events: Events::new(),
            counts: HubCounts::default(),
            tally: Tally::default(),
            last_host: SERVER.0,
            ending: None,
            ended: false,
            moving: None,
            moved: None,
        })
    }

    /// The session's time.
    pub fn now(&mut self, now: Instant) -> GlobalTime {
        self.clock.now(now).unwrap_or(GlobalTime::ZERO)
    }

    /// How well, and how equally, players are served.
    pub fn fairness(&mut self, now: Instant) -> Fairness {
        let now = self.now(now);
        self.sender.fairness(now)
    }

    /// The sender: its books, its policy, and what a player saw when ([`Sender::seen_by`]).
    pub fn sender(&self) -> &Sender {
        &self.sender
    }

    /// What a player was being shown of an entity at a time of the session, as far as is known: for lag compensation. When a shot is
    /// reported with the time at which it was fired, ask where the target was *for the one who fired*.
    ///
    /// `None` if it was shown nothing then, or if that is longer ago than is remembered ([`HubConfig::history`]). See [`Sender::seen_by`].
    ///
    /// ```
    /// use evenkeel::{EntityId, GlobalTime, HostId, Instant, Threshold};
    /// use evenkeel_net::hub::{Hub, HubConfig};
    /// # let now = Instant::from_millis(5_000);
    /// let mut hub = Hub::new(HubConfig::default())?;
    /// let ball = hub.make(Threshold::within(0.1), Vec::new(), now)?;
    /// let fired = GlobalTime::from_millis(4_870);
    /// assert!(hub.seen_by(HostId(1), ball, fired).is_err(), "nobody is here");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn seen_by(&self, viewer: HostId, entity: EntityId, at: GlobalTime) -> Result<Option<State>, SenderError> {
        self.sender.seen_by(viewer, entity, at)
    }

    /// The receiver: where everything is.
    pub fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// Who is here, or may come back. See [`is_connected`](Self::is_connected).
    pub fn players(&self) -> impl ExactSizeIterator<Item = (HostId, &str)> {
        self.members.iter().map(|(host, member)| (*host, member.name.as_str()))
    }

    /// Whether a player is here and has a connection at present.
    pub fn is_connected(&self, host: HostId) -> bool {
        self.members.get(&host).is_some_and(|member| member.connection.is_some())
    }

    /// The player of a connection, if it has come in.
    pub fn host_of(&self, connection: Connection) -> Option<HostId> {
        self.connections.get(&connection).copied()
    }

    /// What the player of a connection is called, if it has come in.
    #[cfg(feature = "sockets")]
    pub(crate) fn player_name(&self, connection: Connection) -> Option<&str> {
        self.members.get(&self.host_of(connection)?).map(|member| member.name.as_str())
    }

    /// What there is.
    pub fn entities(&self) -> impl ExactSizeIterator<Item = &protocol::Entity> {
        self.entities.values()
    }

    /// Whose an entity is, if there is one of that name.
    pub fn owner(&self, entity: EntityId) -> Option<HostId> {
        self.entities.get(&entity).map(|made| made.owner)
    }

    /// What happened so far.
    pub fn counts(&self) -> HubCounts {
        self.counts
    }

    /// Decides by another policy from now on.
    pub fn set_policy(&mut self, policy: Box<dyn evenkeel::Policy>) {
        self.sender.set_policy(policy);
    }

    /// Begins the books about everybody's errors anew. See [`Sender::clear_books`].
    pub fn clear_books(&mut self, now: Instant) -> Result<(), SenderError> {
        let now = self.now(now);
        self.sender.clear_books(now)
    }

    /// Everybody shows things later, or sooner, from when the change begins: leave time for the news to travel.
    pub fn set_lag(&mut self, change: LagChange, now: Instant) -> Result<(), SenderError> {
        let now = self.now(now);
        self.sender.set_lag(change, now)?;
        self.config.placing.lag = change.to;
        self.tell_all(&ToPlayer::Lag(change));
        Ok(())
    }

    /// Everybody extrapolates what arrives from now on by another rule.
    pub fn set_rule(&mut self, rule: evenkeel::ClockRule, now: Instant) -> Result<(), SenderError> {
        let now = self.now(now);
        self.sender.set_rule(rule, now)?;
        self.config.placing.rule = rule;
        self.tell_all(&ToPlayer::Rule(rule));
        Ok(())
    }

    /// Lets nobody in from now on; whoever is here plays on. See [`end`](Self::end).
    pub fn drain(&mut self, why: &str) {
        self.ending = Some(why.to_owned());
        self.tell_all(&ToPlayer::Ending { why: why.to_owned() });
    }

    /// Whether nobody is let in any more.
    pub fn is_draining(&self) -> bool {
        self.ending.is_some()
    }

    /// Lets nobody in from now on, tells everybody why, and closes all connections.
    pub fn end(&mut self, why: &str) {
        tracing::info!(why, players = self.members.len(), "the session ends");
        self.tell_all(&ToPlayer::Ending { why: why.to_owned() });
        self.ended = true;
        self.ending = Some(why.to_owned());
        let open: Vec<Connection> = self.connections.keys().chain(self.guests.keys()).copied().collect();
        for to in open {
            self.outgoing.push_back(Outgoing { to, what: What::Close(why.to_owned()) });
        }
    }

    /// A datagram arrived.
    pub fn handle_datagram(&mut self, from: Connection, bytes: &[u8], received: Instant) {
        let Some(host) = self.connections.get(&from).copied() else { return };
        let allowed = self.members.get_mut(&host).is_some_and(|member| member.datagrams.take(received));
        if !allowed {
            self.counts.too_many += 1;
            return;
        }
        let now = self.now(received);
        let kind = Kind::of(bytes);
        let used = match kind {
            Some(kind) if kind.is_for_receivers() => self.receiver.handle_datagram(host, bytes, now).is_ok(),
            Some(kind) if kind.is_for_senders() => self.sender.handle_datagram(host, bytes, now).is_ok(),
            Some(Kind::Ping) => self.answer(from, bytes, received),
            None if bytes.first() == Some(&PASSED_ON) => self.pass_on(host, bytes),
            // Whatever was taken now would be missing where the session goes on. What must arrive is sent again there.
            None if bytes.first() == Some(&APPLICATION) && self.is_moving() => true,
            None if bytes.first() == Some(&APPLICATION) => self.take_datagram(host, from, bytes, received),
            _ => false,
        };
        // Nothing else moves anything, and there are many more of those.
        if kind == Some(Kind::Vectors) {
            self.relay(now);
        }
        self.judge(from, host, used, received);
    }

    fn answer(&mut self, to: Connection, bytes: &[u8], received: Instant) -> bool {
        let Ok(ping) = Ping::parse(bytes) else { return false };
        let Ok(pong) = self.clock.handle_ping(ping, received) else { return false };
        self.pongs.push_back((to, pong));
        true
    }

    /// Whoever sends one unusable datagram after the other is not one of ours.
    fn judge(&mut self, from: Connection, host: HostId, used: bool, now: Instant) {
        let Some(member) = self.members.get_mut(&host) else { return };
        member.unusable = if used { 0 } else { member.unusable + 1 };
        self.counts.unusable += u64::from(!used);
        if member.unusable > FORGIVEN {
            self.expel(from, "it sends datagrams that cannot be used", now);
        }
    }

    /// The next thing to do for a connection: call it until it answers `None`, whenever something was handled and when
    /// [`poll_timeout`](Self::poll_timeout) says so. Pongs are stamped here: send at once what it answers.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing> {
        if let Some((to, mut pong)) = self.pongs.pop_front() {
            self.clock.stamp(&mut pong, now);
            let mut bytes = vec![0; Pong::LEN];
            pong.emit(&mut bytes);
            self.go_along(to, bytes.len(), now);
            return Some(Outgoing { to, what: What::Datagram(bytes) });
        }
        if let Some(outgoing) = self.outgoing.pop_front() {
            return Some(outgoing);
        }
        let time = self.now(now);
        let Self { sender, receiver, members, .. } = self;
        sender.handle_timeout(time);
        while let Some(datagram) = sender.poll_transmit(time).or_else(|| receiver.poll_transmit(time)) {
            // Nothing is sent to a place that waits for its player.
            if let Some(to) = members.get(&datagram.to).and_then(|member| member.connection) {
                let bytes = datagram.bytes.to_vec();
                self.go_along(to, bytes.len(), now);
                return Some(Outgoing { to, what: What::Datagram(bytes) });
            }
        }
        self.poll_messages(now)
    }

    /// When to call [`advance`](Self::advance) and [`poll_transmit`](Self::poll_transmit) again if nothing else happens before.
    pub fn poll_timeout(&self) -> Option<Instant> {
        if !self.outgoing.is_empty() || !self.pongs.is_empty() {
            return Some(Instant::MIN);
        }
        let hello = self.guests.values().map(|guest| guest.came + self.config.hello_within);
        // While the session moves nobody is let go: there would be no end of being due.
        let lost = self.lost.values().filter(|_| !self.is_moving());
        let rejoin = lost.map(|lost| *lost + self.config.rejoin_within);
        let heart = [self.sender.poll_timeout(), self.receiver.poll_timeout()];
        let heart = heart.into_iter().flatten().filter_map(|time| self.clock.instant_of(time));
        let review = self.reviewed.filter(|_| !self.entities.is_empty()).map(|at| at + scope::REVIEW_EVERY);
        hello.chain(rejoin).chain(heart).chain(review).chain(self.messages_timeout()).chain(self.move_timeout()).min()
    }

    /// Time passes: guests who say nothing and players who do not come back are let go.
    pub fn advance(&mut self, now: Instant) {
        self.settle(now);
        self.turn_away_the_silent(now);
        self.let_go_of_the_lost(now);
        self.review_all(now);
        self.send_away_the_withdrawn(now);
        let time = self.now(now);
        self.relay(time);
    }

    /// The next thing the application may want to know.
    pub fn poll_event(&mut self) -> Option<HubEvent> {
        self.events.pop()
    }

    fn tell_application(&mut self, event: HubEvent) {
        let holds = event.holds();
        self.counts.events_dropped += self.events.push(event, holds);
    }

    fn tell(&mut self, host: HostId, message: &ToPlayer) {
        let Some(to) = self.members.get(&host).and_then(|member| member.connection) else { return };
        self.say(to, message);
    }

    fn tell_all(&mut self, message: &ToPlayer) {
        let all: Vec<Connection> = self.connections.keys().copied().collect();
        for to in all {
            self.say(to, message);
        }
    }

    fn say(&mut self, to: Connection, message: &ToPlayer) {
        // What the hub itself says always fits, but for what players wrote, which was checked when it came.
        if let Ok(bytes) = protocol::encode(message) {
            self.outgoing.push_back(Outgoing { to, what: What::Message(bytes) });
        }
    }
}
