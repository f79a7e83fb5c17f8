//! A tank that stops: how far its image goes on, and when it stands.

use super::drive::Drive;
use crate::experiment::paths;
use crate::study::Series;
use crate::study::measure::{ACCURACY_DELAYS_MS, base_case, millis, rules};
use crate::workload::FRAME;
use crate::world::{Fleet, Glance, run_under};
use anyhow::Result;
use evenkeel::{ClockRule, Duration, GlobalTime, MotionKind, Vec3};

/// A run of stops lasts no longer than this: a dozen of them.
pub(super) const SECONDS: f64 = 60.0;
/// An image is looked at so often in a frame, because it may overshoot in between.
const LOOKS: i64 = 8;
/// A stop is watched for the delay and this much more.
const LONGER: Duration = Duration::from_millis(200);
/// An image stands once it is no further from its end than this.
const STANDS: f64 = 1e-6;

/// How an image met the stops of one run, at one delay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopped {
    /// How far it went past the point where the tank stood, at least and at most over all stops.
    pub(super) past: (f64, f64),
    /// How much later than the delay it stood, in frames: the value furthest from none.
    pub(super) late: f64,
}

/// What was seen of all stops with one seed.
pub(super) struct Stops {
    /// By delay.
    pub(super) global: [Stopped; 3],
    /// By delay.
    pub(super) local: [Stopped; 3],
    /// The first stop at the middle delay: distance along the way over time, for the plot.
    pub(super) curves: Vec<Series>,
}

/// The images of one run, looked at several times a frame: by receiver the places along with the moments, and what is real.
#[derive(Default)]
struct Record {
    images: [Vec<(GlobalTime, Vec3)>; 3],
    real: Vec<(GlobalTime, Vec3, Vec3)>,
}

impl Record {
    fn look(&mut self, glance: &Glance<'_>) {
        let velocity = glance.real.motion(MotionKind::Linear).velocity_at(0.0);
        self.real.push((glance.at, glance.real.position(), velocity));
        for (image, receiver) in self.images.iter_mut().zip(glance.receivers) {
            for look in (0..LOOKS).rev() {
                let at = glance.at - FRAME * look / LOOKS;
                image.extend(receiver.place(glance.id, at).ok().map(|placed| (at, placed.position)));
            }
        }
    }

    /// When and where the tank stopped, and which way it went.
    fn stops(&self) -> impl Iterator<Item = (GlobalTime, Vec3, Vec3)> + '_ {
        self.real.windows(2).filter_map(|pair| {
            let ((_, _, before), (at, place, after)) = (pair[0], pair[1]);
            (before != Vec3::ZERO && after == Vec3::ZERO).then(|| (at, place, before * (1.0 / before.length())))
        })
    }

    fn stopped(&self, receiver: usize) -> Stopped {
        let delay = millis(ACCURACY_DELAYS_MS[receiver]);
        let end = self.real.last().map_or(GlobalTime::ZERO, |real| real.0);
        let mut all = Stopped { past: (f64::INFINITY, 0.0), late: 0.0 };
        for (at, place, way) in self.stops().filter(|(at, ..)| *at + delay + LONGER <= end) {
            let image = &self.images[receiver];
            let from = image.partition_point(|(when, _)| *when < at);
            let to = image.partition_point(|(when, _)| *when <= at + delay + LONGER);
            let past = image[from..to].iter().map(|(_, shown)| (*shown - place).dot(way)).fold(0.0, f64::max);
            all.past = (all.past.0.min(past), all.past.1.max(past));
            let Some((_, rest)) = image[from..to].last() else { continue };
            let moving = image[from..to].iter().rposition(|(_, shown)| shown.distance(*rest) > STANDS);
            let stands = image.get(from + moving.map_or(0, |last| last + 1)).map_or(end, |(when, _)| *when);
            // To a thousandth: frames last no whole number of milliseconds.
            let late = stands.since(at + delay).as_secs_f64() / FRAME.as_secs_f64();
            let late = (late * 1e3).round() / 1e3;
            all.late = if late.abs() > f64::abs(all.late) { late } else { all.late };
        }
        all
    }

    /// Distance along the way around the first stop, over time.
    fn curves(&self, name: &str, receiver: usize) -> (Series, Series) {
        let first = self.stops().next();
        let (stop, place, way) = first.unwrap_or((GlobalTime::ZERO, Vec3::ZERO, Vec3::ZERO));
        let span = |at: GlobalTime| (-0.5..=1.0).contains(&at.since(stop).as_secs_f64());
        let point = |at: GlobalTime, shown: Vec3| (at.since(stop).as_secs_f64(), (shown - place).dot(way));
        let image = self.images[receiver].iter().filter(|(at, _)| span(*at)).map(|(at, shown)| point(*at, *shown));
        let real = self.real.iter().filter(|(at, ..)| span(*at)).map(|(at, shown, _)| point(*at, *shown));
        (Series { name: "real".into(), points: real.collect() }, Series { name: name.into(), points: image.collect() })
    }
}

impl Stops {
    /// Drives, stops and looks.
    pub(super) fn new(seconds: f64, seed: u64) -> Result<Self> {
        let entities = Drive::Stops.entities(seconds.min(SECONDS), seed);
        let fleet = Fleet::new("sender".into(), entities, &rules(ClockRule::Global))?;
        let paths = paths(&ACCURACY_DELAYS_MS, 0.0, 0.0);
        let record = |rule: ClockRule| -> Result<Record> {
            let mut record = Record::default();
            run_under(base_case(&fleet, rules(rule), &paths, seed), &mut |glance| record.look(glance))?;
            Ok(record)
        };
        let (global, local) = (record(ClockRule::Global)?, record(ClockRule::Local)?);
        let (real, at_global) = global.curves("global", 1);
        let (_, at_local) = local.curves("local", 1);
        let each = |record: &Record| [0, 1, 2].map(|receiver| record.stopped(receiver));
        Ok(Self { global: each(&global), local: each(&local), curves: vec![real, at_global, at_local] })
    }
}
