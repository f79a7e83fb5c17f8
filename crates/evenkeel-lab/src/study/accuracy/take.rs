//! What one drive with one seed comes to: every delay under every clock rule.

use super::drive::Drive;
use crate::experiment::paths;
use crate::study::measure::{ACCURACY_DELAYS_MS, CLOCK_RULES, FAIRNESS_DELAYS_MS, JITTERS_MS, filmed, millis, rules};
use crate::workload::FRAME;
use crate::world::{Film, Fleet, Outcome, Rules, format};
use anyhow::Result;
use evenkeel::{ClockRule, Duration, Vec3};

/// No tank is faster.
const FULL_SPEED: f64 = 25.0;

/// One delay under one clock rule.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    /// The mean distance between real and shown, by the gauge.
    pub(super) mean: f64,
    /// Its largest value at a frame.
    pub(super) peak: f64,
    /// The share of frames with a distance of no more than the trigger's tolerance.
    pub(super) within: f64,
    /// Export error per second while the newest vector has not been received, over frames.
    pub(super) before: f64,
    /// The same afterwards.
    pub(super) after: f64,
    /// The largest distance between exported and placed path while the newest vector has been received.
    pub(super) after_most: f64,
    /// Export error per second, by the gauge.
    pub(super) export: f64,
}

/// Points of a curve.
pub(super) type Points = Vec<(f64, f64)>;

/// One drive with one seed. Arrays over delays follow [`ACCURACY_DELAYS_MS`].
pub(super) struct Take {
    /// By clock rule as in [`CLOCK_RULES`], then by delay.
    pub(super) cells: [[Cell; 3]; 3],
    /// The largest distance between exported and placed path while the newest vector has been received, under the global rule
    /// with the jitters of the fairness experiments.
    pub(super) after_most_with_jitter: [f64; 3],
    /// Vectors a second because the path had changed.
    pub(super) changes: f64,
    /// The share of vectors that the next trigger overtakes in flight.
    pub(super) overtaken: [f64; 3],
    /// How far the local rule's placed path is from the exported path one delay earlier, at most, beyond what a tick of the
    /// stamps allows.
    pub(super) off_lag: [f64; 3],
    /// The share of frames with the global error above the local error and the tolerance.
    pub(super) worse: [f64; 3],
    /// The share of those that fall into a stop's delay.
    pub(super) worse_at_stop: [f64; 3],
    /// Distances between real and shown for the plot: by delay, then global and local.
    pub(super) window: Option<[[Points; 2]; 3]>,
}

/// The stretch of a run that is plotted, in seconds.
const WINDOW: (f64, f64) = (5.0, 35.0);
/// What holds at every instant needs no longer run.
pub(super) const LONGEST_WITH_JITTER: f64 = 120.0;
/// Every so many frames are plotted.
const PLOTTED: usize = 3;

impl Take {
    /// Drives and measures. The curves are kept if asked for.
    pub(super) fn new(drive: Drive, seconds: f64, seed: u64, keep_window: bool) -> Result<Self> {
        let fleet = Fleet::new("sender".into(), drive.entities(seconds, seed), &Rules::default())?;
        let fixed = paths(&ACCURACY_DELAYS_MS, 0.0, 0.0);
        let mut cells = [[Cell::default(); 3]; 3];
        let mut films = Vec::new();
        for (row, (_, rule)) in cells.iter_mut().zip(CLOCK_RULES) {
            let (outcome, film) = filmed(&fleet, rules(rule), &fixed, seed)?;
            for (receiver, cell) in row.iter_mut().enumerate() {
                *cell = Cell::new(&outcome, &film, receiver);
            }
            films.push(film);
        }
        let (global, local) = (&films[0], &films[1]);
        let delays = [0, 1, 2];
        let worse = delays.map(|d| worse(global, local, d));
        Ok(Self {
            cells,
            after_most_with_jitter: after_most_with_jitter(drive, seconds, seed)?,
            changes: fleet.changes(0) as f64 / seconds,
            overtaken: delays.map(|d| overtaken(&fleet, millis(ACCURACY_DELAYS_MS[d]))),
            off_lag: delays.map(|d| off_lag(&fleet, local, d)),
            worse: worse.map(|(share, _)| share),
            worse_at_stop: worse.map(|(_, share)| share),
            window: keep_window.then(|| delays.map(|d| [window(global, d), window(local, d)])),
        })
    }
}

fn after_most_with_jitter(drive: Drive, seconds: f64, seed: u64) -> Result<[f64; 3]> {
    let entities = drive.entities(seconds.min(LONGEST_WITH_JITTER), seed);
    let fleet = Fleet::new("sender".into(), entities, &Rules::default())?;
    let mut all = [0.0; 3];
    for (most, jitter) in all.iter_mut().zip(JITTERS_MS) {
        let paths = paths(&FAIRNESS_DELAYS_MS, jitter, 0.0);
        let (outcome, film) = filmed(&fleet, rules(ClockRule::Global), &paths, seed)?;
        *most = (0..paths.len()).map(|receiver| Cell::new(&outcome, &film, receiver).after_most).fold(0.0, f64::max);
    }
    Ok(all)
}

/// The trigger's tolerance in all of this.
pub(super) fn tolerance() -> f64 {
    Rules::default().threshold.tolerance.value()
}

impl Cell {
    fn new(outcome: &Outcome, film: &Film, receiver: usize) -> Self {
        let seen = &outcome.receivers[receiver];
        let mut cell = Self { mean: seen.real_error, export: seen.export_error, ..Self::default() };
        let mut frames = 0.0;
        for ((real, exported), shown) in film.real.iter().zip(&film.exported).zip(&film.receivers[receiver]) {
            let Some(shown) = shown else { continue };
            let off = shown.position.distance(*real);
            let off_export = shown.position.distance(*exported);
            frames += 1.0;
            cell.peak = cell.peak.max(off);
            cell.within += f64::from(off <= tolerance());
            if shown.newest {
                cell.after += off_export;
                cell.after_most = cell.after_most.max(off_export);
            } else {
                cell.before += off_export;
            }
        }
        for sum in [&mut cell.within, &mut cell.before, &mut cell.after] {
            *sum /= f64::max(frames, 1.0);
        }
        cell
    }
}

/// The share of vectors whose successor is generated before they arrive.
fn overtaken(fleet: &Fleet, delay: Duration) -> f64 {
    let vectors = fleet.exported(0);
    let soon = vectors.windows(2).filter(|pair| pair[1].0.since(pair[0].0) < delay).count();
    soon as f64 / (vectors.len().max(2) - 1) as f64
}

/// Stamps are on ticks of the wire format, arrivals are not: a tick's way at full speed is no deviation.
fn off_lag(fleet: &Fleet, local: &Film, receiver: usize) -> f64 {
    let allowed = FULL_SPEED * format().time_step.as_secs_f64();
    let delay = millis(ACCURACY_DELAYS_MS[receiver]);
    let frames = local.at.iter().zip(&local.receivers[receiver]);
    let off = frames.filter_map(|(at, shown)| {
        let then = fleet.exported_at(0, *at - delay)?;
        Some(((*shown)?.position.distance(then) - allowed).max(0.0))
    });
    off.fold(0.0, f64::max)
}

/// The share of frames on which the global rule is worse by more than the tolerance, and the share of those within a delay
/// and a frame of a stop.
fn worse(global: &Film, local: &Film, receiver: usize) -> (f64, f64) {
    let after_stop = millis(ACCURACY_DELAYS_MS[receiver]) + FRAME;
    let (mut frames, mut worse, mut at_stop) = (0.0, 0.0, 0.0);
    let (mut moved, mut stopped) = (false, None);
    for (frame, real) in global.real.iter().enumerate() {
        let moves = global.velocity[frame] != Vec3::ZERO;
        if moved && !moves {
            stopped = Some(global.at[frame]);
        }
        moved = moves;
        let [Some(one), Some(other)] = [global, local].map(|film| film.receivers[receiver][frame]) else { continue };
        frames += 1.0;
        let [off, off_local] = [one, other].map(|shown| shown.position.distance(*real));
        if off > off_local + tolerance() {
            worse += 1.0;
            at_stop += f64::from(stopped.is_some_and(|stop| global.at[frame].since(stop) <= after_stop));
        }
    }
    (worse / f64::max(frames, 1.0), if worse > 0.0 { at_stop / worse } else { f64::NAN })
}

fn window(film: &Film, receiver: usize) -> Points {
    let frames = film.distances(receiver).map(|(at, off)| (at.as_secs_f64(), off));
    frames.filter(|(at, _)| (WINDOW.0..=WINDOW.1).contains(at)).step_by(PLOTTED).collect()
}
