//! Whatever a recording claims, the reader allocates no more than the bytes it has read justify.

use evenkeel::GlobalTime;
use evenkeel_link::recording::{Event, FORMAT_VERSION, Header, MAGIC, RecordingReader, RecordingWriter, read_all};
use flate2::{Compression, write::GzEncoder};
use std::io::Write;

/// What the decompressor and two read buffers need, whatever the input.
const FIXED_BYTES: u64 = 128 << 10;

fn pack(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body).expect("memory takes all");
    [&MAGIC[..], &FORMAT_VERSION.to_le_bytes(), &encoder.finish().expect("memory takes all")].concat()
}

fn peak_bytes(read: impl FnOnce()) -> u64 {
    allocation_counter::measure(read).bytes_max
}

#[test]
fn lengths_alone_allocate_nothing() {
    // The longest text, the longest list, and impossible ones, with nothing behind them.
    for body in [
        &[0x80, 0x80, 0x04][..],
        &[0, 0, 0x80, 0x80, 0x04],
        &[0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
        &[0, 0, 0, 0, 0, 7, 0, 0x80, 0x80, 0x04],
    ] {
        let bytes = pack(body);
        let peak = peak_bytes(|| assert!(read_all(&bytes).is_err()));
        assert!(peak < FIXED_BYTES, "{peak} bytes for {body:?}");
    }
}

#[test]
fn a_bomb_is_refused_in_proportion_and_streamed_in_constant_memory() {
    // 40 MB of empty notes in 40 kB.
    let bytes = pack(&[&[0; 5][..], &[7, 0, 0].repeat(13_000_000)].concat());
    assert!(bytes.len() < 100_000);
    let streamed = peak_bytes(|| {
        let notes = RecordingReader::new(&bytes[..], &[]).unwrap().filter(Result::is_ok).count();
        assert_eq!(notes, 13_000_000);
    });
    assert!(streamed < FIXED_BYTES, "{streamed} bytes");
    let whole = peak_bytes(|| assert!(read_all(&bytes).is_err()));
    // Sixteen megabytes are always allowed, and a list that grows holds up to three times its content while it does.
    let limit = 3 * (16 << 20) + FIXED_BYTES;
    assert!(256 * bytes.len() < 16 << 20 && whole < limit, "{whole} bytes for {}", bytes.len());
}

#[test]
fn writing_an_event_allocates_nothing() {
    let mut writer = RecordingWriter::new(std::io::sink(), &Header::default()).unwrap();
    let event = Event::Sent { entity: 1, sequence: 2, to: 3, at: GlobalTime::from_millis(4) };
    writer.write(&event).unwrap();
    let info = allocation_counter::measure(|| (0..100_000).for_each(|_| writer.write(&event).unwrap()));
    assert_eq!(info.count_total, 0);
}
