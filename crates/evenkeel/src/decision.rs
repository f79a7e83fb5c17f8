//! Decision points: servers that mirror each other, each close to some of the players.
//!
//! A [`DecisionPoint`] executes the operations of its own players and of its peers' through a [`Timewarp`]. How long an
//! operation waits before it takes effect, its lag, is what trades one inconsistency for another:
//!
//! - **conservative**: at least the longest delay between decision points. All of them have every operation in time; nothing is
//!   ever rolled back; players wait.
//! - **optimistic**: none. Players see at once what they do; a decision point may decide something that it would not have
//!   decided had it known of its peers' operations: a *paradox*, healed by a rollback.
//! - **partial**: something in between: shorter, rarer rollbacks.
//!
//! The lag is an argument of each operation, because not all are alike: steering wants to be quick, killing wants to be right.

use crate::events::Events;
use crate::ids::HostId;
use crate::simulation::{Operation, Simulation, Tick};
use crate::time::{Duration, GlobalTime};
use crate::timewarp::{
    Accepted, AdvanceError, Advanced, Briefing, OperationError, OverruleError, Timewarp, TimewarpConfig,
    TimewarpConfigError, TimewarpEvent, TimewarpStats,
};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt;

/// How decision points keep in step.
///
/// ```
/// use evenkeel::{Duration, decision::Synchronisation};
/// let delays = [40, 100].map(Duration::from_millis);
/// assert_eq!(Synchronisation::Conservative.lag(delays), Duration::from_millis(100));
/// assert_eq!(Synchronisation::Partial { share: 0.25 }.lag(delays), Duration::from_millis(25));
/// assert_eq!(Synchronisation::Optimistic.lag(delays), Duration::ZERO);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Synchronisation {
    /// Every operation is everywhere in time.
    Conservative,
    /// Lag for a share of the longest delay.
    Partial {
        /// From 0, optimistic, to 1, conservative.
        share: f64,
    },
    /// No lag at all.
    Optimistic,
}

impl Synchronisation {
    /// The lag for operations, from the delays to all peers. To be conservative these must be the longest that occur, with the
    /// clocks' uncertainty included.
    pub fn lag(self, delays: impl IntoIterator<Item = Duration>) -> Duration {
        let longest = delays.into_iter().fold(Duration::ZERO, Duration::max);
        match self {
            Self::Conservative => longest,
            Self::Partial { share } => longest.mul_f64(share.clamp(0.0, 1.0)),
            Self::Optimistic => Duration::ZERO,
        }
    }
}

/// How a [`DecisionPoint`] is set up. Start from the default and change what matters.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionConfig {
    /// The past. The history must be longer than the longest delay, less the shortest lag. Default: as by default, with a
    /// digest kept every 50 ticks.
    pub timewarp: TimewarpConfig,
    /// Peers at once. Default: 64.
    pub max_peers: usize,
    /// How many operations wait at most for each peer. Default: 4,096.
    pub max_outgoing: usize,
}

impl Default for DecisionConfig {
    fn default() -> Self {
        let timewarp = TimewarpConfig { digest_every: Some(50), ..TimewarpConfig::default() };
        Self { timewarp, max_peers: 64, max_outgoing: 4_096 }
    }
}

/// Something a decision point's application may want to know.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum DecisionEvent<V> {
    /// A peer executes an operation that could not be taken here: the mirrors disagree from its tick on, and for ever, unless
    /// one of them takes the other's [`briefing`](DecisionPoint::briefing).
    Desynchronised {
        /// Whose operation it was.
        from: HostId,
        /// When it would have been executed.
        tick: Tick,
        /// Why it was not taken.
        error: OperationError,
    },
    /// What the timewarp has to say: verdicts, verdicts revoked, corrections.
    Timewarp(TimewarpEvent<V>),
}

/// Why a decision point refused something. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecisionError {
    /// There is no such peer.
    UnknownPeer(HostId),
    /// The peer is here already.
    DuplicatePeer(HostId),
    /// No more peers fit.
    TooManyPeers {
        /// The configured limit.
        limit: usize,
    },
    /// So much waits for a peer that it would miss the operation.
    QueueFull {
        /// For whom it waits.
        to: HostId,
    },
    /// A lag is negative.
    NegativeLag,
    /// The operation cannot be taken.
    Operation(OperationError),
}

impl fmt::Display for DecisionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownPeer(host) => write!(f, "{host} is not a peer: call add_peer first"),
            Self::DuplicatePeer(host) => write!(f, "{host} is a peer already"),
            Self::TooManyPeers { limit } => write!(f, "more than {limit} peers: raise max_peers"),
            Self::QueueFull { to } => {
                write!(f, "too many operations wait for {to}: call poll_operation, or raise max_outgoing")
            }
            Self::NegativeLag => write!(f, "a lag is negative: operations cannot take effect before they are issued"),
            Self::Operation(error) => write!(f, "{error}"),
        }
    }
}

impl core::error::Error for DecisionError {}

/// An operation to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing<A> {
    /// To which peer.
    pub to: HostId,
    /// What.
    pub operation: Operation<A>,
}

struct Peer {
    host: HostId,
    /// How many operations wait for it.
    waiting: usize,
}

/// One of several servers that mirror each other. See the [module](self).
///
/// Every operation must reach every peer once or more, in any order, within the history.
///
/// ```
/// # use evenkeel::{Duration, GlobalTime, HostId};
/// use evenkeel::decision::{DecisionConfig, DecisionPoint, Synchronisation};
/// use evenkeel::simulation::Simulation;
///
/// #[derive(Clone, Default)]
/// struct Score(u64);
///
/// impl Simulation for Score {
///     type Act = u64;
///     type Snapshot = Self;
///     type Verdict = ();
///     fn apply(&mut self, _: HostId, act: &u64, _: &mut Vec<()>) {
///         self.0 = 10 * self.0 + act; // the order matters
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
/// #       self.0
/// #   }
/// }
///
/// let at = GlobalTime::from_millis;
/// let [mut east, mut west] = [(); 2].map(|()| DecisionPoint::new(Score(0), DecisionConfig::default(), at(0)).unwrap());
/// east.add_peer(HostId(101))?;
/// west.add_peer(HostId(100))?;
///
/// let lag = Synchronisation::Optimistic.lag([Duration::from_millis(150)]);
/// east.submit(HostId(1), 0, 1, lag, at(0))?;
/// west.submit(HostId(2), 0, 2, lag, at(50))?;
/// east.advance(at(100))?;
/// west.advance(at(100))?;
/// assert_ne!(east.simulation().0, west.simulation().0);
///
/// while let Some(outgoing) = east.poll_operation() {
///     west.handle_operation(HostId(100), outgoing.operation, at(150))?; // by way of a network
/// }
/// while let Some(outgoing) = west.poll_operation() {
///     east.handle_operation(HostId(101), outgoing.operation, at(200))?;
/// }
/// east.advance(at(200))?;
/// west.advance(at(200))?;
/// assert_eq!((east.simulation().0, west.simulation().0), (12, 12));
/// assert_eq!(west.stats().rollbacks, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DecisionPoint<S: Simulation> {
    warp: Timewarp<S>,
    peers: Vec<Peer>,
    max_peers: usize,
    max_outgoing: usize,
    outgoing: VecDeque<Outgoing<S::Act>>,
    /// The last tick with an operation that is missing here.
    missing: Option<Tick>,
    events: Events<DecisionEvent<S::Verdict>>,
}

impl<S: Simulation> DecisionPoint<S> {
    /// A decision point without peers. All must start with the same state at the same time, or take a
    /// [briefing](Self::resynchronise).
    pub fn new(simulation: S, config: DecisionConfig, now: GlobalTime) -> Result<Self, TimewarpConfigError> {
        Ok(Self {
            warp: Timewarp::new(simulation, config.timewarp, now)?,
            peers: Vec::new(),
            max_peers: config.max_peers,
            max_outgoing: config.max_outgoing,
            outgoing: VecDeque::new(),
            missing: None,
            events: Events::new(),
        })
    }

    /// The game as decided so far.
    pub fn simulation(&self) -> &S {
        self.warp.simulation()
    }

    /// What it is built on.
    pub fn timewarp(&self) -> &Timewarp<S> {
        &self.warp
    }

    /// Rollbacks, paradoxes and the like.
    pub fn stats(&self) -> TimewarpStats {
        self.warp.stats()
    }

    /// The digest of the state at a tick. If the tick is [settled](Timewarp::settled_until) at two mirrors, theirs must be
    /// equal. See [`Timewarp::digest_at`].
    pub fn digest_at(&mut self, tick: Tick) -> Option<u64> {
        self.warp.digest_at(tick)
    }

    /// The last tick with an operation that could not be taken here, if there is one: until a peer's briefing heals it, this
    /// mirror is not like the others.
    pub fn desynchronised(&self) -> Option<Tick> {
        self.missing
    }

    /// Operations submitted from now on go to this peer too. A newcomer needs a [briefing](Self::briefing) made after that.
    pub fn add_peer(&mut self, host: HostId) -> Result<(), DecisionError> {
        if self.peers.iter().any(|peer| peer.host == host) {
            return Err(DecisionError::DuplicatePeer(host));
        }
        if self.peers.len() >= self.max_peers {
            return Err(DecisionError::TooManyPeers { limit: self.max_peers });
        }
        self.peers.push(Peer { host, waiting: 0 });
        Ok(())
    }

    /// The peer is gone. What waits for it is dropped.
    pub fn remove_peer(&mut self, host: HostId) -> Result<(), DecisionError> {
        let index = self.peers.iter().position(|peer| peer.host == host).ok_or(DecisionError::UnknownPeer(host))?;
        self.peers.swap_remove(index);
        self.outgoing.retain(|outgoing| outgoing.to != host);
        Ok(())
    }

    /// A player of this decision point does something, which takes effect, everywhere, after the lag of its kind.
    pub fn submit(
        &mut self,
        issuer: HostId,
        sequence: u32,
        act: S::Act,
        lag: Duration,
        now: GlobalTime,
    ) -> Result<Operation<S::Act>, DecisionError> {
        if lag.is_negative() {
            return Err(DecisionError::NegativeLag);
        }
        if let Some(full) = self.peers.iter().find(|peer| peer.waiting >= self.max_outgoing) {
            return Err(DecisionError::QueueFull { to: full.host });
        }
        let operation = Operation { at: now + lag, issuer, sequence, act };
        self.warp.handle_operation(operation.clone(), now).map_err(DecisionError::Operation)?;
        for peer in &mut self.peers {
            peer.waiting += 1;
            self.outgoing.push_back(Outgoing { to: peer.host, operation: operation.clone() });
        }
        Ok(operation)
    }

    /// Takes an operation that a peer has submitted. If it cannot be taken although the peer executes it, that is also an event.
    pub fn handle_operation(
        &mut self,
        from: HostId,
        operation: Operation<S::Act>,
        now: GlobalTime,
    ) -> Result<Accepted, DecisionError> {
        if !self.peers.iter().any(|peer| peer.host == from) {
            return Err(DecisionError::UnknownPeer(from));
        }
        let tick = Tick::at_or_after(operation.at, self.warp.step_length());
        self.warp.handle_operation(operation, now).map_err(|error| {
            // What is known or in the state already is not missing; what is not permitted the peer does not execute either.
            let harmless = matches!(
                error,
                OperationError::Duplicate | OperationError::Overruled { .. } | OperationError::NotPermitted
            );
            if !harmless {
                self.missing = Some(self.missing.map_or(tick, |missing| missing.max(tick)));
                self.events.push(DecisionEvent::Desynchronised { from, tick, error });
            }
            DecisionError::Operation(error)
        })
    }

    /// Lets time pass. See [`Timewarp::advance`]. What has arrived belongs before it, not after.
    pub fn advance(&mut self, now: GlobalTime) -> Result<Advanced, AdvanceError> {
        self.warp.advance(now)
    }

    /// All that a peer needs to agree with this one, if anything is settled yet. It travels by the game's own means.
    pub fn briefing(&mut self) -> Option<Briefing<S>> {
        self.warp.briefing()
    }

    /// Takes a peer's word for everything, to agree with it again. See [`Timewarp::resume`]. If some of its operations cannot be
    /// taken, this mirror stays [desynchronised](Self::desynchronised).
    pub fn resynchronise(&mut self, briefing: &Briefing<S>, now: GlobalTime) -> Result<(), OverruleError> {
        let lost = |stats: TimewarpStats| {
            let refused = stats.refused;
            refused.conflict + refused.too_many + refused.from_the_future + refused.not_permitted
        };
        let before = lost(self.stats());
        self.warp.resume(briefing, now)?;
        let step = self.warp.step_length();
        let told = briefing.operations.iter().map(|operation| Tick::at_or_after(operation.at, step));
        let told = told.fold(briefing.tick, Tick::max);
        let all_taken = lost(self.stats()) == before;
        self.missing = if all_taken { self.missing.filter(|missing| *missing > told) } else { Some(told) };
        Ok(())
    }

    /// The next operation to be sent to a peer.
    pub fn poll_operation(&mut self) -> Option<Outgoing<S::Act>> {
        let outgoing = self.outgoing.pop_front()?;
        if let Some(peer) = self.peers.iter_mut().find(|peer| peer.host == outgoing.to) {
            peer.waiting -= 1;
        }
        Some(outgoing)
    }

    /// What the application may want to know. Poll until there is nothing more.
    pub fn poll_event(&mut self) -> Option<DecisionEvent<S::Verdict>> {
        self.events.pop().or_else(|| self.warp.poll_event().map(DecisionEvent::Timewarp))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timewarp::toy::{Act, PLAYERS, STEP, Toy, in_order, operation, time};
    use proptest::prelude::*;
    use std::vec;

    const MIRRORS: usize = 3;

    fn host(mirror: usize) -> HostId {
        HostId(100 + mirror as u32)
    }

    fn mirrors(config: &DecisionConfig) -> Vec<DecisionPoint<Toy>> {
        let mirror = |own| {
            let mut point = DecisionPoint::new(Toy::default(), config.clone(), GlobalTime::ZERO).unwrap();
            for peer in (0..MIRRORS).filter(|peer| *peer != own) {
                point.add_peer(host(peer)).unwrap();
            }
            point
        };
        (0..MIRRORS).map(mirror).collect()
    }

    #[test]
    fn only_peers_are_heard() {
        let mut point = mirrors(&DecisionConfig::default()).remove(0);
        let before = point.simulation().clone();
        let stranger = point.handle_operation(HostId(9), operation(1, 0, 0, Act::Shoot), time(0));
        assert_eq!(stranger, Err(DecisionError::UnknownPeer(HostId(9))));
        assert_eq!(point.add_peer(host(1)), Err(DecisionError::DuplicatePeer(host(1))));
        point.remove_peer(host(1)).unwrap();
        assert_eq!(point.remove_peer(host(1)), Err(DecisionError::UnknownPeer(host(1))));
        assert_eq!((point.simulation(), point.stats().accepted), (&before, 0));
    }

    #[test]
    fn nothing_is_submitted_that_a_peer_would_miss() {
        let mut point = mirrors(&DecisionConfig { max_outgoing: 2, ..DecisionConfig::default() }).remove(0);
        let mut submit = |sequence| point.submit(HostId(0), sequence, Act::Shoot, STEP, time(0));
        submit(0).unwrap();
        submit(1).unwrap();
        assert_eq!(submit(2), Err(DecisionError::QueueFull { to: host(1) }));
        assert_eq!(point.stats().accepted, 2);
        assert_eq!(core::iter::from_fn(|| point.poll_operation()).count(), 4);
        point.submit(HostId(0), 2, Act::Shoot, STEP, time(0)).unwrap();
        point.remove_peer(host(1)).unwrap();
        assert_eq!(point.poll_operation().map(|outgoing| outgoing.to), Some(host(2)));
        assert_eq!(point.poll_operation(), None);
        let negative = point.submit(HostId(0), 3, Act::Shoot, -STEP, time(0));
        assert_eq!(negative, Err(DecisionError::NegativeLag));
    }

    #[test]
    fn an_operation_from_beyond_the_history_is_reported_and_healed() {
        let mut mirrors = mirrors(&DecisionConfig::default());
        let missed = mirrors[1].submit(HostId(1), 0, Act::Steer(2.0), Duration::ZERO, time(1)).unwrap();
        for mirror in &mut mirrors {
            mirror.advance(time(100)).unwrap();
        }
        assert!(mirrors[0].handle_operation(host(1), missed, time(100)).is_err());
        let event = mirrors[0].poll_event();
        assert!(matches!(event, Some(DecisionEvent::Desynchronised { tick: Tick(1), .. })), "{event:?}");
        assert_eq!(mirrors[0].desynchronised(), Some(Tick(1)));
        assert_ne!(mirrors[0].simulation(), mirrors[1].simulation());
        let briefing = mirrors[1].briefing().unwrap();
        mirrors[0].advance(time(110)).unwrap();
        mirrors[0].resynchronise(&briefing, time(110)).unwrap();
        assert_eq!((mirrors[0].desynchronised(), mirrors[0].simulation()), (None, &in_order(&[missed], 110).0));
        // A briefing that contradicts what is known here heals nothing.
        let known = mirrors[0].submit(HostId(0), 7, Act::Shoot, Duration::ZERO, time(110)).unwrap();
        let mut contradicting = mirrors[1].briefing().unwrap();
        contradicting.operations.push(Operation { act: Act::Steer(9.0), ..known });
        mirrors[0].resynchronise(&contradicting, time(110)).unwrap();
        assert!(mirrors[0].desynchronised().is_some());
        mirrors[0].resynchronise(&briefing, time(110)).unwrap();
        // What comes once more is in the state.
        let desynchronised = mirrors[0].desynchronised();
        assert!(mirrors[0].handle_operation(host(1), missed, time(110)).is_err());
        assert_eq!(mirrors[0].desynchronised(), desynchronised);
    }

    /// When, who, what, and how long it takes to each mirror, in ticks.
    fn games() -> impl Strategy<Value = Vec<(i64, u32, Act, [i64; MIRRORS])>> {
        let act = prop_oneof![(-3.0..3.0).prop_map(Act::Steer), Just(Act::Shoot)];
        prop::collection::vec((0..100i64, 0..PLAYERS, act, prop::array::uniform3(1..12i64)), 0..30)
    }

    /// Each player has a decision point of its own. Answers the mirrors and all operations.
    fn play(game: &[(i64, u32, Act, [i64; MIRRORS])], lag: Duration) -> (Vec<DecisionPoint<Toy>>, Vec<Operation<Act>>) {
        let mut mirrors = mirrors(&DecisionConfig::default());
        let (mut network, mut all) = (vec![], vec![]);
        for tick in 0..=160 {
            for (number, (_, player, act, delays)) in game.iter().enumerate().filter(|(_, played)| played.0 == tick) {
                let (from, issued) = (*player as usize, time(tick));
                all.push(mirrors[from].submit(HostId(*player), number as u32, *act, lag, issued).unwrap());
                while let Some(outgoing) = mirrors[from].poll_operation() {
                    let to = (outgoing.to.0 - 100) as usize;
                    network.push((tick + delays[to], from, to, outgoing.operation));
                }
            }
            for (_, from, to, operation) in network.iter().filter(|sent| sent.0 == tick) {
                mirrors[*to].handle_operation(host(*from), *operation, time(tick)).unwrap();
            }
            for mirror in &mut mirrors {
                mirror.advance(time(tick)).unwrap();
            }
        }
        (mirrors, all)
    }

    proptest! {
        #[test]
        fn mirrors_agree_in_the_end_and_a_conservative_lag_leaves_nothing_to_heal(game in games(), share in 0.0..1.0) {
            let longest = game.iter().flat_map(|played| played.3).max().map(|ticks| STEP * ticks);
            for how in [
                Synchronisation::Optimistic,
                Synchronisation::Partial { share },
                Synchronisation::Conservative,
            ] {
                let (mut mirrors, all) = play(&game, how.lag(longest));
                for mirror in &mut mirrors {
                    prop_assert_eq!(mirror.simulation(), &in_order(&all, 160).0);
                    prop_assert_eq!(mirror.digest_at(Tick(100)), Some(in_order(&all, 100).0.digest()));
                    prop_assert_eq!(mirror.desynchronised(), None);
                    let stats = mirror.stats();
                    prop_assert!(stats.deepest <= 12);
                    if how == Synchronisation::Conservative {
                        prop_assert_eq!((stats.rollbacks, stats.late, stats.paradoxes()), (0, 0, 0));
                    }
                }
            }
        }
    }
}
