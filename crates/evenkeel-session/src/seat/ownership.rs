//! What a player owns: making, moving, giving and taking.

use super::{Seat, SeatError, SeatEvent};
use crate::protocol::{Entity, MAX_ABOUT, MessageError, SERVER, ToServer, entity_of};
use evenkeel::{EntityConfig, EntityId, GlobalTime, HostId, Instant, Pose, Relevance, SenderError};

impl Seat {
    fn time(&mut self, now: Instant) -> Result<GlobalTime, SeatError> {
        self.clock.now(now).ok_or(SeatError::NotReady)
    }

    /// Makes an entity of one's own. `about` is what others are told of it: [`MAX_ABOUT`] bytes at most.
    pub fn make(
        &mut self,
        config: impl Into<EntityConfig>,
        about: Vec<u8>,
        now: Instant,
    ) -> Result<EntityId, SeatError> {
        let (time, config) = (self.time(now)?, config.into());
        if about.len() > MAX_ABOUT {
            return Err(SeatError::Message(MessageError::TooLong));
        }
        let inside = self.inside.as_mut().ok_or(SeatError::NotReady)?;
        let entity = entity_of(inside.you, self.made).ok_or(SeatError::TooManyEntities)?;
        inside.add_entity(entity, config, time)?;
        self.made += 1;
        self.own.insert(entity, (config, about.clone()));
        self.say(&ToServer::Make { entity, about }).map_err(SeatError::Message)?;
        Ok(entity)
    }

    /// Filters an entity of one's own in another way from now on: other thresholds, another kind of motion.
    pub fn configure(&mut self, entity: EntityId, config: impl Into<EntityConfig>) -> Result<(), SeatError> {
        let config = config.into();
        self.inside.as_mut().ok_or(SeatError::NotReady)?.configure(entity, config)?;
        if let Some((known, _)) = self.own.get_mut(&entity) {
            *known = config;
        }
        Ok(())
    }

    /// Tells where an entity of one's own really is: call it every tick.
    pub fn observe(&mut self, entity: EntityId, pose: Pose, now: Instant) -> Result<(), SeatError> {
        let time = self.time(now)?;
        let inside = self.inside.as_mut().ok_or(SeatError::NotReady)?;
        Ok(inside.observe(entity, pose, time)?)
    }

    /// Takes an entity of one's own away.
    pub fn unmake(&mut self, entity: EntityId, now: Instant) -> Result<(), SeatError> {
        let time = self.time(now)?;
        if self.alone {
            return Err(self.unheard());
        }
        let inside = self.inside.as_mut().ok_or(SeatError::NotReady)?;
        if self.given.remove(&entity).is_none() {
            inside.remove_entity(entity, time)?;
        }
        self.part_with(entity, ToServer::Unmake { entity })
    }

    /// Gives an entity of one's own to another player, or to the server ([`SERVER`]). It goes on as it was until the new owner
    /// speaks; if that one cannot have it, it comes back as [`SeatEvent::Given`].
    pub fn give(&mut self, entity: EntityId, to: HostId, now: Instant) -> Result<(), SeatError> {
        let (time, via) = (self.time(now)?, self.via(to));
        if self.alone {
            return Err(self.unheard());
        }
        let inside = self.inside.as_mut().ok_or(SeatError::NotReady)?;
        if self.given.remove(&entity).is_none() {
            inside.release(entity, via, time)?;
        }
        self.part_with(entity, ToServer::Give { entity, to })
    }

    /// It is not ours any more, and the server must hear it: if the connection is lost meanwhile, it is said again.
    fn part_with(&mut self, entity: EntityId, word: ToServer) -> Result<(), SeatError> {
        self.own.remove(&entity);
        self.say(&word).map_err(SeatError::Message)?;
        self.parted.insert(entity, word);
        Ok(())
    }

    /// Takes what was given ([`SeatEvent::Given`]): from now on this player [observes](Self::observe) it.
    pub fn adopt(&mut self, entity: EntityId, config: impl Into<EntityConfig>, now: Instant) -> Result<(), SeatError> {
        let (time, config) = (self.time(now)?, config.into());
        let epoch = self.given.get(&entity).ok_or(SeatError::NotGiven(entity))?.epoch;
        let inside = self.inside.as_mut().ok_or(SeatError::NotReady)?;
        inside.adopt(entity, epoch, config, time)?;
        let about = self.given.remove(&entity).map(|given| given.about).unwrap_or_default();
        self.own.insert(entity, (config, about));
        Ok(())
    }

    /// What this player owns.
    pub fn owned(&self) -> impl ExactSizeIterator<Item = EntityId> + '_ {
        self.own.keys().copied()
    }

    /// Whose an entity is, as far as this player has been told: its own, too, and what it was given and has not taken yet.
    pub fn owner(&self, entity: EntityId) -> Option<HostId> {
        if self.own.contains_key(&entity) || self.given.contains_key(&entity) {
            return self.you();
        }
        match self.parted.get(&entity) {
            Some(ToServer::Give { to, .. }) => Some(*to),
            Some(_) => None,
            None => self.inside.as_ref()?.registry.get(&entity).map(|(owner, _)| *owner),
        }
    }

    /// Says how much an entity of one's own matters to another player who is told directly; for the others, the server says.
    pub fn set_relevance(
        &mut self,
        entity: EntityId,
        host: HostId,
        relevance: Relevance,
        now: Instant,
    ) -> Result<(), SeatError> {
        let time = self.time(now)?;
        let inside = self.inside.as_mut().ok_or(SeatError::NotReady)?;
        let sender = inside.to_peers.as_mut().ok_or(SeatError::Sender(SenderError::UnknownReceiver(host)))?;
        Ok(sender.set_relevance(entity, host, relevance, time)?)
    }

    /// The server says whose an entity is.
    pub(super) fn hear_of(&mut self, entity: Entity, now: Instant) {
        if Some(entity.owner) == self.you() {
            return;
        }
        self.parted.remove(&entity.entity);
        let via = self.via(entity.owner);
        // It was ours until the server gave it to somebody else.
        if self.own.remove(&entity.entity).is_some() {
            if let (Some(time), Some(inside)) = (self.clock.now(now), &mut self.inside) {
                let _ = inside.release(entity.entity, via, time);
            }
        }
        self.given.remove(&entity.entity);
        if let Some(inside) = &mut self.inside {
            inside.register(&entity, via);
        }
        self.tell(SeatEvent::Made(entity));
    }

    /// The server says that an entity is ours.
    pub(super) fn be_given(&mut self, entity: Entity) {
        self.parted.remove(&entity.entity);
        if let Some(inside) = &mut self.inside {
            inside.registry.insert(entity.entity, (entity.owner, entity.epoch));
        }
        self.given.insert(entity.entity, entity.clone());
        self.tell(SeatEvent::Given(entity));
    }

    /// The server says that an entity is no more, perhaps one of ours.
    pub(super) fn hear_end(&mut self, entity: EntityId, now: Instant) {
        let owner = self.inside.as_ref().and_then(|inside| inside.registry.get(&entity)).map(|(owner, _)| *owner);
        let by_peers = owner.is_some_and(|owner| self.via(owner) != SERVER);
        self.end_entity(entity, by_peers, now);
    }

    /// An entity is no more.
    pub(super) fn end_entity(&mut self, entity: EntityId, at_once: bool, now: Instant) {
        let time = self.clock.now(now);
        if let Some(inside) = &mut self.inside {
            if let (Some(_), Some(time)) = (self.own.remove(&entity), time) {
                let _ = inside.remove_entity(entity, time);
            }
            inside.unregister(entity, at_once, time);
        }
        self.given.remove(&entity);
        self.parted.remove(&entity);
        self.tell(SeatEvent::Gone { entity });
    }
}
