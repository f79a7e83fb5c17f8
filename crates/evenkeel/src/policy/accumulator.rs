//! `accumulator` and `accumulator-distance`: what game engines do.

use super::best_first::{Priority, Update};
use alloc::string::String;

/// The priority accumulator of game engines. Not in the papers; [`BestFirst`](super::BestFirst) makes a policy of it.
///
/// Every pair of entity and receiver has a priority that accumulates from tick to tick until the entity is sent to that receiver, and
/// then starts again from zero. Every tick, each receiver's packet takes the entities with the highest priorities first, as many as fit.
/// So do Unreal's Iris ("replication priority accumulates across network ticks until an object is replicated and its priority is
/// reset"), Unity's Netcode for Entities (importance times ticks since last sent, one packet per tick and connection), naia, Fiedler's
/// *State Synchronization* and Halo: Reach (Aldridge 2011). Their packets are limited in bytes and ours in vectors, which are all about
/// equally long.
///
/// [`by_time`](Self::by_time) accumulates the importance, [`by_distance`](Self::by_distance) ranks by the importance times how far off
/// the receiver shows the entity. Importance is what the game says ([`Relevance::Weight`](crate::Relevance)): engines derive
/// it from distance to the player, from what is in view and from the kind of object, and so may a game here. Like engines, neither reads
/// receipts but for losses, nor delays, nor what a receiver has suffered. Unlike most, receivers extrapolate what they are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accumulator {
    by_distance: bool,
}

impl Accumulator {
    /// Importance times the time since the entity was last sent to the receiver.
    pub fn by_time() -> Self {
        Self { by_distance: false }
    }

    /// Importance times the distance between where the receiver is believed to show the entity and where it was last observed.
    pub fn by_distance() -> Self {
        Self { by_distance: true }
    }
}

impl Priority for Accumulator {
    const SHARED: bool = false;

    fn name(&self) -> String {
        if self.by_distance { "accumulator-distance" } else { "accumulator" }.into()
    }

    fn of(&self, update: &Update<'_>) -> f64 {
        update.importance() * if self.by_distance { update.distance(update.now) } else { update.since_sent() }
    }
}
