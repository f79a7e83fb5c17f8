//! The session's clock, kept in step inside the connection.
//!
//! One host is the *reference*: its clock is the session's. Every other host is a *follower* that asks now and then
//! what time it is ([`Ping`], [`Pong`]) and learns from every stamped datagram besides.
//!
//! | file | what it does |
//! |---|---|
//! | `follower` | what a follower does, by means of the others |
//! | `exchange` | pings and pongs, their bytes, which answer belongs to which question |
//! | `hull` | offset and skew from the fastest packets of each direction |
//! | `guard` | tells a clock that was set from a path that changed from a stray packet |
//! | `slew` | follows the estimate without ever running backwards |
//!
//! **Stamp packets when they arrive**, not when the next frame begins: half a frame of waiting is an error a hundred
//! times larger than this clock's own.
//!
//! **The limit.** Two-way exchanges cannot see a difference between the ways there and back: an offset error of half
//! that difference goes unnoticed. [`Clock::uncertainty`] is for paths whose fastest packets take equally long both
//! ways; [`Clock::hard_bound`] holds whatever the path.
//!
//! **What it rests on.** Delays have a floor that some packets of every minute come near to. On a path without one (a
//! normal distribution, a queue that never empties) the clock is no better than an average of half round trips, and its
//! uncertainty too small. When the path becomes longer for good, the uncertainty is large for 15 minutes, until that
//! cannot be a mere congestion; the time stays good.

mod exchange;
mod follower;
mod guard;
mod hull;
mod slew;

use alloc::boxed::Box;

pub use exchange::{EXCHANGE_VERSION, KIND_PING, KIND_PONG, ParseError, Ping, Pong};

use crate::time::{Duration, GlobalTime, Instant};
use follower::{Follower, nanos};
use hull::Estimate;

/// When to ping, and what to make of trouble.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ClockConfig {
    /// Between two pings at the start and after an upset.
    pub fast_interval: Duration,
    /// For how long pings go out fast.
    pub fast_for: Duration,
    /// Between two pings otherwise.
    pub steady_interval: Duration,
    /// A pong that takes longer than this is not used.
    pub patience: Duration,
    /// A host that does nothing for longer than this was asleep.
    pub suspended_after: Duration,
    /// The output jumps ahead when it is further behind than this; otherwise it catches up.
    pub jump_over: Duration,
    /// Makes the pings' nonces. Take it from a source of randomness where others can send datagrams to this host.
    pub seed: u64,
}

impl Default for ClockConfig {
    fn default() -> Self {
        Self {
            fast_interval: Duration::from_millis(50),
            fast_for: Duration::from_secs(2),
            steady_interval: Duration::from_millis(500),
            patience: Duration::from_secs(3),
            suspended_after: Duration::from_secs(5),
            jump_over: Duration::from_millis(250),
            seed: 0,
        }
    }
}

/// How far a clock has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockState {
    /// Nothing is known yet: there is no time to give.
    Unsynchronised,
    /// There is a time, and it is getting better quickly.
    Converging,
    /// The time is as good as the path allows.
    Synchronised,
}

/// What a game may want to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockEvent {
    /// One of the two clocks was set: the offset changed by this much at once.
    Stepped(Duration),
    /// This host did nothing for so long.
    Suspended(Duration),
    /// The output went ahead by this much at once.
    JumpedForward(Duration),
}

/// Why an input was not used. The clock is then as it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockError {
    /// Nobody asked for this pong.
    UnknownPong,
    /// This pong came before.
    RepeatedPong,
    /// This pong took too long.
    LatePong,
    /// Its times cannot be: sent before it was received, or faster than time itself.
    ImpossibleTimes,
    /// Only the reference answers pings.
    NotReference,
    /// The reference asks nobody.
    NotFollower,
    /// Whoever does not know the time cannot give it to others.
    NoTime,
}

impl core::fmt::Display for ClockError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::UnknownPong => "nobody asked for this pong",
            Self::RepeatedPong => "this pong came before",
            Self::LatePong => "this pong took too long",
            Self::ImpossibleTimes => "the pong's times cannot be",
            Self::NotReference => "only the reference answers pings",
            Self::NotFollower => "the reference asks nobody",
            Self::NoTime => "this clock does not know the time yet",
        })
    }
}

impl core::error::Error for ClockError {}

/// Turns this host's [`Instant`] into the session's [`GlobalTime`].
///
/// Its methods are of four kinds: getters; `handle_*`, by which the network speaks; commands, by which the game speaks;
/// and `poll_*`, by which the clock answers. [`poll_timeout`](Self::poll_timeout) says when to come back.
///
/// ```
/// use evenkeel::clock::{Clock, ClockConfig, ClockState};
/// use evenkeel::{Duration, Instant};
///
/// // The server's clock is the session's; the player's host has been up for 90 s longer.
/// let server = Clock::reference(Duration::ZERO);
/// let mut player = Clock::follower(ClockConfig::default());
/// let ahead = Duration::from_secs(90);
/// let way = Duration::from_millis(20);
///
/// let mut now = Instant::from_millis(1_000); // on the server
/// for _ in 0..10 {
///     let ping = player.poll_ping(now + ahead).expect("one is due every 50 ms");
///     let pong = server.handle_ping(ping, now + way)?;
///     player.handle_pong(pong, now + ahead + way * 2)?;
///     now += Duration::from_millis(50);
/// }
/// assert_eq!(player.state(), ClockState::Synchronised);
/// let (shown, truth) = (player.now(now + ahead).expect("there is a time"), server.global(now).expect("always"));
/// assert!(shown.since(truth).abs() < Duration::from_micros(50));
/// # Ok::<(), evenkeel::clock::ClockError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Clock {
    role: Role,
}

#[derive(Clone, Debug)]
enum Role {
    Reference { offset: Duration, last: Option<GlobalTime> },
    Follower(Box<Follower>),
}

impl Clock {
    /// The clock of the host whose time is the session's: session time is this host's plus `origin_offset`.
    pub fn reference(origin_offset: Duration) -> Self {
        Self { role: Role::Reference { offset: origin_offset, last: None } }
    }

    /// A clock that follows the reference.
    pub fn follower(config: ClockConfig) -> Self {
        Self { role: Role::Follower(Box::new(Follower::new(config))) }
    }

    // --- getters ---

    /// The best estimate of session time at `at`, which may take back what it said before; nothing until the first
    /// exchange. For stamping what others will read; a game's own time is [`now`](Self::now).
    pub fn global(&self, at: Instant) -> Option<GlobalTime> {
        match &self.role {
            Role::Reference { offset, .. } => Some(GlobalTime::from_nanos(at.as_nanos()) + *offset),
            Role::Follower(follower) => follower.global(at),
        }
    }

    /// When this host's clock shows what [`global`](Self::global) calls `time`.
    pub fn instant_of(&self, time: GlobalTime) -> Option<Instant> {
        match &self.role {
            Role::Reference { offset, .. } => Some(Instant::from_nanos(time.as_nanos()) - *offset),
            Role::Follower(follower) => follower.instant_of(time),
        }
    }

    /// The largest error to be expected, if the fastest packets take equally long both ways; nothing before the first
    /// exchange. As of the last packet; see [`uncertainty_at`](Self::uncertainty_at).
    pub fn uncertainty(&self) -> Option<Duration> {
        self.estimated(|estimate| estimate.uncertainty)
    }

    /// [`uncertainty`](Self::uncertainty) at a later moment, if nothing arrives until then.
    pub fn uncertainty_at(&self, at: Instant) -> Option<Duration> {
        match &self.role {
            Role::Reference { .. } => Some(Duration::ZERO),
            Role::Follower(follower) => follower.uncertainty_at(at),
        }
    }

    /// The largest error possible on any path; nothing before the first exchange.
    pub fn hard_bound(&self) -> Option<Duration> {
        self.estimated(|estimate| estimate.bound)
    }

    /// The smallest round trip of the last minutes; nothing before the first exchange.
    pub fn rtt_min(&self) -> Option<Duration> {
        self.estimated(|estimate| estimate.floor)
    }

    /// By how many millionths session time runs faster than this host's clock.
    pub fn skew_ppm(&self) -> f64 {
        self.estimate().map_or(0.0, |estimate| estimate.skew * 1e6)
    }

    /// How far the clock has come.
    pub fn state(&self) -> ClockState {
        match &self.role {
            Role::Reference { .. } => ClockState::Synchronised,
            Role::Follower(follower) => follower.state(),
        }
    }

    /// Whether this is the reference.
    pub fn is_reference(&self) -> bool {
        matches!(self.role, Role::Reference { .. })
    }

    /// All memory this clock holds. It does not grow.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + match &self.role {
                Role::Reference { .. } => 0,
                Role::Follower(follower) => size_of::<Follower>() + follower.heap_bytes(),
            }
    }

    fn estimate(&self) -> Option<&Estimate> {
        match &self.role {
            Role::Reference { .. } => None,
            Role::Follower(follower) => follower.estimate(),
        }
    }

    /// A figure of the estimate; the reference has no error and no way to go.
    fn estimated(&self, read: impl Fn(&Estimate) -> f64) -> Option<Duration> {
        match self.is_reference() {
            true => Some(Duration::ZERO),
            false => self.estimate().map(|estimate| nanos(read(estimate))),
        }
    }

    // --- the network speaks ---

    /// The reference answers a ping. The pong says it leaves at once; if it waits, [`stamp`](Self::stamp) it again when
    /// it does leave.
    pub fn handle_ping(&self, ping: Ping, received: Instant) -> Result<Pong, ClockError> {
        match (&self.role, self.global(received)) {
            (Role::Reference { .. }, Some(received)) => Ok(Pong { ping, received, sent: received }),
            _ => Err(ClockError::NotReference),
        }
    }

    /// An answer arrived.
    pub fn handle_pong(&mut self, pong: Pong, received: Instant) -> Result<(), ClockError> {
        self.follower_mut()?.handle_pong(pong, received)
    }

    /// A datagram arrived that the reference stamped with the session time at which it left.
    pub fn handle_stamp(&mut self, sent: GlobalTime, received: Instant) -> Result<(), ClockError> {
        self.follower_mut()?.handle_stamp(sent, received);
        Ok(())
    }

    /// The reference reports when it received a datagram that this host sent at `sent`; the report arrived `now`.
    pub fn handle_echo(&mut self, sent: Instant, received: GlobalTime, now: Instant) -> Result<(), ClockError> {
        self.follower_mut()?.handle_echo(sent, received, now);
        Ok(())
    }

    // --- the game speaks ---

    /// Session time for the game: like [`global`](Self::global), but it never runs backwards, whatever happens. If
    /// `now` goes backwards it repeats its last answer. Nothing until the first exchange.
    ///
    /// This is the time that every call of a [`Sender`](crate::Sender) or [`Receiver`](crate::Receiver) is to be given. While
    /// it makes up for an error it may run up to 5 % fast or slow: velocities are better given than derived then.
    #[inline]
    pub fn now(&mut self, now: Instant) -> Option<GlobalTime> {
        match &mut self.role {
            Role::Reference { offset, last } => {
                let time = GlobalTime::from_nanos(now.as_nanos()) + *offset;
                *last = Some(last.map_or(time, |last| last.max(time)));
                *last
            }
            Role::Follower(follower) => follower.now(now),
        }
    }

    /// This host's clock is the session's from `now` on: the reference has gone, and this host was elected. Time goes on from
    /// what this clock shows.
    pub fn lead(&mut self, now: Instant) -> Result<(), ClockError> {
        if self.is_reference() {
            return Ok(());
        }
        let shown = self.now(now).ok_or(ClockError::NoTime)?;
        let offset = shown.since(GlobalTime::from_nanos(now.as_nanos()));
        self.role = Role::Reference { offset, last: Some(shown) };
        Ok(())
    }

    /// Follows another reference from `now` on. Until that has answered, time goes on as before; it never runs backwards. Give
    /// the configuration another seed than before: answers of the former reference are strangers' answers then.
    ///
    /// ```
    /// use evenkeel::clock::{Clock, ClockConfig};
    /// use evenkeel::{Duration, Instant};
    /// // The host whose clock was the session's leaves; of two others, one is elected.
    /// let at = Instant::from_millis;
    /// let (mut elected, mut other) = (Clock::reference(Duration::from_secs(7)), Clock::reference(Duration::from_secs(7)));
    /// # elected.follow(ClockConfig::default(), at(0));
    /// # other.follow(ClockConfig::default(), at(0));
    /// let before = other.now(at(100));
    /// elected.lead(at(100))?;
    /// other.follow(ClockConfig { seed: 2, ..ClockConfig::default() }, at(100));
    /// assert!(elected.is_reference() && other.now(at(100)) >= before);
    /// # Ok::<(), evenkeel::clock::ClockError>(())
    /// ```
    pub fn follow(&mut self, config: ClockConfig, now: Instant) {
        let follower = Follower::new(config);
        let (skew, uncertainty) = (self.skew_ppm() / 1e6, self.uncertainty_at(now).unwrap_or(Duration::ZERO));
        // The new reference may be as far off as this host was.
        let follower = match self.now(now) {
            Some(shown) => follower.going_on(now, shown, skew, uncertainty * 2),
            None => follower,
        };
        self.role = Role::Follower(Box::new(follower));
    }

    /// Marks a pong as leaving `now`, at the last moment before it does.
    pub fn stamp(&self, pong: &mut Pong, now: Instant) {
        if let Some(sent) = self.global(now) {
            pong.sent = sent.max(pong.received);
        }
    }

    // --- the clock answers ---

    /// The ping to send now, if one is due.
    pub fn poll_ping(&mut self, now: Instant) -> Option<Ping> {
        self.follower_mut().ok()?.poll_ping(now)
    }

    /// When the next ping is due. Now is as good as any time if that has passed.
    pub fn poll_timeout(&self) -> Option<Instant> {
        match &self.role {
            Role::Reference { .. } => None,
            Role::Follower(follower) => Some(follower.next_ping()),
        }
    }

    /// The oldest event not yet told.
    pub fn poll_event(&mut self) -> Option<ClockEvent> {
        self.follower_mut().ok()?.poll_event()
    }

    fn follower_mut(&mut self) -> Result<&mut Follower, ClockError> {
        match &mut self.role {
            Role::Reference { .. } => Err(ClockError::NotFollower),
            Role::Follower(follower) => Ok(follower),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// A reference, a follower and a path of 20 ms and more each way; `offset` is session time minus host time.
    struct Pair {
        reference: Clock,
        follower: Clock,
        truth: GlobalTime,
        offset: Duration,
        random: u64,
        under_way: Vec<(GlobalTime, Pong)>,
    }

    impl Pair {
        fn new(offset: Duration, seed: u64) -> Self {
            Self {
                reference: Clock::reference(Duration::ZERO),
                follower: Clock::follower(ClockConfig { seed, ..ClockConfig::default() }),
                truth: GlobalTime::from_millis(5_000),
                offset,
                random: seed,
                under_way: Vec::new(),
            }
        }

        fn host(&self) -> Instant {
            Instant::from_nanos(self.truth.as_nanos()) - self.offset
        }

        fn way(&mut self) -> Duration {
            self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            MS * 20 + Duration::from_nanos((self.random >> 42) as i64) // up to 4 ms more
        }

        /// One millisecond passes; answers how far off the follower's output is.
        fn tick(&mut self) -> Option<Duration> {
            self.truth += MS;
            let host = self.host();
            if let Some(ping) = self.follower.poll_ping(host) {
                let at_reference = self.truth + self.way();
                let pong = self.reference.handle_ping(ping, Instant::from_nanos(at_reference.as_nanos())).unwrap();
                let arrives = at_reference + self.way();
                self.under_way.push((arrives, pong));
            }
            let truth = self.truth;
            for (_, pong) in self.under_way.extract_if(.., |(arrives, _)| *arrives <= truth) {
                // A clock that was set meanwhile makes impossible times.
                let _ = self.follower.handle_pong(pong, host);
            }
            self.follower.now(host).map(|shown| shown.since(truth))
        }

        fn run(&mut self, millis: u32) -> Option<Duration> {
            (0..millis).map(|_| self.tick()).last().flatten()
        }
    }

    #[test]
    fn comes_to_know_the_time() {
        let mut pair = Pair::new(Duration::from_secs(-77), 1);
        assert_eq!((pair.follower.state(), pair.follower.now(pair.host())), (ClockState::Unsynchronised, None));
        assert!(pair.run(100).unwrap().abs() < MS * 3);
        assert_eq!(pair.follower.state(), ClockState::Converging);
        let off = pair.run(20_000).unwrap();
        assert!(off.abs() < MS, "{off}");
        assert_eq!(pair.follower.state(), ClockState::Synchronised);
        assert!(pair.follower.rtt_min().unwrap() - MS * 40 < MS);
        assert!(pair.follower.hard_bound().unwrap() >= MS * 20);
        assert!(pair.follower.skew_ppm().abs() < 150.0);
        assert_eq!(pair.follower.poll_event(), None);
    }

    #[test]
    fn instant_of_is_the_inverse_of_global() {
        let mut pair = Pair::new(Duration::from_secs(1_000), 3);
        pair.run(3_000);
        for later in [0, 1, 10, 1_000] {
            let at = pair.host() + Duration::from_secs(later);
            let back = pair.follower.instant_of(pair.follower.global(at).unwrap()).unwrap();
            assert!(back.since(at).abs().as_nanos() <= 2);
        }
    }

    #[test]
    fn pings_follow_the_schedule() {
        let mut clock = Clock::follower(ClockConfig::default());
        let sent: Vec<i64> = (0..10_000).filter(|ms| clock.poll_ping(Instant::from_millis(*ms)).is_some()).collect();
        assert_eq!(sent.iter().filter(|ms| **ms < 2_000).count(), 40);
        assert_eq!(sent.iter().filter(|ms| **ms >= 2_000).count(), 16);
        assert_eq!(clock.poll_timeout(), Some(Instant::from_millis(10_000)));
    }

    #[test]
    fn refused_pongs_change_nothing() {
        let mut clock = Clock::follower(ClockConfig::default());
        let reference = Clock::reference(Duration::ZERO);
        let at = Instant::from_millis;
        let ping = clock.poll_ping(at(0)).unwrap();
        let pong = reference.handle_ping(ping, at(20)).unwrap();
        clock.handle_pong(pong, at(40)).unwrap();
        let open = clock.poll_ping(at(50)).unwrap();
        let before = format!("{clock:?}");
        let impossible = Pong { ping: open, received: GlobalTime::from_millis(70), sent: GlobalTime::from_millis(60) };
        let instant = Pong { ping: open, received: GlobalTime::ZERO, sent: GlobalTime::from_millis(60) };
        let unknown = Pong { ping: Ping { sequence: 99, nonce: 0 }, ..pong };
        assert_eq!(clock.handle_pong(pong, at(60)), Err(ClockError::RepeatedPong));
        assert_eq!(clock.handle_pong(impossible, at(90)), Err(ClockError::ImpossibleTimes));
        assert_eq!(clock.handle_pong(instant, at(90)), Err(ClockError::ImpossibleTimes));
        assert_eq!(clock.handle_pong(unknown, at(90)), Err(ClockError::UnknownPong));
        assert_eq!(clock.handle_pong(Pong { ping: open, ..pong }, at(9_000)), Err(ClockError::LatePong));
        assert_eq!(format!("{clock:?}"), before);
    }

    #[test]
    fn roles_are_kept() {
        let mut reference = Clock::reference(MS * 7);
        let mut follower = Clock::follower(ClockConfig::default());
        let ping = follower.poll_ping(Instant::ZERO).unwrap();
        let mut pong = reference.handle_ping(ping, Instant::ZERO).unwrap();
        reference.stamp(&mut pong, Instant::from_millis(2));
        assert_eq!((pong.received, pong.sent), (GlobalTime::from_millis(7), GlobalTime::from_millis(9)));
        assert_eq!(follower.handle_ping(ping, Instant::ZERO), Err(ClockError::NotReference));
        assert_eq!(reference.handle_pong(pong, Instant::ZERO), Err(ClockError::NotFollower));
        assert_eq!(reference.poll_ping(Instant::ZERO), None);
        assert_eq!(reference.now(Instant::ZERO), Some(GlobalTime::from_millis(7)));
        assert_eq!(reference.instant_of(GlobalTime::from_millis(7)), Some(Instant::ZERO));
        assert_eq!((reference.uncertainty(), reference.poll_timeout()), (Some(Duration::ZERO), None));
    }

    /// Of three, the reference leaves; the second leads from then on and the third follows it. Nobody's time runs backwards, and
    /// the two agree again to a millisecond before long.
    #[test]
    fn another_host_leads_when_the_reference_leaves() {
        for seed in 0..20 {
            let mut second = Pair::new(Duration::from_secs(-77), seed);
            let mut third = Pair::new(Duration::from_secs(400), seed + 100);
            second.run(3_000);
            third.run(3_000);
            second.follower.lead(second.host()).unwrap();
            // A second goes by before the third hears of it: it goes on by itself.
            let mut shown = third.follower.now(third.host());
            for _ in 0..1_000 {
                (second.truth, third.truth) = (second.truth + MS, third.truth + MS);
                let next = third.follower.now(third.host());
                assert!(next >= shown);
                shown = next;
            }
            third.follower.follow(ClockConfig { seed: 5, ..ClockConfig::default() }, third.host());
            assert!(third.follower.uncertainty().is_some());
            third.reference = second.follower.clone();
            for passed in 0..5_000 {
                // The reference's host clock is what `second` runs on.
                (second.truth, third.truth) = (second.truth + MS, third.truth + MS);
                if let Some(ping) = third.follower.poll_ping(third.host()) {
                    let (up, down) = (third.way(), third.way());
                    let pong = third.reference.handle_ping(ping, second.host() + up).unwrap();
                    let _ = third.follower.handle_pong(pong, third.host() + up + down);
                }
                let next = third.follower.now(third.host());
                assert!(next >= shown, "{shown:?} then {next:?}");
                shown = next;
                let off = shown.unwrap().since(second.follower.now(second.host()).unwrap());
                assert!(passed < 1_000 || off.abs() < MS * 2, "seed {seed}, after {passed} ms: {off}");
            }
        }
    }

    #[test]
    fn whoever_does_not_know_the_time_does_not_lead() {
        let mut clock = Clock::follower(ClockConfig::default());
        assert_eq!(clock.lead(Instant::ZERO), Err(ClockError::NoTime));
        assert!(!clock.is_reference());
    }

    #[test]
    fn a_clock_that_is_set_a_minute_either_way_does_not_take_the_time_along() {
        for step in [Duration::from_secs(60), Duration::from_secs(-60)] {
            let mut pair = Pair::new(Duration::from_secs(9), 5);
            pair.run(5_000);
            pair.offset -= step;
            let off = pair.run(2_000).unwrap();
            assert!(off.abs() < MS * 3, "set by {step}: off by {off}");
        }
    }

    #[test]
    fn one_way_packets_alone_are_enough() {
        let mut clock = Clock::follower(ClockConfig::default());
        for ms in 0..50 {
            let host = Instant::from_millis(100 * ms);
            let session = GlobalTime::from_millis(100 * ms + 3_000);
            clock.handle_stamp(session - MS * 20, host).unwrap();
            clock.handle_echo(host - MS * 40, session - MS * 20, host).unwrap();
        }
        let shown = clock.global(Instant::from_millis(5_000)).unwrap();
        assert!(shown.since(GlobalTime::from_millis(8_000)).abs() < MS / 10, "{shown}");
    }

    #[test]
    fn a_host_that_slept_says_so_and_recovers() {
        let mut pair = Pair::new(Duration::ZERO, 5);
        pair.run(5_000);
        pair.truth += Duration::from_secs(3_600);
        pair.under_way.clear();
        pair.tick();
        assert_eq!(pair.follower.poll_event(), Some(ClockEvent::Suspended(Duration::from_secs(3_600) + MS)));
        let off = pair.run(2_000).unwrap();
        assert!(off.abs() < MS, "{off}");
    }

    #[test]
    fn uncertainty_is_honest() {
        let mut beyond = 0;
        for seed in 0..100u64 {
            let mut pair = Pair::new(Duration::from_secs(9), seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            for _ in 0..20 {
                let off = pair.run(500).unwrap();
                beyond += u32::from(off.abs() > pair.follower.uncertainty().unwrap());
            }
        }
        assert!(beyond <= 20, "{beyond} of 2000");
    }

    #[test]
    fn memory_is_bounded() {
        let mut pair = Pair::new(Duration::from_secs(1), 7);
        let before = pair.follower.memory_bytes();
        pair.run(200_000);
        assert_eq!(pair.follower.memory_bytes(), before);
        assert!(before <= 8 * 1024, "{before} bytes");
    }

    /// Anything that may be done to a clock; spans in ms.
    #[derive(Clone, Copy, Debug)]
    enum Input {
        Wait(i64),
        Now,
        Pong { received: i64, hold: i64 },
        WildPong(i64, i64),
        Stamp(i64),
        Echo(i64, i64),
        Lead,
        Follow(u64),
    }

    fn inputs() -> impl Strategy<Value = Vec<Input>> {
        let input = prop_oneof![
            4 => (-20i64..200).prop_map(Input::Wait),
            1 => (-10_000i64..10_000).prop_map(Input::Wait),
            4 => Just(Input::Now),
            4 => (-50i64..50, 0i64..5).prop_map(|(received, hold)| Input::Pong { received, hold }),
            1 => any::<(i64, i64)>().prop_map(|(received, sent)| Input::WildPong(received, sent)),
            2 => prop_oneof![-5_000i64..5_000, any::<i64>()].prop_map(Input::Stamp),
            1 => (-5_000i64..5_000, any::<i64>()).prop_map(|(sent, received)| Input::Echo(sent, received)),
            1 => Just(Input::Lead),
            1 => any::<u64>().prop_map(Input::Follow),
        ];
        proptest::collection::vec(input, 1..300)
    }

    fn apply(clock: &mut Clock, now: Instant, input: Input) {
        let session = |ms: i64| GlobalTime::from_nanos(now.as_nanos()) + Duration::from_millis(ms);
        let pong = match input {
            Input::Pong { received, hold } => Some((session(received), session(received + hold))),
            Input::WildPong(received, sent) => Some((GlobalTime::from_nanos(received), GlobalTime::from_nanos(sent))),
            _ => None,
        };
        if let (Some((received, sent)), Some(ping)) = (pong, clock.poll_ping(now)) {
            let _ = clock.handle_pong(Pong { ping, received, sent }, now + MS * 30);
        }
        match input {
            // The reference does not want them.
            Input::Stamp(ms) => {
                let _ = clock.handle_stamp(session(ms), now);
            }
            Input::Echo(sent, received) => {
                let _ = clock.handle_echo(now + Duration::from_millis(sent), GlobalTime::from_nanos(received), now);
            }
            Input::Lead => {
                let _ = clock.lead(now);
            }
            Input::Follow(seed) => clock.follow(ClockConfig { seed, ..ClockConfig::default() }, now),
            _ => (),
        }
    }

    proptest! {
        #[test]
        fn never_runs_backwards(inputs in inputs(), start in prop_oneof![Just(0), any::<i64>()]) {
            let mut clock = Clock::follower(ClockConfig::default());
            let mut now = Instant::from_nanos(start);
            let mut shown = None;
            for input in inputs {
                if let Input::Wait(ms) = input {
                    now += Duration::from_millis(ms);
                }
                apply(&mut clock, now, input);
                let next = clock.now(now);
                prop_assert!(next >= shown, "{shown:?} then {next:?}");
                shown = next;
            }
            while clock.poll_event().is_some() {}
        }

        #[test]
        fn shifting_time_shifts_results(host in -1_000_000_000i64..1_000_000_000, seed: u64, session in 0i64..1_000_000) {
            let mut here = Pair::new(Duration::ZERO, seed);
            let mut there = Pair::new(Duration::from_nanos(host), seed);
            there.truth += Duration::from_nanos(session);
            for _ in 0..400 {
                prop_assert_eq!(here.tick(), there.tick());
            }
            prop_assert_eq!(here.follower.uncertainty(), there.follower.uncertainty());
        }

        #[test]
        fn a_step_of_half_a_second_heals_within_two(seed: u64, ahead: bool, when in 3_000u32..4_000) {
            let mut pair = Pair::new(Duration::from_secs(9), seed);
            pair.run(when);
            let step = Duration::from_millis(if ahead { 500 } else { -500 });
            pair.offset -= step;
            let off = pair.run(2_000).unwrap();
            prop_assert!(off.abs() < MS * 3, "off by {off}");
            let stepped = core::iter::from_fn(|| pair.follower.poll_event())
                .any(|event| matches!(event, ClockEvent::Stepped(by) if (by + step).abs() < MS * 5));
            prop_assert!(stepped);
        }

        #[test]
        fn the_hard_bound_holds(seed: u64) {
            let mut pair = Pair::new(Duration::from_secs(9), seed);
            for _ in 0..20 {
                let off = pair.run(250).unwrap();
                prop_assert!(off.abs() <= pair.follower.hard_bound().unwrap());
            }
        }
    }
}
