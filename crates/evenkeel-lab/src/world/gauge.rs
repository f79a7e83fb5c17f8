//! Ground truth: how far what receivers show is from what the base case exports and from what is real, integrated over time
//! outside of the thing measured.
//!
//! Between two breaks (a sample, a vector of the base case, an arrival) all three paths are smooth, and three-point Gauss
//! quadrature does. Everything is compared at shown time and counts from a receiver's first reception in a life.

use super::fleet::{Fleet, id_of};
use evenkeel::{Duration, GlobalTime, Receiver, Vec3};

/// Nodes and weights of Gauss quadrature on the unit interval.
pub(crate) const GAUSS: [(f64, f64); 3] =
    [(0.112_701_665_379_258_3, 5.0 / 18.0), (0.5, 8.0 / 18.0), (0.887_298_334_620_741_7, 5.0 / 18.0)];
/// Errors are also added up by such stretches of time.
pub const BIN: Duration = Duration::from_millis(100);
/// Who suffers most is decided over so many of them: a second.
const WINDOW: usize = 10;
/// Errors that differ by less than this share are the same: the rest is rounding.
const ALIKE: f64 = 1e-6;

/// Errors times seconds, and the seconds.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Sums {
    /// Distance between exported and placed path, integrated.
    pub export: f64,
    /// Distance between real and placed path, integrated.
    pub real: f64,
    /// For how long something was shown, added up over entities.
    pub shown: f64,
}

impl Sums {
    /// Adds to it.
    pub fn add(&mut self, other: &Self) {
        self.export += other.export;
        self.real += other.real;
        self.shown += other.shown;
    }

    /// The mean distance that a sum stands for; 0 if nothing was shown.
    pub fn mean(&self, of: impl Fn(&Self) -> f64) -> f64 {
        if self.shown > 0.0 { of(self) / self.shown } else { 0.0 }
    }
}

/// How far one receiver's view of one life has been measured.
#[derive(Clone, Copy)]
struct Watch {
    until: GlobalTime,
    sample: usize,
    vector: usize,
}

/// Measures one run.
pub(super) struct Gauge<'a> {
    fleet: &'a Fleet,
    lag: Duration,
    origin: GlobalTime,
    /// By life, one for each receiver; empty unless it is alive.
    watches: Vec<Vec<Watch>>,
    alive: Vec<usize>,
    /// By receiver, then by entity.
    sums: Vec<Vec<Sums>>,
    /// By receiver and stretch of time.
    bins: Vec<Vec<Sums>>,
    /// The largest distance between two placements, integrated, and the seconds.
    spread: (f64, f64),
    placed: Vec<Vec3>,
}

/// What a run's gauge read in the end.
pub(super) struct Reading {
    /// By receiver, then by entity.
    pub(super) sums: Vec<Vec<Sums>>,
    pub(super) bins: Vec<Vec<Sums>>,
    pub(super) spread: f64,
    pub(super) flips_per_minute: f64,
}

impl<'a> Gauge<'a> {
    /// Measures what so many receivers show of a fleet. Stretches of time count from `origin`.
    pub(super) fn new(fleet: &'a Fleet, receivers: usize, lag: Duration, origin: GlobalTime) -> Self {
        let bins = bin_of(fleet.span().1, origin) + 1;
        Self {
            fleet,
            lag,
            origin,
            watches: vec![Vec::new(); fleet.lives.len()],
            alive: Vec::new(),
            sums: vec![vec![Sums::default(); fleet.entities.len()]; receivers],
            bins: vec![vec![Sums::default(); bins]; receivers],
            spread: (0.0, 0.0),
            placed: Vec::new(),
        }
    }

    /// A life begins.
    pub(super) fn begin(&mut self, life: usize) {
        let until = self.fleet.lives[life].span().0;
        self.watches[life] = vec![Watch { until, sample: 0, vector: 0 }; self.sums.len()];
        self.alive.push(life);
    }

    /// A life is over.
    pub(super) fn end(&mut self, life: usize) {
        self.watches[life] = Vec::new();
        self.alive.retain(|other| *other != life);
    }

    /// A receiver is about to learn something: what it shows up to now is measured.
    pub(super) fn before_arrival(&mut self, number: usize, receiver: &Receiver, now: GlobalTime) {
        for index in 0..self.alive.len() {
            self.measure(self.alive[index], number, receiver, now);
        }
    }

    /// A life has another sample: everybody's view of it up to now is measured.
    pub(super) fn at_sample(&mut self, life: usize, sample: usize, receivers: &[Receiver], now: GlobalTime) {
        for (number, receiver) in receivers.iter().enumerate() {
            self.measure(life, number, receiver, now);
        }
        let Some(before) = sample.checked_sub(1) else { return };
        let samples = self.fleet.lives[life].samples();
        self.compare(life, receivers, now, now.since(samples[before].at).as_secs_f64());
    }

    /// The largest distance between two receivers' placements at this moment stands for the time since the last sample.
    fn compare(&mut self, life: usize, receivers: &[Receiver], now: GlobalTime, seconds: f64) {
        let mut placed = std::mem::take(&mut self.placed);
        placed.clear();
        placed.extend(receivers.iter().filter_map(|r| r.place(id_of(life), now).ok()).map(|p| p.position));
        if placed.len() > 1 {
            let others = |(i, a): (usize, &Vec3)| placed[..i].iter().map(|b| a.distance(*b)).fold(0.0, f64::max);
            let widest = placed.iter().enumerate().map(others).fold(0.0, f64::max);
            self.spread = (self.spread.0 + widest * seconds, self.spread.1 + seconds);
        }
        self.placed = placed;
    }

    /// Measures one receiver's view of one life up to now, from break to break.
    fn measure(&mut self, life: usize, number: usize, receiver: &Receiver, now: GlobalTime) {
        let to = now - self.lag;
        let (samples, vectors) = (self.fleet.lives[life].samples(), &self.fleet.exported[life]);
        let mut watch = self.watches[life][number];
        while watch.until < to {
            while samples.get(watch.sample + 1).is_some_and(|next| next.at <= watch.until) {
                watch.sample += 1;
            }
            while vectors.get(watch.vector + 1).is_some_and(|next| next.0 <= watch.until) {
                watch.vector += 1;
            }
            let next_sample = samples.get(watch.sample + 1).map_or(to, |next| next.at);
            let next_vector = vectors.get(watch.vector + 1).map_or(to, |next| next.0);
            let end = to.min(next_sample).min(next_vector);
            if let Some(sums) = self.stretch(life, receiver, &watch, end) {
                self.sums[number][self.fleet.owners[life]].add(&sums);
                let bins = &mut self.bins[number];
                let bin = bin_of(watch.until, self.origin).min(bins.len() - 1);
                bins[bin].add(&sums);
            }
            watch.until = end;
        }
        self.watches[life][number] = watch;
    }

    /// One stretch without a break; nothing if the receiver does not show the life yet.
    fn stretch(&self, life: usize, receiver: &Receiver, watch: &Watch, end: GlobalTime) -> Option<Sums> {
        let samples = self.fleet.lives[life].samples();
        let (generated, motion) = self.fleet.exported[life].get(watch.vector)?;
        let here = &samples[watch.sample];
        let there = samples.get(watch.sample + 1).unwrap_or(here);
        let (start, step) = (here.pose.position(), there.pose.position() - here.pose.position());
        let per_second = 1.0 / there.at.since(here.at).as_secs_f64().max(1e-9);
        let span = end.since(watch.until);
        let seconds = span.as_secs_f64();
        let mut sums = Sums { shown: seconds, ..Sums::default() };
        for (node, weight) in GAUSS {
            let shown = watch.until + span.mul_f64(node);
            let placed = receiver.place(id_of(life), shown + self.lag).ok()?.position;
            let exported = motion.position_at(shown.since(*generated).as_secs_f64());
            let real = start + step * (shown.since(here.at).as_secs_f64() * per_second);
            sums.export += weight * seconds * placed.distance(exported);
            sums.real += weight * seconds * placed.distance(real);
        }
        Some(sums)
    }

    /// What came of it.
    pub(super) fn finish(self) -> Reading {
        let seconds = self.fleet.span().1.since(self.fleet.span().0).as_secs_f64();
        let flips = flips(&self.bins, |sums| sums.export);
        let flips_per_minute = if seconds > 0.0 { flips as f64 * 60.0 / seconds } else { 0.0 };
        let spread = if self.spread.1 > 0.0 { self.spread.0 / self.spread.1 } else { 0.0 };
        Reading { sums: self.sums, bins: self.bins, spread, flips_per_minute }
    }
}

fn bin_of(at: GlobalTime, origin: GlobalTime) -> usize {
    usize::try_from(at.since(origin).as_nanos() / BIN.as_nanos()).unwrap_or(0)
}

/// Whether an error is as large as the largest one, but for rounding.
pub(crate) fn is_alike(error: f64, largest: f64) -> bool {
    error >= largest * (1.0 - ALIKE)
}

/// How often another receiver becomes the worst off, by the error of the last second that `of` picks. Nobody takes over while all
/// are without error, nor from or against somebody who shows nothing, nor by a mere difference in rounding.
pub(crate) fn flips(bins: &[Vec<Sums>], of: fn(&Sums) -> f64) -> usize {
    let count = bins.first().map_or(0, Vec::len);
    let mut worst = None;
    let mut flips = 0;
    for end in WINDOW..=count {
        let recent = |(number, receiver): (usize, &Vec<Sums>)| {
            let window = &receiver[end - WINDOW..end];
            let shows = window.iter().any(|bin| bin.shown > 0.0);
            shows.then(|| (number, window.iter().map(of).sum::<f64>()))
        };
        let errors: Vec<(usize, f64)> = bins.iter().enumerate().filter_map(recent).collect();
        let largest = errors.iter().map(|(_, error)| *error).fold(0.0, f64::max);
        if errors.len() < 2 || largest <= 0.0 {
            continue;
        }
        let before = worst.and_then(|worst| errors.iter().find(|(number, _)| *number == worst));
        if before.is_some_and(|(_, error)| is_alike(*error, largest)) {
            continue;
        }
        flips += usize::from(before.is_some());
        worst = errors.iter().find(|(_, error)| is_alike(*error, largest)).map(|(number, _)| *number);
    }
    flips
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flip_is_a_change_of_the_worst_off_and_silence_is_none() {
        let row = |errors: [f64; 24]| errors.map(|export| Sums { export, real: 0.0, shown: 0.1 }).to_vec();
        let mut first = [0.0; 24];
        (first[0], first[1]) = (1.0, 1.0);
        let mut second = [0.0; 24];
        second[16] = 1.0;
        assert_eq!(flips(&[row(first), row(second)], |s| s.export), 1);
        assert_eq!(flips(&[row(first), row([0.0; 24])], |s| s.export), 0);
        assert_eq!(flips(&[], |s| s.export), 0);
    }
    #[test]
    fn nobody_takes_over_from_the_absent_or_by_rounding() {
        let row = |export: f64| vec![Sums { export, real: 0.0, shown: 0.1 }; 40];
        let mut absent = row(20.0);
        absent[10..30].fill(Sums::default());
        assert_eq!(flips(&[absent.clone(), row(1.0)], |s| s.export), 0);
        // Of the two that remain one is worst off; then the first is again, which it was not among those.
        assert_eq!(flips(&[absent, row(1.0), row(0.5)], |s| s.export), 1);
        let (mut even, mut odd) = (row(1.0), row(1.0));
        (even[3].export, odd[15].export) = (1.0 + 1e-9, 1.0 + 1e-9);
        assert_eq!(flips(&[even, odd], |s| s.export), 0);
    }
}
