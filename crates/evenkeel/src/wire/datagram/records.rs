//! Records: what a datagram says of one entity.

use super::DatagramError;
use crate::ids::EntityId;
use crate::wire::bits::{golomb_code, unzigzag, zigzag};
use crate::wire::quantised::{Form, Quantised};
use crate::wire::{BitReader, BitWriter, Format, Full, WireError, emit_absolute, emit_against, parse_body};

/// No record is shorter than this, so fewer bits than this at the end of a datagram are padding.
pub(crate) const LEAST_RECORD_BITS: usize = 8;

/// Exponents of the exponential-Golomb codes, chosen for what is common: ids of the same host, one after the other, or the first of the
/// next host; the first owner; a baseline of a quarter of a second.
const HIGH_CODE: u32 = 0;
const LOW_CODE: u32 = 1;
const EPOCH_CODE: u32 = 0;
const SLOT_CODE: u32 = 5;

/// Baselines are named by when they were generated, to so many nanoseconds.
const SLOT_NANOS: i64 = 8_000_000;

/// How many ticks make a slot: vectors are told apart by the slot in which they were generated.
pub fn slot_ticks(format: &Format) -> i64 {
    (SLOT_NANOS / format.tick_nanos()).max(1)
}

/// What a record says about its entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// This is how it moves.
    Vector(Quantised),
    /// It is gone, or no longer this receiver's business, and so are its vectors up to this tick.
    Retired {
        /// That of the last vector there was.
        tick: i64,
    },
}

/// How a record names its baseline: the sender's newest vector of the entity in this epoch and slot, before a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaselineName {
    /// Which entity.
    pub entity: EntityId,
    /// Of which owner.
    pub epoch: u32,
    /// Generated before this tick,
    pub before: i64,
    /// in this slot.
    pub slot: i64,
}

/// One record of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Which entity.
    pub entity: EntityId,
    /// Counts its owners.
    pub epoch: u32,
    /// What is said of it.
    pub content: Content,
}

/// What the next record of a datagram is told apart from: the record before it, and the tick that ages count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The high 16 bits of the last id, and what its low 16 bits would be if the next one followed.
    high: i64,
    next_low: i64,
    age_order: u32,
    base: i64,
}

impl Cursor {
    /// Before the first record of a datagram whose stamp ends in this tick.
    pub fn new(base: i64) -> Self {
        Self { high: 0, next_low: 0, age_order: 0, base }
    }

    /// After a record.
    #[inline]
    pub fn after(self, entity: EntityId, tick: i64) -> Self {
        let age_order = (zigzag(self.base.wrapping_sub(tick)) / 2 + 1).ilog2();
        let (high, low) = halves(entity);
        Self { high, next_low: low + 1, age_order, ..self }
    }
}

/// The part of a record's head that is the same in every datagram to receivers that share a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedHead {
    /// Counts the entity's owners.
    pub epoch: u32,
    /// How many slots before the vector its baseline was generated, if it has one.
    pub against: Option<u64>,
}

impl SharedHead {
    /// The head of a vector with or without a baseline.
    pub fn of(format: &Format, epoch: u32, tick: i64, baseline: Option<&Quantised>) -> Self {
        let slot = |tick: i64| tick.div_euclid(slot_ticks(format));
        Self { epoch, against: baseline.map(|baseline| slot(tick).wrapping_sub(slot(baseline.tick())) as u64) }
    }

    /// Writes it.
    pub fn emit(&self, w: &mut BitWriter<'_>) -> Result<(), Full> {
        w.exp_golomb(u64::from(self.epoch), EPOCH_CODE)?;
        match self.against {
            Some(slots) => {
                w.flag(true)?;
                w.exp_golomb(slots, SLOT_CODE)
            }
            None => w.push(0b00, 2),
        }
    }
}

impl Record {
    /// A vector.
    pub fn vector(entity: EntityId, epoch: u32, quantised: Quantised) -> Self {
        Self { entity, epoch, content: Content::Vector(quantised) }
    }

    /// A farewell.
    pub fn retired(entity: EntityId, epoch: u32, tick: i64) -> Self {
        Self { entity, epoch, content: Content::Retired { tick } }
    }

    /// When the vector, or the last vector of what is gone, was generated.
    pub fn tick(&self) -> i64 {
        match &self.content {
            Content::Vector(quantised) => quantised.tick(),
            Content::Retired { tick } => *tick,
        }
    }

    /// The vector, if it is one.
    pub fn quantised(&self) -> Option<&Quantised> {
        match &self.content {
            Content::Vector(quantised) => Some(quantised),
            Content::Retired { .. } => None,
        }
    }

    /// Writes it; a vector against a baseline if there is one.
    pub fn emit(
        &self,
        format: &Format,
        cursor: Cursor,
        baseline: Option<&Quantised>,
        w: &mut BitWriter<'_>,
    ) -> Result<(), Full> {
        match &self.content {
            Content::Vector(quantised) => {
                emit_vector(format, (self.entity, self.epoch), quantised, cursor, baseline, w)
            }
            Content::Retired { tick } => {
                emit_own(self.entity, *tick, cursor, w)?;
                w.exp_golomb(u64::from(self.epoch), EPOCH_CODE)?;
                w.push(0b010, 3)
            }
        }
    }

    /// Reads it. `baseline` finds a vector by its name.
    pub fn parse<'a>(
        format: &Format,
        cursor: Cursor,
        r: &mut BitReader<'_>,
        baseline: impl FnOnce(BaselineName) -> Option<&'a Quantised>,
    ) -> Result<Self, DatagramError> {
        let entity = parse_id(cursor, r)?;
        let age = r.signed_exp_golomb(cursor.age_order)?;
        let tick = cursor.base.checked_sub(age).ok_or(WireError::OutOfRange)?;
        let epoch = u32::try_from(r.exp_golomb(EPOCH_CODE)?).map_err(|_| WireError::OutOfRange)?;
        if r.flag()? {
            let slots = i64::try_from(r.exp_golomb(SLOT_CODE)?).map_err(|_| WireError::OutOfRange)?;
            let slot = tick.div_euclid(slot_ticks(format)).checked_sub(slots).ok_or(WireError::OutOfRange)?;
            let name = BaselineName { entity, epoch, before: tick, slot };
            let baseline = baseline(name).ok_or(DatagramError::NoBaseline(entity))?;
            return Ok(Self::vector(entity, epoch, parse_body(format, r, tick, Some(baseline))?));
        }
        if !r.flag()? {
            return Ok(Self::vector(entity, epoch, parse_body(format, r, tick, None)?));
        }
        // Long enough not to be taken for padding.
        if r.flag()? { Err(WireError::NotCanonical.into()) } else { Ok(Self::retired(entity, epoch, tick)) }
    }

    /// Stands for everything in it.
    pub(crate) fn digest(&self) -> u64 {
        match &self.content {
            Content::Vector(quantised) => vector_digest(self.entity, self.epoch, quantised),
            Content::Retired { tick } => mix(mix(name(self.entity, self.epoch), *tick as u64), u64::MAX),
        }
    }
}

/// Writes the record of a vector of an entity in an epoch, against a baseline if there is one. The same as
/// [`Record::emit`], for a vector that is stored elsewhere: nothing is copied.
pub fn emit_vector(
    format: &Format,
    (entity, epoch): (EntityId, u32),
    quantised: &Quantised,
    cursor: Cursor,
    baseline: Option<&Quantised>,
    w: &mut BitWriter<'_>,
) -> Result<(), Full> {
    let tick = quantised.tick();
    match own_code(entity, tick, cursor) {
        Some((code, bits)) => w.push(code, bits)?,
        None => emit_own(entity, tick, cursor, w)?,
    }
    SharedHead::of(format, epoch, tick, baseline).emit(w)?;
    match baseline {
        Some(baseline) => emit_against(format, quantised, baseline, w),
        None => emit_absolute(format, quantised, w),
    }
}

/// Stands for all records of a datagram, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Digest(u64);

impl Digest {
    #[inline]
    pub(crate) fn add(&mut self, record: u64) {
        self.0 = mix(self.0, record);
    }

    pub(crate) fn value(self) -> u64 {
        self.0
    }
}

/// Stands for a vector, and for every number in it.
pub(crate) fn vector_digest(entity: EntityId, epoch: u32, q: &Quantised) -> u64 {
    let turn = match q.form {
        Form::None => 0,
        Form::Heading => 2,
        Form::Full => 7,
    };
    let shape = q.kind as u64 | (q.form as u64) << 8 | u64::from(q.law) << 16;
    let head = mix(mix(name(entity, epoch), q.tick as u64), shape);
    let numbers = q.position.iter().chain(&q.course[..q.kind.layout().len()]).chain(&q.turn[..turn]);
    numbers.fold(head, |hash, number| mix(hash, *number as u64))
}

fn name(entity: EntityId, epoch: u32) -> u64 {
    u64::from(entity.0) << 32 | u64::from(epoch)
}

#[inline]
fn mix(hash: u64, word: u64) -> u64 {
    let mixed = (hash.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ mixed >> 29
}

/// Writes the part of a record's head that depends on the datagram: which entity after which, and how long before.
pub(crate) fn emit_own(entity: EntityId, tick: i64, cursor: Cursor, w: &mut BitWriter<'_>) -> Result<(), Full> {
    let (high, low) = halves(entity);
    w.signed_exp_golomb(high - cursor.high, HIGH_CODE)?;
    w.exp_golomb(low_number(high, low, cursor), LOW_CODE)?;
    w.signed_exp_golomb(cursor.base.wrapping_sub(tick), cursor.age_order)
}

/// The two halves of an id. Sessions give each host the ids of one high half.
#[inline]
fn halves(entity: EntityId) -> (i64, i64) {
    (i64::from(entity.0 >> 16), i64::from(entity.0 & 0xFFFF))
}

/// How the low half of an id is told: by its difference, if the high half is as before.
#[inline]
fn low_number(high: i64, low: i64, cursor: Cursor) -> u64 {
    if high == cursor.high { zigzag(low - cursor.next_low) } else { low as u64 }
}

fn parse_id(cursor: Cursor, r: &mut BitReader<'_>) -> Result<EntityId, WireError> {
    let half = |number: Option<i64>| number.and_then(|n| u16::try_from(n).ok()).ok_or(WireError::OutOfRange);
    let high = half(cursor.high.checked_add(r.signed_exp_golomb(HIGH_CODE)?))?;
    let low = r.exp_golomb(LOW_CODE)?;
    let low = if i64::from(high) == cursor.high {
        half(cursor.next_low.checked_add(unzigzag(low)))?
    } else {
        half(i64::try_from(low).ok())?
    };
    Ok(EntityId(u32::from(high) << 16 | u32::from(low)))
}

/// The same as one code and its length; none if that is longer than 48 bits.
#[inline]
pub(crate) fn own_code(entity: EntityId, tick: i64, cursor: Cursor) -> Option<(u64, u32)> {
    let (high, low) = halves(entity);
    let (host, h) = golomb_code(zigzag(high - cursor.high), HIGH_CODE)?;
    let (id, n) = golomb_code(low_number(high, low, cursor), LOW_CODE)?;
    let (age, m) = golomb_code(zigzag(cursor.base.wrapping_sub(tick)), cursor.age_order)?;
    (h + n + m <= 48).then(|| (host | id << h | age << (h + n), h + n + m))
}

#[cfg(test)]
mod tests {
    use super::super::end;
    use super::*;
    use crate::wire::samples;
    use crate::{GlobalTime, Motion};
    use proptest::prelude::*;
    use std::vec::Vec;

    fn quantised(format: &Format, motion: &Motion, tick: i64) -> Option<Quantised> {
        format.quantise(motion, format.time_of(tick)).ok()
    }

    /// Any, and such as follow each other.
    fn ids() -> impl Strategy<Value = u32> {
        prop_oneof![any::<u32>(), 0..9u32, (0..5u32, 0..3u32).prop_map(|(host, n)| host << 16 | n), Just(u32::MAX)]
    }

    proptest! {
        #[test]
        fn records_survive(
            format in samples::format(), base in 100_000i64..1 << 40,
            records in prop::collection::vec(
                (ids(), 0..9u32, samples::everyday(), -3..40_000i64, 0..3u32, samples::everyday(), 1..30_000i64), 0..12),
        ) {
            let mut buffer = std::vec![0; 8192];
            let mut w = BitWriter::new(&mut buffer);
            let mut cursor = Cursor::new(base);
            let mut written: Vec<(Record, Option<Quantised>)> = Vec::new();
            for (id, epoch, motion, age, kind, before, older) in records {
                let Some(q) = quantised(&format, &motion, base - age) else { continue };
                let baseline = quantised(&format, &before, base - age - older).filter(|_| kind == 1);
                let record = match kind {
                    2 => Record::retired(EntityId(id), epoch, base - age),
                    _ => Record::vector(EntityId(id), epoch, q),
                };
                let start = w.len_bits();
                record.emit(&format, cursor, baseline.as_ref(), &mut w).unwrap();
                prop_assert!(w.len_bits() - start >= LEAST_RECORD_BITS);
                cursor = cursor.after(record.entity, record.tick());
                written.push((record, baseline));
            }
            let mut r = BitReader::new(w.as_bytes());
            let mut cursor = Cursor::new(base);
            for (record, baseline) in &written {
                let find = |name: BaselineName| {
                    let BaselineName { entity, epoch, before, slot } = name;
                    assert_eq!((entity, epoch, before), (record.entity, record.epoch, record.tick()));
                    let baseline = baseline.as_ref()?;
                    assert_eq!(slot, baseline.tick().div_euclid(slot_ticks(&format)));
                    Some(baseline)
                };
                let read = Record::parse(&format, cursor, &mut r, find).unwrap();
                prop_assert_eq!(&read, record);
                prop_assert_eq!(read.digest(), record.digest());
                cursor = cursor.after(record.entity, record.tick());
            }
            prop_assert!(r.remaining_bits() < LEAST_RECORD_BITS && end(&mut r).is_ok());
        }

        #[test]
        fn hostile_bytes_are_refused_not_fatal(bytes in prop::collection::vec(any::<u8>(), 0..100), base: i64) {
            let format = Format::default();
            let old = quantised(&format, &Motion::stationary(crate::Vec3::ZERO), 0).unwrap();
            let _ = Record::parse(&format, Cursor::new(base), &mut BitReader::new(&bytes), |_| Some(&old));
            let _ = Record::parse(&format, Cursor::new(base), &mut BitReader::new(&bytes), |_| None);
        }
    }

    /// A digest stands for every number: changing any of them changes it.
    #[test]
    fn a_digest_tells_vectors_apart() {
        let format = Format::default();
        let motion = Motion::circular(crate::Vec3::new(1.0, 2.0, 3.0), 0.5, 20.0, 0.25);
        let q = format.quantise(&motion, GlobalTime::from_millis(5)).unwrap();
        let mut others = std::vec![q];
        for i in 0..3 {
            let mut other = q;
            other.position[i] += 1;
            others.push(other);
        }
        for i in 0..2 {
            let (mut other, mut turned) = (q, q);
            other.course[i] += 1;
            turned.turn[i] += 1;
            others.extend([other, turned]);
        }
        others.push(Quantised { tick: q.tick + 1, ..q });
        let mut digests: Vec<_> = others.iter().map(|q| vector_digest(EntityId(1), 0, q)).collect();
        digests.extend([vector_digest(EntityId(2), 0, &q), vector_digest(EntityId(1), 1, &q)]);
        digests.push(Record::retired(EntityId(1), 0, q.tick()).digest());
        let count = digests.len();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), count);
    }
}
