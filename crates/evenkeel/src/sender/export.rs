//! From a pose to a DR vector to a decision for every receiver.

use super::outbox::Outgoing;
use super::{Sender, SenderError, Timer};
use crate::ids::EntityId;
use crate::ledger::{EntityIndex, Held, ReceiverIndex, Vector};
use crate::motion::{Motion, Pose, State};
use crate::policy::{Decision, Overtaken, Trigger};
use crate::time::GlobalTime;
use crate::trigger::Cause;
use crate::wire::Quantised;

impl Sender {
    /// Tells where an entity really is. Answers why a new DR vector became due, if one did.
    ///
    /// Call it every tick. What the pose leaves out is derived from the pose before.
    pub fn observe(&mut self, id: EntityId, pose: Pose, now: GlobalTime) -> Result<Option<Cause>, SenderError> {
        let entity = self.entity(id)?;
        if !pose.is_finite() {
            return Err(SenderError::NotFinite(id));
        }
        self.advance(now)?;
        let owned = &mut self.owned[entity.0];
        let before = owned.last_pose.as_ref().map(|(pose, at)| (pose, now.since(*at).as_secs_f64()));
        let pose = pose.derived_from(before);
        owned.last_pose = Some((pose, now));
        let motion = pose.motion(owned.config.kind);
        let Some(cause) = self.due(entity, &motion, now) else { return Ok(None) };
        self.export(entity, &motion, now, cause)
    }

    /// Tells how an entity really moves, for games that know better than [`MotionKind`](crate::MotionKind).
    pub fn observe_motion(
        &mut self,
        id: EntityId,
        motion: &Motion,
        now: GlobalTime,
    ) -> Result<Option<Cause>, SenderError> {
        let entity = self.entity(id)?;
        if !motion.is_valid() {
            return Err(SenderError::NotFinite(id));
        }
        self.advance(now)?;
        let Some(cause) = self.due(entity, motion, now) else { return Ok(None) };
        self.export(entity, motion, now, cause)
    }

    /// Passes on a vector that another host generated, without a trigger of one's own: what a relay server does. The
    /// policy decides about it like about any other.
    pub fn relay(
        &mut self,
        id: EntityId,
        motion: &Motion,
        generated: GlobalTime,
        now: GlobalTime,
    ) -> Result<(), SenderError> {
        let entity = self.entity(id)?;
        if !motion.is_valid() {
            return Err(SenderError::NotFinite(id));
        }
        self.advance(now)?;
        let tick = self.format.tick_of(generated);
        if self.ledger.newest(entity).is_some_and(|v| v.quantised.tick() >= tick) {
            return Err(SenderError::StaleVector(id));
        }
        let cause = if self.ledger.newest(entity).is_none() { Cause::First } else { Cause::Forced };
        self.export(entity, motion, generated.min(now), cause)?;
        Ok(())
    }

    /// Compares the real state with the exported path.
    fn due(&self, entity: EntityIndex, real: &Motion, now: GlobalTime) -> Option<Cause> {
        let Some(vector) = self.ledger.newest(entity) else { return Some(Cause::First) };
        let age = now.since(vector.generated);
        let mut exported = vector.motion.at(age.as_secs_f64());
        if let (Some(constraint), Some(id)) = (&self.constraint, self.ledger.entity_id(entity)) {
            constraint.constrain(id, &mut exported);
        }
        let real = State { position: real.position, velocity: exported.velocity, attitude: real.attitude };
        self.owned[entity.0].config.threshold.check(&real, &exported, age, self.policy.tolerance())
    }

    /// Makes a motion the exported path, as receivers will decode it, and asks the policy about it. Answers nothing if the
    /// vector before it was generated in the same tick of the format: two vectors must differ in time.
    fn export(
        &mut self,
        entity: EntityIndex,
        motion: &Motion,
        generated: GlobalTime,
        cause: Cause,
    ) -> Result<Option<Cause>, SenderError> {
        let quantised = self.format.quantise(motion, generated).map_err(|error| {
            let id = self.ledger.entity_id(entity).unwrap_or(EntityId(u32::MAX));
            SenderError::Unrepresentable(id, error)
        })?;
        let told = self.ledger.newest(entity).map(|v| v.quantised.tick()).or_else(|| self.told_farewell(entity));
        if told.is_some_and(|tick| tick >= quantised.tick()) {
            return Ok(None);
        }
        let number = self.make_exported(entity, quantised);
        self.flush_overtaken(entity);
        self.decide(&Trigger { entity, vector: number, cause, at: self.now });
        Ok(Some(cause))
    }

    /// A quantised motion becomes the exported path.
    pub(super) fn make_exported(&mut self, entity: EntityIndex, quantised: Quantised) -> u32 {
        let vector = Vector {
            number: 0,
            generated: self.format.time_of(quantised.tick()),
            motion: self.format.restore(&quantised),
            quantised,
        };
        self.owned[entity.0].encoded.clear();
        self.ledger.export(entity, vector, self.now)
    }

    /// The tick up to which receivers were told to forget an entity of this name, if that was just now.
    fn told_farewell(&mut self, entity: EntityIndex) -> Option<i64> {
        let now_tick = self.format.tick_of(self.now);
        self.farewells.retain(|(_, tick)| *tick >= now_tick);
        let id = self.ledger.entity_id(entity)?;
        self.farewells.iter().filter(|(gone, _)| *gone == id).map(|(_, tick)| *tick).max()
    }

    /// What was still held for an entity when its next vector comes.
    fn flush_overtaken(&mut self, entity: EntityIndex) {
        for receiver in self.ledger.receivers() {
            let Some(held) = self.ledger.entities[entity.0].pairs[receiver.0].held.take() else { continue };
            if self.policy.overtaken() == Overtaken::Send {
                self.push(receiver, Outgoing::Exactly { entity, number: held.vector });
            }
        }
    }

    fn decide(&mut self, trigger: &Trigger) {
        let entity = trigger.entity;
        if self.policy.reads_error() {
            self.ledger.close_entity(entity, trigger.at);
        }
        let mut decisions = core::mem::take(&mut self.decisions);
        decisions.clear();
        decisions.resize(self.outboxes.len(), Decision::Not);
        self.policy.decide(&self.ledger, trigger, &mut decisions);
        self.ledger.spent.triggers += 1;
        for (receiver, decision) in self.ledger.receivers().zip(&decisions) {
            let pair = &self.ledger.entities[entity.0].pairs[receiver.0];
            if !pair.relevance.in_scope() {
                continue;
            }
            self.ledger.spent.due += 1;
            match *decision {
                Decision::Now => self.queue_newest(entity, receiver, false),
                // Whoever has nothing, or waits for what is now old, gets the newest whatever the policy says.
                _ if trigger.cause == Cause::First || pair.queued != 0 || pair.last_sent().is_none() => {
                    self.queue_newest(entity, receiver, false);
                }
                Decision::At(at) if at <= trigger.at => self.queue_newest(entity, receiver, false),
                Decision::At(at) => self.hold(entity, receiver, trigger.vector, at),
                Decision::Not => {}
            }
        }
        self.decisions = decisions;
    }

    fn hold(&mut self, entity: EntityIndex, receiver: ReceiverIndex, number: u32, until: GlobalTime) {
        self.ledger.entities[entity.0].pairs[receiver.0].held = Some(Held { vector: number, until });
        let host = self.ledger.host(receiver);
        self.set_timer(until, Timer::Release { entity, host, number });
    }
}
