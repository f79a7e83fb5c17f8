//! Vectors as they are written, kept for all receivers that share their baselines.

use crate::ids::EntityId;
use crate::ledger::{EntityBook, Vector};
use crate::time::GlobalTime;
use crate::wire::datagram::{Content, RecordHead, sequence_of};
use crate::wire::{BODY_BYTES, BitWriter, Format, Full, emit_absolute, emit_against};
use alloc::vec::Vec;

/// Encodings kept per entity: receivers with different round trips have different baselines.
const ENCODINGS: usize = 8;

/// The shared part of a record's head is no longer than this: an epoch, what follows, a distance, a sequence.
const HEAD_BYTES: usize = 16;

/// All encodings of an entity usually fit in this.
const USUAL_BYTES: usize = 32 * ENCODINGS;

/// The newest vector of an entity as encoded against the baselines in use.
#[derive(Default)]
pub(super) struct Encodings {
    known: Vec<Encoded>,
    bits: Vec<u8>,
}

/// Everything of a record that does not depend on the datagram it travels in.
#[derive(Clone, Copy)]
struct Encoded {
    number: u32,
    /// The number of the vector it is to be coded against; 0 for none.
    baseline: u32,
    tick: i64,
    generated: GlobalTime,
    /// Where its bits begin, in bytes.
    at: u32,
    len_bits: u16,
    /// How many of them are the head's.
    head_bits: u16,
}

/// A record ready to be written.
pub(super) struct Record<'a> {
    pub(super) tick: i64,
    pub(super) generated: GlobalTime,
    len_bits: usize,
    bits: &'a [u8],
}

impl Encodings {
    /// Forgets all: there is a newer vector.
    pub(super) fn clear(&mut self) {
        self.known.clear();
        self.bits.clear();
    }

    /// A vector against a baseline, or by itself where that is shorter; encoded once for all receivers that share both. None if the
    /// vector is gone.
    pub(super) fn get(
        &mut self,
        format: &Format,
        book: &EntityBook,
        number: u32,
        baseline: u32,
    ) -> Option<Record<'_>> {
        let known = self.known.iter().find(|e| e.number == number && e.baseline == baseline).copied();
        let Encoded { tick, generated, at, len_bits, .. } = match known {
            Some(known) => known,
            None => self.encode(format, book, number, baseline)?,
        };
        Some(Record { tick, generated, len_bits: usize::from(len_bits), bits: &self.bits[at as usize..] })
    }

    fn encode(&mut self, format: &Format, book: &EntityBook, number: u32, baseline: u32) -> Option<Encoded> {
        let vector = book.exported.get(number)?;
        if self.known.len() + 2 > ENCODINGS {
            self.clear();
        }
        let alone = self.known.iter().find(|e| e.number == number && e.baseline == 0).copied();
        let alone = alone.unwrap_or_else(|| self.write(format, vector, None, book.epoch));
        let Some(baseline) = book.exported.get(baseline) else { return Some(alone) };
        let against = self.write(format, vector, Some(baseline), book.epoch);
        if against.body_bits() >= alone.body_bits() {
            self.known.pop();
            self.bits.truncate(against.at as usize);
            self.known.push(Encoded { baseline: baseline.number, ..alone });
            return Some(alone);
        }
        Some(against)
    }

    /// Encodes a vector by itself or against a baseline.
    fn write(&mut self, format: &Format, vector: &Vector, baseline: Option<&Vector>, epoch: u32) -> Encoded {
        let distance = baseline.map(|baseline| vector.number - baseline.number);
        let content = distance.map_or(Content::Absolute, |distance| Content::Against { distance });
        let sequence = sequence_of(vector.number);
        let head = RecordHead { entity: EntityId(0), epoch, content, sequence, age_ticks: 0 };
        let mut bits = [0; HEAD_BYTES + BODY_BYTES];
        let mut w = BitWriter::new(&mut bits);
        let mut written = head.emit_shared(&mut w);
        let head_bits = w.len_bits() as u16;
        written = written.and_then(|()| match baseline {
            Some(baseline) => emit_against(format, vector.quantised(), baseline.quantised(), &mut w),
            None => emit_absolute(format, vector.quantised(), &mut w),
        });
        debug_assert!(written.is_ok(), "every record fits");
        let encoded = Encoded {
            number: vector.number,
            baseline: baseline.map_or(0, |b| b.number),
            tick: vector.quantised().tick(),
            generated: vector.generated,
            at: self.bits.len() as u32,
            len_bits: w.len_bits() as u16,
            head_bits,
        };
        if self.bits.capacity() == 0 {
            self.bits.reserve(USUAL_BYTES);
        }
        self.bits.extend_from_slice(w.as_bytes());
        self.known.push(encoded);
        encoded
    }
}

impl Encoded {
    fn body_bits(&self) -> u16 {
        self.len_bits - self.head_bits
    }
}

impl Record<'_> {
    /// Writes the record of an entity after another one in the same datagram.
    pub(super) fn emit(
        &self,
        entity: EntityId,
        age_ticks: u64,
        before: Option<EntityId>,
        w: &mut BitWriter<'_>,
    ) -> Result<(), Full> {
        let content = Content::Absolute;
        let head = RecordHead { entity, epoch: 0, content, sequence: 0, age_ticks };
        head.emit_own(before, w)?;
        w.copy(self.bits, self.len_bits)
    }
}
