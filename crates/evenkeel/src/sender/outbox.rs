//! What waits for one receiver, and what is on its way there.

use crate::ids::EntityId;
use crate::ledger::EntityIndex;
use crate::time::{Duration, GlobalTime};
use crate::wire::datagram::{Acknowledged, widen};
use alloc::collections::VecDeque;
use core::ops::Range;

/// Datagrams remembered per receiver, at most; beyond that the oldest counts as lost.
const MAX_REMEMBERED: usize = 8_192;
/// Vectors and farewells waiting in a queue nobody polls, beyond one per entity.
const MAX_EXTRA: usize = 4_096;

/// Something to put in the next datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outgoing {
    /// The vector that the pair's book says is queued.
    Newest { entity: EntityIndex, again: bool },
    /// This very vector, also if there is a newer one.
    Exactly { entity: EntityIndex, number: u32 },
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
    Vector { entity: EntityIndex, number: u32 },
    Farewell(Farewell),
}

/// Vectors and farewells in order. Vectors are many, and are written and read again in every tick: they take little space.
#[derive(Debug, Default)]
struct Ring {
    /// An entity's place in the ledger and the number of its vector; a running number and [`FAREWELL`]; or one of the others below.
    items: VecDeque<(u32, u32)>,
    farewells: VecDeque<Farewell>,
    /// How many farewells have left.
    farewells_before: u32,
}

const NEWEST: u32 = 0;
const NEWEST_AGAIN: u32 = u32::MAX;
const FAREWELL: u32 = u32::MAX - 1;

impl Ring {
    #[inline]
    fn push(&mut self, entity: EntityIndex, number: u32) {
        self.items.push_back((entity.0 as u32, number));
    }

    fn push_farewell(&mut self, farewell: Farewell) {
        self.items.push_back((self.farewells_before.wrapping_add(self.farewells.len() as u32), FAREWELL));
        self.farewells.push_back(farewell);
    }

    fn farewell(&self, running: u32) -> Option<Farewell> {
        self.farewells.get(running.wrapping_sub(self.farewells_before) as usize).copied()
    }

    fn pop(&mut self) -> Option<u32> {
        let (_, number) = self.items.pop_front()?;
        if number == FAREWELL {
            self.farewells.pop_front();
            self.farewells_before = self.farewells_before.wrapping_add(1);
        }
        Some(number)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Open,
    Acknowledged,
    Lost,
}

/// One datagram on its way.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: GlobalTime,
    nonce: u16,
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
    /// No such datagram, or the wrong nonce.
    Forged,
}

#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// Tells this acquaintance with the receiver apart from earlier ones.
    pub(super) stream: u16,
    queue: Ring,
    extra: usize,
    sent: VecDeque<Sent>,
    /// The number of the first datagram in `sent`.
    first_number: u64,
    /// Everything before this number is acknowledged or lost.
    open_from: u64,
    /// When the newest datagram known to have arrived was sent.
    newest_received: Option<GlobalTime>,
    carried: Ring,
    /// How many carried things were forgotten so far.
    carried_before: u64,
    /// The receipt seen last, and when.
    receipt: Option<(u64, GlobalTime)>,
    pub(super) acknowledgement_owed: Option<GlobalTime>,
    /// When to look for losses next.
    pub(super) loss_timer: Option<GlobalTime>,
    pub(super) dirty: bool,
}

impl Outbox {
    pub(super) fn new(stream: u16) -> Self {
        Self { stream, ..Self::default() }
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
        self.queue.push(entity, if again { NEWEST_AGAIN } else { NEWEST });
    }

    pub(super) fn peek(&self) -> Option<Outgoing> {
        let (entity, number) = *self.queue.items.front()?;
        let place = EntityIndex(entity as usize);
        match number {
            NEWEST | NEWEST_AGAIN => Some(Outgoing::Newest { entity: place, again: number == NEWEST_AGAIN }),
            FAREWELL => self.queue.farewell(entity).map(Outgoing::Farewell),
            number => Some(Outgoing::Exactly { entity: place, number }),
        }
    }

    pub(super) fn pop(&mut self) {
        if self.queue.pop().is_some_and(|number| !matches!(number, NEWEST | NEWEST_AGAIN)) {
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
        self.queue.items.retain(|&(entity, number)| {
            let goes = number != FAREWELL && entity as usize == gone.0;
            *extra -= usize::from(goes && !matches!(number, NEWEST | NEWEST_AGAIN));
            !goes
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
    pub(super) fn record(&mut self, at: GlobalTime, nonce: u16, count: u32) {
        let first = self.carried_before + self.carried.items.len() as u64 - u64::from(count);
        self.sent.push_back(Sent { at, nonce, fate: Fate::Open, first, count });
    }

    /// Checks one entry of a receipt, and marks the datagram as arrived if that is news.
    pub(super) fn claim(&mut self, low_number: u16, nonce: u16) -> (Claim, u64) {
        let number = widen(low_number, self.next_number());
        let Some(index) = number.checked_sub(self.first_number) else { return (Claim::Forgotten, number) };
        let Some(sent) = self.sent.get_mut(index as usize) else { return (Claim::Forged, number) };
        if sent.nonce != nonce {
            return (Claim::Forged, number);
        }
        let claim = match sent.fate {
            Fate::Acknowledged => Claim::Known { sent: sent.at },
            Fate::Open | Fate::Lost => Claim::News { sent: sent.at },
        };
        sent.fate = Fate::Acknowledged;
        self.newest_received = self.newest_received.max(Some(sent.at));
        (claim, number)
    }

    /// What a datagram carried, to be asked for one by one.
    pub(super) fn carried(&self, number: u64) -> Range<u64> {
        let sent = number.checked_sub(self.first_number).and_then(|index| self.sent.get(index as usize));
        sent.map_or(0..0, |sent| sent.first..sent.first + u64::from(sent.count))
    }

    pub(super) fn carried_at(&self, index: u64) -> Option<Carried> {
        let (entity, number) = *self.carried.items.get(index.checked_sub(self.carried_before)? as usize)?;
        match number {
            FAREWELL => self.carried.farewell(entity).map(Carried::Farewell),
            number => Some(Carried::Vector { entity: EntityIndex(entity as usize), number }),
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
        let overtaken = self.newest_received.is_some_and(|newest| newest.since(sent.at) > reordering);
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
                Fate::Lost => sent.at < before || self.sent.len() > MAX_REMEMBERED,
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

    /// A receipt came.
    pub(super) fn heard(&mut self, low_number: u16, now: GlobalTime) {
        let number = self.receipt.map_or(u64::from(low_number), |(newest, _)| widen(low_number, newest));
        if self.receipt.is_none_or(|(newest, _)| number >= newest) {
            self.receipt = Some((number, now));
        }
        self.acknowledgement_owed.get_or_insert(now);
    }

    /// The acknowledgement to put in the next datagram.
    pub(super) fn acknowledged(&self, now: GlobalTime) -> Option<Acknowledged> {
        self.receipt.map(|(number, at)| Acknowledged { receipt: number as u16, age: now.since(at).max(Duration::ZERO) })
    }
}
