//! A follower's clock and a reference that may say anything.

use crate::input::Input;
use crate::script::clock as op;
use evenkeel::clock::{ClockConfig, ClockState, Ping, Pong};
use evenkeel::{Clock, Duration, GlobalTime, Instant};

const MAX_OPERATIONS: usize = 400;
/// More events than this never wait.
const MAX_EVENTS: usize = 8;

/// A [`Clock`] that is told anything never runs backwards, does not grow, and is not changed by what it refuses. Pings
/// and pongs that parse survive emission.
pub fn clock(data: &[u8]) {
    exchange(data);
    let mut input = Input(data);
    let seed = u64::from(input.byte());
    let mut bench = Bench {
        clock: Clock::follower(ClockConfig { seed, ..ClockConfig::default() }),
        now: Instant::ZERO,
        shown: None,
        pings: Vec::new(),
    };
    let memory = bench.clock.memory_bytes();
    for _ in 0..MAX_OPERATIONS {
        let Some(operation) = input.next() else { break };
        bench.perform(operation % op::COUNT, &mut input);
        bench.check();
        assert!(bench.clock.memory_bytes() <= memory, "the clock grows");
    }
}

fn exchange(data: &[u8]) {
    let mut buffer = [0; Pong::LEN];
    if let Ok(ping) = Ping::parse(data) {
        let length = ping.emit(&mut buffer);
        assert_eq!(Ping::parse(&buffer[..length]), Ok(ping));
    }
    if let Ok(pong) = Pong::parse(data) {
        let length = pong.emit(&mut buffer);
        assert_eq!(Pong::parse(&buffer[..length]), Ok(pong));
    }
}

/// Everything an application can see.
type Snapshot = (ClockState, [Option<GlobalTime>; 2], [Option<Duration>; 3], Option<Instant>);

struct Bench {
    clock: Clock,
    now: Instant,
    /// The last time shown.
    shown: Option<GlobalTime>,
    pings: Vec<Ping>,
}

impl Bench {
    fn perform(&mut self, operation: u8, input: &mut Input<'_>) {
        let true_time = |span: Duration, now: Instant| GlobalTime::from_nanos(now.as_nanos()) + span;
        let now = self.now;
        match operation {
            op::WAIT => self.now += input.span(),
            op::PING => self.pings.extend(self.clock.poll_ping(now)),
            op::PONG => {
                let back = 1 + usize::from(input.byte() % 4);
                let (received, sent) = (true_time(input.span(), now), true_time(input.span(), now));
                let Some(&ping) = self.pings.len().checked_sub(back).and_then(|i| self.pings.get(i)) else { return };
                self.pong(Pong { ping, received, sent });
            }
            op::BYTES => {
                if let Ok(pong) = Pong::parse(input.take(Pong::LEN)) {
                    self.pong(pong);
                }
            }
            op::STAMP => assert_eq!(self.clock.handle_stamp(true_time(input.span(), now), now), Ok(())),
            op::ECHO => {
                let sent = now - input.span();
                assert_eq!(self.clock.handle_echo(sent, true_time(input.span(), now), now), Ok(()));
            }
            _ => {
                let shown = self.clock.now(now);
                assert!(shown >= self.shown, "{shown:?} after {:?}", self.shown);
                self.shown = shown;
            }
        }
    }

    fn pong(&mut self, pong: Pong) {
        let before = self.snapshot();
        if let Err(error) = self.clock.handle_pong(pong, self.now) {
            assert!(!error.to_string().is_empty());
            assert_eq!(self.snapshot(), before, "refused: {error}");
        }
    }

    fn snapshot(&self) -> Snapshot {
        let times = [Instant::ZERO, self.now].map(|at| self.clock.global(at));
        let spans = [self.clock.uncertainty(), self.clock.hard_bound(), self.clock.rtt_min()];
        (self.clock.state(), times, spans, self.clock.poll_timeout())
    }

    fn check(&mut self) {
        let clock = &mut self.clock;
        assert!(clock.skew_ppm().is_finite());
        let known = clock.state() != ClockState::Unsynchronised;
        assert_eq!(clock.global(self.now).is_some(), known);
        for span in [clock.uncertainty(), clock.uncertainty_at(self.now), clock.hard_bound(), clock.rtt_min()] {
            assert!(span.is_none_or(|span| span >= Duration::ZERO), "{span:?}");
            assert_eq!(span.is_some(), known);
        }
        let _ = clock.instant_of(GlobalTime::from_nanos(self.now.as_nanos()));
        let events = std::iter::from_fn(|| clock.poll_event()).count();
        assert!(events <= MAX_EVENTS, "{events} events waited");
    }
}
