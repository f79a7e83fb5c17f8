//! One run: a follower and the reference, packets between them, and the truth.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use evenkeel::clock::{Clock, ClockConfig, Ping, Pong};
use evenkeel::{Duration, GlobalTime, Instant};
use evenkeel_link::{Conditions, Fate, HostClock, Loss, Noise, Path};

use super::Profile;
use super::rivals::{Ewma, Exchange, Lightyear, MinOfEight, Rival};

/// The host looks at its clock and its socket so often; every fourth look is a frame.
const LOOK_HZ: f64 = 240.0;
/// Not at the same moment as a ping, which would share its fate.
const FIRST_STAMP: i64 = 13_000_000;

/// What happens, in the order of true time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    Look(u32),
    PingArrives { sequence: u32, nonce: u32, sent: Instant },
    PongArrives { sequence: u32, nonce: u32, at_reference: GlobalTime, sent: Instant },
    StampLeaves(u32),
    StampArrives { sent: GlobalTime, echo: Option<(Instant, GlobalTime)> },
    OwnStampArrives { sent: Instant },
}

/// Errors in ms, one for each frame, in the order ours, EWMA, min of eight, lightyear.
pub(super) struct Run {
    pub(super) errors_ms: [Vec<(f64, f64)>; 4],
    pub(super) backward_ticks: u32,
    /// As published, one for each scored frame.
    pub(super) uncertainties_ms: Vec<f64>,
    /// Frames on which the error exceeded the published uncertainty, and the hard bound.
    pub(super) beyond_uncertainty: usize,
    pub(super) beyond_bound: usize,
    pub(super) memory_bytes: usize,
}

struct World<'a> {
    profile: &'a Profile,
    up: Path,
    down: Path,
    host: HostClock,
    reference: Clock,
    follower: Clock,
    rivals: [Box<dyn Rival>; 3],
    queue: BinaryHeap<Reverse<(i64, u64, Happening)>>,
    scheduled: u64,
    /// The follower's newest datagram at the reference: when it left and when it arrived.
    echo: Option<(Instant, GlobalTime)>,
    shown: Option<GlobalTime>,
    run: Run,
}

/// The follower's clock: off by up to hours, skewed to either side, wandering, set once if the profile says so.
fn host_clock(profile: &Profile, seed: u64) -> HostClock {
    let noise = Noise::new(seed, 2);
    let offset = Duration::from_secs_f64(1e4 * (noise.uniform(0, 0) - 0.5));
    let drift = if noise.chance(0, 1, 0.5) { -profile.drift_ppm } else { profile.drift_ppm };
    let wander_over = Duration::from_secs(300);
    let clock =
        HostClock::new(offset, drift).and_then(|clock| clock.wandering(profile.wander_ppm, wander_over, seed, 3));
    let clock = clock.expect("drift and wander are within reason");
    match profile.step {
        None => clock,
        Some((at, by)) => clock.with_step(GlobalTime::from_secs_f64(at), Duration::from_secs_f64(by)),
    }
}

pub(super) fn run(conditions: &Conditions, profile: &Profile, seed: u64) -> Run {
    let path = |id| {
        let conditions = conditions.clone().with_loss(Loss::Independent(profile.loss));
        Path::new(conditions, seed, id).expect("the conditions make sense")
    };
    let mut world = World {
        profile,
        up: path(0),
        down: path(1),
        host: host_clock(profile, seed),
        reference: Clock::reference(Duration::ZERO),
        follower: Clock::follower(ClockConfig { seed, ..ClockConfig::default() }),
        rivals: [Box::<Ewma>::default(), Box::<MinOfEight>::default(), Box::<Lightyear>::default()],
        queue: BinaryHeap::new(),
        scheduled: 0,
        echo: None,
        shown: None,
        run: Run {
            errors_ms: Default::default(),
            backward_ticks: 0,
            uncertainties_ms: Vec::new(),
            beyond_uncertainty: 0,
            beyond_bound: 0,
            memory_bytes: 0,
        },
    };
    world.schedule(0, Happening::Look(0));
    world.schedule(FIRST_STAMP, Happening::StampLeaves(0));
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

    /// A packet's fate: `arrival` happens, once or twice, or never.
    fn travel(&mut self, fate: Fate, arrival: Happening) {
        if let Fate::Arrives { at, again } = fate {
            self.schedule(at.as_nanos(), arrival);
            if let Some(again) = again {
                self.schedule(again.as_nanos(), arrival);
            }
        }
    }

    fn happen(&mut self, now: i64, happening: Happening) {
        let truth = GlobalTime::from_nanos(now);
        let host = self.host.read(truth);
        match happening {
            Happening::Look(count) => self.look(now, host, count),
            Happening::PingArrives { sequence, nonce, sent } => {
                if let Ok(pong) = self.reference.handle_ping(Ping { sequence, nonce }, Instant::from_nanos(now)) {
                    let arrival = Happening::PongArrives { sequence, nonce, at_reference: pong.received, sent };
                    self.travel(self.down.fate(truth), arrival);
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
            Happening::StampArrives { sent, echo } => {
                let _ = self.follower.handle_stamp(sent, host);
                if let Some((sent, received)) = echo {
                    let _ = self.follower.handle_echo(sent, received, host);
                }
                self.rivals.iter_mut().for_each(|rival| rival.stamp(sent, host));
            }
            Happening::OwnStampArrives { sent } => self.echo = Some((sent, truth)),
        }
    }

    fn stamps_leave(&mut self, now: i64, host: Instant, count: u32) {
        let sent = GlobalTime::from_nanos(now);
        let echo = self.echo.take();
        self.travel(self.down.fate(sent), Happening::StampArrives { sent, echo });
        if self.profile.echoes {
            self.travel(self.up.fate(sent), Happening::OwnStampArrives { sent: host });
        }
        let next = FIRST_STAMP + (f64::from(count + 1) * 1e9 / self.profile.stamps_hz) as i64;
        self.schedule(next, Happening::StampLeaves(count + 1));
    }

    fn look(&mut self, now: i64, host: Instant, count: u32) {
        if let Some(Ping { sequence, nonce }) = self.follower.poll_ping(host) {
            let fate = self.up.fate(GlobalTime::from_nanos(now));
            self.travel(fate, Happening::PingArrives { sequence, nonce, sent: host });
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
            self.run.uncertainties_ms.extend(self.follower.uncertainty().map(Duration::as_millis_f64));
            self.run.beyond_uncertainty += usize::from(beyond(self.follower.uncertainty()));
            self.run.beyond_bound += usize::from(beyond(self.follower.hard_bound()));
        }
    }
}
