//! Ways of showing a remote tank, each a small model on the same real path and the same network.

use crate::study::measure::{filmed, millis, rules};
use crate::workload::{Entity, Life, Motion, Sample};
use crate::world::{Film, Fleet};
use anyhow::Result;
use evenkeel::{ClockRule, Duration, GlobalTime, Vec3};
use evenkeel_link::{Conditions, Path, path_id};

/// One-way delays of the table, in ms.
pub(super) const DELAYS_MS: [f64; 4] = [50.0, 200.0, 500.0, 800.0];
/// How often MiMaze issues a state (25 a second) and how long it waits before showing it, in ms.
const BUCKET_MS: f64 = 40.0;
const BUCKET_WAIT_MS: f64 = 100.0;
/// A turn of lock-step, in ms.
const TURN_MS: f64 = 50.0;
/// Between two snapshots, and how far back they are interpolated, in ms.
const SNAPSHOT_MS: f64 = 50.0;
const INTERPOLATION_MS: f64 = 100.0;

/// A way of showing remote things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Everybody in one room: the exported path without any delay (thesis 1.5.1).
    Reference,
    /// Vectors extrapolated from their generation: the base case.
    Global,
    /// Vectors extrapolated from their arrival: today.
    Local,
    /// Snapshots twenty times a second, shown 100 ms after they could have come.
    Snapshots,
    /// States 25 times a second, shown 100 ms after they were issued; what comes later is lost, as in MiMaze.
    Bucket,
    /// The same, with a wait that nobody exceeds.
    WorstBucket,
    /// Turns of 50 ms that nobody plays before everybody has got them.
    LockStep,
}

impl Way {
    /// All of them, by name.
    pub(super) const ALL: [(&str, Self); 7] = [
        ("reference: no delay", Self::Reference),
        ("global time (base case)", Self::Global),
        ("count from arrival", Self::Local),
        ("snapshots, interpolated", Self::Snapshots),
        ("bucket of 100 ms", Self::Bucket),
        ("bucket for the slowest", Self::WorstBucket),
        ("lock-step", Self::LockStep),
    ];
}

/// What receivers showed, frame by frame.
pub(super) struct Showing {
    /// By receiver, then by frame of the film.
    pub(super) shown: Vec<Vec<Option<Vec3>>>,
    /// What the owner itself sees, if not what is real.
    pub(super) owner: Option<Vec<Option<Vec3>>>,
    /// By receiver, how far behind the present the image is meant to be, on average, in ms.
    pub(super) behind_ms: Vec<f64>,
    /// After how long a player sees an action of its own, in ms.
    pub(super) response_ms: f64,
    /// Messages a second to each receiver.
    pub(super) messages: f64,
    /// By receiver, the share of messages that came too late to be shown in time.
    pub(super) late: Vec<f64>,
}

/// One drive, with all that the models need.
pub(super) struct Stage {
    film: Film,
    local: Film,
    fleet: Fleet,
    life: Life,
    paths: Vec<Path>,
    seconds: f64,
    /// The longest that a message takes, in ms.
    slowest_ms: f64,
}

impl Stage {
    /// A randomly driven tank and receivers behind these paths, whose jitter is uniform by so much.
    pub(super) fn new(conditions: &[Conditions], jitter_ms: f64, seconds: f64, seed: u64) -> Result<Self> {
        let entities = Motion::Tank.entities(1, seconds, seed);
        let life = entities.iter().find_map(|entity: &Entity| entity.lives.first().cloned());
        let life = life.ok_or_else(|| anyhow::anyhow!("nothing moves"))?;
        let [global, local] = [ClockRule::Global, ClockRule::Local].map(rules);
        let fleet = Fleet::new("sender".into(), entities, &global)?;
        let (_, film) = filmed(&fleet, global, conditions, seed)?;
        let (_, local) = filmed(&fleet, local, conditions, seed)?;
        let path = |(number, path): (u32, &Conditions)| Ok(Path::new(path.clone(), seed, path_id(0, number))?);
        let paths = (1..).zip(conditions).map(path).collect::<Result<_>>()?;
        let slowest = conditions.iter().map(|path| path.delay).max().unwrap_or(Duration::ZERO);
        Ok(Self { film, local, fleet, life, paths, seconds, slowest_ms: slowest.as_millis_f64() + jitter_ms })
    }

    /// The frames on which everything is compared.
    pub(super) fn film(&self) -> &Film {
        &self.film
    }

    /// Shows the drive one way.
    pub(super) fn show(&self, way: Way) -> Showing {
        match way {
            Way::Reference => self.reference(),
            Way::Global => self.vectors(&self.film, false),
            Way::Local => self.vectors(&self.local, true),
            Way::Snapshots => self.snapshots(),
            Way::Bucket => self.bucket(BUCKET_WAIT_MS),
            Way::WorstBucket => self.bucket(self.slowest_ms),
            Way::LockStep => self.lock_step(),
        }
    }

    /// Where the tank really was.
    fn real_at(&self, at: GlobalTime) -> Vec3 {
        let samples = self.life.samples();
        let next = samples.partition_point(|sample| sample.at <= at).clamp(1, samples.len() - 1);
        let (a, b): (&Sample, &Sample) = (&samples[next - 1], &samples[next]);
        let share = at.since(a.at).as_secs_f64() / b.at.since(a.at).as_secs_f64();
        let (from, to) = (a.pose.position(), b.pose.position());
        from + (to - from) * share.clamp(0.0, 1.0)
    }

    fn delays_ms(&self) -> impl Iterator<Item = f64> + '_ {
        self.paths.iter().map(|path| path.conditions().delay.as_millis_f64())
    }

    fn vector_rate(&self) -> f64 {
        self.fleet.exported(0).len() as f64 / self.seconds
    }

    fn none_late(&self) -> Vec<f64> {
        vec![0.0; self.paths.len()]
    }

    fn reference(&self) -> Showing {
        let exported: Vec<Option<Vec3>> = self.film.exported.iter().map(|position| Some(*position)).collect();
        Showing {
            shown: vec![exported; self.paths.len()],
            owner: None,
            behind_ms: vec![0.0; self.paths.len()],
            response_ms: 0.0,
            messages: self.vector_rate(),
            late: self.none_late(),
        }
    }

    fn vectors(&self, film: &Film, late: bool) -> Showing {
        let positions =
            |frames: &Vec<Option<crate::world::Shown>>| frames.iter().map(|s| Some((*s)?.position)).collect();
        Showing {
            shown: film.receivers.iter().map(positions).collect(),
            owner: None,
            behind_ms: self.delays_ms().map(|delay| if late { delay } else { 0.0 }).collect(),
            response_ms: 0.0,
            messages: self.vector_rate(),
            late: self.none_late(),
        }
    }

    /// The moments at which something is issued every so often, up to the end.
    fn issued(&self, every_ms: f64) -> Vec<GlobalTime> {
        (0..(self.seconds * 1e3 / every_ms) as i64).map(|n| GlobalTime::ZERO + millis(every_ms) * n).collect()
    }

    /// Snapshots that have come by a frame are interpolated at a moment that lies back by the delay and the wait.
    fn snapshots(&self) -> Showing {
        let issued = self.issued(SNAPSHOT_MS);
        let wait = |path: &Path| path.conditions().delay + millis(INTERPOLATION_MS);
        let receiver = |path: &Path| -> Vec<Option<Vec3>> {
            let arrivals: Vec<_> = issued.iter().map(|at| path.fate(*at).arrival()).collect();
            let known =
                |index: usize, now: GlobalTime| arrivals.get(index).copied().flatten().is_some_and(|at| at <= now);
            let frame = |now: &GlobalTime| {
                let shown = *now - wait(path);
                let before = issued.partition_point(|at| *at <= shown).checked_sub(1)?;
                let from = (0..=before).rev().take(64).find(|index| known(*index, *now))?;
                // The next one that is here; until then the last stays.
                let to = (before + 1..before + 4).find(|index| known(*index, *now));
                let Some(to) = to else { return Some(self.real_at(issued[from])) };
                let share = shown.since(issued[from]).as_secs_f64() / issued[to].since(issued[from]).as_secs_f64();
                let (a, b) = (self.real_at(issued[from]), self.real_at(issued[to]));
                Some(a + (b - a) * share)
            };
            self.film.at.iter().map(frame).collect()
        };
        let late = |path: &Path| late_share(path, &issued, wait(path));
        Showing {
            shown: self.paths.iter().map(receiver).collect(),
            owner: None,
            behind_ms: self.paths.iter().map(|path| wait(path).as_millis_f64()).collect(),
            response_ms: 0.0,
            messages: 1e3 / SNAPSHOT_MS,
            late: self.paths.iter().map(late).collect(),
        }
    }

    /// Every state is shown so long after it was issued, or never.
    fn bucket(&self, wait_ms: f64) -> Showing {
        let (issued, wait) = (self.issued(BUCKET_MS), millis(wait_ms));
        // The owner's own states are always in time.
        let screen = |path: Option<&Path>| -> Vec<Option<Vec3>> {
            let arrival = |at: GlobalTime| path.map_or(Some(at), |path| path.fate(at).arrival());
            let in_time = |at: &GlobalTime| arrival(*at).is_some_and(|arrival| arrival <= *at + wait);
            let played: Vec<GlobalTime> = issued.iter().copied().filter(in_time).collect();
            let frame = |now: &GlobalTime| {
                let next = played.partition_point(|at| *at + wait <= *now);
                Some(self.real_at(*played.get(next.checked_sub(1)?)?))
            };
            self.film.at.iter().map(frame).collect()
        };
        Showing {
            shown: self.paths.iter().map(|path| screen(Some(path))).collect(),
            owner: Some(screen(None)),
            behind_ms: vec![wait_ms + BUCKET_MS / 2.0; self.paths.len()],
            response_ms: wait_ms,
            messages: 1e3 / BUCKET_MS,
            late: self.paths.iter().map(|path| late_share(path, &issued, wait)).collect(),
        }
    }

    /// A turn is played when the slowest receiver has got it, no sooner than the turn before is over.
    fn lock_step(&self) -> Showing {
        let (turn, issued) = (millis(TURN_MS), self.issued(TURN_MS));
        let mut played: Vec<GlobalTime> = Vec::new();
        for start in &issued {
            let sent = *start + turn;
            let last = self.paths.iter().filter_map(|path| path.fate(sent).arrival()).max().unwrap_or(sent);
            played.push(played.last().map_or(last, |before| last.max(*before + turn)));
        }
        let frame = |now: &GlobalTime| {
            let index = played.partition_point(|at| *at <= *now).checked_sub(1)?;
            Some(self.real_at(issued[index] + now.since(played[index]).min(turn)))
        };
        let shown: Vec<Option<Vec3>> = self.film.at.iter().map(frame).collect();
        let waited: f64 = played.iter().zip(&issued).map(|(at, start)| at.since(*start).as_millis_f64()).sum();
        let mean = waited / issued.len().max(1) as f64;
        Showing {
            shown: vec![shown.clone(); self.paths.len()],
            owner: Some(shown),
            behind_ms: vec![mean; self.paths.len()],
            response_ms: mean,
            messages: 1e3 / TURN_MS,
            late: self.none_late(),
        }
    }
}

/// The share of messages that arrive later than this after they were issued, or never.
pub(super) fn late_share(path: &Path, issued: &[GlobalTime], wait: Duration) -> f64 {
    let late = |at: &&GlobalTime| path.fate(**at).arrival().is_none_or(|arrival| arrival > **at + wait);
    issued.iter().filter(late).count() as f64 / issued.len().max(1) as f64
}
