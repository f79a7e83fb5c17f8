//! The operations a timewarp knows, in the order in which everybody executes them.

use crate::ids::HostId;
use crate::simulation::{Operation, Tick};
use alloc::collections::VecDeque;
use hashbrown::HashMap;

struct Entry<A> {
    tick: Tick,
    operation: Operation<A>,
}

impl<A> Entry<A> {
    fn key(&self) -> (Tick, HostId, u32) {
        (self.tick, self.operation.issuer, self.operation.sequence)
    }
}

pub(super) struct Operations<A> {
    /// By tick, issuer and sequence.
    entries: VecDeque<Entry<A>>,
    /// At which tick each known operation is executed.
    ticks: HashMap<(HostId, u32), Tick>,
    /// How many operations of each issuer are known.
    issuers: HashMap<HostId, usize>,
}

impl<A> Operations<A> {
    pub(super) fn new() -> Self {
        Self { entries: VecDeque::new(), ticks: HashMap::new(), issuers: HashMap::new() }
    }

    pub(super) fn find(&self, issuer: HostId, sequence: u32) -> Option<&Operation<A>> {
        let tick = *self.ticks.get(&(issuer, sequence))?;
        let index = self.entries.binary_search_by_key(&(tick, issuer, sequence), Entry::key).ok()?;
        self.entries.get(index).map(|entry| &entry.operation)
    }

    /// How many operations of an issuer are known.
    pub(super) fn of(&self, issuer: HostId) -> usize {
        self.issuers.get(&issuer).copied().unwrap_or(0)
    }

    pub(super) fn issuers(&self) -> usize {
        self.issuers.len()
    }

    /// Adds an operation that is not known yet.
    pub(super) fn insert(&mut self, tick: Tick, operation: Operation<A>) {
        self.ticks.insert((operation.issuer, operation.sequence), tick);
        *self.issuers.entry(operation.issuer).or_insert(0) += 1;
        let entry = Entry { tick, operation };
        let index = self.entries.partition_point(|other| other.key() < entry.key());
        self.entries.insert(index, entry);
    }

    /// The operations of a tick, in order.
    pub(super) fn at(&self, tick: Tick) -> impl Iterator<Item = &Operation<A>> {
        let start = self.entries.partition_point(|entry| entry.tick < tick);
        self.entries.range(start..).take_while(move |entry| entry.tick == tick).map(|entry| &entry.operation)
    }

    /// The operations of all later ticks, in order.
    pub(super) fn after(&self, tick: Tick) -> impl Iterator<Item = &Operation<A>> {
        let start = self.entries.partition_point(|entry| entry.tick <= tick);
        self.entries.range(start..).map(|entry| &entry.operation)
    }

    pub(super) fn forget_before(&mut self, tick: Tick) {
        while self.entries.front().is_some_and(|entry| entry.tick < tick) {
            let Some(Entry { operation, .. }) = self.entries.pop_front() else { return };
            self.ticks.remove(&(operation.issuer, operation.sequence));
            if let Some(count) = self.issuers.get_mut(&operation.issuer) {
                *count -= 1;
                if *count == 0 {
                    self.issuers.remove(&operation.issuer);
                }
            }
        }
    }

    /// Roughly the memory it takes.
    pub(super) fn bytes(&self) -> usize {
        // Lengths of maps, not capacities: these differ from run to run.
        self.entries.capacity() * size_of::<Entry<A>>()
            + self.ticks.len() * size_of::<((HostId, u32), Tick)>()
            + self.issuers.len() * size_of::<(HostId, usize)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::GlobalTime;
    use std::vec::Vec;

    fn operation(issuer: u32, sequence: u32) -> Operation<()> {
        Operation { at: GlobalTime::ZERO, issuer: HostId(issuer), sequence, act: () }
    }

    #[test]
    fn a_ticks_operations_come_by_issuer_and_sequence() {
        let mut operations = Operations::new();
        for (tick, issuer, sequence) in [(2, 1, 1), (1, 2, 0), (1, 1, 9), (1, 1, 3), (0, 5, 5)] {
            operations.insert(Tick(tick), operation(issuer, sequence));
        }
        let order: Vec<_> = operations.at(Tick(1)).map(|o| (o.issuer.0, o.sequence)).collect();
        assert_eq!(order, [(1, 3), (1, 9), (2, 0)]);
        assert_eq!(operations.at(Tick(3)).count(), 0);
    }

    #[test]
    fn what_is_forgotten_makes_room() {
        let mut operations = Operations::new();
        for sequence in 0..4 {
            operations.insert(Tick(i64::from(sequence)), operation(1, sequence));
        }
        operations.forget_before(Tick(3));
        assert_eq!((operations.of(HostId(1)), operations.issuers()), (1, 1));
        assert!(operations.find(HostId(1), 2).is_none() && operations.find(HostId(1), 3).is_some());
        operations.forget_before(Tick(4));
        assert_eq!((operations.of(HostId(1)), operations.issuers()), (0, 0));
    }
}
