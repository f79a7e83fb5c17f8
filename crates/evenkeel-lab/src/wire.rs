//! How many bytes a vector takes on the wire, measured over recorded games.
//!
//! The traces are BZFlag's (see `data/traces/README.md`). A dense trace is the true path, from which the game's own
//! trigger makes vectors here; a default trace holds the vectors the game sent.

use crate::workload::trace::{Cuts, Row, Trace};
use anyhow::Result;
use evenkeel::wire::{Body, Format, Quantised};
use evenkeel::{Attitude, Course, Duration, Motion, Vec3};
use std::path::Path;

/// What a record carries around its body, in bits: entity, age, flag, epoch, sequence, and the distance to the baseline.
pub const AROUND_AGAINST_BITS: usize = 18;
/// The same for a record without a baseline.
pub const AROUND_ABSOLUTE_BITS: usize = 15;
/// How old, at least, the newest vector is that a receiver is known to have, in milliseconds.
pub const BASELINE_AGES_MS: [i64; 3] = [200, 350, 500];

/// The game's thresholds: metres on any axis, radians, and the shortest and longest time between vectors in seconds.
const POSITION_OFF: f64 = 0.09;
const HEADING_OFF: f64 = 0.05;
const SHORTEST: f64 = 1.0 / 30.0;
const LONGEST: f64 = 1.0;
/// A tank counts as driven along its heading if the two directions differ by less than this (radians), or if it moves
/// across it by less than this (metres per second). The velocity in a message is that of the middle of a frame and the
/// heading that of its end, so they differ while the tank turns; and some traces round the velocity to 1 cm/s.
const ACROSS_ANGLE: f64 = 0.05;
const ACROSS_SPEED: f64 = 0.03;

/// The mean size of a vector's record.
#[derive(Clone, Debug, PartialEq)]
pub struct WireSize {
    /// How many vectors the trace has.
    pub vectors: usize,
    /// Mean bytes of a record that stands alone.
    pub absolute_bytes: f64,
    /// Mean bytes of a record coded against the newest vector of at least so many milliseconds, where the life has one.
    pub against_bytes: Vec<(i64, f64)>,
}

fn motion(row: &Row, format: &Format) -> Motion {
    let (heading, velocity) = (row.heading.unwrap_or(0.0), row.velocity.unwrap_or(Vec3::ZERO));
    let forward = Vec3::from_heading(heading);
    let level = Vec3::new(velocity.x, velocity.y, 0.0);
    let speed = level.length().copysign(level.dot(forward));
    let course = if row.falls() {
        Course::Accelerated { velocity, acceleration: format.gravity }
    } else if (level - forward * speed).length() <= ACROSS_SPEED.max(ACROSS_ANGLE * speed.abs()) {
        Course::Circular { speed, climb: velocity.z }
    } else {
        Course::Linear { velocity }
    };
    let attitude = Attitude::Heading { heading, turn_rate: row.turn_rate.unwrap_or(0.0) };
    Motion { position: row.position, course, attitude }
}

/// Measures the records of a trace's vectors at the precision of the game's own message.
pub fn measure(trace: &Path) -> Result<WireSize> {
    let format = Format::bzflag();
    let lives = vectors(trace, &format)?;
    let vectors = lives.iter().map(Vec::len).sum::<usize>();
    let mean = |bits: usize| bits as f64 / 8.0 / vectors.max(1) as f64;
    let absolute = lives.iter().flatten().map(|q| absolute_bits(&format, q)).sum();
    let against = |age_ms| lives.iter().map(|life| against_bits(&format, life, age_ms)).sum();
    Ok(WireSize {
        vectors,
        absolute_bytes: mean(absolute),
        against_bytes: BASELINE_AGES_MS.map(|age_ms| (age_ms, mean(against(age_ms)))).to_vec(),
    })
}

fn absolute_bits(format: &Format, q: &Quantised) -> usize {
    AROUND_ABSOLUTE_BITS + Body::absolute(format, q).len_bits()
}

/// The bits of a life's records, each against the newest vector that is old enough, or alone if none is.
fn against_bits(format: &Format, life: &[Quantised], age_ms: i64) -> usize {
    baselines(format, life, age_ms)
        .map(|(q, baseline)| match baseline {
            Some(baseline) => AROUND_AGAINST_BITS + Body::against(format, q, baseline).len_bits(),
            None => absolute_bits(format, q),
        })
        .sum()
}

/// Each vector of a life with its baseline.
fn baselines<'a>(
    format: &'a Format,
    life: &'a [Quantised],
    age_ms: i64,
) -> impl Iterator<Item = (&'a Quantised, Option<&'a Quantised>)> {
    let age = Duration::from_millis(age_ms);
    let time = |q: &Quantised| format.time_of(q.tick());
    (0..life.len())
        .map(move |i| (&life[i], life[..i].iter().rev().find(move |old| time(&life[i]).since(time(old)) >= age)))
}

/// The vectors of every life in a trace.
pub fn vectors(trace: &Path, format: &Format) -> Result<Vec<Vec<Quantised>>> {
    let dense = trace.file_name().is_some_and(|name| name.to_string_lossy().contains("dense"));
    let mut lives = Vec::new();
    // The game's own gaps are part of its stream of vectors: only deaths cut it.
    let cuts = Cuts { max_gap: f64::INFINITY, teleports: false };
    let entities = Trace::read(trace, cuts)?.entities;
    for life in entities.into_iter().flat_map(|(_, lives)| lives) {
        let mut sent: Vec<Quantised> = Vec::new();
        let mut last: Option<(Row, Motion)> = None;
        for row in life {
            if dense && last.is_some_and(|(old, exported)| !is_due(format, &sent, &old, &exported, &row)) {
                continue;
            }
            let q = format.quantise(&motion(&row, format), row.at())?;
            last = Some((row, format.restore(&q)));
            sent.push(q);
        }
        lives.push(sent);
    }
    Ok(lives)
}

/// The game's trigger, against the exported path: what the receivers decode.
fn is_due(format: &Format, sent: &[Quantised], old: &Row, exported: &Motion, row: &Row) -> bool {
    let Some(newest) = sent.last() else { return true };
    let age = row.seconds - old.seconds;
    if row.falls() != old.falls() {
        return true;
    }
    let shown = exported.at(row.at().since(format.time_of(newest.tick())).as_secs_f64());
    let off = (shown.position - row.position).max_axis() > POSITION_OFF
        || evenkeel::wrap_angle(shown.attitude.heading() - row.heading.unwrap_or(0.0)).abs() > HEADING_OFF;
    age >= LONGEST || (off && age >= SHORTEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel::wire::{BitReader, parse_body};
    use std::path::PathBuf;

    fn trace(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/traces").join(name)
    }

    #[test]
    fn a_vector_takes_18_bytes_alone_and_10_against_a_baseline() {
        for name in ["bzflag-default-a.csv.gz", "bzflag-dense-b.csv.gz"] {
            let size = measure(&trace(name)).unwrap();
            assert!(size.vectors > 5_000, "{name}: {size:?}");
            assert!(size.absolute_bytes <= 18.0, "{name}: {size:?}");
            assert!(size.against_bytes.iter().all(|(_, bytes)| *bytes <= 10.0), "{name}: {size:?}");
        }
    }

    #[test]
    fn every_vector_of_a_game_arrives_as_it_was_sent() {
        let format = Format::bzflag();
        let lives = vectors(&trace("bzflag-default-a.csv.gz"), &format).unwrap();
        for (q, baseline) in lives.iter().flat_map(|life| baselines(&format, life, 200)) {
            let body = Body::smallest(&format, q, baseline);
            let used = baseline.filter(|_| body.against_baseline());
            let parsed = parse_body(&format, &mut BitReader::new(body.as_bytes()), q.tick(), used);
            assert_eq!(parsed, Ok(*q));
        }
    }
}
