//! A player's half of a session, without sockets: joining, the session's time, one's own movement out and everybody's in.
//!
//! Like the server's half, `evenkeel_net::hub::Hub`, it is a state machine: bytes and this host's time go in, bytes come out. Nothing can be said
//! about movement before the server has said welcome and the clock has found the session's time: [`Seat::is_ready`].

mod config;
mod echo;
mod inside;
mod messages;
mod moving;
mod ownership;
mod peers;
mod present;

pub use config::{SeatConfig, SeatError, SeatEvent};

use crate::events::Events;
use crate::levels;
use crate::protocol::{
    self, APPLICATION, MessageError, Model, PASSED_ON, Refusal, SERVER, ToPlayer, ToServer, VERSION, Welcome,
};
use echo::Echoes;
use evenkeel::clock::{ClockConfig, Ping, Pong};
use evenkeel::wire::datagram::Kind;
use evenkeel::{
    Clock, ClockRule, EntityConfig, EntityId, GlobalTime, HostId, Instant, Lag, PlaceError, Placement, Receiver,
    ReceiverEvent, Sender, SenderEvent,
};
use inside::Inside;
use messages::Mail;
use moving::Moves;
use peers::Peers;
use present::Present;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Something to be sent.
#[derive(Clone, Debug, PartialEq)]
pub enum ToSend {
    /// To the server, in order, and surely.
    Message(Vec<u8>),
    /// To the server, surely, and without waiting for others.
    Unordered(Vec<u8>),
    /// To the server, at once or not at all.
    Datagram(Vec<u8>),
    /// To a player by a direct connection, at once or not at all.
    ToPeer(HostId, Vec<u8>),
}

/// So many answers about the time wait at most.
const MAX_PONGS: usize = 1_024;

/// A player's part in a session. See the [module](self).
pub struct Seat {
    config: SeatConfig,
    clock: Clock,
    clock_seed: u64,
    /// Whose clock is the session's.
    leader: Option<HostId>,
    /// What that one says about when it received what this host sent.
    echoes: Echoes,
    /// Answers to those who ask for the time, if it is this host's.
    pongs: VecDeque<(HostId, Pong)>,
    inside: Option<Inside>,
    peers: Peers,
    /// Whether the server cannot be reached.
    alone: bool,
    /// What this player has made: the number of the last, and what the game said of each.
    made: u32,
    own: BTreeMap<EntityId, (EntityConfig, Vec<u8>)>,
    /// What was given to this player and not adopted yet.
    given: BTreeMap<EntityId, protocol::Entity>,
    /// What this player gave up, and what it said of that, until the server has heard it.
    parted: BTreeMap<EntityId, ToServer>,
    /// Where the session goes on.
    moves: Moves,
    /// Who else is here.
    players: BTreeSet<HostId>,
    /// What the server has told since its welcome of who and what is here.
    present: Present,
    outgoing: VecDeque<ToSend>,
    mail: Mail,
    events: Events<SeatEvent>,
    events_dropped: u64,
    refused: bool,
}

impl Seat {
    /// A player who asks to be let in.
    pub fn new(config: SeatConfig) -> Result<Self, MessageError> {
        let [a, b, c, d, e, f, g, h, ..] = config.secret;
        let seed = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        let mail = Mail::new(config.max_datagram);
        let mut seat = Self {
            config,
            clock: Clock::follower(ClockConfig { seed, ..ClockConfig::default() }),
            clock_seed: seed,
            leader: None,
            echoes: Echoes::default(),
            pongs: VecDeque::new(),
            inside: None,
            peers: Peers::default(),
            alone: false,
            made: 0,
            own: BTreeMap::new(),
            given: BTreeMap::new(),
            parted: BTreeMap::new(),
            moves: Moves::default(),
            players: BTreeSet::new(),
            present: Present::default(),
            outgoing: VecDeque::new(),
            mail,
            events: Events::new(),
            events_dropped: 0,
            refused: false,
        };
        seat.knock()?;
        Ok(seat)
    }

    /// Says hello, for the first time or again.
    fn knock(&mut self) -> Result<(), MessageError> {
        let SeatConfig { session, name, token, peer, .. } = self.config.clone();
        let rejoin = self.inside.as_ref().map(|inside| (inside.you, inside.secret));
        self.say(&ToServer::Hello { version: VERSION, session, name, token, rejoin, peer })
    }

    /// The connection was lost, and there is another: asks to be let in again, with what one owns.
    pub fn reconnect(&mut self) -> Result<(), MessageError> {
        self.outgoing.clear();
        self.mail.close();
        self.moves.connect(false);
        self.knock()
    }

    /// The connection to the server was lost: tells the game.
    pub fn handle_lost(&mut self, why: &str, now: Instant) {
        self.mail.close();
        self.handle_alone(now);
        self.tell(SeatEvent::Lost { why: why.to_owned() });
    }

    /// Whether there is no use in asking again: the server does not want this player.
    pub fn is_refused(&self) -> bool {
        self.refused
    }

    /// Why the server does not hear this player.
    fn unheard(&self) -> SeatError {
        if self.inside.is_some() && !self.refused { SeatError::Lost } else { SeatError::NotReady }
    }

    /// A number that is hardly ever another player's too.
    pub fn seed(&self) -> u64 {
        self.clock_seed
    }

    /// Whether one is in and knows the time.
    pub fn is_ready(&self) -> bool {
        self.inside.is_some() && self.clock.uncertainty().is_some()
    }

    /// The player's number, once it has one.
    pub fn you(&self) -> Option<HostId> {
        self.inside.as_ref().map(|inside| inside.you)
    }

    /// Who sends movement to whom, once one is in.
    pub fn model(&self) -> Option<Model> {
        self.inside.as_ref().map(|inside| inside.model)
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

    /// What sends to the server, once one is in; nothing in a session of peers only.
    pub fn to_server(&self) -> Option<&Sender> {
        self.inside.as_ref()?.to_server.as_ref()
    }

    /// What sends to other players directly, with its books about them; nothing in a session without.
    pub fn to_peers(&self) -> Option<&Sender> {
        self.inside.as_ref()?.to_peers.as_ref()
    }

    /// How long things wait before they are shown, once one is in.
    pub fn lag(&self) -> Option<&Lag> {
        self.receiver().map(Receiver::lag)
    }

    /// Events that were given up because nobody asked: at most 65,536 wait, and 16 MiB of them.
    pub fn events_dropped(&self) -> u64 {
        self.events_dropped
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
                // Whoever is not wanted where it was sent is still at home where it was, and hears that it stayed.
                if !self.moves.is_there() {
                    // A server that ends may be back soon; whoever is not wanted is not wanted then either.
                    self.refused = !matches!(refusal, Refusal::Ending | Refusal::Full);
                    self.tell(SeatEvent::Refused(refusal));
                }
            }
            ToPlayer::Present { players, entities, last } => self.look_around(players, entities, last, now)?,
            ToPlayer::Came(player) => self.greet(player),
            ToPlayer::Left { host, why } => self.part(host, why),
            ToPlayer::Entity(entity) => self.hear_of(entity, now),
            ToPlayer::Given(entity) => self.be_given(entity),
            ToPlayer::Gone { entity } => self.hear_end(entity, now),
            ToPlayer::Meet(introduction) => self.meet(introduction, now),
            ToPlayer::Leader { host } => self.follow(host, now),
            ToPlayer::Lag(change) => {
                // Whoever does not know the time yet has shown nothing either.
                let time = self.clock.now(now).unwrap_or(GlobalTime::MIN);
                if let Some(inside) = &mut self.inside {
                    inside.set_lag(change, time);
                }
            }
            ToPlayer::Rule(rule) => self.place_by(rule, now),
            ToPlayer::Ending { why } => self.tell(SeatEvent::Ending { why }),
            ToPlayer::Move(place) => self.be_moved(place, now),
            // A seat never asks for them.
            ToPlayer::Sessions { .. } => {}
        }
        Ok(())
    }

    fn place_by(&mut self, rule: ClockRule, now: Instant) {
        let time = self.clock.now(now).unwrap_or(GlobalTime::MIN);
        if let Some(inside) = &mut self.inside {
            inside.set_rule(rule, time);
        }
    }

    fn come_in(&mut self, welcome: Welcome, now: Instant) -> Result<(), SeatError> {
        let again = welcome.again && self.inside.as_ref().is_some_and(|inside| inside.you == welcome.you);
        if self.moves.is_there() && !again {
            return Err(SeatError::Welcome("it does not know who we were".into()));
        }
        let time = self.clock.now(now).unwrap_or(GlobalTime::MIN);
        if again {
            let inside = self.inside.as_mut().ok_or(SeatError::NotReady)?;
            let agreement = protocol::decode_agreement(&welcome.agreement);
            let agreement = agreement.map_err(|error| SeatError::Welcome(error.to_string()))?;
            if let Some(difference) = inside.difference(&agreement) {
                return Err(SeatError::Welcome(format!("it has agreed on something else since: {difference}")));
            }
            inside.secret = welcome.secret;
            inside.begin_anew(&agreement, time)?;
        } else {
            self.inside = Some(Inside::furnish(&welcome, &self.config, time).map_err(SeatError::Welcome)?);
            (self.made, self.leader) = (0, None);
            self.peers.begin_anew();
            self.own.clear();
            self.given.clear();
            self.parted.clear();
            self.players.clear();
        }
        self.echoes.begin_anew();
        let moved = self.moves.arrive();
        if moved.is_some() {
            // It is as much the server as the one before, but has another clock.
            self.leader = None;
        }
        self.present = Present::default();
        for peer in self.linked().collect::<Vec<_>>() {
            self.say(&ToServer::Linked { peer, up: true }).map_err(SeatError::Message)?;
        }
        self.alone = false;
        self.tell(SeatEvent::Welcome { you: welcome.you, again });
        if let Some(url) = moved {
            self.tell(SeatEvent::Moved { url });
        }
        self.follow(welcome.leader, now);
        self.open_mail(again, now);
        Ok(())
    }

    /// A datagram arrived from the server. What cannot be used is left out.
    pub fn handle_datagram(&mut self, bytes: &[u8], received: Instant) {
        match bytes.first() {
            Some(&PASSED_ON) => {
                if let Some((from, datagram)) = protocol::passed_on(bytes) {
                    self.handle_peer_datagram(from, datagram, received);
                }
            }
            Some(&APPLICATION) => self.take_datagram(bytes, received),
            _ => self.take(SERVER, bytes, received),
        }
    }

    /// A datagram arrived from another player, by whichever way.
    pub fn handle_peer_datagram(&mut self, from: HostId, bytes: &[u8], received: Instant) {
        if from != SERVER && self.model().is_some_and(Model::has_peers) {
            self.take(from, bytes, received);
        }
    }

    /// A datagram of the heart's.
    fn take(&mut self, from: HostId, bytes: &[u8], received: Instant) {
        match Kind::of(bytes) {
            Some(Kind::Pong) if self.leader == Some(from) => {
                if let Ok(pong) = Pong::parse(bytes) {
                    let _ = self.clock.handle_pong(pong, received);
                }
            }
            Some(Kind::Ping) => self.answer(from, bytes, received),
            Some(kind) if kind.is_for_receivers() => self.take_vectors(from, bytes, received),
            Some(kind) if kind.is_for_senders() => self.take_receipts(from, bytes, received),
            _ => {}
        }
    }

    /// Somebody asks for the time, which is this host's.
    fn answer(&mut self, from: HostId, bytes: &[u8], received: Instant) {
        let pong = Ping::parse(bytes).ok().and_then(|ping| self.clock.handle_ping(ping, received).ok());
        if let Some(pong) = pong.filter(|_| self.pongs.len() < MAX_PONGS) {
            self.pongs.push_back((from, pong));
        }
    }

    fn take_vectors(&mut self, from: HostId, bytes: &[u8], received: Instant) {
        let (Some(time), Some(inside)) = (self.clock.now(received), &mut self.inside) else { return };
        let handled = inside.receiver.handle_datagram(from, bytes, time);
        // Every datagram of the leader's says when it left, by the session's clock.
        let leads = self.leader == Some(from);
        if let Some(sent) = handled.ok().and_then(|handled| handled.sent).filter(|_| leads) {
            let _ = self.clock.handle_stamp(sent, received);
        }
        if let Some(uncertainty) = self.clock.uncertainty() {
            inside.receiver.set_clock_uncertainty(uncertainty);
        }
        while let Some(event) = self.inside.as_mut().and_then(|inside| inside.receiver.poll_event(time)) {
            if let ReceiverEvent::Disagreement { with, difference } = event {
                self.tell(SeatEvent::Disagreement { with, difference });
            }
        }
    }

    fn take_receipts(&mut self, from: HostId, bytes: &[u8], received: Instant) {
        let (Some(time), Some(inside)) = (self.clock.now(received), &mut self.inside) else { return };
        let sender = if from == SERVER { &mut inside.to_server } else { &mut inside.to_peers };
        let used = sender.as_mut().is_some_and(|sender| sender.handle_datagram(from, bytes, time).is_ok());
        if used && self.leader == Some(from) {
            for (sent, arrived) in self.echoes.read(bytes) {
                let _ = self.clock.handle_echo(sent, arrived, received);
            }
        }
        while let Some(event) = self.inside.as_mut().and_then(Inside::poll_sender_event) {
            if let SenderEvent::Disagreement { with, difference } = event {
                self.tell(SeatEvent::Disagreement { with, difference });
            }
        }
    }

    /// The next thing to send: call it until it answers `None`, whenever something was handled or said and when
    /// [`poll_timeout`](Self::poll_timeout) says so. Send at once what it answers.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<ToSend> {
        if let Some(outgoing) = self.outgoing.pop_front() {
            return Some(outgoing);
        }
        self.advance_peers(now);
        while let Some((to, bytes)) = self.next_datagram(now) {
            let length = bytes.len();
            if let Some(send) = self.route(to, bytes) {
                if to == SERVER {
                    self.go_along(length, now);
                }
                return Some(send);
            }
        }
        self.poll_mail(now)
    }

    fn next_datagram(&mut self, now: Instant) -> Option<(HostId, Vec<u8>)> {
        self.inside.as_ref()?;
        if let Some((to, mut pong)) = self.pongs.pop_front() {
            self.clock.stamp(&mut pong, now);
            let mut bytes = vec![0; Pong::LEN];
            pong.emit(&mut bytes);
            return Some((to, bytes));
        }
        let leader = self.leader.filter(|leader| self.is_reached(*leader));
        if let Some(ping) = leader.and_then(|_| self.clock.poll_ping(now)) {
            let mut bytes = vec![0; Ping::LEN];
            ping.emit(&mut bytes);
            return Some((leader?, bytes));
        }
        let (time, inside) = (self.clock.now(now)?, self.inside.as_mut()?);
        let Inside { to_server, to_peers, receiver, .. } = inside;
        to_server.iter_mut().chain(to_peers.iter_mut()).for_each(|sender| sender.handle_timeout(time));
        let by_server = to_server.as_mut().and_then(|sender| sender.poll_transmit(time));
        let by_peers = by_server.or_else(|| to_peers.as_mut().and_then(|sender| sender.poll_transmit(time)));
        let (datagram, counts) = match by_peers {
            Some(datagram) => (datagram, true),
            None => (receiver.poll_transmit(time)?, false),
        };
        if counts && self.leader == Some(datagram.to) {
            self.echoes.note(datagram.bytes, time, now);
        }
        Some((datagram.to, datagram.bytes.to_vec()))
    }

    /// When to call [`poll_transmit`](Self::poll_transmit) again if nothing else happens before.
    pub fn poll_timeout(&self) -> Option<Instant> {
        if !self.outgoing.is_empty() || !self.pongs.is_empty() {
            return Some(Instant::MIN);
        }
        let inside = self.inside.as_ref()?;
        let senders = [&inside.to_server, &inside.to_peers].into_iter().flatten().filter_map(Sender::poll_timeout);
        let heart = senders.chain(inside.receiver.poll_timeout()).filter_map(|time| self.clock.instant_of(time));
        let ping = self.clock.poll_timeout().filter(|_| self.leader.is_some_and(|leader| self.is_reached(leader)));
        heart.chain(ping).chain(self.peers.poll_timeout()).chain(self.mail.poll_timeout()).min()
    }

    /// The next thing the game may want to know.
    pub fn poll_event(&mut self) -> Option<SeatEvent> {
        self.events.pop()
    }

    fn tell(&mut self, event: SeatEvent) {
        let holds = event.holds();
        self.events_dropped += self.events.push(event, holds);
    }

    fn say(&mut self, message: &ToServer) -> Result<(), MessageError> {
        self.outgoing.push_back(ToSend::Message(protocol::encode(message)?));
        Ok(())
    }
}
