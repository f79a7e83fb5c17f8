//! A path as a log has it: straight between its rows, and broken where the log is.

use crate::workload::trace::{Row, Trace};
use crate::world::{BIN, GAUSS, Sums};
use evenkeel::Vec3;

/// From one row to the next.
#[derive(Clone, Copy)]
struct Leg {
    from: (f64, Vec3),
    to: (f64, Vec3),
}

impl Leg {
    fn at(&self, seconds: f64) -> Vec3 {
        let ((start, here), (end, there)) = (self.from, self.to);
        here + (there - here) * ((seconds - start) / (end - start))
    }
}

/// The legs of one entity's path, in order of time.
pub(super) struct Track {
    legs: Vec<Leg>,
}

impl Track {
    /// The path through the rows of an entity's lives.
    pub(super) fn new(lives: &[Vec<Row>]) -> Self {
        let leg =
            |pair: &[Row]| Leg { from: (pair[0].seconds, pair[0].position), to: (pair[1].seconds, pair[1].position) };
        let legs = lives.iter().flat_map(|life| life.windows(2).map(leg));
        // Two rows at one moment: a jump, and no time.
        Self { legs: legs.filter(|leg| leg.to.0 > leg.from.0).collect() }
    }

    /// What a trace says about the entity with this name; nothing, perhaps.
    pub(super) fn named(trace: &Trace, name: &str) -> Self {
        let found = trace.entities.iter().find(|(entity, _)| entity == name);
        found.map_or(Self { legs: Vec::new() }, |(_, lives)| Self::new(lives))
    }

    /// The first and the last moment.
    pub(super) fn span(&self) -> Option<(f64, f64)> {
        Some((self.legs.first()?.from.0, self.legs.last()?.to.0))
    }

    /// Where it is; nowhere in a gap.
    fn at(&self, seconds: f64) -> Option<Vec3> {
        let next = self.legs.partition_point(|leg| leg.to.0 < seconds);
        self.legs.get(next).filter(|leg| leg.from.0 <= seconds).map(|leg| leg.at(seconds))
    }

    /// The distance to another path while both exist: in all, and added to stretches of time that count from `start`.
    pub(super) fn measure(&self, shown: &Track, start: f64, bins: &mut [Sums]) -> Sums {
        let mut all = Sums::default();
        let (mut n, mut m) = (0, 0);
        while let (Some(real), Some(placed)) = (self.legs.get(n), shown.legs.get(m)) {
            let (from, to) = (real.from.0.max(placed.from.0), real.to.0.min(placed.to.0));
            if from < to {
                let mut add = |bin: usize, sums: Sums| {
                    all.add(&sums);
                    if let Some(bin) = bins.get_mut(bin) {
                        bin.add(&sums);
                    }
                };
                // Where paths cross, the distance has a kink, which quadrature must not run over.
                let middle = closest(real, placed, (from, to));
                measure_legs(real, placed, (from, middle), start, &mut add);
                measure_legs(real, placed, (middle, to), start, &mut add);
            }
            if real.to.0 <= placed.to.0 { n += 1 } else { m += 1 }
        }
        all
    }
}

/// When two legs are closest to each other between one moment and another.
fn closest(real: &Leg, placed: &Leg, (from, to): (f64, f64)) -> f64 {
    let before = real.at(from) - placed.at(from);
    let change = real.at(to) - placed.at(to) - before;
    let share = -before.dot(change) / change.dot(change);
    // The distance may not change at all: then the share is not a number, and any moment does.
    if share > 0.0 && share < 1.0 { from + (to - from) * share } else { from }
}

/// The distance between two legs from one moment to another, by stretches of time that count from `start`.
fn measure_legs(real: &Leg, placed: &Leg, (from, to): (f64, f64), start: f64, add: &mut dyn FnMut(usize, Sums)) {
    let width = BIN.as_secs_f64();
    let mut here = from;
    while here < to {
        let bin = ((here - start) / width + 1e-9).floor().max(0.0);
        let end = to.min(start + (bin + 1.0) * width);
        let seconds = end - here;
        let distance = |node: f64| real.at(here + seconds * node).distance(placed.at(here + seconds * node));
        let real = GAUSS.iter().map(|(node, weight)| weight * seconds * distance(*node)).sum();
        add(bin as usize, Sums { export: 0.0, real, shown: seconds });
        here = if end > here { end } else { to };
    }
}

/// The largest distance between two placements at the end of each leg stands for the time of the leg: integrated, and the
/// seconds.
pub(super) fn spread(real: &Track, shown: &[Track]) -> (f64, f64) {
    let mut total = (0.0, 0.0);
    for leg in &real.legs {
        let placed: Vec<Vec3> = shown.iter().filter_map(|track| track.at(leg.to.0)).collect();
        if placed.len() < 2 {
            continue;
        }
        let others = |(n, a): (usize, &Vec3)| placed[..n].iter().map(|b| a.distance(*b)).fold(0.0, f64::max);
        let widest = placed.iter().enumerate().map(others).fold(0.0, f64::max);
        let seconds = leg.to.0 - leg.from.0;
        total = (total.0 + widest * seconds, total.1 + seconds);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(from: (f64, Vec3), to: (f64, Vec3)) -> Track {
        Track { legs: vec![Leg { from, to }] }
    }

    #[test]
    fn crossing_paths_are_measured_exactly() {
        let real = track((0.0, Vec3::ZERO), (1.0, Vec3::ZERO));
        for (here, there, wanted) in [(1.0, -1.0, 0.5), (3.0, -1.0, 1.25), (0.0, 2.0, 1.0), (2.0, 2.0, 2.0)] {
            let shown = track((0.0, Vec3::new(here, 0.0, 0.0)), (1.0, Vec3::new(there, 0.0, 0.0)));
            // The moment of the crossing may be anywhere in a stretch of time.
            for start in [0.0, -0.03, -0.05] {
                let mut bins = vec![Sums::default(); 12];
                let all = real.measure(&shown, start, &mut bins);
                assert!((all.real - wanted).abs() < 1e-9 && (all.shown - 1.0).abs() < 1e-9, "{all:?}");
                assert!((bins.iter().map(|bin| bin.real).sum::<f64>() - wanted).abs() < 1e-9);
            }
        }
    }
}
