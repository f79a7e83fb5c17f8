//! Who owns what, and movement passed on.

use super::{Connection, Hub, HubEvent};
use crate::protocol::{self, MAX_ABOUT, Model, SERVER, ToPlayer, entity_of, maker_of};
use evenkeel::ledger::EntityIndex;
use evenkeel::{EntityConfig, EntityId, GlobalTime, HostId, Instant, Pose, ReceiverEvent, SenderError, Threshold};
use std::fmt;

/// Why a command about an entity was refused. Nothing changed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EntityError {
    /// There is no such entity.
    Unknown(EntityId),
    /// It is not the server's.
    NotOurs(EntityId),
    /// There is no such player, or its connection is lost.
    NoPlayer(HostId),
    /// The server has named all the entities it can.
    TooMany,
    /// In a session of peers only, the server moves nothing.
    PeersOnly,
    /// The session is being moved to another server: say it there.
    Moving,
    /// What is said about it is longer than [`MAX_ABOUT`].
    AboutTooLong,
    /// The sender refused it.
    Sender(SenderError),
}

impl fmt::Display for EntityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(entity) => write!(f, "there is no {entity}"),
            Self::NotOurs(entity) => write!(f, "{entity} is not the server's: assign it to the server first"),
            Self::NoPlayer(host) => write!(f, "{host} is not here"),
            Self::TooMany => write!(f, "the server has named all the entities it can"),
            Self::PeersOnly => write!(f, "in a session of peers only, the server moves nothing"),
            Self::Moving => write!(f, "the session is being moved: say it to its new server"),
            Self::AboutTooLong => write!(f, "what is said about an entity must have at most {MAX_ABOUT} bytes"),
            Self::Sender(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for EntityError {}

impl Hub {
    /// Makes an entity that the server itself moves. `about` is what players are told of it.
    pub fn make(
        &mut self,
        config: impl Into<EntityConfig>,
        about: Vec<u8>,
        now: Instant,
    ) -> Result<EntityId, EntityError> {
        if self.config.model == Model::PeerToPeer {
            return Err(EntityError::PeersOnly);
        }
        if self.is_moving() {
            return Err(EntityError::Moving);
        }
        if about.len() > MAX_ABOUT {
            return Err(EntityError::AboutTooLong);
        }
        let entity = entity_of(SERVER, self.made).ok_or(EntityError::TooMany)?;
        let time = self.now(now);
        self.sender.add_entity(entity, config, time).map_err(EntityError::Sender)?;
        self.made += 1;
        self.announce(protocol::Entity { entity, owner: SERVER, epoch: 0, about }, now);
        Ok(entity)
    }

    /// Filters an entity of the server's own in another way from now on: other thresholds, another kind of motion.
    pub fn configure(&mut self, entity: EntityId, config: impl Into<EntityConfig>) -> Result<(), EntityError> {
        match self.entities.get(&entity) {
            None => Err(EntityError::Unknown(entity)),
            Some(made) if made.owner != SERVER => Err(EntityError::NotOurs(entity)),
            Some(_) => self.sender.configure_entity(entity, config).map_err(EntityError::Sender),
        }
    }

    /// Tells where an entity of the server's own really is: call it every tick.
    pub fn observe(&mut self, entity: EntityId, pose: Pose, now: Instant) -> Result<(), EntityError> {
        // Whatever is a player's is granted to it.
        if self.receiver.granted(entity).is_some() {
            return Err(EntityError::NotOurs(entity));
        }
        // Games go through their things in the same order in every tick: after one comes the next in the ledger, and nearly nothing
        // has to be searched for.
        let ledger = self.sender.ledger();
        let next = EntityIndex(self.observed.0 + 1);
        let found = if ledger.entity_id(next) == Some(entity) { Some(next) } else { ledger.entity(entity) };
        self.observed = found.ok_or(EntityError::Unknown(entity))?;
        let time = self.now(now);
        self.sender.observe_at(self.observed, entity, pose, time).map(|_| ()).map_err(EntityError::Sender)
    }

    /// Takes any entity away.
    pub fn unmake(&mut self, entity: EntityId, now: Instant) -> Result<(), EntityError> {
        if self.is_moving() {
            return Err(EntityError::Moving);
        }
        if !self.entities.contains_key(&entity) {
            return Err(EntityError::Unknown(entity));
        }
        self.end_entity(entity, now);
        Ok(())
    }

    /// Gives any entity to a player, or to the server itself ([`SERVER`]). It goes on as it was until the new owner speaks.
    pub fn assign(&mut self, entity: EntityId, to: HostId, now: Instant) -> Result<(), EntityError> {
        if self.entities.get(&entity).is_some_and(|made| made.owner == to) {
            return Ok(());
        }
        if self.is_moving() {
            return Err(EntityError::Moving);
        }
        self.hand(entity, to, now)
    }

    /// The same, also to who has it: whoever gave it away has stopped to send.
    fn hand(&mut self, entity: EntityId, to: HostId, now: Instant) -> Result<(), EntityError> {
        let here = self.members.get(&to).is_some_and(|member| member.connection.is_some());
        if to != SERVER && !here {
            return Err(EntityError::NoPlayer(to));
        }
        let made = self.entities.get_mut(&entity).ok_or(EntityError::Unknown(entity))?;
        if to == SERVER && self.config.model == Model::PeerToPeer {
            return Err(EntityError::PeersOnly);
        }
        let before = made.owner;
        (made.owner, made.epoch) = (to, made.epoch.saturating_add(1));
        let made = made.clone();
        // Whoever owned it believes nothing of an earlier epoch.
        let _ = self.sender.begin_epoch(entity, made.epoch);
        if to == SERVER {
            self.receiver.revoke(entity);
        } else {
            self.receiver.grant(entity, to, made.epoch);
        }
        // Whoever owns it may see it, and whoever did is told in any case. What a scope said of it is out of date.
        if self.config.scope.is_some() {
            self.judged.remove(&(entity, to));
        }
        if before != to && !self.may_see(entity, before) {
            self.tell(before, &ToPlayer::Gone { entity });
        }
        // First everybody learns whose it is, then how much it matters to whom.
        self.tell_viewers(&made, to);
        self.tell(to, &ToPlayer::Given(made.clone()));
        self.review(entity, false, now);
        self.tell_application(HubEvent::Owned { entity, owner: to });
        Ok(())
    }

    /// A player makes an entity, one of its own names.
    pub(super) fn make_for(&mut self, owner: HostId, from: Connection, entity: EntityId, about: Vec<u8>, now: Instant) {
        if maker_of(entity) != owner {
            return self.expel(from, "it made an entity in another player's name", now);
        }
        if self.entities.contains_key(&entity) {
            // It came back and says what it has: that is known here, or it was given away meanwhile.
            return;
        }
        if about.len() > MAX_ABOUT {
            return self.expel(from, "it said too much about an entity", now);
        }
        // What others gave it does not count: nobody is to be sent away for that.
        let owned = self.entities.values().filter(|e| e.owner == owner && maker_of(e.entity) == owner);
        let epochs: Vec<u32> = owned.map(|e| e.epoch).collect();
        let most = self.members.get(&owner).map_or(0, |member| member.pass.max_entities);
        if epochs.len() >= most as usize {
            // What came back to it may have crossed this on the way: there is no room, and it is not to blame.
            return match epochs.iter().any(|epoch| *epoch > 0) {
                true => self.tell(owner, &ToPlayer::Gone { entity }),
                false => self.expel(from, "it made more entities than it may have", now),
            };
        }
        let time = self.now(now);
        self.receiver.grant(entity, owner, 0);
        let _ = self.sender.add_entity(entity, Threshold::default(), time);
        self.announce(protocol::Entity { entity, owner, epoch: 0, about }, now);
        // Its first vector may have overtaken this.
        self.relay(time);
    }

    /// A new entity is made known to all who may know of it.
    fn announce(&mut self, made: protocol::Entity, now: Instant) {
        let (entity, owner) = (made.entity, made.owner);
        self.entities.insert(entity, made.clone());
        self.review(entity, true, now);
        self.tell_application(HubEvent::Made { owner, entity, about: made.about });
    }

    /// Tells whose an entity is to all but one who may know of it.
    fn tell_viewers(&mut self, made: &protocol::Entity, but: HostId) {
        let may = |host: &HostId| *host != but && self.may_see(made.entity, *host);
        let viewers: Vec<HostId> = self.members.keys().copied().filter(may).collect();
        for host in viewers {
            self.tell(host, &ToPlayer::Entity(made.clone()));
        }
    }

    /// A player gives what it owns to somebody else. What cannot be given comes back.
    pub(super) fn give(&mut self, owner: HostId, entity: EntityId, to: HostId, now: Instant) {
        if self.entities.get(&entity).is_none_or(|made| made.owner != owner) {
            return;
        }
        let owned = self.entities.values().filter(|e| e.owner == to).count();
        let room = to == SERVER || self.members.get(&to).is_some_and(|m| owned < m.pass.max_entities as usize);
        if !room || self.hand(entity, to, now).is_err() {
            // It has stopped to send: it gets it anew.
            let _ = self.hand(entity, owner, now);
        }
    }

    /// A player's entity is no more.
    pub(super) fn unmake_for(&mut self, owner: HostId, entity: EntityId, now: Instant) {
        if self.entities.get(&entity).is_some_and(|made| made.owner == owner) {
            self.end_entity(entity, now);
        }
    }

    fn end_entity(&mut self, entity: EntityId, now: Instant) {
        let time = self.now(now);
        // The owner's farewell may come after this, and is not believed then.
        let _ = self.receiver.retire(entity, time);
        self.receiver.revoke(entity);
        let _ = self.sender.remove_entity(entity, time);
        let told: Vec<HostId> = self.members.keys().copied().filter(|host| self.may_see(entity, *host)).collect();
        for host in told {
            self.tell(host, &ToPlayer::Gone { entity });
        }
        self.entities.remove(&entity);
        self.judged.retain(|(judged, _), _| *judged != entity);
        self.tell_application(HubEvent::Gone { entity });
    }

    /// What a player leaves behind goes to its heirs, or goes.
    pub(super) fn bequeath(&mut self, owner: HostId, now: Instant) {
        let owned: Vec<EntityId> = self.entities.values().filter(|e| e.owner == owner).map(|e| e.entity).collect();
        for entity in owned {
            let heir = self.entities.get(&entity).and_then(|made| self.config.heir.as_mut()?(made));
            let inherited = heir.is_some_and(|heir| heir != owner && self.assign(entity, heir, now).is_ok());
            if !inherited {
                self.end_entity(entity, now);
            }
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
        while let Some(event) = self.receiver.poll_event(now) {
            if let ReceiverEvent::Disagreement { with, difference } = event {
                tracing::warn!(host = with.0, %difference, "a player's vectors are refused: it has agreed on something else");
            }
        }
        while let Some(event) = self.sender.poll_event() {
            self.tally.note(event);
        }
    }
}
