//! Datagrams: vectors from a sender, receipts from a receiver, acknowledgements of receipts, and the agreement of the two.
//!
//! `docs/WIRE.md` describes every bit. Everything constructible here can be emitted, and parses back to itself.
//!
//! - [`VectorsHeader`] and [`Record`]: what a sender says;
//! - [`ReceiptsHeader`] and [`ReceiptEntry`]: what a receiver answers;
//! - [`Acknowledged`]: the sender's last word on a receipt, in a datagram with vectors or alone;
//! - [`Agreement`](super::Agreement) travels alone, when two ends find that theirs differ.

mod receipts;
mod records;
mod vectors;

pub use receipts::{Acknowledged, Proof, ReceiptEntry, ReceiptsHeader, Taken};
pub use records::{BaselineName, Content, Cursor, Record, SharedHead, emit_vector, slot_ticks};
pub use vectors::{Form, NUMBER_BITS, Stamp, Stream, VectorsHeader, low_number};

pub(crate) use receipts::LEAST_ENTRY_BITS;
pub(crate) use records::{Digest, LEAST_RECORD_BITS, emit_own, own_code, vector_digest};
pub(crate) use vectors::{Known, seal_check, widen};

use super::{BitReader, BitWriter, Full, WireError};
use crate::ids::EntityId;
use core::fmt;

/// The version of everything in this module. The first byte of a datagram says the kind and the version in one.
pub const VERSION: u8 = 2;
/// First byte of a datagram with vectors and the short header.
pub const KIND_VECTORS: u8 = 0xD0;
/// First byte of a datagram with vectors, the short header and an acknowledgement.
pub const KIND_VECTORS_ACKNOWLEDGING: u8 = 0xD1;
/// First byte of a datagram with vectors and the header that says everything.
pub const KIND_OPENING: u8 = 0xD2;
/// First byte of a datagram with receipts.
pub const KIND_RECEIPTS: u8 = 0xD3;
/// First byte of a datagram that only acknowledges receipts.
pub const KIND_ACKNOWLEDGEMENT: u8 = 0xD4;
/// First byte of a datagram with what one end holds to be agreed.
pub const KIND_AGREEMENT: u8 = 0xD5;

/// A vector may be coded against one that is fewer than this many numbers older.
pub const BASELINE_WINDOW: u32 = 32;

/// What a datagram is, and so for which half of the state machine: every host is sender and receiver, and has one socket for
/// both.
///
/// ```
/// use evenkeel::wire::datagram::Kind;
/// assert_eq!(Kind::of(&[0xD3, 7]), Some(Kind::Receipts));
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
    /// What the other end's receiver holds to be agreed, for [`Sender::handle_datagram`](crate::Sender::handle_datagram).
    ReceiversAgreement,
    /// What the other end's sender holds to be agreed, for [`Receiver::handle_datagram`](crate::Receiver::handle_datagram).
    SendersAgreement,
    /// For [`Clock::handle_ping`](crate::Clock::handle_ping).
    Ping,
    /// For [`Clock::handle_pong`](crate::Clock::handle_pong).
    Pong,
}

impl Kind {
    /// The kind of a datagram by how it begins; `None` if it is none of ours. Datagrams of version 1 have a kind too, so that the
    /// half they were meant for can say what is wrong with them.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        match *bytes.first()? {
            KIND_VECTORS | KIND_VECTORS_ACKNOWLEDGING | KIND_OPENING | 0xE0 => Some(Self::Vectors),
            KIND_RECEIPTS | 0xE1 => Some(Self::Receipts),
            KIND_ACKNOWLEDGEMENT | 0xE4 => Some(Self::Acknowledgement),
            KIND_AGREEMENT if bytes.get(1)? & 1 == 0 => Some(Self::SendersAgreement),
            KIND_AGREEMENT => Some(Self::ReceiversAgreement),
            crate::clock::KIND_PING => Some(Self::Ping),
            crate::clock::KIND_PONG => Some(Self::Pong),
            _ => None,
        }
    }

    /// Whether the datagram is for a [`Receiver`](crate::Receiver).
    pub fn is_for_receivers(self) -> bool {
        matches!(self, Self::Vectors | Self::Acknowledgement | Self::SendersAgreement)
    }

    /// Whether the datagram is for a [`Sender`](crate::Sender).
    pub fn is_for_senders(self) -> bool {
        matches!(self, Self::Receipts | Self::ReceiversAgreement)
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
    /// The two ends hold different things to be agreed. Events say which, as soon as the other end has told.
    Disagreement {
        /// The fingerprint that the datagram carries.
        theirs: u64,
        /// The fingerprint of what is agreed here.
        ours: u64,
    },
    /// It does not belong to the sender's present stream: it is foreign, from an earlier acquaintance, or seconds late.
    Foreign,
    /// An old datagram came again with a new number.
    Replayed,
    /// A record refers to a vector that this receiver does not have. The sender is told.
    NoBaseline(EntityId),
    /// What was decoded is not what the sender wrote: the two ends have come apart. The sender is told.
    Check,
    /// The contents do not parse. The sender is told if the header is its own.
    Malformed(WireError),
}

impl fmt::Display for DatagramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "empty datagram"),
            Self::UnknownKind(kind) => write!(f, "not a datagram for this side (first byte {kind:#04x})"),
            Self::Version { theirs } => {
                write!(f, "protocol version {theirs}, but this side speaks {VERSION}: update the older one")
            }
            Self::Disagreement { theirs, ours } => {
                write!(f, "the sender's agreement is {theirs:016x}, ours is {ours:016x}: compare Sender::agreement")
            }
            Self::Foreign => write!(f, "not of the sender's present stream"),
            Self::Replayed => write!(f, "an old datagram under a new number"),
            Self::NoBaseline(entity) => write!(f, "{entity} is coded against a vector that is not here"),
            Self::Check => write!(f, "decoded to something else than the sender wrote"),
            Self::Malformed(error) => write!(f, "malformed datagram: {error}"),
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

/// Only padding may be left: fewer than eight bits, all zero.
pub(crate) fn end(r: &mut BitReader<'_>) -> Result<(), DatagramError> {
    let left = r.remaining_bits();
    if left >= 8 || r.pull(left as u32)? != 0 {
        return Err(WireError::NotCanonical.into());
    }
    Ok(())
}

pub(crate) fn start(kind: u8, w: &mut BitWriter<'_>) -> Result<(), Full> {
    w.push(u64::from(kind), 8)
}

/// Reads the first byte, which must be one of these.
pub(crate) fn expect(kinds: &[u8], r: &mut BitReader<'_>) -> Result<u8, DatagramError> {
    if r.remaining_bits() == 0 {
        return Err(DatagramError::Empty);
    }
    match r.pull(8)? as u8 {
        kind if kinds.contains(&kind) => Ok(kind),
        0xE0 | 0xE1 | 0xE4 => Err(DatagramError::Version { theirs: 1 }),
        kind => Err(DatagramError::UnknownKind(kind)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_of_version_1_is_told_so() {
        for first in [0xE0, 0xE1, 0xE4] {
            let bytes = [first, 1, 0, 0, 0, 0];
            let error = expect(&[KIND_VECTORS], &mut BitReader::new(&bytes)).unwrap_err();
            assert_eq!(error, DatagramError::Version { theirs: 1 });
            assert!(error.to_string().contains("version 1"), "{error}");
            assert!(Kind::of(&bytes).is_some(), "somebody must say so");
        }
        assert_eq!(expect(&[KIND_VECTORS], &mut BitReader::new(&[7])), Err(DatagramError::UnknownKind(7)));
    }

    use std::string::ToString;
}
