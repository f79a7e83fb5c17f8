//! Vectors as they are written, kept for all receivers that share their baselines.

use crate::ids::{EntityId, VectorNumber};
use crate::ledger::{EntityBook, Vector};
use crate::wire::datagram::{Cursor, SharedHead, emit_own, own_code, slot_ticks, vector_digest};
use crate::wire::{BODY_BYTES, BitWriter, Format, Full, emit_absolute, emit_against};
use alloc::vec::Vec;

/// Encodings kept per entity: receivers with different round trips have different baselines.
const ENCODINGS: usize = 8;

/// The shared part of a record's head is no longer than this: an epoch, what follows, the age of a baseline.
const HEAD_BYTES: usize = 32;

/// All encodings of an entity usually fit in this.
const USUAL_BYTES: usize = 32 * ENCODINGS;

/// A vector of an entity, nearly always its newest, as encoded against the baselines in use: everything of its records that does not
/// depend on the datagram they travel in.
#[derive(Default)]
pub(super) struct Encodings {
    /// Which vector.
    number: Option<VectorNumber>,
    count: u16,
    /// How many bits its body takes by itself.
    body_bits: u16,
    tick: i64,
    digest: u64,
    known: [Encoded; ENCODINGS],
    bits: Vec<u8>,
}

#[derive(Clone, Copy, Default)]
struct Encoded {
    /// The vector it is to be coded against.
    baseline: Option<VectorNumber>,
    /// Where its bits begin, in bytes, and how many they are.
    at: u16,
    len_bits: u16,
}

/// A record ready to be written.
pub(super) struct Record<'a> {
    pub(super) tick: i64,
    pub(super) digest: u64,
    len_bits: usize,
    bits: &'a [u8],
}

impl Encodings {
    /// Forgets all: there is a newer vector.
    pub(super) fn clear(&mut self) {
        (self.number, self.count) = (None, 0);
        self.bits.clear();
    }

    /// A vector against a baseline, or by itself where that is shorter; encoded once for all receivers that share both. None if the
    /// vector is gone.
    #[inline]
    pub(super) fn get(
        &mut self,
        format: &Format,
        book: &EntityBook,
        number: VectorNumber,
        baseline: Option<VectorNumber>,
    ) -> Option<Record<'_>> {
        let known = self.known[..self.count as usize].iter().find(|e| e.baseline == baseline);
        let Encoded { at, len_bits, .. } = match known {
            Some(known) if self.number == Some(number) => *known,
            _ => self.encode(format, book, number, baseline)?,
        };
        let (len_bits, bits) = (usize::from(len_bits), &self.bits[usize::from(at)..]);
        Some(Record { tick: self.tick, digest: self.digest, len_bits, bits })
    }

    fn encode(
        &mut self,
        format: &Format,
        book: &EntityBook,
        number: VectorNumber,
        baseline: Option<VectorNumber>,
    ) -> Option<Encoded> {
        let vector = book.exported.get(number)?;
        if self.number != Some(number) || self.count as usize == ENCODINGS {
            self.clear();
            (self.number, self.tick) = (Some(number), vector.quantised().tick());
            self.digest = vector_digest(book.id?, book.epoch, vector.quantised());
            // The first is always the one by itself: the others must be shorter.
            self.write(format, vector, None, book.epoch);
        }
        match baseline.and_then(|baseline| book.exported.get(baseline)) {
            Some(old) if is_unique(format, book, old, number) => self.write(format, vector, Some(old), book.epoch),
            Some(_) => self.keep(Encoded { baseline, ..self.known[0] }),
            None => {}
        }
        self.known[..self.count as usize].last().copied()
    }

    fn keep(&mut self, encoded: Encoded) {
        self.known[self.count as usize] = encoded;
        self.count += 1;
    }

    /// Encodes the vector by itself or against a baseline, which is kept if its body is shorter.
    fn write(&mut self, format: &Format, vector: &Vector, baseline: Option<&Vector>, epoch: u32) {
        let head = SharedHead::of(format, epoch, vector.quantised().tick(), baseline.map(Vector::quantised));
        let mut bits = [0; HEAD_BYTES + BODY_BYTES];
        let mut w = BitWriter::new(&mut bits);
        let mut written = head.emit(&mut w);
        let head_bits = w.len_bits();
        written = written.and_then(|()| match baseline {
            Some(baseline) => emit_against(format, vector.quantised(), baseline.quantised(), &mut w),
            None => emit_absolute(format, vector.quantised(), &mut w),
        });
        debug_assert!(written.is_ok(), "every record fits");
        let baseline = baseline.map(|b| b.number);
        let body_bits = w.len_bits() - head_bits;
        if baseline.is_none() {
            self.body_bits = body_bits as u16;
        }
        let encoded = if baseline.is_some() && body_bits >= usize::from(self.body_bits) {
            Encoded { baseline, ..self.known[0] }
        } else {
            let at = self.bits.len() as u16;
            if self.bits.capacity() == 0 {
                self.bits.reserve(USUAL_BYTES);
            }
            let len_bits = w.len_bits();
            // Whole words are copied fastest.
            self.bits.extend_from_slice(&bits[..len_bits.div_ceil(64) * 8]);
            Encoded { baseline, at, len_bits: len_bits as u16 }
        };
        self.keep(encoded);
    }
}

/// Whether the slot of a baseline's generation says which vector it is: no other one of before this number was generated in the
/// same slot after it.
fn is_unique(format: &Format, book: &EntityBook, baseline: &Vector, number: VectorNumber) -> bool {
    let slot = |vector: &Vector| vector.quantised().tick().div_euclid(slot_ticks(format));
    let next = book.exported.get(baseline.number.next()).filter(|next| next.number < number);
    next.is_none_or(|next| slot(next) != slot(baseline))
}

impl Record<'_> {
    /// Writes the record of an entity after another one in the same datagram.
    #[inline]
    pub(super) fn emit(&self, entity: EntityId, cursor: Cursor, w: &mut BitWriter<'_>) -> Result<(), Full> {
        if let Some((own, own_bits)) = own_code(entity, self.tick, cursor) {
            return w.push_and_copy(own, own_bits, self.bits, self.len_bits);
        }
        emit_own(entity, self.tick, cursor, w)?;
        w.copy(self.bits, self.len_bits)
    }
}
