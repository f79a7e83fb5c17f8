//! The ledger: what each receiver is believed to be showing, and what that has cost it in export error.
//!
//! For every entity and receiver the sender keeps which vectors it sent, when they arrived (from receipts) or should arrive
//! (from the delay estimate), and the error between the exported path and the path the receiver therefore places:
//!
//! - **CEE**, cumulative: up to the oldest vector whose fate is still open, known from receipts ([`PairView::known`]);
//! - **EEE**, estimated: since then ([`PairView::estimated`]);
//! - **AEE**, accumulated: both together ([`PairView::accumulated`]), what policies weigh.
//!
//! Late receipts correct what was closed. With lag, all paths are compared at shown time. Books are kept per entity, as
//! the paper does; [`Ledger::fairness`] adds them up per receiver.

mod events;
mod exported;
mod fairness;
mod log;
#[cfg(any(test, evenkeel_oracle))]
mod oracle;
mod pair;
mod rows;
mod settle;
mod sheets;

pub use exported::{ClockRule, Placing, Vector};
pub use fairness::{Fairness, FairnessCost, ReceiverFairness};
pub use pair::{Reference, Relevance};

pub(crate) use exported::Exported;
pub(crate) use log::{At, Carried, Claim, Fate, Log};
use pair::Context;
pub(crate) use pair::{Desk, Held, Pair, Terms};
use rows::Rows;
pub(crate) use sheets::{Farewell, SheetId, Sheets};

use crate::delay::PathEstimate;
use crate::ids::{EntityId, HostId, VectorNumber};
use crate::lag::{Lag, LagChange, LagError};
use crate::motion::{Motion, State};
use crate::path::{SplitError, distance_integral};
use crate::policy::Spent;
use crate::time::{Duration, GlobalTime};
use alloc::vec::Vec;
use hashbrown::HashMap;

/// An entity by its place in the ledger, valid until the entity is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntityIndex(pub usize);

/// A receiver by its place in the ledger: 0 to n - 1, without gaps. When one leaves, the last takes its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReceiverIndex(pub usize);

/// What one entity's vectors were.
#[derive(Debug)]
pub(crate) struct EntityBook {
    /// `None` once the entity was removed and the slot waits for another.
    pub(crate) id: Option<EntityId>,
    pub(crate) epoch: u32,
    /// The first vector of the epoch: receivers build upon none before it.
    pub(crate) since: VectorNumber,
    /// Never restarts, so that no old receipt can speak of a new vector.
    next_number: VectorNumber,
    pub(crate) exported: Exported,
    rows: Rows,
    /// When to look next for vectors that nobody needs.
    trim_at: GlobalTime,
    /// One per receiver.
    pub(crate) desks: Vec<Desk>,
    /// Vectors sent about it, over all receivers.
    pub(crate) vectors: u64,
}

/// What the sender knows about one receiver.
#[derive(Debug)]
pub(crate) struct ReceiverBook {
    pub(crate) host: HostId,
    pub(crate) path: PathEstimate,
    /// How long it waits before it shows things.
    pub(crate) lag: Lag,
    /// What was sent to it.
    pub(crate) log: Log,
    /// The books of every place for an entity, also of those that are free. They stand in one row, because datagrams and receipts go
    /// from entity to entity.
    pub(crate) pairs: Vec<Pair>,
    /// Whether there is news that is not in the books.
    unsettled: bool,
    pub(crate) vectors: u64,
    pub(crate) bytes: u64,
    /// Errors and seconds of entities that are gone.
    past_error: SplitError,
    past_shown: Duration,
}

/// The exported path of an entity keeps at most this many vectors, however short the history asked for.
/// Beyond that books are closed with what is believed, which the oracle does not: to be compared, the two keep all they need.
const MAX_EXPORTED: usize = if cfg!(any(test, evenkeel_oracle)) { 4_096 } else { 256 };

/// Exported paths are trimmed in so many turns.
const TRIMMED_IN: i64 = 16;

/// Everything a sender knows about its receivers. See the [module](self).
#[derive(Debug)]
pub struct Ledger {
    pub(crate) terms: Terms,
    /// How long receivers wait that nobody said otherwise of.
    lag: Lag,
    pub(crate) entities: Vec<EntityBook>,
    pub(crate) receivers: Vec<ReceiverBook>,
    pub(crate) sheets: Sheets,
    pub(crate) spent: Spent,
    entity_index: HashMap<EntityId, usize>,
    receiver_index: HashMap<HostId, usize>,
    free: Vec<usize>,
    /// Whether there is news of any receiver that is not in the books.
    unsettled: bool,
    /// Kept for its space.
    ready: Vec<settle::Ready>,
    /// The same books, kept a second time to compare.
    #[cfg(any(test, evenkeel_oracle))]
    oracle: oracle::Oracle,
}

impl Ledger {
    pub(crate) fn new(terms: Terms) -> Self {
        Self {
            lag: Lag::unchecked(terms.placing.lag),
            terms,
            entities: Vec::new(),
            receivers: Vec::new(),
            sheets: Sheets::default(),
            spent: Spent::default(),
            entity_index: HashMap::new(),
            receiver_index: HashMap::new(),
            free: Vec::new(),
            unsettled: false,
            ready: Vec::new(),
            #[cfg(any(test, evenkeel_oracle))]
            oracle: oracle::Oracle::default(),
        }
    }

    /// All receivers, in order.
    pub fn receivers(&self) -> impl DoubleEndedIterator<Item = ReceiverIndex> + ExactSizeIterator + use<> {
        (0..self.receivers.len()).map(ReceiverIndex)
    }

    /// All entities, in order of their index.
    pub fn entities(&self) -> impl DoubleEndedIterator<Item = EntityIndex> + '_ {
        self.entities.iter().enumerate().filter(|(_, e)| e.id.is_some()).map(|(i, _)| EntityIndex(i))
    }

    /// How many entities there are.
    pub fn entity_count(&self) -> usize {
        self.entity_index.len()
    }

    /// A receiver's host.
    pub fn host(&self, receiver: ReceiverIndex) -> HostId {
        self.receivers[receiver.0].host
    }

    /// The receiver at a host.
    pub fn receiver(&self, host: HostId) -> Option<ReceiverIndex> {
        self.receiver_index.get(&host).copied().map(ReceiverIndex)
    }

    /// An entity by its name.
    pub fn entity(&self, id: EntityId) -> Option<EntityIndex> {
        self.entity_index.get(&id).copied().map(EntityIndex)
    }

    /// An entity's name; `None` if the index is no longer in use.
    pub fn entity_id(&self, entity: EntityIndex) -> Option<EntityId> {
        self.entities.get(entity.0).and_then(|e| e.id)
    }

    /// How many vectors were sent about an entity, over all receivers.
    pub fn vectors_about(&self, entity: EntityIndex) -> u64 {
        self.entities[entity.0].vectors
    }

    /// The newest vector of an entity.
    pub fn newest(&self, entity: EntityIndex) -> Option<&Vector> {
        self.entities[entity.0].exported.newest()
    }

    /// A vector of an entity by number, while it is within the history.
    pub fn vector(&self, entity: EntityIndex, number: VectorNumber) -> Option<&Vector> {
        self.entities[entity.0].exported.get(number)
    }

    /// What is known about the way to a receiver.
    pub fn path(&self, receiver: ReceiverIndex) -> &PathEstimate {
        &self.receivers[receiver.0].path
    }

    /// Over how long the past counts; 20 s if it counts for ever. Above zero.
    pub(crate) fn window(&self) -> Duration {
        self.terms.window.filter(|window| *window > Duration::ZERO).unwrap_or(Duration::from_secs(20))
    }

    /// How receivers place what they are sent.
    pub fn placing(&self) -> &Placing {
        &self.terms.placing
    }

    /// How long a receiver waits before it shows things.
    pub fn lag(&self, receiver: ReceiverIndex) -> &Lag {
        &self.receivers[receiver.0].lag
    }

    /// How long receivers to come will wait.
    pub(crate) fn usual_lag(&self) -> Duration {
        self.lag.target()
    }

    /// Receivers extrapolate by another rule from now on. What is known of the time before is booked by the old one.
    pub(crate) fn set_rule(&mut self, rule: ClockRule, now: GlobalTime) {
        self.settle(now);
        for entity in (0..self.entities.len()).map(EntityIndex) {
            self.close_entity(entity, now);
        }
        self.terms.placing.rule = rule;
        #[cfg(any(test, evenkeel_oracle))]
        self.oracle.set_rule(rule);
        for entity in (0..self.entities.len()).map(EntityIndex) {
            self.for_each_pair(entity, Pair::look_what_is_in_use);
        }
    }

    /// Every receiver waits longer, or less long, those to come included.
    pub(crate) fn set_lag(&mut self, change: LagChange, now: GlobalTime) -> Result<(), LagError> {
        self.lag.change(change, now)?;
        (0..self.receivers.len()).try_for_each(|receiver| self.set_receiver_lag(ReceiverIndex(receiver), change, now))
    }

    /// One receiver waits longer, or less long.
    pub(crate) fn set_receiver_lag(
        &mut self,
        receiver: ReceiverIndex,
        change: LagChange,
        now: GlobalTime,
    ) -> Result<(), LagError> {
        self.settle(now);
        self.receivers[receiver.0].lag.change(change, now).map(|_| ())
    }

    /// What was sent so far.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// Vectors and bytes sent so far, over all receivers.
    pub(crate) fn sent(&self) -> (u64, u64) {
        (self.spent.vectors, self.spent.bytes)
    }

    /// Returns the vectors and the bytes sent to a receiver so far; bytes are of whole datagrams, acknowledgements included.
    pub fn sent_to(&self, receiver: ReceiverIndex) -> (u64, u64) {
        let book = &self.receivers[receiver.0];
        (book.vectors, book.bytes)
    }

    /// The books of one entity at one receiver.
    pub fn pair(&self, entity: EntityIndex, receiver: ReceiverIndex) -> PairView<'_> {
        PairView { ledger: self, entity, receiver }
    }

    /// What a receiver was showing of an entity at a global time, as far as that is known and not forgotten.
    pub fn seen_by(&self, entity: EntityIndex, receiver: ReceiverIndex, t: GlobalTime) -> Option<State> {
        let (book, context) = self.context(entity, receiver);
        let shown = context.lag.shown(t);
        Some(book.shown_at(context, shown)?.at(shown))
    }

    /// Bytes of memory behind the ledger, allocations included.
    pub fn memory_bytes(&self) -> usize {
        let entity =
            |e: &EntityBook| e.desks.capacity() * size_of::<Desk>() + e.exported.heap_bytes() + e.rows.heap_bytes();
        let pairs = |r: &ReceiverBook| {
            r.pairs.capacity() * size_of::<Pair>()
                + r.pairs.iter().map(Pair::heap_bytes).sum::<usize>()
                + r.log.heap_bytes()
        };
        size_of::<Self>()
            + self.sheets.heap_bytes()
            + self.entities.capacity() * size_of::<EntityBook>()
            + self.receivers.capacity() * size_of::<ReceiverBook>()
            + self.entities.iter().map(entity).sum::<usize>()
            + self.receivers.iter().map(pairs).sum::<usize>()
    }

    pub(crate) fn add_receiver(&mut self, host: HostId, now: GlobalTime) -> ReceiverIndex {
        let index = self.receivers.len();
        let lag = self.lag.clone();
        let shown = lag.shown(now);
        let log = Log::default();
        self.receivers.push(ReceiverBook {
            host,
            path: PathEstimate::default(),
            lag,
            pairs: self.entities.iter().map(|_| Pair::new(shown, &log)).collect(),
            log,
            unsettled: false,
            vectors: 0,
            bytes: 0,
            past_error: SplitError::default(),
            past_shown: Duration::ZERO,
        });
        self.receiver_index.insert(host, index);
        self.entities.iter_mut().for_each(|entity| entity.desks.push(Desk::new()));
        #[cfg(any(test, evenkeel_oracle))]
        self.oracle.add_receiver(self.entities.len(), shown);
        ReceiverIndex(index)
    }

    pub(crate) fn remove_receiver(&mut self, receiver: ReceiverIndex) {
        let mut gone = self.receivers.swap_remove(receiver.0);
        gone.log.clear(&mut self.sheets);
        self.receiver_index.remove(&gone.host);
        if let Some(moved) = self.receivers.get(receiver.0) {
            self.receiver_index.insert(moved.host, receiver.0);
        }
        for entity in &mut self.entities {
            entity.desks.swap_remove(receiver.0);
        }
        #[cfg(any(test, evenkeel_oracle))]
        self.oracle.remove_receiver(receiver.0);
    }

    pub(crate) fn add_entity(&mut self, id: EntityId, epoch: u32, now: GlobalTime) -> EntityIndex {
        let index = self.free.pop().unwrap_or_else(|| {
            self.entities.push(EntityBook {
                id: None,
                epoch: 0,
                since: VectorNumber::FIRST,
                next_number: VectorNumber::FIRST,
                exported: Exported::new(),
                rows: Rows::default(),
                trim_at: GlobalTime::MIN,
                desks: Vec::new(),
                vectors: 0,
            });
            self.entities.len() - 1
        });
        let book = &mut self.entities[index];
        (book.id, book.epoch, book.since, book.vectors) = (Some(id), epoch, VectorNumber::FIRST, 0);
        book.desks.clear();
        book.desks.resize(self.receivers.len(), Desk::new());
        for receiver in &mut self.receivers {
            let pair = Pair::new(receiver.lag.shown(now), &receiver.log);
            match receiver.pairs.get_mut(index) {
                Some(place) => *place = pair,
                None => {
                    if receiver.pairs.len() == receiver.pairs.capacity() {
                        // Not twice as much as before: books are most of what a sender keeps.
                        receiver.pairs.reserve_exact(index / 8 + 8);
                    }
                    receiver.pairs.push(pair);
                }
            }
        }
        self.entity_index.insert(id, index);
        #[cfg(any(test, evenkeel_oracle))]
        {
            let (oracle, around) = self.oracle();
            oracle.add_entity(index, |receiver| around(receiver).lag.shown(now));
        }
        EntityIndex(index)
    }

    /// An entity's vectors are of this epoch from now on.
    pub(crate) fn begin_epoch(&mut self, entity: EntityIndex, epoch: u32) {
        let book = &mut self.entities[entity.0];
        (book.epoch, book.since) = (epoch, book.next_number);
    }

    /// Closes an entity's books, adds them to what its receivers suffered, and frees its place.
    pub(crate) fn remove_entity(&mut self, entity: EntityIndex, now: GlobalTime) {
        for receiver in 0..self.receivers.len() {
            self.finish_pair(entity, ReceiverIndex(receiver), now);
        }
        let book = &mut self.entities[entity.0];
        book.exported.clear();
        book.rows.clear();
        #[cfg(any(test, evenkeel_oracle))]
        self.oracle.remove_entity(entity.0);
        let book = &mut self.entities[entity.0];
        if let Some(id) = book.id.take() {
            self.entity_index.remove(&id);
            self.free.push(entity.0);
        }
    }

    /// Closes the books of one pair for good and starts new ones.
    pub(crate) fn finish_pair(&mut self, entity: EntityIndex, receiver: ReceiverIndex, now: GlobalTime) {
        let (pair, context) = self.split(entity, receiver);
        let until = context.lag.shown(now);
        pair.close_to(context, until);
        let (error, shown) = (pair.accumulated(context, now), pair.shown_for(context, now));
        let ReceiverBook { pairs, log, .. } = &mut self.receivers[receiver.0];
        pairs[entity.0] = Pair::new(until, log);
        #[cfg(any(test, evenkeel_oracle))]
        {
            let (oracle, around) = self.oracle();
            oracle.finish((entity.0, receiver.0), around(receiver.0), error, now);
        }
        let desk = &mut self.entities[entity.0].desks[receiver.0];
        (desk.queued, desk.sent) = (None, None);
        let receiver = &mut self.receivers[receiver.0];
        receiver.past_error += error;
        receiver.past_shown += shown;
    }

    /// The number that an entity's next vector must have.
    pub(crate) fn next_number(&self, entity: EntityIndex) -> VectorNumber {
        self.entities[entity.0].next_number
    }

    /// A new vector, with the [`next_number`](Self::next_number), becomes the exported path.
    pub(crate) fn export(&mut self, entity: EntityIndex, vector: Vector, now: GlobalTime) {
        self.trim(entity, now);
        #[cfg(any(test, evenkeel_oracle))]
        {
            let history = self.terms.history;
            let (oracle, around) = self.oracle();
            oracle.export(entity.0, vector, history, around, now);
        }
        let book = &mut self.entities[entity.0];
        debug_assert_eq!(vector.number, book.next_number);
        book.next_number = vector.number.next();
        book.exported.push(vector);
    }

    /// Drops vectors that no query within the history can reach. Done in batches: twice the history is let to pile up.
    fn trim(&mut self, entity: EntityIndex, now: GlobalTime) {
        let EntityBook { exported, trim_at, .. } = &mut self.entities[entity.0];
        let full = exported.len() >= MAX_EXPORTED;
        if !full && (now < *trim_at || exported.len() < 2) {
            return;
        }
        // Not all entities in the same tick.
        let pause = self.terms.history.max(Duration::from_millis(500)) / (2 * TRIMMED_IN);
        *trim_at = now + pause * (TRIMMED_IN + entity.0 as i64 % TRIMMED_IN);
        let shown = |r: &ReceiverBook| r.lag.shown(now - r.path.memory(self.terms.history));
        let horizon = self.receivers.iter().map(shown).min().unwrap_or(now - self.terms.history);
        let Needs { closed, needed, in_use } = self.needs(entity, horizon, now);
        while let Some(until) = self.entities[entity.0].exported.oldest_until() {
            let exported = &self.entities[entity.0].exported;
            let must = full && exported.len() > MAX_EXPORTED / 2;
            let oldest = exported.oldest();
            if (until > horizon || needed.is_some_and(|needed| oldest >= needed)) && !must {
                break;
            }
            if until > closed {
                // Books that still need the vector are closed with what is believed: it is that or nothing.
                self.for_each_pair(entity, |pair, context| pair.close_to(context, until));
            }
            let Some(vector) = self.entities[entity.0].exported.drop_oldest() else { break };
            if in_use.is_some_and(|in_use| in_use <= vector.number) {
                self.for_each_pair(entity, |pair, context| pair.keep_if_in_use(&vector, context));
            }
        }
    }

    /// What the receivers of an entity need of its exported path. Books that are not closed up to the horizon are, as far as all is known.
    fn needs(&mut self, entity: EntityIndex, horizon: GlobalTime, now: GlobalTime) -> Needs {
        let mut needs = Needs { closed: GlobalTime::MAX, needed: None, in_use: None };
        self.for_each_pair(entity, |pair, context| {
            if pair.closed_until() < horizon {
                pair.close(context, now);
            }
            needs.closed = needs.closed.min(pair.closed_until());
            needs.needed = older(needs.needed, pair.oldest_needed(context));
            needs.in_use = older(needs.in_use, pair.last_arrived(context).map(|flight| flight.vector));
        });
        needs
    }

    fn for_each_pair(&mut self, entity: EntityIndex, mut each: impl FnMut(&mut Pair, Context<'_>)) {
        for receiver in 0..self.receivers.len() {
            let (pair, context) = self.split(entity, ReceiverIndex(receiver));
            each(pair, context);
        }
    }

    /// Brings the books of one entity up to date at every receiver.
    pub(crate) fn close_entity(&mut self, entity: EntityIndex, now: GlobalTime) {
        self.for_each_pair(entity, |pair, context| pair.close(context, now));
        #[cfg(any(test, evenkeel_oracle))]
        {
            let (oracle, around) = self.oracle();
            oracle.close_entity(entity.0, around, now);
        }
    }

    /// Forgets what everybody has suffered so far.
    pub(crate) fn clear(&mut self, now: GlobalTime) {
        for entity in self.entities().collect::<Vec<_>>() {
            for receiver in self.receivers() {
                let (book, context) = self.split(entity, receiver);
                book.clear(context, now);
                #[cfg(any(test, evenkeel_oracle))]
                {
                    let (oracle, around) = self.oracle();
                    oracle.clear((entity.0, receiver.0), around(receiver.0), now);
                }
            }
        }
        for receiver in &mut self.receivers {
            (receiver.past_error, receiver.past_shown) = (SplitError::default(), Duration::ZERO);
        }
    }

    /// One pair's book together with what its arithmetic needs.
    fn split(&mut self, entity: EntityIndex, receiver: ReceiverIndex) -> (&mut Pair, Context<'_>) {
        let ReceiverBook { path, lag, pairs, log, .. } = &mut self.receivers[receiver.0];
        let exported = &self.entities[entity.0].exported;
        let context = Context { exported, log, sheets: &self.sheets, path, lag, terms: &self.terms };
        (&mut pairs[entity.0], context)
    }

    fn context(&self, entity: EntityIndex, receiver: ReceiverIndex) -> (&Pair, Context<'_>) {
        let ReceiverBook { path, lag, pairs, log, .. } = &self.receivers[receiver.0];
        let exported = &self.entities[entity.0].exported;
        let context = Context { exported, log, sheets: &self.sheets, path, lag, terms: &self.terms };
        (&pairs[entity.0], context)
    }

    pub(crate) fn desk(&self, entity: EntityIndex, receiver: ReceiverIndex) -> &Desk {
        &self.entities[entity.0].desks[receiver.0]
    }

    pub(crate) fn desk_mut(&mut self, entity: EntityIndex, receiver: ReceiverIndex) -> &mut Desk {
        &mut self.entities[entity.0].desks[receiver.0]
    }

    pub(crate) fn book(&self, entity: EntityIndex, receiver: ReceiverIndex) -> &Pair {
        &self.receivers[receiver.0].pairs[entity.0]
    }

    pub(crate) fn book_mut(&mut self, entity: EntityIndex, receiver: ReceiverIndex) -> &mut Pair {
        &mut self.receivers[receiver.0].pairs[entity.0]
    }
}

/// What an entity's receivers need of its exported path.
struct Needs {
    /// All books are closed up to here, in shown time.
    closed: GlobalTime,
    /// The oldest vector that open books speak of.
    needed: Option<VectorNumber>,
    /// The oldest vector in use.
    in_use: Option<VectorNumber>,
}

/// The older of two vectors; the one there is, where the other is missing.
fn older(a: Option<VectorNumber>, b: Option<VectorNumber>) -> Option<VectorNumber> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        _ => a.or(b),
    }
}

/// The books of one entity at one receiver, to read.
#[derive(Clone, Copy)]
pub struct PairView<'a> {
    ledger: &'a Ledger,
    entity: EntityIndex,
    receiver: ReceiverIndex,
}

impl<'a> PairView<'a> {
    fn parts(&self) -> (&'a Pair, Context<'a>) {
        self.ledger.context(self.entity, self.receiver)
    }

    fn desk(&self) -> &'a Desk {
        &self.ledger.entities[self.entity.0].desks[self.receiver.0]
    }

    /// CEE: the export error that receipts have made certain.
    pub fn known(&self, now: GlobalTime) -> SplitError {
        let (book, context) = self.parts();
        book.known(context, now)
    }

    /// EEE: the export error since then, with expected arrivals.
    pub fn estimated(&self, now: GlobalTime) -> SplitError {
        let (book, context) = self.parts();
        book.accumulated(context, now) - book.known(context, now)
    }

    /// AEE: known and estimated together. For a time to come: what it will be if nothing more is sent.
    pub fn accumulated(&self, now: GlobalTime) -> SplitError {
        let (book, context) = self.parts();
        book.accumulated(context, now)
    }

    /// The export error over a span of global time, as far as vectors and sends within the history tell.
    pub fn error_between(&self, from: GlobalTime, to: GlobalTime) -> SplitError {
        let (book, context) = self.parts();
        book.error(context, context.lag.shown(from), context.lag.shown(to))
    }

    /// The accumulated error with the past fading over the configured window, so that nobody is owed, or owes, the whole
    /// past.
    pub fn recent(&self, now: GlobalTime) -> f64 {
        let (book, context) = self.parts();
        book.recent(context, now)
    }

    /// For how long the receiver has been showing the entity.
    pub fn shown_for(&self, now: GlobalTime) -> Duration {
        let (book, context) = self.parts();
        book.shown_for(context, now)
    }

    /// The time that the receiver shows at a global time.
    pub fn shown(&self, t: GlobalTime) -> GlobalTime {
        self.parts().1.lag.shown(t)
    }

    /// The one-way delay to expect; zero while there is no estimate.
    pub fn delay(&self) -> Duration {
        self.ledger.path(self.receiver).delay().unwrap_or(Duration::ZERO)
    }

    /// The vector sent last, and when.
    pub fn last_sent(&self) -> Option<(VectorNumber, GlobalTime)> {
        self.parts().0.last_sent()
    }

    /// The newest vector known to have arrived, and when it did.
    pub fn last_received(&self) -> Option<(VectorNumber, GlobalTime)> {
        let (pair, context) = self.parts();
        pair.last_arrived(context).map(|flight| (flight.vector, flight.arrival))
    }

    /// When the newest vector known to have arrived was generated.
    pub fn acknowledged(&self) -> Option<GlobalTime> {
        let (pair, context) = self.parts();
        pair.last_arrived(context).map(|flight| pair.generated(flight.vector, context))
    }

    /// The newest vector that the receiver has, or that is on its way there or about to be.
    pub fn reference(&self) -> Option<Reference> {
        let (number, generated, motion) = self.reference_motion()?;
        Some(Reference { number, generated, motion: *motion })
    }

    /// Returns its number alone, for which no book is opened.
    pub(crate) fn reference_number(&self) -> Option<VectorNumber> {
        let desk = self.desk();
        desk.sent.max(desk.queued)
    }

    /// The same, borrowed: its number, when it was generated, and what it says. A policy asks this of every pair, time and again, so
    /// the pair's book is only opened for a vector that the exported path no longer holds.
    pub(crate) fn reference_motion(&self) -> Option<(VectorNumber, GlobalTime, &'a Motion)> {
        let number = self.reference_number()?;
        if let Some(v) = self.ledger.entities[self.entity.0].exported.get(number) {
            return Some((number, v.generated, &v.motion));
        }
        self.parts().0.anchored(number).map(|anchor| (number, anchor.generated, &anchor.motion))
    }

    /// The vector that the receiver is believed to be using at a global time.
    pub fn in_use(&self, t: GlobalTime) -> Option<&'a Vector> {
        let (book, context) = self.parts();
        self.ledger.vector(self.entity, book.shown_at(context, context.lag.shown(t))?.vector?)
    }

    /// What the receiver would gain from `vector`: the integral of the distance between it and the
    /// [`reference`](Self::reference) over a span of global time. `None` if the receiver has nothing to compare.
    pub fn deviation(&self, vector: &Vector, from: GlobalTime, to: GlobalTime) -> Option<f64> {
        let reference = self.reference()?;
        let seconds = |generated: GlobalTime| from.since(generated).as_secs_f64();
        let span = to.since(from).max(Duration::ZERO).as_secs_f64();
        let (new, old) = (seconds(vector.generated), seconds(reference.generated));
        Some(distance_integral(&vector.motion, new, &reference.motion, old, span).value)
    }

    /// The vector being held back for this receiver, and until when. While a policy decides about the next vector, the one
    /// that is being overtaken.
    pub fn held(&self) -> Option<(VectorNumber, GlobalTime)> {
        self.parts().0.held().map(|h| (h.vector, h.until))
    }

    /// Whether, and how much, the entity matters to the receiver.
    pub fn relevance(&self) -> Relevance {
        self.desk().relevance
    }
}
