//! Datagrams: vectors from a sender, receipts from a receiver, acknowledgements of receipts.
//!
//! `docs/WIRE.md` describes every bit. Everything constructible here can be emitted, and parses back to itself.

use super::bits::{golomb_code, zigzag};
use super::{BitReader, BitWriter, Full, WireError};
use crate::ids::EntityId;
use crate::time::{Duration, GlobalTime};
use core::fmt;

/// The version of everything in this module.
pub const VERSION: u8 = 1;
/// First byte of a datagram with vectors.
pub const KIND_VECTORS: u8 = 0xE0;
/// First byte of a datagram with receipts.
pub const KIND_RECEIPTS: u8 = 0xE1;
/// First byte of a datagram that only acknowledges receipts.
pub const KIND_ACKNOWLEDGEMENT: u8 = 0xE4;

/// A vector may be coded against one that is fewer than this many numbers older.
pub const BASELINE_WINDOW: u32 = 32;
/// How many low bits of a vector's number travel.
const SEQUENCE_BITS: u32 = 5;
/// No record is shorter than this, so fewer bits than this at the end of a datagram are padding.
pub(crate) const LEAST_RECORD_BITS: usize = 13;
/// No receipt entry is shorter than this.
pub(crate) const LEAST_ENTRY_BITS: usize = 2 + 16 + 1 + 23;

/// Exponents of the exponential-Golomb codes, chosen for what is common: neighbouring ids, vectors sent in the tick that
/// generated them, delays of some milliseconds, the vector before the last as baseline.
const ID_CODE: u32 = 2;
const EPOCH_CODE: u32 = 0;
const AGE_CODE: u32 = 1;
const DISTANCE_CODE: u32 = 1;
const NUMBER_CODE: u32 = 1;
const NANOS_CODE: u32 = 22;

/// What a datagram is, and so for whom: every host is sender and receiver, and has one socket for both.
///
/// ```
/// use evenkeel::wire::datagram::Kind;
/// assert_eq!(Kind::of(&[0xE1, 1, 7]), Some(Kind::Receipts));
/// assert_eq!(Kind::of(b"something else"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// For [`Receiver::handle_datagram`](crate::Receiver::handle_datagram).
    Vectors,
    /// For [`Sender::handle_datagram`](crate::Sender::handle_datagram).
    Receipts,
    /// For [`Receiver::handle_datagram`](crate::Receiver::handle_datagram).
    Acknowledgement,
    /// For [`Clock::handle_ping`](crate::Clock::handle_ping).
    Ping,
    /// For [`Clock::handle_pong`](crate::Clock::handle_pong).
    Pong,
}

impl Kind {
    /// The kind of a datagram by its first byte; `None` if it is none of ours.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        match *bytes.first()? {
            KIND_VECTORS => Some(Self::Vectors),
            KIND_RECEIPTS => Some(Self::Receipts),
            KIND_ACKNOWLEDGEMENT => Some(Self::Acknowledgement),
            crate::clock::KIND_PING => Some(Self::Ping),
            crate::clock::KIND_PONG => Some(Self::Pong),
            _ => None,
        }
    }
}

/// Why a datagram was refused. Nothing of it was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DatagramError {
    /// There are no bytes.
    Empty,
    /// The first byte is none of ours, or not one that this side receives.
    UnknownKind(u8),
    /// Another version of the protocol.
    Version {
        /// What the datagram says.
        theirs: u8,
    },
    /// Coded for another [`Format`](super::Format).
    Format {
        /// The fingerprint that the datagram carries.
        theirs: u32,
        /// The fingerprint expected.
        ours: u32,
    },
    /// A record refers to a vector that this receiver does not have.
    NoBaseline(EntityId),
    /// The contents do not parse.
    Malformed(WireError),
    /// An old datagram came again with a new number.
    Replayed,
}

impl fmt::Display for DatagramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "empty datagram"),
            Self::UnknownKind(kind) => write!(f, "not a datagram for this side (first byte {kind:#04x})"),
            Self::Version { theirs } => {
                write!(f, "protocol version {theirs}, but this side speaks {VERSION}: update the older one")
            }
            Self::Format { theirs, ours } => {
                write!(f, "coded in format {theirs:08x}, but {ours:08x} was agreed: use Format::agree on both sides")
            }
            Self::NoBaseline(entity) => write!(f, "{entity} is coded against a vector that is not here"),
            Self::Malformed(error) => write!(f, "malformed datagram: {error}"),
            Self::Replayed => write!(f, "an old datagram under a new number"),
        }
    }
}

impl core::error::Error for DatagramError {}

impl From<WireError> for DatagramError {
    fn from(error: WireError) -> Self {
        Self::Malformed(error)
    }
}

impl From<super::Truncated> for DatagramError {
    fn from(_: super::Truncated) -> Self {
        Self::Malformed(WireError::Truncated)
    }
}

/// The receipt that a sender has seen last, and how long ago that was when the datagram left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledged {
    /// The receipt's number.
    pub receipt: u16,
    /// How long the sender has had it.
    pub age: Duration,
}

/// The head of a datagram with vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorsHeader {
    /// Of the format in which the records are coded.
    pub fingerprint: u32,
    /// Tells this acquaintance of the two apart from earlier ones: datagrams are numbered anew in each.
    pub stream: u16,
    /// Counts the datagrams to this receiver, low 16 bits.
    pub number: u16,
    /// Unpredictable; a receipt must repeat it.
    pub nonce: u16,
    /// When it left, by the session's clock: also a one-way stamp for the receiver's clock.
    pub sent: GlobalTime,
    /// The receipt seen last, if any.
    pub acknowledged: Option<Acknowledged>,
}

impl VectorsHeader {
    /// Writes it at the start of a datagram.
    pub fn emit(&self, w: &mut BitWriter<'_>) -> Result<(), Full> {
        start(KIND_VECTORS, w)?;
        w.push(u64::from(self.fingerprint), 32)?;
        w.push(u64::from(self.stream), 16)?;
        w.push(u64::from(self.number), 16)?;
        w.push(u64::from(self.nonce), 16)?;
        w.push(self.sent.as_nanos() as u64, 64)?;
        w.flag(self.acknowledged.is_some())?;
        self.acknowledged.map_or(Ok(()), |a| a.emit(w))
    }

    /// Reads it; the records follow.
    pub fn parse(r: &mut BitReader<'_>) -> Result<Self, DatagramError> {
        expect(KIND_VECTORS, r)?;
        let fingerprint = r.pull(32)? as u32;
        let stream = r.pull(16)? as u16;
        let number = r.pull(16)? as u16;
        let nonce = r.pull(16)? as u16;
        let sent = GlobalTime::from_nanos(r.pull(64)? as i64);
        let acknowledged = if r.flag()? { Some(Acknowledged::parse(r)?) } else { None };
        Ok(Self { fingerprint, stream, number, nonce, sent, acknowledged })
    }
}

impl Acknowledged {
    fn emit(&self, w: &mut BitWriter<'_>) -> Result<(), Full> {
        w.push(u64::from(self.receipt), 16)?;
        w.exp_golomb(self.age.as_nanos().max(0) as u64, NANOS_CODE)
    }

    fn parse(r: &mut BitReader<'_>) -> Result<Self, DatagramError> {
        let receipt = r.pull(16)? as u16;
        let age = i64::try_from(r.exp_golomb(NANOS_CODE)?).map_err(|_| WireError::OutOfRange)?;
        Ok(Self { receipt, age: Duration::from_nanos(age) })
    }

    /// Writes a datagram that carries nothing else, in a stream.
    pub fn emit_alone(&self, stream: u16, w: &mut BitWriter<'_>) -> Result<(), Full> {
        start(KIND_ACKNOWLEDGEMENT, w)?;
        w.push(u64::from(stream), 16)?;
        self.emit(w)
    }

    /// Reads a datagram that carries nothing else, and its stream.
    pub fn parse_alone(r: &mut BitReader<'_>) -> Result<(u16, Self), DatagramError> {
        expect(KIND_ACKNOWLEDGEMENT, r)?;
        let stream = r.pull(16)? as u16;
        let acknowledged = Self::parse(r)?;
        end(r)?;
        Ok((stream, acknowledged))
    }
}

/// What a record says about its entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A motion coded by itself.
    Absolute,
    /// A motion coded as differences from the vector whose number is this much smaller.
    Against {
        /// 1 to [`BASELINE_WINDOW`] - 1.
        distance: u32,
    },
    /// The entity is gone, or no longer this receiver's business.
    Retired,
}

/// The head of one record: everything but the motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHead {
    /// Which entity.
    pub entity: EntityId,
    /// Counts its owners.
    pub epoch: u32,
    /// What follows.
    pub content: Content,
    /// The vector's number, low 5 bits.
    pub sequence: u8,
    /// How many ticks of the format before the datagram's send time it was generated.
    pub age_ticks: u64,
}

impl RecordHead {
    /// Writes it; `before` is the entity of the record before it in the same datagram.
    pub fn emit(&self, before: Option<EntityId>, w: &mut BitWriter<'_>) -> Result<(), Full> {
        self.emit_own(before, w)?;
        self.emit_shared(w)
    }

    /// The part that depends on the datagram: which entity after which, and how long before.
    pub(crate) fn emit_own(&self, before: Option<EntityId>, w: &mut BitWriter<'_>) -> Result<(), Full> {
        w.signed_exp_golomb(i64::from(self.entity.0) - expected_id(before), ID_CODE)?;
        w.exp_golomb(self.age_ticks, AGE_CODE)
    }

    /// The part that is the same in every datagram to receivers that share a baseline.
    pub(crate) fn emit_shared(&self, w: &mut BitWriter<'_>) -> Result<(), Full> {
        w.exp_golomb(u64::from(self.epoch), EPOCH_CODE)?;
        match self.content {
            Content::Against { distance } => {
                w.flag(true)?;
                w.exp_golomb(u64::from(distance.saturating_sub(1)), DISTANCE_CODE)?;
            }
            Content::Absolute | Content::Retired => {
                w.flag(false)?;
                w.flag(self.content == Content::Retired)?;
            }
        }
        w.push(u64::from(self.sequence), SEQUENCE_BITS)
    }

    /// Reads it.
    pub fn parse(before: Option<EntityId>, r: &mut BitReader<'_>) -> Result<Self, DatagramError> {
        let id = r.signed_exp_golomb(ID_CODE)?.checked_add(expected_id(before)).ok_or(WireError::OutOfRange)?;
        let entity = EntityId(u32::try_from(id).map_err(|_| WireError::OutOfRange)?);
        let age_ticks = r.exp_golomb(AGE_CODE)?;
        let epoch = u32::try_from(r.exp_golomb(EPOCH_CODE)?).map_err(|_| WireError::OutOfRange)?;
        let content = if r.flag()? {
            let distance = r.exp_golomb(DISTANCE_CODE)?;
            if distance >= u64::from(BASELINE_WINDOW - 1) {
                return Err(WireError::OutOfRange.into());
            }
            Content::Against { distance: distance as u32 + 1 }
        } else if r.flag()? {
            Content::Retired
        } else {
            Content::Absolute
        };
        let sequence = r.pull(SEQUENCE_BITS)? as u8;
        Ok(Self { entity, epoch, content, sequence, age_ticks })
    }
}

/// The part of a record's head that depends on the datagram, as one code and its length; none if that is longer than 48 bits.
#[inline]
pub(crate) fn own_code(entity: EntityId, before: Option<EntityId>, age_ticks: u64) -> Option<(u64, u32)> {
    let (id, n) = golomb_code(zigzag(i64::from(entity.0) - expected_id(before)), ID_CODE)?;
    let (age, m) = golomb_code(age_ticks, AGE_CODE)?;
    (n + m <= 48).then(|| (id | age << n, n + m))
}

/// The low bits of a vector's number that travel.
pub(crate) fn sequence_of(number: u32) -> u8 {
    (number % BASELINE_WINDOW) as u8
}

/// One datagram received, as a receiver reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiptEntry {
    /// The datagram's number, low 16 bits.
    pub number: u16,
    /// The datagram's nonce.
    pub nonce: u16,
    /// Whether every vector in it was taken. If not, the sender must not code against any of them.
    pub complete: bool,
    /// Reception less send stamp, by the receiver's clock.
    pub delay: Duration,
}

/// The head of a datagram with receipts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiptsHeader {
    /// Of the datagrams reported.
    pub stream: u16,
    /// Counts the receipts to this sender, low 16 bits.
    pub number: u16,
    /// When it left, by the receiver's clock.
    pub sent: GlobalTime,
}

impl ReceiptsHeader {
    /// Writes it at the start of a datagram.
    pub fn emit(&self, w: &mut BitWriter<'_>) -> Result<(), Full> {
        start(KIND_RECEIPTS, w)?;
        w.push(u64::from(self.stream), 16)?;
        w.push(u64::from(self.number), 16)?;
        w.push(self.sent.as_nanos() as u64, 64)
    }

    /// Reads it; the entries follow.
    pub fn parse(r: &mut BitReader<'_>) -> Result<Self, DatagramError> {
        expect(KIND_RECEIPTS, r)?;
        let stream = r.pull(16)? as u16;
        let number = r.pull(16)? as u16;
        Ok(Self { stream, number, sent: GlobalTime::from_nanos(r.pull(64)? as i64) })
    }
}

impl ReceiptEntry {
    /// Writes it; `before` is the number of the entry before it in the same datagram.
    pub fn emit(&self, before: Option<u16>, w: &mut BitWriter<'_>) -> Result<(), Full> {
        match before {
            None => w.push(u64::from(self.number), 16)?,
            // Neighbours follow each other: the usual step of one costs two bits.
            Some(before) => {
                let step = self.number.wrapping_sub(before.wrapping_add(1)) as i16;
                w.signed_exp_golomb(i64::from(step), NUMBER_CODE)?;
            }
        }
        w.push(u64::from(self.nonce), 16)?;
        w.flag(self.complete)?;
        w.signed_exp_golomb(self.delay.as_nanos(), NANOS_CODE)
    }

    /// Reads it.
    pub fn parse(before: Option<u16>, r: &mut BitReader<'_>) -> Result<Self, DatagramError> {
        let number = match before {
            None => r.pull(16)? as u16,
            Some(before) => {
                let step = i16::try_from(r.signed_exp_golomb(NUMBER_CODE)?).map_err(|_| WireError::OutOfRange)?;
                before.wrapping_add(1).wrapping_add(step as u16)
            }
        };
        let nonce = r.pull(16)? as u16;
        let complete = r.flag()?;
        Ok(Self { number, nonce, complete, delay: Duration::from_nanos(r.signed_exp_golomb(NANOS_CODE)?) })
    }
}

/// The whole number whose low 16 bits are `low` and that is nearest to `expected`.
pub(crate) fn widen(low: u16, expected: u64) -> u64 {
    let step = low.wrapping_sub(expected as u16) as i16;
    expected.saturating_add_signed(i64::from(step))
}

/// Only padding may be left: fewer than eight bits, all zero.
pub(crate) fn end(r: &mut BitReader<'_>) -> Result<(), DatagramError> {
    let left = r.remaining_bits();
    if left >= 8 || r.pull(left as u32)? != 0 {
        return Err(WireError::NotCanonical.into());
    }
    Ok(())
}

fn start(kind: u8, w: &mut BitWriter<'_>) -> Result<(), Full> {
    w.push(u64::from(kind), 8)?;
    w.push(u64::from(VERSION), 8)
}

fn expect(kind: u8, r: &mut BitReader<'_>) -> Result<(), DatagramError> {
    if r.remaining_bits() == 0 {
        return Err(DatagramError::Empty);
    }
    let first = r.pull(8)? as u8;
    if first != kind {
        return Err(DatagramError::UnknownKind(first));
    }
    match r.pull(8)? as u8 {
        VERSION => Ok(()),
        theirs => Err(DatagramError::Version { theirs }),
    }
}

fn expected_id(before: Option<EntityId>) -> i64 {
    before.map_or(0, |id| i64::from(id.0) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn content() -> impl Strategy<Value = Content> {
        prop_oneof![
            Just(Content::Absolute),
            Just(Content::Retired),
            (1..BASELINE_WINDOW).prop_map(|distance| Content::Against { distance }),
        ]
    }

    proptest! {
        #[test]
        fn headers_and_records_survive(
            fingerprint: u32, number: u16, nonce: u16, sent: i64,
            ack in prop::option::of((any::<u16>(), 0..i64::MAX)),
            records in prop::collection::vec((any::<u32>(), any::<u32>(), content(), 0..32u8, any::<u64>()), 0..20),
        ) {
            let header = VectorsHeader {
                fingerprint, stream: nonce ^ number, number, nonce, sent: GlobalTime::from_nanos(sent),
                acknowledged: ack.map(|(receipt, age)| Acknowledged { receipt, age: Duration::from_nanos(age) }),
            };
            let mut buffer = [0; 2048];
            let mut w = BitWriter::new(&mut buffer);
            header.emit(&mut w).unwrap();
            let mut before = None;
            let heads: std::vec::Vec<_> = records.into_iter().map(|(id, epoch, content, sequence, age)| {
                RecordHead { entity: EntityId(id), epoch, content, sequence, age_ticks: age >> 2 }
            }).collect();
            for head in &heads {
                let start = w.len_bits();
                head.emit(before, &mut w).unwrap();
                prop_assert!(w.len_bits() - start >= LEAST_RECORD_BITS);
                before = Some(head.entity);
            }
            let mut r = BitReader::new(w.as_bytes());
            prop_assert_eq!(VectorsHeader::parse(&mut r).unwrap(), header);
            let mut before = None;
            for head in &heads {
                prop_assert_eq!(RecordHead::parse(before, &mut r).unwrap(), *head);
                before = Some(head.entity);
            }
            prop_assert!(end(&mut r).is_ok());
        }

        #[test]
        fn receipts_survive(
            number: u16, sent: i64, entries in prop::collection::vec((any::<u16>(), any::<u16>(), any::<i32>()), 1..20),
        ) {
            let header = ReceiptsHeader { stream: number ^ 7, number, sent: GlobalTime::from_nanos(sent) };
            let mut buffer = [0; 2048];
            let mut w = BitWriter::new(&mut buffer);
            header.emit(&mut w).unwrap();
            let mut before = None;
            for (number, nonce, delay) in &entries {
                let start = w.len_bits();
                let entry = ReceiptEntry {
                    number: *number, nonce: *nonce, complete: nonce % 3 == 0, delay: Duration::from_nanos(i64::from(*delay) * 1000),
                };
                entry.emit(before, &mut w).unwrap();
                prop_assert!(w.len_bits() - start >= LEAST_ENTRY_BITS);
                before = Some(*number);
            }
            let mut r = BitReader::new(w.as_bytes());
            prop_assert_eq!(ReceiptsHeader::parse(&mut r).unwrap(), header);
            let mut before = None;
            for (number, nonce, delay) in entries {
                let entry = ReceiptEntry::parse(before, &mut r).unwrap();
                prop_assert_eq!((entry.number, entry.nonce, entry.complete), (number, nonce, nonce % 3 == 0));
                prop_assert_eq!(entry.delay, Duration::from_nanos(i64::from(delay) * 1000));
                before = Some(number);
            }
        }

        #[test]
        fn widening_finds_the_number_within_half_the_range(expected in 40_000u64..u64::MAX / 2, off in -32_768i64..32_767) {
            let number = expected.wrapping_add_signed(off);
            prop_assert_eq!(widen(number as u16, expected), number);
        }

        #[test]
        fn hostile_bytes_are_refused_not_fatal(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = VectorsHeader::parse(&mut BitReader::new(&bytes));
            let _ = RecordHead::parse(None, &mut BitReader::new(&bytes));
            let _ = ReceiptsHeader::parse(&mut BitReader::new(&bytes));
            let _ = ReceiptEntry::parse(Some(3), &mut BitReader::new(&bytes));
            let _ = Acknowledged::parse_alone(&mut BitReader::new(&bytes));
        }
    }
}
