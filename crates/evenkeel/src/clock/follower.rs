//! What a follower does: pings by a schedule, feeds what arrives to the hull past the guard, and shows the time.

use alloc::collections::VecDeque;

use super::exchange::{Outstanding, Ping, Pong};
use super::guard::{Exchange, Guard, Verdict};
use super::hull::{Estimate, Hull};
use super::slew::Slew;
use super::{ClockConfig, ClockError, ClockEvent, ClockState};
use crate::time::{Duration, GlobalTime, Instant};

/// At most so many events wait to be polled; the oldest make room.
const EVENTS: usize = 8;
/// After so many exchanges since the last upset the clock counts as synchronised.
const SETTLED: u32 = 8;
/// The lines are fitted at every pong for so long after an upset, then only every [`FIT_INTERVAL`].
const FIT_EAGERLY: Duration = Duration::from_secs(10);
const FIT_INTERVAL: Duration = Duration::from_millis(500);
/// For so long after a gap in this host's time it is left open whether the host was asleep or its clock was set, unless the
/// reference says which it was.
const DOUBT: Duration = Duration::from_secs(2);

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

pub(super) fn nanos(value: f64) -> Duration {
    Duration::from_nanos(libm::round(value) as i64)
}

#[derive(Clone, Debug)]
pub(super) struct Follower {
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
    /// Since when it is not known whether a gap in this host's time was one.
    doubt: Option<Instant>,
}

impl Follower {
    pub(super) fn new(config: ClockConfig) -> Self {
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
            doubt: None,
        }
    }

    /// Goes on from what another role has shown until there is something better to go by.
    pub(super) fn going_on(mut self, now: Instant, shown: GlobalTime, skew: f64, uncertainty: Duration) -> Self {
        self.origin = Some(Origin { at: now, offset: offset_between(shown, now) });
        self.hull.presume(0.0, skew, uncertainty.as_nanos() as f64);
        self.slew.begin(now, shown);
        self.seen = Some(now);
        self
    }

    pub(super) fn state(&self) -> ClockState {
        match (self.hull.estimate(), self.exchanges) {
            (None, _) => ClockState::Unsynchronised,
            (Some(_), ..SETTLED) => ClockState::Converging,
            (Some(_), _) => ClockState::Synchronised,
        }
    }

    pub(super) fn estimate(&self) -> Option<&Estimate> {
        self.hull.estimate()
    }

    pub(super) fn uncertainty_at(&self, at: Instant) -> Option<Duration> {
        let (origin, estimate) = (self.origin?, self.hull.estimate()?);
        Some(nanos(estimate.uncertainty_at(origin.time(at))))
    }

    pub(super) fn next_ping(&self) -> Instant {
        self.next_ping.unwrap_or(Instant::MIN)
    }

    pub(super) fn poll_event(&mut self) -> Option<ClockEvent> {
        self.events.pop_front()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.pings.heap_bytes() + self.hull.heap_bytes() + self.events.capacity() * size_of::<ClockEvent>()
    }

    pub(super) fn global(&self, at: Instant) -> Option<GlobalTime> {
        let (origin, estimate) = (self.origin?, self.hull.estimate()?);
        let offset = origin.offset + nanos(estimate.offset_at(origin.time(at)));
        Some(GlobalTime::from_nanos(at.as_nanos()) + offset)
    }

    pub(super) fn instant_of(&self, time: GlobalTime) -> Option<Instant> {
        let (origin, estimate) = (self.origin?, self.hull.estimate()?);
        let local = Instant::from_nanos(time.as_nanos()) - origin.offset;
        let passed = origin.time(local) - estimate.offset - estimate.at;
        Some(origin.at + nanos(estimate.at + passed / (1.0 + estimate.skew)))
    }

    pub(super) fn now(&mut self, now: Instant) -> Option<GlobalTime> {
        self.see(now);
        let Some(target) = self.global(now) else { return self.slew.last() };
        let skew = self.hull.estimate().map_or(0.0, |estimate| estimate.skew);
        if self.is_in_doubt(now) {
            if let Some(time) = self.slew.go_on(now, skew) {
                return Some(time);
            }
        }
        let (time, jumped) = self.slew.advance(now, target, skew, self.config.jump_over);
        if let Some(jumped) = jumped {
            self.tell(ClockEvent::JumpedForward(jumped));
        }
        Some(time)
    }

    pub(super) fn poll_ping(&mut self, now: Instant) -> Option<Ping> {
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

    pub(super) fn handle_pong(&mut self, pong: Pong, received: Instant) -> Result<(), ClockError> {
        let sent = self.pings.sent_at(pong.ping, received, self.config.patience)?;
        let round_trip = received.since(sent) - pong.sent.since(pong.received);
        if pong.sent < pong.received || round_trip <= Duration::ZERO {
            return Err(ClockError::ImpossibleTimes);
        }
        self.pings.settle(pong.ping);
        self.see(received);
        let origin = self.origin_or(pong.received, sent);
        let exchange = Exchange {
            sequence: pong.ping.sequence,
            sent: origin.time(sent),
            received: origin.time(received),
            up: origin.offset(pong.received, sent),
            down: origin.offset(pong.sent, received),
        };
        let watched = self.watched();
        match self.guard.judge_exchange(&exchange, watched.as_ref(), self.pings.next()) {
            Verdict::Fits => {
                self.doubt = None;
                self.add_exchange(&exchange);
            }
            Verdict::Suspicious => self.ping_fast(received),
            Verdict::Stepped => self.step(received),
        }
        self.fit(received);
        Ok(())
    }

    pub(super) fn handle_stamp(&mut self, sent: GlobalTime, received: Instant) {
        self.see(received);
        let origin = self.origin_or(sent, received);
        let (at, seen) = (origin.time(received), origin.offset(sent, received));
        let watched = self.watched();
        if self.guard.admits_down(at, seen, watched.as_ref(), self.pings.next()) {
            self.hull.add_down(at, seen);
            self.fit(received);
        } else {
            self.ping_fast(received);
        }
    }

    pub(super) fn handle_echo(&mut self, sent: Instant, received: GlobalTime, now: Instant) {
        self.see(now);
        let origin = self.origin_or(received, sent);
        let (at, seen) = (origin.time(sent), origin.offset(received, sent));
        let watched = self.watched();
        if self.guard.admits_up(at, seen, watched.as_ref(), self.pings.next()) {
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
        self.doubt = None;
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
            self.hull.forget_floor();
            self.ping_fast(now);
            // If the clock was set ahead, time that went along could not be taken back: it would have to wait for as long.
            self.slew.skip_to(now);
            self.doubt = Some(now);
        }
    }

    /// Whether a gap in this host's time still has to be explained. Without anybody to explain it, it is believed.
    fn is_in_doubt(&mut self, now: Instant) -> bool {
        let lasts = |since: Instant| now.since(since) < DOUBT || self.guard.is_suspicious();
        self.doubt = self.doubt.filter(|since| lasts(*since));
        self.doubt.is_some()
    }

    fn tell(&mut self, event: ClockEvent) {
        if self.events.len() == EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }
}
