//! The exported path of one entity: its newest DR vectors, as receivers decode them.

use crate::ids::VectorNumber;
use crate::ledger::Vector;
use crate::path::PieceView;
use crate::time::GlobalTime;
use alloc::collections::VecDeque;

/// The newest vectors of one entity, with consecutive numbers.
#[derive(Debug)]
pub(crate) struct Exported {
    ring: VecDeque<Vector>,
    /// The number of the oldest vector in the ring; without meaning while the ring is empty.
    oldest: VectorNumber,
}

impl Exported {
    pub(crate) const fn new() -> Self {
        Self { ring: VecDeque::new(), oldest: VectorNumber::FIRST }
    }

    pub(crate) fn push(&mut self, vector: Vector) {
        debug_assert!(self.ring.back().is_none_or(|last| last.number.next() == vector.number));
        if self.ring.is_empty() {
            self.oldest = vector.number;
        }
        self.ring.push_back(vector);
    }

    pub(crate) fn get(&self, number: VectorNumber) -> Option<&Vector> {
        self.ring.get(number.since(self.oldest)? as usize)
    }

    /// The number of the oldest vector kept.
    pub(crate) fn oldest(&self) -> VectorNumber {
        self.oldest
    }

    pub(crate) fn len(&self) -> usize {
        self.ring.len()
    }

    /// When the oldest vector kept was generated.
    pub(crate) fn since(&self) -> Option<GlobalTime> {
        self.ring.front().map(|v| v.generated)
    }

    /// When the oldest vector stopped being the newest.
    pub(crate) fn oldest_until(&self) -> Option<GlobalTime> {
        self.ring.get(1).map(|v| v.generated)
    }

    pub(crate) fn drop_oldest(&mut self) -> Option<Vector> {
        self.oldest = self.oldest.next();
        self.ring.pop_front()
    }

    pub(crate) fn clear(&mut self) {
        self.ring.clear();
    }

    /// The pieces of the exported path that matter from `from` on.
    pub(crate) fn pieces(&self, from: GlobalTime) -> impl Iterator<Item = PieceView<'_>> {
        // From the back: what is asked for is usually recent.
        let first = self.ring.iter().rposition(|v| v.generated <= from).unwrap_or(0);
        self.ring.range(first..).map(|v| PieceView {
            start: v.generated,
            epoch: v.generated,
            motion: &v.motion,
            vector: Some(v.number),
            freeze: None,
        })
    }

    /// Whether the path is still known at a time.
    pub(crate) fn reaches_back_to(&self, t: GlobalTime) -> bool {
        self.since().is_some_and(|since| since <= t)
    }
}
