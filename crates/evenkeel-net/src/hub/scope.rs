//! Who may see what, and how much it matters to them.

use super::Hub;
use crate::protocol::{self, Model, SERVER, ToPlayer};
use evenkeel::{Duration, EntityId, GlobalTime, HostId, Instant, Relevance, SenderError, State};
use std::collections::BTreeMap;

/// One player and one entity of somebody else's, for whoever decides whether the one may see the other.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// The entity, its owner, and what the game said of it.
    pub entity: &'a protocol::Entity,
    /// Where it is, as far as the server knows.
    pub state: Option<State>,
    /// The player.
    pub viewer: HostId,
    /// What the player is called.
    pub name: &'a str,
    /// Where the player's first entity is, as far as the server knows.
    pub viewpoint: Option<State>,
}

/// Decides how much an entity matters to a player, and whether the player may know of it at all.
pub type Scope = Box<dyn FnMut(&Sight<'_>) -> Relevance + Send>;

/// How often a [`Scope`] is asked again about everything: positions change.
pub(super) const REVIEW_EVERY: Duration = Duration::from_millis(250);

/// Where every player's first entity is: looked up once, for as many questions as there are.
struct Viewpoints {
    at: GlobalTime,
    states: BTreeMap<HostId, State>,
}

impl Hub {
    /// Says how much an entity matters to a player, until it is said otherwise. A player from whom it is hidden is told that it
    /// is gone. With a [`Scope`] in the configuration, that one decides, and overrules this within a quarter of a second.
    pub fn set_relevance(
        &mut self,
        entity: EntityId,
        host: HostId,
        relevance: Relevance,
        now: Instant,
    ) -> Result<(), SenderError> {
        if !self.entities.contains_key(&entity) {
            return Err(SenderError::UnknownEntity(entity));
        }
        if !self.members.contains_key(&host) {
            return Err(SenderError::UnknownReceiver(host));
        }
        if !relevance.is_valid() {
            return Err(SenderError::BadRelevance(entity));
        }
        let saw = self.may_see(entity, host);
        self.judged.insert((entity, host), relevance);
        self.refresh(entity, host, saw, now);
        Ok(())
    }

    /// Says how much an entity matters to everybody, until it is said otherwise: so much to these players, and as `usual` to all
    /// others, those to come included. What is usually hidden is never heard of by somebody of whom nothing has been said yet. With a
    /// [`Scope`] in the configuration, that one decides.
    ///
    /// ```
    /// use evenkeel::{Instant, Relevance, Threshold};
    /// use evenkeel_net::hub::{Hub, HubConfig};
    /// let (mut hub, now) = (Hub::new(HubConfig::default())?, Instant::from_millis(5_000));
    /// let treasure = hub.make(Threshold::within(0.1), Vec::new(), now)?;
    /// hub.set_relevances(treasure, Relevance::OutOfScope, &[].into(), now)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_relevances(
        &mut self,
        entity: EntityId,
        usual: Relevance,
        to: &BTreeMap<HostId, Relevance>,
        now: Instant,
    ) -> Result<(), SenderError> {
        if !self.entities.contains_key(&entity) {
            return Err(SenderError::UnknownEntity(entity));
        }
        if !usual.is_valid() || !to.values().all(|relevance| relevance.is_valid()) {
            return Err(SenderError::BadRelevance(entity));
        }
        let viewers: Vec<HostId> = self.members.keys().copied().collect();
        let saw: Vec<bool> = viewers.iter().map(|viewer| self.may_see(entity, *viewer)).collect();
        self.note_relevance(entity, SERVER, Some(usual).filter(|usual| *usual != Relevance::USUAL));
        let viewpoints = self.viewpoints(now);
        for (viewer, saw) in viewers.into_iter().zip(saw) {
            self.note_relevance(entity, viewer, to.get(&viewer).copied());
            self.judge_sight(&viewpoints, entity, viewer);
            self.refresh(entity, viewer, saw, now);
        }
        Ok(())
    }

    /// Remembers what was said about an entity and a player, or that nothing was. [`SERVER`] stands for everybody else.
    fn note_relevance(&mut self, entity: EntityId, viewer: HostId, relevance: Option<Relevance>) {
        match relevance {
            Some(relevance) => self.judged.insert((entity, viewer), relevance),
            None => self.judged.remove(&(entity, viewer)),
        };
    }

    /// How much an entity matters to a player, by what was said.
    fn relevance(&self, entity: EntityId, viewer: HostId) -> Relevance {
        let said = |viewer| self.judged.get(&(entity, viewer)).copied();
        said(viewer).or_else(|| said(SERVER)).unwrap_or(Relevance::USUAL)
    }

    /// Whether a player may know of an entity.
    pub(super) fn may_see(&self, entity: EntityId, host: HostId) -> bool {
        self.owner(entity) == Some(host) || self.relevance(entity, host).in_scope()
    }

    /// Asks the scope about everything, from time to time.
    pub(super) fn review_all(&mut self, now: Instant) {
        if self.config.scope.is_none() || self.reviewed.is_some_and(|at| now.since(at) < REVIEW_EVERY) {
            return;
        }
        self.reviewed = Some(now);
        let viewpoints = self.viewpoints(now);
        let entities: Vec<EntityId> = self.entities.keys().copied().collect();
        for entity in entities {
            self.review_from(&viewpoints, entity, false, now);
        }
    }

    /// Asks the scope about one entity and everybody. Of a new one nobody knows yet.
    pub(super) fn review(&mut self, entity: EntityId, new: bool, now: Instant) {
        let viewpoints = self.viewpoints(now);
        self.review_from(&viewpoints, entity, new, now);
    }

    fn review_from(&mut self, viewpoints: &Viewpoints, entity: EntityId, new: bool, now: Instant) {
        let viewers: Vec<HostId> = self.members.keys().copied().collect();
        for viewer in viewers {
            let saw = !new && self.may_see(entity, viewer);
            self.judge_sight(viewpoints, entity, viewer);
            self.refresh(entity, viewer, saw, now);
        }
    }

    /// Asks the scope about a player who has just come, and everything.
    pub(super) fn review_viewer(&mut self, viewer: HostId, now: Instant) {
        let viewpoints = self.viewpoints(now);
        let entities: Vec<EntityId> = self.entities.keys().copied().collect();
        for entity in entities {
            self.judge_sight(&viewpoints, entity, viewer);
            self.apply(entity, viewer, now);
        }
    }

    /// A player learns of what it may see, and forgets what it may not.
    fn refresh(&mut self, entity: EntityId, viewer: HostId, saw: bool, now: Instant) {
        let Some(made) = self.entities.get(&entity).filter(|made| made.owner != viewer) else {
            return self.apply(entity, viewer, now);
        };
        match (saw, self.may_see(entity, viewer)) {
            (true, false) => self.tell(viewer, &ToPlayer::Gone { entity }),
            (false, true) => self.tell(viewer, &ToPlayer::Entity(made.clone())),
            _ => {}
        }
        self.apply(entity, viewer, now);
    }

    /// What one player owns, and another.
    pub(super) fn review_pair(&mut self, owner: HostId, viewer: HostId, now: Instant) {
        let owned: Vec<EntityId> = self.entities.values().filter(|e| e.owner == owner).map(|e| e.entity).collect();
        for entity in owned {
            self.apply(entity, viewer, now);
        }
    }

    /// Where an entity is at a time of the session, as far as the server knows: by its owner's newest vector, or by its own.
    pub fn whereabouts(&self, entity: EntityId, at: GlobalTime) -> Option<State> {
        let ledger = self.sender.ledger();
        let own = || ledger.newest(ledger.entity(entity)?).map(|vector| (vector.generated, vector.motion));
        let newest = match self.entities.get(&entity)?.owner {
            SERVER => own(),
            _ => self.receiver.newest(entity),
        };
        newest.map(|(generated, motion)| motion.at(at.since(generated).as_secs_f64()))
    }

    /// From where players look now, if there is a scope that wants to know.
    fn viewpoints(&mut self, now: Instant) -> Viewpoints {
        let at = self.now(now);
        let mut first = BTreeMap::new();
        if self.config.scope.is_some() {
            for made in self.entities.values() {
                first.entry(made.owner).or_insert(made.entity);
            }
        }
        let place = |(owner, entity)| Some((owner, self.whereabouts(entity, at)?));
        Viewpoints { at, states: first.into_iter().filter_map(place).collect() }
    }

    fn judge_sight(&mut self, viewpoints: &Viewpoints, entity: EntityId, viewer: HostId) {
        let state = self.whereabouts(entity, viewpoints.at);
        let viewpoint = viewpoints.states.get(&viewer).copied();
        let (Some(scope), Some(about)) = (&mut self.config.scope, self.entities.get(&entity)) else { return };
        let Some(member) = self.members.get(&viewer).filter(|_| about.owner != viewer) else { return };
        let sight = Sight { entity: about, state, viewer, name: &member.name, viewpoint };
        // What cannot be reckoned with is as usual.
        let relevance = Some(scope(&sight)).filter(|relevance| relevance.is_valid()).unwrap_or(Relevance::USUAL);
        let usual = self.relevance(entity, SERVER);
        self.note_relevance(entity, viewer, Some(relevance).filter(|relevance| *relevance != usual));
    }

    /// Tells the sender how much an entity matters to a player.
    pub(super) fn apply(&mut self, entity: EntityId, viewer: HostId, now: Instant) {
        let Some(owner) = self.entities.get(&entity).map(|made| made.owner) else { return };
        let says = |one: HostId, other: HostId| self.members.get(&one).is_some_and(|m| m.linked.contains(&other));
        // Both must say so: nobody is cut off because another claims to tell it everything.
        let told_directly = says(owner, viewer) && says(viewer, owner);
        // Nobody is told about what it owns itself, or hears from the owner: it knows better.
        let relevance = if owner == viewer || told_directly || self.config.model == Model::PeerToPeer {
            Relevance::OutOfScope
        } else {
            self.relevance(entity, viewer)
        };
        let time = self.now(now);
        let _ = self.sender.set_relevance(entity, viewer, relevance, time);
    }
}
