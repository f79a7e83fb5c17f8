//! The parsers of the wire.

use crate::input::Input;
use evenkeel::wire::datagram::{
    Acknowledged, Cursor, Form, KIND_ACKNOWLEDGEMENT, KIND_AGREEMENT, KIND_RECEIPTS, ReceiptEntry, ReceiptsHeader,
    Record, Stamp, Stream, VectorsHeader,
};
use evenkeel::wire::{
    AGREEMENT_BYTES, Agreement, BODY_BYTES, BitReader, BitWriter, FORMAT_BYTES, Format, Full, Quantised, emit_absolute,
    emit_against, parse_body,
};
use evenkeel::{GlobalTime, Motion, Vec3};
use std::cell::Cell;

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
        assert_eq!(agreed, turned);
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
    for used in [None, baseline] {
        let mut body = [0; BODY_BYTES];
        let mut w = BitWriter::new(&mut body);
        let written = match used {
            Some(baseline) => emit_against(f, q, baseline, &mut w),
            None => emit_absolute(f, q, &mut w),
        };
        assert_eq!(written, Ok(()), "BODY_BYTES is too few");
        let mut r = BitReader::new(w.as_bytes());
        assert_eq!(parse_body(f, &mut r, q.tick(), used), Ok(*q));
        assert_eq!(r.position_bits(), w.len_bits(), "it reads less than was written");
    }
}

/// Headers, records, receipts and agreements that parse survive being written.
pub fn datagram(data: &[u8]) {
    let mut r = BitReader::new(data);
    match data.first() {
        Some(&KIND_RECEIPTS) => {
            let Ok(header) = ReceiptsHeader::parse(&mut r) else { return };
            same(&header, ReceiptsHeader::emit, ReceiptsHeader::parse);
            let mut before: Option<ReceiptEntry> = None;
            while let Ok(entry) = ReceiptEntry::parse(before.as_ref(), &mut r) {
                same(&entry, |e, w| e.emit(before.as_ref(), w), |r| ReceiptEntry::parse(before.as_ref(), r));
                before = Some(entry);
            }
        }
        Some(&KIND_ACKNOWLEDGEMENT) => {
            let Ok(acknowledged) = Acknowledged::parse_alone(&mut r) else { return };
            same(&acknowledged, |(stream, a), w| a.emit_alone(*stream, w), Acknowledged::parse_alone);
        }
        Some(&KIND_AGREEMENT) => {
            let Ok(agreement) = r.pull(16).map_err(drop).and_then(|_| Agreement::parse(&mut r).map_err(drop)) else {
                return;
            };
            assert_eq!(agreement.difference(&agreement), None);
            same(&agreement, Agreement::emit, Agreement::parse);
        }
        _ => vectors(&mut r),
    }
}

/// A header in either form, and one record after another.
fn vectors(r: &mut BitReader<'_>) {
    let stream = Stream { id: 0, agreement: 0 };
    let (sent, nonce) = (Stamp::at(GlobalTime::ZERO), 0);
    let before = VectorsHeader { form: Form::Full, stream, number: 0, sent, nonce, acknowledged: None, check: 0 };
    let Ok(header) = VectorsHeader::parse_after(Some(&before), r) else { return };
    same(&header, VectorsHeader::emit, |r| VectorsHeader::parse_after(Some(&before), r));
    let format = Format::default();
    let tank = Motion::circular(Vec3::new(12.3, -4.5, 0.0), 0.5, 25.0, 0.785);
    let base = format.tick_of(header.sent.end());
    let mut cursor = Cursor::new(base);
    let Ok(old) = format.quantise(&tank, format.time_of(base.clamp(-1 << 40, 1 << 40) - 300)) else { return };
    let against = Cell::new(false);
    let parse = |cursor: Cursor, r: &mut BitReader<'_>| {
        against.set(false);
        Record::parse(&format, cursor, r, |_| {
            against.set(true);
            Some(&old)
        })
    };
    while let Ok(record) = parse(cursor, r) {
        let baseline = Some(&old).filter(|_| against.get());
        // A baseline that is no older than its vector has no name.
        if baseline.is_none_or(|old| old.tick() <= record.tick()) {
            same(&record, |record, w| record.emit(&format, cursor, baseline, w), |r| parse(cursor, r));
        }
        cursor = cursor.after(record.entity, record.tick());
    }
}

fn same<T: PartialEq + std::fmt::Debug, E: PartialEq + std::fmt::Debug>(
    value: &T,
    emit: impl Fn(&T, &mut BitWriter<'_>) -> Result<(), Full>,
    parse: impl Fn(&mut BitReader<'_>) -> Result<T, E>,
) {
    let mut buffer = [0; AGREEMENT_BYTES + BODY_BYTES];
    let mut w = BitWriter::new(&mut buffer);
    assert_eq!(emit(value, &mut w), Ok(()));
    let parsed = parse(&mut BitReader::new(w.as_bytes()));
    assert_eq!(parsed.as_ref(), Ok(value));
}
