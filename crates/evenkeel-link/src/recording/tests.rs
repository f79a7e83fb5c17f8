use super::*;
use evenkeel::motion::{LAW_PARAMETERS, Law, LawRef};
use evenkeel::{Attitude, Course, GlobalTime, Motion, Quat, Vec3};
use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use std::io::Write;

struct Standing;

impl Law for Standing {
    fn id(&self) -> u8 {
        9
    }
    fn displacement(&self, _: &[f64; LAW_PARAMETERS], _: f64) -> Vec3 {
        Vec3::ZERO
    }
    fn velocity(&self, _: &[f64; LAW_PARAMETERS], _: f64) -> Vec3 {
        Vec3::ZERO
    }
    fn advanced(&self, parameters: &[f64; LAW_PARAMETERS], _: f64) -> [f64; LAW_PARAMETERS] {
        *parameters
    }
}

const LAWS: [LawRef; 1] = [LawRef(&Standing)];

fn record(header: &Header, events: &[Event]) -> Vec<u8> {
    let mut writer = RecordingWriter::new(Vec::new(), header).unwrap();
    events.iter().for_each(|event| writer.write(event).unwrap());
    writer.finish().unwrap()
}

fn replay(bytes: &[u8]) -> Result<(Header, Vec<Event>), RecordingError> {
    let mut reader = RecordingReader::new(bytes, &LAWS)?;
    let events = reader.by_ref().collect::<Result<_, _>>()?;
    Ok((reader.header().clone(), events))
}

/// A recording whose unpacked bytes are given.
fn pack(version: u16, body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).unwrap();
    [&MAGIC[..], &version.to_le_bytes(), &encoder.finish().unwrap()].concat()
}

fn vec3() -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(prop::num::f64::ANY).prop_map(Vec3::from)
}

fn course() -> impl Strategy<Value = Course> {
    let any = prop::num::f64::ANY;
    prop_oneof![
        Just(Course::Stationary),
        vec3().prop_map(|velocity| Course::Linear { velocity }),
        (vec3(), vec3()).prop_map(|(velocity, acceleration)| Course::Accelerated { velocity, acceleration }),
        (any, any).prop_map(|(speed, climb)| Course::Circular { speed, climb }),
        (vec3(), vec3()).prop_map(|(velocity, acceleration)| Course::Turning { velocity, acceleration }),
        (vec3(), vec3(), vec3(), any).prop_map(|(velocity, end, end_velocity, duration)| Course::Spline {
            velocity,
            end,
            end_velocity,
            duration
        }),
        prop::array::uniform6(any).prop_map(|parameters| Course::Custom { law: LAWS[0], parameters }),
    ]
}

fn attitude() -> impl Strategy<Value = Attitude> {
    let any = prop::num::f64::ANY;
    prop_oneof![
        Just(Attitude::None),
        (any, any).prop_map(|(heading, turn_rate)| Attitude::Heading { heading, turn_rate }),
        (prop::array::uniform4(any), vec3()).prop_map(|([w, x, y, z], angular_velocity)| Attitude::Full {
            orientation: Quat::new(w, x, y, z),
            angular_velocity
        }),
    ]
}

fn time() -> impl Strategy<Value = GlobalTime> {
    prop_oneof![any::<i64>(), 0..1_000_000_000i64].prop_map(GlobalTime::from_nanos)
}

fn event() -> impl Strategy<Value = Event> {
    let heading = prop::num::f64::ANY;
    let motion =
        (vec3(), course(), attitude()).prop_map(|(position, course, attitude)| Motion { position, course, attitude });
    let vector = (any::<u32>(), any::<u64>(), any::<u32>(), time());
    prop_oneof![
        (any::<u32>(), time(), vec3(), vec3(), heading).prop_map(|(entity, at, position, velocity, heading)| {
            Event::Real { entity, at, position, velocity, heading }
        }),
        (any::<u32>(), any::<u64>(), time(), motion)
            .prop_map(|(entity, sequence, generated, motion)| Event::Exported { entity, sequence, generated, motion }),
        (0..3, vector).prop_map(|(kind, (entity, sequence, host, at))| match kind {
            0 => Event::Sent { entity, sequence, to: host, at },
            1 => Event::Received { entity, sequence, by: host, at },
            _ => Event::Lost { entity, sequence, to: host, at },
        }),
        (any::<u32>(), any::<u32>(), time(), vec3(), heading)
            .prop_map(|(entity, by, at, position, heading)| Event::Placed { entity, by, at, position, heading }),
        (time(), ".*").prop_map(|(at, text)| Event::Note { at, text }),
    ]
}

fn header() -> impl Strategy<Value = Header> {
    let names = || prop::collection::vec(".{0,8}", 0..4);
    (".{0,20}", any::<u64>(), prop::collection::vec((".{0,8}", ".{0,300}"), 0..4), names(), names())
        .prop_map(|(program, seed, settings, hosts, entities)| Header { program, seed, settings, hosts, entities })
}

/// A recording with one event of each kind.
fn sample() -> Vec<u8> {
    record(&sample_header(), &sample_events())
}

fn sample_header() -> Header {
    Header {
        program: "evenkeel 0.1.0".into(),
        seed: 42,
        settings: vec![("budget".into(), "1/3".into())],
        hosts: vec!["near".into(), "far".into()],
        entities: vec!["tank".into()],
    }
}

fn sample_events() -> [Event; 7] {
    let at = GlobalTime::from_millis(5);
    let position = Vec3::new(1.0, -2.5, 0.1);
    let motion = Motion::circular(position, 0.5, 25.0, 0.785);
    [
        Event::Real { entity: 0, at, position, velocity: position, heading: 0.5 },
        Event::Exported { entity: 0, sequence: 1, generated: at, motion },
        Event::Sent { entity: 0, sequence: 1, to: 1, at },
        Event::Received { entity: 0, sequence: 1, by: 1, at: GlobalTime::from_millis(105) },
        Event::Lost { entity: 0, sequence: 1, to: 0, at },
        Event::Placed { entity: 0, by: 1, at: GlobalTime::from_millis(110), position, heading: 0.5 },
        Event::Note { at, text: "done".into() },
    ]
}

#[test]
fn a_recording_of_the_first_version_is_read_for_ever() {
    let (header, events) = replay(include_bytes!("../../tests/data/version-1.evkrec")).unwrap();
    assert_eq!(header, sample_header());
    assert_eq!(events, sample_events());
}

#[test]
fn every_truncation_is_noticed() {
    let bytes = sample();
    assert_eq!(read_all(&bytes).unwrap().len(), 7);
    for length in 0..bytes.len() {
        let error = read_all(&bytes[..length]).unwrap_err();
        assert!(matches!(error, RecordingError::Truncated { .. }), "cut to {length} bytes: {error}");
    }
}

#[test]
fn every_flipped_bit_is_noticed_or_harmless() {
    let bytes = sample();
    let whole = read_all(&bytes).unwrap();
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        // A few bits of gzip's own header, such as the time, mean nothing here.
        if let Ok(events) = read_all(&changed) {
            assert_eq!(events, whole, "bit {bit}");
        }
    }
}

#[test]
fn a_writer_that_stops_leaves_what_it_flushed() {
    let mut file = Vec::new();
    let mut writer = RecordingWriter::new(&mut file, &Header::default()).unwrap();
    for millis in 0..10 {
        writer.write(&Event::Note { at: GlobalTime::from_millis(millis), text: "tick".into() }).unwrap();
    }
    writer.flush().unwrap();
    assert_eq!(writer.events(), 10);
    drop(writer);
    let read: Vec<_> = RecordingReader::new(&file[..], &[]).unwrap().collect();
    assert_eq!(read.len(), 11);
    assert!(matches!(read[10], Err(RecordingError::Truncated { events: 10 })));
}

#[test]
fn what_is_wrong_is_said() {
    let no_header = [0, 0, 0, 0, 0];
    let body = |events: &[u8]| pack(FORMAT_VERSION, &[&no_header[..], events].concat());
    for (bytes, said) in [
        (b"PNG something else".to_vec(), "begins with \"PNG so\""),
        (pack(2, &no_header), "format version 2, but this program knows up to 1"),
        (pack(0, &no_header), "no format version 0"),
        (b"EVKREC\x01\x00not gzip at all".to_vec(), "damaged after 0 events"),
        (body(&[]), "ends too early, after 0 events"),
        (body(&[99, 0]), "an event is of no known kind"),
        (body(&[0, 5]), "another number of events"),
        (body(&[0, 0, 0]), "more after its end"),
        ([sample(), sample()].concat(), "after 7 events: there is more after its end"),
        (body(&[7, 0, 0xff, 0xff, 0xff, 0x7f]), "a text of length 268435455 is longer"),
        (body(&[7, 0, 1, 0xff]), "not UTF-8"),
        (body(&[7, 0x80, 0, 0]), "more digits than it needs"),
        (body(&[&[7][..], &[0xff; 12]].concat()), "more digits than it needs"),
        (body(&[3, 0, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0]), "number of a host or an entity"),
        (pack(1, &[0, 0, 0xff, 0xff, 0xff, 0xff, 0x7f]), "a list of length"),
    ] {
        let message = read_all(&bytes).unwrap_err().to_string();
        assert!(message.contains(said), "{message:?} should contain {said:?}");
    }
}

#[test]
fn unknown_laws_are_named() {
    let motion = Motion::custom(Vec3::ZERO, &Standing, [0.0; LAW_PARAMETERS]);
    let event = Event::Exported { entity: 0, sequence: 0, generated: GlobalTime::ZERO, motion };
    let bytes = record(&Header::default(), std::slice::from_ref(&event));
    assert_eq!(replay(&bytes).unwrap().1, [event]);
    assert!(read_all(&bytes).unwrap_err().to_string().contains("law 9"));
}

#[test]
fn texts_too_long_are_refused_when_written() {
    let mut writer = RecordingWriter::new(Vec::new(), &Header::default()).unwrap();
    let note = |length| Event::Note { at: GlobalTime::ZERO, text: "x".repeat(length) };
    assert!(matches!(writer.write(&note(MAX_TEXT_BYTES + 1)), Err(RecordingError::TooLong { .. })));
    // The refusal leaves no trace.
    writer.write(&note(MAX_TEXT_BYTES)).unwrap();
    assert_eq!(read_all(&writer.finish().unwrap()).unwrap(), [note(MAX_TEXT_BYTES)]);
}

#[test]
fn what_unpacks_to_far_too_much_is_refused_at_once_but_read_in_a_stream() {
    let note = Event::Note { at: GlobalTime::ZERO, text: String::new() };
    let bytes = record(&Header::default(), &vec![note; 200_000]);
    assert!(bytes.len() < 20_000);
    assert!(matches!(read_all(&bytes), Err(RecordingError::TooLarge { .. })));
    assert_eq!(RecordingReader::new(&bytes[..], &[]).unwrap().filter(Result::is_ok).count(), 200_000);
}

#[test]
fn headers_too_long_are_refused_both_ways() {
    let long = Header { hosts: vec!["x".repeat(MAX_TEXT_BYTES); 300], ..Header::default() };
    assert!(matches!(RecordingWriter::new(Vec::new(), &long), Err(RecordingError::TooLong { .. })));
    let mut body = vec![0, 0, 0, 0x80, 0x04];
    for _ in 0..512 {
        body.extend([0x80, 0x80, 0x04]);
        body.resize(body.len() + MAX_TEXT_BYTES, b'x');
    }
    let message = read_all(&pack(FORMAT_VERSION, &body)).unwrap_err().to_string();
    assert!(message.contains("its header is longer"), "{message}");
}

#[test]
fn after_an_error_there_is_nothing_more() {
    let bytes = pack(FORMAT_VERSION, &[0, 0, 0, 0, 0, 99, 7, 0, 0]);
    let mut reader = RecordingReader::new(&bytes[..], &[]).unwrap();
    assert!(reader.next().unwrap().is_err());
    assert!(reader.next().is_none());
}

proptest! {
    #[test]
    fn what_is_written_reads_back(header in header(), events in prop::collection::vec(event(), 0..30)) {
        let bytes = record(&header, &events);
        let (read_header, read_events) = replay(&bytes).unwrap();
        prop_assert_eq!(&read_header, &header);
        // Not-a-number is not equal to itself, but its bytes are.
        prop_assert_eq!(record(&read_header, &read_events), bytes);
        prop_assert_eq!(format!("{read_events:?}"), format!("{events:?}"));
    }

    #[test]
    fn random_bytes_never_panic(bytes: Vec<u8>) {
        prop_assert!(read_all(&bytes).is_err());
        let _ = replay(&pack(FORMAT_VERSION, &bytes));
        let _ = replay(&pack(FORMAT_VERSION, &[&[0, 0, 0, 0, 0], &bytes[..]].concat()));
        let _ = replay(&[b"EVKREC\x01\x00", &bytes[..]].concat());
    }
}
