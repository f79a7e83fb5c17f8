//! What the state was after every step and every operation: for finding the first that is not deterministic.

use super::operations::Operations;
use crate::ids::HostId;
use crate::simulation::{Simulation, Tick};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// A moment of an execution: after the step to a tick, or after one of its operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub tick: Tick,
    /// Issuer and sequence; none for the step.
    pub operation: Option<(HostId, u32)>,
    pub digest: u64,
}

/// The marks of an execution, in order.
#[derive(Default)]
pub(super) struct Trail {
    marks: VecDeque<Mark>,
}

impl Trail {
    pub(super) fn push(&mut self, mark: Mark) {
        self.marks.push_back(mark);
    }

    pub(super) fn clear(&mut self) {
        self.marks.clear();
    }

    /// Forgets the operations of a tick and everything later.
    pub(super) fn cut_after_step(&mut self, tick: Tick) {
        let keep = self.marks.partition_point(|m| m.tick < tick || (m.tick == tick && m.operation.is_none()));
        self.marks.truncate(keep);
    }

    pub(super) fn forget_before(&mut self, tick: Tick) {
        while self.marks.front().is_some_and(|mark| mark.tick < tick) {
            self.marks.pop_front();
        }
    }

    /// Where another execution parts from this one.
    pub(super) fn parts_from(&self, other: &Self) -> Option<Mark> {
        self.marks.iter().zip(&other.marks).find(|(a, b)| a != b).map(|(a, _)| *a)
    }

    /// Everything from the step to a tick on.
    pub(super) fn from(&self, tick: Tick) -> impl Iterator<Item = &Mark> {
        let start = self.marks.partition_point(|mark| mark.tick < tick);
        self.marks.range(start..)
    }

    pub(super) fn bytes(&self) -> usize {
        self.marks.capacity() * size_of::<Mark>()
    }
}

/// Applies the operations of a tick, telling `after` of each.
pub(super) fn apply_all<S: Simulation>(
    simulation: &mut S,
    operations: &Operations<S::Act>,
    tick: Tick,
    verdicts: &mut Vec<S::Verdict>,
    mut after: impl FnMut(&S, (HostId, u32)),
) {
    for operation in operations.at(tick) {
        simulation.apply(operation.issuer, &operation.act, verdicts);
        after(simulation, (operation.issuer, operation.sequence));
    }
}

/// Goes on from a restored state, the one after the step to `from`, until after the operations of `until`, and answers the
/// first mark that differs from those expected.
pub(super) fn retrace<'a, S: Simulation>(
    simulation: &mut S,
    operations: &Operations<S::Act>,
    (from, until): (Tick, Tick),
    mut expected: impl Iterator<Item = &'a Mark>,
) -> Option<Mark> {
    let mut verdicts = Vec::new();
    let mut first = None;
    let mut compare = |tick, operation, simulation: &S| {
        let mark = Mark { tick, operation, digest: simulation.digest() };
        if expected.next() != Some(&mark) && first.is_none() {
            first = Some(mark);
        }
    };
    let mut tick = from;
    loop {
        compare(tick, None, simulation);
        apply_all(simulation, operations, tick, &mut verdicts, |s, name| compare(tick, Some(name), s));
        if tick >= until {
            break;
        }
        tick = tick.next();
        verdicts.clear();
        simulation.step(&mut verdicts);
    }
    first
}
