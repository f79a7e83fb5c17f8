//! What was sent to one receiver, datagram by datagram: what receipts and losses are about.
//!
//! A datagram's fate is known at once for all that it carried. So there is one entry with times and fate per datagram, and per vector
//! only which one it is and where the same entity's vector before it is: a chain for everybody who asks about one entity.

use super::EntityIndex;
use crate::ids::{EntityId, VectorNumber};
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
    /// The running number of the first thing it carried.
    first: u64,
    count: u32,
    fate: Fate,
}

/// One thing in a datagram.
#[derive(Clone, Copy, Debug)]
struct Item {
    /// Which entity; or, where there is no vector, which farewell by the low bits of its running number; or [`NOTHING`].
    place: u32,
    vector: Option<VectorNumber>,
    /// The low bits of the datagram's number.
    datagram: u32,
    /// The low bits of the running number of the same entity's vector before it. It may have been forgotten.
    before: u32,
}

/// The place of what is no longer spoken of.
const NOTHING: u32 = u32::MAX;

/// What a receiver is told when an entity is gone, or out of its scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Farewell {
    pub(crate) entity: EntityId,
    pub(crate) epoch: u32,
    /// That of the last vector there was.
    pub(crate) tick: i64,
}

/// Something that a datagram carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carried {
    Vector { entity: EntityIndex, number: VectorNumber },
    Farewell(Farewell),
}

/// One vector on its way to a receiver, or arrived there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flight {
    pub(crate) vector: VectorNumber,
    pub(crate) sent: GlobalTime,
    /// When it arrived, if it did.
    pub(crate) arrival: GlobalTime,
    pub(crate) fate: Fate,
    /// The running number of what carried it.
    pub(crate) index: u64,
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
    items: VecDeque<Item>,
    /// The running number of the first of them.
    first_item: u64,
    farewells: VecDeque<Farewell>,
    /// How many farewells were forgotten.
    farewells_before: u64,
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

    /// The running number that the next thing gets: no chain begins there yet.
    pub(crate) fn next_item(&self) -> u32 {
        (self.first_item + self.items.len() as u64) as u32
    }

    /// Notes a vector in the next datagram. Answers where the entity's chain begins from now on.
    #[inline]
    pub(crate) fn carry(&mut self, entity: EntityIndex, number: VectorNumber, before: u32) -> u32 {
        let head = self.next_item();
        let (place, datagram) = (entity.0 as u32, self.next_number() as u32);
        self.items.push_back(Item { place, vector: Some(number), datagram, before });
        head
    }

    /// Notes a farewell in the next datagram.
    pub(crate) fn carry_farewell(&mut self, farewell: Farewell) {
        let place = (self.farewells_before + self.farewells.len() as u64) as u32;
        let (before, datagram) = (self.next_item(), self.next_number() as u32);
        self.items.push_back(Item { place, vector: None, datagram, before });
        self.farewells.push_back(farewell);
    }

    /// The next datagram leaves, with the last `count` things.
    pub(crate) fn record(&mut self, sent: GlobalTime, count: u32) {
        let first = self.first_item + self.items.len() as u64 - u64::from(count);
        self.datagrams.push_back(Datagram { sent, arrival: GlobalTime::MAX, first, count, fate: Fate::Open });
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

    /// The running numbers of what a datagram carried, to be asked for one by one.
    pub(crate) fn carried(&self, number: u64) -> Range<u64> {
        self.datagram(number).map_or(0..0, |datagram| datagram.first..datagram.first + u64::from(datagram.count))
    }

    fn item(&self, index: u64) -> Option<&Item> {
        self.items.get(index.checked_sub(self.first_item)? as usize)
    }

    /// What was carried; nothing if nobody speaks of it any more.
    #[inline]
    pub(crate) fn carried_at(&self, index: u64) -> Option<Carried> {
        let Item { place, vector, .. } = *self.item(index)?;
        match vector {
            Some(number) if place != NOTHING => Some(Carried::Vector { entity: EntityIndex(place as usize), number }),
            Some(_) => None,
            None => {
                let running = place.wrapping_sub(self.farewells_before as u32);
                self.farewells.get(running as usize).copied().map(Carried::Farewell)
            }
        }
    }

    /// The same as a flight, if it is a vector.
    pub(crate) fn flight(&self, index: u64) -> Option<Flight> {
        let item = self.item(index)?;
        let number = self.first_number + u64::from(item.datagram.wrapping_sub(self.first_number as u32));
        let Datagram { sent, arrival, fate, .. } = *self.datagram(number)?;
        Some(Flight { vector: item.vector?, sent, arrival, fate, index })
    }

    /// The whole running number of a link in an entity's chain, if that is not forgotten.
    fn link(&self, entity: EntityIndex, low: u32, below: u64) -> Option<u64> {
        let index = self.first_item + u64::from(low.wrapping_sub(self.first_item as u32));
        let item = self.item(index).filter(|_| index < below)?;
        (item.place == entity.0 as u32 && item.vector.is_some()).then_some(index)
    }

    /// Whether anything of an entity's chain is remembered.
    pub(crate) fn remembers(&self, entity: EntityIndex, head: u32) -> bool {
        self.link(entity, head, u64::MAX).is_some()
    }

    /// An entity's chain from `head` on: what was sent last comes first.
    pub(crate) fn chain(&self, entity: EntityIndex, head: u32) -> impl Iterator<Item = Flight> + '_ {
        let mut next = self.link(entity, head, u64::MAX);
        core::iter::from_fn(move || {
            let index = next?;
            next = self.before(entity, index);
            self.flight(index)
        })
    }

    /// What comes after a link in an entity's chain.
    #[inline]
    pub(crate) fn before(&self, entity: EntityIndex, index: u64) -> Option<u64> {
        self.link(entity, self.item(index)?.before, index)
    }

    /// Nobody speaks of an entity's vectors any more.
    pub(crate) fn void(&mut self, entity: EntityIndex, head: u32) {
        let mut next = self.link(entity, head, u64::MAX);
        while let Some(index) = next {
            next = self.before(entity, index);
            if let Some(item) = self.items.get_mut((index - self.first_item) as usize) {
                item.place = NOTHING;
            }
        }
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
    pub(crate) fn oldest_open_of(&self, entity: EntityIndex, head: u32) -> Option<GlobalTime> {
        let lately = self.chain(entity, head).take_while(|flight| {
            // Nothing before the first open datagram is open.
            self.datagram(self.open_from).is_some_and(|open| flight.index >= open.first)
        });
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
            self.datagrams.len() > MAX_REMEMBERED || self.items.len() > MAX_PER_ENTITY * entities.max(LEAST_ENTITIES);
        let past = match oldest.fate {
            Fate::Arrived => oldest.sent.max(oldest.arrival) <= shown,
            _ => oldest.sent < before,
        };
        ((past || too_many) && self.is_settled(self.first_number)).then_some(self.first_number)
    }

    /// Forgets the oldest datagram.
    pub(crate) fn forget_oldest(&mut self) {
        let Some(oldest) = self.datagrams.pop_front() else { return };
        self.first_number += 1;
        for _ in 0..oldest.count {
            if self.items.pop_front().is_some_and(|item| item.vector.is_none()) {
                self.farewells.pop_front();
                self.farewells_before += 1;
            }
        }
        self.first_item += u64::from(oldest.count);
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.datagrams.capacity() * size_of::<Datagram>()
            + self.items.capacity() * size_of::<Item>()
            + self.farewells.capacity() * size_of::<Farewell>()
    }
}
