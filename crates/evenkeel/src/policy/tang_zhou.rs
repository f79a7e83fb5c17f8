//! `tang-zhou`: the schedule with the least time-space inconsistency.

use super::best_first::{Priority, Update};
use alloc::string::String;

/// Tang and Zhou's schedule ("Update Scheduling for Improving Consistency in Distributed Virtual Environments", IEEE TPDS 21(6), 2010).
/// [`BestFirst`](super::BestFirst) makes a policy of it.
///
/// Their objective is time-space inconsistency: the integral of the spatial difference between an entity and its replica over the time for
/// which it lasts; our export error, summed over receivers. Under a limit on updates per second for all replicas together they derive
/// optimal schedules, and from those algorithms that integrate spatial and temporal factors, take network delays into account and run on
/// top of dead reckoning. That much is in their abstract; the rest is our reconstruction, because we had no access to their formulas.
///
/// Let a difference grow at the rate g between two updates T apart. Its mean is g T / 2; minimised over all replicas
/// with the sum of 1/T given, g T² is the same for all: T goes with 1/sqrt(g). An update falls due at a difference
/// of d = g T, so d T = g T² is the same for all at that moment. Hence the rule: at each opportunity update the replica with the largest
/// **spatial difference times time since its last update**, which needs no estimate of g. (For differences that grow like a power of
/// time the same product comes out; it is twice the inconsistency that is removed per interval if growth is linear.)
///
/// An update changes what is shown only after the network's delay, and the replica goes on extrapolating until then. So the difference
/// taken is the one at the time of arrival: between the newest motion and the one that was last sent, both extrapolated
/// until then. The delay itself adds a constant to the mean that no schedule can change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TangZhou;

impl Priority for TangZhou {
    const SHARED: bool = true;

    fn name(&self) -> String {
        "tang-zhou".into()
    }

    fn of(&self, update: &Update<'_>) -> f64 {
        update.importance() * update.distance(update.arrival()) * update.age()
    }
}
