//! A host's own clock against true time: [`HostClock`].

use crate::noise::Noise;
use evenkeel::{Duration, GlobalTime, Instant};
use std::fmt;

/// How a host's own clock goes: offset, skew, wandering drift, steps and suspends.
///
/// The reading is a function of true time (and of the seed, if the drift wanders). It never goes backwards unless a step
/// takes it there.
///
/// ```
/// use evenkeel::{Duration, GlobalTime};
/// use evenkeel_link::HostClock;
/// let clock = HostClock::new(Duration::from_secs(1_000), 50.0)?; // 50 ppm fast
/// let start = clock.read(GlobalTime::ZERO);
/// let later = clock.read(GlobalTime::from_secs_f64(100.0));
/// assert_eq!(later.since(start), Duration::from_millis(100_005));
/// assert_eq!(clock.when(later), Some(GlobalTime::from_secs_f64(100.0)));
/// # Ok::<(), evenkeel_link::HostClockError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Default)]
pub struct HostClock {
    offset: Duration,
    skew_ppm: f64,
    wander: Option<Wander>,
    /// In order of time; between two of them the clock goes smoothly.
    breaks: Vec<(GlobalTime, Break)>,
}

/// What happens to a clock at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Break {
    Step(Duration),
    Suspend(Duration),
}

/// Faster or slower than this, in parts per million, and it is not a clock: the host's time must go forwards.
const MAX_SKEW_PPM: f64 = 100_000.0;

impl HostClock {
    /// A clock that is ahead by `offset` at time zero and gains `skew_ppm` microseconds per second (less than zero:
    /// loses).
    pub fn new(offset: Duration, skew_ppm: f64) -> Result<Self, HostClockError> {
        if skew_ppm.is_nan() || skew_ppm.abs() > MAX_SKEW_PPM {
            return Err(HostClockError::Skew(skew_ppm));
        }
        Ok(Self { offset, skew_ppm, ..Self::default() })
    }

    /// With a skew that wanders in a random walk: over a time of `over` it moves by `std_dev_ppm` (standard deviation).
    ///
    /// The walk lasts 48 days either way of time zero; after that the skew stays what it is.
    pub fn wandering(self, std_dev_ppm: f64, over: Duration, seed: u64, host: u64) -> Result<Self, HostClockError> {
        let wander = Wander::new(std_dev_ppm, over, Noise::new(seed, host))?;
        Ok(Self { wander: Some(wander), ..self })
    }

    /// With a jump of the reading at a moment of true time: forwards, or backwards if negative.
    pub fn with_step(self, at: GlobalTime, jump: Duration) -> Self {
        self.with_break(at, Break::Step(jump))
    }

    /// With the clock standing still for a while, as some do while the host sleeps, and going on from there.
    pub fn with_suspend(self, at: GlobalTime, length: Duration) -> Self {
        self.with_break(at, Break::Suspend(length.max(Duration::ZERO)))
    }

    fn with_break(mut self, at: GlobalTime, what: Break) -> Self {
        let position = self.breaks.partition_point(|(before, _)| *before <= at);
        self.breaks.insert(position, (at, what));
        self
    }

    /// What the clock shows at a moment of true time.
    pub fn read(&self, true_time: GlobalTime) -> Instant {
        let mut running = true_time;
        let mut shift = self.offset;
        // The clock's own time stands still in suspends; a break that falls into one happens when the clock goes on.
        let mut asleep = Duration::ZERO;
        let mut awake_from = GlobalTime::MIN;
        for &(at, what) in &self.breaks {
            if true_time < at.max(awake_from) {
                break;
            }
            match what {
                Break::Step(jump) => shift += jump,
                Break::Suspend(length) => {
                    let start = at.max(awake_from);
                    awake_from = start + length;
                    asleep += length.min(true_time.since(start));
                }
            }
        }
        running = running - asleep;
        let drift = Duration::from_nanos(libm::round(self.drift_nanos(running)) as i64);
        Instant::from_nanos(running.as_nanos()) + shift + drift
    }

    /// The first moment of true time at which the clock shows `local` or later: when a timer set for it goes off.
    /// Nothing if it never does, or already did at the beginning of time.
    pub fn when(&self, local: Instant) -> Option<GlobalTime> {
        let mut edges: Vec<GlobalTime> = Vec::with_capacity(2 * self.breaks.len() + 2);
        edges.push(GlobalTime::MIN);
        let mut awake_from = GlobalTime::MIN;
        for &(at, what) in &self.breaks {
            let start = at.max(awake_from);
            edges.push(start);
            if let Break::Suspend(length) = what {
                awake_from = start + length;
                edges.push(awake_from);
            }
        }
        edges.push(GlobalTime::MAX);
        // Between two edges the clock never goes backwards, so the first stretch that reaches `local` holds the answer.
        edges.windows(2).find_map(|stretch| {
            let last =
                if stretch[1] == GlobalTime::MAX { GlobalTime::MAX } else { stretch[1] - Duration::from_nanos(1) };
            if stretch[0] > last || self.read(last) < local {
                return None;
            }
            if self.read(stretch[0]) >= local {
                return (stretch[0] > GlobalTime::MIN).then_some(stretch[0]);
            }
            Some(self.search(local, stretch[0], last))
        })
    }

    /// The first moment in (early, late] at which the clock shows `local` or later; it does at `late`, not at `early`.
    fn search(&self, local: Instant, mut early: GlobalTime, mut late: GlobalTime) -> GlobalTime {
        let nanosecond = Duration::from_nanos(1);
        for round in 0.. {
            let gap = i128::from(late.as_nanos()) - i128::from(early.as_nanos());
            if gap <= 1 {
                break;
            }
            // The clock runs nearly as true time does, so the error of a guess is nearly the way to the answer.
            // Halving is for clocks that are not like that.
            let guess = match round % 3 {
                0 => early + (local - self.read(early)),
                1 => late - (self.read(late) - local) - nanosecond,
                _ => GlobalTime::from_nanos((i128::from(early.as_nanos()) + gap / 2) as i64),
            };
            let guess = guess.clamp(early + nanosecond, late - nanosecond);
            if self.read(guess) < local { early = guess } else { late = guess }
        }
        late
    }

    /// How far skew and wander have taken the clock from true time.
    fn drift_nanos(&self, running: GlobalTime) -> f64 {
        let skew = running.as_nanos() as f64 * (self.skew_ppm * 1e-6);
        skew + self.wander.as_ref().map_or(0.0, |wander| wander.phase(running.as_secs_f64()) * 1e9)
    }
}

/// A skew that does a random walk, and the time error that adds up from it, as a function of time.
///
/// The pair (error, skew) at any moment is found by halving: it is drawn for the whole walk first, then for the middle
/// given both ends, then for the middle of the half that matters, down to [`FINEST`](Self::FINEST), below which a cubic
/// joins the ends. For the integral of a random walk the middle, given the ends `h` apart, is normal about the cubic
/// through them with independent variances `q (h/2)^3 / 24` of the error and `q (h/2) / 8` of the skew.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Wander {
    /// Variance of the skew per second.
    intensity: f64,
    noise: Noise,
}

/// One end of a stretch of the walk.
#[derive(Clone, Copy)]
struct Node {
    error: f64,
    skew: f64,
}

impl Wander {
    /// How many halvings lead from the whole walk to the finest stretch.
    const LEVELS: u32 = 22;
    /// The finest stretch, in seconds.
    const FINEST: f64 = 1.0;
    const WHOLE: f64 = Self::FINEST * (1u64 << Self::LEVELS) as f64;

    fn new(std_dev_ppm: f64, over: Duration, noise: Noise) -> Result<Self, HostClockError> {
        let std_dev = std_dev_ppm * 1e-6;
        let intensity = std_dev * std_dev / over.as_secs_f64();
        // Over the whole walk the skew must stay far from stopping the clock: ten standard deviations.
        let within_reason = 10.0 * libm::sqrt(intensity * Self::WHOLE) <= 0.5;
        if over <= Duration::ZERO || std_dev < 0.0 || !within_reason {
            return Err(HostClockError::Wander { std_dev_ppm, over });
        }
        Ok(Self { intensity, noise })
    }

    /// The time error in seconds.
    fn phase(&self, seconds: f64) -> f64 {
        // Before time zero another walk runs backwards from it.
        let (side, elapsed) = if seconds < 0.0 { (1, -seconds) } else { (0, seconds) };
        let mut start = Node { error: 0.0, skew: 0.0 };
        let mut end = self.whole(side);
        if elapsed >= Self::WHOLE {
            return end.error + end.skew * (elapsed - Self::WHOLE);
        }
        let (mut from, mut length) = (0.0, Self::WHOLE);
        let mut index = 1;
        for _ in 0..Self::LEVELS {
            let middle = self.middle(start, end, length, index, side);
            length *= 0.5;
            index *= 2;
            if elapsed < from + length {
                end = middle;
            } else {
                start = middle;
                from += length;
                index += 1;
            }
        }
        hermite(start, end, length, (elapsed - from) / length)
    }

    fn whole(&self, side: u32) -> Node {
        let (a, b) = self.noise.normal_pair(0, 2 * side);
        let skew_std = libm::sqrt(self.intensity * Self::WHOLE);
        // The integral given the walk's end: half of it times the length, with variance q T^3 / 12.
        let error = Self::WHOLE * skew_std * (0.5 * a + b / libm::sqrt(12.0));
        Node { error, skew: skew_std * a }
    }

    fn middle(&self, start: Node, end: Node, length: f64, index: i64, side: u32) -> Node {
        let (a, b) = self.noise.normal_pair(index, 2 * side);
        let half = 0.5 * length;
        let rise = (end.error - start.error) / length;
        Node {
            error: 0.5 * (start.error + end.error)
                + length * (start.skew - end.skew) / 8.0
                + a * libm::sqrt(self.intensity * half * half * half / 24.0),
            skew: 1.5 * rise - 0.25 * (start.skew + end.skew) + b * libm::sqrt(self.intensity * half / 8.0),
        }
    }
}

/// The cubic from one node to the other at a fraction of the way.
fn hermite(start: Node, end: Node, length: f64, u: f64) -> f64 {
    let rise = end.error - start.error;
    let (bend_in, bend_out) = (start.skew * length - rise, rise - end.skew * length);
    start.error + u * rise + u * (1.0 - u) * ((1.0 - u) * bend_in + u * bend_out)
}

/// Why there is no such [`HostClock`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HostClockError {
    /// The skew is not a number, or beyond 10 %.
    Skew(f64),
    /// The wander is negative, not a number, over no time, or so strong that the clock would run backwards.
    Wander {
        /// As given.
        std_dev_ppm: f64,
        /// As given.
        over: Duration,
    },
}

impl fmt::Display for HostClockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skew(ppm) => write!(f, "a clock's skew must be within {MAX_SKEW_PPM} ppm either way, not {ppm}"),
            Self::Wander { std_dev_ppm, over } => {
                write!(f, "a clock's skew cannot wander by {std_dev_ppm} ppm in {over}: that is negative, or no clock")
            }
        }
    }
}

impl std::error::Error for HostClockError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(seconds: f64) -> GlobalTime {
        GlobalTime::from_secs_f64(seconds)
    }

    fn wandering(host: u64) -> HostClock {
        HostClock::new(Duration::ZERO, 0.0).unwrap().wandering(2.0, Duration::from_secs(300), 1, host).unwrap()
    }

    fn skew_ppm(clock: &HostClock, seconds: f64) -> f64 {
        let span = clock.read(at(seconds + 0.5)).since(clock.read(at(seconds - 0.5)));
        (span.as_secs_f64() - 1.0) * 1e6
    }

    #[test]
    fn steps_and_suspends_happen_when_they_should() {
        let clock = HostClock::default()
            .with_step(at(10.0), Duration::from_millis(500))
            .with_suspend(at(20.0), Duration::from_secs(5))
            .with_step(at(30.0), Duration::from_secs(-1));
        for (true_seconds, shown) in [(9.9, 9.9), (10.0, 10.5), (20.0, 20.5), (24.0, 20.5), (26.0, 21.5), (30.0, 24.5)]
        {
            assert_eq!(clock.read(at(true_seconds)), Instant::from_secs_f64(shown), "at {true_seconds} s");
        }
        // A timer set for a moment that was stepped over goes off at the step; after a step back, the first time counts.
        assert_eq!(clock.when(Instant::from_secs_f64(10.2)), Some(at(10.0)));
        assert_eq!(clock.when(Instant::from_secs_f64(20.6)), Some(at(25.1)));
        assert_eq!(clock.when(Instant::from_secs_f64(25.0)), Some(at(29.5)));
    }

    #[test]
    fn suspends_that_overlap_follow_one_another() {
        let clock = HostClock::default()
            .with_suspend(at(1.0), Duration::from_secs(2))
            .with_suspend(at(2.0), Duration::from_secs(2));
        assert_eq!(clock.read(at(4.9)), Instant::from_secs_f64(1.0));
        assert_eq!(clock.read(at(6.0)), Instant::from_secs_f64(2.0));
    }

    #[test]
    fn the_skew_walks_as_far_as_said() {
        // Over 300 s and over four times as long: twice as far.
        for (span, wanted) in [(300.0, 2.0), (1200.0, 4.0)] {
            let mean_square = (0..400)
                .map(|host| (skew_ppm(&wandering(host), 5_000.0 + span) - skew_ppm(&wandering(host), 5_000.0)).powi(2))
                .sum::<f64>()
                / 400.0;
            let found = mean_square.sqrt();
            assert!((found / wanted - 1.0).abs() < 0.15, "{found} ppm instead of {wanted}");
        }
    }

    #[test]
    fn the_walk_is_smooth() {
        let clock = wandering(3);
        // The skew changes by 2 ppm in 300 s, so by about 0.12 ppm in one; also where the finest stretches meet.
        for second in -500..500 {
            let second = f64::from(second) * 0.25;
            let change = skew_ppm(&clock, second + 0.25) - skew_ppm(&clock, second);
            assert!(change.abs() < 0.5, "{change} ppm within 0.25 s at {second}");
        }
    }

    #[test]
    fn impossible_clocks_are_refused() {
        assert!(HostClock::new(Duration::ZERO, f64::NAN).is_err());
        assert!(HostClock::new(Duration::ZERO, -1e6).is_err());
        let clock = HostClock::default();
        for (ppm, over) in [(f64::NAN, 1), (-1.0, 1), (1.0, 0), (1e5, 1), (f64::INFINITY, 1)] {
            let refused = clock.clone().wandering(ppm, Duration::from_secs(over), 0, 0).unwrap_err();
            assert!(refused.to_string().contains("wander"), "{refused}");
        }
    }

    proptest! {
        #[test]
        fn the_clock_never_runs_backwards(skew in -1000.0..1000.0f64, host: u64, nanos in -1_000_000_000_000_000i64..1_000_000_000_000_000, gap in 0i64..10_000_000) {
            let clock = HostClock::new(Duration::from_secs(7), skew).unwrap();
            let clock = clock.wandering(2.0, Duration::from_secs(300), 5, host).unwrap();
            let clock = clock.with_suspend(at(5.0), Duration::from_secs(100));
            let moment = GlobalTime::from_nanos(nanos);
            prop_assert!(clock.read(moment) <= clock.read(moment + Duration::from_nanos(gap)));
        }

        #[test]
        fn when_is_the_inverse_of_read(skew in -1e5..1e5f64, host: u64, nanos in -1_000_000_000_000_000i64..1_000_000_000_000_000) {
            let clock = HostClock::new(Duration::from_secs(-3), skew).unwrap();
            let clock = clock.wandering(2.0, Duration::from_secs(300), 5, host).unwrap();
            let clock = clock.with_suspend(at(50.0), Duration::from_secs(100)).with_step(at(1000.0), Duration::from_secs(3));
            let local = clock.read(GlobalTime::from_nanos(nanos));
            let first = clock.when(local).unwrap();
            prop_assert!(first.as_nanos() <= nanos);
            prop_assert_eq!(clock.read(first), local);
            prop_assert!(clock.read(first - Duration::from_nanos(1)) < local);
        }
    }
}
