//! The books of one entity at one receiver.

use super::exported::Exported;
use super::flights::{Fate, Flight, Flights, MAX_FLIGHTS};
use crate::delay::PathEstimate;
use crate::ids::VectorNumber;
use crate::lag::Lag;
use crate::ledger::{Reference, Terms, Vector};
use crate::path::{PieceView, SplitError, error_between};
use crate::time::{Duration, GlobalTime};
use alloc::boxed::Box;

/// So many are forgotten as soon as they may be, fewer when that saves memory.
const MANY_FLIGHTS: usize = 64;
/// The books are closed after so many arrivals, if nobody asks before.
const CLOSE_EVERY: u32 = 8;

/// The books of one entity at one receiver.
#[derive(Debug)]
pub(crate) struct PairBook {
    /// What was sent and has not been forgotten.
    flights: Flights,
    /// The newest vector among those that are not lost: policies ask for it all the time.
    newest: Option<VectorNumber>,
    /// The error up to `until`: closed, but for late receipts.
    settled: SplitError,
    /// The same with the past fading.
    faded: f64,
    /// Shown time up to which the books are closed.
    until: GlobalTime,
    /// When the receiver first showed the entity; the end of time if it never did.
    shown_since: GlobalTime,
    /// The vector in use, once the exported path no longer holds it.
    anchor: Option<Box<Reference>>,
    /// Arrivals since the books were last closed.
    unclosed: u32,
    /// The newest vector known to have arrived.
    pub(crate) acknowledged: Option<VectorNumber>,
}

/// Everything around a pair that its arithmetic needs.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) exported: &'a Exported,
    pub(crate) path: &'a PathEstimate,
    pub(crate) lag: &'a Lag,
    pub(crate) terms: &'a Terms,
}

impl PairBook {
    /// Books that begin at a shown time.
    pub(crate) fn new(shown: GlobalTime) -> Self {
        Self {
            flights: Flights::new(),
            newest: None,
            settled: SplitError::default(),
            faded: 0.0,
            until: shown,
            shown_since: GlobalTime::MAX,
            anchor: None,
            unclosed: 0,
            acknowledged: None,
        }
    }

    pub(crate) fn record_send(
        &mut self,
        vector: VectorNumber,
        generated: GlobalTime,
        sent: GlobalTime,
        context: Context<'_>,
    ) {
        if self.flights.len() >= MAX_FLIGHTS {
            self.make_room(context, sent);
        } else if self.flights.len() < MANY_FLIGHTS && self.flights.would_grow(sent) {
            self.forget(context, sent);
        }
        self.flights.push(vector, generated, sent);
        self.newest = self.newest.max(Some(vector));
    }

    /// Finds the newest vector anew, after flights were forgotten or have met another fate.
    fn find_newest(&mut self) {
        self.newest = self.flights.newest().map(|f| f.vector);
    }

    /// Forgets the older half of the flights, with the books closed over what they meant.
    fn make_room(&mut self, context: Context<'_>, now: GlobalTime) {
        self.close(context, now);
        let kept = MAX_FLIGHTS / 2;
        if self.flights.len() > kept {
            self.close_to(context, context.lag.shown(now));
            self.flights.keep_last(kept);
            self.find_newest();
        }
    }

    pub(crate) fn last_sent(&self) -> Option<Flight> {
        self.flights.last()
    }

    pub(crate) fn last_arrived(&self) -> Option<Flight> {
        self.flights.newest_arrived()
    }

    /// The newest vector that the receiver has or will have, as far as one knows.
    pub(crate) fn reference(&self) -> Option<VectorNumber> {
        self.newest
    }

    /// The vector in use with this number, if the exported path no longer holds it.
    pub(crate) fn anchored(&self, number: VectorNumber) -> Option<&Reference> {
        self.anchor.as_deref().filter(|anchor| anchor.number == number)
    }

    /// A receipt: the vector sent at `sent` arrived. Answers the flight as it was before, if that is news.
    pub(crate) fn record_arrival(
        &mut self,
        vector: VectorNumber,
        sent: GlobalTime,
        arrival: GlobalTime,
        taken: bool,
        context: Context<'_>,
        now: GlobalTime,
    ) -> Option<Flight> {
        let index = self.flights.position(vector, sent)?;
        let flight = self.flights.get(index).filter(|f| f.fate != Fate::Arrived)?;
        let arrived = Flight { fate: Fate::Arrived, arrival, ..flight };
        let (start, _) = timing(&arrived, context);
        if start < self.until && context.exported.reaches_back_to(start) {
            // It had counted as lost and the books are closed: book the difference.
            let without = self.error(context, start, self.until);
            self.flights.arrived(index, arrival);
            let correction = self.error(context, start, self.until) - without;
            self.settled += correction;
            self.faded = (self.faded + correction.total()).max(0.0);
            if self.settled.total() < 0.0 {
                // It was booked before the books were cleared.
                self.settled = SplitError::default();
            }
        } else {
            self.flights.arrived(index, arrival);
        }
        self.newest = self.newest.max(Some(vector));
        if taken {
            self.acknowledged = self.acknowledged.max(Some(vector));
        }
        self.shown_since = self.shown_since.min(start);
        self.unclosed += 1;
        if self.unclosed >= CLOSE_EVERY {
            self.close(context, now);
        }
        Some(flight)
    }

    /// No receipt came in time. Answers whether nothing newer is on its way or there.
    pub(crate) fn record_loss(&mut self, vector: VectorNumber, sent: GlobalTime) -> bool {
        let Some(index) = self.flights.position(vector, sent) else { return false };
        if self.flights.get(index).is_none_or(|f| f.fate != Fate::InFlight) {
            return false;
        }
        self.flights.lost(index);
        self.find_newest();
        self.reference().is_none_or(|newest| newest < vector)
    }

    /// A vector arrived and could not be decoded: it is not shown, and the receiver has other baselines than was believed.
    pub(crate) fn record_untaken(&mut self, vector: VectorNumber, sent: GlobalTime) {
        self.record_loss(vector, sent);
        self.forget_baseline();
    }

    /// The receiver has other baselines than was believed: the next vector stands alone.
    pub(crate) fn forget_baseline(&mut self) {
        self.acknowledged = None;
    }

    /// The shown time up to which everything is known: before the oldest vector whose fate is open.
    fn frontier(&self, now: GlobalTime, lag: &Lag) -> GlobalTime {
        lag.shown(self.flights.oldest_open().map_or(now, |sent| sent.min(now)))
    }

    /// Closes the books as far as everything is known, and forgets what will never matter again if that is much.
    pub(crate) fn close(&mut self, context: Context<'_>, now: GlobalTime) {
        self.unclosed = 0;
        // The next vector may be stamped with the tick at or before now, so that is as far as the exported path is final.
        let into_tick = now.as_nanos().rem_euclid(context.terms.tick.as_nanos().max(1));
        let settled = now - Duration::from_nanos(into_tick);
        self.close_to(context, self.frontier(settled, context.lag));
        if self.flights.len() >= MANY_FLIGHTS {
            self.forget(context, now);
        }
    }

    /// Closes the books up to a shown time, with estimates where nothing better is known.
    pub(crate) fn close_to(&mut self, context: Context<'_>, until: GlobalTime) {
        if until <= self.until {
            return;
        }
        if context.terms.books {
            let error = self.error(context, self.until, until);
            let kept = fading(context.terms.window, until.since(self.until));
            self.faded = self.faded * kept + error.total();
            self.settled += error;
        }
        self.until = until;
    }

    /// Drops flights that no query within the history can reach.
    fn forget(&mut self, context: Context<'_>, now: GlobalTime) {
        let horizon = self.until.min(context.lag.shown(now - context.path.memory(context.terms.history)));
        self.flights.forget(horizon, context.lag, |f| timing(f, context).0);
    }

    /// The oldest vector that the open books speak of. The one that has been in use since is kept by itself when it goes.
    pub(crate) fn oldest_needed(&self, context: Context<'_>) -> Option<VectorNumber> {
        let shown = self.flight_at(context, self.until).map(|f| f.vector);
        let in_use = self.last_arrived().map(|f| f.vector);
        shown.or_else(|| self.flights.oldest()).filter(|needed| Some(*needed) != in_use)
    }

    /// The exported path is about to drop a vector: keep its motion if it is the one in use.
    pub(crate) fn keep_if_in_use(&mut self, vector: &Vector) {
        if self.last_arrived().is_some_and(|f| f.vector == vector.number) {
            let Vector { number, generated, motion, .. } = *vector;
            self.anchor = Some(Box::new(Reference { number, generated, motion }));
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

    /// Before the entity leaves or changes hands: closes the books with what is known and believed, and forgets flights.
    pub(crate) fn finish(&mut self, context: Context<'_>, now: GlobalTime) {
        self.close_to(context, context.lag.shown(now));
        self.flights.clear();
        self.newest = None;
        self.anchor = None;
        self.acknowledged = None;
    }

    pub(crate) fn known(&self, context: Context<'_>, now: GlobalTime) -> SplitError {
        self.settled + self.error(context, self.until, self.frontier(now, context.lag))
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
        if to <= from || self.flights.is_empty() || !context.terms.books {
            return SplitError::default();
        }
        error_between(context.exported.pieces(from), self.placed(context, from), from, to)
    }

    /// The piece shown at a shown time.
    pub(crate) fn shown_at<'a>(&'a self, context: Context<'a>, t: GlobalTime) -> Option<PieceView<'a>> {
        self.piece(&self.flight_at(context, t)?, context)
    }

    /// The flight whose vector is shown at a shown time.
    fn flight_at(&self, context: Context<'_>, t: GlobalTime) -> Option<Flight> {
        let index = self.flights.shown_at(t, context.lag, |f| timing(f, context).0)?;
        self.flights.get(index)
    }

    /// The placed path from `from` on: the newest vector by generation among those that have taken effect.
    fn placed<'a>(&'a self, context: Context<'a>, from: GlobalTime) -> impl Iterator<Item = PieceView<'a>> {
        let start = move |f: &Flight| timing(f, context).0;
        let mut cursor = from;
        let mut current = None;
        let mut first = self.flights.shown_at(from, context.lag, start);
        core::iter::from_fn(move || {
            let next = first.take().or_else(|| self.flights.shown_after(cursor, current, context.lag, start))?;
            current = Some(next);
            let piece = self.piece(&self.flights.get(next)?, context)?;
            cursor = cursor.max(piece.start);
            Some(piece)
        })
    }

    fn piece<'a>(&'a self, flight: &Flight, context: Context<'a>) -> Option<PieceView<'a>> {
        let motion = match context.exported.get(flight.vector) {
            Some(vector) => &vector.motion,
            None => &self.anchored(flight.vector)?.motion,
        };
        let (start, epoch) = timing(flight, context);
        let freeze = Some(epoch + context.terms.placing.max_age);
        Some(PieceView { start, epoch, motion, vector: Some(flight.vector), freeze })
    }
}

/// From when on a flight's vector is shown, and from when on it is extrapolated, both in shown time.
#[inline]
fn timing(flight: &Flight, context: Context<'_>) -> (GlobalTime, GlobalTime) {
    let delay = context.path.delay().unwrap_or(Duration::ZERO);
    let arrival = match flight.fate {
        Fate::Arrived => flight.arrival,
        Fate::InFlight | Fate::Lost => flight.sent + delay,
    };
    let epoch = context.terms.placing.epoch(flight.generated, arrival, delay);
    (context.lag.takes_effect(epoch, arrival), epoch)
}

fn fading(window: Option<Duration>, span: Duration) -> f64 {
    match window {
        Some(window) if window > Duration::ZERO => libm::exp(-span.as_secs_f64() / window.as_secs_f64()),
        _ => 1.0,
    }
}
