//! What came before the word that its sender may speak of the entity: datagrams overtake whatever carries that word.

use crate::ids::EntityId;
use crate::time::{Duration, GlobalTime};
use crate::wire::datagram::Record;
use alloc::collections::VecDeque;

/// So many entities of one sender wait, at most.
const MAX_WAITING: usize = 32;
/// A vector waits so long, at most: there is a newer one by then, or will be soon.
const WAITS: Duration = Duration::from_secs(1);

/// A record that was refused, because nobody has said yet that its sender owns the entity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    /// If it is a farewell, nobody needs it later, but what was generated before it is void.
    pub(super) record: Record,
    pub(super) received: GlobalTime,
}

impl Waiting {
    /// What is newer counts, and a farewell more than a vector of the same tick.
    fn order(&self) -> (u32, i64, bool) {
        (self.record.epoch, self.record.tick(), self.record.quantised().is_none())
    }
}

/// The newest record of each entity that one sender has spoken of too early.
#[derive(Debug, Default)]
pub(super) struct Early {
    waiting: VecDeque<Waiting>,
}

impl Early {
    /// Keeps a record, if there is no newer one of the same entity. If too many wait, the one that was kept first is given up.
    pub(super) fn keep(&mut self, new: Waiting) {
        if let Some(index) = self.position(new.record.entity) {
            if self.waiting[index].order() > new.order() {
                return;
            }
            self.waiting.remove(index);
        }
        if self.waiting.len() == MAX_WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back(new);
    }

    /// The vector that has waited for a grant in this epoch, and when it was received.
    pub(super) fn take(&mut self, entity: EntityId, epoch: u32, now: GlobalTime) -> Option<(Record, GlobalTime)> {
        let index = self.position(entity)?;
        let Waiting { record, received } = self.waiting.remove(index)?;
        let usable = epoch <= record.epoch && now.since(received) <= WAITS && record.quantised().is_some();
        usable.then_some((record, received))
    }

    fn position(&self, entity: EntityId) -> Option<usize> {
        self.waiting.iter().position(|waiting| waiting.record.entity == entity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Format;
    use crate::{Motion, Vec3};

    fn at(millis: i64) -> GlobalTime {
        GlobalTime::from_millis(millis)
    }

    fn vector(entity: u32, epoch: u32, millis: i64) -> Waiting {
        let quantised = Format::default().quantise(&Motion::stationary(Vec3::ZERO), at(millis)).unwrap();
        Waiting { record: Record::vector(EntityId(entity), epoch, quantised), received: at(millis) }
    }

    fn farewell(entity: u32, tick: i64) -> Waiting {
        Waiting { record: Record::retired(EntityId(entity), 0, tick), received: at(tick) }
    }

    fn received(early: &mut Early, entity: u32, epoch: u32, now: i64) -> Option<i64> {
        early.take(EntityId(entity), epoch, at(now)).map(|(_, received)| received.as_nanos() / 1_000_000)
    }

    #[test]
    fn the_newest_waits_for_its_epoch_and_not_for_ever() {
        let mut early = Early::default();
        for tick in [10, 30, 20] {
            early.keep(vector(1, 0, tick));
        }
        assert_eq!(received(&mut early, 1, 0, 40), Some(30));
        assert_eq!(received(&mut early, 1, 0, 40), None, "once");
        early.keep(vector(1, 0, 10));
        assert_eq!(received(&mut early, 1, 1, 40), None, "somebody else had it meanwhile");
        early.keep(vector(1, 0, 10));
        assert_eq!(received(&mut early, 1, 0, 1_011), None, "too long ago");
    }

    #[test]
    fn nothing_comes_to_life_after_its_farewell() {
        for order in [[vector(1, 0, 10), farewell(1, 10)], [farewell(1, 10), vector(1, 0, 10)]] {
            let mut early = Early::default();
            order.into_iter().for_each(|record| early.keep(record));
            assert_eq!(received(&mut early, 1, 0, 40), None);
        }
        let mut early = Early::default();
        [farewell(1, 10), vector(1, 0, 11)].into_iter().for_each(|record| early.keep(record));
        assert_eq!(received(&mut early, 1, 0, 40), Some(11), "it came back");
    }

    #[test]
    fn only_so_many_wait() {
        let mut early = Early::default();
        for entity in 0..1_000 {
            early.keep(vector(entity, 0, 10));
        }
        assert_eq!(early.waiting.len(), MAX_WAITING);
        assert_eq!((received(&mut early, 967, 0, 40), received(&mut early, 968, 0, 40)), (None, Some(10)));
    }
}
