//! Whether a simulation is deterministic: runs it plainly, again, and with a rollback at every tick, and compares everything.

use super::operations::Operations;
use super::trail::{Mark, Trail, apply_all, retrace};
use crate::ids::HostId;
use crate::simulation::{Operation, Simulation, Tick};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt;
use core::ops::RangeInclusive;

/// Where a simulation is not deterministic, and how that showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diverged {
    /// The tick of the first difference.
    pub tick: Tick,
    /// The operation of the first difference, by issuer and sequence; none if it was the step to the tick.
    pub operation: Option<(HostId, u32)>,
    /// How it showed.
    pub how: Divergence,
}

/// How it showed that a simulation is not deterministic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Divergence {
    /// A second simulation did not do the same.
    SecondRun,
    /// The state that was restored has another digest than the one that was saved: the tick was not undone, be it the step or
    /// one of the operations.
    Restored,
    /// From a state that was restored with the right digest, things went another way.
    Replayed,
}

impl fmt::Display for Diverged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.operation {
            Some((issuer, sequence)) => write!(f, "{}, operation {sequence} of {issuer}: ", self.tick)?,
            None if self.how == Divergence::Restored => write!(f, "{}, step or operations: ", self.tick)?,
            None => write!(f, "{}, the step: ", self.tick)?,
        }
        match self.how {
            Divergence::SecondRun => {
                write!(f, "a second run differs; look for clocks, random numbers, global state and hash maps")
            }
            Divergence::Restored => {
                write!(f, "the restored state has another digest; save and restore leave out something digested")
            }
            Divergence::Replayed => {
                write!(f, "a replay differs; something that matters is in neither snapshot nor digest")
            }
        }
    }
}

impl core::error::Error for Diverged {}

/// Runs a simulation from tick to tick: plainly, once more, and going back `depth` ticks after every tick. Compares the
/// digests after every single step and operation, and reports the first that differs; otherwise answers the last digest.
///
/// `fresh` makes the state at the first tick, before the tick's operations. Operations of other ticks are left out. It sees only
/// what the operations reach: let them do everything that players can do.
///
/// ```
/// # use evenkeel::{Duration, HostId};
/// use evenkeel::simulation::{Operation, Simulation, Tick};
/// use evenkeel::timewarp::{Divergence, check};
///
/// #[derive(Clone, Default)]
/// struct Dice {
///     sum: u64,
///     rolls: u64, // decides what the next roll is
/// }
///
/// impl Simulation for Dice {
///     type Act = ();
///     type Snapshot = u64;
///     type Verdict = ();
///     fn save(&self, into: &mut u64) {
///         *into = self.sum; // and the rolls?
///     }
///     fn restore(&mut self, from: &u64) {
///         self.sum = *from;
///     }
///     fn apply(&mut self, _: HostId, _: &(), _: &mut Vec<()>) {
///         self.rolls += 1;
///         self.sum += self.rolls * 2_654_435_761 % 6;
///     }
///     fn digest(&self) -> u64 {
///         self.sum
///     }
///     // ...
/// #   fn step_length(&self) -> Duration {
/// #       Duration::from_millis(50)
/// #   }
/// #   fn step(&mut self, _: &mut Vec<()>) {}
/// }
///
/// let roll = Operation { at: Tick(3).time(Duration::from_millis(50)), issuer: HostId(1), sequence: 0, act: () };
/// let diverged = check(Dice::default, &[roll], Tick(0)..=Tick(9), 4).unwrap_err();
/// assert_eq!((diverged.tick, diverged.operation), (Tick(3), Some((HostId(1), 0))));
/// assert_eq!(diverged.how, Divergence::Replayed);
/// ```
pub fn check<S: Simulation>(
    mut fresh: impl FnMut() -> S,
    operations: &[Operation<S::Act>],
    ticks: RangeInclusive<Tick>,
    depth: u32,
) -> Result<u64, Diverged> {
    let (first, last) = ticks.into_inner();
    let mut simulation = fresh();
    let step = simulation.step_length();
    let mut known = Operations::new();
    for operation in operations {
        let tick = Tick::at_or_after(operation.at, step);
        if (first..=last).contains(&tick) && known.find(operation.issuer, operation.sequence).is_none() {
            known.insert(tick, operation.clone());
        }
    }
    let trail = plainly(&mut simulation, &known, first, last);
    if let Some(mark) = trail.parts_from(&plainly(&mut fresh(), &known, first, last)) {
        return Err(Diverged { tick: mark.tick, operation: mark.operation, how: Divergence::SecondRun });
    }
    going_back(&mut fresh(), &known, (first, last), &trail, i64::from(depth))?;
    Ok(simulation.digest())
}

/// One run, every step and operation marked.
fn plainly<S: Simulation>(simulation: &mut S, operations: &Operations<S::Act>, first: Tick, last: Tick) -> Trail {
    let (mut trail, mut verdicts) = (Trail::default(), Vec::new());
    let mut tick = first;
    while tick <= last {
        if tick > first {
            simulation.step(&mut verdicts);
        }
        trail.push(Mark { tick, operation: None, digest: simulation.digest() });
        apply_all(simulation, operations, tick, &mut verdicts, |simulation, name| {
            trail.push(Mark { tick, operation: Some(name), digest: simulation.digest() });
        });
        verdicts.clear();
        tick = tick.next();
    }
    trail
}

/// A run that goes back after every tick.
fn going_back<S: Simulation>(
    simulation: &mut S,
    operations: &Operations<S::Act>,
    (first, last): (Tick, Tick),
    trail: &Trail,
    depth: i64,
) -> Result<(), Diverged> {
    let mut saved: VecDeque<(Tick, S::Snapshot)> = VecDeque::new();
    let mut verdicts = Vec::new();
    let mut tick = first;
    while tick <= last {
        if tick > first {
            simulation.step(&mut verdicts);
            verdicts.clear();
        }
        // The oldest slot is used again, as a timewarp would.
        let mut slot = match saved.front() {
            Some((oldest, _)) if oldest.0 < tick.0 - depth => saved.pop_front().map(|(_, slot)| slot),
            _ => None,
        }
        .unwrap_or_default();
        simulation.save(&mut slot);
        saved.push_back((tick, slot));
        if let Some(mark) = retrace(simulation, operations, (tick, tick), trail.from(tick)) {
            return Err(Diverged { tick, operation: mark.operation, how: Divergence::Replayed });
        }
        if let Some((from, state)) = saved.front() {
            simulation.restore(state);
            if let Some(mark) = retrace(simulation, operations, (*from, tick), trail.from(*from)) {
                // Going back was all right a tick ago, so that it is this tick which cannot be undone.
                let restored = mark.tick == *from && mark.operation.is_none();
                let (tick, how) =
                    if restored { (tick, Divergence::Restored) } else { (mark.tick, Divergence::Replayed) };
                return Err(Diverged { tick, operation: mark.operation, how });
            }
        }
        tick = tick.next();
    }
    Ok(())
}
