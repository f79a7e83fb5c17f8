//! Puts into the books what receipts made certain: of all receivers at once, so that those who were sent the same sheet go through it
//! together, entity by entity. What an entity exported is then fetched once for all of them.

use super::log::Flight;
use super::pair::Context;
use super::sheets::{Item, SheetId};
use super::{At, ClockRule, EntityBook, Fate, Ledger, ReceiverBook, ReceiverIndex};
use crate::time::GlobalTime;

/// With fewer receivers, integrals are not worth keeping for others. They are where that is compared.
const ENOUGH_TO_SHARE: usize = if cfg!(any(test, evenkeel_oracle)) { 1 } else { 4 };
/// Receivers take turns after so many entities: what these exported, and a receiver's books of them, stay at hand.
const RUN: usize = 16;

/// What can go into the books of one receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ready {
    receiver: usize,
    /// The next datagram, the one after the last, and the sheet of the next.
    next: u64,
    end: u64,
    sheet: SheetId,
    /// Up to here everything is known, in shown time.
    shown: GlobalTime,
    /// Whether they arrived in order.
    ordered: bool,
}

impl Ledger {
    /// There is news about what a receiver was sent. The books say the same at any time; this is about when the work is done.
    pub(crate) fn settle_later(&mut self, receiver: ReceiverIndex) {
        self.receivers[receiver.0].unsettled = true;
        self.unsettled = true;
    }

    /// Puts into the books what is known for certain by now, and forgets what nobody will ask about.
    pub(crate) fn settle(&mut self, now: GlobalTime) {
        if !core::mem::take(&mut self.unsettled) {
            return;
        }
        let mut ready = core::mem::take(&mut self.ready);
        for receiver in 0..self.receivers.len() {
            if core::mem::take(&mut self.receivers[receiver].unsettled) {
                let begun = self.begin_to_settle(receiver, now).filter(|_| self.terms.books);
                ready.extend(begun.and_then(|ready| self.skip_lost(ready)));
            }
        }
        while !ready.is_empty() {
            ready.sort_unstable_by_key(|ready| (ready.sheet, ready.receiver));
            ready.chunk_by(|a, b| a.sheet == b.sheet).for_each(|group| self.book_sheet(group));
            ready.retain_mut(|ready| {
                ready.next += 1;
                let next = self.skip_lost(*ready);
                next.map(|next| *ready = next).is_some()
            });
        }
        self.ready = ready;
        (0..self.receivers.len()).for_each(|receiver| self.forget_old(receiver, now));
    }

    /// Finds the datagrams that can go into a receiver's books, and notes them as being there.
    fn begin_to_settle(&mut self, receiver: usize, now: GlobalTime) -> Option<Ready> {
        let ReceiverBook { log, lag, .. } = &mut self.receivers[receiver];
        let frontier = log.oldest_open().map_or(now, |sent| sent.min(now)).min(self.terms.tick_before(now));
        let shown = lag.shown(frontier);
        // Nothing is generated after it is sent. By the other rules it counts from its arrival.
        let global = self.terms.placing.rule == ClockRule::Global;
        let (datagrams, ordered) = log.settleable(frontier, |sent, at| if global { sent } else { at } <= shown);
        let (_, sheet) = log.sheet(datagrams.start)?;
        log.settled(datagrams.end);
        Some(Ready { receiver, next: datagrams.start, end: datagrams.end, sheet, shown, ordered })
    }

    /// Goes on to the next datagram that arrived, if there is one.
    fn skip_lost(&self, ready: Ready) -> Option<Ready> {
        let log = &self.receivers[ready.receiver].log;
        let next = (ready.next..ready.end).find(|number| log.fate(*number) == Fate::Arrived)?;
        Some(Ready { next, sheet: log.sheet(next)?.1, ..ready })
    }

    /// What stands on one sheet goes into the books of all who got it now.
    fn book_sheet(&mut self, group: &[Ready]) {
        let Self { entities, receivers, sheets, terms, .. } = self;
        let shared = receivers.len() >= ENOUGH_TO_SHARE;
        let Some(items) = group.first().map(|ready| sheets.items(ready.sheet)) else { return };
        for (run, items) in items.chunks(RUN).enumerate() {
            for Ready { receiver, next: number, shown, ordered, .. } in group {
                let ReceiverBook { log, pairs, path, lag, .. } = &mut receivers[*receiver];
                let Some((sent, arrival)) = log.times(*number) else { continue };
                for (slot, Item { place, vector, .. }) in (run * RUN..).zip(items) {
                    // A farewell's place is another thing.
                    let Some(vector) = *vector else { continue };
                    let pair = &mut pairs[*place as usize];
                    if !pair.is_about(*number) {
                        continue;
                    }
                    let EntityBook { exported, rows, .. } = &mut entities[*place as usize];
                    let context = Context { exported, log, sheets, path, lag, terms };
                    if *ordered {
                        let at = At { number: *number, slot: slot as u16 };
                        let flight = Flight { vector, sent, arrival, fate: Fate::Arrived, at };
                        pair.take_effect(flight, context, shared.then_some(rows));
                    } else {
                        pair.close_to(context, *shown);
                    }
                }
            }
        }
    }

    /// Forgets what nobody will ask about of what a receiver was sent.
    fn forget_old(&mut self, receiver: usize, now: GlobalTime) {
        let Self { entities, receivers, sheets, terms, .. } = self;
        let ReceiverBook { log, pairs, path, lag, .. } = &mut receivers[receiver];
        let horizon = now - path.memory(terms.history);
        while let Some(oldest) = log.forgettable(horizon, lag.shown(horizon), entities.len()) {
            if let Some((sent, sheet)) = log.sheet(oldest) {
                let (fate, (_, arrival)) = (log.fate(oldest), log.times(oldest).unwrap_or((sent, sent)));
                for (slot, Item { place, vector, .. }) in (0..).zip(sheets.items(sheet)) {
                    let Some(vector) = *vector else { continue };
                    let pair = &mut pairs[*place as usize];
                    if pair.is_about(oldest) {
                        pair.forget(Flight { vector, sent, arrival, fate, at: At { number: oldest, slot } });
                    }
                }
            }
            log.forget_oldest(sheets);
        }
    }
}
