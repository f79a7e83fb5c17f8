//! Timewarp: an operation that comes late takes effect when it should have.
//!
//! A [`Timewarp`] runs a [`Simulation`] and keeps its recent past: states and operations. When an operation arrives whose tick
//! has been executed already, the state goes back to that tick and everything since is executed again, with the late
//! operation in its place. In the end everybody has executed the same operations at the same ticks, whatever order they came
//! in, and everybody has the same state.
//!
//! What was shown in between may have been wrong. A verdict that was announced and does not stand is a *paradox*: it is
//! revoked, and counted. Waiting a little before announcing ([`TimewarpConfig::verdict_lag`]) costs little, because nobody
//! steers by verdicts, and avoids most of them.
//!
//! The methods fall in four kinds: getters; commands ([`advance`](Timewarp::advance), [`overrule`](Timewarp::overrule));
//! [`handle_operation`](Timewarp::handle_operation); and [`poll_event`](Timewarp::poll_event).
//!
//! *The state at a tick* is always the one after the tick's operations.

mod check;
mod config;
mod error;
mod history;
mod operations;
mod replay;
mod report;
mod soften;
mod trail;
mod verdicts;

pub use check::{Diverged, Divergence, check};
pub use config::{TimewarpConfig, TimewarpConfigError};
pub use error::{AdvanceError, OperationError, OverruleError};
pub use report::{Accepted, Advanced, Briefing, Refused, TimewarpEvent, TimewarpStats};
pub use soften::Soften;

use crate::events::Events;
use crate::ids::{EntityId, HostId};
use crate::motion::State;
use crate::simulation::{Operation, Simulation, Tick};
use crate::time::{Duration, GlobalTime};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use config::ticks_in;
use history::History;
use operations::Operations;
use trail::{Mark, Trail};
use verdicts::Verdicts;

type Places = Vec<(EntityId, State)>;

/// How many digests of settled ticks are kept.
const DIGESTS: usize = 256;

/// Runs a simulation, and goes back in time for operations that come late. See the [module](self).
///
/// ```
/// use evenkeel::simulation::{Operation, Simulation, Tick};
/// use evenkeel::timewarp::{Accepted, Timewarp, TimewarpConfig, TimewarpEvent};
/// use evenkeel::{Duration, GlobalTime, HostId};
///
/// /// Whoever grabs first, has it.
/// #[derive(Clone, Default)]
/// struct Prize(Option<HostId>);
///
/// impl Simulation for Prize {
///     type Act = ();
///     type Snapshot = Self;
///     type Verdict = HostId;
///     fn step_length(&self) -> Duration {
///         Duration::from_millis(50)
///     }
///     fn save(&self, into: &mut Self) {
///         into.clone_from(self);
///     }
///     fn restore(&mut self, from: &Self) {
///         self.clone_from(from);
///     }
///     fn step(&mut self, _: &mut Vec<HostId>) {}
///     fn apply(&mut self, issuer: HostId, _: &(), verdicts: &mut Vec<HostId>) {
///         if self.0.is_none() {
///             self.0 = Some(issuer);
///             verdicts.push(issuer);
///         }
///     }
///     fn digest(&self) -> u64 {
///         self.0.map_or(0, |host| u64::from(host.0) + 1)
///     }
/// }
///
/// let at = GlobalTime::from_millis;
/// let config = TimewarpConfig { verdict_lag: Duration::from_millis(150), ..TimewarpConfig::default() };
/// let mut warp = Timewarp::new(Prize::default(), config, at(0))?;
/// let grab = |issuer, millis| Operation { at: at(millis), issuer: HostId(issuer), sequence: 0, act: () };
///
/// assert_eq!(warp.handle_operation(grab(1, 50), at(10))?, Accepted::InTime);
/// warp.advance(at(100))?;
/// assert_eq!(warp.simulation().0, Some(HostId(1)));
///
/// // Host 2 was faster, but its operation took longer to get here.
/// assert_eq!(warp.handle_operation(grab(2, 0), at(120))?, Accepted::Late { depth: 2 });
/// warp.advance(at(150))?;
/// assert_eq!(warp.simulation().0, Some(HostId(2)));
///
/// // Nobody had been told otherwise.
/// let decided = TimewarpEvent::Decided { tick: Tick(0), verdict: HostId(2), late: false };
/// assert_eq!(warp.poll_event(), Some(decided));
/// assert_eq!((warp.poll_event(), warp.stats().paradoxes()), (None, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Timewarp<S: Simulation> {
    simulation: S,
    step: Duration,
    config: TimewarpConfig,
    history_ticks: i64,
    /// The last tick that was executed.
    tick: Tick,
    now: GlobalTime,
    /// Operations are taken for this tick and later ones.
    floor: Tick,
    /// Operations and verdicts are remembered for longer, from this tick on.
    remembered: Tick,
    /// Verdicts of earlier ticks have long been announced, and are not again.
    announced_before: Tick,
    /// The last tick whose state was given by the authority.
    overruled: Option<Tick>,
    /// The earliest tick with an operation that came after the tick was executed.
    dirty: Option<Tick>,
    history: History<S::Snapshot>,
    operations: Operations<S::Act>,
    /// Of the next operation issued here.
    sequence: u32,
    verdicts: Verdicts<S::Verdict>,
    /// Kept if the execution is verified.
    trail: Trail,
    verified: Tick,
    /// Digests of settled ticks, oldest first.
    digests: VecDeque<(Tick, u64)>,
    decisions: Events<TimewarpEvent<S::Verdict>>,
    /// Corrections wait apart from decisions, so that a rollback that moves everything costs no verdict.
    corrections: Events<TimewarpEvent<S::Verdict>>,
    stats: TimewarpStats,
    /// The present, while the past is looked at.
    present: S::Snapshot,
    reached: Vec<S::Verdict>,
    /// Where things were before a change of the past, and where they are after it.
    places: (Places, Places),
}

impl<S: Simulation> Timewarp<S> {
    /// Starts with the state at the last tick that is not after now; operations of that tick are still taken.
    pub fn new(simulation: S, config: TimewarpConfig, now: GlobalTime) -> Result<Self, TimewarpConfigError> {
        let step = simulation.step_length();
        config.validate(step)?;
        let tick = Tick::at_or_before(now, step);
        let history_ticks = ticks_in(config.history, step).max(1);
        let mut warp = Self {
            history: History::new(history_ticks, i64::from(config.snapshot_every), tick),
            simulation,
            step,
            history_ticks,
            tick,
            now,
            floor: tick,
            remembered: tick,
            announced_before: tick,
            overruled: None,
            dirty: None,
            operations: Operations::new(),
            sequence: 0,
            verdicts: Verdicts::new(),
            trail: Trail::default(),
            verified: tick,
            digests: VecDeque::new(),
            decisions: Events::with_capacity(config.max_events),
            corrections: Events::with_capacity(config.max_events),
            stats: TimewarpStats::default(),
            present: S::Snapshot::default(),
            reached: Vec::new(),
            places: (Vec::new(), Vec::new()),
            config,
        };
        warp.arrive(tick);
        Ok(warp)
    }

    /// The game, at [`tick`](Self::tick). Late operations take effect at the next [`advance`](Self::advance).
    pub fn simulation(&self) -> &S {
        &self.simulation
    }

    /// The last tick that was executed.
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// The length of a tick.
    pub fn step_length(&self) -> Duration {
        self.step
    }

    /// The last tick that no operation can change any more.
    pub fn settled_until(&self) -> Tick {
        Tick(self.floor.0 - 1)
    }

    /// What happened so far.
    pub fn stats(&self) -> TimewarpStats {
        TimewarpStats {
            decisions_dropped: self.decisions.dropped(),
            corrections_dropped: self.corrections.dropped(),
            ..self.stats
        }
    }

    /// Roughly the memory that the past takes, in bytes.
    pub fn memory_bytes(&self) -> usize {
        let states: usize = self.history.slots().iter().chain([&self.present]).map(S::snapshot_bytes).sum();
        let places = (self.places.0.capacity() + self.places.1.capacity()) * size_of::<(EntityId, State)>();
        states + self.operations.bytes() + self.verdicts.bytes() + self.trail.bytes() + places
    }

    /// The digest of the state at [`tick`](Self::tick).
    pub fn digest(&self) -> u64 {
        self.simulation.digest()
    }

    /// The digest of the state at a tick, if it is in the history or among the settled ticks whose digests are kept
    /// ([`TimewarpConfig::digest_every`]). It is final, and must be the same everywhere, if the tick is
    /// [settled](Self::settled_until). Late operations take effect first.
    pub fn digest_at(&mut self, tick: Tick) -> Option<u64> {
        match self.digests.binary_search_by_key(&tick, |kept| kept.0) {
            Ok(index) => self.digests.get(index).map(|kept| kept.1),
            Err(_) => self.look_back(tick, S::digest),
        }
    }

    /// Shows the game as it was at a tick, if that is in the history. Late operations take effect first.
    pub fn look_back<R>(&mut self, tick: Tick, look: impl FnOnce(&S) -> R) -> Option<R> {
        self.heal();
        self.visit(tick, look)
    }

    /// Announces verdicts later, or sooner, from now on. Those reached already keep their time.
    pub fn set_verdict_lag(&mut self, lag: Duration) -> Result<(), TimewarpConfigError> {
        let config = TimewarpConfig { verdict_lag: lag, ..self.config.clone() };
        config.validate(self.step)?;
        self.config = config;
        Ok(())
    }

    /// A player of this site does something, to take effect after a lag. Answers the operation to be sent to others: its number is
    /// its own if all of the issuer's operations come from here. Never late here: what comes at a tick that was executed counts
    /// for the next.
    ///
    /// Operations of other sites go to [`handle_operation`](Self::handle_operation).
    pub fn issue(
        &mut self,
        issuer: HostId,
        act: S::Act,
        lag: Duration,
        now: GlobalTime,
    ) -> Result<Operation<S::Act>, OperationError> {
        let soonest = self.tick.time(self.step) + Duration::from_nanos(1);
        let at = (now + lag.max(Duration::ZERO)).max(soonest);
        let operation = Operation { at, issuer, sequence: self.sequence, act };
        self.handle_operation(operation.clone(), now)?;
        self.sequence = self.sequence.wrapping_add(1);
        Ok(operation)
    }

    /// Takes an operation of this site or another.
    ///
    /// Operations that arrive when their tick is due belong before [`advance`](Self::advance), not after.
    pub fn handle_operation(
        &mut self,
        operation: Operation<S::Act>,
        now: GlobalTime,
    ) -> Result<Accepted, OperationError> {
        let tick = Tick::at_or_after(operation.at, self.step);
        if let Err(error) = self.judge(&operation, tick, now.max(self.now)) {
            self.stats.refused.count(&error);
            return Err(error);
        }
        self.operations.insert(tick, operation);
        self.stats.accepted += 1;
        if tick > self.tick {
            return Ok(Accepted::InTime);
        }
        self.stats.late += 1;
        self.dirty = Some(self.dirty.map_or(tick, |dirty| dirty.min(tick)));
        Ok(Accepted::Late { depth: self.tick.0 - tick.0 })
    }

    fn judge(&self, operation: &Operation<S::Act>, tick: Tick, now: GlobalTime) -> Result<(), OperationError> {
        if let Some(known) = self.operations.find(operation.issuer, operation.sequence) {
            return Err(if known == operation { OperationError::Duplicate } else { OperationError::Conflict });
        }
        let early = operation.at.since(now) - self.config.ahead;
        if early > Duration::ZERO {
            return Err(OperationError::FromTheFuture { by: early });
        }
        if tick < self.floor {
            let by = self.floor.time(self.step).since(operation.at);
            return Err(match self.overruled {
                Some(given) if tick <= given => OperationError::Overruled { by },
                _ => OperationError::BeforeHistory { by },
            });
        }
        if !self.simulation.permits(operation.issuer, &operation.act) {
            return Err(OperationError::NotPermitted);
        }
        let (known, limit) = (self.operations.of(operation.issuer), self.config.max_operations_per_issuer);
        if known >= limit {
            return Err(OperationError::TooManyOperations { limit });
        }
        let limit = self.config.max_issuers;
        if known == 0 && self.operations.issuers() >= limit {
            return Err(OperationError::TooManyIssuers { limit });
        }
        Ok(())
    }

    /// Lets time pass: goes back for all late operations at once, steps to the last tick that is not after now, announces what
    /// is due.
    pub fn advance(&mut self, now: GlobalTime) -> Result<Advanced, AdvanceError> {
        if now < self.now {
            return Err(AdvanceError::TimeWentBackwards { by: self.now.since(now) });
        }
        let target = Tick::at_or_before(now, self.step);
        let (ticks, limit) = (target.0.saturating_sub(self.tick.0), ticks_in(self.config.max_catch_up, self.step));
        if ticks > limit {
            return Err(AdvanceError::TooFarBehind { ticks, limit });
        }
        self.now = now;
        let replayed = self.heal();
        while self.tick < target {
            self.step_on();
            self.settle();
        }
        self.announce();
        self.verify();
        Ok(Advanced { stepped: ticks.max(0), replayed })
    }

    /// The authority says what the state at a tick was, after the tick's operations. It replaces the own one, and what came
    /// after is executed again. No operation of that tick or an earlier one is taken from now on, nor an earlier state. The
    /// tick may be up to twice as old as the history.
    ///
    /// The tick may be one that is still to come: then the state jumps there. Verdicts of the tick and before stay as they
    /// are, since a state does not tell what was decided on the way.
    pub fn overrule(&mut self, tick: Tick, state: &S::Snapshot, now: GlobalTime) -> Result<(), OverruleError> {
        self.judge_state(tick, self.remembered, now)?;
        self.replace(tick, state, &[], now);
        Ok(())
    }

    /// The state at the last settled tick and all operations known since: what another site needs to agree with this one. Late
    /// operations take effect first. Nothing if nothing is settled yet.
    pub fn briefing(&mut self) -> Option<Briefing<S>> {
        let tick = self.settled_until();
        let mut state = S::Snapshot::default();
        self.look_back(tick, |simulation| simulation.save(&mut state))?;
        Some(Briefing { tick, state, operations: self.operations.after(tick).cloned().collect() })
    }

    /// Takes another site's word for everything: its state, as by [`overrule`](Self::overrule), and its operations since. It may
    /// be older than the history, by up to [`TimewarpConfig::max_catch_up`]. Operations that are known already, or that would
    /// be refused anyway, are left out; the latter are counted.
    pub fn resume(&mut self, briefing: &Briefing<S>, now: GlobalTime) -> Result<(), OverruleError> {
        let reach = ticks_in(self.config.max_catch_up, self.step);
        self.judge_state(briefing.tick, Tick(self.tick.0.saturating_sub(reach)), now)?;
        self.replace(briefing.tick, &briefing.state, &briefing.operations, now);
        Ok(())
    }

    fn judge_state(&self, tick: Tick, earliest: Tick, now: GlobalTime) -> Result<(), OverruleError> {
        let earliest = self.overruled.map_or(earliest, |given| earliest.max(given.next()));
        if tick.next() < earliest {
            return Err(OverruleError::BeforeHistory { by: earliest.0.saturating_sub(tick.0) - 1 });
        }
        let latest = Tick::at_or_before(now.max(self.now) + self.config.ahead, self.step);
        if tick > latest {
            return Err(OverruleError::FromTheFuture { by: tick.0.saturating_sub(latest.0) });
        }
        Ok(())
    }

    /// What the application may want to know, decisions first. Poll until there is nothing more.
    pub fn poll_event(&mut self) -> Option<TimewarpEvent<S::Verdict>> {
        self.decisions.pop().or_else(|| self.corrections.pop())
    }

    /// Executes the next tick.
    fn step_on(&mut self) {
        self.tick = self.tick.next();
        self.reached.clear();
        self.simulation.step(&mut self.reached);
        self.arrive(self.tick);
    }

    /// After the step to a tick: saves the state and applies the operations.
    fn arrive(&mut self, tick: Tick) {
        if let Some(slot) = self.history.slot(tick) {
            self.simulation.save(slot);
        }
        if self.config.verify_every.is_some() {
            self.trail.push(Mark { tick, operation: None, digest: self.simulation.digest() });
        }
        self.log(tick, true);
        self.apply(tick);
    }

    /// Applies the operations of the present tick.
    fn apply(&mut self, tick: Tick) {
        let Self { simulation, operations, reached, trail, config, .. } = self;
        let verifying = config.verify_every.is_some();
        trail::apply_all(simulation, operations, tick, reached, |simulation, name| {
            if verifying {
                trail.push(Mark { tick, operation: Some(name), digest: simulation.digest() });
            }
        });
        self.log(tick, false);
    }

    /// Notes the verdicts just reached.
    fn log(&mut self, tick: Tick, by_step: bool) {
        if tick < self.announced_before {
            self.reached.clear();
        }
        for verdict in self.reached.drain(..) {
            let lag = self.simulation.verdict_lag(&verdict, self.config.verdict_lag);
            let due = tick.time(self.step) + lag.max(Duration::ZERO).min(self.config.history);
            self.verdicts.add(tick, by_step, verdict, due);
        }
    }

    /// Gives up what no operation can change any more.
    fn settle(&mut self) {
        self.floor = self.floor.max(Tick(self.tick.0 - self.history_ticks));
        // Remembered for longer, so that a duplicate is not taken for an operation that was missed, and because a state that
        // was settled elsewhere is older than the history when it gets here.
        self.remembered = self.remembered.max(Tick(self.floor.0 - self.history_ticks));
        self.operations.forget_before(self.remembered);
        if self.config.verify_every.is_some() {
            let oldest = self.history.at_or_before(self.floor).map_or(self.floor, |(tick, _)| tick);
            self.trail.forget_before(oldest);
        }
        let settled = self.settled_until();
        if let Some(every) = self.config.digest_every {
            let kept = self.digests.back().map_or(i64::MIN, |last| last.0.0);
            if settled.0 % i64::from(every) == 0 && settled.0 > kept {
                self.keep_digest(settled);
            }
        }
    }

    fn keep_digest(&mut self, tick: Tick) {
        let Some(digest) = self.visit(tick, S::digest) else { return };
        if self.digests.len() >= DIGESTS {
            self.digests.pop_front();
        }
        self.digests.push_back((tick, digest));
    }

    /// Announces the verdicts that are due.
    fn announce(&mut self) {
        let Self { verdicts, decisions, stats, .. } = self;
        verdicts.announce(self.now, |event| {
            stats.decided += 1;
            stats.decided_late += u64::from(matches!(event, TimewarpEvent::Decided { late: true, .. }));
            decisions.push(event);
        });
        self.verdicts.forget_before(self.remembered);
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod toy;
