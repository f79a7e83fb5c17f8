//! The books of one entity at one receiver.

use super::exported::{ClockRule, Exported, Placing, Vector};
use super::log::{At, Fate, Flight, Link, Log};
use super::rows::{Rows, Two};
use super::sheets::{Before, Sheets};
use crate::delay::PathEstimate;
use crate::ids::VectorNumber;
use crate::lag::Lag;
use crate::motion::Motion;
use crate::path::{PieceView, SplitError, error_between};
use crate::time::{Duration, GlobalTime};
use alloc::boxed::Box;

/// Whether an entity matters to a receiver, and how much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Relevance {
    /// The receiver must not, or need not, know about it: nothing is sent, and it is told to forget the entity.
    OutOfScope,
    /// It is in scope with this importance; 1 is usual. Policies multiply errors by it.
    Weight(f32),
}

impl Relevance {
    /// The usual: in scope with weight 1.
    pub const USUAL: Self = Self::Weight(1.0);

    /// Whether the receiver is to know about the entity at all.
    pub fn in_scope(self) -> bool {
        matches!(self, Self::Weight(_))
    }

    /// Whether it can be reckoned with: a weight is a number, and not below zero.
    pub fn is_valid(self) -> bool {
        if let Self::Weight(weight) = self { weight >= 0.0 && weight.is_finite() } else { true }
    }
}

/// The newest vector that a receiver has or will have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reference {
    /// Its number.
    pub number: VectorNumber,
    /// When it was generated.
    pub generated: GlobalTime,
    /// What it says.
    pub motion: Motion,
}

/// A vector that waits for its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) vector: VectorNumber,
    pub(crate) until: GlobalTime,
}

/// What deciding about an entity's next vector needs to know of one receiver. Kept apart from the books and small, because it is asked
/// for every receiver at every vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Desk {
    /// The newest vector queued for sending.
    pub(crate) queued: Option<VectorNumber>,
    /// The newest vector sent that is not lost.
    pub(crate) sent: Option<VectorNumber>,
    pub(crate) relevance: Relevance,
}

impl Desk {
    pub(crate) const fn new() -> Self {
        Self { queued: None, sent: None, relevance: Relevance::USUAL }
    }
}

/// What holds for every pair of a ledger.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub(crate) placing: Placing,
    /// How long the past counts in the fading sum; `None` for ever.
    pub(crate) window: Option<Duration>,
    pub(crate) history: Duration,
    /// Whether errors are booked at all.
    pub(crate) books: bool,
    /// The format's tick: no vector is generated in between.
    pub(crate) tick: Duration,
}

/// The books of one entity at one receiver. There are very many of these, and most are touched in every tick where much is due: what is
/// seldom there stands aside.
#[derive(Debug)]
pub(crate) struct Pair {
    /// The error up to `until`: closed, but for late receipts.
    settled: SplitError,
    /// The same with the past fading.
    faded: f64,
    /// Shown time up to which the books are closed.
    until: GlobalTime,
    /// When the receiver first showed the entity; the end of time if it never did.
    shown_since: GlobalTime,
    /// When the last vector was sent, whatever became of it.
    last_sent: GlobalTime,
    /// The vector in use at `until`, if receipts say so.
    in_use: Landed,
    /// The newest of the vectors that arrived and were forgotten by the log.
    before: Landed,
    /// The last vector sent.
    last: Option<VectorNumber>,
    /// The newest vector known to have arrived and to be fit to build upon.
    pub(crate) acknowledged: Option<VectorNumber>,
    /// Where the entity's chain in the receiver's log begins: the low bits of a datagram's number, and which of the things in it,
    head: u32,
    slot: u16,
    /// if there is anything of it that the log has not forgotten.
    chained: bool,
    /// Whether no vector in the chain was sent after a newer one.
    ordered: bool,
    /// The books began before the datagram with this number: older ones speak of others.
    since: u64,
    aside: Option<Box<Aside>>,
}

/// A vector that arrived, if there is one.
#[derive(Clone, Copy, Debug)]
struct Landed {
    arrival: [u32; 2],
    vector: Option<VectorNumber>,
}

/// What few pairs have.
#[derive(Debug, Default)]
struct Aside {
    /// The vector in use, once the exported path no longer holds it.
    anchor: Option<Reference>,
    /// The vector that is held back.
    held: Option<Held>,
    /// The newest vector when the receiver was last told to forget the entity.
    farewell: Option<VectorNumber>,
}

impl Landed {
    const NOTHING: Self = Self { arrival: [0; 2], vector: None };

    /// In halves, so that no space is lost to alignment.
    fn new(vector: VectorNumber, arrival: GlobalTime) -> Self {
        let nanos = arrival.as_nanos() as u64;
        Self { arrival: [nanos as u32, (nanos >> 32) as u32], vector: Some(vector) }
    }

    fn flight(self) -> Option<Flight> {
        let [low, high] = self.arrival.map(u64::from);
        let arrival = GlobalTime::from_nanos((low | high << 32) as i64);
        Some(Flight { vector: self.vector?, sent: arrival, arrival, fate: Fate::Arrived, at: At::default() })
    }
}

/// Everything around a pair that its arithmetic needs.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) exported: &'a Exported,
    pub(crate) log: &'a Log,
    pub(crate) sheets: &'a Sheets,
    pub(crate) path: &'a PathEstimate,
    pub(crate) lag: &'a Lag,
    pub(crate) terms: &'a Terms,
}

impl Pair {
    /// Books that begin at a shown time, for a receiver with this log.
    pub(crate) fn new(shown: GlobalTime, log: &Log) -> Self {
        Self {
            settled: SplitError::default(),
            faded: 0.0,
            until: shown,
            shown_since: GlobalTime::MAX,
            last_sent: GlobalTime::MIN,
            in_use: Landed::NOTHING,
            before: Landed::NOTHING,
            last: None,
            acknowledged: None,
            head: 0,
            slot: 0,
            chained: false,
            ordered: true,
            since: log.next_number(),
            aside: None,
        }
    }

    /// A vector leaves in a datagram of this log, in one of its slots.
    #[inline]
    pub(crate) fn send(&mut self, vector: VectorNumber, now: GlobalTime, at: At, log: &Log) {
        if !self.ordered && !self.head().is_some_and(|head| log.remembers(head)) {
            self.ordered = true;
        }
        self.ordered &= self.last.is_none_or(|last| last <= vector);
        (self.head, self.slot, self.chained) = (at.number as u32, at.slot, true);
        (self.last, self.last_sent) = (Some(vector), now);
    }

    /// Where the vector sent last is, as seen from a datagram sent later.
    #[inline]
    pub(crate) fn before(&self, number: u64) -> Before {
        self.head().map_or(Before::NOTHING, |head| head.before(number))
    }

    /// Whether what a datagram says of the entity is about these books, and not about ones that ended before.
    #[inline]
    pub(crate) fn is_about(&self, datagram: u64) -> bool {
        datagram >= self.since
    }

    /// Where the entity's chain in the receiver's log begins.
    #[inline]
    fn head(&self) -> Option<Link> {
        self.chained.then_some(Link { number: self.head, slot: self.slot })
    }

    /// The vector that is held back, if there is one.
    pub(crate) fn held(&self) -> Option<Held> {
        self.aside.as_ref()?.held
    }

    pub(crate) fn hold(&mut self, held: Held) {
        self.aside.get_or_insert_default().held = Some(held);
    }

    pub(crate) fn take_held(&mut self) -> Option<Held> {
        self.aside.as_mut()?.held.take()
    }

    /// The newest vector when the receiver was last told to forget the entity.
    pub(crate) fn farewell(&self) -> Option<VectorNumber> {
        self.aside.as_ref()?.farewell
    }

    pub(crate) fn set_farewell(&mut self, newest: Option<VectorNumber>) {
        if self.farewell() != newest {
            self.aside.get_or_insert_default().farewell = newest;
        }
    }

    /// The vector sent last, and when.
    pub(crate) fn last_sent(&self) -> Option<(VectorNumber, GlobalTime)> {
        self.last.map(|last| (last, self.last_sent))
    }

    /// Everything sent that is remembered: the last sent first, and at the end what the log has forgotten.
    fn flights<'a>(&'a self, context: Context<'a>) -> impl Iterator<Item = Flight> + 'a {
        let (a, b) = if self.in_use.vector < self.before.vector { (1, 0) } else { (0, 1) };
        let forgotten = [a, b].into_iter().filter_map(|i| [self.in_use, self.before][i].flight());
        context.log.chain(self.head(), context.sheets).chain(forgotten)
    }

    /// The newest vector with a fate that fits; of several flights of it the one sent last.
    fn newest_with(&self, context: Context<'_>, fits: impl Fn(Fate) -> bool) -> Option<Flight> {
        let mut fitting = self.flights(context).filter(|flight| fits(flight.fate));
        if self.ordered {
            return fitting.next();
        }
        fitting.reduce(|best, flight| if flight.vector > best.vector { flight } else { best })
    }

    pub(crate) fn last_arrived(&self, context: Context<'_>) -> Option<Flight> {
        self.newest_with(context, |fate| fate == Fate::Arrived)
    }

    /// The newest vector that the receiver has or will have, as far as one knows.
    pub(crate) fn newest(&self, context: Context<'_>) -> Option<VectorNumber> {
        self.newest_with(context, |fate| !fate.is_lost()).map(|flight| flight.vector)
    }

    /// The vector in use with this number, if the exported path no longer holds it.
    pub(crate) fn anchored(&self, number: VectorNumber) -> Option<&Reference> {
        self.aside.as_ref()?.anchor.as_ref().filter(|anchor| anchor.number == number)
    }

    /// A receipt said that a vector arrived.
    #[inline]
    pub(crate) fn arrived(&mut self, vector: VectorNumber, start: GlobalTime, taken: bool) {
        if taken {
            self.acknowledged = self.acknowledged.max(Some(vector));
        }
        self.shown_since = self.shown_since.min(start);
    }

    /// Whether the books are closed beyond a time, and can be corrected from there on.
    pub(crate) fn is_closed_after(&self, start: GlobalTime, context: Context<'_>) -> bool {
        start < self.until && context.exported.reaches_back_to(start)
    }

    /// The error that is booked from a time on, as far as the books are closed.
    pub(crate) fn booked_since(&self, start: GlobalTime, context: Context<'_>) -> SplitError {
        self.error(context, start, self.until)
    }

    /// Books the difference that late news made.
    pub(crate) fn correct(&mut self, correction: SplitError, context: Context<'_>) {
        self.settled += correction;
        self.faded = (self.faded + correction.total()).max(0.0);
        if self.settled.total() < 0.0 {
            // It was booked before the books were cleared.
            self.settled = SplitError::default();
        }
        self.look_what_is_in_use(context);
    }

    /// The receiver has other baselines than was believed: the next vector stands alone.
    pub(crate) fn forget_baseline(&mut self) {
        self.acknowledged = None;
    }

    /// The shown time up to which everything is known: before the oldest vector whose fate is open.
    fn frontier(&self, context: Context<'_>, now: GlobalTime) -> GlobalTime {
        let open = context.log.oldest_open_of(self.head(), context.sheets);
        context.lag.shown(open.map_or(now, |sent| sent.min(now)))
    }

    /// Closes the books as far as everything is known.
    pub(crate) fn close(&mut self, context: Context<'_>, now: GlobalTime) {
        self.close_to(context, self.frontier(context, context.terms.tick_before(now)));
    }

    /// Closes the books up to a shown time, with estimates where nothing better is known.
    pub(crate) fn close_to(&mut self, context: Context<'_>, until: GlobalTime) {
        if until > self.until {
            let error = self.error(context, self.until, until);
            self.book(error, until, context);
            self.look_what_is_in_use(context);
        }
    }

    /// Adds an error up to a shown time.
    fn book(&mut self, error: SplitError, until: GlobalTime, context: Context<'_>) {
        if context.terms.books {
            self.faded = self.faded * fading(context.terms.window, until.since(self.until)) + error.total();
            self.settled += error;
        }
        self.until = until;
    }

    /// A vector that arrived is now in effect, and nothing that is still open can be before it: the books go on up to there. Vectors come
    /// in the order of their arrival.
    #[inline]
    pub(crate) fn take_effect(&mut self, flight: Flight, context: Context<'_>, rows: Option<&mut Rows>) {
        let (start, _) = self.timing(&flight, context);
        if start <= self.until {
            if self.in_use.vector < Some(flight.vector) {
                self.in_use = Landed::new(flight.vector, flight.arrival);
            }
            return;
        }
        if self.is_next(&flight, context) {
            let error =
                if context.terms.books { self.error_of_one(start, context, rows) } else { SplitError::default() };
            self.book(error, start, context);
            self.in_use = Landed::new(flight.vector, flight.arrival);
        } else {
            self.close_to(context, start);
        }
    }

    /// Whether a flight is the one that takes over from the vector in use: the last that was sent before it and arrived is that one.
    #[inline]
    fn is_next(&self, flight: &Flight, context: Context<'_>) -> bool {
        let mut before = context.log.before(flight.at, context.sheets);
        while let Some(lost) = before.filter(|before| before.fate.is_lost()) {
            before = context.log.before(lost.at, context.sheets);
        }
        let expected = before.map(|before| before.vector).or(self.before.vector);
        self.ordered && self.in_use.vector == expected && expected < Some(flight.vector)
    }

    /// The error from where the books are closed to a time, with the vector that is in use shown all the while.
    fn error_of_one(&self, to: GlobalTime, context: Context<'_>, rows: Option<&mut Rows>) -> SplitError {
        let Some(flight) = self.in_use.flight() else { return SplitError::default() };
        let global = context.terms.placing.rule == ClockRule::Global;
        let generated = context.exported.generated(flight.vector).filter(|_| global);
        // Until it freezes.
        if generated.is_some_and(|generated| to <= generated + context.terms.placing.max_age) {
            return SplitError { before: self.error_of_moving(flight.vector, to, context, rows), after: 0.0 };
        }
        match piece(&flight, self, context) {
            Some(shown) => error_between(context.exported.pieces(self.until), core::iter::once(shown), self.until, to),
            None => SplitError::default(),
        }
    }

    /// The same of a vector that moves by global time, so that none comes of it while it is the newest. Only where several receivers may
    /// share it is an integral kept.
    #[inline]
    fn error_of_moving(
        &self,
        shown: VectorNumber,
        to: GlobalTime,
        context: Context<'_>,
        rows: Option<&mut Rows>,
    ) -> f64 {
        let (path, mut error, mut now, mut rows) = (context.exported, 0.0, self.until, rows);
        let mut index = path.index_at(now);
        while let Some(generated) = path.generated_at(index).filter(|generated| *generated < to) {
            let end = path.generated_at(index + 1);
            let (from, until) = (now.max(generated), end.map_or(to, |end| end.min(to)));
            let two = Two { shown, exported: path.number_at(index), path };
            if two.exported != shown && from < until {
                let since = |t: GlobalTime| t.since(generated).as_secs_f64();
                error += match &mut rows {
                    Some(rows) => rows.error(two, end.map(since), since(from), since(until)),
                    None => two.distance(since(from), since(until)),
                };
            }
            (now, index) = (until, index + 1);
        }
        error
    }

    /// Finds what is in use where the books are closed.
    pub(crate) fn look_what_is_in_use(&mut self, context: Context<'_>) {
        let shown = self.flight_at(context, self.until).filter(|flight| flight.fate == Fate::Arrived);
        self.in_use = shown.map_or(Landed::NOTHING, |flight| Landed::new(flight.vector, flight.arrival));
    }

    /// The log is about to forget a vector.
    #[inline]
    pub(crate) fn forget(&mut self, flight: Flight) {
        // Low bits alone would mean a later datagram some day.
        self.chained &= (self.head, self.slot) != (flight.at.number as u32, flight.at.slot);
        let newer = self.before.vector < Some(flight.vector);
        let sooner =
            self.before.flight().is_some_and(|old| old.vector == flight.vector && flight.arrival < old.arrival);
        if flight.fate == Fate::Arrived && (newer || sooner) {
            self.before = Landed::new(flight.vector, flight.arrival);
        }
    }

    /// Shown time up to which the books are closed.
    pub(crate) fn closed_until(&self) -> GlobalTime {
        self.until
    }

    /// The oldest vector that open books, or questions about the history, speak of. The one that has been in use since is kept by itself
    /// when it goes.
    pub(crate) fn oldest_needed(&self, context: Context<'_>) -> Option<VectorNumber> {
        let there = || self.flights(context).filter(|flight| !flight.fate.is_lost());
        // What the log has forgotten was in use when the history begins.
        let oldest = match (self.before.vector, self.in_use.vector) {
            (Some(before), Some(in_use)) => Some(before.min(in_use)),
            _ => there().map(|flight| flight.vector).min(),
        };
        let in_use = self.last_arrived(context).map(|flight| flight.vector);
        oldest.filter(|needed| Some(*needed) != in_use)
    }

    /// The exported path is about to drop a vector: keep its motion if it is the one in use.
    pub(crate) fn keep_if_in_use(&mut self, vector: &Vector, context: Context<'_>) {
        if self.last_arrived(context).is_some_and(|flight| flight.vector == vector.number) {
            let Vector { number, generated, motion, .. } = *vector;
            self.aside.get_or_insert_default().anchor = Some(Reference { number, generated, motion });
        }
    }

    /// Begins anew at what is known by now; what is open stays to be booked.
    pub(crate) fn clear(&mut self, context: Context<'_>, now: GlobalTime) {
        self.close(context, now);
        (self.settled, self.faded) = (SplitError::default(), 0.0);
        if self.shown_since != GlobalTime::MAX {
            self.shown_since = self.shown_since.max(self.until);
        }
    }

    pub(crate) fn known(&self, context: Context<'_>, now: GlobalTime) -> SplitError {
        self.settled + self.error(context, self.until, self.frontier(context, now))
    }

    pub(crate) fn accumulated(&self, context: Context<'_>, now: GlobalTime) -> SplitError {
        self.settled + self.error(context, self.until, context.lag.shown(now))
    }

    pub(crate) fn recent(&self, context: Context<'_>, now: GlobalTime) -> f64 {
        let shown = context.lag.shown(now);
        self.faded * fading(context.terms.window, shown.since(self.until))
            + self.error(context, self.until, shown).total()
    }

    /// For how long the receiver has been showing the entity.
    pub(crate) fn shown_for(&self, context: Context<'_>, now: GlobalTime) -> Duration {
        context.lag.shown(now).since(self.shown_since).max(Duration::ZERO)
    }

    pub(crate) fn error(&self, context: Context<'_>, from: GlobalTime, to: GlobalTime) -> SplitError {
        if to <= from || self.last.is_none() || !context.terms.books {
            return SplitError::default();
        }
        error_between(context.exported.pieces(from), self.placed(context, from), from, to)
    }

    /// The piece shown at a shown time.
    pub(crate) fn shown_at<'a>(&'a self, context: Context<'a>, t: GlobalTime) -> Option<PieceView<'a>> {
        piece(&self.flight_at(context, t)?, self, context)
    }

    /// The flight whose vector is shown at a shown time: the newest vector that has taken effect by then. One that was sent twice counts
    /// from its first arrival.
    fn flight_at(&self, context: Context<'_>, t: GlobalTime) -> Option<Flight> {
        let mut best: Option<(Flight, GlobalTime)> = None;
        for flight in self.flights(context) {
            let (newer, same) =
                best.map_or((true, false), |(best, _)| (flight.vector > best.vector, flight.vector == best.vector));
            if self.ordered && !newer && !same {
                break;
            }
            if flight.fate.is_lost() || !(newer || same) {
                continue;
            }
            let (start, _) = self.timing(&flight, context);
            if start <= t && (newer || best.is_some_and(|(_, since)| start <= since)) {
                best = Some((flight, start));
            }
        }
        best.map(|(flight, _)| flight)
    }

    /// The flight that takes over from a vector after a shown time: the first of those with a newer vector.
    fn flight_after(&self, context: Context<'_>, t: GlobalTime, current: Option<VectorNumber>) -> Option<Flight> {
        let mut best: Option<(Flight, GlobalTime)> = None;
        for flight in self.flights(context) {
            if Some(flight.vector) <= current {
                if self.ordered {
                    break;
                }
                continue;
            }
            let (start, _) = self.timing(&flight, context);
            let sooner = |(old, at): (Flight, GlobalTime)| start < at || (start == at && flight.vector > old.vector);
            if !flight.fate.is_lost() && start > t && best.is_none_or(sooner) {
                best = Some((flight, start));
            }
        }
        best.map(|(flight, _)| flight)
    }

    /// The placed path from `from` on: the newest vector by generation among those that have taken effect.
    fn placed<'a>(&'a self, context: Context<'a>, from: GlobalTime) -> impl Iterator<Item = PieceView<'a>> {
        let mut cursor = from;
        let mut current = None;
        let mut first = self.flight_at(context, from);
        core::iter::from_fn(move || {
            let next = first.take().or_else(|| self.flight_after(context, cursor, current))?;
            current = Some(next.vector);
            let piece = piece(&next, self, context)?;
            cursor = cursor.max(piece.start);
            Some(piece)
        })
    }

    /// From when on a flight's vector is shown, and from when on it is extrapolated, both in shown time.
    #[inline]
    pub(crate) fn timing(&self, flight: &Flight, context: Context<'_>) -> (GlobalTime, GlobalTime) {
        let delay = context.path.delay().unwrap_or(Duration::ZERO);
        let arrival = if flight.fate == Fate::Arrived { flight.arrival } else { flight.sent + delay };
        let epoch = match context.terms.placing.rule {
            ClockRule::Global => self.generated(flight.vector, context),
            _ => context.terms.placing.epoch(arrival, arrival, delay),
        };
        (context.lag.takes_effect(epoch, arrival), epoch)
    }

    /// When a vector was generated; long ago, if neither path knows it any more.
    pub(crate) fn generated(&self, number: VectorNumber, context: Context<'_>) -> GlobalTime {
        match context.exported.generated(number) {
            Some(generated) => generated,
            None => self.anchored(number).map_or(GlobalTime::MIN, |anchor| anchor.generated),
        }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.aside.as_ref().map_or(0, |_| size_of::<Aside>())
    }
}

impl Terms {
    /// The tick at or before a time. The next vector may be stamped with it, so that the exported path is final up to there.
    pub(crate) fn tick_before(&self, now: GlobalTime) -> GlobalTime {
        now - Duration::from_nanos(now.as_nanos().rem_euclid(self.tick.as_nanos().max(1)))
    }
}

/// What a flight's vector has shown since it took effect.
fn piece<'a>(flight: &Flight, pair: &'a Pair, context: Context<'a>) -> Option<PieceView<'a>> {
    let motion = match context.exported.get(flight.vector) {
        Some(vector) => &vector.motion,
        None => &pair.anchored(flight.vector)?.motion,
    };
    let (start, epoch) = pair.timing(flight, context);
    let freeze = Some(epoch + context.terms.placing.max_age);
    Some(PieceView { start, epoch, motion, vector: Some(flight.vector), freeze })
}

/// What is left of the past after a span of time.
#[inline]
fn fading(window: Option<Duration>, span: Duration) -> f64 {
    let Some(window) = window.filter(|window| *window > Duration::ZERO) else { return 1.0 };
    let x = span.as_nanos() as f64 / window.as_nanos() as f64;
    // Books are closed often: the next term of the series is below 1e-14.
    if (0.0..0.01).contains(&x) {
        return 1.0 - x * (1.0 - x * (1.0 / 2.0) * (1.0 - x * (1.0 / 3.0) * (1.0 - x * (1.0 / 4.0) * (1.0 - x * 0.2))));
    }
    libm::exp(-x)
}
