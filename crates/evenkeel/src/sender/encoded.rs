//! A vector as it is written, kept for all receivers that share its baseline.

use crate::ids::EntityId;
use crate::ledger::Vector;
use crate::time::GlobalTime;
use crate::wire::datagram::{Content, RecordHead, sequence_of};
use crate::wire::{BODY_BYTES, BitWriter, Body, Format, Full};

/// The shared part of a record's head is no longer than this: an epoch, what follows, a distance, a sequence.
const HEAD_BYTES: usize = 16;

/// Everything of a record that does not depend on the datagram it travels in.
pub(super) struct Encoded {
    pub(super) number: u32,
    /// The number of the vector it is to be coded against; 0 for none.
    pub(super) baseline: u32,
    pub(super) tick: i64,
    pub(super) generated: GlobalTime,
    len_bits: usize,
    bits: [u8; HEAD_BYTES + BODY_BYTES],
}

impl Encoded {
    /// Encodes a vector against a baseline, or by itself where that is shorter.
    pub(super) fn new(format: &Format, vector: &Vector, baseline: Option<&Vector>, epoch: u32) -> Self {
        let body = Body::smallest(format, vector.quantised(), baseline.map(Vector::quantised));
        let content = match baseline {
            Some(baseline) if body.against_baseline() => Content::Against { distance: vector.number - baseline.number },
            _ => Content::Absolute,
        };
        let sequence = sequence_of(vector.number);
        let head = RecordHead { entity: EntityId(0), epoch, content, sequence, age_ticks: 0 };
        let mut bits = [0; HEAD_BYTES + BODY_BYTES];
        let mut w = BitWriter::new(&mut bits);
        let written = head.emit_shared(&mut w).and_then(|()| body.copy_to(&mut w));
        debug_assert!(written.is_ok(), "every record fits");
        Self {
            number: vector.number,
            baseline: baseline.map_or(0, |b| b.number),
            tick: vector.quantised().tick(),
            generated: vector.generated,
            len_bits: w.len_bits(),
            bits,
        }
    }

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
        w.copy(&self.bits, self.len_bits)
    }
}
