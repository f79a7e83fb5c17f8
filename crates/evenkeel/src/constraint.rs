//! The world's say in extrapolation: walls and ground.

use crate::ids::EntityId;
use crate::motion::State;

/// Keeps extrapolated entities where the world lets them be.
///
/// Extrapolation knows nothing of walls. A constraint corrects each extrapolated state before it is shown, at the receiver,
/// and before it is compared with the real state, at the sender: give both the same one. It must be a pure function of its
/// arguments. The ledger's books are kept on the unconstrained paths.
///
/// ```
/// use evenkeel::{Constraint, EntityId, State};
///
/// /// Nothing sinks below the ground.
/// struct Ground;
///
/// impl Constraint for Ground {
///     fn id(&self) -> u64 {
///         0x6772_6F75_6E64 // "ground"
///     }
///
///     fn constrain(&self, _entity: EntityId, state: &mut State) {
///         if state.position.z < 0.0 {
///             state.position.z = 0.0;
///             state.velocity.z = 0.0;
///         }
///     }
/// }
/// ```
pub trait Constraint: Send + Sync {
    /// Names it, with its settings: two constraints that ever answer differently must have different ids, none of them 0. Both
    /// ends compare theirs when they meet.
    fn id(&self) -> u64;

    /// Corrects an extrapolated state.
    fn constrain(&self, entity: EntityId, state: &mut State);
}

/// The id of a constraint, or 0 for none.
pub(crate) fn constraint_id(constraint: Option<&dyn Constraint>) -> u64 {
    constraint.map_or(0, Constraint::id)
}
