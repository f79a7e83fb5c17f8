//! The local site of globally synchronised dead reckoning with local lag, for games made of operations.

use super::{Lag, LagChange, LagError};
use crate::ids::HostId;
use crate::simulation::{Operation, Simulation, Tick};
use crate::time::{Duration, GlobalTime};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt;

/// So many operations wait at most: a player who does a hundred things a second, and the longest lag.
const MAX_WAITING: usize = 8_192;
/// So many ticks are caught up with at most in one call.
const MAX_CATCH_UP: i64 = 36_000;

/// Why a local site refused something. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LocalSiteError {
    /// Time went backwards.
    TimeWentBackwards {
        /// By how much.
        by: Duration,
    },
    /// Time went ahead by more ticks than are caught up with in one go.
    TooFarAhead {
        /// By how much.
        by: Duration,
    },
    /// Too many operations wait to be shown.
    TooManyOperations {
        /// The limit.
        limit: usize,
    },
    /// The lag cannot be.
    Lag(LagError),
    /// The simulation does not permit it: the operation is not the player's to issue.
    NotPermitted,
}

impl fmt::Display for LocalSiteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimeWentBackwards { by } => write!(f, "time went backwards by {by}"),
            Self::TooFarAhead { by } => write!(f, "time went ahead by {by}: make a new local site after such a pause"),
            Self::TooManyOperations { limit } => write!(f, "more than {limit} operations wait to be shown"),
            Self::Lag(error) => error.fmt(f),
            Self::NotPermitted => write!(f, "the simulation does not permit this operation to its issuer"),
        }
    }
}

impl core::error::Error for LocalSiteError {}

/// Runs a game twice: once with all that its player did, for others to be told, and once a lag behind, to be shown.
///
/// The sentences of the paper's section 4, and where they are:
///
/// | the paper | here |
/// |---|---|
/// | "local site keeps three states: the real state of the entity s_real, the predicted state at remote site s_p-remote, and the latest state updated to remote site s_late" | [`LocalSite::real`]; the sender's exported path, as every remote site extrapolates it; [`LocalSite::late`] |
/// | "remote site keeps only one state, s_remote" | what [`Receiver::place`](crate::Receiver::place) answers |
/// | "the physical clocks of all sites are synchronised [...] in a way that does not result in decreasing the value of the clock" | [`Clock`](crate::Clock), whose time never runs backwards |
/// | "the game scene is updated at a fixed frequency" | [`Simulation::step_length`] |
/// | "local site receives the operations of the player and stores them in a list L, sorted by their issue time" | [`LocalSite::issue`] |
/// | "executes all stored operations whose issue time is between T - t and T on s_late [...] and between T - n - t and T - n on s_real" | [`LocalSite::advance`] |
/// | "compares whether the difference between the new s_late and s_p-remote exceeds the predefined threshold; if yes, sends new s_late to remote site, and s_p-remote is updated with new s_late; the timestamp is T" | [`Sender::observe`](crate::Sender::observe) with the pose of [`late`](LocalSite::late) |
/// | "uses s_real to update local scene, and deletes the operations whose issue time is less than T - n from L" | [`LocalSite::real`]; [`LocalSite::advance`] |
/// | "remote site stores received state updates in a list R, sorted by their timestamps [...] checks whether R contains state updates whose timestamps are less than T - n" | [`Receiver::handle_datagram`](crate::Receiver::handle_datagram), and [`Lag::takes_effect`] |
/// | "uses these state updates and corresponding prediction methods to calculate the new s_remote, else s_remote and corresponding prediction methods" | [`Receiver::place`](crate::Receiver::place) |
/// | "in the case with multiple shared entities and remote sites, local site calculates s_late, s_real and s_p-remote for different shared entities respectively; if there are multiple s_late to be transmitted, packets them in one state update and sends it to all remote sites" | one [`Sender`](crate::Sender) with many entities and receivers, whose datagrams hold many vectors |
/// | "n can be smaller than the network transmission delay" | any [`Lag`] |
/// | "in the case that a large n must be used, some methods, e.g. echo" | [`LocalSite::late`] and [`LocalSite::waiting`] |
///
/// Two slips of the paper are mended: "local site uses s_remote" in the remote site's paragraph must be "remote site", and
/// timestamps must be "at most" T - n rather than less, or a lag equal to the delay would leave one tick of error.
///
/// An operation counts for the first tick that is not before it. One that comes at a tick that has been executed counts for the
/// next, here and for everybody who is told.
///
/// ```
/// use evenkeel::lag::{Lag, LocalSite};
/// use evenkeel::{Duration, GlobalTime, HostId, Simulation};
/// # #[derive(Clone, Default)]
/// # struct Counter(i64);
/// # impl Simulation for Counter {
/// #     type Act = i64;
/// #     type Snapshot = Counter;
/// #     type Verdict = ();
/// #     fn step_length(&self) -> Duration { Duration::from_millis(20) }
/// #     fn save(&self, into: &mut Counter) { into.0 = self.0 }
/// #     fn restore(&mut self, from: &Counter) { self.0 = from.0 }
/// #     fn step(&mut self, _: &mut Vec<()>) {}
/// #     fn apply(&mut self, _: HostId, act: &i64, _: &mut Vec<()>) { self.0 += act }
/// #     fn digest(&self) -> u64 { self.0 as u64 }
/// # }
/// let (me, at) = (HostId(1), GlobalTime::from_millis);
/// let lag = Lag::constant(Duration::from_millis(100))?;
/// let mut site = LocalSite::new(Counter::default(), lag, at(0));
/// site.issue(me, 5, at(30))?;
/// site.advance(at(40))?;
/// assert_eq!((site.late().0, site.real().0), (5, 0)); // at a tick, told at once: sender.observe(..., pose of late, now)
/// site.advance(at(140))?;
/// assert_eq!((site.late().0, site.real().0), (5, 5)); // shown a lag later
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LocalSite<S: Simulation> {
    late: S,
    real: S,
    /// L, by issue time: what is not in s_real yet.
    operations: VecDeque<Operation<S::Act>>,
    /// How many of them, the first, are in s_late.
    told: usize,
    lag: Lag,
    step: Duration,
    late_tick: Tick,
    real_tick: Tick,
    now: GlobalTime,
    next_sequence: u32,
}

impl<S: Simulation + Clone> LocalSite<S> {
    /// A local site that begins with this state. Until the lag has passed, it is what is shown.
    pub fn new(simulation: S, lag: Lag, now: GlobalTime) -> Self {
        let step = simulation.step_length();
        let late_tick = Tick::at_or_before(now, step);
        Self {
            real: simulation.clone(),
            late: simulation,
            operations: VecDeque::new(),
            told: 0,
            lag,
            step,
            late_tick,
            real_tick: late_tick,
            now,
            next_sequence: 0,
        }
    }
}

impl<S: Simulation> LocalSite<S> {
    /// s_late: what all operations issued so far lead to. What others are told, and the echo of what the player just did.
    pub fn late(&self) -> &S {
        &self.late
    }

    /// s_real: what is shown.
    pub fn real(&self) -> &S {
        &self.real
    }

    /// The tick that s_late is at.
    pub fn late_tick(&self) -> Tick {
        self.late_tick
    }

    /// The tick that s_real is at.
    pub fn real_tick(&self) -> Tick {
        self.real_tick
    }

    /// How far shown time is past the tick that s_real is at: less than a step once the lag has passed.
    ///
    /// Others show things at shown time, also in between. A game that does too extrapolates [`real`](Self::real) by this much. A
    /// game that shows ticks only chooses lags of whole steps and frames at ticks, where it is zero: otherwise its own ships
    /// stand still for that long in everybody else's eyes.
    pub fn past_tick(&self) -> Duration {
        self.lag.shown(self.now).since(self.real_tick.time(self.step)).max(Duration::ZERO)
    }

    /// How far time is past the tick that s_late is at. Who tells others between two ticks tells them where things are by now:
    /// `sender.observe_motion(ship, &pose.motion(kind).advanced(site.late_past_tick().as_secs_f64()), now)`. A pose of the last
    /// tick with the present time would look like a ship that stands still, and cost a vector each time.
    pub fn late_past_tick(&self) -> Duration {
        self.now.since(self.late_tick.time(self.step))
    }

    /// The lag.
    pub fn lag(&self) -> &Lag {
        &self.lag
    }

    /// What was done and is not shown yet, oldest first: what an echo may acknowledge where the lag is large.
    pub fn waiting(&self) -> impl ExactSizeIterator<Item = &Operation<S::Act>> {
        self.operations.iter()
    }

    /// Shows things later, or sooner, from when the change begins, or from now on if that has passed.
    pub fn set_lag(&mut self, change: LagChange, now: GlobalTime) -> Result<(), LocalSiteError> {
        self.lag.change(change, now.max(self.now)).map(|_| ()).map_err(LocalSiteError::Lag)
    }

    /// The player does something. Answers it as it goes into the list, for games that also send operations.
    pub fn issue(&mut self, issuer: HostId, act: S::Act, now: GlobalTime) -> Result<Operation<S::Act>, LocalSiteError> {
        if now < self.now {
            return Err(LocalSiteError::TimeWentBackwards { by: self.now.since(now) });
        }
        if self.operations.len() >= MAX_WAITING {
            return Err(LocalSiteError::TooManyOperations { limit: MAX_WAITING });
        }
        if !self.late.permits(issuer, &act) {
            return Err(LocalSiteError::NotPermitted);
        }
        self.now = now;
        // What comes at a tick that was executed already belongs to the next.
        let at = now.max(self.late_tick.time(self.step) + Duration::from_nanos(1));
        let operation = Operation { at, issuer, sequence: self.next_sequence, act };
        self.next_sequence = self.next_sequence.wrapping_add(1);
        self.operations.push_back(operation.clone());
        Ok(operation)
    }

    /// At the end of each period: executes what was issued in it on s_late, and what was issued in the period a lag ago on
    /// s_real, which it then needs no longer.
    pub fn advance(&mut self, now: GlobalTime) -> Result<(), LocalSiteError> {
        if now < self.now {
            return Err(LocalSiteError::TimeWentBackwards { by: self.now.since(now) });
        }
        let late_to = Tick::at_or_before(now, self.step);
        if late_to.0.saturating_sub(self.late_tick.0) > MAX_CATCH_UP {
            return Err(LocalSiteError::TooFarAhead { by: now.since(self.late_tick.time(self.step)) });
        }
        self.now = now;
        let mut verdicts = Vec::new();
        while self.late_tick < late_to {
            self.late_tick = self.late_tick.next();
            let fresh = self.operations.iter().skip(self.told);
            self.told += execute(&mut self.late, self.late_tick.time(self.step), fresh, &mut verdicts);
        }
        let real_to = Tick::at_or_before(self.lag.shown(now), self.step);
        while self.real_tick < real_to {
            self.real_tick = self.real_tick.next();
            let shown = execute(&mut self.real, self.real_tick.time(self.step), self.operations.iter(), &mut verdicts);
            self.operations.drain(..shown);
            self.told -= shown;
        }
        Ok(())
    }
}

/// Steps to a tick and executes the operations issued up to it. Answers how many.
fn execute<'a, S: Simulation>(
    state: &mut S,
    tick: GlobalTime,
    operations: impl Iterator<Item = &'a Operation<S::Act>>,
    verdicts: &mut Vec<S::Verdict>,
) -> usize
where
    S::Act: 'a,
{
    verdicts.clear();
    state.step(verdicts);
    let due = operations.take_while(|operation| operation.at <= tick);
    due.map(|operation| state.apply(operation.issuer, &operation.act, verdicts)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Adds up what it is told, and doubles with time, so that the order of things matters.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Doubler(f64);

    impl Simulation for Doubler {
        type Act = f64;
        type Snapshot = Self;
        type Verdict = ();

        fn step_length(&self) -> Duration {
            Duration::from_millis(20)
        }

        fn save(&self, into: &mut Self) {
            into.clone_from(self);
        }

        fn restore(&mut self, from: &Self) {
            self.clone_from(from);
        }

        fn step(&mut self, _: &mut Vec<()>) {
            self.0 *= 1.01;
        }

        fn apply(&mut self, _: HostId, act: &f64, _: &mut Vec<()>) {
            self.0 += act;
        }

        fn digest(&self) -> u64 {
            self.0.to_bits()
        }

        fn permits(&self, issuer: HostId, _: &f64) -> bool {
            issuer == HostId(1)
        }
    }

    fn at(ms: i64) -> GlobalTime {
        GlobalTime::from_millis(ms)
    }

    fn site(lag_ms: i64) -> LocalSite<Doubler> {
        LocalSite::new(Doubler(1.0), Lag::constant(Duration::from_millis(lag_ms)).unwrap(), at(0))
    }

    /// s_late at every tick, and s_real.
    fn run(lag_ms: i64) -> (Vec<Doubler>, Vec<Doubler>) {
        let mut site = site(lag_ms);
        let (mut late, mut real) = (Vec::new(), Vec::new());
        for tick in 1..200 {
            for part in [3, 11] {
                if (tick * 7 + part) % 5 == 0 {
                    site.issue(HostId(1), (tick + part) as f64, at(tick * 20 - part)).unwrap();
                }
            }
            site.advance(at(tick * 20)).unwrap();
            late.push(site.late().clone());
            real.push(site.real().clone());
        }
        (late, real)
    }

    #[test]
    fn the_real_state_is_the_late_state_a_lag_ago_to_the_last_bit() {
        let (late, real) = run(160);
        assert_eq!(late[..late.len() - 8], real[8..]);
        let (late, real) = run(0);
        assert_eq!(late, real);
    }

    #[test]
    fn between_two_ticks_one_knows_how_far() {
        let mut site = site(70);
        site.advance(at(200)).unwrap();
        assert_eq!((site.real_tick(), site.past_tick()), (Tick(6), Duration::from_millis(10)));
        site.advance(at(210)).unwrap();
        assert_eq!((site.real_tick(), site.past_tick()), (Tick(7), Duration::ZERO));
    }

    #[test]
    fn what_was_shown_is_deleted_and_what_was_not_is_kept() {
        let mut site = site(100);
        for ms in [5, 25, 45] {
            site.issue(HostId(1), 1.0, at(ms)).unwrap();
            site.advance(at(ms + 15)).unwrap();
        }
        assert_eq!(site.waiting().len(), 3);
        site.advance(at(140)).unwrap();
        assert_eq!(site.waiting().map(|o| o.sequence).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn an_operation_at_a_tick_already_executed_counts_for_the_next_in_both_states() {
        let mut site = site(40);
        site.advance(at(20)).unwrap();
        site.issue(HostId(1), 1.0, at(20)).unwrap();
        site.advance(at(40)).unwrap();
        let late = site.late().clone();
        site.advance(at(80)).unwrap();
        assert_eq!(*site.real(), late);
    }

    #[test]
    fn what_cannot_be_changes_nothing() {
        let mut site = site(100);
        site.advance(at(500)).unwrap();
        let before = site.late().clone();
        assert_eq!(site.issue(HostId(2), 1.0, at(510)), Err(LocalSiteError::NotPermitted));
        let back = Duration::from_millis(100);
        assert_eq!(site.issue(HostId(1), 1.0, at(400)), Err(LocalSiteError::TimeWentBackwards { by: back }));
        assert_eq!(site.advance(at(400)), Err(LocalSiteError::TimeWentBackwards { by: back }));
        assert!(matches!(site.advance(at(1_000_000_000)), Err(LocalSiteError::TooFarAhead { .. })));
        assert_eq!((site.waiting().len(), site.late()), (0, &before));
        let full = (0..).find_map(|_| site.issue(HostId(1), 1.0, at(500)).err());
        assert_eq!(full, Some(LocalSiteError::TooManyOperations { limit: MAX_WAITING }));
    }

    #[test]
    fn a_change_of_lag_never_takes_back_what_was_shown() {
        let mut site = site(0);
        let mut shown = Tick(i64::MIN);
        for tick in 1..600 {
            if tick == 100 || tick == 200 {
                let (from, to) = if tick == 100 { (0, 300) } else { (300, 60) };
                let [from, to] = [from, to].map(Duration::from_millis);
                site.set_lag(LagChange::usual(from, to, at(tick * 20)), at(tick * 20)).unwrap();
            }
            site.advance(at(tick * 20)).unwrap();
            assert!(site.real_tick() >= shown);
            shown = site.real_tick();
        }
        assert_eq!(shown, Tick(599 - 3));
    }
}
