//! What happens to vectors on their way: they are sent, they arrive, they are lost; and what that means for the books.

use super::log::Flight;
use super::pair::Context;
use super::sheets::{Item, SheetId};
use super::{At, Carried, EntityIndex, Fate, Ledger, ReceiverBook, ReceiverIndex};
use crate::ids::VectorNumber;
use crate::time::GlobalTime;

impl Ledger {
    /// A vector leaves for a receiver, in the next datagram, with what is on a sheet already.
    #[inline]
    pub(crate) fn send(
        &mut self,
        entity: EntityIndex,
        receiver: ReceiverIndex,
        number: VectorNumber,
        sheet: SheetId,
        now: GlobalTime,
    ) {
        let to = &mut self.receivers[receiver.0];
        let at = At { number: to.log.next_number(), slot: self.sheets.items(sheet).len() as u16 };
        let before = to.pairs[entity.0].before(at.number);
        self.sheets.push(sheet, Item { place: entity.0 as u32, vector: Some(number), before });
        self.send_at(entity, receiver, number, at, now);
    }

    /// A vector leaves for a receiver, in the next datagram, and stands on that one's sheet already.
    #[inline]
    pub(crate) fn send_at(
        &mut self,
        entity: EntityIndex,
        receiver: ReceiverIndex,
        number: VectorNumber,
        at: At,
        now: GlobalTime,
    ) {
        let (book, to) = (&mut self.entities[entity.0], &mut self.receivers[receiver.0]);
        to.pairs[entity.0].send(number, now, at, &to.log);
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

    /// What a receiver was sent there; nothing if nobody speaks of it any more.
    pub(crate) fn carried_at(&self, receiver: ReceiverIndex, at: At) -> Option<Carried> {
        let ReceiverBook { log, pairs, .. } = &self.receivers[receiver.0];
        let about = |carried: &Carried| match carried {
            Carried::Vector { entity, .. } => pairs[entity.0].is_about(at.number),
            Carried::Farewell(_) => true,
        };
        log.carried_at(at, &self.sheets).filter(about)
    }

    /// A receipt: a datagram arrived, and receivers may build upon what it carried or not. Answers what had been believed of it.
    pub(crate) fn arrive(&mut self, receiver: ReceiverIndex, datagram: u64, arrival: GlobalTime, taken: bool) -> Fate {
        #[cfg(any(test, evenkeel_oracle))]
        self.tell_oracle_of_fate(receiver, datagram, Fate::Arrived, (arrival, taken));
        let Self { entities, receivers, sheets, terms, .. } = self;
        let ReceiverBook { log, pairs, path, lag, .. } = &mut receivers[receiver.0];
        let (before, mut late) = (log.fate(datagram), false);
        let items = log.sheet(datagram).map_or(&[][..], |(_, sheet)| sheets.items(sheet));
        for item in items {
            let Some((entity, number)) = item.vector.map(|number| (EntityIndex(item.place as usize), number)) else {
                continue;
            };
            let (book, pair) = (&mut entities[entity.0], &mut pairs[entity.0]);
            if !pair.is_about(datagram) {
                continue;
            }
            let context = Context { exported: &book.exported, log, sheets, path, lag, terms };
            let flight = Flight { vector: number, sent: arrival, arrival, fate: Fate::Arrived, at: At::default() };
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
        for (index, at) in carried.clone().enumerate() {
            let Some(Carried::Vector { entity, .. }) = self.carried_at(receiver, at) else { continue };
            let same = |later| matches!(self.carried_at(receiver, later), Some(Carried::Vector { entity: other, .. }) if other == entity);
            let twice = carried.clone().skip(index + 1).any(same);
            let from = self.receivers[receiver.0].lag.shown(arrival);
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
}
