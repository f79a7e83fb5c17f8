//! What waits for one receiver, and what is on its way there.

use crate::ids::{EntityId, VectorNumber};
use crate::ledger::EntityIndex;
use crate::time::{Duration, GlobalTime};
use crate::wire::datagram::{Acknowledged, Form, NUMBER_BITS, Stream, widen};
use alloc::collections::VecDeque;
use core::ops::Range;

/// Datagrams remembered per receiver, at most; beyond that the oldest counts as lost.
const MAX_REMEMBERED: usize = 8_192;
/// Vectors and farewells waiting in a queue nobody polls, beyond one per entity.
const MAX_EXTRA: usize = 4_096;
/// A receiver that has answered this recently knows the stream and the time, so that short headers do.
const SHORT_FOR: Duration = Duration::from_secs(2);
/// With so many datagrams after the newest that is known to have arrived, the low bits of a number still say which it is.
const SHORT_WITHIN: u64 = 3 << (NUMBER_BITS - 3);
/// After so long without receipts the next one is the newest, whatever the low bits of its number seem to say.
const RECEIPTS_WRAP: Duration = Duration::from_secs(1);

/// Something to put in the next datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outgoing {
    /// The vector that the pair's book says is queued.
    Newest { entity: EntityIndex, again: bool },
    /// This very vector, also if there is a newer one.
    Exactly { entity: EntityIndex, number: VectorNumber },
    /// The entity is gone, or out of scope.
    Farewell(Farewell),
}

/// What a receiver is told when an entity is gone, or out of its scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Farewell {
    pub(super) entity: EntityId,
    pub(super) epoch: u32,
    /// That of the last vector there was.
    pub(super) tick: i64,
}

/// Something that a datagram carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carried {
    Vector { entity: EntityIndex, number: VectorNumber },
    Farewell(Farewell),
}

/// Vectors and farewells in order. Vectors are many, and are written and read again in every tick: they take little space.
#[derive(Debug, Default)]
struct Ring {
    items: VecDeque<Packed>,
    farewells: VecDeque<Farewell>,
    /// How many farewells have left.
    farewells_before: u32,
}

/// What a ring holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    /// The vector that the pair's book says is queued.
    Newest { entity: EntityIndex, again: bool },
    /// This very vector.
    Exactly { entity: EntityIndex, number: VectorNumber },
    /// The farewell with this running number, of which the low [`PLACE_BITS`] are kept.
    Farewell(u32),
}

/// An [`Item`] in eight bytes.
#[derive(Clone, Copy, Debug)]
struct Packed {
    /// The entity's place in the ledger. Where there is no vector, the bits above [`PLACE_BITS`] say what else it is.
    place: u32,
    vector: Option<VectorNumber>,
}

/// The bits of a place. More entities, or farewells at a time, than these can count fit in no memory.
const PLACE_BITS: u32 = 30;
const PLACE_MASK: u32 = (1 << PLACE_BITS) - 1;
const AGAIN: u32 = 1 << PLACE_BITS;
const FAREWELL: u32 = 2 << PLACE_BITS;

impl Packed {
    #[inline]
    fn newest(entity: EntityIndex, again: bool) -> Self {
        debug_assert!(entity.0 <= PLACE_MASK as usize);
        Self { place: entity.0 as u32 | if again { AGAIN } else { 0 }, vector: None }
    }

    #[inline]
    fn exactly(entity: EntityIndex, number: VectorNumber) -> Self {
        Self { place: entity.0 as u32, vector: Some(number) }
    }

    fn farewell(running: u32) -> Self {
        Self { place: running & PLACE_MASK | FAREWELL, vector: None }
    }

    #[inline]
    fn unpack(self) -> Item {
        let entity = |place: u32| EntityIndex(place as usize);
        match self.vector {
            Some(number) => Item::Exactly { entity: entity(self.place), number },
            None if self.place & FAREWELL != 0 => Item::Farewell(self.place & PLACE_MASK),
            None => Item::Newest { entity: entity(self.place & PLACE_MASK), again: self.place & AGAIN != 0 },
        }
    }
}

impl Ring {
    #[inline]
    fn push_newest(&mut self, entity: EntityIndex, again: bool) {
        self.items.push_back(Packed::newest(entity, again));
    }

    #[inline]
    fn push(&mut self, entity: EntityIndex, number: VectorNumber) {
        self.items.push_back(Packed::exactly(entity, number));
    }

    fn push_farewell(&mut self, farewell: Farewell) {
        let running = self.farewells_before.wrapping_add(self.farewells.len() as u32);
        self.items.push_back(Packed::farewell(running));
        self.farewells.push_back(farewell);
    }

    fn farewell(&self, running: u32) -> Option<Farewell> {
        let index = running.wrapping_sub(self.farewells_before) & PLACE_MASK;
        self.farewells.get(index as usize).copied()
    }

    #[inline]
    fn pop(&mut self) -> Option<Item> {
        let item = self.items.pop_front()?.unpack();
        if let Item::Farewell(_) = item {
            self.farewells.pop_front();
            self.farewells_before = self.farewells_before.wrapping_add(1);
        }
        Some(item)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Open,
    Acknowledged,
    /// It arrived, but could not be decoded.
    Untaken,
    Lost,
}

/// How a sender and a receiver stand with each other about what is agreed.
#[derive(Debug, Default)]
pub(super) struct Meeting {
    /// Since when the receiver has been placing things by other terms than the books assume.
    pub(super) differs_since: Option<GlobalTime>,
    /// They disagree: nothing is sent, and nothing booked, until they agree.
    pub(super) suspended: bool,
    /// The agreement is to be sent, and the receiver is to be asked for its own or not.
    pub(super) owed: Option<bool>,
    pub(super) asked: Option<GlobalTime>,
    /// When everything was said again, because the receiver did not know the stream or agrees again.
    pub(super) repeated: Option<GlobalTime>,
    /// There is a timer for asking.
    pub(super) will_ask: bool,
}

/// One datagram on its way.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: GlobalTime,
    fate: Fate,
    first: u64,
    count: u32,
}

/// A receipt's claim, checked against what was really sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// News: the datagram sent at this time arrived.
    News { sent: GlobalTime },
    /// Heard before; a repetition.
    Known { sent: GlobalTime },
    /// Too long ago to matter.
    Forgotten,
    /// There is no such datagram.
    Forged,
}

#[derive(Debug)]
pub(super) struct Outbox {
    /// Tells this acquaintance with the receiver apart from earlier ones.
    pub(super) stream: Stream,
    queue: Ring,
    extra: usize,
    sent: VecDeque<Sent>,
    /// The number of the first datagram in `sent`.
    first_number: u64,
    /// Everything before this number is acknowledged or lost.
    open_from: u64,
    /// The newest datagram known to have arrived, and when it was sent.
    newest_received: Option<(u64, GlobalTime)>,
    carried: Ring,
    /// How many carried things were forgotten so far.
    carried_before: u64,
    /// The receipt seen last, and when.
    receipt: Option<(u8, GlobalTime)>,
    /// Since when that has not been acknowledged.
    pub(super) acknowledgement_owed: Option<GlobalTime>,
    pub(super) meeting: Meeting,
    /// When to look for losses next.
    pub(super) loss_timer: Option<GlobalTime>,
    pub(super) dirty: bool,
}

impl Outbox {
    pub(super) fn new(stream: Stream) -> Self {
        Self {
            stream,
            queue: Ring::default(),
            extra: 0,
            sent: VecDeque::new(),
            first_number: 0,
            open_from: 0,
            newest_received: None,
            carried: Ring::default(),
            carried_before: 0,
            receipt: None,
            acknowledgement_owed: None,
            meeting: Meeting::default(),
            loss_timer: None,
            dirty: false,
        }
    }

    /// Drops the vectors that wait.
    pub(super) fn keep_farewells(&mut self) {
        self.queue.items.retain(|packed| matches!(packed.unpack(), Item::Farewell(_)));
        self.extra = self.queue.items.len();
    }

    /// Headers say everything again, until the receiver answers.
    pub(super) fn reintroduce(&mut self) {
        self.newest_received = None;
    }

    /// The form of the next datagram's header: short for those who answer.
    pub(super) fn form(&self, now: GlobalTime) -> Form {
        let answered = self.receipt.is_some_and(|(_, at)| now.since(at) < SHORT_FOR);
        let near = self.newest_received.is_some_and(|(newest, _)| self.next_number() - newest < SHORT_WITHIN);
        if answered && near { Form::Short } else { Form::Full }
    }

    /// Queues something. Answers false if the queue is full of things nobody polled for, and drops it.
    pub(super) fn push(&mut self, outgoing: Outgoing) -> bool {
        if !matches!(outgoing, Outgoing::Newest { .. }) {
            if self.extra >= MAX_EXTRA {
                return false;
            }
            self.extra += 1;
        }
        match outgoing {
            Outgoing::Newest { entity, again } => self.push_newest(entity, again),
            Outgoing::Exactly { entity, number } => self.queue.push(entity, number),
            Outgoing::Farewell(farewell) => self.queue.push_farewell(farewell),
        }
        true
    }

    /// Queues the newest vector of an entity, for which there is always room.
    #[inline]
    pub(super) fn push_newest(&mut self, entity: EntityIndex, again: bool) {
        self.queue.push_newest(entity, again);
    }

    pub(super) fn peek(&self) -> Option<Outgoing> {
        match self.queue.items.front()?.unpack() {
            Item::Newest { entity, again } => Some(Outgoing::Newest { entity, again }),
            Item::Exactly { entity, number } => Some(Outgoing::Exactly { entity, number }),
            Item::Farewell(running) => self.queue.farewell(running).map(Outgoing::Farewell),
        }
    }

    pub(super) fn pop(&mut self) {
        if self.queue.pop().is_some_and(|item| !matches!(item, Item::Newest { .. })) {
            self.extra -= 1;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.items.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.queue.items.len()
    }

    /// Drops what waits for an entity whose place in the ledger is about to be given up.
    pub(super) fn withdraw(&mut self, gone: EntityIndex) {
        let extra = &mut self.extra;
        self.queue.items.retain(|packed| match packed.unpack() {
            Item::Newest { entity, .. } => entity != gone,
            Item::Exactly { entity, .. } => {
                *extra -= usize::from(entity == gone);
                entity != gone
            }
            Item::Farewell(_) => true,
        });
    }

    /// The number that the next datagram gets.
    pub(super) fn next_number(&self) -> u64 {
        self.first_number + self.sent.len() as u64
    }

    pub(super) fn carry(&mut self, carried: Carried) {
        match carried {
            Carried::Vector { entity, number } => self.carried.push(entity, number),
            Carried::Farewell(farewell) => self.carried.push_farewell(farewell),
        }
    }

    /// A datagram with the last `count` carried things leaves.
    pub(super) fn record(&mut self, at: GlobalTime, count: u32) {
        let first = self.carried_before + self.carried.items.len() as u64 - u64::from(count);
        self.sent.push_back(Sent { at, fate: Fate::Open, first, count });
    }

    /// Checks one entry of a receipt, and marks the datagram as arrived, and as decoded or not, if that is news.
    pub(super) fn claim(&mut self, low_number: u16, decoded: bool) -> (Claim, u64) {
        let number = self.whole_number(low_number);
        let Some(index) = number.checked_sub(self.first_number) else { return (Claim::Forgotten, number) };
        let Some(sent) = self.sent.get_mut(index as usize) else { return (Claim::Forged, number) };
        let claim = match sent.fate {
            Fate::Acknowledged => Claim::Known { sent: sent.at },
            Fate::Untaken if !decoded => Claim::Known { sent: sent.at },
            Fate::Open | Fate::Lost | Fate::Untaken => Claim::News { sent: sent.at },
        };
        if claim == (Claim::News { sent: sent.at }) {
            sent.fate = if decoded { Fate::Acknowledged } else { Fate::Untaken };
        }
        self.newest_received = self.newest_received.max(Some((number, sent.at)));
        (claim, number)
    }

    /// The number of a datagram by its low bits.
    pub(super) fn whole_number(&self, low: u16) -> u64 {
        widen(u64::from(low), 16, self.next_number())
    }

    /// When a datagram was sent, by the low bits of its number, while that is remembered.
    pub(super) fn sent_at(&self, low_number: u16) -> Option<GlobalTime> {
        let index = self.whole_number(low_number).checked_sub(self.first_number)?;
        self.sent.get(index as usize).map(|sent| sent.at)
    }

    /// What a datagram carried, to be asked for one by one.
    pub(super) fn carried(&self, number: u64) -> Range<u64> {
        let sent = number.checked_sub(self.first_number).and_then(|index| self.sent.get(index as usize));
        sent.map_or(0..0, |sent| sent.first..sent.first + u64::from(sent.count))
    }

    pub(super) fn carried_at(&self, index: u64) -> Option<Carried> {
        match self.carried.items.get(index.checked_sub(self.carried_before)? as usize)?.unpack() {
            Item::Exactly { entity, number } => Some(Carried::Vector { entity, number }),
            Item::Farewell(running) => self.carried.farewell(running).map(Carried::Farewell),
            Item::Newest { .. } => None,
        }
    }

    /// The oldest datagram that counts as lost; marks it. It has been without a receipt for `loss_after`, or it was
    /// overtaken: one sent more than `reordering` later was received. Receipts report everything that came, so a gap in them
    /// is a loss, while a lost receipt leaves none.
    pub(super) fn next_lost(
        &mut self,
        now: GlobalTime,
        loss_after: Duration,
        reordering: Duration,
    ) -> Option<(u64, GlobalTime)> {
        self.skip_settled();
        let index = (self.open_from - self.first_number) as usize;
        let remembered = self.sent.len();
        let sent = self.sent.get_mut(index)?;
        let overtaken = self.newest_received.is_some_and(|(_, newest)| newest.since(sent.at) > reordering);
        if !overtaken && now.since(sent.at) < loss_after && remembered <= MAX_REMEMBERED {
            return None;
        }
        sent.fate = Fate::Lost;
        Some((self.open_from, sent.at))
    }

    /// When the oldest datagram without a receipt was sent.
    pub(super) fn oldest_open(&mut self) -> Option<GlobalTime> {
        self.skip_settled();
        self.sent.get((self.open_from - self.first_number) as usize).map(|sent| sent.at)
    }

    fn skip_settled(&mut self) {
        self.open_from = self.open_from.max(self.first_number);
        while let Some(sent) = self.sent.get((self.open_from - self.first_number) as usize) {
            if sent.fate == Fate::Open {
                break;
            }
            self.open_from += 1;
        }
    }

    /// Forgets datagrams that no receipt can usefully speak of any more.
    pub(super) fn forget(&mut self, before: GlobalTime) {
        while let Some(sent) = self.sent.front() {
            let settled = match sent.fate {
                Fate::Open => false,
                Fate::Acknowledged => true,
                Fate::Lost | Fate::Untaken => sent.at < before || self.sent.len() > MAX_REMEMBERED,
            };
            if !settled {
                break;
            }
            for _ in 0..sent.count {
                self.carried.pop();
            }
            self.carried_before += u64::from(sent.count);
            self.first_number += 1;
            self.sent.pop_front();
        }
    }

    /// A receipt came. Answers whether it is newer than those before.
    pub(super) fn heard(&mut self, number: u8, now: GlobalTime) -> bool {
        let newer =
            |(newest, at): (u8, GlobalTime)| number.wrapping_sub(newest) as i8 > 0 || now.since(at) > RECEIPTS_WRAP;
        if !self.receipt.is_none_or(newer) {
            return false;
        }
        self.receipt = Some((number, now));
        self.acknowledgement_owed.get_or_insert(now);
        true
    }

    /// The acknowledgement to put in the next datagram, if one is owed.
    pub(super) fn acknowledged(&self, now: GlobalTime) -> Option<Acknowledged> {
        self.acknowledgement_owed?;
        self.receipt.map(|(receipt, at)| Acknowledged { receipt, age: now.since(at).max(Duration::ZERO) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_what_was_packed_in_eight_bytes() {
        assert_eq!(size_of::<Packed>(), 8);
        let entities = [0, 1, PLACE_MASK as usize].map(EntityIndex);
        let numbers = [1, FAREWELL, u32::MAX - 1, u32::MAX].map(|number| VectorNumber::new(number).unwrap());
        for entity in entities {
            for again in [false, true] {
                assert_eq!(Packed::newest(entity, again).unpack(), Item::Newest { entity, again });
            }
            for number in numbers {
                assert_eq!(Packed::exactly(entity, number).unpack(), Item::Exactly { entity, number });
            }
        }
    }

    #[test]
    fn farewells_are_found_after_any_number_of_them() {
        let said = |tick| Farewell { entity: EntityId(3), epoch: 0, tick };
        for before in [0, PLACE_MASK, u32::MAX] {
            let mut ring = Ring { farewells_before: before, ..Ring::default() };
            (0..3).for_each(|tick| ring.push_farewell(said(tick)));
            for tick in 0..3 {
                let Some(Item::Farewell(running)) = ring.items.front().map(|packed| packed.unpack()) else { panic!() };
                assert_eq!(ring.farewell(running), Some(said(tick)));
                ring.pop();
            }
        }
    }
}
