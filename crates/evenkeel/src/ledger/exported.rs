//! The exported path of one entity: its newest DR vectors, as receivers decode them.

use crate::ids::VectorNumber;
use crate::motion::Motion;
use crate::path::PieceView;
use crate::time::{Duration, GlobalTime};
use crate::wire::Quantised;
use alloc::collections::VecDeque;

/// A DR vector: a motion stamped with the global time of its generation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vector {
    /// Counts the vectors at the entity's place in the ledger. It goes on where a former entity stopped.
    pub number: VectorNumber,
    /// When it was generated, on the format's time grid.
    pub generated: GlobalTime,
    /// The motion as every receiver decodes it.
    pub motion: Motion,
    /// The same on the format's lattice.
    pub(crate) quantised: Quantised,
}

impl Vector {
    /// The motion on the wire format's lattice, ready to be written.
    pub fn quantised(&self) -> &Quantised {
        &self.quantised
    }
}

/// The newest vectors of one entity, with consecutive numbers.
#[derive(Debug)]
pub(crate) struct Exported {
    ring: VecDeque<Vector>,
    /// When each was generated: what is searched for stands together.
    times: VecDeque<GlobalTime>,
    /// The number of the oldest vector in the ring; without meaning while the ring is empty.
    oldest: VectorNumber,
}

impl Exported {
    pub(crate) const fn new() -> Self {
        Self { ring: VecDeque::new(), times: VecDeque::new(), oldest: VectorNumber::FIRST }
    }

    pub(crate) fn push(&mut self, vector: Vector) {
        debug_assert!(self.ring.back().is_none_or(|last| last.number.next() == vector.number));
        if self.ring.is_empty() {
            self.oldest = vector.number;
        }
        self.times.push_back(vector.generated);
        self.ring.push_back(vector);
    }

    pub(crate) fn newest(&self) -> Option<&Vector> {
        self.ring.back()
    }

    pub(crate) fn get(&self, number: VectorNumber) -> Option<&Vector> {
        self.ring.get(number.since(self.oldest)? as usize)
    }

    /// When a vector was generated.
    #[inline]
    pub(crate) fn generated(&self, number: VectorNumber) -> Option<GlobalTime> {
        self.generated_at(number.since(self.oldest)? as usize)
    }

    /// The place of the vector that was the newest at a time; the first place before any.
    #[inline]
    pub(crate) fn index_at(&self, t: GlobalTime) -> usize {
        // From the back: what is asked for is usually recent.
        self.times.iter().rposition(|generated| *generated <= t).unwrap_or(0)
    }

    /// The number of the vector at a place.
    #[inline]
    pub(crate) fn number_at(&self, index: usize) -> VectorNumber {
        VectorNumber::new(self.oldest.get().saturating_add(index as u32)).unwrap_or(self.oldest)
    }

    /// When the vector at a place was generated.
    #[inline]
    pub(crate) fn generated_at(&self, index: usize) -> Option<GlobalTime> {
        self.times.get(index).copied()
    }

    /// The number of the oldest vector kept.
    pub(crate) fn oldest(&self) -> VectorNumber {
        self.oldest
    }

    /// Whether a vector is still here, without looking at it.
    pub(crate) fn has(&self, number: VectorNumber) -> bool {
        number.since(self.oldest).is_some_and(|index| (index as usize) < self.ring.len())
    }

    pub(crate) fn len(&self) -> usize {
        self.ring.len()
    }

    /// When the oldest vector kept was generated.
    pub(crate) fn since(&self) -> Option<GlobalTime> {
        self.generated_at(0)
    }

    /// When the oldest vector stopped being the newest.
    pub(crate) fn oldest_until(&self) -> Option<GlobalTime> {
        self.generated_at(1)
    }

    pub(crate) fn drop_oldest(&mut self) -> Option<Vector> {
        self.oldest = self.oldest.next();
        self.times.pop_front();
        self.ring.pop_front()
    }

    pub(crate) fn clear(&mut self) {
        self.ring.clear();
        self.times.clear();
    }

    /// The pieces of the exported path that matter from `from` on.
    pub(crate) fn pieces(&self, from: GlobalTime) -> impl Iterator<Item = PieceView<'_>> {
        self.ring.range(self.index_at(from)..).map(|v| PieceView {
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

    pub(crate) fn heap_bytes(&self) -> usize {
        self.ring.capacity() * size_of::<Vector>() + self.times.capacity() * size_of::<GlobalTime>()
    }
}

/// How receivers place what they are sent: the part of a receiver's rules that the sender must know to keep its books.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placing {
    /// From which moment a vector is extrapolated.
    pub rule: ClockRule,
    /// How long everything waits before it is shown, until [`Sender::set_lag`](crate::Sender::set_lag) and
    /// [`Receiver::set_lag`](crate::Receiver::set_lag) say otherwise. At most [`Lag::LONGEST`](crate::Lag::LONGEST).
    pub lag: Duration,
    /// How far a vector is extrapolated at most.
    pub max_age: Duration,
}

impl Default for Placing {
    /// Global time, no lag, extrapolation for at most three seconds.
    fn default() -> Self {
        Self { rule: ClockRule::Global, lag: Duration::ZERO, max_age: Duration::from_secs(3) }
    }
}

/// From which moment a receiver extrapolates a vector. The experiments compare the three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ClockRule {
    /// From its generation, by the session's clock: the accuracy model (paper, section 3; thesis, chapter 2).
    #[default]
    Global,
    /// From its arrival, by the receiver's own clock: what games do today.
    Local,
    /// From its arrival less the estimated one-way delay: no synchronised clock (thesis, section 4.5.1).
    OneWay,
}

impl Placing {
    /// From which time a vector is extrapolated, in shown time.
    pub fn epoch(&self, generated: GlobalTime, arrival: GlobalTime, delay: Duration) -> GlobalTime {
        match self.rule {
            ClockRule::Global => generated,
            ClockRule::Local => arrival,
            ClockRule::OneWay => arrival - delay,
        }
    }
}
