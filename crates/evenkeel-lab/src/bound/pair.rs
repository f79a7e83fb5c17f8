//! One life at one receiver: the cheapest choice of vectors at a price.
//!
//! Time goes in steps between breaks: a vector that could arrive, a vector of the base case. The least cost of showing vector j at
//! the end of a step is that of showing it before, or of having changed to it at the beginning of the step for the price, plus its
//! error in the step. Since any change costs the same, only the cheapest vector before it matters: one pass over time.
//!
//! A change between two breaks is allowed for. Within a step of length h, the error of what is shown changes by at most V h, V
//! being the speed of the shown past the exported path; so changing within it, instead of at one of its ends, gains at most
//! V h^2 / 4 per vector, and that is taken off the price. Neither path is taken to be faster than the fastest observation.
//!
//! **Sleep.** Most vectors are far off most of the time. One whose error in a step is at least what the cheapest choice pays there
//! can neither be the cheapest nor come any closer to it: it stays at the price above. An error cannot fall faster than both paths
//! move, so a vector that is far off is looked at again only when that could have changed. This leaves out no choice, and where a
//! cost is not known exactly, it is taken to be the least that it can be.

use crate::world::{Fleet, Rules};
use anyhow::Result;
use evenkeel::wire::datagram::Stamp;
use evenkeel::{Course, Duration, GlobalTime, Motion, Placing, Vec3};

/// No step is longer than this.
pub(super) const LONGEST_STEP: Duration = Duration::from_millis(10);
/// A vector that would sleep for fewer steps stays awake.
const SHORTEST_SLEEP: usize = 8;

/// How vectors reach a receiver, and how it shows them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// From the sender.
    pub(super) delay: Duration,
    /// To the sender, if it is a server that owns nothing. Such a server has only the vectors of the base case.
    pub(super) uplink: Option<Duration>,
    pub(super) placing: Placing,
}

/// A vector that could be shown.
#[derive(Clone, Debug)]
struct Candidate {
    /// The first step in which it can be.
    step: usize,
    generated: GlobalTime,
    motion: Motion,
    /// It never moves faster, in metres per second.
    speed: f64,
}

/// A stretch of time without a break.
#[derive(Clone, Copy, Debug)]
struct Step {
    middle: GlobalTime,
    seconds: f64,
    /// Where the exported path is in the middle.
    exported: Vec3,
    /// How far it has moved since the first step.
    moved: f64,
}

/// One life at one receiver.
pub(super) struct Pair {
    candidates: Vec<Candidate>,
    steps: Vec<Step>,
    max_age: Duration,
    /// What a change between two breaks may gain, in metre-seconds.
    slack: f64,
    /// The error of the base case, in metre-seconds.
    base: f64,
}

/// The cheapest choice at a price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cheapest {
    /// Error and price, in metre-seconds.
    pub(super) cost: f64,
    /// Vectors after the first.
    pub(super) vectors: f64,
}

impl Pair {
    pub(super) fn new(fleet: &Fleet, life: usize, rules: &Rules, way: &Way) -> Result<Self> {
        let exported = fleet.exported(life);
        let made = match way.uplink {
            None => fleet.observations(life, rules)?,
            Some(up) => {
                let due = fleet.triggers(life).iter().map(|(due, _)| *due + up);
                due.zip(exported).map(|(due, (generated, motion))| (due, *generated, *motion)).collect()
            }
        };
        let Placing { lag, max_age, .. } = way.placing;
        // From when each can be shown, in shown time.
        let shown = |ready: GlobalTime, generated: GlobalTime| generated.max(Stamp::at(ready + way.delay).time() - lag);
        let from: Vec<GlobalTime> = made.iter().map(|(ready, generated, _)| shown(*ready, *generated)).collect();
        let breaks = breaks(&from, exported, fleet.life_span(life).1 - lag);
        let steps = steps(&breaks, exported);
        let candidate = |((_, generated, motion), from): (&(GlobalTime, GlobalTime, Motion), &GlobalTime)| Candidate {
            step: steps.partition_point(|step| step.middle < *from),
            generated: *generated,
            motion: *motion,
            speed: top_speed(motion, max_age),
        };
        let candidates: Vec<Candidate> = made.iter().zip(&from).map(candidate).collect();
        let fastest = made.iter().map(|(_, _, motion)| motion.velocity_at(0.0).length()).fold(0.0, f64::max);
        let longest = steps.iter().map(|step| step.seconds).fold(0.0, f64::max);
        let slack = 2.0 * fastest * longest * longest / 4.0;
        let mut pair = Self { candidates, steps, max_age, slack, base: 0.0 };
        pair.base = pair.error_of(exported, &shown, fleet.triggers(life).iter().map(|(due, _)| *due), way);
        Ok(pair)
    }

    /// The error of the base case, in metre-seconds, added up as for the bound.
    pub(super) fn error_of_base(&self) -> f64 {
        self.base
    }

    /// The error of showing these vectors, sent when they were due.
    fn error_of(
        &self,
        vectors: &[(GlobalTime, Motion)],
        shown: &dyn Fn(GlobalTime, GlobalTime) -> GlobalTime,
        due: impl Iterator<Item = GlobalTime>,
        way: &Way,
    ) -> f64 {
        let up = way.uplink.unwrap_or(Duration::ZERO);
        let from: Vec<GlobalTime> = due.zip(vectors).map(|(due, vector)| shown(due + up, vector.0)).collect();
        let error = |step: &Step| {
            let newest = from.partition_point(|from| *from <= step.middle).checked_sub(1)?;
            let (generated, motion) = &vectors[newest];
            Some(step.seconds * self.distance(*generated, motion, step))
        };
        self.steps.iter().filter_map(error).sum()
    }

    fn distance(&self, generated: GlobalTime, motion: &Motion, step: &Step) -> f64 {
        let age = step.middle.since(generated).min(self.max_age).as_secs_f64();
        motion.position_at(age).distance(step.exported)
    }

    /// The cheapest choice at a price in metre-seconds per vector.
    pub(super) fn cheapest(&self, price: f64) -> Cheapest {
        Walk::new(self, (price - self.slack).max(0.0)).run()
    }

    /// The first step in which a vector that is so far off in step `now` could be nearer than `level`.
    fn wakes(&self, candidate: &Candidate, now: usize, distance: f64, level: f64) -> usize {
        let here = &self.steps[now];
        let frozen = here.middle.since(candidate.generated) >= self.max_age;
        let speed = if frozen { 0.0 } else { candidate.speed };
        let nearer = |step: &Step| speed * step.middle.since(here.middle).as_secs_f64() + step.moved - here.moved;
        now + 1 + self.steps[now + 1..].partition_point(|step| nearer(step) < distance - level)
    }
}

/// What it costs to show a vector up to now.
#[derive(Clone, Copy, Debug)]
struct Path {
    candidate: usize,
    cost: f64,
    vectors: f64,
}

/// One pass over time at one price.
struct Walk<'a> {
    pair: &'a Pair,
    price: f64,
    /// The cheapest vector to show.
    best: Path,
    awake: Vec<Path>,
    /// By step, which vectors are to be looked at again.
    due: Vec<Vec<u32>>,
    sleepers: usize,
    /// Whoever sleeps is at least so far off, in metres.
    level: f64,
}

impl<'a> Walk<'a> {
    fn new(pair: &'a Pair, price: f64) -> Self {
        let best = Path { candidate: 0, cost: 0.0, vectors: 0.0 };
        let due = vec![Vec::new(); pair.steps.len() + 1];
        Self { pair, price, best, awake: vec![best], due, sleepers: 0, level: 0.0 }
    }

    fn run(mut self) -> Cheapest {
        let mut next = 1;
        for now in 0..self.pair.steps.len() {
            let fresh = Path { candidate: 0, cost: f64::INFINITY, vectors: 0.0 };
            while self.pair.candidates.get(next).is_some_and(|candidate| candidate.step <= now) {
                self.awake.push(Path { candidate: next, ..fresh });
                next += 1;
            }
            let woken = std::mem::take(&mut self.due[now]);
            self.sleepers -= woken.len();
            self.awake.extend(woken.iter().map(|&candidate| Path { candidate: candidate as usize, ..fresh }));
            self.step(now);
        }
        Cheapest { cost: self.best.cost, vectors: self.best.vectors }
    }

    fn step(&mut self, now: usize) {
        let (pair, step) = (self.pair, &self.pair.steps[now]);
        let before = self.best;
        let change = Path { cost: before.cost + self.price, vectors: before.vectors + 1.0, ..before };
        self.best.cost = f64::INFINITY;
        let mut kept = 0;
        for index in 0..self.awake.len() {
            let mut path = self.awake[index];
            if path.cost > change.cost {
                (path.cost, path.vectors) = (change.cost, change.vectors);
            }
            let candidate = &pair.candidates[path.candidate];
            let distance = pair.distance(candidate.generated, &candidate.motion, step);
            let was = path.cost;
            path.cost += step.seconds * distance;
            if path.cost < self.best.cost {
                self.best = path;
            }
            if was >= change.cost && distance > self.level && self.sleeps(path.candidate, now, distance) {
                continue;
            }
            self.awake[kept] = path;
            kept += 1;
        }
        self.awake.truncate(kept);
        self.rouse(now, &before, &change);
    }

    /// Lets a vector sleep if that is worth the trouble. It has cost the price above the cheapest, so that it may be forgotten.
    fn sleeps(&mut self, candidate: usize, now: usize, distance: f64) -> bool {
        let until = self.pair.wakes(&self.pair.candidates[candidate], now, distance, self.level);
        if until < now + SHORTEST_SLEEP {
            return false;
        }
        self.due[until].push(candidate as u32);
        self.sleepers += 1;
        true
    }

    /// Where the cheapest choice pays more than the sleepers are known to be off, they might be better: all wake up, with the
    /// least that they can have cost.
    fn rouse(&mut self, now: usize, before: &Path, change: &Path) {
        let seconds = self.pair.steps[now].seconds;
        let paid = (self.best.cost - before.cost) / seconds;
        if paid <= self.level {
            return;
        }
        let least = change.cost + self.level * seconds;
        self.level = 2.0 * paid;
        if self.sleepers == 0 {
            return;
        }
        for due in &mut self.due[now + 1..] {
            for candidate in due.drain(..) {
                self.awake.push(Path { candidate: candidate as usize, cost: least, vectors: change.vectors });
            }
        }
        self.sleepers = 0;
        if least < self.best.cost {
            self.best = Path { cost: least, ..*change };
        }
    }
}

/// From the first moment at which something is shown to the end: when a vector may arrive and where the exported path breaks,
/// and enough moments between them.
fn breaks(from: &[GlobalTime], exported: &[(GlobalTime, Motion)], end: GlobalTime) -> Vec<GlobalTime> {
    let Some(&start) = from.first() else { return Vec::new() };
    let inner = from.iter().copied().chain(exported.iter().map(|vector| vector.0));
    let mut all: Vec<GlobalTime> = inner.filter(|at| *at > start && *at < end).collect();
    if start < end {
        all.extend([start, end]);
    }
    all.sort_unstable();
    all.dedup();
    let mut breaks = Vec::with_capacity(2 * all.len());
    for pair in all.windows(2) {
        let span = pair[1].since(pair[0]);
        let parts = (span.as_nanos() + LONGEST_STEP.as_nanos() - 1) / LONGEST_STEP.as_nanos();
        breaks.extend((0..parts).map(|part| pair[0] + span.mul_f64(part as f64 / parts as f64)));
    }
    breaks.extend(all.last());
    breaks
}

fn steps(breaks: &[GlobalTime], exported: &[(GlobalTime, Motion)]) -> Vec<Step> {
    let (mut vector, mut steps) = (0, Vec::<Step>::with_capacity(breaks.len()));
    for pair in breaks.windows(2) {
        let span = pair[1].since(pair[0]);
        let middle = pair[0] + span / 2;
        while exported.get(vector + 1).is_some_and(|next| next.0 <= middle) {
            vector += 1;
        }
        let (generated, motion) = &exported[vector];
        let exported = motion.position_at(middle.since(*generated).as_secs_f64());
        let moved = steps.last().map_or(0.0, |last| last.moved + last.exported.distance(exported));
        steps.push(Step { middle, seconds: span.as_secs_f64(), exported, moved });
    }
    steps
}

/// No faster than this does a motion get within such an age.
fn top_speed(motion: &Motion, max_age: Duration) -> f64 {
    match motion.course {
        Course::Stationary => 0.0,
        Course::Linear { velocity } => velocity.length(),
        Course::Circular { speed, climb } => speed.hypot(climb),
        Course::Accelerated { velocity, acceleration } | Course::Turning { velocity, acceleration } => {
            velocity.length() + acceleration.length() * max_age.as_secs_f64()
        }
        Course::Spline { .. } | Course::Custom { .. } => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Motion as Workload;

    /// A short life of a tank: so many observations of it, at a receiver with this delay and lag.
    fn pair(observations: u32, delay_ms: i64, lag_ms: i64, seed: u64) -> Pair {
        let rules = Rules::default();
        let seconds = f64::from(observations) / 60.0;
        let mut entities = Workload::Tank.entities(1, 30.0, seed);
        // From the middle of a drive, where something happens.
        let samples = entities[0].lives[0].samples()[600..].to_vec();
        let end = samples[0].at + Duration::from_secs_f64(seconds);
        let part: Vec<_> = samples.into_iter().filter(|sample| sample.at < end).collect();
        entities[0].lives = vec![crate::workload::Life::new(part).unwrap()];
        let fleet = Fleet::new("one".into(), entities, &rules).unwrap();
        let placing = Placing { lag: Duration::from_millis(lag_ms), ..rules.placing };
        let way = Way { delay: Duration::from_millis(delay_ms), uplink: None, placing };
        Pair::new(&fleet, 0, &rules, &way).unwrap()
    }

    /// The cheapest of all ways to show one vector after the other that could have arrived, by trying them all.
    fn brute_force(pair: &Pair, price: f64, now: usize, shown: usize) -> f64 {
        let Some(step) = pair.steps.get(now) else { return 0.0 };
        let options = pair.candidates.iter().enumerate().filter(|(_, candidate)| candidate.step <= now);
        let cost = |(number, candidate): (usize, &Candidate)| {
            let error = step.seconds * pair.distance(candidate.generated, &candidate.motion, step);
            let sent = if number == shown { 0.0 } else { price };
            sent + error + brute_force(pair, price, now + 1, number)
        };
        options.map(cost).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn it_is_the_cheapest_of_all_choices() {
        for seed in 1..5 {
            let pair = Pair { slack: 0.0, ..pair(7, 0, 0, seed) };
            assert!((5..=14).contains(&pair.steps.len()) && pair.candidates.len() == 7, "{}", pair.steps.len());
            let few = Pair { steps: pair.steps[..pair.steps.len().min(9)].to_vec(), ..pair };
            for price in [0.0, 1e-6, 1e-5, 1e-4, 1e-3] {
                let (found, all) = (few.cheapest(price).cost, brute_force(&few, price, 0, 0));
                assert!((found - all).abs() < 1e-12, "seed {seed}, price {price}: {found} found, {all} is cheapest");
            }
        }
    }

    /// Those that sleep are only spared the look. Where all are woken up, their cost is taken to be the least that it can be: what
    /// comes of it is never above, and hardly below.
    #[test]
    fn sleep_changes_next_to_nothing() {
        for (delay, seed) in [(20, 1), (250, 2), (800, 3)] {
            let pair = pair(600, delay, 0, seed);
            let restless = Pair {
                candidates: pair.candidates.iter().map(|c| Candidate { speed: f64::INFINITY, ..c.clone() }).collect(),
                steps: pair.steps.clone(),
                ..pair
            };
            for price in [1e-3, 1e-2, 0.1, 1.0] {
                let (one, other) = (pair.cheapest(price), restless.cheapest(price));
                let lower = other.cost - one.cost;
                assert!((-1e-9..1e-6 * other.cost).contains(&lower), "{delay} ms at {price}: {one:?} {other:?}");
            }
        }
    }

    #[test]
    fn the_value_is_concave_in_the_price_and_vectors_fall() {
        for lag_ms in [0, 100] {
            let pair = Pair { slack: 0.0, ..pair(900, 250, lag_ms, 4) };
            let prices: Vec<f64> = (0..40).map(|n| 0.02 * f64::from(n)).collect();
            let found: Vec<Cheapest> = prices.iter().map(|price| pair.cheapest(*price)).collect();
            for three in found.windows(3) {
                let chord = 0.5 * (three[0].cost + three[2].cost);
                assert!(three[1].cost >= chord - 1e-9 && three[1].vectors >= three[2].vectors, "{three:?}");
                // The number of vectors is the slope.
                assert!(three[1].cost <= three[0].cost + 0.02 * three[0].vectors + 1e-9, "{three:?}");
            }
            assert!(found[1].vectors > 3.0 && found[39].vectors < found[1].vectors);
        }
    }

    /// What takes longer to arrive can be shown later, with a lag as much sooner.
    #[test]
    fn a_vector_is_shown_when_it_arrives() {
        let at = |delay, lag| pair(300, delay, lag, 5);
        let costs = [(0, 0), (100, 0), (300, 0)].map(|(delay, lag)| at(delay, lag).cheapest(0.01).cost);
        assert!(costs[0] < costs[1] && costs[1] < costs[2], "{costs:?}");
        let first = |pair: &Pair| pair.steps[0].middle;
        let late = first(&at(300, 0)).since(first(&at(100, 0)));
        assert!((late.as_secs_f64() - 0.2).abs() < 0.006, "{late:?}");
        let shown = first(&at(300, 200)).since(first(&at(100, 0)));
        assert!(shown.as_secs_f64().abs() < 0.006, "{shown:?}");
    }
}
