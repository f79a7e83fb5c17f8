//! What people write, and what is read from files.

use evenkeel::policy::{Budget, by_name};
use evenkeel::{Duration, GlobalTime};
use evenkeel_games::{Arena, Game, Recording, Spaceship};
use evenkeel_link::recording::{Event, FORMAT_VERSION, Header, MAGIC, RecordingReader, RecordingWriter, read_all};
use evenkeel_link::{Conditions, LatencyMatrix, MAX_DELAY};
use flate2::{Compression, write::GzEncoder};
use std::io::Write;

/// A recording that reads can be written again and reads the same.
///
/// A checksum and a compression guard what matters, and no fuzzer gets past them: so input that is no recording is taken
/// as what is inside one.
pub fn recording(data: &[u8]) {
    if data.starts_with(&MAGIC) {
        read_back(data);
        return;
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::none());
    if encoder.write_all(data).is_err() {
        return;
    }
    let Ok(packed) = encoder.finish() else { return };
    read_back(&[&MAGIC[..], &FORMAT_VERSION.to_le_bytes(), &packed].concat());
}

fn read_back(bytes: &[u8]) {
    let Ok(events) = read_all(bytes) else { return };
    let reader = RecordingReader::new(bytes, &[]).expect("it was just read");
    let once = written(reader.header(), &events);
    let again = RecordingReader::new(&once[..], &[]).expect("it was just written");
    assert_eq!(again.header(), reader.header());
    // Bytes are compared and not events: what is not a number does not equal itself.
    let events = read_all(&once).expect("it was just written");
    assert_eq!(written(again.header(), &events), once);
}

fn written(header: &Header, events: &[Event]) -> Vec<u8> {
    let mut writer = RecordingWriter::new(Vec::new(), header).expect("a header that was read can be written");
    for event in events {
        writer.write(event).expect("an event that was read can be written");
    }
    writer.finish().expect("memory takes all")
}

/// Conditions that parse are valid, and what they display parses to the same.
pub fn conditions(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(conditions) = text.parse::<Conditions>() else { return };
    assert_eq!(conditions.validate(), Ok(()));
    assert_eq!(conditions.to_string().parse(), Ok(conditions.clone()), "{conditions}");
    assert!((0.0..=1.0).contains(&conditions.loss.rate()));
    for at in [GlobalTime::MIN, GlobalTime::ZERO, GlobalTime::from_millis(10_500), GlobalTime::MAX] {
        assert!(conditions.changes.at(at).abs() <= MAX_DELAY, "{conditions} at {at:?}");
    }
}

/// A matrix that parses is square, and every delay in it is one.
pub fn matrix(data: &[u8]) {
    let Ok(matrix) = LatencyMatrix::parse(data) else { return };
    let n = matrix.len();
    assert_eq!(matrix.names().len(), n);
    for (from, to) in (0..n).flat_map(|from| (0..n).map(move |to| (from, to))) {
        let there_and_back = matrix.round_trip(from, to).expect("the matrix is square");
        assert!((Duration::ZERO..=MAX_DELAY).contains(&there_and_back));
    }
    assert!(matrix.round_trip(n, 0).is_none() && matrix.one_way(0, n).is_none());
    let all: Vec<usize> = (0..n).collect();
    assert_eq!(matrix.select(&all), Some(matrix));
}

/// A budget that parses allows something and not too much; a policy's name finds the policy again.
pub fn budget_and_policy(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(budget) = text.parse::<Budget>() {
        for base_rate in [-1.0, 0.0, 1e-3, 30.0, 1e12] {
            let share = budget.share_of_base(base_rate);
            // The least of rates is none at all beside a large one.
            assert!((0.0..=1.0).contains(&share), "{budget} is {share} of {base_rate}/s");
        }
        if budget.rate().is_some() {
            assert_eq!(budget.to_string().parse(), Ok(budget));
        }
    }
    let named = |name: &str| by_name(name, Budget::Unlimited, 0).map(|policy| policy.name());
    if let Ok(name) = named(text) {
        assert_eq!(named(&name), Ok(name));
    }
}

/// A recorded sequence of operations that parses is written as it reads, and can be played.
pub fn operations(data: &[u8]) {
    replayed::<Spaceship>(data);
    replayed::<Arena>(data);
}

fn replayed<G: Game>(data: &[u8])
where
    Recording<G>: PartialEq + std::fmt::Debug,
{
    let recording = match Recording::<G>::parse(data) {
        Ok(recording) => recording,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let again = Recording::<G>::parse(recording.to_text().as_bytes());
    assert_eq!(again.as_ref().ok(), Some(&recording));
    // Thousands of players take their time.
    if recording.setup().players > 16 {
        return;
    }
    let mut replay = recording.replay().expect("what parses can be started");
    for _ in 0..20 {
        replay.advance();
    }
}
