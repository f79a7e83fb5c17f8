//! One run: a follower and the reference, packets between them, and the truth.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use evenkeel::clock::{Clock, ClockConfig, Ping, Pong};
use evenkeel::{Duration, GlobalTime, Instant};

use super::rivals::{Ewma, Exchange, Lightyear, MinOfEight, Rival};
use super::sampler::{self, HostClock, Random};
use super::{NamedPath, Profile};

/// The host looks at its clock and its socket so often; every fourth look is a frame.
const LOOK_HZ: f64 = 240.0;

/// What happens, in the order of true time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    Look(u32),
    PingArrives { sequence: u32, nonce: u32, sent: Instant },
    PongArrives { sequence: u32, nonce: u32, at_reference: GlobalTime, sent: Instant },
    StampLeaves(u32),
    StampArrives { sent: GlobalTime },
    EchoedArrives { sent: Instant },
    EchoArrives { sent: Instant, received: GlobalTime },
}

/// Errors in ms, one for each frame, in the order ours, EWMA, min of eight, lightyear.
pub(super) struct Run {
    pub(super) errors_ms: [Vec<(f64, f64)>; 4],
    pub(super) backward_ticks: u32,
    /// Frames on which the error exceeded the published uncertainty, and the hard bound.
    pub(super) beyond_uncertainty: usize,
    pub(super) beyond_bound: usize,
    pub(super) memory_bytes: usize,
}

struct World<'a> {
    path: &'a NamedPath,
    profile: &'a Profile,
    random: Random,
    host: HostClock,
    reference: Clock,
    follower: Clock,
    rivals: [Box<dyn Rival>; 3],
    queue: BinaryHeap<Reverse<(i64, u64, Happening)>>,
    scheduled: u64,
    pending_echo: Option<(Instant, GlobalTime)>,
    shown: Option<GlobalTime>,
    run: Run,
}

pub(super) fn run(path: &NamedPath, profile: &Profile, seed: u64) -> Run {
    let mut random = Random::new(seed);
    let drift = if random.unit() < 0.5 { -profile.drift_ppm } else { profile.drift_ppm };
    let host = HostClock::new(profile.seconds, drift, profile.wander_ppm, profile.step, seed ^ 0xC10C);
    let mut world = World {
        path,
        profile,
        random,
        host,
        reference: Clock::reference(Duration::ZERO),
        follower: Clock::follower(ClockConfig { seed, ..ClockConfig::default() }),
        rivals: [Box::<Ewma>::default(), Box::<MinOfEight>::default(), Box::<Lightyear>::default()],
        queue: BinaryHeap::new(),
        scheduled: 0,
        pending_echo: None,
        shown: None,
        run: Run {
            errors_ms: Default::default(),
            backward_ticks: 0,
            beyond_uncertainty: 0,
            beyond_bound: 0,
            memory_bytes: 0,
        },
    };
    world.schedule(0, Happening::Look(0));
    world.schedule(13_000_000, Happening::StampLeaves(0));
    while let Some(Reverse((at, _, happening))) = world.queue.pop() {
        world.happen(at, happening);
    }
    world.run.memory_bytes = world.follower.memory_bytes();
    world.run
}

impl World<'_> {
    fn schedule(&mut self, at: i64, happening: Happening) {
        if at as f64 <= self.profile.seconds * 1e9 {
            self.queue.push(Reverse((at, self.scheduled, happening)));
            self.scheduled += 1;
        }
    }

    /// Sends a packet: `happening` is its arrival.
    fn send(&mut self, now: i64, happening: Happening) {
        if let Some(delay_ms) = sampler::delay(self.path, self.profile.loss, &mut self.random) {
            self.schedule(now + (delay_ms * 1e6) as i64, happening);
        }
    }

    fn happen(&mut self, now: i64, happening: Happening) {
        let host = self.host.read(now as f64 / 1e9);
        let truth = GlobalTime::from_nanos(now);
        match happening {
            Happening::Look(count) => self.look(now, host, count),
            Happening::PingArrives { sequence, nonce, sent } => {
                if let Ok(pong) = self.reference.handle_ping(Ping { sequence, nonce }, Instant::from_nanos(now)) {
                    self.send(now, Happening::PongArrives { sequence, nonce, at_reference: pong.received, sent });
                }
            }
            Happening::PongArrives { sequence, nonce, at_reference, sent } => {
                let ping = Ping { sequence, nonce };
                let pong = Pong { ping, received: at_reference, sent: at_reference };
                // What the clock refuses, a rule without a guard takes all the same.
                let _ = self.follower.handle_pong(pong, host);
                let exchange = Exchange { t1: sent, t2: at_reference, t3: at_reference, t4: host };
                self.rivals.iter_mut().for_each(|rival| rival.exchange(&exchange));
            }
            Happening::StampLeaves(count) => self.stamps_leave(now, host, count),
            Happening::StampArrives { sent } => {
                let _ = self.follower.handle_stamp(sent, host);
                self.rivals.iter_mut().for_each(|rival| rival.stamp(sent, host));
            }
            Happening::EchoedArrives { sent } => self.pending_echo = Some((sent, truth)),
            Happening::EchoArrives { sent, received } => {
                let _ = self.follower.handle_echo(sent, received, host);
            }
        }
    }

    fn stamps_leave(&mut self, now: i64, host: Instant, count: u32) {
        self.send(now, Happening::StampArrives { sent: GlobalTime::from_nanos(now) });
        if self.profile.echoes {
            if let Some((sent, received)) = self.pending_echo.take() {
                self.send(now, Happening::EchoArrives { sent, received });
            }
            self.send(now, Happening::EchoedArrives { sent: host });
        }
        let next = 13_000_000 + ((count + 1) as f64 * 1e9 / self.profile.stamps_hz) as i64;
        self.schedule(next, Happening::StampLeaves(count + 1));
    }

    fn look(&mut self, now: i64, host: Instant, count: u32) {
        if let Some(Ping { sequence, nonce }) = self.follower.poll_ping(host) {
            self.send(now, Happening::PingArrives { sequence, nonce, sent: host });
        }
        if count.is_multiple_of(4) {
            self.frame(now, host);
        }
        self.schedule((f64::from(count + 1) * 1e9 / LOOK_HZ) as i64, Happening::Look(count + 1));
    }

    fn frame(&mut self, now: i64, host: Instant) {
        let shown = self.follower.now(host);
        let secs = now as f64 / 1e9;
        self.run.backward_ticks += u32::from(shown < self.shown);
        self.shown = shown;
        let error = shown.map_or(f64::INFINITY, |shown| (shown.as_nanos() - now) as f64 / 1e6);
        self.run.errors_ms[0].push((secs, error));
        let host_ms = (now - host.as_nanos()) as f64 / 1e6;
        for (rival, errors) in self.rivals.iter().zip(&mut self.run.errors_ms[1..]) {
            errors.push((secs, rival.offset_ms().map_or(f64::INFINITY, |offset| offset - host_ms)));
        }
        if secs >= self.profile.score_after {
            let beyond = |limit: Option<Duration>| limit.is_none_or(|limit| error.abs() > limit.as_millis_f64());
            self.run.beyond_uncertainty += usize::from(beyond(self.follower.uncertainty()));
            self.run.beyond_bound += usize::from(beyond(self.follower.hard_bound()));
        }
    }
}
