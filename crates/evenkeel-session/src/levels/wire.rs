//! How messages are written. The layout is in the documentation of [`levels`](super).

use super::{Channel, Envelope, Level, LevelError, Party, QUICKEST_WINDOW};
use crate::protocol::APPLICATION;
use evenkeel::HostId;

const ORDERED: u8 = 0;
pub(super) const UNORDERED: u8 = 1;
const UNRELIABLE: u8 = 2;
const NEWEST: u8 = 3;
const QUICKEST: u8 = 4;
const HEARD: u8 = 5;

/// A party takes so many bytes at most. On its way through the server a message changes its party, and must still fit.
const PARTY: usize = 5;
/// What a datagram has at most besides its message: begin, channel, number and party.
pub(super) const DATAGRAM_OVERHEAD: usize = 2 + 1 + 4 + PARTY;
/// The same for one `Quickest` message: begin, acknowledgement, number of the first, offset, party, length.
pub(super) const QUICKEST_OVERHEAD: usize = 2 + (4 + 1 + 8) + 4 + 1 + PARTY + 2;

/// What has arrived of the other end's `Quickest` messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Acknowledgement {
    /// The first that has not.
    pub(super) expected: u32,
    /// Those after it that have: bit 0 is for the next.
    pub(super) after: u64,
}

/// A datagram of `Quickest` messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Quick<'a> {
    pub(super) acknowledgement: Acknowledgement,
    /// The number from which offsets count.
    pub(super) first: u32,
    pub(super) messages: Vec<QuickMessage<'a>>,
}

/// One of them, where it is in the datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QuickMessage<'a> {
    pub(super) offset: u8,
    party: Party,
    bytes: &'a [u8],
}

impl QuickMessage<'_> {
    pub(super) fn envelope(&self) -> Envelope {
        Envelope { party: self.party, bytes: self.bytes.to_vec() }
    }
}

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Parsed<'a> {
    /// `Ordered` or `Unordered`, with its number.
    Reliable(Level, u32, Envelope),
    Unreliable(Envelope),
    /// The first of those that has not arrived.
    Heard(u32),
    Newest(Channel, u32, Envelope),
    Quickest(Quick<'a>),
}

/// A message at any level but `Quickest`; `Unreliable` ones have no number.
pub(super) fn emit(level: Level, sequence: u32, envelope: &Envelope) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(DATAGRAM_OVERHEAD + envelope.bytes.len());
    bytes.push(APPLICATION);
    match level {
        Level::Ordered | Level::Unordered => {
            bytes.push(if level == Level::Ordered { ORDERED } else { UNORDERED });
            bytes.extend(sequence.to_le_bytes());
        }
        Level::Unreliable | Level::Quickest => bytes.push(UNRELIABLE),
        Level::Newest(Channel(channel)) => {
            bytes.extend([NEWEST, channel]);
            bytes.extend(sequence.to_le_bytes());
        }
    }
    put_party(&mut bytes, envelope.party);
    bytes.extend(&envelope.bytes);
    bytes
}

/// Says which is the first that has not arrived, of those that must.
pub(super) fn emit_heard(expected: u32) -> Vec<u8> {
    [APPLICATION, HEARD].into_iter().chain(expected.to_le_bytes()).collect()
}

/// Whether it is what [`emit_heard`] writes, as far as its first bytes say.
pub(super) fn is_heard(bytes: &[u8]) -> bool {
    bytes.starts_with(&[APPLICATION, HEARD])
}

/// The beginning of a datagram of `Quickest` messages.
pub(super) fn begin_quickest(acknowledgement: Acknowledgement) -> Vec<u8> {
    let Acknowledgement { expected, after } = acknowledgement;
    let mut bytes = vec![APPLICATION, QUICKEST];
    bytes.extend(expected.to_le_bytes());
    let used = 8 - after.leading_zeros() as usize / 8;
    bytes.push(used as u8);
    bytes.extend(&after.to_le_bytes()[..used]);
    bytes
}

/// Adds a message if the datagram is not longer than `end` with it. The first one has the number from which offsets count before it.
pub(super) fn add_quickest(
    bytes: &mut Vec<u8>,
    end: usize,
    first: Option<u32>,
    offset: u8,
    envelope: &Envelope,
) -> bool {
    let before = bytes.len();
    if let Some(first) = first {
        bytes.extend(first.to_le_bytes());
    }
    bytes.push(offset);
    put_party(bytes, envelope.party);
    put_varint(bytes, envelope.bytes.len() as u64);
    let fits = bytes.len() + envelope.bytes.len() <= end;
    if fits {
        bytes.extend(&envelope.bytes);
    } else {
        bytes.truncate(before);
    }
    fits
}

fn put_party(bytes: &mut Vec<u8>, party: Party) {
    put_varint(bytes, if let Party::Host(HostId(host)) = party { u64::from(host) + 1 } else { 0 });
}

fn put_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads all of a message.
pub(super) fn parse(bytes: &[u8]) -> Result<Parsed<'_>, LevelError> {
    Reader(bytes).message().ok_or(LevelError::Malformed)
}

/// What is left to read. Everything answers `None` if it is not there.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn message(mut self) -> Option<Parsed<'a>> {
        if self.byte()? != APPLICATION {
            return None;
        }
        Some(match self.byte()? {
            ORDERED => Parsed::Reliable(Level::Ordered, self.u32()?, self.envelope()?),
            UNORDERED => Parsed::Reliable(Level::Unordered, self.u32()?, self.envelope()?),
            UNRELIABLE => Parsed::Unreliable(self.envelope()?),
            NEWEST => Parsed::Newest(Channel(self.byte()?), self.u32()?, self.envelope()?),
            QUICKEST => Parsed::Quickest(self.quick()?),
            HEARD => Parsed::Heard(self.u32().filter(|_| self.0.is_empty())?),
            _ => return None,
        })
    }

    fn quick(mut self) -> Option<Quick<'a>> {
        let acknowledgement = Acknowledgement { expected: self.u32()?, after: self.bits()? };
        let (mut first, mut messages) = (0, Vec::new());
        if !self.0.is_empty() {
            first = self.u32()?;
            while messages.is_empty() || !self.0.is_empty() {
                messages.push(self.quick_message()?);
            }
        }
        Some(Quick { acknowledgement, first, messages })
    }

    fn bits(&mut self) -> Option<u64> {
        let used = usize::from(self.byte()?);
        let bytes = self.take(used)?;
        if used > 8 || bytes.last() == Some(&0) {
            return None;
        }
        Some(bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)))
    }

    fn quick_message(&mut self) -> Option<QuickMessage<'a>> {
        let offset = self.byte().filter(|offset| usize::from(*offset) < QUICKEST_WINDOW)?;
        let party = self.party()?;
        let length = self.varint()?;
        Some(QuickMessage { offset, party, bytes: self.take(usize::try_from(length).ok()?)? })
    }

    /// A party, and all that is left as its message.
    fn envelope(&mut self) -> Option<Envelope> {
        Some(Envelope { party: self.party()?, bytes: core::mem::take(&mut self.0).to_vec() })
    }

    fn party(&mut self) -> Option<Party> {
        match self.varint()? {
            0 => Some(Party::Everybody),
            host => Some(Party::Host(HostId(u32::try_from(host - 1).ok()?))),
        }
    }

    /// At most five bytes, and no superfluous ones: there is one way to write a number.
    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for place in 0..5 {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7F) << (7 * place);
            if byte & 0x80 == 0 {
                return (byte != 0 || place == 0).then_some(number);
            }
        }
        None
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Writes again what was read.
    fn again(parsed: &Parsed<'_>) -> Vec<u8> {
        match parsed {
            Parsed::Reliable(level, number, envelope) => emit(*level, *number, envelope),
            Parsed::Unreliable(envelope) => emit(Level::Unreliable, 0, envelope),
            Parsed::Heard(expected) => emit_heard(*expected),
            Parsed::Newest(channel, sequence, envelope) => emit(Level::Newest(*channel), *sequence, envelope),
            Parsed::Quickest(quick) => {
                let mut bytes = begin_quickest(quick.acknowledgement);
                for (i, message) in quick.messages.iter().enumerate() {
                    let first = (i == 0).then_some(quick.first);
                    assert!(add_quickest(&mut bytes, usize::MAX, first, message.offset, &message.envelope()));
                }
                bytes
            }
        }
    }

    fn party() -> impl Strategy<Value = Party> {
        prop_oneof![Just(Party::Everybody), any::<u32>().prop_map(|host| Party::Host(HostId(host)))]
    }

    #[test]
    fn the_longest_message_fits_whatever_its_numbers_are() {
        let party = Party::Host(HostId(u32::MAX));
        let limits = super::super::LevelLimits::default();
        let envelope = |level| Envelope { party, bytes: vec![7; limits.longest(level)] };
        let newest = Level::Newest(Channel(255));
        assert_eq!(emit(newest, u32::MAX, &envelope(newest)).len(), limits.max_datagram);
        let mut bytes = begin_quickest(Acknowledgement { expected: u32::MAX, after: u64::MAX });
        assert!(add_quickest(&mut bytes, limits.max_datagram, Some(9), 63, &envelope(Level::Quickest)));
        assert_eq!(bytes.len(), limits.max_datagram);
    }

    proptest! {
        #[test]
        fn there_is_one_way_to_write_a_message(
            kind in 0u8..7,
            rest in prop::collection::vec(prop_oneof![Just(0u8), 0u8..5, any::<u8>()], 0..40),
        ) {
            let bytes: Vec<u8> = [APPLICATION, kind].into_iter().chain(rest).collect();
            if let Ok(parsed) = parse(&bytes) {
                prop_assert_eq!(again(&parsed), bytes);
            }
        }

        #[test]
        fn what_was_written_is_read(party in party(), body in prop::collection::vec(any::<u8>(), 0..300), channel: u8, sequence: u32) {
            let envelope = Envelope { party, bytes: body };
            for level in [Level::Ordered, Level::Unordered] {
                let bytes = emit(level, sequence, &envelope);
                prop_assert_eq!(parse(&bytes), Ok(Parsed::Reliable(level, sequence, envelope.clone())));
            }
            let bytes = emit(Level::Unreliable, 0, &envelope);
            prop_assert_eq!(parse(&bytes), Ok(Parsed::Unreliable(envelope.clone())));
            let bytes = emit_heard(sequence);
            prop_assert_eq!(parse(&bytes), Ok(Parsed::Heard(sequence)));
            let bytes = emit(Level::Newest(Channel(channel)), sequence, &envelope);
            prop_assert_eq!(parse(&bytes), Ok(Parsed::Newest(Channel(channel), sequence, envelope)));
        }
    }
}
