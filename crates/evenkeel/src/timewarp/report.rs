//! What a timewarp tells: answers, events, counts.

use super::OperationError;
use crate::geometry::Vec3;
use crate::ids::{EntityId, HostId};
use crate::simulation::{Operation, Simulation, Tick};
use alloc::vec::Vec;

/// What became of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// Its tick is still to come.
    InTime,
    /// Its tick has been executed: the next [`advance`](super::Timewarp::advance) will go back to it.
    Late {
        /// How many ticks back.
        depth: i64,
    },
}

/// What an [`advance`](super::Timewarp::advance) did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Advanced {
    /// Ticks executed for the first time.
    pub stepped: i64,
    /// Ticks executed again.
    pub replayed: i64,
}

/// All that another site needs to agree: a state that is settled, and what happened since. It travels by the game's own means.
pub struct Briefing<S: Simulation> {
    /// The last settled tick.
    pub tick: Tick,
    /// The state after the operations of that tick.
    pub state: S::Snapshot,
    /// All operations known of later ticks.
    pub operations: Vec<Operation<S::Act>>,
}

/// Something a timewarp's application may want to know.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TimewarpEvent<V> {
    /// A verdict, announced at its time: its tick's and its lag.
    Decided {
        /// When it was reached.
        tick: Tick,
        /// What it is.
        verdict: V,
        /// Whether it ought to have been announced before: an operation that came late led to it.
        late: bool,
    },
    /// A verdict that was announced does not stand: a paradox is healed.
    Revoked {
        /// When it had been reached.
        tick: Tick,
        /// What it was.
        verdict: V,
    },
    /// A change of the past moved an entity. [`Soften`](super::Soften) makes a glide of it.
    Corrected {
        /// Which.
        entity: EntityId,
        /// From where it was to where it is.
        by: Vec3,
        /// How much its heading changed, in radians.
        turned: f64,
        /// How many ticks ago the past changed.
        depth: i64,
    },
    /// A change of the past brought an entity into being, or back.
    Appeared {
        /// Which.
        entity: EntityId,
        /// How many ticks ago the past changed.
        depth: i64,
    },
    /// A change of the past did away with an entity.
    Vanished {
        /// Which.
        entity: EntityId,
        /// How many ticks ago the past changed.
        depth: i64,
    },
    /// The same operations led from the same state to another one: the simulation is not deterministic.
    Diverged {
        /// At which tick.
        tick: Tick,
        /// After which operation, by issuer and sequence; none if it was the step.
        operation: Option<(HostId, u32)>,
    },
}

/// What happened so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct TimewarpStats {
    /// Operations accepted.
    pub accepted: u64,
    /// Of these, operations whose tick had been executed.
    pub late: u64,
    /// Operations refused.
    pub refused: Refused,
    /// Times the state went back for late operations.
    pub rollbacks: u64,
    /// Times the authority gave a state.
    pub overruled: u64,
    /// Ticks executed again.
    pub replayed: u64,
    /// Ticks of the deepest change of the past.
    pub deepest: i64,
    /// Verdicts announced.
    pub decided: u64,
    /// Of these, verdicts that ought to have been announced before.
    pub decided_late: u64,
    /// Verdicts announced and revoked.
    pub revoked: u64,
    /// Times the simulation was found not to be deterministic.
    pub diverged: u64,
    /// Decisions and divergences that nobody polled for in time.
    pub decisions_dropped: u64,
    /// Corrections that nobody polled for in time.
    pub corrections_dropped: u64,
}

impl TimewarpStats {
    /// Decisions that would have been others had all operations been known: verdicts revoked, and verdicts missed at their
    /// time.
    pub fn paradoxes(&self) -> u64 {
        self.revoked + self.decided_late
    }
}

/// Operations refused, by reason. See [`OperationError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
#[allow(missing_docs)] // they are the reasons' names
pub struct Refused {
    pub from_the_future: u64,
    pub before_history: u64,
    pub overruled: u64,
    pub duplicate: u64,
    pub conflict: u64,
    pub not_permitted: u64,
    pub too_many: u64,
}

impl Refused {
    /// All of them together.
    pub fn total(&self) -> u64 {
        let late = self.before_history + self.overruled;
        self.from_the_future + late + self.duplicate + self.conflict + self.not_permitted + self.too_many
    }

    pub(super) fn count(&mut self, error: &OperationError) {
        *match error {
            OperationError::FromTheFuture { .. } => &mut self.from_the_future,
            OperationError::BeforeHistory { .. } => &mut self.before_history,
            OperationError::Overruled { .. } => &mut self.overruled,
            OperationError::Duplicate => &mut self.duplicate,
            OperationError::Conflict => &mut self.conflict,
            OperationError::NotPermitted => &mut self.not_permitted,
            OperationError::TooManyOperations { .. } | OperationError::TooManyIssuers { .. } => &mut self.too_many,
        } += 1;
    }
}
