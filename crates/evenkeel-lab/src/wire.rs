//! How many bytes a vector takes on the wire, measured over recorded games.
//!
//! The traces are BZFlag's (see `data/traces/README.md`). A dense trace is the true path, from which the game's own
//! trigger makes vectors here; a default trace holds the vectors the game sent.

use crate::workload::trace::{Cuts, Row, Trace, with_rates};
use anyhow::Result;
use evenkeel::wire::datagram::{Cursor, Record};
use evenkeel::wire::{BODY_BYTES, BitWriter, Format, Quantised};
use evenkeel::{Attitude, Course, Duration, EntityId, Motion, Vec3};
use std::path::Path;

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

/// Where a row faces; nowhere if it does not say so.
fn attitude(row: &Row) -> Attitude {
    let turn_rate = row.turn_rate.unwrap_or(0.0);
    row.heading.map_or(Attitude::None, |heading| Attitude::Heading { heading, turn_rate })
}

fn motion(row: &Row, format: &Format) -> Motion {
    let velocity = row.velocity.unwrap_or(Vec3::ZERO);
    let course = if row.falls() {
        Course::Accelerated { velocity, acceleration: format.gravity }
    } else if let Some(speed) = row.heading.and_then(|heading| speed_along(heading, velocity)) {
        Course::Circular { speed, climb: velocity.z }
    } else {
        Course::Linear { velocity }
    };
    Motion { position: row.position, course, attitude: attitude(row) }
}

/// How fast a tank drives, if it does so along its heading.
fn speed_along(heading: f64, velocity: Vec3) -> Option<f64> {
    let forward = Vec3::from_heading(heading);
    let level = Vec3::new(velocity.x, velocity.y, 0.0);
    let speed = level.length().copysign(level.dot(forward));
    ((level - forward * speed).length() <= ACROSS_SPEED.max(ACROSS_ANGLE * speed.abs())).then_some(speed)
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
    record_bits(format, q, None)
}

/// The bits of a record that leaves in the tick of its vector, after that of the entity before.
fn record_bits(format: &Format, q: &Quantised, baseline: Option<&Quantised>) -> usize {
    let mut buffer = [0; 2 * BODY_BYTES];
    let mut w = BitWriter::new(&mut buffer);
    let emitted = Record::vector(EntityId(0), 0, *q).emit(format, Cursor::new(q.tick()), baseline, &mut w);
    debug_assert!(emitted.is_ok(), "every record fits");
    w.len_bits()
}

/// The bits of a life's records, each against the newest vector that is old enough, or alone if none is.
fn against_bits(format: &Format, life: &[Quantised], age_ms: i64) -> usize {
    baselines(format, life, age_ms)
        .map(|(q, baseline)| match baseline {
            Some(baseline) => record_bits(format, q, Some(baseline)),
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
        for row in with_rates(&life) {
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
        || shown.attitude.angle_to(&attitude(row)) > HEADING_OFF;
    age >= LONGEST || (off && age >= SHORTEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel::wire::BitReader;
    use std::path::PathBuf;

    fn trace(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/traces").join(name)
    }

    #[test]
    fn a_row_without_a_heading_goes_straight_and_is_not_off() {
        let format = Format::bzflag();
        let velocity = Some(Vec3::new(0.0, 5.0, 0.0));
        let facing = |seconds: f64, heading: Option<f64>| Row {
            seconds,
            position: Vec3::new(0.0, 5.0 * seconds, 0.0),
            velocity,
            heading,
            turn_rate: None,
            status: 1,
        };
        let due = |old: Option<f64>, new: Option<f64>| {
            let (old, new) = (facing(0.0, old), facing(0.5, new));
            let sent = format.quantise(&motion(&old, &format), old.at()).unwrap();
            is_due(&format, &[sent], &old, &format.restore(&sent), &new)
        };
        assert!(matches!(motion(&facing(0.0, None), &format).course, Course::Linear { .. }));
        assert!(matches!(motion(&facing(0.0, Some(1.57)), &format).course, Course::Circular { .. }));
        assert_eq!([due(Some(1.57), None), due(None, Some(1.57)), due(None, None)], [false; 3]);
        assert_eq!([due(Some(1.57), Some(1.57)), due(Some(1.57), Some(1.7))], [false, true]);
    }

    #[test]
    fn a_vector_takes_12_bytes_alone_and_about_7_against_a_baseline() {
        for name in ["bzflag-default-a.csv.gz", "bzflag-dense-b.csv.gz"] {
            let size = measure(&trace(name)).unwrap();
            assert!(size.vectors > 5_000, "{name}: {size:?}");
            assert!(size.absolute_bytes <= 12.0, "{name}: {size:?}");
            for (age_ms, bytes) in &size.against_bytes {
                assert!(*bytes <= if *age_ms == 200 { 6.5 } else { 7.5 }, "{name}: {size:?}");
            }
        }
    }

    #[test]
    fn every_vector_of_a_game_arrives_as_it_was_sent() {
        let format = Format::bzflag();
        let lives = vectors(&trace("bzflag-default-a.csv.gz"), &format).unwrap();
        for (q, baseline) in lives.iter().flat_map(|life| baselines(&format, life, 200)) {
            let (record, cursor) = (Record::vector(EntityId(0), 0, *q), Cursor::new(q.tick()));
            let mut buffer = [0; 2 * BODY_BYTES];
            let mut w = BitWriter::new(&mut buffer);
            record.emit(&format, cursor, baseline, &mut w).unwrap();
            let parsed = Record::parse(&format, cursor, &mut BitReader::new(w.as_bytes()), |_| baseline);
            assert_eq!(parsed, Ok(record));
        }
    }
}
