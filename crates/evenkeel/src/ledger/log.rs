//! What was sent to one receiver, datagram by datagram: what receipts and losses are about.
//!
//! A datagram's fate is known at once for all that it carried. So there is one entry with times and fate per datagram; what it carried
//! stands on a sheet, which receivers share that were sent the same. Each vector on it tells where the same entity's vector before it is:
//! a chain for everybody who asks about one entity.

use super::EntityIndex;
use super::sheets::{Before, Farewell, Item, SheetId, Sheets};
use crate::ids::VectorNumber;
use crate::time::{Duration, GlobalTime};
use crate::wire::datagram::widen;
use alloc::collections::VecDeque;
use core::ops::Range;

/// Datagrams without a receipt, at most; beyond that the oldest counts as lost.
const MAX_OPEN: u64 = 8_192;
/// Datagrams remembered, at most.
const MAX_REMEMBERED: usize = 65_536;
/// Vectors remembered per entity on average, at most, and entities that count at least.
const MAX_PER_ENTITY: usize = 128;
const LEAST_ENTITIES: usize = 64;

/// What became of a datagram, as far as that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Open,
    Arrived,
    /// It arrived, but could not be decoded.
    Untaken,
    Lost,
}

impl Fate {
    /// Whether what it carried is not shown, and will not be.
    pub(crate) fn is_lost(self) -> bool {
        matches!(self, Self::Lost | Self::Untaken)
    }
}

/// One datagram.
#[derive(Clone, Copy, Debug)]
struct Datagram {
    sent: GlobalTime,
    /// When it arrived, once that is known.
    arrival: GlobalTime,
    sheet: SheetId,
    /// How many things it carried.
    count: u16,
    fate: Fate,
}

/// Where something was carried: in which datagram, and which of its things it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct At {
    pub(crate) number: u64,
    pub(crate) slot: u16,
}

/// The same in less space, by the low bits of the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) number: u32,
    pub(crate) slot: u16,
}

impl Link {
    /// Where that is as seen from a datagram sent later.
    #[inline]
    pub(crate) fn before(self, number: u64) -> Before {
        Before::new((number as u32).wrapping_sub(self.number), self.slot)
    }
}

/// Something that a datagram carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carried {
    Vector { entity: EntityIndex, number: VectorNumber },
    Farewell(Farewell),
}

impl Carried {
    fn read(sheets: &Sheets, sheet: SheetId, item: &Item) -> Option<Self> {
        match item.vector {
            Some(number) => Some(Self::Vector { entity: EntityIndex(item.place as usize), number }),
            None => sheets.farewell(sheet, item).map(Self::Farewell),
        }
    }
}

/// One vector on its way to a receiver, or arrived there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flight {
    pub(crate) vector: VectorNumber,
    pub(crate) sent: GlobalTime,
    /// When it arrived, if it did.
    pub(crate) arrival: GlobalTime,
    pub(crate) fate: Fate,
    /// What carried it.
    pub(crate) at: At,
}

/// A receipt's claim, checked against what was really sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// News: the datagram sent at this time arrived.
    News { sent: GlobalTime },
    /// Heard before; a repetition.
    Known,
    /// Too long ago to matter.
    Forgotten,
    /// There is no such datagram.
    Forged,
}

/// Everything sent to one receiver that matters still.
#[derive(Debug, Default)]
pub(crate) struct Log {
    datagrams: VecDeque<Datagram>,
    /// The number of the first of them.
    first_number: u64,
    /// How many things they carried.
    items: usize,
    /// Every datagram before this number has met its fate.
    open_from: u64,
    /// Every datagram before this number is in the books.
    settled_to: u64,
    /// The newest datagram known to have arrived, and when it was sent.
    newest_received: Option<(u64, GlobalTime)>,
}

impl Log {
    /// The number that the next datagram gets.
    pub(crate) fn next_number(&self) -> u64 {
        self.first_number + self.datagrams.len() as u64
    }

    /// How many datagrams have been sent since the newest one known to have arrived.
    pub(crate) fn since_received(&self) -> Option<u64> {
        self.newest_received.map(|(newest, _)| self.next_number() - newest)
    }

    /// As if nothing had ever arrived.
    pub(crate) fn forget_received(&mut self) {
        self.newest_received = None;
    }

    /// The next datagram leaves, with what is on a sheet.
    pub(crate) fn record(&mut self, sent: GlobalTime, sheet: SheetId, count: u16) {
        self.items += usize::from(count);
        self.datagrams.push_back(Datagram { sent, arrival: GlobalTime::MAX, sheet, count, fate: Fate::Open });
    }

    fn datagram(&self, number: u64) -> Option<&Datagram> {
        self.datagrams.get(number.checked_sub(self.first_number)? as usize)
    }

    /// Checks one entry of a receipt.
    pub(crate) fn claim(&mut self, low_number: u16, decoded: bool) -> (Claim, u64) {
        let number = self.whole_number(low_number);
        if number < self.first_number {
            return (Claim::Forgotten, number);
        }
        let Some(datagram) = self.datagram(number) else { return (Claim::Forged, number) };
        let sent = datagram.sent;
        let claim = match datagram.fate {
            Fate::Arrived => Claim::Known,
            Fate::Untaken if !decoded => Claim::Known,
            Fate::Open | Fate::Lost | Fate::Untaken => Claim::News { sent },
        };
        self.newest_received = self.newest_received.max(Some((number, sent)));
        (claim, number)
    }

    /// A datagram has met its fate, perhaps another one than was believed.
    pub(crate) fn meet(&mut self, number: u64, fate: Fate, arrival: GlobalTime) {
        let index = number.checked_sub(self.first_number).map(|index| index as usize);
        if let Some(datagram) = index.and_then(|index| self.datagrams.get_mut(index)) {
            (datagram.fate, datagram.arrival) = (fate, arrival);
        }
    }

    /// What is known of a datagram's fate.
    pub(crate) fn fate(&self, number: u64) -> Fate {
        self.datagram(number).map_or(Fate::Lost, |datagram| datagram.fate)
    }

    /// The number of a datagram by its low bits.
    pub(crate) fn whole_number(&self, low: u16) -> u64 {
        widen(u64::from(low), 16, self.next_number())
    }

    /// When a datagram was sent, by the low bits of its number, while that is remembered.
    pub(crate) fn sent_at(&self, low_number: u16) -> Option<GlobalTime> {
        self.datagram(self.whole_number(low_number)).map(|datagram| datagram.sent)
    }

    /// The places of what a datagram carried, to be asked for one by one.
    pub(crate) fn carried(&self, number: u64) -> impl DoubleEndedIterator<Item = At> + Clone + use<> {
        (0..self.datagram(number).map_or(0, |datagram| datagram.count)).map(move |slot| At { number, slot })
    }

    /// When a datagram was sent, and its sheet.
    pub(crate) fn sheet(&self, number: u64) -> Option<(GlobalTime, SheetId)> {
        self.datagram(number).map(|datagram| (datagram.sent, datagram.sheet))
    }

    /// When a datagram was sent, and when it arrived.
    #[inline]
    pub(crate) fn times(&self, number: u64) -> Option<(GlobalTime, GlobalTime)> {
        self.datagram(number).map(|datagram| (datagram.sent, datagram.arrival))
    }

    /// What was carried there.
    pub(crate) fn carried_at(&self, at: At, sheets: &Sheets) -> Option<Carried> {
        let sheet = self.datagram(at.number)?.sheet;
        Carried::read(sheets, sheet, sheets.items(sheet).get(usize::from(at.slot))?)
    }

    /// The same as a flight, if it is a vector.
    #[inline]
    pub(crate) fn flight(&self, at: At, sheets: &Sheets) -> Option<Flight> {
        self.look(at, sheets).map(|(flight, _)| flight)
    }

    /// A flight, and where the same entity's vector before it is.
    #[inline]
    fn look(&self, at: At, sheets: &Sheets) -> Option<(Flight, Before)> {
        let Datagram { sent, arrival, fate, sheet, .. } = *self.datagram(at.number)?;
        let Item { vector, before, .. } = *sheets.items(sheet).get(usize::from(at.slot))?;
        Some((Flight { vector: vector?, sent, arrival, fate, at }, before))
    }

    /// Where a link leads to, if that is remembered.
    fn follow(&self, link: Link) -> Option<At> {
        let number = self.first_number + u64::from(link.number.wrapping_sub(self.first_number as u32));
        (number < self.next_number()).then_some(At { number, slot: link.slot })
    }

    /// Whether what a link leads to is remembered.
    pub(crate) fn remembers(&self, head: Link) -> bool {
        self.follow(head).is_some()
    }

    /// An entity's chain from `head` on: what was sent last comes first.
    #[inline]
    pub(crate) fn chain<'a>(&'a self, head: Option<Link>, sheets: &'a Sheets) -> impl Iterator<Item = Flight> + 'a {
        let mut next = head.and_then(|head| self.follow(head));
        core::iter::from_fn(move || {
            let at = next?;
            let (flight, before) = self.look(at, sheets)?;
            next = before.seen_from(at.number).map(|(number, slot)| At { number, slot });
            Some(flight)
        })
    }

    /// The flight before another one of the same entity, if that is remembered.
    #[inline]
    pub(crate) fn before(&self, at: At, sheets: &Sheets) -> Option<Flight> {
        let (_, before) = self.look(at, sheets)?;
        let (number, slot) = before.seen_from(at.number)?;
        self.flight(At { number, slot }, sheets)
    }

    /// The oldest datagram that counts as lost. It has been without a receipt for `loss_after`, or it was overtaken: one sent more than
    /// `reordering` later was received. Receipts report everything that came, so a gap in them is a loss, while a lost receipt
    /// leaves none.
    pub(crate) fn next_lost(
        &mut self,
        now: GlobalTime,
        loss_after: Duration,
        reordering: Duration,
    ) -> Option<(u64, GlobalTime)> {
        let sent = self.oldest_open()?;
        let overtaken = self.newest_received.is_some_and(|(_, newest)| newest.since(sent) > reordering);
        let too_many = self.next_number() - self.open_from > MAX_OPEN;
        (overtaken || now.since(sent) >= loss_after || too_many).then_some((self.open_from, sent))
    }

    /// When the oldest datagram without a receipt was sent.
    pub(crate) fn oldest_open(&mut self) -> Option<GlobalTime> {
        while let Some(datagram) = self.datagram(self.open_from) {
            if datagram.fate == Fate::Open {
                return Some(datagram.sent);
            }
            self.open_from += 1;
        }
        None
    }

    /// When the oldest datagram without a receipt among an entity's was sent.
    pub(crate) fn oldest_open_of(&self, head: Option<Link>, sheets: &Sheets) -> Option<GlobalTime> {
        // Nothing before the first open datagram is open.
        let lately = self.chain(head, sheets).take_while(|flight| flight.at.number >= self.open_from);
        lately.filter(|flight| flight.fate == Fate::Open).last().map(|flight| flight.sent)
    }

    /// The datagrams that can go into the books, because they and all before have met their fates, and nothing that is open can have
    /// arrived before they did; and whether they arrived in order, none later one before them. `in_effect` says of times sent and
    /// arrived whether all that was carried is shown by then.
    pub(crate) fn settleable(
        &self,
        frontier: GlobalTime,
        in_effect: impl Fn(GlobalTime, GlobalTime) -> bool,
    ) -> (Range<u64>, bool) {
        let (mut end, mut last, mut ordered) = (self.settled_to, GlobalTime::MIN, true);
        while let Some(datagram) = self.datagram(end).filter(|datagram| datagram.fate != Fate::Open) {
            if datagram.fate == Fate::Arrived {
                if datagram.arrival > frontier || !in_effect(datagram.sent, datagram.arrival) {
                    break;
                }
                ordered &= datagram.arrival >= last;
                last = last.max(datagram.arrival);
            }
            end += 1;
        }
        let newest = self.newest_received.map_or(end, |(newest, _)| newest + 1);
        let later = (end..newest).filter_map(|number| self.datagram(number));
        let overtaken = later.filter(|later| later.fate == Fate::Arrived).any(|later| later.arrival < last);
        (self.settled_to..end, ordered && !(overtaken && end > self.settled_to))
    }

    /// All datagrams before this number are in the books.
    pub(crate) fn settled(&mut self, to: u64) {
        self.settled_to = to;
    }

    /// Whether a datagram is in the books.
    pub(crate) fn is_settled(&self, number: u64) -> bool {
        number < self.settled_to
    }

    /// The oldest datagram, if no receipt can usefully speak of it any more and nobody asks what was shown when it arrived.
    pub(crate) fn forgettable(&self, before: GlobalTime, shown: GlobalTime, entities: usize) -> Option<u64> {
        let oldest = self.datagrams.front().filter(|oldest| oldest.fate != Fate::Open)?;
        let too_many =
            self.datagrams.len() > MAX_REMEMBERED || self.items > MAX_PER_ENTITY * entities.max(LEAST_ENTITIES);
        let past = match oldest.fate {
            Fate::Arrived => oldest.sent.max(oldest.arrival) <= shown,
            _ => oldest.sent < before,
        };
        ((past || too_many) && self.is_settled(self.first_number)).then_some(self.first_number)
    }

    /// Forgets the oldest datagram, and with it its sheet if nobody else speaks of it.
    pub(crate) fn forget_oldest(&mut self, sheets: &mut Sheets) {
        let Some(oldest) = self.datagrams.pop_front() else { return };
        self.first_number += 1;
        self.items -= usize::from(oldest.count);
        sheets.release(oldest.sheet);
    }

    /// Forgets everything: its receiver has gone.
    pub(crate) fn clear(&mut self, sheets: &mut Sheets) {
        while !self.datagrams.is_empty() {
            self.forget_oldest(sheets);
        }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.datagrams.capacity() * size_of::<Datagram>()
    }
}
