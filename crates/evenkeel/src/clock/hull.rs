//! The directional hull: offset and skew from the fastest packets of each direction.
//!
//! What a packet tells about the offset (session time minus host time) is one-sided: a packet up to the reference says
//! "at most this", by its delay; a packet down says "at least this". Delays have a floor, so the tightest packets of
//! each direction lie along two parallel lines, one floor above and one floor below the truth. Their slope is the
//! skew, the middle between them the offset, their distance (the *margin*) the sum of the two floors. Averages would
//! take in the jitter; the hull leaves it outside.
//!
//! All numbers here are `f64` nanoseconds counted from an origin near by, which the caller keeps.

use alloc::collections::VecDeque;

/// Packets older than this are forgotten.
const WINDOW: f64 = 120e9;
/// The window is cut in so many buckets for each direction; each keeps its tightest packet.
const BUCKETS: usize = 128;
const BUCKET: f64 = WINDOW / BUCKETS as f64;
/// Largest skew that is believed.
const SKEW_MAX: f64 = 150e-6;
/// Halvings of the skew interval: down to 0.005 ppm.
const SKEW_STEPS: u32 = 16;
/// Standard deviation of skews among hosts: what is expected of one not yet known.
const SKEW_USUAL: f64 = 50e-6;
/// How much variance a skew gains in each nanosecond: 2 ppm in 300 s.
const WANDER_VARIANCE: f64 = 2e-6 * 2e-6 / 300e9;
/// A fit may leave the skew of the long run by so many of its deviations, and by this much anyway. The long run shares
/// packets with the fit, so its deviation looks smaller than it is.
const HOME_TRUST: f64 = 2.0;
const HOME_SPREAD: f64 = 0.5e-6;
/// Deviation of a fitted skew, in units of the expected excess of the tightest packets over the span they cover. A
/// few times what exponential jitter gives, because evenly spread jitter gives more.
const SKEW_DEVIATION: f64 = 10.0;
/// An old packet's word is loosened for each nanosecond of age by so many deviations of the skew, and by this much
/// anyway, because a skew wanders.
const LOOSENING: f64 = 0.4;
const LOOSENING_MIN: f64 = 0.1e-6;
/// What delays are taken to scatter by before there are any, ns.
const EXCESS_USUAL: f64 = 2e6;
/// Finer than this, ns, nothing is resolved.
const RESOLUTION_MIN: f64 = 1e3;
/// A packet that undercuts all others so far by more than so many times what is to be expected is no luck.
const LUCK: f64 = 8.0;
/// Nor is one that undercuts them by the mean excess and this much more, ns.
const OUTDATED: f64 = 3e6;
/// A bucket so many times the mean excess above the line holds packets of a slower path.
const SCATTER: f64 = 4.0;
/// A detour is longer by this share of the mean excess at least, which itself grows with the detour.
const DETOUR: f64 = 0.2;
/// What is said about packets of late is said about this long.
const OF_LATE: f64 = 10e9;
/// The floor of the margin is remembered in so many slots of [`FLOOR_SLOT`] each: 15 minutes.
const FLOOR_SLOTS: usize = 15;
const FLOOR_SLOT: f64 = 60e9;

/// The tightest packet of one bucket.
#[derive(Clone, Copy, Debug, Default)]
struct Point {
    at: f64,
    value: f64,
}

/// One direction's packets, turned such that the tight ones are the low ones.
#[derive(Clone, Debug)]
struct Side {
    points: VecDeque<Point>,
    /// Packets in the window, old ones fading out.
    count: f64,
    /// Mean height above the hull.
    excess: f64,
    newest: f64,
}

impl Side {
    fn new() -> Self {
        Self { points: VecDeque::with_capacity(BUCKETS), count: 0.0, excess: EXCESS_USUAL, newest: f64::NEG_INFINITY }
    }

    fn clear(&mut self) {
        self.points.clear();
        (self.count, self.excess, self.newest) = (0.0, EXCESS_USUAL, f64::NEG_INFINITY);
    }

    /// Takes a point in if it is the lowest of its bucket, seen along the slope.
    fn add(&mut self, at: f64, value: f64, slope: f64) {
        let bucket = libm::floor(at / BUCKET);
        let mut index = self.points.len();
        while index > 0 {
            let other = &mut self.points[index - 1];
            let other_bucket = libm::floor(other.at / BUCKET);
            if other_bucket == bucket {
                if value - slope * at < other.value - slope * other.at {
                    *other = Point { at, value };
                }
                return;
            }
            if other_bucket < bucket {
                break;
            }
            index -= 1;
        }
        if self.points.len() == BUCKETS {
            if index == 0 {
                return;
            }
            self.points.pop_front();
            index -= 1;
        }
        self.points.insert(index, Point { at, value });
    }

    /// Forgets everything if a new packet is so far under the line that the path must have become faster: the slow ones
    /// say nothing any more, and a line under both would follow the change of the path instead of the clock.
    fn outdate(&mut self, under: f64) {
        if under > OUTDATED + self.excess + LUCK * self.resolution() {
            self.clear();
        }
    }

    /// Whether all packets of late are far above the older ones: the path has become slower, and until the older ones are
    /// forgotten a line under both would follow the change of the path instead of the clock.
    fn on_detour(&self, slope: f64, now: f64) -> bool {
        let height = |point: &Point| point.value + slope * (now - point.at);
        let lowest = |low: f64, point: &Point| low.min(height(point));
        let start = self.points.partition_point(|point| point.at < now - OF_LATE);
        let older = self.points.range(..start).fold(f64::INFINITY, lowest);
        let of_late = self.points.range(start..).fold(f64::INFINITY, lowest);
        let luck = LUCK * self.resolution() * (WINDOW / OF_LATE);
        of_late - older > OUTDATED + DETOUR * self.excess + luck && of_late < f64::INFINITY
    }

    /// Keeps the books about how many packets there are and how far they scatter above `floor`.
    fn count(&mut self, at: f64, height: f64) {
        let passed = (at - self.newest).clamp(0.0, WINDOW);
        self.newest = self.newest.max(at);
        self.count = self.count * (1.0 - passed / WINDOW) + 1.0;
        self.excess += (height.max(0.0) - self.excess) / (self.count + 1.0).min(100.0);
    }

    /// The corners of the convex hull from below, in `scratch`: no line from below touches anything else.
    fn corners<'a>(&self, scratch: &'a mut [Point; BUCKETS]) -> &'a [Point] {
        let mut count = 0;
        for point in &self.points {
            while count >= 2 && !turns_up(scratch[count - 2], scratch[count - 1], *point) {
                count -= 1;
            }
            scratch[count] = *point;
            count += 1;
        }
        &scratch[..count]
    }

    /// How far above its floor the tightest of this many packets is to be expected.
    fn resolution(&self) -> f64 {
        (self.excess / self.count.max(1.0)).max(RESOLUTION_MIN)
    }

    /// How far the line may be off: by the scatter of the packets it rests on if it rests on recent ones, by the
    /// wandering of the skew if it rests on old ones. The best age to rest on balances the two.
    fn doubt(&self, loosening: f64) -> f64 {
        let interval = WINDOW / self.count.max(1.0);
        self.resolution() + 2.0 * libm::sqrt(self.excess * loosening * interval)
    }

    /// The mean age of the buckets (the many packets of the first seconds would drown all others) whose height above the
    /// line is mere jitter: the others are from when the path was slower, and say nothing about the clock.
    fn mean_age(&self, slope: f64, now: f64) -> f64 {
        let height = |point: &Point| point.value + slope * (now - point.at);
        let lowest = self.points.iter().map(height).fold(f64::INFINITY, f64::min);
        let limit = lowest + OUTDATED + SCATTER * self.excess;
        let near = self.points.iter().filter(|point| height(point) <= limit);
        let (count, sum) = near.fold((0.0, 0.0), |(count, sum), point| (count + 1.0, sum + now - point.at));
        sum / f64::max(count, 1.0)
    }

    fn forget_before(&mut self, oldest: f64) {
        while self.points.len() > 1 && self.points.front().is_some_and(|point| point.at < oldest) {
            self.points.pop_front();
        }
    }
}

/// Whether the way from `a` over `b` to `c` turns up at `b`.
fn turns_up(a: Point, b: Point, c: Point) -> bool {
    (b.value - a.value) * (c.at - b.at) < (c.value - b.value) * (b.at - a.at)
}

/// Where the line of this slope that touches the corners from below passes `now`, and the age of the corner it touches.
/// Each corner is lifted by `loosening` for its age.
fn touch(corners: &[Point], slope: f64, loosening: f64, now: f64) -> (f64, f64) {
    let mut lowest = (f64::INFINITY, 0.0);
    for point in corners {
        let age = now - point.at;
        let value = point.value + (slope + loosening) * age;
        if value < lowest.0 {
            lowest = (value, age);
        }
    }
    lowest
}

/// The smallest margin of the last 15 minutes.
#[derive(Clone, Debug)]
struct Floors {
    slots: VecDeque<Point>,
}

impl Floors {
    fn add(&mut self, at: f64, margin: f64) -> f64 {
        match self.slots.back_mut() {
            Some(slot) if at - slot.at < FLOOR_SLOT => slot.value = slot.value.min(margin),
            _ => {
                if self.slots.len() == FLOOR_SLOTS {
                    self.slots.pop_front();
                }
                self.slots.push_back(Point { at, value: margin });
            }
        }
        self.lowest().unwrap_or(margin)
    }

    fn lowest(&self) -> Option<f64> {
        self.slots.iter().map(|slot| slot.value).reduce(f64::min)
    }
}

/// What the hull says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimate {
    /// When it was made.
    pub(super) at: f64,
    /// Offset at that moment.
    pub(super) offset: f64,
    /// Growth of the offset for each nanosecond.
    pub(super) skew: f64,
    /// Largest error to be expected on a path whose two floors are equal.
    pub(super) uncertainty: f64,
    /// Largest error on any path.
    pub(super) bound: f64,
    /// The smallest round trip the two hulls leave room for.
    pub(super) floor: f64,
    /// By how much a lucky packet may still undercut the line above and below.
    pub(super) luck_up: f64,
    pub(super) luck_down: f64,
    /// Where the two lines pass.
    pub(super) high: f64,
    pub(super) low: f64,
    /// Largest error to be expected of the skew.
    pub(super) skew_uncertainty: f64,
}

impl Estimate {
    /// The offset at another moment.
    pub(super) fn offset_at(&self, at: f64) -> f64 {
        self.offset + self.skew * (at - self.at)
    }

    /// The uncertainty at a later moment, if no packet arrives until then.
    pub(super) fn uncertainty_at(&self, at: f64) -> f64 {
        self.uncertainty + self.skew_uncertainty * (at - self.at).max(0.0)
    }
}

/// Both directions' packets and the line between them.
#[derive(Clone, Debug)]
pub(super) struct Hull {
    up: Side,
    down: Side,
    floors: Floors,
    estimate: Option<Estimate>,
    /// The skew of the long run and its variance.
    skew_home: f64,
    skew_variance: f64,
}

impl Hull {
    pub(super) fn new() -> Self {
        Self {
            up: Side::new(),
            down: Side::new(),
            floors: Floors { slots: VecDeque::with_capacity(FLOOR_SLOTS) },
            estimate: None,
            skew_home: 0.0,
            skew_variance: SKEW_USUAL * SKEW_USUAL,
        }
    }

    pub(super) fn estimate(&self) -> Option<&Estimate> {
        self.estimate.as_ref()
    }

    /// Goes by this line until packets have been seen.
    pub(super) fn presume(&mut self, at: f64, skew: f64, uncertainty: f64) {
        self.estimate = Some(Estimate {
            at,
            offset: 0.0,
            skew,
            uncertainty,
            bound: uncertainty,
            floor: 0.0,
            luck_up: 0.0,
            luck_down: 0.0,
            high: uncertainty,
            low: -uncertainty,
            skew_uncertainty: 3.0 * SKEW_USUAL,
        });
    }

    /// A packet to the reference: sent at `at`, it saw an offset of `seen`, which is too high by its delay.
    pub(super) fn add_up(&mut self, at: f64, seen: f64) {
        let skew = self.skew();
        let under = self.estimate.map_or(0.0, |estimate| estimate.high + skew * (at - estimate.at) - seen);
        self.up.outdate(under);
        self.up.add(at, seen, skew);
        let line = self.estimate.map(|estimate| estimate.offset_at(at) + estimate.floor / 2.0);
        self.up.count(at, line.map_or(0.0, |line| seen - line));
    }

    /// A packet from the reference: received at `at`, it saw an offset of `seen`, which is too low by its delay.
    pub(super) fn add_down(&mut self, at: f64, seen: f64) {
        let skew = self.skew();
        let under = self.estimate.map_or(0.0, |estimate| seen - estimate.low - skew * (at - estimate.at));
        self.down.outdate(under);
        self.down.add(at, -seen, -skew);
        let line = self.estimate.map(|estimate| estimate.offset_at(at) - estimate.floor / 2.0);
        self.down.count(at, line.map_or(0.0, |line| line - seen));
    }

    /// Fits the two lines anew.
    pub(super) fn fit(&mut self, now: f64) {
        self.up.forget_before(now - WINDOW);
        self.down.forget_before(now - WINDOW);
        if self.up.points.is_empty() || self.down.points.is_empty() {
            return;
        }
        let mut scratch = [[Point::default(); BUCKETS]; 2];
        let [scratch_up, scratch_down] = &mut scratch;
        let (up, down) = (self.up.corners(scratch_up), self.down.corners(scratch_down));
        let detour = self.up.on_detour(self.skew(), now) || self.down.on_detour(-self.skew(), now);
        let skew = if detour { self.skew_home } else { self.fit_skew(up, down, now) };
        let loosening = LOOSENING * libm::sqrt(self.skew_variance) + LOOSENING_MIN;
        let (high, age_up) = touch(up, skew, loosening, now);
        let (low, age_down) = touch(down, -skew, loosening, now);
        let low = -low;
        // No round trip is below zero: if the lines cross, what was seen is inconsistent, and says nothing about the path.
        let (margin, middle) = ((high - low).max(0.0), (high + low) / 2.0);
        let floor = self.floors.add(now, margin);
        // What the margin has beyond its floor is the jitter of the packets it rests on, on one side or the other. So the
        // truth is within half of it from the middle; inside that the line so far is better than any new one.
        let slack = (margin - floor) / 2.0;
        // The direction with fewer packets is likely further from its floor.
        let middle = middle - (self.up.resolution() - self.down.resolution()) / 2.0;
        let offset = match &self.estimate {
            Some(before) => before.offset_at(now).min(middle + slack).max(middle - slack),
            None => middle,
        };
        let bound = (high - offset).max(offset - low).max(0.0);
        // A skew that is off moves the lines by the ages of the points they rest on.
        let stale = libm::sqrt(self.skew_variance) * (age_up + age_down).max(0.0) / 2.0;
        let uncertainty = slack + stale + self.up.doubt(loosening) + self.down.doubt(loosening);
        let (luck_up, luck_down) = (slack + LUCK * self.up.resolution(), slack + LUCK * self.down.resolution());
        let skew_uncertainty = 3.0 * libm::sqrt(self.skew_variance);
        self.estimate = Some(Estimate {
            at: now,
            offset,
            skew,
            uncertainty,
            bound,
            floor,
            luck_up,
            luck_down,
            high,
            low,
            skew_uncertainty,
        });
    }

    /// Forgets all packets, because one of the clocks was set; skew and floor stay true.
    pub(super) fn restart(&mut self) {
        self.up.clear();
        self.down.clear();
        self.estimate = None;
    }

    /// Forgets how fast the path can be, because it may be another one now.
    pub(super) fn forget_floor(&mut self) {
        self.floors.slots.clear();
    }

    pub(super) fn heap_bytes(&self) -> usize {
        (self.up.points.capacity() + self.down.points.capacity() + self.floors.slots.capacity()) * size_of::<Point>()
    }

    fn skew(&self) -> f64 {
        self.estimate.as_ref().map_or(self.skew_home, |estimate| estimate.skew)
    }

    /// The most likely skew, if delays scatter exponentially above their floors: it lays a line under each direction's
    /// points as close to them as possible, weighed by how much they are worth, and leaves `skew_home` only for a
    /// reason. That is a concave function of the skew, whose derivative is the age of the point that the line touches
    /// less the mean age.
    fn fit_skew(&mut self, up: &[Point], down: &[Point], now: f64) -> f64 {
        let (worth_up, worth_down) = (1.0 / self.up.resolution(), 1.0 / self.down.resolution());
        let (mean_up, mean_down) = (self.up.mean_age(self.skew(), now), self.down.mean_age(-self.skew(), now));
        let spread = HOME_TRUST * libm::sqrt(self.skew_variance) + HOME_SPREAD;
        let stiffness = 1.0 / (spread * spread);
        let (mut low, mut high) = (-SKEW_MAX, SKEW_MAX);
        for _ in 0..SKEW_STEPS {
            let skew = (low + high) / 2.0;
            let rise_up = touch(up, skew, 0.0, now).1 - mean_up;
            let rise_down = touch(down, -skew, 0.0, now).1 - mean_down;
            if worth_up * rise_up - worth_down * rise_down > stiffness * (skew - self.skew_home) {
                low = skew;
            } else {
                high = skew;
            }
        }
        let skew = (low + high) / 2.0;
        let span = 2.0 * mean_up.min(mean_down).max(1e6);
        let deviation = SKEW_DEVIATION / (worth_up + worth_down) / span;
        let passed = self.estimate.map_or(0.0, |before| (now - before.at).clamp(0.0, 5e9));
        self.remember_skew(skew, deviation, span, passed);
        skew
    }

    /// Takes a fitted skew into that of the long run. Fits of one window share their packets: only so much of a fit is
    /// news as the share of its `span` that `passed` since the last.
    fn remember_skew(&mut self, skew: f64, deviation: f64, span: f64, passed: f64) {
        let variance = deviation * deviation + WANDER_VARIANCE * span / 3.0;
        let gain = self.skew_variance * passed / (variance * span + self.skew_variance * passed);
        self.skew_home += gain * (skew - self.skew_home);
        self.skew_variance = (1.0 - gain) * self.skew_variance + WANDER_VARIANCE * passed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: f64 = 1e6;
    const SECOND: f64 = 1e9;

    /// A hull fed for `seconds` with exchanges every half second on a path of 20 ms and little jitter, for a clock of
    /// this skew.
    fn fed(seconds: u32, skew: f64) -> Hull {
        let mut hull = Hull::new();
        for half in 0..2 * seconds {
            let at = f64::from(half) * SECOND / 2.0;
            let jitter = |of: u32| f64::from((half + of) % 7) * 0.3 * MS;
            hull.add_up(at, skew * at + 20.0 * MS + jitter(0));
            let back = at + 40.0 * MS;
            hull.add_down(back, skew * back - 20.0 * MS - jitter(3));
            hull.fit(back);
        }
        hull
    }

    #[test]
    fn finds_offset_and_skew_under_jitter() {
        let estimate = *fed(120, 80e-6).estimate().unwrap();
        let truth = 80e-6 * estimate.at;
        assert!((estimate.offset - truth).abs() < 0.01 * MS, "off by {} ns", estimate.offset - truth);
        assert!((estimate.skew - 80e-6).abs() < 0.5e-6, "skew {}", estimate.skew);
        assert!((estimate.floor - 40.0 * MS).abs() < 0.1 * MS, "floor {}", estimate.floor);
        assert!(estimate.bound >= 20.0 * MS - 0.1 * MS);
        assert!(estimate.uncertainty_at(estimate.at + 3600.0 * SECOND) > estimate.uncertainty);
    }

    #[test]
    fn holds_the_line_when_the_path_congests() {
        let mut hull = fed(120, 0.0);
        let offset = hull.estimate().unwrap().offset;
        for half in 240..360u32 {
            let at = f64::from(half) * SECOND / 2.0;
            hull.add_up(at, 60.0 * MS); // 40 ms of queue, on the way up only
            hull.add_down(at + 80.0 * MS, -20.0 * MS);
            hull.fit(at + 80.0 * MS);
        }
        let estimate = hull.estimate().unwrap();
        assert!((estimate.offset - offset).abs() < 0.2 * MS, "moved by {} ns", estimate.offset - offset);
    }

    #[test]
    fn one_direction_alone_says_nothing() {
        let mut hull = Hull::new();
        hull.add_down(0.0, -20.0 * MS);
        hull.fit(0.0);
        assert!(hull.estimate().is_none());
    }

    #[test]
    fn points_out_of_order_find_their_bucket_and_the_window_is_bounded() {
        let mut side = Side::new();
        let capacity = side.points.capacity();
        for at in [5.0, 3.0, 4.0, 3.1, 200.0, 150.0] {
            side.add(at * SECOND, at, 0.0);
        }
        assert!(side.points.iter().is_sorted_by(|a, b| a.at < b.at));
        for at in 0..1000 {
            side.add(f64::from(at) * SECOND, 0.0, 0.0);
        }
        assert_eq!((side.points.len(), side.points.capacity()), (BUCKETS, capacity));
    }

    #[test]
    fn corners_keep_every_touching_point() {
        let mut side = Side::new();
        for (at, value) in [(0.0, 3.0), (1.0, 1.0), (2.0, 2.0), (3.0, 0.5), (4.0, 4.0), (5.0, 2.0)] {
            side.add(at * SECOND, value * MS, 0.0);
        }
        let all: alloc::vec::Vec<Point> = side.points.iter().copied().collect();
        let mut scratch = [Point::default(); BUCKETS];
        let corners = side.corners(&mut scratch);
        assert!(corners.len() < all.len());
        for step in -20..=20 {
            let slope = f64::from(step) * 1e-4;
            assert_eq!(touch(corners, slope, 0.0, 6.0 * SECOND).0, touch(&all, slope, 0.0, 6.0 * SECOND).0);
        }
    }
}
