//! Receipts, and their acknowledgement.

use super::{DatagramError, KIND_ACKNOWLEDGEMENT, KIND_RECEIPTS, Stamp, Stream, end, expect, start};
use crate::time::Duration;
use crate::wire::{BitReader, BitWriter, Full, WireError};
use core::hash::Hasher;
use siphasher::sip::SipHasher13;

/// No receipt entry is shorter than this, so fewer bits than this at the end of a receipt are padding.
pub(crate) const LEAST_ENTRY_BITS: usize = 1 + 1 + 6;

/// Exponents of the exponential-Golomb codes, chosen for what is common: receipts acknowledged within some milliseconds and sent
/// within some; delays of some tens of milliseconds, each much like the one before.
const AGE_CODE: u32 = 4;
const HELD_CODE: u32 = 8;
const NUMBER_CODE: u32 = 0;
const FIRST_DELAY_CODE: u32 = 12;
const DELAY_CODE: u32 = 5;

/// The receipt that a sender has seen last, and how long ago that was when the datagram left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledged {
    /// The receipt's number, low 8 bits.
    pub receipt: u8,
    /// How long the sender has had it; on the wire in units of [`Acknowledged::UNIT`], rounded.
    pub age: Duration,
}

impl Acknowledged {
    /// The unit of its age on the wire: 2^19 ns, about half a millisecond.
    pub const UNIT: Duration = Duration::from_nanos(1 << 19);

    pub(super) fn emit(&self, w: &mut BitWriter<'_>) -> Result<(), Full> {
        let half = Self::UNIT.as_nanos() / 2;
        let units = self.age.as_nanos().max(0).saturating_add(half) / Self::UNIT.as_nanos();
        w.push(u64::from(self.receipt), 8)?;
        w.exp_golomb(units as u64, AGE_CODE)
    }

    pub(super) fn parse(r: &mut BitReader<'_>) -> Result<Self, DatagramError> {
        let receipt = r.pull(8)? as u8;
        let units = r.exp_golomb(AGE_CODE)?;
        if units > i64::MAX as u64 / Self::UNIT.as_nanos() as u64 {
            return Err(WireError::OutOfRange.into());
        }
        Ok(Self { receipt, age: Self::UNIT * units as i64 })
    }

    /// Writes a datagram that carries nothing else, in a stream.
    pub fn emit_alone(&self, stream: u16, w: &mut BitWriter<'_>) -> Result<(), Full> {
        start(KIND_ACKNOWLEDGEMENT, w)?;
        w.push(u64::from(stream), 16)?;
        self.emit(w)
    }

    /// Reads a datagram that carries nothing else, and the tag of its stream.
    pub fn parse_alone(r: &mut BitReader<'_>) -> Result<(u16, Self), DatagramError> {
        expect(&[KIND_ACKNOWLEDGEMENT], r)?;
        let stream = r.pull(16)? as u16;
        let acknowledged = Self::parse(r)?;
        end(r)?;
        Ok((stream, acknowledged))
    }
}

/// What a receiver did with a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Taken {
    /// It took every record, so that later vectors may be coded against these.
    All,
    /// It understood them, but some were not the sender's to write, or of entities that are gone: nothing may be coded against any
    /// of them.
    Some,
    /// It could not decode them, because the two ends have come apart: all must be said again, each by itself.
    None,
}

/// One datagram received, as a receiver reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiptEntry {
    /// The datagram's number, low 16 bits.
    pub number: u16,
    /// What became of it.
    pub taken: Taken,
    /// From the datagram's stamp to the stamp of its arrival, by the receiver's clock, in units of [`Stamp::UNIT`].
    pub delay: i64,
}

/// The head of a datagram with receipts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiptsHeader {
    /// The low 8 bits of the [tag](super::Stream::tag) of the datagrams' stream.
    pub stream: u8,
    /// Counts the receipts to this sender, low 8 bits.
    pub number: u8,
    /// Stands for how the receiver places things at present: [`Agreement::terms`](crate::wire::Agreement::terms).
    pub terms: u8,
    /// Shows that every datagram it says was decoded has been seen: see [`Proof`].
    pub proof: u16,
    /// From the stamp of the last entry's arrival to the stamp of the receipt, in units of [`Stamp::UNIT`].
    pub held: u64,
}

impl ReceiptsHeader {
    /// Writes it at the start of a datagram.
    pub fn emit(&self, w: &mut BitWriter<'_>) -> Result<(), Full> {
        start(KIND_RECEIPTS, w)?;
        w.push(u64::from(self.stream), 8)?;
        w.push(u64::from(self.number), 8)?;
        w.push(u64::from(self.terms), 8)?;
        w.push(u64::from(self.proof), 16)?;
        w.exp_golomb(self.held, HELD_CODE)
    }

    /// Reads it; the entries follow.
    pub fn parse(r: &mut BitReader<'_>) -> Result<Self, DatagramError> {
        expect(&[KIND_RECEIPTS], r)?;
        let stream = r.pull(8)? as u8;
        let number = r.pull(8)? as u8;
        let terms = r.pull(8)? as u8;
        let proof = r.pull(16)? as u16;
        Ok(Self { stream, number, terms, proof, held: r.exp_golomb(HELD_CODE)? })
    }
}

/// Gathers the nonces of the datagrams that a receipt says were decoded: only a receiver that has seen all of them knows the result.
///
/// A datagram that could not be decoded adds nothing: its nonce may be as wrong as the rest of it.
///
/// ```
/// use evenkeel::wire::datagram::{Proof, Stream, Taken};
/// let stream = Stream { id: 7, agreement: 1 };
/// let proof = |nonce| {
///     let mut proof = Proof::new(&stream);
///     proof.add(Taken::All, nonce);
///     proof.value()
/// };
/// assert_eq!(proof(0x123), proof(0x123));
/// assert_ne!(proof(0x123), proof(0x124));
/// ```
#[derive(Clone, Debug)]
pub struct Proof(SipHasher13);

impl Proof {
    /// Of a receipt without entries.
    pub fn new(stream: &Stream) -> Self {
        Self(SipHasher13::new_with_keys(stream.id, stream.agreement))
    }

    /// The next entry's.
    pub fn add(&mut self, taken: Taken, nonce: u16) {
        if taken != Taken::None {
            self.0.write_u16(nonce);
        }
    }

    /// What the receipt carries.
    pub fn value(&self) -> u16 {
        self.0.finish() as u16
    }
}

impl ReceiptEntry {
    /// How long it took, by the receiver's clock.
    pub fn delay(&self) -> Duration {
        Duration::from_nanos(self.delay.saturating_mul(Stamp::UNIT.as_nanos()))
    }

    /// Writes it after the entry before it in the same receipt, oldest first.
    pub fn emit(&self, before: Option<&Self>, w: &mut BitWriter<'_>) -> Result<(), Full> {
        match before {
            None => w.push(u64::from(self.number), 16)?,
            // Neighbours follow each other: the usual step of one costs a bit.
            Some(before) => {
                let step = self.number.wrapping_sub(before.number.wrapping_add(1)) as i16;
                w.signed_exp_golomb(i64::from(step), NUMBER_CODE)?;
            }
        }
        match self.taken {
            Taken::All => w.push(0b0, 1)?,
            Taken::Some => w.push(0b01, 2)?,
            Taken::None => w.push(0b11, 2)?,
        }
        match before {
            None => w.signed_exp_golomb(self.delay, FIRST_DELAY_CODE),
            Some(before) => w.signed_exp_golomb(self.delay.wrapping_sub(before.delay), DELAY_CODE),
        }
    }

    /// Reads it after the entry before it.
    pub fn parse(before: Option<&Self>, r: &mut BitReader<'_>) -> Result<Self, DatagramError> {
        let number = match before {
            None => r.pull(16)? as u16,
            Some(before) => {
                let step = i16::try_from(r.signed_exp_golomb(NUMBER_CODE)?).map_err(|_| WireError::OutOfRange)?;
                before.number.wrapping_add(1).wrapping_add(step as u16)
            }
        };
        let taken = match (r.flag()?, ()) {
            (false, ()) => Taken::All,
            (true, ()) if r.flag()? => Taken::None,
            (true, ()) => Taken::Some,
        };
        let delay = match before {
            None => r.signed_exp_golomb(FIRST_DELAY_CODE)?,
            Some(before) => before.delay.wrapping_add(r.signed_exp_golomb(DELAY_CODE)?),
        };
        Ok(Self { number, taken, delay })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    proptest! {
        #[test]
        fn receipts_survive(
            stream: u8, number: u8, terms: u8, proof: u16, held: u64,
            entries in prop::collection::vec((any::<u16>(), 0..3usize, any::<i64>()), 1..20),
        ) {
            let header = ReceiptsHeader { stream, number, terms, proof, held };
            let mut buffer = [0; 2048];
            let mut w = BitWriter::new(&mut buffer);
            header.emit(&mut w).unwrap();
            let taken = |kind: usize| [Taken::All, Taken::Some, Taken::None][kind];
            let entries: Vec<_> = entries.into_iter()
                .map(|(number, kind, delay)| ReceiptEntry { number, taken: taken(kind), delay: delay >> 1 })
                .collect();
            let mut before = None;
            for entry in &entries {
                let start = w.len_bits();
                entry.emit(before, &mut w).unwrap();
                prop_assert!(w.len_bits() - start >= LEAST_ENTRY_BITS);
                before = Some(entry);
            }
            let mut r = BitReader::new(w.as_bytes());
            prop_assert_eq!(ReceiptsHeader::parse(&mut r).unwrap(), header);
            let mut read: Vec<ReceiptEntry> = Vec::new();
            while r.remaining_bits() >= LEAST_ENTRY_BITS {
                read.push(ReceiptEntry::parse(read.last(), &mut r).unwrap());
            }
            prop_assert_eq!(read, entries);
            prop_assert!(end(&mut r).is_ok());
        }

        #[test]
        fn an_acknowledgement_survives_to_half_a_unit(stream: u16, receipt: u8, age in 0..i64::MAX) {
            let said = Acknowledged { receipt, age: Duration::from_nanos(age) };
            let mut buffer = [0; 64];
            let mut w = BitWriter::new(&mut buffer);
            said.emit_alone(stream, &mut w).unwrap();
            let (tag, read) = Acknowledged::parse_alone(&mut BitReader::new(w.as_bytes())).unwrap();
            prop_assert_eq!((tag, read.receipt), (stream, receipt));
            prop_assert!((read.age - said.age).abs() <= Acknowledged::UNIT);
        }

        #[test]
        fn hostile_bytes_are_refused_not_fatal(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let entry = ReceiptEntry { number: 3, taken: Taken::All, delay: i64::MIN };
            let _ = ReceiptsHeader::parse(&mut BitReader::new(&bytes));
            let _ = ReceiptEntry::parse(Some(&entry), &mut BitReader::new(&bytes));
            let _ = Acknowledged::parse_alone(&mut BitReader::new(&bytes));
        }
    }
}
