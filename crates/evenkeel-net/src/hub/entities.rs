//! Who owns what, and movement passed on.

use super::{Connection, Hub, HubEvent};
use crate::protocol::{self, ToPlayer, maker_of};
use evenkeel::{EntityId, GlobalTime, HostId, Instant, Relevance, Threshold};

impl Hub {
    /// A player makes an entity, one of its own names.
    pub(super) fn make(&mut self, owner: HostId, from: Connection, entity: EntityId, about: Vec<u8>, now: Instant) {
        if maker_of(entity) != owner {
            return self.expel(from, "it made an entity in another player's name", now);
        }
        let owned = self.entities.values().filter(|e| e.owner == owner).count();
        let most = self.members.get(&owner).map_or(0, |member| member.pass.max_entities);
        if owned >= most as usize && !self.entities.contains_key(&entity) {
            return self.expel(from, "it made more entities than it may have", now);
        }
        let time = self.now(now);
        let made = protocol::Entity { entity, owner, epoch: 0, about: about.clone() };
        self.receiver.grant(entity, owner, 0);
        if self.sender.add_entity(entity, Threshold::default(), time).is_ok() {
            let _ = self.sender.set_relevance(entity, owner, Relevance::OutOfScope, time);
        }
        self.entities.insert(entity, made.clone());
        self.tell_others(owner, &ToPlayer::Entity(made));
        self.tell_application(HubEvent::Made { owner, entity, about });
    }

    /// A player's entity is no more.
    pub(super) fn unmake(&mut self, owner: HostId, entity: EntityId, now: Instant) {
        if self.entities.get(&entity).is_none_or(|made| made.owner != owner) {
            return;
        }
        self.entities.remove(&entity);
        self.receiver.revoke(entity);
        let time = self.now(now);
        let _ = self.sender.remove_entity(entity, time);
        self.tell_all(&ToPlayer::Gone { entity });
        self.tell_application(HubEvent::Gone { entity });
    }

    pub(super) fn unmake_all(&mut self, owner: HostId, now: Instant) {
        let owned: Vec<EntityId> = self.entities.values().filter(|e| e.owner == owner).map(|e| e.entity).collect();
        for entity in owned {
            self.unmake(owner, entity, now);
        }
    }

    /// Nobody is told about what it owns itself: it knows better.
    pub(super) fn hide_from_owners(&mut self, owner: HostId, now: GlobalTime) {
        for made in self.entities.values().filter(|e| e.owner == owner) {
            let _ = self.sender.set_relevance(made.entity, owner, Relevance::OutOfScope, now);
        }
    }

    /// Passes on what has arrived, as the policy has it.
    pub(super) fn relay(&mut self, now: GlobalTime) {
        while let Some(entity) = self.receiver.poll_updated() {
            let Some((generated, motion)) = self.receiver.newest(entity) else { continue };
            if self.sender.relay(entity, &motion, generated, now).is_ok() {
                self.counts.relayed += 1;
            }
        }
        while self.receiver.poll_event(now).is_some() {}
        while let Some(event) = self.sender.poll_event() {
            self.tally.note(event);
        }
    }
}
