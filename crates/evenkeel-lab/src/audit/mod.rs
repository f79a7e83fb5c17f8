//! Whether a game is fair, from its own logs: where things really were, and where each receiver showed them. The game need
//! not use Evenkeel; it only has to write both down with the same clock.
//!
//! Paths are straight between two rows. A stretch counts for a receiver while both paths exist: a gap in either is no time.

mod track;

use crate::workload::trace::{Cuts, Trace};
use crate::world::{BIN, Sums, flips, is_alike, statistics};
use anyhow::{Result, bail, ensure};
use std::path::PathBuf;
use track::{Track, spread};

/// A plot over time has so many points at most.
const MOST_POINTS: usize = 200;
/// The logs must not be longer than this together: ten days.
const LONGEST_SECONDS: f64 = 864_000.0;

/// What to audit.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// A trace of where things really were.
    pub real: PathBuf,
    /// Per receiver its name and a trace of where it showed them.
    pub placed: Vec<(String, PathBuf)>,
    /// Gaps longer than this, in seconds, are no time at all.
    pub max_gap: f64,
}

/// What an audit found.
#[derive(Clone, Debug, PartialEq)]
pub struct Audit {
    /// What was read, by name.
    pub settings: Vec<(String, String)>,
    /// By receiver, in the order of the question.
    pub receivers: Vec<Witness>,
    /// By entity, in the order of the real trace: those that anybody showed.
    pub entities: Vec<Scene>,
    /// The mean distance between real and shown: the mean over receivers, averaged over entities.
    pub real_mean: f64,
    /// Its standard deviation over receivers, likewise.
    pub real_std: f64,
    /// Its maximum over receivers, likewise.
    pub real_max: f64,
    /// The mean over time of the largest distance between two receivers' placements of one entity at one instant.
    pub spread: f64,
    /// How often per minute another receiver becomes the worst off, by the error of the last second.
    pub flips: f64,
    /// Seconds that one point of a receiver's timeline stands for.
    pub step_s: f64,
}

/// One receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    /// Its name.
    pub name: String,
    /// The mean distance between real and shown, averaged over entities.
    pub real_error: f64,
    /// For how long it showed something, in seconds, added up over entities.
    pub shown_s: f64,
    /// How many entities it showed.
    pub entities: usize,
    /// The error in the course of time; not a number where nothing was shown.
    pub timeline: Vec<f64>,
}

/// One entity and how it was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Its name.
    pub name: String,
    /// How many receivers showed it.
    pub receivers: usize,
    /// The mean distance between real and shown: the mean over these receivers.
    pub mean: f64,
    /// Its standard deviation.
    pub std: f64,
    /// Its maximum.
    pub max: f64,
}

/// Reads the logs and computes it all. Errors name the file, and the line where there is one.
pub fn audit(question: &Question) -> Result<Audit> {
    let Question { real: real_path, placed, max_gap } = question;
    ensure!(*max_gap > 0.0 && max_gap.is_finite(), "--max-gap must be above zero");
    ensure!(!placed.is_empty(), "there must be at least one receiver: --placed NAME=FILE");
    for (n, (name, _)) in placed.iter().enumerate() {
        ensure!(placed[..n].iter().all(|(other, _)| other != name), "there are two receivers `{name}`");
    }
    let cuts = |teleports| Cuts { max_gap: *max_gap, teleports };
    let real = Trace::read(real_path, cuts(true))?;
    let mut receivers = Vec::new();
    for (name, path) in placed {
        // What is shown may jump: that is what corrections look like.
        let trace = Trace::read(path, cuts(false))?;
        check_names(&trace, &real, &path.display().to_string(), &real_path.display().to_string())?;
        receivers.push((name.as_str(), trace));
    }
    let mut settings = vec![("real".to_owned(), file_name(real_path))];
    settings.extend(placed.iter().map(|(name, path)| (format!("placed {name}"), file_name(path))));
    settings.push(("max_gap_s".into(), max_gap.to_string()));
    let found = compare(&real, &receivers)?;
    Ok(Audit { settings, ..found })
}

fn file_name(path: &std::path::Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// A receiver can only show what there is.
fn check_names(placed: &Trace, real: &Trace, file: &str, real_file: &str) -> Result<()> {
    let known: Vec<&str> = real.entities.iter().map(|(name, _)| name.as_str()).collect();
    let stranger = placed.entities.iter().map(|(name, _)| name.as_str()).find(|name| !known.contains(name));
    let Some(name) = stranger else { return Ok(()) };
    let some = known.iter().take(8).copied().collect::<Vec<_>>().join(", ");
    let more = if known.len() > 8 { ", ..." } else { "" };
    bail!("{file} shows `{name}`, which is not in {real_file}; there are {some}{more}");
}

/// What receivers show against what is real.
fn compare(real: &Trace, receivers: &[(&str, Trace)]) -> Result<Audit> {
    let tracks: Vec<(&str, Track)> =
        real.entities.iter().map(|(name, lives)| (name.as_str(), Track::new(lives))).collect();
    let start = tracks.iter().filter_map(|(_, track)| track.span()).map(|span| span.0).fold(f64::INFINITY, f64::min);
    let end = tracks.iter().filter_map(|(_, track)| track.span()).map(|span| span.1).fold(start, f64::max);
    ensure!(end > start, "no entity of the real trace has two rows within --max-gap of each other");
    ensure!(end - start <= LONGEST_SECONDS, "the real trace is longer than ten days");
    let bins = ((end - start) / BIN.as_secs_f64()).ceil() as usize + 1;
    let mut reading =
        Reading { sums: Vec::new(), bins: vec![vec![Sums::default(); bins]; receivers.len()], spread: (0.0, 0.0) };
    for (name, track) in &tracks {
        let shown: Vec<Track> = receivers.iter().map(|(_, trace)| Track::named(trace, name)).collect();
        let measure = |(bins, shown): (&mut Vec<Sums>, &Track)| track.measure(shown, start, bins);
        reading.sums.push(reading.bins.iter_mut().zip(&shown).map(measure).collect());
        let (sum, seconds) = spread(track, &shown);
        reading.spread = (reading.spread.0 + sum, reading.spread.1 + seconds);
    }
    for (number, (name, _)) in receivers.iter().enumerate() {
        let shown = reading.sums.iter().any(|by_receiver| by_receiver[number].shown > 0.0);
        ensure!(shown, "receiver `{name}` shows nothing at a time when it is real: do the logs have the same clock?");
    }
    let names: Vec<&str> = receivers.iter().map(|(name, _)| *name).collect();
    Ok(reading.finish(&names, &tracks, end - start))
}

/// What was measured.
struct Reading {
    /// By entity, then by receiver.
    sums: Vec<Vec<Sums>>,
    /// By receiver and stretch of time.
    bins: Vec<Vec<Sums>>,
    /// The largest distance between two placements, integrated, and the seconds.
    spread: (f64, f64),
}

impl Reading {
    fn finish(self, names: &[&str], tracks: &[(&str, Track)], seconds: f64) -> Audit {
        let scenes = tracks.iter().zip(&self.sums).map(|((name, _), sums)| scene(name, sums));
        let entities: Vec<Scene> = scenes.filter(|scene| scene.receivers > 0).collect();
        let over = |of: fn(&Scene) -> f64| statistics(entities.iter().map(of)).0;
        let per_point = self.bins[0].len().div_ceil(MOST_POINTS).max(10);
        let witness = |(number, name): (usize, &&str)| {
            let own: Vec<&Sums> = self.sums.iter().map(|by| &by[number]).filter(|sums| sums.shown > 0.0).collect();
            Witness {
                name: (*name).to_owned(),
                real_error: statistics(own.iter().map(|sums| sums.mean(|s| s.real))).0,
                shown_s: own.iter().map(|sums| sums.shown).sum(),
                entities: own.len(),
                timeline: timeline(&self.bins[number], per_point),
            }
        };
        Audit {
            settings: Vec::new(),
            receivers: names.iter().enumerate().map(witness).collect(),
            real_mean: over(|scene| scene.mean),
            real_std: over(|scene| scene.std),
            real_max: over(|scene| scene.max),
            spread: if self.spread.1 > 0.0 { self.spread.0 / self.spread.1 } else { 0.0 },
            flips: flips(&self.bins, |sums| sums.real) as f64 * 60.0 / seconds,
            step_s: per_point as f64 * BIN.as_secs_f64(),
            entities,
        }
    }
}

fn scene(name: &str, sums: &[Sums]) -> Scene {
    let errors: Vec<f64> = sums.iter().filter(|sums| sums.shown > 0.0).map(|sums| sums.mean(|s| s.real)).collect();
    let (mean, std, max) = statistics(errors.iter().copied());
    Scene { name: name.to_owned(), receivers: errors.len(), mean, std, max }
}

fn timeline(bins: &[Sums], per_point: usize) -> Vec<f64> {
    let point = |bins: &[Sums]| {
        let mut sum = Sums::default();
        bins.iter().for_each(|bin| sum.add(bin));
        if sum.shown > 0.0 { sum.mean(|s| s.real) } else { f64::NAN }
    };
    bins.chunks(per_point).map(point).collect()
}

impl Audit {
    /// The receiver that is worst off; nobody if there are several and all are alike.
    pub fn worst(&self) -> Option<&Witness> {
        let largest = self.receivers.iter().map(|receiver| receiver.real_error).fold(0.0, f64::max);
        let mut worst = self.receivers.iter().filter(|receiver| is_alike(receiver.real_error, largest));
        let first = worst.next();
        if self.receivers.len() > 1 && worst.count() + 1 == self.receivers.len() { None } else { first }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(text: &str) -> Trace {
        Trace::parse("t", text.as_bytes(), Cuts { max_gap: 1.0, teleports: false }).unwrap()
    }

    /// Two tanks at rest and in motion, two receivers, everything in round numbers.
    #[test]
    fn a_case_computed_by_hand() {
        let real = trace("t_s,entity,x,y\n0,a,0,0\n1,a,10,0\n2,a,20,0\n0,b,5,5\n1,b,5,5\n2,b,5,5\n");
        // Near: a is half a second late for the second half; b is exact. Far: a is 4 m off all the time, b rises to 2 m.
        let near = trace("t_s,entity,x,y\n1,a,5,0\n2,a,15,0\n0,b,5,5\n1,b,5,5\n2,b,5,5\n");
        let far = trace("t_s,entity,x,y\n0,a,0,4\n1,a,10,4\n2,a,20,4\n0,b,5,5\n1,b,5,6\n2,b,5,7\n");
        let audit = compare(&real, &[("near", near), ("far", far)]).unwrap();
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} is not {b}");
        let [near, far] = &audit.receivers[..] else { panic!() };
        close(near.real_error, (5.0 + 0.0) / 2.0);
        close(far.real_error, (4.0 + 1.0) / 2.0);
        close(near.shown_s, 3.0);
        close(far.shown_s, 4.0);
        let [a, b] = &audit.entities[..] else { panic!() };
        close(a.mean, 4.5);
        close(a.std, 0.5);
        close(a.max, 5.0);
        assert_eq!(a.receivers, 2);
        close(b.mean, 0.5);
        close(b.max, 1.0);
        close(audit.real_mean, (4.5 + 0.5) / 2.0);
        close(audit.real_std, (0.5 + 0.5) / 2.0);
        close(audit.real_max, (5.0 + 1.0) / 2.0);
        // At 2 s a is at (15, 0) and at (20, 4); b at 1 s and 2 s 1 and 2 m apart; at 1 s near shows a, too.
        let apart = (25.0f64 + 16.0).sqrt();
        close(audit.spread, (apart + apart + 1.0 + 2.0) / 4.0);
    }

    #[test]
    fn gaps_are_no_time_and_strangers_are_refused() {
        let real = trace("t_s,entity,x,y\n0,a,0,0\n1,a,0,0\n2,a,0,0\n3,a,0,0\n4,a,0,0\n");
        let holes = trace("t_s,entity,x,y\n0,a,1,0\n1,a,1,0\n3,a,3,0\n4,a,3,0\n");
        let audit = compare(&real, &[("one", holes.clone())]).unwrap();
        assert!((audit.receivers[0].shown_s - 2.0).abs() < 1e-9 && (audit.real_mean - 2.0).abs() < 1e-9, "{audit:?}");
        assert_eq!(audit.spread, 0.0);
        let never = trace("t_s,entity,x,y\n10,a,1,0\n11,a,1,0\n");
        let error = compare(&real, &[("one", holes), ("two", never)]).unwrap_err().to_string();
        assert!(error.starts_with("receiver `two` shows nothing"), "{error}");
        let stranger = trace("t_s,entity,x,y\n0,c,1,0\n");
        let error = check_names(&stranger, &real, "p.csv", "r.csv").unwrap_err().to_string();
        assert_eq!(error, "p.csv shows `c`, which is not in r.csv; there are a");
    }
}
