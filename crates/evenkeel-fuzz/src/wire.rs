//! The parsers of the wire.

use crate::input::Input;
use evenkeel::wire::datagram::{
    Acknowledged, KIND_ACKNOWLEDGEMENT, KIND_RECEIPTS, ReceiptEntry, ReceiptsHeader, RecordHead, VectorsHeader,
};
use evenkeel::wire::{
    BODY_BYTES, BitReader, BitWriter, Body, FORMAT_BYTES, Format, Full, Quantised, WireError, parse_body,
};
use evenkeel::{GlobalTime, Motion, Vec3};

/// A [`Format`] that parses is valid, survives emission, agrees with others into valid ones whoever asks, and codes.
pub fn format(data: &[u8]) {
    let Ok(format) = Format::parse(&mut BitReader::new(data)) else { return };
    assert_eq!(format.validate(), Ok(()));
    let mut buffer = [0; FORMAT_BYTES];
    let mut w = BitWriter::new(&mut buffer);
    assert_eq!(format.emit(&mut w), Ok(()), "FORMAT_BYTES is too few");
    assert_eq!(Format::parse(&mut BitReader::new(w.as_bytes())), Ok(format));
    assert_eq!(Format::agree(&format, &format), format);
    for other in [Format::default(), Format::bzflag(), Format::lossless()] {
        let agreed = Format::agree(&format, &other);
        assert_eq!(agreed.validate(), Ok(()));
        let turned = Format::agree(&other, &format);
        assert_eq!((agreed, agreed.fingerprint()), (turned, turned.fingerprint()));
        assert_eq!(Format::agree(&agreed, &other), agreed);
        for f in [&format, &agreed] {
            let tank = Motion::circular(Vec3::new(12.3, -4.5, 0.0), 0.5, 25.0, 0.785);
            let now = GlobalTime::from_millis(12_345);
            if let (Ok(old), Ok(new)) = (f.quantise(&tank, now), f.quantise(&tank.advanced(0.4), now)) {
                survives(f, &new, Some(&old));
            }
        }
    }
}

/// A body that parses is of a motion that could have been sent, and survives being written in every way.
pub fn body(data: &[u8]) {
    let mut input = Input(data);
    let f = input.format_with_laws();
    let shape = input.byte();
    let age = if shape & 1 == 0 { i64::from(input.u16()) } else { input.i64() };
    let old = if shape & 2 == 0 { input.chunk() } else { &[] };
    let baseline = parse_body(&f, &mut BitReader::new(old), age.saturating_neg(), None).ok();
    let baseline = baseline.as_ref();
    let Ok(q) = parse_body(&f, &mut BitReader::new(input.0), 7, baseline) else { return };
    let motion = f.restore(&q);
    assert!(motion.is_valid(), "{motion:?}");
    assert_eq!(f.quantise(&motion, f.time_of(7)), Ok(q));
    survives(&f, &q, baseline);
}

/// Panics unless the reader gets what the writer wrote.
fn survives(f: &Format, q: &Quantised, baseline: Option<&Quantised>) {
    let read = |body: &Body, baseline: Option<&Quantised>| -> Result<Quantised, WireError> {
        assert!(body.as_bytes().len() <= BODY_BYTES);
        let mut r = BitReader::new(body.as_bytes());
        let parsed = parse_body(f, &mut r, q.tick(), baseline)?;
        assert!(r.remaining_bits() < 8, "it reads less than was written");
        Ok(parsed)
    };
    assert_eq!(read(&Body::absolute(f, q), None), Ok(*q));
    if let Some(baseline) = baseline {
        assert_eq!(read(&Body::against(f, q, baseline), Some(baseline)), Ok(*q));
    }
    let smallest = Body::smallest(f, q, baseline);
    assert_eq!(read(&smallest, baseline.filter(|_| smallest.against_baseline())), Ok(*q));
}

/// Heads of datagrams, records and receipts that parse survive being written.
pub fn datagram(data: &[u8]) {
    let mut r = BitReader::new(data);
    match data.first() {
        Some(&KIND_RECEIPTS) => {
            let Ok(header) = ReceiptsHeader::parse(&mut r) else { return };
            same(&header, ReceiptsHeader::emit, ReceiptsHeader::parse);
            let mut before = None;
            while let Ok(entry) = ReceiptEntry::parse(before, &mut r) {
                same(&entry, |e, w| e.emit(before, w), |r| ReceiptEntry::parse(before, r));
                before = Some(entry.number);
            }
        }
        Some(&KIND_ACKNOWLEDGEMENT) => {
            let Ok(acknowledged) = Acknowledged::parse_alone(&mut r) else { return };
            same(&acknowledged, |(stream, a), w| a.emit_alone(*stream, w), Acknowledged::parse_alone);
        }
        _ => {
            let Ok(header) = VectorsHeader::parse(&mut r) else { return };
            same(&header, VectorsHeader::emit, VectorsHeader::parse);
            // One record head after another: bodies are another target's business.
            let mut before = None;
            while let Ok(head) = RecordHead::parse(before, &mut r) {
                same(&head, |h, w| h.emit(before, w), |r| RecordHead::parse(before, r));
                before = Some(head.entity);
            }
        }
    }
}

fn same<T: PartialEq + std::fmt::Debug, E: PartialEq + std::fmt::Debug>(
    value: &T,
    emit: impl Fn(&T, &mut BitWriter<'_>) -> Result<(), Full>,
    parse: impl Fn(&mut BitReader<'_>) -> Result<T, E>,
) {
    let mut buffer = [0; 128];
    let mut w = BitWriter::new(&mut buffer);
    assert_eq!(emit(value, &mut w), Ok(()));
    let parsed = parse(&mut BitReader::new(w.as_bytes()));
    assert_eq!(parsed.as_ref(), Ok(value));
}
