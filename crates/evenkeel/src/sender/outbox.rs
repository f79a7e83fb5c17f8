//! What waits for one receiver.

use crate::ids::VectorNumber;
use crate::ledger::{EntityIndex, Farewell, Log};
use crate::time::{Duration, GlobalTime};
use crate::wire::datagram::{Acknowledged, Form, NUMBER_BITS, Stream};
use alloc::collections::VecDeque;
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

#[derive(Debug)]
pub(super) struct Outbox {
    /// Tells this acquaintance with the receiver apart from earlier ones.
    pub(super) stream: Stream,
    queue: Ring,
    extra: usize,
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

    /// The form of the next datagram's header: short for those who answer.
    pub(super) fn form(&self, log: &Log, now: GlobalTime) -> Form {
        let answered = self.receipt.is_some_and(|(_, at)| now.since(at) < SHORT_FOR);
        let near = log.since_received().is_some_and(|since| since < SHORT_WITHIN);
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

    /// The entity whose newest vector waits at a place, to be sent for the first time.
    #[inline]
    pub(super) fn newest_at(&self, index: usize) -> Option<EntityIndex> {
        match self.queue.items.get(index)?.unpack() {
            Item::Newest { entity, again: false } => Some(entity),
            _ => None,
        }
    }

    /// Takes so many newest vectors out.
    pub(super) fn pop_newest(&mut self, count: usize) {
        self.queue.items.drain(..count);
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
    use crate::EntityId;

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
