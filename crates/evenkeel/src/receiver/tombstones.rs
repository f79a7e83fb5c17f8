//! Entities that are gone are remembered for a while, so that late words do not bring them back to life, and then forgotten.

use super::track::Track;
use crate::ids::EntityId;
use crate::time::{Duration, GlobalTime};
use alloc::collections::VecDeque;
use hashbrown::HashMap;

/// So long after a farewell nothing arrives any more that was sent before it.
const STANDS: Duration = Duration::from_secs(30);

/// What is gone, in the order in which it may be forgotten. An entity is in it once, however often it comes and goes.
#[derive(Debug, Default)]
pub(super) struct Tombstones {
    queue: VecDeque<(GlobalTime, EntityId)>,
}

impl Tombstones {
    /// Remembers that an entity is gone, for a while from a time on.
    pub(super) fn raise(&mut self, track: &mut Track, from: GlobalTime) {
        if track.buried.replace(from + STANDS).is_none() {
            self.queue.push_back((from + STANDS, track.id));
        }
    }

    /// The slot of the next track to forget. Who came back is no longer gone, and who went again has its time before it.
    pub(super) fn fallen(
        &mut self,
        now: GlobalTime,
        tracks: &mut [Track],
        slots: &HashMap<EntityId, usize>,
    ) -> Option<usize> {
        while self.queue.front().is_some_and(|(until, _)| *until <= now) {
            let (_, entity) = self.queue.pop_front()?;
            let Some(&slot) = slots.get(&entity) else { continue };
            let track = &mut tracks[slot];
            let Some(until) = track.buried.take() else { continue };
            if !track.is_here() && until <= now {
                return Some(slot);
            }
            if !track.is_here() || track.leaving {
                track.buried = Some(until);
                self.queue.push_back((until.max(now + Duration::from_secs(1)), entity));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HostId, PlaceError, Pose, Receiver, ReceiverConfig, Sender, SenderConfig, Threshold, Vec3};
    use alloc::vec::Vec;

    const OWNER: HostId = HostId(0);

    /// An owner of many short lives and somebody who watches, without delay.
    struct Churn {
        owner: Sender,
        watcher: Receiver,
        now: GlobalTime,
    }

    impl Churn {
        fn new(config: ReceiverConfig) -> Self {
            let mut owner = Sender::new(SenderConfig::default()).unwrap();
            let mut watcher = Receiver::new(config).unwrap();
            owner.add_receiver(HostId(1), GlobalTime::ZERO).unwrap();
            watcher.add_sender(OWNER, owner.agreement(), GlobalTime::ZERO).unwrap();
            Self { owner, watcher, now: GlobalTime::ZERO }
        }

        fn wait(&mut self, time: Duration) {
            self.now += time;
        }

        /// What is to be sent arrives, or is given back.
        fn datagrams(&mut self) -> Vec<Vec<u8>> {
            core::iter::from_fn(|| self.owner.poll_transmit(self.now).map(|t| t.bytes.to_vec())).collect()
        }

        fn deliver(&mut self) {
            for bytes in self.datagrams() {
                self.watcher.handle_datagram(OWNER, &bytes, self.now).unwrap();
            }
            while let Some(receipt) = self.watcher.poll_transmit(self.now).map(|t| t.bytes.to_vec()) {
                self.owner.handle_datagram(HostId(1), &receipt, self.now).unwrap();
            }
        }

        fn make(&mut self, entity: EntityId) {
            self.owner.add_entity(entity, Threshold::within(0.1), self.now).unwrap();
            self.owner.observe(entity, Pose::at(Vec3::ZERO), self.now).unwrap();
        }

        fn live(&mut self, entity: EntityId) {
            self.make(entity);
            self.deliver();
            self.wait(Duration::from_millis(50));
            self.owner.remove_entity(entity, self.now).unwrap();
            self.deliver();
            self.wait(Duration::from_millis(50));
        }
    }

    #[test]
    fn short_lives_without_end_are_not_all_remembered() {
        let mut churn = Churn::new(ReceiverConfig::default());
        for life in 0..6_000 {
            churn.live(EntityId(life));
            assert!(churn.watcher.tracks.len() <= 320, "{} after {life} lives", churn.watcher.tracks.len());
        }
        assert!(churn.watcher.tombstones.queue.len() <= churn.watcher.tracks.len());
    }

    #[test]
    fn one_that_comes_and_goes_has_one_tombstone_and_stays_when_it_came_back() {
        let mut churn = Churn::new(ReceiverConfig::default());
        for _ in 0..1_000 {
            churn.live(EntityId(7));
        }
        assert_eq!((churn.watcher.tombstones.queue.len(), churn.watcher.tracks.len()), (1, 1));
        churn.make(EntityId(7));
        for _ in 0..100 {
            churn.deliver();
            churn.wait(Duration::from_secs(1));
            churn.owner.observe(EntityId(7), Pose::at(Vec3::ZERO), churn.now).unwrap();
            churn.deliver();
        }
        assert!(churn.watcher.place(EntityId(7), churn.now).is_ok());
        assert!(churn.watcher.tombstones.queue.is_empty());
    }

    #[test]
    fn what_was_retired_is_recalled_for_a_while_and_late_words_do_not_bring_it_back() {
        let tank = EntityId(7);
        let config = ReceiverConfig { require_grants: true, history: Duration::from_secs(1), ..Default::default() };
        let mut churn = Churn::new(config);
        churn.watcher.grant(tank, OWNER, 0);
        churn.make(tank);
        churn.deliver();
        churn.wait(Duration::from_millis(100));
        churn.owner.observe(tank, Pose::at(Vec3::new(9.0, 0.0, 0.0)), churn.now).unwrap();
        let late = churn.datagrams();
        churn.owner.remove_entity(tank, churn.now).unwrap();
        // The word that it is gone overtakes all of that.
        let gone = churn.now;
        churn.watcher.retire(tank, gone).unwrap();
        churn.watcher.revoke(tank);
        for bytes in late {
            assert_eq!(churn.watcher.handle_datagram(OWNER, &bytes, churn.now).unwrap().refused, 1);
        }
        churn.deliver();
        churn.wait(Duration::from_millis(500));
        let before = gone - Duration::from_millis(50);
        assert!(churn.watcher.recall(tank, before).is_ok());
        assert_eq!(churn.watcher.recall(tank, churn.now), Err(PlaceError::Gone { entity: tank, since: gone }));
        assert_eq!(churn.watcher.place(tank, churn.now), Err(PlaceError::Unknown(tank)));
        churn.wait(Duration::from_secs(40));
        churn.make(EntityId(8));
        churn.deliver();
        assert_eq!(churn.watcher.recall(tank, before), Err(PlaceError::Unknown(tank)));
        assert!(churn.watcher.tracks.is_empty(), "{:?}", churn.watcher);
    }
}
