//! Policies: who is told about a new DR vector, and when.
//!
//! At every trigger the [`Sender`](crate::Sender) asks its policy once, over the whole [`Ledger`]: for every receiver the
//! answer is now, at a later time, or not at all. A policy sees only what a real sender can know: its own vectors, when it
//! sent them, what receipts said, and its estimate of each delay.
//!
//! Three things are not the policy's to refuse: the first vector of an entity's life, the current vectors for a receiver
//! that joins, and those of an entity that comes into a receiver's scope. Nor do they count against its budget, unless it is in bytes:
//! then they are paid for afterwards, up to the budget of a second.
//!
//! | policy | rule |
//! |---|---|
//! | [`Base`], [`EveryKth`] | every vector, or every k-th, to everybody |
//! | [`SchedulePaper`], [`Schedule`] | vectors are held back until everybody is as badly off as the worst |
//! | [`Lottery`] | receivers are drawn, with the odds of what they deserve |
//! | [`Credits`] | receivers take turns, the more often the more they deserve |
//! | [`Tolerant`] | everybody gets every vector, but fewer become due |
//! | [`BestFirst`] | updates are ranked and the best are sent: [`Accumulator`] as in game engines, [`TangZhou`] |
//! | [`Even`] | whoever gains most by a vector, weighted by what it has suffered: our own |
//!
//! What receivers deserve is a matter of [`Weights`]; how much there is to hand out, of a [`Budget`]. [`by_name`] makes any of
//! them. Where the papers leave room or contradict themselves, each policy says how it reads them.

mod accumulator;
mod base;
mod best_first;
mod budget;
mod charges;
mod credits;
mod even;
mod lottery;
mod pots;
mod purse;
mod registry;
mod schedule;
mod schedule_paper;
mod table;
mod tang_zhou;
mod tolerance;
mod weights;

pub use accumulator::Accumulator;
pub use base::{Base, EveryKth};
pub use best_first::{BestFirst, Priority, Update};
pub use budget::{Budget, BudgetError, Spent};
pub use credits::Credits;
pub use even::Even;
pub use lottery::Lottery;
pub use registry::{NAMES, UnknownPolicy, by_name};
pub use schedule::{Schedule, StillHeld};
pub use schedule_paper::SchedulePaper;
pub use tang_zhou::TangZhou;
pub use tolerance::Tolerant;
pub use weights::{Instantaneous, LastSent, Past, Readings, Scales, Scope, Share, Weights, frequencies};

use crate::ids::VectorNumber;
use crate::ledger::{EntityIndex, FairnessCost, Ledger, ReceiverIndex};
use crate::motion::Motion;
use crate::time::GlobalTime;
use crate::trigger::Cause;
use alloc::string::String;

/// A new DR vector, about which a [`Policy`] decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// The entity, as an index into the ledger.
    pub entity: EntityIndex,
    /// The vector's number; [`Ledger::vector`] has its motion.
    pub vector: VectorNumber,
    /// Why it became due.
    pub cause: Cause,
    /// When it was generated.
    pub at: GlobalTime,
}

/// What to do with a vector for one receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Decision {
    /// Send it in the next datagram.
    Now,
    /// Hold it until then. If a newer vector becomes due before, [`Policy::overtaken`] decides.
    At(GlobalTime),
    /// Do not send it.
    #[default]
    Not,
}

/// What becomes of a held vector when the next one is generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Overtaken {
    /// It is dropped (paper, section 4; thesis, algorithm 1).
    #[default]
    Drop,
    /// It is sent at once, before the new one is decided (thesis, algorithm 2).
    Send,
}

/// What became known about one vector at one receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settled {
    /// The entity.
    pub entity: EntityIndex,
    /// The receiver.
    pub receiver: ReceiverIndex,
    /// The vector's number.
    pub vector: VectorNumber,
    /// When it was sent.
    pub sent: GlobalTime,
    /// When it arrived, as booked; `None` if it counts as lost.
    pub arrival: Option<GlobalTime>,
    /// Whether it arrived after it had counted as lost.
    pub late: bool,
}

/// Decides what each receiver is told. See the [module](self) for the rules, and [`Base`] for the shortest example.
///
/// ```
/// use evenkeel::ledger::{Ledger, ReceiverIndex};
/// use evenkeel::policy::{Decision, Policy, Trigger};
///
/// /// Every vector to whoever has suffered most so far, and to nobody else.
/// struct WorstFirst;
///
/// impl Policy for WorstFirst {
///     fn name(&self) -> String {
///         "worst-first".into()
///     }
///
///     fn decide(&mut self, ledger: &Ledger, trigger: &Trigger, decisions: &mut [Decision]) {
///         let suffered = |&r: &ReceiverIndex| ledger.pair(trigger.entity, r).accumulated(trigger.at).total();
///         let worst = ledger.receivers().max_by(|a, b| suffered(a).total_cmp(&suffered(b)));
///         if let Some(worst) = worst {
///             decisions[worst.0] = Decision::Now;
///         }
///     }
/// }
/// ```
pub trait Policy: Send {
    /// The name that tables show.
    fn name(&self) -> String;

    /// Answers for every receiver. `decisions` has one entry per receiver in the order of [`Ledger::receivers`], each
    /// [`Decision::Not`] to begin with; entries of receivers for which the entity is out of scope are ignored.
    fn decide(&mut self, ledger: &Ledger, trigger: &Trigger, decisions: &mut [Decision]);

    /// What becomes of held vectors at the next trigger.
    fn overtaken(&self) -> Overtaken {
        Overtaken::Drop
    }

    /// Whether [`decide`](Self::decide) reads accumulated errors. If not, the books are brought up to date only when
    /// somebody asks.
    fn reads_error(&self) -> bool {
        true
    }

    /// By how much to stretch every trigger's thresholds for distance and angle.
    fn tolerance(&self) -> f64 {
        1.0
    }

    /// By how much to stretch every trigger's time threshold. It is never stretched beyond the age up to which receivers
    /// extrapolate.
    fn patience(&self) -> f64 {
        1.0
    }

    /// Whether the policy thins vectors by stretching thresholds. A server that passes on the vectors of others cannot do that.
    fn stretches_thresholds(&self) -> bool {
        false
    }

    /// Whether somebody is to be told about an entity although nothing is due: it is `observed` to move like this now. The sender
    /// asks whenever the game tells where something is and no trigger fires. If so, a vector is made of what was observed, and
    /// [`decide`](Self::decide) says who gets it. Without this a policy can only repeat the last vector that was due, whose velocity
    /// is as old as that.
    fn wants(&mut self, _ledger: &Ledger, _entity: EntityIndex, _observed: &Motion, _now: GlobalTime) -> bool {
        false
    }

    /// Whether to call [`base_trigger`](Self::base_trigger). The sender then follows, for every entity, a second exported path
    /// at thresholds that are not stretched: one comparison more per observation, and one motion of memory.
    fn wants_base_triggers(&self) -> bool {
        false
    }

    /// Hears of a trigger that the base case would have had, whether or not there was one at the stretched thresholds.
    fn base_trigger(&mut self, _ledger: &Ledger, _entity: EntityIndex, _cause: Cause, _at: GlobalTime) {}

    /// Whether the policy sees to it itself that a receiver gets another vector in place of one that was lost. If not, the
    /// sender sends the newest again, at nobody's expense: whoever withholds receipts gets more than the others.
    fn makes_up_for_losses(&self) -> bool {
        false
    }

    /// When to call [`wake`](Self::wake), for policies that act between triggers.
    fn next_wake(&self) -> Option<GlobalTime> {
        None
    }

    /// Acts between triggers: `send` puts an entity's newest vector in the next datagram to a receiver.
    fn wake(&mut self, _ledger: &Ledger, _now: GlobalTime, _send: &mut dyn FnMut(EntityIndex, ReceiverIndex)) {}

    /// Returns what fairness has cost of late, as the policy estimates it; `None` if it does not say.
    fn cost_of_fairness(&self, _ledger: &Ledger, _now: GlobalTime) -> Option<FairnessCost> {
        None
    }

    /// Whether to call [`settled`](Self::settled). If not, receipts cost the policy nothing.
    fn wants_settled(&self) -> bool {
        false
    }

    /// Hears what became known about a vector, if the policy [wants](Self::wants_settled) to.
    fn settled(&mut self, _ledger: &Ledger, _settled: &Settled) {}

    /// Forgets a receiver that left. The one with the highest index takes over its index.
    fn receiver_left(&mut self, _receiver: ReceiverIndex) {}

    /// Forgets an entity that was removed. A later entity may get its index.
    fn entity_left(&mut self, _entity: EntityIndex) {}
}
