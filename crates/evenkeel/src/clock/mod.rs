//! The session's clock, kept in step inside the connection.
//!
//! One host is the *reference*: its clock is the session's. Every other host is a *follower* that asks now and then
//! what time it is ([`Ping`], [`Pong`]) and learns from every stamped datagram besides.
//!
//! | file | what it does |
//! |---|---|
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

mod exchange;
mod guard;
mod hull;
mod slew;

use alloc::boxed::Box;
use alloc::collections::VecDeque;

pub use exchange::{EXCHANGE_VERSION, KIND_PING, KIND_PONG, ParseError, Ping, Pong};

use crate::time::{Duration, GlobalTime, Instant};
use exchange::Outstanding;
use guard::{Exchange, Guard, Verdict};
use hull::{Estimate, Hull};
use slew::Slew;

/// At most so many events wait to be polled; the oldest make room.
const EVENTS: usize = 8;
/// After so many exchanges since the last upset the clock counts as synchronised.
const SETTLED: u32 = 8;
/// The lines are fitted at every pong for so long after an upset, then only every [`FIT_INTERVAL`].
const FIT_EAGERLY: Duration = Duration::from_secs(10);
const FIT_INTERVAL: Duration = Duration::from_millis(500);

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
/// assert_eq!(player.now(now + ahead), server.global(now));
/// # Ok::<(), evenkeel::clock::ClockError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Clock {
    role: Role,
}

#[derive(Clone, Debug)]
enum Role {
    Reference { offset: Duration },
    Follower(Box<Follower>),
}

impl Clock {
    /// The clock of the host whose time is the session's: session time is this host's plus `origin_offset`.
    pub fn reference(origin_offset: Duration) -> Self {
        Self { role: Role::Reference { offset: origin_offset } }
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
            Role::Reference { offset } => Some(GlobalTime::from_nanos(at.as_nanos()) + *offset),
            Role::Follower(follower) => follower.global(at),
        }
    }

    /// When this host's clock shows what [`global`](Self::global) calls `time`.
    pub fn instant_of(&self, time: GlobalTime) -> Option<Instant> {
        match &self.role {
            Role::Reference { offset } => Some(Instant::from_nanos(time.as_nanos()) - *offset),
            Role::Follower(follower) => follower.instant_of(time),
        }
    }

    /// The largest error to be expected, if the fastest packets take equally long both ways; nothing before the first
    /// exchange. As of the last packet: a silent minute later it is larger.
    pub fn uncertainty(&self) -> Option<Duration> {
        self.estimated(Duration::ZERO, |estimate| estimate.uncertainty)
    }

    /// The largest error possible on any path; nothing before the first exchange.
    pub fn hard_bound(&self) -> Option<Duration> {
        self.estimated(Duration::ZERO, |estimate| estimate.bound)
    }

    /// The smallest round trip of the last minutes; nothing before the first exchange.
    pub fn rtt_min(&self) -> Option<Duration> {
        self.estimated(Duration::ZERO, |estimate| estimate.floor)
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
            Role::Follower(follower) => follower.hull.estimate(),
        }
    }

    fn estimated(&self, at_reference: Duration, read: impl Fn(&Estimate) -> f64) -> Option<Duration> {
        if self.is_reference() {
            return Some(at_reference);
        }
        self.estimate().map(|estimate| nanos(read(estimate)))
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
    pub fn now(&mut self, now: Instant) -> Option<GlobalTime> {
        match &mut self.role {
            Role::Reference { .. } => self.global(now),
            Role::Follower(follower) => follower.now(now),
        }
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
            Role::Follower(follower) => Some(follower.next_ping.unwrap_or(Instant::MIN)),
        }
    }

    /// The oldest event not yet told.
    pub fn poll_event(&mut self) -> Option<ClockEvent> {
        self.follower_mut().ok()?.events.pop_front()
    }

    fn follower_mut(&mut self) -> Result<&mut Follower, ClockError> {
        match &mut self.role {
            Role::Reference { .. } => Err(ClockError::NotFollower),
            Role::Follower(follower) => Ok(follower),
        }
    }
}

/// Where the hull's numbers count from, so that they stay small whatever the epochs of the two clocks.
#[derive(Clone, Copy, Debug)]
struct Origin {
    at: Instant,
    offset: Duration,
}

impl Origin {
    fn time(&self, at: Instant) -> f64 {
        at.since(self.at).as_nanos() as f64
    }

    fn offset(&self, global: GlobalTime, local: Instant) -> f64 {
        (offset_between(global, local) - self.offset).as_nanos() as f64
    }
}

/// Session time minus host time.
fn offset_between(global: GlobalTime, local: Instant) -> Duration {
    Duration::from_nanos(global.as_nanos().saturating_sub(local.as_nanos()))
}

fn nanos(value: f64) -> Duration {
    Duration::from_nanos(libm::round(value) as i64)
}

#[derive(Clone, Debug)]
struct Follower {
    config: ClockConfig,
    pings: Outstanding,
    next_ping: Option<Instant>,
    fast_until: Option<Instant>,
    origin: Option<Origin>,
    hull: Hull,
    guard: Guard,
    slew: Slew,
    events: VecDeque<ClockEvent>,
    /// The latest moment heard of.
    seen: Option<Instant>,
    fitted: Option<Instant>,
    eager_until: Option<Instant>,
    exchanges: u32,
}

impl Follower {
    fn new(config: ClockConfig) -> Self {
        Self {
            pings: Outstanding::new(config.seed),
            config,
            next_ping: None,
            fast_until: None,
            origin: None,
            hull: Hull::new(),
            guard: Guard::new(),
            slew: Slew::default(),
            events: VecDeque::with_capacity(EVENTS),
            seen: None,
            fitted: None,
            eager_until: None,
            exchanges: 0,
        }
    }

    fn state(&self) -> ClockState {
        match (self.hull.estimate(), self.exchanges) {
            (None, _) => ClockState::Unsynchronised,
            (Some(_), ..SETTLED) => ClockState::Converging,
            (Some(_), _) => ClockState::Synchronised,
        }
    }

    fn heap_bytes(&self) -> usize {
        self.pings.heap_bytes() + self.hull.heap_bytes() + self.events.capacity() * size_of::<ClockEvent>()
    }

    fn global(&self, at: Instant) -> Option<GlobalTime> {
        let (origin, estimate) = (self.origin?, self.hull.estimate()?);
        let offset = origin.offset + nanos(estimate.offset_at(origin.time(at)));
        Some(GlobalTime::from_nanos(at.as_nanos()) + offset)
    }

    fn instant_of(&self, time: GlobalTime) -> Option<Instant> {
        let (origin, estimate) = (self.origin?, self.hull.estimate()?);
        let local = Instant::from_nanos(time.as_nanos()) - origin.offset;
        let passed = origin.time(local) - estimate.offset - estimate.at;
        Some(origin.at + nanos(estimate.at + passed / (1.0 + estimate.skew)))
    }

    fn now(&mut self, now: Instant) -> Option<GlobalTime> {
        self.see(now);
        let Some(target) = self.global(now) else { return self.slew.last() };
        let skew = self.hull.estimate().map_or(0.0, |estimate| estimate.skew);
        let (time, jumped) = self.slew.advance(now, target, skew, self.config.jump_over);
        if let Some(jumped) = jumped {
            self.tell(ClockEvent::JumpedForward(jumped));
        }
        Some(time)
    }

    fn poll_ping(&mut self, now: Instant) -> Option<Ping> {
        self.see(now);
        let fast_until = *self.fast_until.get_or_insert(now + self.config.fast_for);
        let interval = if now < fast_until { self.config.fast_interval } else { self.config.steady_interval };
        // A due time further off than one interval was set before the host's clock was.
        let due = self.next_ping.is_none_or(|next| now >= next || next > now + self.config.steady_interval);
        if !due {
            return None;
        }
        // Keep the rhythm where possible: a frame loop comes a little late to each.
        let rhythm = self.next_ping.map(|next| next + interval).filter(|next| *next > now && *next <= now + interval);
        self.next_ping = Some(rhythm.unwrap_or(now + interval));
        Some(self.pings.issue(now))
    }

    fn handle_pong(&mut self, pong: Pong, received: Instant) -> Result<(), ClockError> {
        let sent = self.pings.sent_at(pong.ping, received, self.config.patience)?;
        let round_trip = received.since(sent) - pong.sent.since(pong.received);
        if pong.sent < pong.received || round_trip <= Duration::ZERO {
            return Err(ClockError::ImpossibleTimes);
        }
        self.pings.settle(pong.ping);
        self.see(received);
        let origin = self.origin_or(pong.received, sent);
        let exchange = Exchange {
            sent: origin.time(sent),
            received: origin.time(received),
            up: origin.offset(pong.received, sent),
            down: origin.offset(pong.sent, received),
        };
        let watched = self.watched();
        match self.guard.judge_exchange(&exchange, watched.as_ref()) {
            Verdict::Fits => self.add_exchange(&exchange),
            Verdict::Suspicious => self.ping_fast(received),
            Verdict::Stepped => self.step(received),
        }
        self.fit(received);
        Ok(())
    }

    fn handle_stamp(&mut self, sent: GlobalTime, received: Instant) {
        self.see(received);
        let origin = self.origin_or(sent, received);
        let (at, seen) = (origin.time(received), origin.offset(sent, received));
        let watched = self.watched();
        if self.guard.admits_down(at, seen, watched.as_ref()) {
            self.hull.add_down(at, seen);
            self.fit(received);
        } else {
            self.ping_fast(received);
        }
    }

    fn handle_echo(&mut self, sent: Instant, received: GlobalTime, now: Instant) {
        self.see(now);
        let origin = self.origin_or(received, sent);
        let (at, seen) = (origin.time(sent), origin.offset(received, sent));
        let watched = self.watched();
        if self.guard.admits_up(at, seen, watched.as_ref()) {
            self.hull.add_up(at, seen);
            self.fit(now);
        } else {
            self.ping_fast(now);
        }
    }

    fn origin_or(&mut self, global: GlobalTime, local: Instant) -> Origin {
        *self.origin.get_or_insert(Origin { at: local, offset: offset_between(global, local) })
    }

    /// The estimate that inputs are judged by: none before the clock has settled.
    fn watched(&self) -> Option<Estimate> {
        self.hull.estimate().filter(|_| self.exchanges >= SETTLED).copied()
    }

    fn add_exchange(&mut self, exchange: &Exchange) {
        self.hull.add_up(exchange.sent, exchange.up);
        self.hull.add_down(exchange.received, exchange.down);
        self.exchanges = self.exchanges.saturating_add(1);
    }

    /// One of the clocks was set: begin again with what was seen since.
    fn step(&mut self, now: Instant) {
        let before = self.global(now);
        self.hull.restart();
        self.exchanges = 0;
        self.fitted = None;
        self.eager_until = None;
        let (suspects, count) = self.guard.acquit();
        for exchange in suspects.iter().take(count) {
            self.add_exchange(exchange);
        }
        self.fit(now);
        self.slew.rebase(now);
        self.seen = Some(now);
        self.ping_fast(now);
        if let (Some(before), Some(after)) = (before, self.global(now)) {
            self.tell(ClockEvent::Stepped(after.since(before)));
        }
    }

    fn fit(&mut self, now: Instant) {
        let Some(origin) = self.origin else { return };
        let eager_until = *self.eager_until.get_or_insert(now + FIT_EAGERLY);
        let due = self.fitted.is_none_or(|fitted| now.since(fitted).abs() >= FIT_INTERVAL);
        if due || now < eager_until {
            self.fitted = Some(now);
            self.hull.fit(origin.time(now));
        }
    }

    /// Pings go out fast from now on for a while.
    fn ping_fast(&mut self, now: Instant) {
        if self.fast_until.is_none_or(|until| now >= until) {
            self.next_ping = self.next_ping.map(|next| next.min(now));
        }
        self.fast_until = Some(now + self.config.fast_for);
    }

    /// Notices a host that was asleep.
    fn see(&mut self, now: Instant) {
        let gap = self.seen.map_or(Duration::ZERO, |seen| now.since(seen));
        self.seen = Some(self.seen.map_or(now, |seen| seen.max(now)));
        if gap > self.config.suspended_after {
            self.tell(ClockEvent::Suspended(gap));
            self.pings.forget();
            self.ping_fast(now);
        }
    }

    fn tell(&mut self, event: ClockEvent) {
        if self.events.len() == EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }
}
