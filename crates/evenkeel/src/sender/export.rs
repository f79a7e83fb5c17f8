//! From a pose to a DR vector to a decision for every receiver.

use super::outbox::Outgoing;
use super::{Sender, SenderError, Timer};
use crate::ids::{EntityId, VectorNumber};
use crate::ledger::{EntityIndex, Held, ReceiverIndex, Vector};
use crate::motion::{Motion, Pose, State};
use crate::policy::{Decision, Overtaken, Trigger};
use crate::time::{Duration, GlobalTime};
use crate::trigger::{Cause, Threshold};
use crate::wire::Quantised;
use alloc::boxed::Box;

impl Sender {
    /// Tells where an entity really is. Answers why a new DR vector became due, if one did.
    ///
    /// Call it every tick. What the pose leaves out is derived from the pose before.
    pub fn observe(&mut self, id: EntityId, pose: Pose, now: GlobalTime) -> Result<Option<Cause>, SenderError> {
        let entity = self.entity(id)?;
        self.observe_at(entity, id, pose, now)
    }

    /// The same for those who know the place in the ledger of what they observe, and so spare the search for it. An entity that is
    /// elsewhere is unknown.
    ///
    /// ```
    /// # use evenkeel::*;
    /// # let (mut sender, now) = (Sender::new(SenderConfig::default())?, GlobalTime::ZERO);
    /// # let (tank, pose) = (EntityId(7), Pose::at(Vec3::ZERO));
    /// sender.add_entity(tank, Threshold::within(0.1), now)?;
    /// let place = sender.ledger().entity(tank).expect("it was just added");
    /// sender.observe_at(place, tank, pose, now)?;
    /// sender.remove_entity(tank, now)?;
    /// assert_eq!(sender.observe_at(place, tank, pose, now), Err(SenderError::UnknownEntity(tank)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn observe_at(
        &mut self,
        entity: EntityIndex,
        id: EntityId,
        pose: Pose,
        now: GlobalTime,
    ) -> Result<Option<Cause>, SenderError> {
        if self.ledger.entity_id(entity) != Some(id) {
            return Err(SenderError::UnknownEntity(id));
        }
        if !pose.is_finite() {
            return Err(SenderError::NotFinite(id));
        }
        self.advance(now)?;
        let owned = &mut self.owned[entity.0];
        let before = owned.last_pose.as_ref().map(|(pose, at)| (pose, now.since(*at).as_secs_f64()));
        let pose = pose.derived_from(before);
        owned.last_pose = Some((pose, now));
        let motion = pose.motion(owned.config.kind);
        self.take_notice(entity, &motion, now)
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
        self.take_notice(entity, motion, now)
    }

    /// Exports what was observed if that is due, or if the policy has somebody to tell it to.
    fn take_notice(
        &mut self,
        entity: EntityIndex,
        motion: &Motion,
        now: GlobalTime,
    ) -> Result<Option<Cause>, SenderError> {
        self.ledger.settle(now);
        let due = self.due(entity, motion, now);
        self.shadow(entity, motion, now, due);
        let Some(cause) = due.or_else(|| self.wanted(entity, motion, now)) else { return Ok(None) };
        self.export(entity, motion, now, cause)
    }

    /// Asks the policy, unless the last vector is too recent for another.
    fn wanted(&mut self, entity: EntityIndex, motion: &Motion, now: GlobalTime) -> Option<Cause> {
        let owned = &self.owned[entity.0];
        let (_, generated) = owned.newest?;
        let apart = now.since(generated).max(Duration::ZERO);
        let may = apart >= owned.config.threshold.min_gap && apart >= self.ledger.terms.tick;
        (may && self.policy.wants(&self.ledger, entity, motion, now)).then_some(Cause::Wanted)
    }

    /// Tells how an entity moves from now on, and tells everybody at once, whether or not a vector is due and whatever the policy
    /// says: for what the rules of a game let nobody miss, such as a jump, a teleport or a hit. The policy hears of it, so that what
    /// it costs comes out of its budget.
    ///
    /// ```
    /// use evenkeel::policy::{self, Budget};
    /// use evenkeel::{EntityId, GlobalTime, HostId, Motion, Sender, SenderConfig, Threshold, Vec3};
    ///
    /// let every_tenth = policy::by_name("base/10", Budget::of_base(1, 10), 0)?;
    /// let mut sender = Sender::new(SenderConfig { policy: every_tenth, ..SenderConfig::default() })?;
    /// sender.add_receiver(HostId(1), GlobalTime::ZERO)?;
    /// sender.add_entity(EntityId(7), Threshold::within(0.1), GlobalTime::ZERO)?;
    /// let told = |sender: &mut Sender, now| sender.poll_transmit(now).is_some();
    ///
    /// let at = |x| Motion::stationary(Vec3::new(x, 0.0, 0.0));
    /// let second = GlobalTime::from_millis;
    /// sender.observe_motion(EntityId(7), &at(0.0), second(0))?;
    /// assert!(told(&mut sender, second(0)), "the first vector goes to everybody");
    /// sender.observe_motion(EntityId(7), &at(5.0), second(100))?;
    /// assert!(!told(&mut sender, second(100)), "the policy keeps the second to itself");
    /// sender.announce(EntityId(7), &at(9.0), second(200))?;
    /// assert!(told(&mut sender, second(200)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn announce(&mut self, id: EntityId, motion: &Motion, now: GlobalTime) -> Result<(), SenderError> {
        let entity = self.entity(id)?;
        if !motion.is_valid() {
            return Err(SenderError::NotFinite(id));
        }
        self.advance(now)?;
        let due = self.due(entity, motion, now);
        self.shadow(entity, motion, now, due);
        self.ledger.settle(now);
        let cause = if self.ledger.newest(entity).is_none() { Cause::First } else { Cause::Announced };
        self.export(entity, motion, now, cause)?;
        Ok(())
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
        // Nobody says why its owner sent it, but a heartbeat looks like one from here too.
        let cause = self.due(entity, motion, generated).unwrap_or(Cause::Forced);
        let exported = self.export(entity, motion, generated.min(now), cause)?;
        if exported.is_some() && self.policy.wants_base_triggers() {
            self.note_base_trigger(entity, cause, now);
        }
        Ok(())
    }

    /// Compares the real state with the exported path, as patiently as the policy has it.
    fn due(&self, entity: EntityIndex, real: &Motion, now: GlobalTime) -> Option<Cause> {
        let owned = &self.owned[entity.0];
        let Some((exported, generated)) = &owned.newest else { return Some(Cause::First) };
        let threshold = owned.config.threshold;
        // Beyond its age limit a vector is no longer extrapolated: no heartbeat is stretched further than that.
        let patient = threshold.time.mul_f64(self.policy.patience()).min(self.ledger.terms.placing.max_age);
        let threshold = threshold.at_least_every(patient.max(threshold.time));
        self.compare(entity, real, exported, now.since(*generated), &threshold, self.policy.tolerance())
    }

    fn compare(
        &self,
        entity: EntityIndex,
        real: &Motion,
        exported: &Motion,
        age: Duration,
        threshold: &Threshold,
        scale: f64,
    ) -> Option<Cause> {
        let mut exported = exported.at(age.as_secs_f64());
        if let (Some(constraint), Some(id)) = (&self.constraint, self.ledger.entity_id(entity)) {
            constraint.constrain(id, &mut exported);
        }
        let real = State { position: real.position, velocity: exported.velocity, attitude: real.attitude };
        threshold.check(&real, &exported, age, scale)
    }

    /// Follows what the base case would export, for a policy that stretches the thresholds or asks for vectors between triggers, and must
    /// know what triggers there would be without that. `due` is why a vector is due, if one is.
    fn shadow(&mut self, entity: EntityIndex, real: &Motion, now: GlobalTime, due: Option<Cause>) {
        if !self.policy.wants_base_triggers() {
            return;
        }
        let owned = &self.owned[entity.0];
        let stretched = self.policy.tolerance() != 1.0 || self.policy.patience() != 1.0;
        let cause = match &owned.shadow {
            None => Some(Cause::First),
            // As long as both are the same, they are compared once.
            Some(shadow) if !stretched && owned.newest.as_ref() == Some(&**shadow) => due,
            Some(shadow) => {
                let (motion, generated) = &**shadow;
                self.compare(entity, real, motion, now.since(*generated), &owned.config.threshold, 1.0)
            }
        };
        let Some(cause) = cause else { return };
        // What cannot be represented is refused when it is exported.
        let Ok(quantised) = self.format.quantise(real, now) else { return };
        let generated = self.format.time_of(quantised.tick());
        let vector = (self.format.restore(&quantised), generated);
        match &mut self.owned[entity.0].shadow {
            Some(before) if before.1 >= generated => return,
            Some(before) => **before = vector,
            none => *none = Some(Box::new(vector)),
        }
        self.note_base_trigger(entity, cause, now);
    }

    fn note_base_trigger(&mut self, entity: EntityIndex, cause: Cause, now: GlobalTime) {
        let desks = &self.ledger.entities[entity.0].desks;
        self.ledger.spent.due += desks.iter().filter(|desk| desk.relevance.in_scope()).count() as u64;
        self.policy.base_trigger(&self.ledger, entity, cause, now);
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
        self.decide(&Trigger { entity, vector: number, cause, at: self.now });
        Ok(Some(cause))
    }

    /// A quantised motion becomes the exported path.
    pub(super) fn make_exported(&mut self, entity: EntityIndex, quantised: Quantised) -> VectorNumber {
        let vector = Vector {
            number: self.ledger.next_number(entity),
            generated: self.format.time_of(quantised.tick()),
            motion: self.format.restore(&quantised),
            quantised,
        };
        let owned = &mut self.owned[entity.0];
        owned.encoded.clear();
        owned.newest = Some((vector.motion, vector.generated));
        self.ledger.export(entity, vector, self.now);
        vector.number
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
        if !core::mem::take(&mut self.owned[entity.0].held) {
            return;
        }
        for receiver in self.ledger.receivers() {
            let Some(held) = self.ledger.book_mut(entity, receiver).take_held() else { continue };
            // One whose time has come since the last poll was not overtaken.
            if held.until <= self.now || self.policy.overtaken() == Overtaken::Send {
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
        self.flush_overtaken(entity);
        self.ledger.spent.triggers += 1;
        let mut in_scope = 0;
        for (receiver, decision) in self.ledger.receivers().zip(&decisions) {
            if !self.ledger.desk(entity, receiver).relevance.in_scope() {
                continue;
            }
            in_scope += 1;
            match *decision {
                Decision::Now => self.queue(entity, trigger.vector, receiver, false),
                _ if self.must_hear(trigger, receiver) => self.queue(entity, trigger.vector, receiver, false),
                Decision::At(at) if at <= trigger.at => self.queue(entity, trigger.vector, receiver, false),
                Decision::At(at) => self.hold(entity, receiver, trigger.vector, at),
                Decision::Not => {}
            }
        }
        if !self.policy.wants_base_triggers() {
            self.ledger.spent.due += in_scope;
        }
        self.decisions = decisions;
    }

    /// Whether a receiver gets a vector whatever the policy says: it is for everybody, or the receiver has nothing, waits for what is
    /// now old, or has been left alone for too long.
    fn must_hear(&self, trigger: &Trigger, receiver: ReceiverIndex) -> bool {
        let desk = self.ledger.desk(trigger.entity, receiver);
        if matches!(trigger.cause, Cause::First | Cause::Announced) || desk.queued.is_some() {
            return true;
        }
        if desk.sent.is_some() && self.longest_silence.is_none() {
            return false;
        }
        let silent = |sent: GlobalTime| self.longest_silence.is_some_and(|longest| trigger.at.since(sent) >= longest);
        self.ledger.book(trigger.entity, receiver).last_sent().is_none_or(|(_, sent)| silent(sent))
    }

    fn hold(&mut self, entity: EntityIndex, receiver: ReceiverIndex, number: VectorNumber, until: GlobalTime) {
        self.owned[entity.0].held = true;
        self.ledger.book_mut(entity, receiver).hold(Held { vector: number, until });
        let host = self.ledger.host(receiver);
        self.set_timer(until, Timer::Release { entity, host, number });
    }
}

#[cfg(test)]
mod tests {
    use crate::policy::{Budget, by_name};
    use crate::{Duration, EntityId, GlobalTime, HostId, Pose, Sender, SenderConfig, Threshold, Vec3};

    /// When a receiver of every hundredth vector of an entity that jumps about ten times a second is sent something.
    fn told(longest_silence: Option<Duration>) -> alloc::vec::Vec<i64> {
        let policy = by_name("base/100", Budget::of_base(1, 100), 0).unwrap();
        let config = SenderConfig { policy, longest_silence, resend_lost: false, ..SenderConfig::default() };
        let mut sender = Sender::new(config).unwrap();
        sender.add_receiver(HostId(1), GlobalTime::ZERO).unwrap();
        sender.add_entity(EntityId(7), Threshold::within(0.1), GlobalTime::ZERO).unwrap();
        let mut told = alloc::vec::Vec::new();
        for tick in 0..60 {
            let now = GlobalTime::from_millis(100 * tick);
            sender.observe(EntityId(7), Pose::at(Vec3::new((tick % 2) as f64, 0.0, 0.0)), now).unwrap();
            if sender.poll_transmit(now).is_some() {
                told.push(100 * tick);
            }
        }
        told
    }

    #[test]
    fn nobody_is_left_alone_for_longer_than_the_longest_silence() {
        assert_eq!(told(None), [0]);
        assert_eq!(told(Some(Duration::from_secs(2))), [0, 2000, 4000]);
    }
}
