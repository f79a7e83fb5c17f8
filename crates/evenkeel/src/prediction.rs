//! Prediction of one's own entity: what a player does shows at once, and the authority has the last word.
//!
//! A terminal that waits for its decision point before it shows what its player does responds a round trip late. A
//! [`Prediction`] executes the player's operations at once. When the authority's state of some tick arrives, it replaces the
//! predicted one, and the player's later operations are executed again on top of it. If the authority saw what was predicted,
//! nobody notices. If not, the player's entity moves: a *revocation*. Revocations are the price of the quick response, so
//! they are counted and sized.
//!
//! **The authority must not speak of a tick before the player's operations of that tick have reached it**, or its state takes
//! them back, and the next one brings them again. There are three ways to see to that:
//!
//! - operations wait for the delay everywhere: [`PredictionConfig::lag`], at the price of response;
//! - the player is ahead: it acts, advances and takes states with a time that is later than the authority's by the delay, so that
//!   its operations arrive when the authority gets there; the response is immediate, and others are seen further extrapolated;
//! - the authority sends what has settled: its state of a tick a delay ago, by [`Timewarp::look_back`]; the player has more to
//!   execute again.

use crate::events::Events;
use crate::geometry::Vec3;
use crate::ids::{EntityId, HostId};
use crate::simulation::{Operation, Simulation, Tick};
use crate::time::{Duration, GlobalTime};
use crate::timewarp::{
    Accepted, AdvanceError, Advanced, OperationError, OverruleError, Timewarp, TimewarpConfig, TimewarpConfigError,
    TimewarpEvent,
};

/// How a [`Prediction`] is set up.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictionConfig {
    /// Who predicts: the issuer of the operations.
    pub own: HostId,
    /// The entity whose corrections are revocations.
    pub entity: EntityId,
    /// How long after they are issued operations take effect, here and at the authority. Default: at once.
    pub lag: Duration,
    /// Corrections up to this distance are no revocations. Default: 0.01.
    pub tolerance: f64,
    /// The past. The history must be longer than it takes for an operation to get to the authority and for the state to come
    /// back.
    pub timewarp: TimewarpConfig,
}

impl PredictionConfig {
    /// Of one host's entity; the rest as by default.
    pub fn of(own: HostId, entity: EntityId) -> Self {
        Self { own, entity, lag: Duration::ZERO, tolerance: 0.01, timewarp: TimewarpConfig::default() }
    }
}

/// Something a prediction's application may want to know.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PredictionEvent<V> {
    /// The own entity turned out to be elsewhere than predicted, by more than the tolerance. The
    /// [`Corrected`](TimewarpEvent::Corrected) event that moves the picture follows.
    Revoked {
        /// From where it was predicted to where it is.
        by: Vec3,
        /// How many ticks ago the authority's state was.
        depth: i64,
    },
    /// The own entity is there although it was predicted to be gone, or the other way round: it was hit, or was not.
    Fate {
        /// Whether it is there.
        present: bool,
        /// How many ticks ago the authority's state was.
        depth: i64,
    },
    /// Nothing has come from the authority for longer than the history: what is shown is a guess upon guesses.
    AuthoritySilent {
        /// For how long.
        since: Duration,
    },
    /// What the timewarp has to say: verdicts as predicted, corrections of all entities.
    Timewarp(TimewarpEvent<V>),
}

/// How good the predictions were.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct PredictionStats {
    /// States that came from the authority and were taken.
    pub states: u64,
    /// States that were refused: too old, or older than one that had been taken.
    pub refused: u64,
    /// States that moved the own entity by more than the tolerance.
    pub revocations: u64,
    /// The mean distance of the revocations.
    pub mean: f64,
    /// The largest distance of a revocation.
    pub max: f64,
    /// States by which the own entity was gone, or there, against what was predicted. They have no size.
    pub fates: u64,
    /// Times the authority fell silent.
    pub silences: u64,
    /// Events that nobody polled for in time.
    pub events_dropped: u64,
}

/// Shows at once what the player does, and reconciles that with the authority. See the [module](self).
///
/// ```
/// # use evenkeel::{Attitude, Duration, EntityId, GlobalTime, HostId, State, Vec3};
/// use evenkeel::prediction::{Prediction, PredictionConfig, PredictionEvent};
/// use evenkeel::simulation::{Simulation, Tick};
///
/// #[derive(Clone, Default)]
/// struct Walker(f64);
///
/// impl Simulation for Walker {
///     type Act = f64; // a stride
///     type Snapshot = Self;
///     type Verdict = ();
///     fn apply(&mut self, _: HostId, stride: &f64, _: &mut Vec<()>) {
///         self.0 += stride;
///     }
///     fn places(&self, out: &mut Vec<(EntityId, State)>) {
///         let position = Vec3::new(self.0, 0.0, 0.0);
///         out.push((EntityId(1), State { position, velocity: Vec3::ZERO, attitude: Attitude::None }));
///     }
///     // ...
/// #   fn step_length(&self) -> Duration {
/// #       Duration::from_millis(50)
/// #   }
/// #   fn save(&self, into: &mut Self) {
/// #       into.clone_from(self);
/// #   }
/// #   fn restore(&mut self, from: &Self) {
/// #       self.clone_from(from);
/// #   }
/// #   fn step(&mut self, _: &mut Vec<()>) {}
/// #   fn digest(&self) -> u64 {
/// #       self.0.to_bits()
/// #   }
/// }
///
/// let at = GlobalTime::from_millis;
/// let config = PredictionConfig::of(HostId(1), EntityId(1));
/// let mut prediction = Prediction::new(Walker::default(), config, at(0))?;
/// prediction.act(1.0, at(50))?; // and send what it answers to the authority
/// prediction.act(1.0, at(100))?;
/// prediction.advance(at(100))?;
/// assert_eq!(prediction.simulation().0, 2.0);
///
/// // The authority saw the first stride go against a wall. The second it has not seen yet.
/// prediction.handle_state(Tick(1), &Walker(0.25), at(140))?;
/// assert_eq!(prediction.simulation().0, 1.25);
/// assert!(matches!(prediction.poll_event(), Some(PredictionEvent::Revoked { depth: 1, .. })));
/// assert_eq!(prediction.stats().max, 0.75);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Prediction<S: Simulation> {
    warp: Timewarp<S>,
    config: PredictionConfig,
    /// When the authority was last heard, or prediction began.
    heard: GlobalTime,
    silent: bool,
    /// The sum of all revocations' distances.
    revoked: f64,
    events: Events<PredictionEvent<S::Verdict>>,
    stats: PredictionStats,
}

impl<S: Simulation> Prediction<S> {
    /// Starts with the authority's state at the last tick that is not after now.
    pub fn new(simulation: S, config: PredictionConfig, now: GlobalTime) -> Result<Self, TimewarpConfigError> {
        if config.lag.is_negative() {
            return Err(TimewarpConfigError::Negative("lag"));
        }
        if config.tolerance.is_nan() || config.tolerance < 0.0 {
            return Err(TimewarpConfigError::Negative("tolerance"));
        }
        Ok(Self {
            warp: Timewarp::new(simulation, config.timewarp.clone(), now)?,
            heard: now,
            silent: false,
            revoked: 0.0,
            // Room for all that a timewarp has at once, and a word on each.
            events: Events::with_capacity(config.timewarp.max_events.saturating_mul(2)),
            stats: PredictionStats::default(),
            config,
        })
    }

    /// The game as predicted.
    pub fn simulation(&self) -> &S {
        self.warp.simulation()
    }

    /// What it is built on.
    pub fn timewarp(&self) -> &Timewarp<S> {
        &self.warp
    }

    /// How good the predictions were.
    pub fn stats(&self) -> PredictionStats {
        let mean = if self.stats.revocations == 0 { 0.0 } else { self.revoked / self.stats.revocations as f64 };
        PredictionStats { mean, events_dropped: self.events.dropped(), ..self.stats }
    }

    /// The player does something. The answer is what the authority must get; here it is executed at the next tick.
    pub fn act(&mut self, act: S::Act, now: GlobalTime) -> Result<Operation<S::Act>, OperationError> {
        self.warp.issue(self.config.own, act, self.config.lag, now)
    }

    /// Takes somebody else's operation, if those are known here: the prediction is the better for it.
    pub fn handle_operation(
        &mut self,
        operation: Operation<S::Act>,
        now: GlobalTime,
    ) -> Result<Accepted, OperationError> {
        self.warp.handle_operation(operation, now)
    }

    /// Takes the authority's state at a tick, after the operations of the tick. A state older than the last one is refused.
    pub fn handle_state(&mut self, tick: Tick, state: &S::Snapshot, now: GlobalTime) -> Result<(), OverruleError> {
        if let Err(error) = self.warp.overrule(tick, state, now) {
            self.stats.refused += 1;
            return Err(error);
        }
        self.stats.states += 1;
        self.heard = self.heard.max(now);
        self.silent = false;
        self.collect();
        Ok(())
    }

    /// Lets time pass. See [`Timewarp::advance`].
    pub fn advance(&mut self, now: GlobalTime) -> Result<Advanced, AdvanceError> {
        let advanced = self.warp.advance(now)?;
        self.collect();
        let since = now.since(self.heard);
        if since > self.config.timewarp.history && !self.silent {
            self.silent = true;
            self.stats.silences += 1;
            self.events.push(PredictionEvent::AuthoritySilent { since });
        }
        Ok(advanced)
    }

    /// Whether nothing has come from the authority for longer than the history.
    pub fn is_authority_silent(&self) -> bool {
        self.silent
    }

    /// What the application may want to know. Poll until there is nothing more.
    pub fn poll_event(&mut self) -> Option<PredictionEvent<S::Verdict>> {
        self.events.pop()
    }

    fn collect(&mut self) {
        while let Some(event) = self.warp.poll_event() {
            match event {
                TimewarpEvent::Corrected { entity, by, depth, .. } if entity == self.config.entity => {
                    self.revoke(by, depth);
                }
                TimewarpEvent::Appeared { entity, depth } if entity == self.config.entity => self.turn(true, depth),
                TimewarpEvent::Vanished { entity, depth } if entity == self.config.entity => self.turn(false, depth),
                _ => {}
            }
            self.events.push(PredictionEvent::Timewarp(event));
        }
    }

    fn revoke(&mut self, by: Vec3, depth: i64) {
        let distance = by.length();
        if distance > self.config.tolerance {
            self.stats.revocations += 1;
            self.stats.max = self.stats.max.max(distance);
            self.revoked += distance;
            self.events.push(PredictionEvent::Revoked { by, depth });
        }
    }

    fn turn(&mut self, present: bool, depth: i64) {
        self.stats.fates += 1;
        self.events.push(PredictionEvent::Fate { present, depth });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timewarp::toy::{Act, STEP, Toy, in_order, operation, time};
    use proptest::prelude::*;
    use std::vec::Vec;

    fn prediction() -> Prediction<Toy> {
        let timewarp = TimewarpConfig { verify_every: Some(5), ..TimewarpConfig::default() };
        let config = PredictionConfig { timewarp, ..PredictionConfig::of(HostId(1), EntityId(1)) };
        Prediction::new(Toy::default(), config, GlobalTime::ZERO).unwrap()
    }

    #[test]
    fn what_the_authority_confirms_is_never_corrected() {
        let mut prediction = prediction();
        let mut operations = Vec::new();
        for tick in 0..80 {
            operations.push(prediction.act(Act::Steer(f64::from(tick as i32 % 5)), time(tick)).unwrap());
            prediction.advance(time(tick)).unwrap();
            if tick >= 10 {
                let (state, _) = in_order(&operations, tick - 10);
                prediction.handle_state(Tick(tick - 10), &state, time(tick)).unwrap();
            }
            assert_eq!(prediction.simulation(), &in_order(&operations, tick).0, "shown at once");
        }
        let stats = prediction.stats();
        assert_eq!((stats.revocations, stats.states, stats.silences), (0, 70, 0));
        assert!(
            !core::iter::from_fn(|| prediction.poll_event())
                .any(|event| matches!(event, PredictionEvent::Timewarp(TimewarpEvent::Corrected { .. })))
        );
    }

    #[test]
    fn a_state_that_is_too_old_changes_nothing() {
        let mut prediction = prediction();
        prediction.advance(time(150)).unwrap();
        let before = prediction.simulation().clone();
        assert!(matches!(
            prediction.handle_state(Tick(3), &Toy::default(), time(150)),
            Err(OverruleError::BeforeHistory { .. })
        ));
        assert_eq!(prediction.simulation(), &before);
        assert_eq!((prediction.stats().refused, prediction.stats().states), (1, 0));
    }

    #[test]
    fn corrections_within_the_tolerance_are_no_revocations() {
        for (tolerance, revocations) in [(0.2, 1), (0.3, 0)] {
            let config = PredictionConfig { tolerance, ..PredictionConfig::of(HostId(1), EntityId(1)) };
            let mut prediction = Prediction::new(Toy::default(), config, GlobalTime::ZERO).unwrap();
            prediction.advance(time(10)).unwrap();
            // Somebody hit the own entity, which moves by a quarter.
            let (state, _) = in_order(&[operation(3, 0, 0, Act::Shoot)], 5);
            prediction.handle_state(Tick(5), &state, time(10)).unwrap();
            let stats = prediction.stats();
            assert_eq!((stats.revocations, stats.mean), (revocations, 0.25 * revocations as f64));
            let corrected = core::iter::from_fn(|| prediction.poll_event())
                .any(|event| matches!(event, PredictionEvent::Timewarp(TimewarpEvent::Corrected { depth: 5, .. })));
            assert!(corrected);
        }
    }

    #[test]
    fn being_hit_unexpectedly_is_told_as_ones_fate() {
        let mut prediction = prediction();
        prediction.advance(time(10)).unwrap();
        let shots = [0, 1, 2].map(|sequence| operation(3, 0, sequence, Act::Shoot));
        prediction.handle_state(Tick(5), &in_order(&shots, 5).0, time(10)).unwrap();
        assert_eq!(prediction.poll_event(), Some(PredictionEvent::Fate { present: false, depth: 5 }));
        assert_eq!((prediction.stats().fates, prediction.stats().revocations), (1, 0));
    }

    #[test]
    fn a_silent_authority_is_reported_once_for_each_silence() {
        let mut prediction = prediction();
        for tick in 0..60 {
            prediction.advance(time(tick)).unwrap();
        }
        assert!(prediction.is_authority_silent());
        assert_eq!(prediction.poll_event(), Some(PredictionEvent::AuthoritySilent { since: STEP * 51 }));
        assert_eq!(prediction.poll_event(), None);
        prediction.handle_state(Tick(55), &in_order(&[], 55).0, time(59)).unwrap();
        assert!(!prediction.is_authority_silent());
    }

    proptest! {
        /// Somebody else pushes the own entity now and then. Once the authority's states have told, prediction and authority
        /// agree about everything, however late and irregular the states come.
        #[test]
        fn prediction_ends_where_the_authority_does(
            own in prop::collection::vec((0..60i64, -2.0..2.0), 0..20),
            others in prop::collection::vec(0..60i64, 0..6),
            delay in 1..40i64,
            every in 1..6i64,
        ) {
            let mut prediction = prediction();
            let mut known = Vec::new();
            for (sequence, tick) in others.iter().enumerate() {
                known.push(operation(*tick, 0, sequence as u32, Act::Shoot));
            }
            for tick in 0..=120 {
                for (_, a) in own.iter().filter(|(at, _)| *at == tick) {
                    known.push(prediction.act(Act::Steer(*a), time(tick)).unwrap());
                }
                if tick >= delay && tick % every == 0 {
                    let (state, _) = in_order(&known, tick - delay);
                    prediction.handle_state(Tick(tick - delay), &state, time(tick)).unwrap();
                }
                prediction.advance(time(tick)).unwrap();
            }
            prop_assert_eq!(prediction.simulation(), &in_order(&known, 120).0);
            prop_assert_eq!(prediction.timewarp().stats().diverged, 0);
            let stats = prediction.stats();
            prop_assert!(stats.mean <= stats.max && (stats.max > 0.01) == (stats.revocations > 0));
            if others.is_empty() {
                prop_assert_eq!(stats.revocations, 0);
            }
        }
    }
}
