//! A player's half of a session, without sockets: joining, the session's time, one's own movement out and everybody's in.
//!
//! Like the [`Hub`](crate::hub::Hub) it is a state machine: bytes and this host's time go in, bytes come out. Nothing can be said
//! about movement before the server has said welcome and the clock has found the session's time: [`Seat::is_ready`].

mod messages;

use crate::levels::{self, Level, LevelError};
use crate::protocol::{
    self, APPLICATION, Entity, MessageError, Player, Refusal, SERVER, ToPlayer, ToServer, VERSION, Welcome, entity_of,
};
use evenkeel::clock::{ClockConfig, Ping, Pong};
use evenkeel::wire::datagram::Kind;
use evenkeel::{
    Clock, ConfigError, EntityConfig, EntityId, GlobalTime, HostId, Instant, Lag, PlaceError, Placement, Pose,
    Receiver, ReceiverConfig, ReceiverError, Sender, SenderConfig, SenderError, Smoothing,
};
use messages::Mail;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;

/// How a [`Seat`] is set up. Start from [`SeatConfig::named`] and change what matters.
#[derive(Clone, Debug, PartialEq)]
pub struct SeatConfig {
    /// Which session. Default: "main".
    pub session: String,
    /// What others shall call the player.
    pub name: String,
    /// The operator's leave to join. Default: none.
    pub token: Vec<u8>,
    /// How jumps of others are hidden. Default: they are not.
    pub smoothing: Smoothing,
    /// The largest datagram, in bytes. Default: 1,100.
    pub max_datagram: usize,
    /// Random bytes of this host's own.
    pub secret: [u8; 16],
}

impl SeatConfig {
    /// A player of this name, the rest as by default.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            session: "main".into(),
            name: name.into(),
            token: Vec::new(),
            smoothing: Smoothing::None,
            max_datagram: 1_100,
            secret: [0; 16],
        }
    }
}

/// Something to be sent to the server.
#[derive(Clone, Debug, PartialEq)]
pub enum ToSend {
    /// In order, and surely.
    Message(Vec<u8>),
    /// Surely, and without waiting for others.
    Unordered(Vec<u8>),
    /// At once, or not at all.
    Datagram(Vec<u8>),
}

/// Something a player's game may want to know.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SeatEvent {
    /// The server let us in. Entities and players that were there before come as events of their own.
    Welcome {
        /// Our number.
        you: HostId,
        /// Whether we were here before.
        again: bool,
    },
    /// The server does not let us in, or has sent us away.
    Refused(Refusal),
    /// The connection was lost. What others do freezes until there is another.
    Lost {
        /// Why.
        why: String,
    },
    /// A player is here.
    Came(Player),
    /// A player left.
    Left {
        /// Who.
        host: HostId,
        /// Why.
        why: String,
    },
    /// There is an entity of somebody else's.
    Made(Entity),
    /// An entity is no more.
    Gone {
        /// Which.
        entity: EntityId,
    },
    /// A message of the game.
    Message {
        /// From whom; [`SERVER`] for the server.
        from: HostId,
        /// How it came.
        level: Level,
        /// What.
        bytes: Vec<u8>,
    },
    /// The server ends the session.
    Ending {
        /// Why.
        why: String,
    },
}

/// Why a command was refused. Nothing changed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SeatError {
    /// The server has not let us in, or the session's time is not known yet.
    NotReady,
    /// No more entities can be named.
    TooManyEntities,
    /// The sender refused it.
    Sender(SenderError),
    /// The message cannot be sent.
    Message(MessageError),
    /// The game's message cannot be sent, or read.
    Level(LevelError),
    /// What the server said in its welcome cannot be used.
    Welcome(String),
}

impl fmt::Display for SeatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReady => write!(f, "not in the session yet: wait for the welcome and for the clock"),
            Self::TooManyEntities => write!(f, "this host has named all the entities it can"),
            Self::Sender(error) => error.fmt(f),
            Self::Message(error) => error.fmt(f),
            Self::Level(error) => error.fmt(f),
            Self::Welcome(why) => write!(f, "the server's welcome cannot be used: {why}"),
        }
    }
}

impl std::error::Error for SeatError {}

impl From<SenderError> for SeatError {
    fn from(error: SenderError) -> Self {
        Self::Sender(error)
    }
}

/// So many events wait at most; the oldest are given up and counted.
const MAX_EVENTS: usize = 65_536;

/// What there is once the server has said welcome.
struct Inside {
    you: HostId,
    secret: u64,
    sender: Sender,
    receiver: Receiver,
}

/// A player's part in a session. See the [module](self).
pub struct Seat {
    config: SeatConfig,
    clock: Clock,
    inside: Option<Inside>,
    /// What this player has made: the number of the last, and what the game said of each.
    made: u32,
    own: BTreeMap<EntityId, (EntityConfig, Vec<u8>)>,
    outgoing: VecDeque<ToSend>,
    mail: Mail,
    events: VecDeque<SeatEvent>,
    events_dropped: u64,
    refused: bool,
}

impl Seat {
    /// A player who asks to be let in.
    pub fn new(config: SeatConfig) -> Result<Self, MessageError> {
        let [a, b, c, d, e, f, g, h, ..] = config.secret;
        let mail = Mail::new(config.max_datagram);
        let seed = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        let mut seat = Self {
            config,
            clock: Clock::follower(ClockConfig { seed, ..ClockConfig::default() }),
            inside: None,
            made: 0,
            own: BTreeMap::new(),
            outgoing: VecDeque::new(),
            mail,
            events: VecDeque::new(),
            events_dropped: 0,
            refused: false,
        };
        seat.knock()?;
        Ok(seat)
    }

    /// Says hello, for the first time or again.
    fn knock(&mut self) -> Result<(), MessageError> {
        let SeatConfig { session, name, token, .. } = self.config.clone();
        let rejoin = self.inside.as_ref().map(|inside| (inside.you, inside.secret));
        self.say(&ToServer::Hello { version: VERSION, session, name, token, rejoin })
    }

    /// The connection was lost, and there is another: asks to be let in again, with what one owns.
    pub fn reconnect(&mut self) -> Result<(), MessageError> {
        self.outgoing.clear();
        self.mail = Mail::new(self.config.max_datagram);
        self.knock()
    }

    /// The connection was lost: tells the game.
    pub fn handle_lost(&mut self, why: &str) {
        self.mail.set_open(false);
        self.tell(SeatEvent::Lost { why: why.to_owned() });
    }

    /// Whether there is no use in asking again: the server does not want this player.
    pub fn is_refused(&self) -> bool {
        self.refused
    }

    /// Whether one is in and knows the time.
    pub fn is_ready(&self) -> bool {
        self.inside.is_some() && self.clock.uncertainty().is_some()
    }

    /// The player's number, once it has one.
    pub fn you(&self) -> Option<HostId> {
        self.inside.as_ref().map(|inside| inside.you)
    }

    /// The session's time.
    pub fn now(&mut self, now: Instant) -> Option<GlobalTime> {
        self.clock.now(now)
    }

    /// The clock: how far off it may be, and more.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The receiver, once one is in: where everything is, and how long deliveries take.
    pub fn receiver(&self) -> Option<&Receiver> {
        self.inside.as_ref().map(|inside| &inside.receiver)
    }

    /// The sender, once one is in.
    pub fn sender(&self) -> Option<&Sender> {
        self.inside.as_ref().map(|inside| &inside.sender)
    }

    /// How long things wait before they are shown, once one is in.
    pub fn lag(&self) -> Option<&Lag> {
        self.receiver().map(Receiver::lag)
    }

    /// Events that were given up because nobody asked.
    pub fn events_dropped(&self) -> u64 {
        self.events_dropped
    }

    /// Makes an entity of one's own. `about` is what others are told of it.
    pub fn make(
        &mut self,
        config: impl Into<EntityConfig>,
        about: Vec<u8>,
        now: Instant,
    ) -> Result<EntityId, SeatError> {
        let (time, config) = (self.clock.now(now).ok_or(SeatError::NotReady)?, config.into());
        let inside = self.inside.as_mut().ok_or(SeatError::NotReady)?;
        let entity = entity_of(inside.you, self.made).ok_or(SeatError::TooManyEntities)?;
        inside.sender.add_entity(entity, config, time)?;
        self.made += 1;
        self.own.insert(entity, (config, about.clone()));
        self.say(&ToServer::Make { entity, about }).map_err(SeatError::Message)?;
        Ok(entity)
    }

    /// Tells where an entity of one's own really is: call it every tick.
    pub fn observe(&mut self, entity: EntityId, pose: Pose, now: Instant) -> Result<(), SeatError> {
        let time = self.clock.now(now).ok_or(SeatError::NotReady)?;
        let inside = self.inside.as_mut().ok_or(SeatError::NotReady)?;
        inside.sender.observe(entity, pose, time)?;
        Ok(())
    }

    /// Takes an entity of one's own away.
    pub fn unmake(&mut self, entity: EntityId, now: Instant) -> Result<(), SeatError> {
        let time = self.clock.now(now).ok_or(SeatError::NotReady)?;
        let inside = self.inside.as_mut().ok_or(SeatError::NotReady)?;
        inside.sender.remove_entity(entity, time)?;
        self.own.remove(&entity);
        self.say(&ToServer::Unmake { entity }).map_err(SeatError::Message)
    }

    /// Where to show an entity of somebody else's: call it every frame.
    pub fn place(&mut self, entity: EntityId, now: Instant) -> Result<Placement, PlaceError> {
        let time = self.clock.now(now).ok_or(PlaceError::Unknown(entity))?;
        self.inside.as_ref().ok_or(PlaceError::Unknown(entity))?.receiver.place(entity, time)
    }

    /// Says farewell.
    pub fn leave(&mut self) -> Result<(), SeatError> {
        self.say(&ToServer::Bye).map_err(SeatError::Message)
    }

    /// A message arrived from the server.
    pub fn handle_message(&mut self, bytes: &[u8], now: Instant) -> Result<(), SeatError> {
        if levels::is_message(bytes) {
            return self.take_ordered(bytes);
        }
        match protocol::decode(bytes).map_err(SeatError::Message)? {
            ToPlayer::Welcome(welcome) => self.come_in(*welcome, now)?,
            ToPlayer::Refused(refusal) => {
                // A server that ends may be back soon; whoever is not wanted is not wanted then either.
                self.refused = !matches!(refusal, Refusal::Ending | Refusal::Full);
                self.tell(SeatEvent::Refused(refusal));
            }
            ToPlayer::Came(player) => self.tell(SeatEvent::Came(player)),
            ToPlayer::Left { host, why } => self.tell(SeatEvent::Left { host, why }),
            ToPlayer::Entity(entity) => self.tell(SeatEvent::Made(entity)),
            ToPlayer::Gone { entity } => self.tell(SeatEvent::Gone { entity }),
            ToPlayer::Lag(change) => {
                if let (Some(time), Some(inside)) = (self.clock.now(now), &mut self.inside) {
                    // The server checked it, and a late change begins now.
                    let _ = inside.receiver.set_lag(change, time);
                }
            }
            ToPlayer::Ending { why } => self.tell(SeatEvent::Ending { why }),
        }
        Ok(())
    }

    fn come_in(&mut self, welcome: Welcome, now: Instant) -> Result<(), SeatError> {
        let again = self.inside.as_ref().is_some_and(|inside| inside.you == welcome.you);
        let time = self.clock.now(now).unwrap_or(GlobalTime::MIN);
        if again {
            let inside = self.inside.as_mut().ok_or(SeatError::NotReady)?;
            inside.secret = welcome.secret;
            // As if the server were a new receiver: it is told everything from the beginning.
            let _ = inside.sender.remove_receiver(SERVER);
            inside.sender.add_receiver(SERVER, time)?;
        } else {
            self.inside = Some(self.furnish(&welcome, time).map_err(SeatError::Welcome)?);
            self.made = 0;
            self.own.clear();
        }
        self.mail.set_open(true);
        self.tell(SeatEvent::Welcome { you: welcome.you, again });
        for (entity, (_, about)) in self.own.clone() {
            self.say(&ToServer::Make { entity, about }).map_err(SeatError::Message)?;
        }
        welcome.players.into_iter().for_each(|player| self.tell(SeatEvent::Came(player)));
        let others = welcome.entities.into_iter().filter(|entity| entity.owner != welcome.you);
        others.for_each(|entity| self.tell(SeatEvent::Made(entity)));
        Ok(())
    }

    /// Makes sender and receiver as the welcome has it.
    fn furnish(&self, welcome: &Welcome, now: GlobalTime) -> Result<Inside, String> {
        let format = protocol::decode_format(&welcome.format).map_err(|error| error.to_string())?;
        let placing = welcome.placing.into();
        let (max_datagram, secret) = (self.config.max_datagram, self.config.secret);
        let text = |error: ConfigError| error.to_string();
        // The server shows nothing: it passes on, at once.
        let config = SenderConfig { format, max_datagram, secret, ..SenderConfig::default() };
        let mut sender = Sender::new(config).map_err(text)?;
        let config =
            ReceiverConfig { placing, smoothing: self.config.smoothing, max_datagram, ..ReceiverConfig::default() };
        let mut receiver = Receiver::new(config).map_err(text)?;
        sender.add_receiver(SERVER, now).map_err(|error| error.to_string())?;
        receiver.add_sender(SERVER, format, now).map_err(|error: ReceiverError| error.to_string())?;
        Ok(Inside { you: welcome.you, secret: welcome.secret, sender, receiver })
    }

    /// A datagram arrived from the server. What cannot be used is left out.
    pub fn handle_datagram(&mut self, bytes: &[u8], received: Instant) {
        match Kind::of(bytes) {
            Some(Kind::Pong) => {
                if let Ok(pong) = Pong::parse(bytes) {
                    let _ = self.clock.handle_pong(pong, received);
                }
            }
            Some(Kind::Vectors | Kind::Acknowledgement) => self.take_vectors(bytes, received),
            Some(Kind::Receipts) => {
                if let (Some(time), Some(inside)) = (self.clock.now(received), &mut self.inside) {
                    let _ = inside.sender.handle_datagram(SERVER, bytes, time);
                }
            }
            None if bytes.first() == Some(&APPLICATION) => self.take_datagram(bytes, received),
            Some(Kind::Ping) | None => {}
        }
    }

    fn take_vectors(&mut self, bytes: &[u8], received: Instant) {
        let (Some(time), Some(inside)) = (self.clock.now(received), &mut self.inside) else { return };
        let handled = inside.receiver.handle_datagram(SERVER, bytes, time);
        // Every datagram of the server's says when it left, by the session's clock.
        if let Ok(Some(sent)) = handled.map(|handled| handled.sent) {
            let _ = self.clock.handle_stamp(sent, received);
        }
        if let Some(uncertainty) = self.clock.uncertainty() {
            inside.receiver.set_clock_uncertainty(uncertainty);
        }
    }

    /// The next thing to send: call it until it answers `None`, whenever something was handled or said and when
    /// [`poll_timeout`](Self::poll_timeout) says so. Send at once what it answers.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<ToSend> {
        if let Some(outgoing) = self.outgoing.pop_front() {
            return Some(outgoing);
        }
        if let Some(bytes) = self.poll_heart(now) {
            self.go_along(bytes.len(), now);
            return Some(ToSend::Datagram(bytes));
        }
        self.poll_mail(now)
    }

    /// The next datagram of the clock's and of the heart's.
    fn poll_heart(&mut self, now: Instant) -> Option<Vec<u8>> {
        self.inside.as_ref()?;
        if let Some(ping) = self.clock.poll_ping(now) {
            let mut bytes = vec![0; Ping::LEN];
            ping.emit(&mut bytes);
            return Some(bytes);
        }
        let (time, inside) = (self.clock.now(now)?, self.inside.as_mut()?);
        let Inside { sender, receiver, .. } = inside;
        let datagram = sender.poll_transmit(time).or_else(|| receiver.poll_transmit(time))?;
        Some(datagram.bytes.to_vec())
    }

    /// When to call [`poll_transmit`](Self::poll_transmit) again if nothing else happens before.
    pub fn poll_timeout(&self) -> Option<Instant> {
        if !self.outgoing.is_empty() {
            return Some(Instant::MIN);
        }
        let inside = self.inside.as_ref()?;
        let heart = [inside.sender.poll_timeout(), inside.receiver.poll_timeout()];
        let heart = heart.into_iter().flatten().filter_map(|time| self.clock.instant_of(time));
        heart.chain(self.clock.poll_timeout()).chain(self.mail.poll_timeout()).min()
    }

    /// The next thing the game may want to know.
    pub fn poll_event(&mut self) -> Option<SeatEvent> {
        self.events.pop_front()
    }

    fn tell(&mut self, event: SeatEvent) {
        if self.events.len() >= MAX_EVENTS {
            self.events.pop_front();
            self.events_dropped += 1;
        }
        self.events.push_back(event);
    }

    fn say(&mut self, message: &ToServer) -> Result<(), MessageError> {
        self.outgoing.push_back(ToSend::Message(protocol::encode(message)?));
        Ok(())
    }
}
