//! The sender: the owner's half of the state machine.
//!
//! Its methods fall in four kinds, and none of them blocks, reads a clock or touches a socket:
//!
//! - **getters** look: [`ledger`](Sender::ledger), [`fairness`](Sender::fairness), [`seen_by`](Sender::seen_by);
//! - **commands** are the application speaking: [`observe`](Sender::observe), [`add_receiver`](Sender::add_receiver), ...;
//! - **`handle_*`** is the world speaking: [`handle_datagram`](Sender::handle_datagram), and
//!   [`handle_timeout`](Sender::handle_timeout) when time has passed;
//! - **`poll_*`** is the machine answering: [`poll_transmit`](Sender::poll_transmit), [`poll_event`](Sender::poll_event),
//!   and [`poll_timeout`](Sender::poll_timeout), which says when to call `handle_timeout` if nothing else happens.

mod agreement;
mod config;
mod drafts;
mod encoded;
mod export;
mod outbox;
mod receipts;
mod transmit;

pub use config::{ConfigError, EntityConfig, SenderConfig};
pub use receipts::HandleError;

use crate::ClockRule;
use crate::constraint::{Constraint, constraint_id};
use crate::events::Events;
use crate::ids::{EntityId, HostId, VectorNumber};
use crate::lag::{Lag, LagChange, LagError};
use crate::ledger::{EntityIndex, Fairness, FairnessCost, Farewell, Ledger, ReceiverIndex, Relevance, Terms};
use crate::motion::{Motion, Pose, State};
use crate::policy::{Decision, Policy};
use crate::time::{Duration, GlobalTime};
use crate::wire::datagram::Stream;
use crate::wire::{Agreement, Difference, Format, QuantiseError};
use alloc::boxed::Box;
use alloc::collections::{BinaryHeap, VecDeque};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;
use drafts::Drafts;
use encoded::Encodings;
use outbox::{Outbox, Outgoing};

/// The sender's own side of an entity.
struct Owned {
    config: EntityConfig,
    last_pose: Option<(Pose, GlobalTime)>,
    /// The newest vector, as the ledger has it: every pose is compared with it, and here it is at hand.
    newest: Option<(Motion, GlobalTime)>,
    /// Whether a vector was held back for somebody since the last one.
    held: bool,
    /// What the base case would have exported last, if the policy asks.
    shadow: Option<Box<(Motion, GlobalTime)>>,
    encoded: Encodings,
}

/// Something that must happen at a given time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    Release {
        entity: EntityIndex,
        host: HostId,
        number: VectorNumber,
    },
    Loss(HostId),
    Acknowledge(HostId),
    /// Asks a receiver that disagrees what it holds to be agreed.
    Ask(HostId),
}

/// Decides what to tell which receiver when, and keeps the books. See the [module](self).
///
/// ```
/// use evenkeel::{Duration, EntityId, GlobalTime, HostId, Pose, Sender, SenderConfig, Threshold, Vec3};
///
/// let mut sender = Sender::new(SenderConfig::default())?;
/// let now = GlobalTime::ZERO;
/// sender.add_receiver(HostId(1), now)?;
/// sender.add_entity(EntityId(7), Threshold::within(0.1), now)?;
///
/// // Every tick:
/// sender.observe(EntityId(7), Pose::at(Vec3::ZERO).moving(Vec3::new(3.0, 0.0, 0.0)), now)?;
/// sender.handle_timeout(now);
/// while let Some(datagram) = sender.poll_transmit(now) {
///     assert_eq!(datagram.to, HostId(1)); // socket.send(datagram.to, datagram.bytes)
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Sender {
    format: Format,
    /// Of the agreement.
    fingerprint: u64,
    policy: Box<dyn Policy>,
    constraint: Option<Box<dyn Constraint>>,
    ledger: Ledger,
    owned: Vec<Owned>,
    outboxes: Vec<Outbox>,
    /// Receivers with something to send.
    dirty: VecDeque<HostId>,
    timers: BinaryHeap<Reverse<(GlobalTime, Timer)>>,
    decisions: Vec<Decision>,
    wakes: Vec<(EntityIndex, ReceiverIndex)>,
    /// Entities removed in the current tick of the format, and the tick of their last vector: the same name may not be
    /// exported again before the next tick.
    farewells: Vec<(EntityId, i64)>,
    events: Events<SenderEvent>,
    buffer: Vec<u8>,
    drafts: Drafts,
    now: GlobalTime,
    max_entities: usize,
    max_receivers: usize,
    resend_lost: bool,
    longest_silence: Option<Duration>,
    trust_receipts: bool,
    secret: [u8; 16],
}

/// A datagram to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit<'a> {
    /// To whom.
    pub to: HostId,
    /// What.
    pub bytes: &'a [u8],
}

/// Something a sender's application may want to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SenderEvent {
    /// A receiver acknowledged a datagram that it cannot have seen.
    ForgedReceipt {
        /// Who.
        from: HostId,
    },
    /// A receiver claimed a reception time outside what round trips allow; the bound was booked instead.
    ClaimBounded {
        /// Who.
        from: HostId,
        /// The delay it claimed.
        claimed: Duration,
        /// The delay that was booked.
        booked: Duration,
    },
    /// A datagram had no receipt in time and counts as lost.
    DatagramLost {
        /// To whom it went.
        to: HostId,
    },
    /// A receiver holds something else to be agreed. Nothing is sent to it, and nothing is booked, until the two agree.
    Disagreement {
        /// Who.
        with: HostId,
        /// In which field, and both values.
        difference: Difference,
    },
    /// A receiver that disagreed agrees again, and is told everything anew.
    Agreed {
        /// Who.
        with: HostId,
    },
    /// A receiver got a datagram and could not decode it: the two ends had come apart. What it carried is said again.
    Undecoded {
        /// Who.
        by: HostId,
    },
    /// So much waits for a receiver that something was dropped: nobody polls.
    QueueFull {
        /// For whom.
        to: HostId,
    },
}

/// Why a command was refused. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SenderError {
    /// There is no such entity here.
    UnknownEntity(EntityId),
    /// There is no such receiver here.
    UnknownReceiver(HostId),
    /// The entity is here already.
    DuplicateEntity(EntityId),
    /// The receiver is here already.
    DuplicateReceiver(HostId),
    /// No more entities fit.
    TooManyEntities {
        /// The configured limit.
        limit: usize,
    },
    /// No more receivers fit.
    TooManyReceivers {
        /// The configured limit.
        limit: usize,
    },
    /// A number is infinite or not a number.
    NotFinite(EntityId),
    /// A threshold is negative or not a number.
    BadThreshold(EntityId),
    /// A weight is negative, infinite or not a number.
    BadRelevance(EntityId),
    /// Time went backwards.
    TimeWentBackwards {
        /// By how much.
        by: Duration,
    },
    /// A relayed vector is no newer than the one before.
    StaleVector(EntityId),
    /// The motion cannot be written in the format.
    Unrepresentable(EntityId, QuantiseError),
    /// The lag cannot be.
    Lag(LagError),
}

impl fmt::Display for SenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownEntity(id) => write!(f, "{id} is not owned here: call add_entity first"),
            Self::UnknownReceiver(id) => write!(f, "{id} is not a receiver: call add_receiver first"),
            Self::DuplicateEntity(id) => write!(f, "{id} is owned here already"),
            Self::DuplicateReceiver(id) => write!(f, "{id} is a receiver already"),
            Self::TooManyEntities { limit } => write!(f, "more than {limit} entities: raise max_entities"),
            Self::TooManyReceivers { limit } => write!(f, "more than {limit} receivers: raise max_receivers"),
            Self::NotFinite(id) => write!(f, "the pose of {id} has a number that is infinite or not a number"),
            Self::BadThreshold(id) => write!(f, "the threshold of {id} is negative, not a number, or has no time"),
            Self::BadRelevance(id) => write!(f, "what {id} is to weigh is negative, infinite or not a number"),
            Self::TimeWentBackwards { by } => write!(f, "time went backwards by {by}"),
            Self::StaleVector(id) => write!(f, "the vector of {id} is no newer than the one before"),
            Self::Lag(error) => error.fmt(f),
            Self::Unrepresentable(id, error) => write!(f, "the motion of {id} cannot be sent: {error}"),
        }
    }
}

impl core::error::Error for SenderError {}

/// What the next owner of an entity needs to know. It travels by the game's own means.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Handover {
    /// Which entity.
    pub entity: EntityId,
    /// The epoch under which the next owner exports it.
    pub epoch: u32,
    /// Where it was last exported to be, if it ever was.
    pub motion: Option<(GlobalTime, Motion)>,
}

impl Sender {
    /// A sender without entities or receivers.
    pub fn new(config: SenderConfig) -> Result<Self, ConfigError> {
        config.validate()?;
        let terms = Terms {
            placing: config.placing,
            window: config.window,
            history: config.history,
            books: config.books,
            tick: config.format.time_of(1).since(config.format.time_of(0)),
        };
        let constraint = constraint_id(config.constraint.as_deref());
        Ok(Self {
            fingerprint: Agreement { format: config.format, placing: config.placing, constraint }.fingerprint(),
            ledger: Ledger::new(terms),
            format: config.format,
            policy: config.policy,
            constraint: config.constraint,
            owned: Vec::new(),
            outboxes: Vec::new(),
            dirty: VecDeque::new(),
            timers: BinaryHeap::new(),
            decisions: Vec::new(),
            wakes: Vec::new(),
            farewells: Vec::new(),
            events: Events::new(),
            buffer: vec![0; config.max_datagram],
            drafts: Drafts::default(),
            now: GlobalTime::MIN,
            max_entities: config.max_entities,
            max_receivers: config.max_receivers,
            resend_lost: config.resend_lost,
            longest_silence: config.longest_silence,
            trust_receipts: config.trust_receipts,
            secret: config.secret,
        })
    }

    /// The books.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// How well, and how equally, the receivers are served.
    pub fn fairness(&self, now: GlobalTime) -> Fairness {
        Fairness { cost: self.policy.cost_of_fairness(&self.ledger, now), ..self.ledger.fairness(now) }
    }

    /// Returns what fairness has cost of late, if the policy says so: a part of [`fairness`](Self::fairness) that is quickly read.
    pub fn cost_of_fairness(&self) -> Option<FairnessCost> {
        self.policy.cost_of_fairness(&self.ledger, self.now)
    }

    /// The wire format in use.
    pub fn format(&self) -> &Format {
        &self.format
    }

    /// The policy in use.
    pub fn policy(&self) -> &dyn Policy {
        &*self.policy
    }

    /// Decides by another policy from now on. The books are kept; vectors being held are dropped or sent as the new policy
    /// has it at their entity's next trigger.
    pub fn set_policy(&mut self, policy: Box<dyn Policy>) {
        self.policy = policy;
        for owned in &mut self.owned {
            owned.shadow = None;
        }
    }

    /// How many things wait to be sent to a receiver.
    pub fn queued(&self, host: HostId) -> Result<usize, SenderError> {
        Ok(self.outboxes[self.receiver(host)?.0].len())
    }

    /// Events that were given up because nobody polled for them.
    pub fn events_dropped(&self) -> u64 {
        self.events.dropped()
    }

    /// What a receiver was showing of an entity at a global time, as far as is known: the base of lag compensation.
    ///
    /// `None` if it was showing nothing, or if that is further back than the configured history. The answer is what the books
    /// say: exact where receipts have come, expected where they are still on their way, and without the receiver's smoothing.
    ///
    /// ```
    /// # use evenkeel::*;
    /// # let mut sender = Sender::new(SenderConfig::default())?;
    /// # sender.add_receiver(HostId(1), GlobalTime::ZERO)?;
    /// # sender.add_entity(EntityId(7), Threshold::within(0.1), GlobalTime::ZERO)?;
    /// // A player at host 1 fired at this moment. What did it aim at?
    /// let fired = GlobalTime::from_millis(1_200);
    /// let target = sender.seen_by(HostId(1), EntityId(7), fired)?;
    /// assert!(target.is_none()); // nothing was sent yet
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn seen_by(&self, host: HostId, id: EntityId, t: GlobalTime) -> Result<Option<State>, SenderError> {
        let (receiver, entity) = (self.receiver(host)?, self.entity(id)?);
        let mut state = self.ledger.seen_by(entity, receiver, t);
        if let (Some(constraint), Some(state)) = (&self.constraint, &mut state) {
            constraint.constrain(id, state);
        }
        Ok(state)
    }

    /// Serves another receiver from now on: it is told about every entity at once.
    pub fn add_receiver(&mut self, host: HostId, now: GlobalTime) -> Result<(), SenderError> {
        if self.ledger.receiver(host).is_some() {
            return Err(SenderError::DuplicateReceiver(host));
        }
        if self.outboxes.len() >= self.max_receivers {
            return Err(SenderError::TooManyReceivers { limit: self.max_receivers });
        }
        self.advance(now)?;
        let receiver = self.ledger.add_receiver(host, now);
        let id = transmit::secret_number(&self.secret, host, now.as_nanos() as u64);
        self.outboxes.push(Outbox::new(Stream { id, agreement: self.fingerprint }));
        for index in 0..self.ledger.entities.len() {
            self.introduce(EntityIndex(index), receiver);
        }
        Ok(())
    }

    /// Forgets a receiver.
    pub fn remove_receiver(&mut self, host: HostId) -> Result<(), SenderError> {
        let receiver = self.receiver(host)?;
        self.ledger.remove_receiver(receiver);
        self.outboxes.swap_remove(receiver.0);
        self.policy.receiver_left(receiver);
        self.dirty.retain(|waiting| *waiting != host);
        Ok(())
    }

    /// Owns another entity. Its first pose goes to everybody.
    pub fn add_entity(
        &mut self,
        id: EntityId,
        config: impl Into<EntityConfig>,
        now: GlobalTime,
    ) -> Result<(), SenderError> {
        self.add_entity_in_epoch(id, 0, config.into(), now)
    }

    fn add_entity_in_epoch(
        &mut self,
        id: EntityId,
        epoch: u32,
        config: EntityConfig,
        now: GlobalTime,
    ) -> Result<(), SenderError> {
        if self.ledger.entity(id).is_some() {
            return Err(SenderError::DuplicateEntity(id));
        }
        if self.ledger.entity_count() >= self.max_entities {
            return Err(SenderError::TooManyEntities { limit: self.max_entities });
        }
        if !config.threshold.is_valid() {
            return Err(SenderError::BadThreshold(id));
        }
        self.advance(now)?;
        let EntityIndex(index) = self.ledger.add_entity(id, epoch, now);
        let encoded = Encodings::default();
        let owned = Owned { config, last_pose: None, newest: None, held: false, shadow: None, encoded };
        match self.owned.get_mut(index) {
            Some(slot) => *slot = owned,
            None => self.owned.push(owned),
        }
        Ok(())
    }

    /// Changes how an entity is exported.
    pub fn configure_entity(&mut self, id: EntityId, config: impl Into<EntityConfig>) -> Result<(), SenderError> {
        let (entity, config) = (self.entity(id)?, config.into());
        if !config.threshold.is_valid() {
            return Err(SenderError::BadThreshold(id));
        }
        self.owned[entity.0].config = config;
        Ok(())
    }

    /// Removes an entity. Receivers are told until they acknowledge it.
    pub fn remove_entity(&mut self, id: EntityId, now: GlobalTime) -> Result<(), SenderError> {
        let entity = self.entity(id)?;
        self.advance(now)?;
        for receiver in self.ledger.receivers() {
            self.say_farewell(entity, receiver);
        }
        if let Some(vector) = self.ledger.newest(entity) {
            self.farewells.push((id, vector.quantised.tick()));
        }
        self.give_up(entity, now);
        Ok(())
    }

    /// Gives an entity away. Receivers keep showing it until the next owner, who gets the [`Handover`], speaks.
    pub fn release_entity(&mut self, id: EntityId, now: GlobalTime) -> Result<Handover, SenderError> {
        let entity = self.entity(id)?;
        self.advance(now)?;
        let epoch = self.ledger.entities[entity.0].epoch.saturating_add(1);
        let motion = self.ledger.newest(entity).map(|v| (v.generated, v.motion));
        self.give_up(entity, now);
        Ok(Handover { entity: id, epoch, motion })
    }

    /// Takes over an entity that another owner released, or whose owner has vanished
    /// ([`Receiver::handover`](crate::Receiver::handover)). Every receiver is in scope again: say otherwise by
    /// [`set_relevance`](Self::set_relevance) before the first [`observe`](Self::observe).
    ///
    /// ```
    /// # use evenkeel::*;
    /// # let mut alice = Sender::new(SenderConfig::default())?;
    /// # let mut bob = Sender::new(SenderConfig::default())?;
    /// # let mut alices_receiver = Receiver::new(ReceiverConfig::default())?;
    /// # let mut bobs_receiver = Receiver::new(ReceiverConfig::default())?;
    /// # let (ball, now, bob_id) = (EntityId(1), GlobalTime::from_millis(5), HostId(2));
    /// # alices_receiver.add_sender(bob_id, bob.agreement(), now)?;
    /// alice.add_entity(ball, Threshold::within(0.1), now)?;
    /// alice.observe(ball, Pose::at(Vec3::ZERO).moving(Vec3::new(9.0, 0.0, 0.0)), now)?;
    ///
    /// let handover = alice.release_entity(ball, now)?;
    /// alices_receiver.await_owner(&handover, bob_id, now)?; // she sees it roll on until Bob speaks
    /// // ... the hand-over travels to Bob by the game's own means ...
    /// bob.adopt_entity(&handover, Threshold::within(0.1), now)?;
    /// bobs_receiver.forget(&handover); // it is his now, late words of Alice are void
    /// # assert!(alices_receiver.place(ball, now)?.velocity.x > 8.9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn adopt_entity(
        &mut self,
        handover: &Handover,
        config: impl Into<EntityConfig>,
        now: GlobalTime,
    ) -> Result<(), SenderError> {
        self.add_entity_in_epoch(handover.entity, handover.epoch, config.into(), now)?;
        let entity = self.entity(handover.entity)?;
        self.owned[entity.0].last_pose = handover.motion.as_ref().map(|(generated, motion)| {
            let state = motion.at(now.since(*generated).as_secs_f64());
            (Pose::from(state), now)
        });
        Ok(())
    }

    /// Speaks of an entity in this epoch from now on, because it has another owner, whose vectors are [relayed](Self::relay): whoever
    /// owned it before, or heard of it from others, then believes what it is told. The books go on. An epoch that has passed is left alone.
    pub fn begin_epoch(&mut self, id: EntityId, epoch: u32) -> Result<(), SenderError> {
        let entity = self.entity(id)?;
        if epoch > self.ledger.entities[entity.0].epoch {
            self.drafts.clear(&mut self.ledger.sheets);
            self.ledger.begin_epoch(entity, epoch);
            self.owned[entity.0].encoded.clear();
        }
        Ok(())
    }

    fn give_up(&mut self, entity: EntityIndex, now: GlobalTime) {
        for outbox in &mut self.outboxes {
            outbox.withdraw(entity);
        }
        self.ledger.remove_entity(entity, now);
        self.policy.entity_left(entity);
    }

    /// Says whether an entity matters to a receiver, and how much.
    pub fn set_relevance(
        &mut self,
        id: EntityId,
        host: HostId,
        relevance: Relevance,
        now: GlobalTime,
    ) -> Result<(), SenderError> {
        let (entity, receiver) = (self.entity(id)?, self.receiver(host)?);
        if !relevance.is_valid() {
            return Err(SenderError::BadRelevance(id));
        }
        self.advance(now)?;
        let before = core::mem::replace(&mut self.ledger.desk_mut(entity, receiver).relevance, relevance);
        match (before.in_scope(), relevance.in_scope()) {
            (true, false) => {
                self.say_farewell(entity, receiver);
                self.ledger.finish_pair(entity, receiver, now);
                let newest = self.ledger.newest(entity).map(|v| v.number);
                self.ledger.book_mut(entity, receiver).set_farewell(newest);
            }
            (false, true) => self.show_again(entity, receiver),
            _ => {}
        }
        Ok(())
    }

    /// All receivers, those to come included, show things later or sooner from when the change begins. This is news for the
    /// books: the receivers must be told by the game's own means, and call [`Receiver::set_lag`](crate::Receiver::set_lag).
    /// So must the owner's own screen: [`LocalSite::set_lag`](crate::lag::LocalSite::set_lag).
    pub fn set_lag(&mut self, change: LagChange, now: GlobalTime) -> Result<(), SenderError> {
        Lag::default().change(change, now).map_err(SenderError::Lag)?;
        self.advance(now)?;
        self.ledger.set_lag(change, now).map_err(SenderError::Lag)
    }

    /// All receivers extrapolate what arrives from now on by another rule. This is news for the books: the receivers must be told by
    /// the game's own means, and call [`Receiver::set_rule`](crate::Receiver::set_rule).
    pub fn set_rule(&mut self, rule: ClockRule, now: GlobalTime) -> Result<(), SenderError> {
        self.advance(now)?;
        self.ledger.set_rule(rule, now);
        Ok(())
    }

    /// Begins the books about errors anew: nobody owes, or is owed, anything from before. For comparing policies one after the other;
    /// what is still open, for about a round trip, is booked as ever.
    pub fn clear_books(&mut self, now: GlobalTime) -> Result<(), SenderError> {
        self.advance(now)?;
        self.ledger.clear(now);
        Ok(())
    }

    /// One receiver shows things later, or sooner, than the others: because it chose to, or because its delay asks for it.
    pub fn set_receiver_lag(&mut self, host: HostId, change: LagChange, now: GlobalTime) -> Result<(), SenderError> {
        let receiver = self.receiver(host)?;
        Lag::default().change(change, now).map_err(SenderError::Lag)?;
        self.advance(now)?;
        self.ledger.set_receiver_lag(receiver, change, now).map_err(SenderError::Lag)
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) and [`poll_transmit`](Self::poll_transmit) again if nothing else
    /// happens before.
    pub fn poll_timeout(&self) -> Option<GlobalTime> {
        if !self.dirty.is_empty() {
            return Some(self.now);
        }
        let timer = self.timers.peek().map(|Reverse((at, _))| *at);
        match (timer, self.policy.next_wake()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// The next thing the application may want to know.
    pub fn poll_event(&mut self) -> Option<SenderEvent> {
        self.events.pop()
    }

    fn receiver(&self, host: HostId) -> Result<ReceiverIndex, SenderError> {
        self.ledger.receiver(host).ok_or(SenderError::UnknownReceiver(host))
    }

    fn entity(&self, id: EntityId) -> Result<EntityIndex, SenderError> {
        self.ledger.entity(id).ok_or(SenderError::UnknownEntity(id))
    }

    /// Time may only go forward.
    fn advance(&mut self, now: GlobalTime) -> Result<(), SenderError> {
        if now < self.now {
            return Err(SenderError::TimeWentBackwards { by: self.now.since(now) });
        }
        self.now = now;
        Ok(())
    }

    /// Puts the newest vector of an entity in the next datagram to a receiver.
    fn queue_newest(&mut self, entity: EntityIndex, receiver: ReceiverIndex, again: bool) {
        if let Some(number) = self.ledger.newest(entity).map(|v| v.number) {
            self.queue(entity, number, receiver, again);
        }
    }

    /// The same where it is known which one is the newest.
    #[inline]
    fn queue(&mut self, entity: EntityIndex, newest: VectorNumber, receiver: ReceiverIndex, again: bool) {
        let desk = self.ledger.desk_mut(entity, receiver);
        if !desk.relevance.in_scope() || self.outboxes[receiver.0].meeting.suspended {
            return;
        }
        let waiting = desk.queued.replace(newest).is_some();
        if !waiting {
            self.outboxes[receiver.0].push_newest(entity, again);
        }
        self.mark_dirty(receiver);
    }

    /// Tells a receiver to forget an entity, and every vector of it generated so far.
    fn say_farewell(&mut self, entity: EntityIndex, receiver: ReceiverIndex) {
        let book = &self.ledger.entities[entity.0];
        let (Some(id), Some(newest)) = (book.id, book.exported.newest()) else { return };
        // Of a receiver that disagrees it is not known what it was told.
        let suspended = self.outboxes[receiver.0].meeting.suspended;
        if self.ledger.book(entity, receiver).last_sent().is_none() && !suspended {
            return;
        }
        let farewell = Farewell { entity: id, epoch: book.epoch, tick: newest.quantised.tick() };
        self.push(receiver, Outgoing::Farewell(farewell));
    }

    /// An entity comes back into a receiver's scope. The receiver forgot every vector up to its farewell, so that a new one
    /// is needed: the same path, told from now on.
    fn show_again(&mut self, entity: EntityIndex, receiver: ReceiverIndex) {
        let farewell = self.ledger.book(entity, receiver).farewell();
        let Some(newest) = self.ledger.newest(entity).copied() else { return };
        if Some(newest.number) == farewell {
            let tick = self.format.tick_of(self.now).max(newest.quantised.tick() + 1);
            let generated = self.format.time_of(tick);
            let motion = newest.motion.advanced(generated.since(newest.generated).as_secs_f64());
            if let Ok(quantised) = self.format.quantise(&motion, generated) {
                self.make_exported(entity, quantised);
            }
        }
        self.introduce(entity, receiver);
    }

    /// Tells a receiver about an entity it does not know. The base case would do so too.
    fn introduce(&mut self, entity: EntityIndex, receiver: ReceiverIndex) {
        let book = &self.ledger.entities[entity.0];
        if book.exported.newest().is_some() && self.ledger.desk(entity, receiver).relevance.in_scope() {
            self.ledger.spent.due += 1;
            self.queue_newest(entity, receiver, false);
        }
    }

    fn push(&mut self, receiver: ReceiverIndex, outgoing: Outgoing) {
        let farewell = matches!(outgoing, Outgoing::Farewell(_));
        if self.outboxes[receiver.0].meeting.suspended && !farewell {
            return;
        }
        if !self.outboxes[receiver.0].push(outgoing) {
            self.events.push(SenderEvent::QueueFull { to: self.ledger.host(receiver) });
        }
        self.mark_dirty(receiver);
    }

    #[inline]
    fn mark_dirty(&mut self, receiver: ReceiverIndex) {
        let outbox = &mut self.outboxes[receiver.0];
        if !outbox.dirty {
            outbox.dirty = true;
            self.dirty.push_back(self.ledger.receivers[receiver.0].host);
        }
    }

    fn set_timer(&mut self, at: GlobalTime, timer: Timer) {
        self.timers.push(Reverse((at, timer)));
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("policy", &self.policy.name())
            .field("entities", &self.ledger.entity_count())
            .field("receivers", &self.outboxes.len())
            .field("spent", &self.ledger.spent())
            .finish_non_exhaustive()
    }
}
