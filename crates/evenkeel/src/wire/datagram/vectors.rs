//! The head of a datagram with vectors, in its two forms: one that says everything, for strangers, and a short one for those who
//! know the stream.

use super::{
    Acknowledged, DatagramError, Digest, KIND_OPENING, KIND_VECTORS, KIND_VECTORS_ACKNOWLEDGING, Record, expect, start,
};
use crate::time::{Duration, GlobalTime};
use crate::wire::{BitReader, BitWriter, Full};
use core::hash::Hasher;
use siphasher::sip::SipHasher13;

/// How many low bits of a datagram's number travel in the short form.
pub const NUMBER_BITS: u32 = 10;
/// How many low bits of a stamp travel in the short form: 8.6 seconds.
const STAMP_BITS: u32 = 19;
const SEAL_BITS: u32 = 6;
const CHECK_BITS: u32 = 16;
const NONCE_BITS: u32 = 12;
/// The check stands right after the kind, where it is put last.
const CHECK_AT: usize = 8;

/// A time of the session on the grid of the wire: whole units of 2^14 ns, about 16 microseconds.
///
/// ```
/// use evenkeel::GlobalTime;
/// use evenkeel::wire::datagram::Stamp;
/// let now = GlobalTime::from_millis(1_500);
/// let stamp = Stamp::at(now);
/// assert!(stamp.time() <= now && now.since(stamp.time()) < Stamp::UNIT);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Stamp(i64);

impl Stamp {
    const SHIFT: u32 = 14;
    /// One step of the grid.
    pub const UNIT: Duration = Duration::from_nanos(1 << Self::SHIFT);

    /// The last stamp at or before a time.
    pub fn at(time: GlobalTime) -> Self {
        Self(time.as_nanos() >> Self::SHIFT)
    }

    /// The time it stands for.
    pub fn time(self) -> GlobalTime {
        GlobalTime::from_nanos(self.0 << Self::SHIFT)
    }

    /// The end of its unit: no moment with this stamp is later.
    pub fn end(self) -> GlobalTime {
        self.time() + Self::UNIT - Duration::from_nanos(1)
    }

    /// So many units later.
    pub fn after(self, units: i64) -> Self {
        Self(self.0.saturating_add(units).clamp(i64::MIN >> Self::SHIFT, i64::MAX >> Self::SHIFT))
    }

    /// How many units later it is than another.
    pub fn units_since(self, earlier: Self) -> i64 {
        self.0 - earlier.0
    }
}

/// What the two ends of a stream know, so that it need not be repeated: every header is checked against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Tells this acquaintance of the two apart from earlier ones: datagrams are numbered anew in each.
    pub id: u64,
    /// The fingerprint of the [`Agreement`](crate::wire::Agreement).
    pub agreement: u64,
}

impl Stream {
    /// Stands for the stream in receipts and acknowledgements.
    pub fn tag(&self) -> u16 {
        (self.id ^ self.id >> 16 ^ self.id >> 32 ^ self.id >> 48) as u16
    }

    /// Ties a header to the stream, to its whole number and to its whole stamp.
    fn hash(&self, number: u64, sent: Stamp, nonce: u16) -> u64 {
        let mut hasher = SipHasher13::new_with_keys(self.id, self.agreement);
        hasher.write_u64(number);
        hasher.write_u64(sent.0 as u64);
        hasher.write_u16(nonce);
        hasher.finish()
    }
}

/// The two forms of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Says everything: for a receiver that may not know the stream, or has not answered of late.
    Full,
    /// Leaves out what the receiver knows.
    Short,
}

/// The head of a datagram with vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorsHeader {
    /// In which form it stands on the wire.
    pub form: Form,
    /// In which stream.
    pub stream: Stream,
    /// Counts the datagrams with vectors in the stream.
    pub number: u64,
    /// When it left, by the session's clock: also a one-way stamp for the receiver's clock.
    pub sent: Stamp,
    /// 12 bits, unpredictable; a receipt must [prove](super::Proof) to know it.
    pub nonce: u16,
    /// The receipt seen last, if it has not been acknowledged yet.
    pub acknowledged: Option<Acknowledged>,
    /// What the records must decode to: see [`checking`](Self::checking).
    pub check: u16,
}

/// What a reader of the short form knows already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) stream: Stream,
    /// The highest number seen.
    pub(crate) highest: u64,
    /// When the next one should have been sent, if it arrives now.
    pub(crate) expected: Stamp,
}

impl VectorsHeader {
    /// The same header with the check of these records: for programs that write datagrams without a [`Sender`](crate::Sender).
    pub fn checking(self, records: &[Record]) -> Self {
        let mut digest = Digest::default();
        records.iter().for_each(|record| digest.add(record.digest()));
        Self { check: self.check_of(digest.value()), ..self }
    }

    /// Writes it at the start of a datagram.
    pub fn emit(&self, w: &mut BitWriter<'_>) -> Result<(), Full> {
        let kind = match (self.form, self.acknowledged) {
            (Form::Full, _) => KIND_OPENING,
            (Form::Short, None) => KIND_VECTORS,
            (Form::Short, Some(_)) => KIND_VECTORS_ACKNOWLEDGING,
        };
        start(kind, w)?;
        w.push(u64::from(self.check), CHECK_BITS)?;
        match self.form {
            Form::Full => {
                w.push(self.stream.agreement, 64)?;
                w.push(self.stream.id, 64)?;
                w.push(self.number, 64)?;
                w.push(self.sent.0 as u64, 64)?;
                w.push(u64::from(self.nonce), NONCE_BITS)?;
                w.flag(self.acknowledged.is_some())?;
            }
            Form::Short => {
                w.push(self.number, NUMBER_BITS)?;
                w.push(self.sent.0 as u64, STAMP_BITS)?;
                w.push(u64::from(self.nonce), NONCE_BITS)?;
                w.push(self.seal(), SEAL_BITS)?;
            }
        }
        self.acknowledged.map_or(Ok(()), |a| a.emit(w))
    }

    /// Reads it; the records follow. The short form is understood by those who know the stream, and refused if it does not fit.
    pub(crate) fn parse(r: &mut BitReader<'_>, known: Option<Known>) -> Result<Self, DatagramError> {
        let kind = expect(&[KIND_VECTORS, KIND_VECTORS_ACKNOWLEDGING, KIND_OPENING], r)?;
        let check = r.pull(CHECK_BITS)? as u16;
        if kind == KIND_OPENING {
            return Self::parse_full(r, check);
        }
        let number = r.pull(NUMBER_BITS)?;
        let sent = r.pull(STAMP_BITS)?;
        let nonce = r.pull(NONCE_BITS)? as u16;
        let seal = r.pull(SEAL_BITS)?;
        let Known { stream, highest, expected } = known.ok_or(DatagramError::Foreign)?;
        let number = widen(number, NUMBER_BITS, highest);
        let sent = Stamp(nearest(sent, STAMP_BITS, expected.0));
        let acknowledged = (kind == KIND_VECTORS_ACKNOWLEDGING).then(|| Acknowledged::parse(r)).transpose()?;
        let header = Self { form: Form::Short, stream, number, sent, nonce, acknowledged, check };
        if header.seal() == seal { Ok(header) } else { Err(DatagramError::Foreign) }
    }

    /// Reads the header of a datagram soon after another one of the same stream: for those who follow a sender without being a
    /// [`Receiver`](crate::Receiver).
    pub fn parse_after(before: Option<&Self>, r: &mut BitReader<'_>) -> Result<Self, DatagramError> {
        let known = |before: &Self| Known { stream: before.stream, highest: before.number, expected: before.sent };
        Self::parse(r, before.map(known))
    }

    fn parse_full(r: &mut BitReader<'_>, check: u16) -> Result<Self, DatagramError> {
        let stream = Stream { agreement: r.pull(64)?, id: r.pull(64)? };
        let (number, sent) = (r.pull(64)?, Stamp(r.pull(64)? as i64));
        if sent.0 != sent.0 << Stamp::SHIFT >> Stamp::SHIFT || number > u64::MAX >> 1 {
            return Err(crate::wire::WireError::OutOfRange.into());
        }
        let nonce = r.pull(NONCE_BITS)? as u16;
        let acknowledged = if r.flag()? { Some(Acknowledged::parse(r)?) } else { None };
        Ok(Self { form: Form::Full, stream, number, sent, nonce, acknowledged, check })
    }

    fn seal(&self) -> u64 {
        self.stream.hash(self.number, self.sent, self.nonce) & ((1 << SEAL_BITS) - 1)
    }

    /// The check of records with this digest, under this header.
    pub(crate) fn check_of(&self, digest: u64) -> u16 {
        let mut hasher = SipHasher13::new_with_keys(digest, self.stream.hash(self.number, self.sent, self.nonce));
        hasher.write_u64(self.stream.agreement);
        (hasher.finish() & ((1 << CHECK_BITS) - 1)) as u16
    }
}

/// Puts a check into a datagram whose header and records are written.
pub(crate) fn seal_check(check: u16, w: &mut BitWriter<'_>) {
    w.overwrite(CHECK_AT, u64::from(check), CHECK_BITS);
}

/// The low bits of the number of a datagram with vectors, by which a receipt speaks of it; `None` if it is no such datagram.
pub fn low_number(datagram: &[u8]) -> Option<u16> {
    let mut r = BitReader::new(datagram);
    let kind = expect(&[KIND_VECTORS, KIND_VECTORS_ACKNOWLEDGING, KIND_OPENING], &mut r).ok()?;
    r.pull(CHECK_BITS).ok()?;
    if kind == KIND_OPENING {
        r.pull(64).and_then(|_| r.pull(64)).ok()?;
    }
    Some(r.pull(NUMBER_BITS).ok()? as u16)
}

/// The whole number whose lowest `bits` bits are `low` and that is nearest to `expected`.
pub(crate) fn widen(low: u64, bits: u32, expected: u64) -> u64 {
    let (range, off) = (1i64 << bits, low.wrapping_sub(expected) & ((1 << bits) - 1));
    let step = if off as i64 >= range / 2 { off as i64 - range } else { off as i64 };
    // Numbers begin at zero: what would be before that is ahead.
    expected.checked_add_signed(step).unwrap_or_else(|| expected.saturating_add(off))
}

/// The same for what may be negative.
fn nearest(low: u64, bits: u32, expected: i64) -> i64 {
    let range = 1i64 << bits;
    let off = (low.wrapping_sub(expected as u64) & ((1 << bits) - 1)) as i64;
    let step = if off >= range / 2 { off - range } else { off };
    expected.saturating_add(step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::WireError;
    use proptest::prelude::*;

    fn header(form: Form, number: u64, sent: i64, nonce: u16, ack: Option<(u8, i64)>) -> VectorsHeader {
        let acknowledged = ack.map(|(receipt, units)| Acknowledged { receipt, age: Acknowledged::UNIT * units });
        let stream = Stream { id: 0x0123_4567_89AB_CDEF, agreement: 77 };
        VectorsHeader { form, stream, number, sent: Stamp(sent), nonce, acknowledged, check: 0xABC }
    }

    fn known(of: &VectorsHeader, behind: i64, off: i64) -> Known {
        let highest = of.number.saturating_add_signed(behind);
        Known { stream: of.stream, highest, expected: of.sent.after(off) }
    }

    proptest! {
        #[test]
        fn both_forms_survive(
            full: bool, number in 0..u64::MAX >> 1, sent in -(1i64 << 48)..1 << 48, nonce in 0..1u16 << NONCE_BITS,
            ack in prop::option::of((any::<u8>(), 0..1i64 << 30)), behind in -511i64..510, off in -250_000i64..250_000,
        ) {
            let form = if full { Form::Full } else { Form::Short };
            let header = header(form, number, sent, nonce, ack);
            let mut buffer = [0; 64];
            let mut w = BitWriter::new(&mut buffer);
            header.emit(&mut w).unwrap();
            seal_check(0x123, &mut w);
            let knows = known(&header, behind, off);
            let parsed = VectorsHeader::parse(&mut BitReader::new(w.as_bytes()), Some(knows)).unwrap();
            prop_assert_eq!(parsed, VectorsHeader { check: 0x123, ..header });
            prop_assert_eq!(low_number(w.as_bytes()), Some((number % 1024) as u16));
            // The short form means nothing to strangers.
            prop_assert_eq!(VectorsHeader::parse(&mut BitReader::new(w.as_bytes()), None).is_ok(), full);
        }

        #[test]
        fn widening_finds_the_number_within_half_the_range(expected in 40_000u64..u64::MAX / 2, off in -512i64..512) {
            let number = expected.wrapping_add_signed(off);
            prop_assert_eq!(widen(number % 1024, NUMBER_BITS, expected), number);
        }

        #[test]
        fn hostile_bytes_are_refused_not_fatal(bytes in prop::collection::vec(any::<u8>(), 0..100), first in 0xD0..0xD4u8) {
            let stream = Stream { id: 1, agreement: 2 };
            let known = Some(Known { stream, highest: 3, expected: Stamp(4) });
            let _ = VectorsHeader::parse(&mut BitReader::new(&bytes), known);
            let bytes = [&[first][..], &bytes].concat();
            let _ = VectorsHeader::parse(&mut BitReader::new(&bytes), known);
            let _ = low_number(&bytes);
        }
    }

    /// Of datagrams of another stream, number, time or agreement, one in 2^6 passes the seal; and of those one in 2^16 the check.
    #[test]
    fn what_does_not_belong_to_the_stream_is_foreign() {
        let mut passed = 0;
        for number in 0..20_000 {
            let header = header(Form::Short, number, 9 * number as i64, number as u16 % (1 << NONCE_BITS), None);
            let mut buffer = [0; 64];
            let mut w = BitWriter::new(&mut buffer);
            header.emit(&mut w).unwrap();
            let read = |known| VectorsHeader::parse(&mut BitReader::new(w.as_bytes()), Some(known));
            assert!(read(known(&header, 0, 0)).is_ok());
            let right = known(&header, 0, 0);
            let other_stream = Known { stream: Stream { id: 5, ..right.stream }, ..right };
            let other_agreement = Known { stream: Stream { agreement: 5, ..right.stream }, ..right };
            let long_ago = Known { highest: right.highest + 1024, ..right };
            let late = Known { expected: right.expected.after(1 << STAMP_BITS), ..right };
            for wrong in [other_stream, other_agreement, long_ago, late] {
                passed += u32::from(read(wrong).is_ok());
            }
        }
        assert!((1_000..1_500).contains(&passed), "{passed} of 80,000, where 1,250 are expected");
    }

    #[test]
    fn stamps_reach_to_both_ends_of_time() {
        for time in [GlobalTime::MIN, GlobalTime::ZERO, GlobalTime::MAX] {
            let stamp = Stamp::at(time);
            assert!(stamp.time() <= time && stamp.after(i64::MAX).time() >= stamp.time());
            assert!(stamp.end() >= stamp.time());
        }
        let mut buffer = [0; 64];
        let mut w = BitWriter::new(&mut buffer);
        let beyond = header(Form::Full, 1, i64::MAX, 0, None);
        beyond.emit(&mut w).unwrap();
        let read = VectorsHeader::parse(&mut BitReader::new(w.as_bytes()), None);
        assert_eq!(read, Err(DatagramError::Malformed(WireError::OutOfRange)));
    }
}
