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

mod exported;
mod fairness;
mod flights;
mod pair;

pub use exported::{ClockRule, Placing, Vector};
pub use fairness::{Fairness, FairnessCost, ReceiverFairness};
pub use pair::{Reference, Relevance};

pub(crate) use exported::Exported;
pub(crate) use pair::{Context, Desk, Held, PairBook, Terms};

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
    /// The books of every place for an entity, also of those that are free. They stand in one row, because datagrams and receipts go
    /// from entity to entity.
    pub(crate) pairs: Vec<PairBook>,
    pub(crate) vectors: u64,
    pub(crate) bytes: u64,
    /// Errors and seconds of entities that are gone.
    past_error: SplitError,
    past_shown: Duration,
}

/// The exported path of an entity keeps at most this many vectors, however short the history asked for.
const MAX_EXPORTED: usize = 256;

/// Everything a sender knows about its receivers. See the [module](self).
#[derive(Debug)]
pub struct Ledger {
    pub(crate) terms: Terms,
    /// How long receivers wait that nobody said otherwise of.
    lag: Lag,
    pub(crate) entities: Vec<EntityBook>,
    pub(crate) receivers: Vec<ReceiverBook>,
    pub(crate) spent: Spent,
    entity_index: HashMap<EntityId, usize>,
    receiver_index: HashMap<HostId, usize>,
    free: Vec<usize>,
}

impl Ledger {
    pub(crate) fn new(terms: Terms) -> Self {
        Self {
            lag: Lag::unchecked(terms.placing.lag),
            terms,
            entities: Vec::new(),
            receivers: Vec::new(),
            spent: Spent::default(),
            entity_index: HashMap::new(),
            receiver_index: HashMap::new(),
            free: Vec::new(),
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
        let entity = |e: &EntityBook| e.desks.capacity() * size_of::<Desk>() + e.exported.heap_bytes();
        let pairs = |r: &ReceiverBook| {
            r.pairs.capacity() * size_of::<PairBook>() + r.pairs.iter().map(PairBook::heap_bytes).sum::<usize>()
        };
        size_of::<Self>()
            + self.entities.capacity() * size_of::<EntityBook>()
            + self.receivers.capacity() * size_of::<ReceiverBook>()
            + self.entities.iter().map(entity).sum::<usize>()
            + self.receivers.iter().map(pairs).sum::<usize>()
    }

    pub(crate) fn add_receiver(&mut self, host: HostId, now: GlobalTime) -> ReceiverIndex {
        let index = self.receivers.len();
        let lag = self.lag.clone();
        let shown = lag.shown(now);
        self.receivers.push(ReceiverBook {
            host,
            path: PathEstimate::default(),
            lag,
            pairs: self.entities.iter().map(|_| PairBook::new(shown)).collect(),
            vectors: 0,
            bytes: 0,
            past_error: SplitError::default(),
            past_shown: Duration::ZERO,
        });
        self.receiver_index.insert(host, index);
        self.entities.iter_mut().for_each(|entity| entity.desks.push(Desk::new()));
        ReceiverIndex(index)
    }

    pub(crate) fn remove_receiver(&mut self, receiver: ReceiverIndex) {
        let gone = self.receivers.swap_remove(receiver.0);
        self.receiver_index.remove(&gone.host);
        if let Some(moved) = self.receivers.get(receiver.0) {
            self.receiver_index.insert(moved.host, receiver.0);
        }
        for entity in &mut self.entities {
            entity.desks.swap_remove(receiver.0);
        }
    }

    pub(crate) fn add_entity(&mut self, id: EntityId, epoch: u32, now: GlobalTime) -> EntityIndex {
        let index = self.free.pop().unwrap_or_else(|| {
            self.entities.push(EntityBook {
                id: None,
                epoch: 0,
                since: VectorNumber::FIRST,
                next_number: VectorNumber::FIRST,
                exported: Exported::new(),
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
            let pair = PairBook::new(receiver.lag.shown(now));
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
        if let Some(id) = book.id.take() {
            self.entity_index.remove(&id);
            self.free.push(entity.0);
        }
    }

    /// Closes the books of one pair for good and starts new ones.
    pub(crate) fn finish_pair(&mut self, entity: EntityIndex, receiver: ReceiverIndex, now: GlobalTime) {
        let (book, context) = self.split(entity, receiver);
        let until = context.lag.shown(now);
        book.finish(context, now);
        let (error, shown) = (book.accumulated(context, now), book.shown_for(context, now));
        *book = PairBook::new(until);
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
        let book = &mut self.entities[entity.0];
        debug_assert_eq!(vector.number, book.next_number);
        book.next_number = vector.number.next();
        book.exported.push(vector);
    }

    /// Drops vectors that no query within the history can reach. Done in batches: twice the history is let to pile up.
    fn trim(&mut self, entity: EntityIndex, now: GlobalTime) {
        let exported = &self.entities[entity.0].exported;
        let stale = exported.since().is_some_and(|since| now.since(since) > self.terms.history * 2);
        let full = exported.len() >= MAX_EXPORTED;
        if !(full || (stale && exported.len() > 1)) {
            return;
        }
        self.close_entity(entity, now);
        let shown = |r: &ReceiverBook| r.lag.shown(now - r.path.memory(self.terms.history));
        let horizon = self.receivers.iter().map(shown).min().unwrap_or(now - self.terms.history);
        let needed = self.oldest_needed(entity);
        let needs = self.receivers.iter().map(|receiver| receiver.pairs[entity.0].needs());
        let unasked = needs.fold((None, GlobalTime::MAX), |(a, b), (c, d)| (older(a, c), b.min(d)));
        while let Some(until) = self.entities[entity.0].exported.oldest_until() {
            let exported = &self.entities[entity.0].exported;
            let must = full && exported.len() > MAX_EXPORTED / 2;
            let oldest = exported.oldest();
            if (until > horizon || needed.is_some_and(|needed| oldest >= needed)) && !must {
                break;
            }
            if unasked.0.is_none_or(|unasked| oldest < unasked) && until <= unasked.1 {
                self.entities[entity.0].exported.drop_oldest();
            } else {
                self.drop_oldest(entity, until);
            }
        }
    }

    /// The oldest vector that some receiver's open books still speak of: a far one shows vectors long after they were
    /// exported.
    fn oldest_needed(&self, entity: EntityIndex) -> Option<VectorNumber> {
        let needed = self.receivers().filter_map(|receiver| {
            let (book, context) = self.context(entity, receiver);
            book.oldest_needed(context)
        });
        needed.min()
    }

    fn drop_oldest(&mut self, entity: EntityIndex, until: GlobalTime) {
        for receiver in 0..self.receivers.len() {
            let (book, context) = self.split(entity, ReceiverIndex(receiver));
            // Books that still need the vector are closed with what is believed: it is that or nothing.
            book.close_to(context, until);
        }
        let book = &mut self.entities[entity.0];
        if let Some(vector) = book.exported.drop_oldest() {
            for receiver in &mut self.receivers {
                receiver.pairs[entity.0].keep_if_in_use(&vector);
            }
        }
    }

    /// Brings the books of one entity up to date at every receiver.
    pub(crate) fn close_entity(&mut self, entity: EntityIndex, now: GlobalTime) {
        for receiver in 0..self.receivers.len() {
            let (book, context) = self.split(entity, ReceiverIndex(receiver));
            book.close(context, now);
        }
    }

    /// Forgets what everybody has suffered so far.
    pub(crate) fn clear(&mut self, now: GlobalTime) {
        for entity in self.entities().collect::<Vec<_>>() {
            for receiver in self.receivers() {
                let (book, context) = self.split(entity, receiver);
                book.clear(context, now);
            }
        }
        for receiver in &mut self.receivers {
            (receiver.past_error, receiver.past_shown) = (SplitError::default(), Duration::ZERO);
        }
    }

    /// One pair's book together with what its arithmetic needs.
    pub(crate) fn split(&mut self, entity: EntityIndex, receiver: ReceiverIndex) -> (&mut PairBook, Context<'_>) {
        let ReceiverBook { path, lag, pairs, .. } = &mut self.receivers[receiver.0];
        let context = Context { exported: &self.entities[entity.0].exported, path, lag, terms: &self.terms };
        (&mut pairs[entity.0], context)
    }

    fn context(&self, entity: EntityIndex, receiver: ReceiverIndex) -> (&PairBook, Context<'_>) {
        let ReceiverBook { path, lag, pairs, .. } = &self.receivers[receiver.0];
        let context = Context { exported: &self.entities[entity.0].exported, path, lag, terms: &self.terms };
        (&pairs[entity.0], context)
    }

    /// Notes at the desk which vector was sent last and is not lost, after a pair's book was told of a send, an arrival or a loss.
    pub(crate) fn note_sent(&mut self, entity: EntityIndex, receiver: ReceiverIndex) {
        let sent = self.receivers[receiver.0].pairs[entity.0].reference();
        self.entities[entity.0].desks[receiver.0].sent = sent;
    }

    pub(crate) fn desk(&self, entity: EntityIndex, receiver: ReceiverIndex) -> &Desk {
        &self.entities[entity.0].desks[receiver.0]
    }

    pub(crate) fn desk_mut(&mut self, entity: EntityIndex, receiver: ReceiverIndex) -> &mut Desk {
        &mut self.entities[entity.0].desks[receiver.0]
    }

    pub(crate) fn book(&self, entity: EntityIndex, receiver: ReceiverIndex) -> &PairBook {
        &self.receivers[receiver.0].pairs[entity.0]
    }

    pub(crate) fn book_mut(&mut self, entity: EntityIndex, receiver: ReceiverIndex) -> &mut PairBook {
        &mut self.receivers[receiver.0].pairs[entity.0]
    }
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
    fn parts(&self) -> (&'a PairBook, Context<'a>) {
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
        self.parts().0.last_sent().map(|f| (f.vector, f.sent))
    }

    /// The newest vector known to have arrived, and when it did.
    pub fn last_received(&self) -> Option<(VectorNumber, GlobalTime)> {
        self.parts().0.last_arrived().map(|f| (f.vector, f.arrival))
    }

    /// When the newest vector known to have arrived was generated.
    pub fn acknowledged(&self) -> Option<GlobalTime> {
        self.parts().0.last_arrived().map(|f| f.generated)
    }

    /// The newest vector that the receiver has, or that is on its way there or about to be.
    pub fn reference(&self) -> Option<Reference> {
        let (number, generated, motion) = self.reference_motion()?;
        Some(Reference { number, generated, motion: *motion })
    }

    /// Returns its number alone, for which no book is opened.
    pub(crate) fn reference_number(&self) -> Option<VectorNumber> {
        let desk = self.desk();
        debug_assert_eq!(desk.sent, self.parts().0.reference());
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
