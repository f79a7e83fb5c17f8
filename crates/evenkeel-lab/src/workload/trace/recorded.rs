//! A recording as a trace: where its entities really were.

use super::{ALIVE, Builder, Cuts, FARTHEST, LONGEST_SECONDS, Row, Trace};
use anyhow::{Context, Result, ensure};
use evenkeel_link::recording::{Event, Header, RecordingReader};
use std::collections::HashMap;
use std::io::Read;

/// Reads the true paths of a recording. Errors name the file and the event.
pub(super) fn read(name: &str, input: impl Read, cuts: Cuts) -> Result<Trace> {
    let mut reader = RecordingReader::new(input, &[]).with_context(|| name.to_owned())?;
    let header = reader.header().clone();
    let mut builder = Builder::new(cuts);
    let mut last: HashMap<u32, f64> = HashMap::new();
    for (number, event) in reader.by_ref().enumerate() {
        let event = event.with_context(|| name.to_owned())?;
        let Some((entity, row)) = row(&event) else { continue };
        let place = || format!("{name}, event {}", number + 1);
        ensure!(is_sane(&row), "{}: that is out of this world", place());
        // Several hosts may have written down the same moment, and events need not be in order of time.
        let before = last.entry(entity).or_insert(f64::NEG_INFINITY);
        if row.seconds > *before {
            *before = row.seconds;
            builder.add(&called(&header, entity), row).with_context(place)?;
        }
    }
    builder.finish(name)
}

fn row(event: &Event) -> Option<(u32, Row)> {
    let Event::Real { entity, at, position, velocity, heading } = event else { return None };
    let (seconds, velocity) = (at.as_secs_f64(), Some(*velocity));
    Some((
        *entity,
        Row { seconds, position: *position, velocity, heading: Some(*heading), turn_rate: None, status: ALIVE },
    ))
}

fn is_sane(row: &Row) -> bool {
    let near = |v: evenkeel::Vec3| [v.x, v.y, v.z].iter().all(|x| x.abs() <= FARTHEST);
    let heading = row.heading.is_none_or(f64::is_finite);
    row.seconds.abs() <= LONGEST_SECONDS && near(row.position) && row.velocity.is_none_or(near) && heading
}

/// An entity's name, if it is the only one of that name; else its number too.
fn called(header: &Header, entity: u32) -> String {
    match header.entities.get(entity as usize) {
        Some(name) if header.entities.iter().filter(|other| *other == name).count() == 1 => name.clone(),
        Some(name) => format!("{name} ({entity})"),
        None => format!("entity {entity}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel::{GlobalTime, Vec3};
    use evenkeel_link::recording::RecordingWriter;

    fn recording(events: &[Event]) -> Vec<u8> {
        let entities = ["a", "b", "b"].map(String::from).to_vec();
        let mut writer = RecordingWriter::new(Vec::new(), &Header { entities, ..Header::default() }).unwrap();
        events.iter().for_each(|event| writer.write(event).unwrap());
        writer.finish().unwrap()
    }

    fn real(entity: u32, ms: i64, x: f64) -> Event {
        let (at, position, velocity) = (GlobalTime::from_millis(ms), Vec3::new(x, 0.0, 0.0), Vec3::new(5.0, 0.0, 0.0));
        Event::Real { entity, at, position, velocity, heading: 0.0 }
    }

    #[test]
    fn a_recording_is_where_its_entities_were() {
        let shown = Event::Placed { entity: 0, by: 0, at: GlobalTime::ZERO, position: Vec3::ZERO, heading: 0.0 };
        let events = [real(0, 0, 0.0), shown, real(2, 0, 9.0), real(0, 20, 0.1), real(0, 20, 0.1), real(0, 10, 0.0)];
        let bytes = recording(&[&events[..], &[real(0, 3_000, 15.0), real(7, 3_000, 1.0)]].concat());
        let trace = read("run", &bytes[..], Cuts::default()).unwrap();
        let lengths = |(name, lives): &(String, Vec<Vec<Row>>)| (name.clone(), lives.iter().map(Vec::len).collect());
        let found: Vec<(String, Vec<usize>)> = trace.entities.iter().map(lengths).collect();
        let wanted = [("a", vec![2, 1]), ("b (2)", vec![1]), ("entity 7", vec![1])];
        assert_eq!(found, wanted.map(|(name, lives)| (name.to_owned(), lives)));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let said = |bytes: &[u8]| format!("{:#}", read("run", bytes, Cuts::default()).unwrap_err());
        assert!(said(&recording(&[real(0, 0, 0.0), real(0, 20, f64::NAN)])).contains("run, event 2: that is out"));
        assert!(said(&recording(&[])).contains("run has no rows"));
        assert!(said(&recording(&[real(0, 0, 0.0)])[..30]).contains("run: the recording ends too early"));
    }
}
