//! Going back: for late operations, for the authority, for a look, and for a check.

use super::trail::{self, apply_all};
use super::{Places, Timewarp, TimewarpEvent};
use crate::geometry::wrap_angle;
use crate::ids::EntityId;
use crate::motion::State;
use crate::simulation::{Operation, Simulation, Tick};
use crate::time::GlobalTime;
use core::mem;

impl<S: Simulation> Timewarp<S> {
    /// Goes back for the operations that came late, and executes everything since again. Answers how many ticks.
    pub(super) fn heal(&mut self) -> i64 {
        let Some(dirty) = self.dirty.take() else { return 0 };
        let Some((from, state)) = self.history.at_or_before(dirty) else { return 0 };
        let (present, depth) = (self.tick, self.tick.0 - dirty.0);
        self.places.0.clear();
        self.simulation.places(&mut self.places.0);
        self.simulation.restore(state);
        self.trail.cut_after_step(from);
        self.verified = self.verified.min(from);
        self.verdicts.doubt_after(from, false);
        self.tick = from;
        self.reached.clear();
        self.apply(from);
        self.stats.rollbacks += 1;
        self.replay_until(present, depth)
    }

    /// Takes a state that was given, adds operations, and executes everything since again.
    pub(super) fn replace(
        &mut self,
        tick: Tick,
        state: &S::Snapshot,
        operations: &[Operation<S::Act>],
        now: GlobalTime,
    ) {
        let (present, depth) = (self.tick, self.tick.0 - tick.0);
        self.places.0.clear();
        if depth >= 0 {
            self.simulation.places(&mut self.places.0);
        }
        self.simulation.restore(state);
        self.history.restart(tick.next());
        self.trail.clear();
        // Whoever is given a state may have been wrong for a while.
        self.digests.clear();
        self.verified = tick;
        self.verdicts.doubt_after(tick, true);
        self.announced_before = self.announced_before.max(self.remembered);
        self.tick = tick;
        self.floor = tick.next();
        self.remembered = tick.next();
        self.overruled = Some(tick);
        for operation in operations {
            // What is refused is counted; what is late is about to be executed.
            let _ = self.handle_operation(operation.clone(), now);
        }
        self.dirty = None;
        self.stats.overruled += 1;
        self.replay_until(present, depth);
        self.settle();
    }

    fn replay_until(&mut self, present: Tick, depth: i64) -> i64 {
        let replayed = (present.0 - self.tick.0).max(0);
        while self.tick < present {
            self.step_on();
        }
        self.stats.replayed += replayed as u64;
        self.stats.deepest = self.stats.deepest.max(depth);
        let Self { verdicts, decisions, stats, .. } = self;
        verdicts.reconcile(|event| {
            stats.revoked += 1;
            decisions.push(event);
        });
        if depth >= 0 {
            self.report_corrections(depth);
        }
        replayed
    }

    /// Compares where things were with where they are.
    fn report_corrections(&mut self, depth: i64) {
        let (mut before, mut after) = mem::take(&mut self.places);
        after.clear();
        self.simulation.places(&mut after);
        let mut report = |entity: EntityId, before: &State, after: &State| {
            let by = after.position - before.position;
            let turned = wrap_angle(after.attitude.heading() - before.attitude.heading());
            if by.length_squared() > 0.0 || turned != 0.0 {
                self.corrections.push(TimewarpEvent::Corrected { entity, by, turned, depth });
            }
        };
        let same = before.len() == after.len() && before.iter().zip(&after).all(|(b, a)| b.0 == a.0);
        if same {
            before.iter().zip(&after).for_each(|(b, a)| report(a.0, &b.1, &a.1));
        } else {
            before.sort_unstable_by_key(|place| place.0);
            for (entity, place) in &after {
                if let Ok(index) = before.binary_search_by_key(entity, |place| place.0) {
                    report(*entity, &before[index].1, place);
                }
            }
            self.report_fates(depth, &before, &mut after);
        }
        self.places = (before, after);
    }

    /// Entities that are there after all, and entities that are not.
    fn report_fates(&mut self, depth: i64, before: &Places, after: &mut Places) {
        let lacks = |places: &Places, entity: EntityId| places.binary_search_by_key(&entity, |place| place.0).is_err();
        after.sort_unstable_by_key(|place| place.0);
        for (entity, _) in after.iter().filter(|place| lacks(before, place.0)) {
            self.corrections.push(TimewarpEvent::Appeared { entity: *entity, depth });
        }
        for (entity, _) in before.iter().filter(|place| lacks(after, place.0)) {
            self.corrections.push(TimewarpEvent::Vanished { entity: *entity, depth });
        }
    }

    /// Shows the state at a tick, and comes back.
    pub(super) fn visit<R>(&mut self, tick: Tick, look: impl FnOnce(&S) -> R) -> Option<R> {
        if tick >= self.tick {
            return (tick == self.tick).then(|| look(&self.simulation));
        }
        let (mut at, state) = self.history.at_or_before(tick)?;
        self.simulation.save(&mut self.present);
        self.simulation.restore(state);
        let Self { simulation, operations, reached, .. } = self;
        apply_all(simulation, operations, at, reached, |_, _| {});
        while at < tick {
            at = at.next();
            simulation.step(reached);
            apply_all(simulation, operations, at, reached, |_, _| {});
        }
        reached.clear();
        let seen = look(simulation);
        self.simulation.restore(&self.present);
        Some(seen)
    }

    /// Executes the last ticks a second time, if it is time to, and compares.
    pub(super) fn verify(&mut self) {
        let Some(every) = self.config.verify_every else { return };
        if self.tick.0 - self.verified.0 < i64::from(every) {
            return;
        }
        let from = self.verified.max(self.floor);
        self.verified = self.tick;
        if let Some((from, state)) = self.history.at_or_before(from) {
            self.simulation.save(&mut self.present);
            self.simulation.restore(state);
            let expected = self.trail.from(from);
            let first = trail::retrace(&mut self.simulation, &self.operations, (from, self.tick), expected);
            self.simulation.restore(&self.present);
            if let Some(mark) = first {
                self.stats.diverged += 1;
                self.decisions.push(TimewarpEvent::Diverged { tick: mark.tick, operation: mark.operation });
            }
        }
    }
}
