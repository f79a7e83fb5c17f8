//! Pings and pongs: their bytes, and the pings still waiting for an answer.
//!
//! A ping carries no time at all: the follower remembers when it sent which ping, so its [`Instant`] never travels. The
//! pong brings the two moments only the reference knows, when the ping arrived and when the pong left.

use alloc::collections::VecDeque;
use core::hash::Hasher;

use siphasher::sip::SipHasher13;

use super::ClockError;
use crate::time::{Duration, GlobalTime, Instant};

/// The first byte of a ping.
pub const KIND_PING: u8 = 0xE2;
/// The first byte of a pong.
pub const KIND_PONG: u8 = 0xE3;
/// The second byte of both: the version of their layout.
pub const EXCHANGE_VERSION: u8 = 1;

/// At most so many pings wait for an answer; the oldest is given up for a new one.
const OUTSTANDING: usize = 64;

/// A follower's question to the reference: what time is it with you?
///
/// ```
/// use evenkeel::clock::Ping;
/// let ping = Ping { sequence: 7, nonce: 0xC0FFEE };
/// let mut bytes = [0; Ping::LEN];
/// let length = ping.emit(&mut bytes);
/// assert_eq!(Ping::parse(&bytes[..length]), Ok(ping));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ping {
    /// Counts up from 0 at each follower.
    pub sequence: u32,
    /// Hard to guess for who has not seen the ping, so that a pong proves it has.
    pub nonce: u32,
}

/// The reference's answer to a [`Ping`].
///
/// ```
/// use evenkeel::clock::{Ping, Pong};
/// use evenkeel::GlobalTime;
/// let ping = Ping { sequence: 7, nonce: 0xC0FFEE };
/// let pong = Pong { ping, received: GlobalTime::from_millis(20), sent: GlobalTime::from_millis(21) };
/// let mut bytes = [0; Pong::LEN];
/// let length = pong.emit(&mut bytes);
/// assert_eq!(Pong::parse(&bytes[..length]), Ok(pong));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pong {
    /// The ping this answers.
    pub ping: Ping,
    /// When the ping arrived at the reference.
    pub received: GlobalTime,
    /// When the pong left the reference.
    pub sent: GlobalTime,
}

/// Bytes that are no ping or pong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseError {
    /// Too short or too long.
    Length,
    /// The first byte names something else.
    Kind,
    /// A layout this library does not know.
    Version,
}

impl core::fmt::Display for ParseError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Length => "wrong length for a ping or pong",
            Self::Kind => "not a ping or pong",
            Self::Version => "unknown version of a ping or pong",
        })
    }
}

impl core::error::Error for ParseError {}

impl Ping {
    /// Bytes on the wire: kind, version, sequence, nonce; big-endian.
    pub const LEN: usize = 10;

    /// Writes the ping to the start of `out` and answers how many bytes it took; 0 if `out` is too short.
    pub fn emit(&self, out: &mut [u8]) -> usize {
        let Some(out) = out.first_chunk_mut::<{ Self::LEN }>() else { return 0 };
        out[0] = KIND_PING;
        out[1] = EXCHANGE_VERSION;
        out[2..6].copy_from_slice(&self.sequence.to_be_bytes());
        out[6..10].copy_from_slice(&self.nonce.to_be_bytes());
        Self::LEN
    }

    /// Reads a ping that fills `bytes` exactly.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let bytes: &[u8; Self::LEN] = checked(bytes, KIND_PING)?;
        let [_, _, s0, s1, s2, s3, n0, n1, n2, n3] = *bytes;
        Ok(Self { sequence: u32::from_be_bytes([s0, s1, s2, s3]), nonce: u32::from_be_bytes([n0, n1, n2, n3]) })
    }
}

impl Pong {
    /// Bytes on the wire: kind, version, sequence, nonce, received, sent; big-endian.
    pub const LEN: usize = 26;

    /// Writes the pong to the start of `out` and answers how many bytes it took; 0 if `out` is too short.
    pub fn emit(&self, out: &mut [u8]) -> usize {
        let Some(out) = out.first_chunk_mut::<{ Self::LEN }>() else { return 0 };
        out[0] = KIND_PONG;
        out[1] = EXCHANGE_VERSION;
        out[2..6].copy_from_slice(&self.ping.sequence.to_be_bytes());
        out[6..10].copy_from_slice(&self.ping.nonce.to_be_bytes());
        out[10..18].copy_from_slice(&self.received.as_nanos().to_be_bytes());
        out[18..26].copy_from_slice(&self.sent.as_nanos().to_be_bytes());
        Self::LEN
    }

    /// Reads a pong that fills `bytes` exactly.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let bytes: &[u8; Self::LEN] = checked(bytes, KIND_PONG)?;
        let word = |at: usize| bytes[at..at + 4].iter().fold(0u32, |sum, byte| sum << 8 | u32::from(*byte));
        let time = |at: usize| GlobalTime::from_nanos((i64::from(word(at)) << 32) | i64::from(word(at + 4)));
        Ok(Self { ping: Ping { sequence: word(2), nonce: word(6) }, received: time(10), sent: time(18) })
    }
}

/// The bytes as an array, if length, kind and version are right.
fn checked<const LEN: usize>(bytes: &[u8], kind: u8) -> Result<&[u8; LEN], ParseError> {
    let bytes: &[u8; LEN] = bytes.try_into().map_err(|_| ParseError::Length)?;
    match (bytes[0] == kind, bytes[1] == EXCHANGE_VERSION) {
        (false, _) => Err(ParseError::Kind),
        (true, false) => Err(ParseError::Version),
        (true, true) => Ok(bytes),
    }
}

/// One ping on its way.
#[derive(Clone, Copy, Debug)]
struct Sent {
    sequence: u32,
    answered: bool,
    at: Instant,
}

/// The pings this follower has sent lately.
#[derive(Clone, Debug)]
pub(super) struct Outstanding {
    seed: u64,
    next: u32,
    sent: VecDeque<Sent>,
}

impl Outstanding {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, next: 0, sent: VecDeque::with_capacity(OUTSTANDING) }
    }

    /// The number of the next ping.
    pub(super) fn next(&self) -> u32 {
        self.next
    }

    /// A new ping, remembered as sent now.
    pub(super) fn issue(&mut self, now: Instant) -> Ping {
        if self.sent.len() == OUTSTANDING {
            self.sent.pop_front();
        }
        let sequence = self.next;
        self.next = self.next.wrapping_add(1);
        self.sent.push_back(Sent { sequence, answered: false, at: now });
        Ping { sequence, nonce: self.nonce(sequence) }
    }

    /// When the ping that a pong answers was sent.
    pub(super) fn sent_at(&self, ping: Ping, received: Instant, patience: Duration) -> Result<Instant, ClockError> {
        let issued = (ping.sequence.wrapping_sub(self.next) as i32) < 0;
        if !issued || ping.nonce != self.nonce(ping.sequence) {
            return Err(ClockError::UnknownPong);
        }
        let found = self.sent.iter().find(|sent| sent.sequence == ping.sequence);
        let sent = found.ok_or(ClockError::LatePong)?;
        match (sent.answered, received.since(sent.at) > patience) {
            (true, _) => Err(ClockError::RepeatedPong),
            (false, true) => Err(ClockError::LatePong),
            (false, false) => Ok(sent.at),
        }
    }

    /// Takes a ping as answered.
    pub(super) fn settle(&mut self, ping: Ping) {
        if let Some(sent) = self.sent.iter_mut().find(|sent| sent.sequence == ping.sequence) {
            sent.answered = true;
        }
    }

    /// Gives up on all pings under way.
    pub(super) fn forget(&mut self) {
        self.sent.clear();
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.sent.capacity() * size_of::<Sent>()
    }

    fn nonce(&self, sequence: u32) -> u32 {
        let mut hasher = SipHasher13::new_with_keys(self.seed, 0x65_76_65_6E_6B_65_65_6C);
        hasher.write_u32(sequence);
        hasher.finish() as u32
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(3);

    #[test]
    fn a_pong_counts_once_in_time_and_only_if_it_was_asked_for() {
        let mut pings = Outstanding::new(1);
        let ping = pings.issue(Instant::from_millis(10));
        let at = Instant::from_millis(60);
        let forged = Ping { nonce: ping.nonce ^ 1, ..ping };
        assert_eq!(pings.sent_at(forged, at, PATIENCE), Err(ClockError::UnknownPong));
        assert_eq!(pings.sent_at(Ping { sequence: 9, ..ping }, at, PATIENCE), Err(ClockError::UnknownPong));
        assert_eq!(pings.sent_at(ping, at, PATIENCE), Ok(Instant::from_millis(10)));
        pings.settle(ping);
        assert_eq!(pings.sent_at(ping, at, PATIENCE), Err(ClockError::RepeatedPong));
        let slow = pings.issue(Instant::from_millis(100));
        assert_eq!(pings.sent_at(slow, Instant::from_millis(3_101), PATIENCE), Err(ClockError::LatePong));
    }

    #[test]
    fn outstanding_pings_are_bounded() {
        let mut pings = Outstanding::new(1);
        let first = pings.issue(Instant::ZERO);
        let before = pings.heap_bytes();
        for _ in 0..OUTSTANDING {
            pings.issue(Instant::ZERO);
        }
        assert_eq!(pings.sent_at(first, Instant::ZERO, PATIENCE), Err(ClockError::LatePong));
        assert_eq!(pings.heap_bytes(), before);
    }

    #[test]
    fn the_layout_is_pinned() {
        let ping = Ping { sequence: 0x0102_0304, nonce: 0x0506_0708 };
        let mut bytes = [0; Ping::LEN];
        assert_eq!(ping.emit(&mut bytes), Ping::LEN);
        assert_eq!(bytes, [0xE2, 1, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(ping.emit(&mut [0; Ping::LEN - 1]), 0);
        bytes[1] = 2;
        assert_eq!(Ping::parse(&bytes), Err(ParseError::Version));
        assert_eq!(Ping::parse(&bytes[1..]), Err(ParseError::Length));
        bytes[0] = KIND_PONG;
        assert_eq!(Ping::parse(&bytes), Err(ParseError::Kind));
    }

    proptest! {
        #[test]
        fn pongs_survive_the_wire(sequence: u32, nonce: u32, received: i64, sent: i64) {
            let ping = Ping { sequence, nonce };
            let pong =
                Pong { ping, received: GlobalTime::from_nanos(received), sent: GlobalTime::from_nanos(sent) };
            let mut bytes = [0; Pong::LEN];
            pong.emit(&mut bytes);
            prop_assert_eq!(Pong::parse(&bytes), Ok(pong));
        }

        #[test]
        fn garbage_never_panics(mut bytes in proptest::collection::vec(any::<u8>(), 0..40), proper: bool) {
            if let (true, Some(head)) = (proper, bytes.first_chunk_mut::<2>()) {
                *head = [KIND_PONG, EXCHANGE_VERSION];
            }
            let well_formed = proper && bytes.len() == Pong::LEN;
            prop_assert!(!well_formed || Pong::parse(&bytes).is_ok());
            prop_assert!(well_formed || bytes.len() == Pong::LEN || Pong::parse(&bytes).is_err());
            let _ = Ping::parse(&bytes);
        }
    }
}
