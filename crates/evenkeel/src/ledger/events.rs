//! What happens to vectors on their way: they are sent, they arrive, they are lost; and what that means for the books.

use super::log::Flight;
use super::pair::Context;
use super::{Carried, ClockRule, EntityBook, EntityIndex, Fate, Ledger, ReceiverBook, ReceiverIndex};
use crate::ids::VectorNumber;
use crate::time::GlobalTime;

/// With fewer receivers, integrals are not worth keeping for others. They are where that is compared.
const ENOUGH_TO_SHARE: usize = if cfg!(any(test, evenkeel_oracle)) { 1 } else { 4 };

impl Ledger {
    /// A vector leaves for a receiver, in the next datagram.
    #[inline]
    pub(crate) fn send(&mut self, entity: EntityIndex, receiver: ReceiverIndex, number: VectorNumber, now: GlobalTime) {
        let (book, to) = (&mut self.entities[entity.0], &mut self.receivers[receiver.0]);
        to.pairs[entity.0].send(entity, number, now, &mut to.log);
        let desk = &mut book.desks[receiver.0];
        desk.sent = desk.sent.max(Some(number));
        if desk.queued == Some(number) {
            desk.queued = None;
        }
        book.vectors += 1;
        to.vectors += 1;
        self.spent.vectors += 1;
        #[cfg(any(test, evenkeel_oracle))]
        self.tell_oracle_of_send(entity, receiver, number, now);
    }

    /// A receipt: a datagram arrived, and receivers may build upon what it carried or not. Answers what had been believed of it.
    pub(crate) fn arrive(&mut self, receiver: ReceiverIndex, datagram: u64, arrival: GlobalTime, taken: bool) -> Fate {
        #[cfg(any(test, evenkeel_oracle))]
        self.tell_oracle_of_fate(receiver, datagram, Fate::Arrived, (arrival, taken));
        let Self { entities, receivers, terms, .. } = self;
        let ReceiverBook { log, pairs, path, lag, .. } = &mut receivers[receiver.0];
        let (before, mut late) = (log.fate(datagram), false);
        for index in log.carried(datagram) {
            let Some(Carried::Vector { entity, number }) = log.carried_at(index) else { continue };
            let book = &mut entities[entity.0];
            let context = Context { entity, exported: &book.exported, log, path, lag, terms };
            let flight = Flight { vector: number, sent: arrival, arrival, fate: Fate::Arrived, index };
            let pair = &mut pairs[entity.0];
            let (start, _) = pair.timing(&flight, context);
            pair.arrived(number, start, taken);
            late |= pair.is_closed_after(start, context);
            if before.is_lost() {
                let desk = &mut book.desks[receiver.0];
                desk.sent = desk.sent.max(Some(number));
            }
        }
        if late {
            self.correct(receiver, datagram, before, arrival);
        }
        self.receivers[receiver.0].log.meet(datagram, Fate::Arrived, arrival);
        before
    }

    /// Corrects books that were closed without a datagram that arrived.
    #[cold]
    fn correct(&mut self, receiver: ReceiverIndex, datagram: u64, before: Fate, arrival: GlobalTime) {
        let carried = self.receivers[receiver.0].log.carried(datagram);
        for index in carried.clone() {
            let ReceiverBook { log, lag, .. } = &self.receivers[receiver.0];
            let Some(Carried::Vector { entity, .. }) = log.carried_at(index) else { continue };
            let same =
                |later| matches!(log.carried_at(later), Some(Carried::Vector { entity: other, .. }) if other == entity);
            let (twice, from) = ((index + 1..carried.end).any(same), lag.shown(arrival));
            let (pair, context) = self.split(entity, receiver);
            if twice || !pair.is_closed_after(from, context) {
                continue;
            }
            let without = pair.booked_since(from, context);
            self.receivers[receiver.0].log.meet(datagram, Fate::Arrived, arrival);
            let (pair, context) = self.split(entity, receiver);
            pair.correct(pair.booked_since(from, context) - without, context);
            self.receivers[receiver.0].log.meet(datagram, before, GlobalTime::MAX);
        }
    }

    /// A datagram was lost, or could not be decoded.
    pub(crate) fn miss(&mut self, receiver: ReceiverIndex, datagram: u64, fate: Fate) {
        #[cfg(any(test, evenkeel_oracle))]
        self.tell_oracle_of_fate(receiver, datagram, fate, (GlobalTime::MAX, false));
        self.receivers[receiver.0].log.meet(datagram, fate, GlobalTime::MAX);
    }

    /// A vector of a datagram that was lost, or could not be decoded. Answers whether nothing newer is on its way or there.
    pub(crate) fn lose(&mut self, entity: EntityIndex, receiver: ReceiverIndex, number: VectorNumber) -> bool {
        let (pair, context) = self.context(entity, receiver);
        if self.desk(entity, receiver).sent == Some(number) {
            let newest = pair.newest(context);
            self.desk_mut(entity, receiver).sent = newest;
        }
        self.desk(entity, receiver).sent.is_none_or(|newest| newest < number)
    }

    /// The receiver has other baselines than was believed: the next vector stands alone.
    pub(crate) fn forget_baseline(&mut self, entity: EntityIndex, receiver: ReceiverIndex) {
        self.book_mut(entity, receiver).forget_baseline();
        #[cfg(any(test, evenkeel_oracle))]
        self.oracle.forget_baseline((entity.0, receiver.0));
    }

    /// Puts into a receiver's books what is known for certain by now, and forgets what nobody will ask about.
    pub(crate) fn settle(&mut self, receiver: ReceiverIndex, now: GlobalTime) {
        let Self { entities, receivers, terms, .. } = self;
        let shared = receivers.len() >= ENOUGH_TO_SHARE;
        let ReceiverBook { log, pairs, path, lag, .. } = &mut receivers[receiver.0];
        let frontier = log.oldest_open().map_or(now, |sent| sent.min(now)).min(terms.tick_before(now));
        let shown = lag.shown(frontier);
        // Nothing is generated after it is sent. By the other rules it counts from its arrival.
        let global = terms.placing.rule == ClockRule::Global;
        let (datagrams, ordered) = log.settleable(frontier, |sent, at| if global { sent } else { at } <= shown);
        let arrived = |number: &u64| log.fate(*number) == Fate::Arrived;
        for index in datagrams.clone().filter(arrived).filter(|_| terms.books).flat_map(|number| log.carried(number)) {
            let Some(Carried::Vector { entity, .. }) = log.carried_at(index) else { continue };
            let Some(flight) = log.flight(index) else { continue };
            let EntityBook { exported, rows, .. } = &mut entities[entity.0];
            let context = Context { entity, exported, log, path, lag, terms };
            if ordered {
                pairs[entity.0].take_effect(flight, context, shared.then_some(rows));
            } else {
                pairs[entity.0].close_to(context, shown);
            }
        }
        log.settled(datagrams.end);
        let horizon = now - path.memory(terms.history);
        while let Some(oldest) = log.forgettable(horizon, lag.shown(horizon), entities.len()) {
            for index in log.carried(oldest) {
                let (Some(Carried::Vector { entity, .. }), Some(flight)) = (log.carried_at(index), log.flight(index))
                else {
                    continue;
                };
                pairs[entity.0].forget(flight);
            }
            log.forget_oldest();
        }
    }
}
