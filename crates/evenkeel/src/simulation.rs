//! A game's state as local lag, timewarp, prediction and decision points drive it: saved, restored, acted upon, stepped.
//!
//! The other half of the heart transmits *states*: vectors, filtered by thresholds, each good on its own. This half transmits
//! *operations*: what players do. Everybody who applies the same operations at the same ticks to the same state gets the
//! same state, so that nothing is ever off, at the price that every operation must reach everybody. A [`Simulation`] is all
//! it needs to know of a game.

use crate::ids::{EntityId, HostId};
use crate::motion::State;
use crate::time::{Duration, GlobalTime};
use alloc::vec::Vec;
use core::fmt;

/// A moment of a simulation: so many of its steps after the origin of the session's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Tick(pub i64);

impl Tick {
    /// The last tick that is not after a time, in steps of this length.
    pub fn at_or_before(time: GlobalTime, step: Duration) -> Self {
        Self(time.as_nanos().div_euclid(step.as_nanos().max(1)))
    }

    /// The first tick that is not before a time, in steps of this length.
    ///
    /// ```
    /// use evenkeel::{Duration, GlobalTime, simulation::Tick};
    /// let step = Duration::from_millis(50);
    /// assert_eq!(Tick::at_or_after(GlobalTime::from_millis(101), step), Tick(3));
    /// assert_eq!(Tick::at_or_before(GlobalTime::from_millis(101), step), Tick(2));
    /// assert_eq!(Tick(3).time(step), GlobalTime::from_millis(150));
    /// ```
    pub fn at_or_after(time: GlobalTime, step: Duration) -> Self {
        let before = Self::at_or_before(time, step);
        if before.time(step) == time { before } else { before.next() }
    }

    /// When it is, in steps of this length.
    pub fn time(self, step: Duration) -> GlobalTime {
        GlobalTime::ZERO + step * self.0
    }

    /// The tick after it.
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tick {}", self.0)
    }
}

/// An operation as it travels: who did what, and when it takes effect.
///
/// All sites execute the operations of a tick in the same order, by issuer and then by sequence, whatever order they came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Operation<O> {
    /// When it takes effect: when it was issued, and the lag of its kind. It is executed at the first tick not before.
    pub at: GlobalTime,
    /// Whose operation it is.
    pub issuer: HostId,
    /// Its number among the issuer's operations: no two have the same.
    pub sequence: u32,
    /// What is done.
    pub act: O,
}

/// A game's state, advanced in steps of equal length by operations and the passing of time.
///
/// It must be deterministic: from equal states, equal operations lead to equal states. That rules out clocks, random numbers
/// that are not part of the state, iteration over hash maps with random seeds, and transcendental functions that differ
/// between machines (use `libm`). [`timewarp::check`](crate::timewarp::check) finds out.
///
/// At each tick the state first steps to it, and then the operations of the tick are applied. Both may come to verdicts: a
/// hit, a kill, a goal, anything that must not be decided one way here and another way there.
pub trait Simulation {
    /// What a player can do.
    type Act: Clone + PartialEq;
    /// A saved state. Often the simulation itself, if it can be cloned.
    type Snapshot: Default;
    /// Something that was decided.
    type Verdict: Clone + PartialEq;

    /// How long a step is. Always the same.
    fn step_length(&self) -> Duration;

    /// Saves everything that [`restore`](Self::restore) needs, into a place that may have been used before.
    fn save(&self, into: &mut Self::Snapshot);

    /// Goes back to a saved state.
    fn restore(&mut self, from: &Self::Snapshot);

    /// Lets one step of time pass.
    fn step(&mut self, verdicts: &mut Vec<Self::Verdict>);

    /// Applies an operation.
    fn apply(&mut self, issuer: HostId, act: &Self::Act, verdicts: &mut Vec<Self::Verdict>);

    /// A number for the whole state: equal for equal states, different for different ones. Everything that matters later must
    /// go into it, down to the last bit; [`determinism::digest`](crate::determinism::digest) helps.
    fn digest(&self) -> u64;

    /// Whether this host may do that at all: whether it owns what it acts upon. Must not depend on anything that operations
    /// change, since all sites must agree. Default: yes.
    fn permits(&self, _issuer: HostId, _act: &Self::Act) -> bool {
        true
    }

    /// How long after its tick a verdict of this kind is announced: the longer, the fewer have to be revoked. `usual` is what
    /// the configuration says. Must not depend on anything that operations change. Default: as usual.
    fn verdict_lag(&self, _verdict: &Self::Verdict, usual: Duration) -> Duration {
        usual
    }

    /// Where things are, for corrections to be shown softly: each entity once, in the same order every time. Default: nowhere.
    fn places(&self, _out: &mut Vec<(EntityId, State)>) {}

    /// Roughly how many bytes a saved state takes, allocations included. Default: the size of its type.
    fn snapshot_bytes(_snapshot: &Self::Snapshot) -> usize {
        size_of::<Self::Snapshot>()
    }
}
