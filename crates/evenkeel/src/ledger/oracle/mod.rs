//! The books kept a second time, by other means, to compare the ledger's with: a list of flights per entity and receiver, nothing
//! shared between pairs, every integral by the exact kernel.
//!
//! It is built into unit tests, and into any program compiled with `--cfg evenkeel_oracle`. The ledger tells it of every event; every
//! call of [`Sender::fairness`](crate::Sender::fairness) then compares the two, and panics where they differ.

mod exported;
mod flights;
mod pair;
#[cfg(test)]
mod sessions;

use super::{Carried, ClockRule, EntityIndex, Fate, Ledger, MAX_EXPORTED, ReceiverBook, ReceiverIndex, Terms, Vector};
use crate::delay::PathEstimate;
use crate::ids::VectorNumber;
use crate::lag::Lag;
use crate::path::SplitError;
use crate::time::{Duration, GlobalTime};
use alloc::vec::Vec;
use exported::Exported;
use pair::{Context, PairBook};

/// It remembers vectors for so much longer than the ledger does.
const LONGER: Duration = Duration::from_secs(2);

/// The relative difference between two ways to add up the same integrals.
const ROUNDING: f64 = 1e-9;
/// Errors are compared as if no pair had suffered less than this, distance times seconds; the second where much is guessed.
const LEAST_ERROR: [f64; 2] = [1e-3, 0.2];
/// Fading is applied whenever books are closed, so that it depends on how often they are, by this much if they were not for some seconds.
const FADING: f64 = 0.3;
/// By the one-way rule, what is shown follows the estimate of the delay for as long as the books are open.
const GUESSING: f64 = 1.0;

/// What the ledger knows about one receiver, as it stands at an event.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) path: &'a PathEstimate,
    pub(crate) lag: &'a Lag,
    pub(crate) terms: &'a Terms,
}

/// One entity at one receiver, by their places.
pub(crate) type Place = (usize, usize);

/// All books, kept the plain way.
#[derive(Debug, Default)]
pub(crate) struct Oracle {
    exported: Vec<Exported>,
    /// By receiver, then by entity.
    pairs: Vec<Vec<PairBook>>,
    /// Whether anything was ever shown by the one-way rule.
    guesses: bool,
}

impl Oracle {
    pub(crate) fn add_receiver(&mut self, entities: usize, shown: GlobalTime) {
        self.pairs.push((0..entities).map(|_| PairBook::new(shown)).collect());
    }

    pub(crate) fn remove_receiver(&mut self, receiver: usize) {
        self.pairs.swap_remove(receiver);
    }

    pub(crate) fn add_entity(&mut self, entity: usize, shown: impl Fn(usize) -> GlobalTime) {
        if entity == self.exported.len() {
            self.exported.push(Exported::new());
        }
        for (receiver, pairs) in self.pairs.iter_mut().enumerate() {
            let pair = PairBook::new(shown(receiver));
            match pairs.get_mut(entity) {
                Some(place) => *place = pair,
                None => pairs.push(pair),
            }
        }
    }

    pub(crate) fn remove_entity(&mut self, entity: usize) {
        self.exported[entity].clear();
    }

    /// Receivers follow another rule from now on.
    pub(crate) fn set_rule(&mut self, rule: ClockRule) {
        self.guesses |= rule == ClockRule::OneWay;
    }

    /// A pair's books end, with this error.
    pub(crate) fn finish(&mut self, place: Place, around: Around<'_>, ours: SplitError, now: GlobalTime) {
        let within = self.within();
        let (pair, context) = self.split(place, around);
        pair.finish(context, now);
        let theirs = pair.accumulated(context, now);
        *pair = PairBook::new(around.lag.shown(now));
        let off = (ours - theirs).total().abs() / theirs.total().max(LEAST_ERROR[usize::from(self.guesses)]);
        assert!(off <= within, "{place:?} ends at {now} with {ours:?} for {theirs:?}");
    }

    /// How far the books may be off.
    fn within(&self) -> f64 {
        if self.guesses { GUESSING } else { ROUNDING }
    }

    pub(crate) fn export<'a>(
        &mut self,
        entity: usize,
        vector: Vector,
        history: Duration,
        around: impl Fn(usize) -> Around<'a>,
        now: GlobalTime,
    ) {
        self.trim(entity, history, &around, now);
        self.exported[entity].push(vector);
    }

    /// Drops vectors that no query within the history can reach, in batches.
    fn trim<'a>(&mut self, entity: usize, history: Duration, around: &impl Fn(usize) -> Around<'a>, now: GlobalTime) {
        let exported = &self.exported[entity];
        let stale = exported.since().is_some_and(|since| now.since(since) > history * 2);
        let full = exported.len() >= MAX_EXPORTED;
        if !(full || (stale && exported.len() > 1)) {
            return;
        }
        self.close_entity(entity, around, now);
        let horizons =
            (0..self.pairs.len()).map(|r| around(r).lag.shown(now - LONGER - around(r).path.memory(history)));
        let horizon = horizons.min().unwrap_or(now - history);
        let needed = (0..self.pairs.len()).filter_map(|r| {
            let (pair, context) = self.split_ref((entity, r), around(r));
            pair.oldest_needed(context)
        });
        let needed: Option<VectorNumber> = needed.min();
        while let Some(until) = self.exported[entity].oldest_until() {
            let exported = &self.exported[entity];
            let must = full && exported.len() > MAX_EXPORTED / 2;
            if (until > horizon || needed.is_some_and(|needed| exported.oldest() >= needed)) && !must {
                break;
            }
            for receiver in 0..self.pairs.len() {
                let (pair, context) = self.split((entity, receiver), around(receiver));
                pair.close_to(context, until);
            }
            if let Some(vector) = self.exported[entity].drop_oldest() {
                self.pairs.iter_mut().for_each(|pairs| pairs[entity].keep_if_in_use(&vector));
            }
        }
    }

    pub(crate) fn close_entity<'a>(&mut self, entity: usize, around: impl Fn(usize) -> Around<'a>, now: GlobalTime) {
        for receiver in 0..self.pairs.len() {
            let (pair, context) = self.split((entity, receiver), around(receiver));
            pair.close(context, now);
        }
    }

    pub(crate) fn clear(&mut self, place: Place, around: Around<'_>, now: GlobalTime) {
        let (pair, context) = self.split(place, around);
        pair.clear(context, now);
    }

    pub(crate) fn sent(
        &mut self,
        place: Place,
        vector: VectorNumber,
        generated: GlobalTime,
        around: Around<'_>,
        now: GlobalTime,
    ) {
        self.guesses |= around.terms.placing.rule == ClockRule::OneWay;
        let (pair, context) = self.split(place, around);
        pair.record_send(vector, generated, now, context);
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn arrived(
        &mut self,
        place: Place,
        vector: VectorNumber,
        sent: GlobalTime,
        arrival: GlobalTime,
        taken: bool,
        around: Around<'_>,
    ) {
        let (pair, context) = self.split(place, around);
        pair.record_arrival(vector, sent, arrival, taken, context, arrival);
    }

    pub(crate) fn lost(&mut self, (entity, receiver): Place, vector: VectorNumber, sent: GlobalTime) {
        self.pairs[receiver][entity].record_loss(vector, sent);
    }

    pub(crate) fn untaken(&mut self, (entity, receiver): Place, vector: VectorNumber, sent: GlobalTime) {
        self.pairs[receiver][entity].record_untaken(vector, sent);
    }

    pub(crate) fn forget_baseline(&mut self, (entity, receiver): Place) {
        self.pairs[receiver][entity].forget_baseline();
    }

    fn split<'a>(&'a mut self, (entity, receiver): Place, around: Around<'a>) -> (&'a mut PairBook, Context<'a>) {
        let Around { path, lag, terms } = around;
        (&mut self.pairs[receiver][entity], Context { exported: &self.exported[entity], path, lag, terms })
    }

    fn split_ref<'a>(&'a self, (entity, receiver): Place, around: Around<'a>) -> (&'a PairBook, Context<'a>) {
        let Around { path, lag, terms } = around;
        (&self.pairs[receiver][entity], Context { exported: &self.exported[entity], path, lag, terms })
    }
}

impl Ledger {
    /// The oracle, and what it must be told with every event.
    pub(crate) fn oracle<'a>(&'a mut self) -> (&'a mut Oracle, impl Fn(usize) -> Around<'a>) {
        let Self { oracle, receivers, terms, .. } = self;
        (oracle, |receiver| {
            let ReceiverBook { path, lag, .. } = &receivers[receiver];
            Around { path, lag, terms }
        })
    }

    pub(crate) fn tell_oracle_of_send(
        &mut self,
        entity: EntityIndex,
        receiver: ReceiverIndex,
        number: VectorNumber,
        now: GlobalTime,
    ) {
        let generated = self.vector(entity, number).map_or(now, |vector| vector.generated);
        let (oracle, around) = self.oracle();
        oracle.sent((entity.0, receiver.0), number, generated, around(receiver.0), now);
    }

    /// A datagram met its fate: so did all that it carried.
    pub(crate) fn tell_oracle_of_fate(
        &mut self,
        receiver: ReceiverIndex,
        datagram: u64,
        fate: Fate,
        (arrival, taken): (GlobalTime, bool),
    ) {
        for at in self.receivers[receiver.0].log.carried(datagram) {
            let Some(Carried::Vector { entity, number }) = self.carried_at(receiver, at) else { continue };
            let Some((sent, _)) = self.receivers[receiver.0].log.sheet(datagram) else { continue };
            let (oracle, around) = self.oracle();
            let (place, around) = ((entity.0, receiver.0), around(receiver.0));
            match fate {
                Fate::Arrived => oracle.arrived(place, number, sent, arrival, taken, around),
                Fate::Untaken => oracle.untaken(place, number, sent),
                Fate::Lost | Fate::Open => oracle.lost(place, number, sent),
            }
        }
    }

    /// Compares all books with those that are kept the plain way, and panics where they differ.
    pub(crate) fn check_books(&self, now: GlobalTime) {
        for entity in self.entities() {
            for receiver in self.receivers() {
                self.check_pair((entity.0, receiver.0), now);
            }
        }
    }

    fn check_pair(&self, place: Place, now: GlobalTime) {
        let (entity, receiver) = (EntityIndex(place.0), ReceiverIndex(place.1));
        let (view, book) = (self.pair(entity, receiver), self.book(entity, receiver));
        let ReceiverBook { path, lag, .. } = &self.receivers[place.1];
        let around = Around { path, lag, terms: &self.terms };
        let (pair, context) = self.oracle.split_ref(place, around);
        let least = pair.accumulated(context, now).total().max(LEAST_ERROR[usize::from(self.oracle.guesses)]);
        let same = |what: &str, ours: f64, theirs: f64, within: f64| {
            let off = (ours - theirs).abs() / least;
            assert!(off <= within, "{what} of {place:?} at {now}: {ours} for {theirs}, off by {off:e}");
        };
        let within = self.oracle.within();
        for (what, ours, theirs) in [
            ("what accumulated", view.accumulated(now), pair.accumulated(context, now)),
            ("what is known", view.known(now), pair.known(context, now)),
        ] {
            same(what, ours.before, theirs.before, within);
            same(what, ours.after, theirs.after, within);
        }
        same("what was suffered of late", view.recent(now), pair.recent(context, now), within.max(FADING));
        assert_eq!(view.shown_for(now), pair.shown_for(context, now), "since when {place:?} is shown, at {now}");
        let last = pair.last_sent().map(|flight| (flight.vector, flight.sent));
        assert_eq!(view.last_sent(), last, "what was sent last in {place:?}, at {now}");
        // Of a vector that was sent twice either arrival may be remembered.
        let received = pair.last_arrived().map(|flight| flight.vector);
        assert_eq!(
            view.last_received().map(|(vector, _)| vector),
            received,
            "what arrived last in {place:?}, at {now}"
        );
        assert_eq!(self.desk(entity, receiver).sent, pair.reference(), "the newest not lost in {place:?}, at {now}");
        assert_eq!(book.acknowledged, pair.acknowledged, "the baseline of {place:?}, at {now}");
        for back in [0, 17, 180, 600] {
            let t = now - Duration::from_millis(back);
            let (shown, theirs) = (around.lag.shown(t), pair.shown_at(context, around.lag.shown(t)));
            let Some(theirs) = theirs.map(|piece| piece.at(shown).position) else { continue };
            let seen = self.seen_by(entity, receiver, t).map(|state| state.position);
            assert_eq!(seen, Some(theirs), "{place:?} as shown at {t}");
        }
    }
}
