//! Bits in a byte buffer, and the variable-length integer codes on top of them.
//!
//! Bits fill each byte from its lowest bit up, and a number is written lowest bit first: a 64-bit little-endian load at
//! any byte then holds the next 57 bits or more in order, which is what makes both ends fast.

use super::WireError;
use core::fmt;

/// The buffer has no room for what was to be written. Nothing of it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no room left in the buffer")
    }
}

impl core::error::Error for Full {}

/// The input ends before what was to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncated;

impl fmt::Display for Truncated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the input ends too early")
    }
}

impl core::error::Error for Truncated {}

/// The unary part of a Rice code has at most this many ones; what is larger continues as an exponential Golomb code.
const RICE_LONGEST: u64 = 24;

/// So many ones in front of a short Golomb code announce a plain number of so many bits.
const SHORT_GOLOMB_LONGEST: u32 = 20;
const SHORT_GOLOMB_BITS: u32 = 53;

/// Writes bits into a byte buffer.
///
/// ```
/// use evenkeel::wire::{BitReader, BitWriter};
/// let mut buffer = [0; 8];
/// let mut w = BitWriter::new(&mut buffer);
/// w.push(5, 3)?;
/// w.signed_exp_golomb(-7, 2)?;
/// let length = w.len_bytes();
/// let mut r = BitReader::new(&buffer[..length]);
/// assert_eq!(r.pull(3)?, 5);
/// assert_eq!(r.signed_exp_golomb(2)?, -7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BitWriter<'a> {
    buffer: &'a mut [u8],
    len: usize,
}

impl<'a> BitWriter<'a> {
    /// An empty writer over the whole of `buffer`.
    pub fn new(buffer: &'a mut [u8]) -> Self {
        Self { buffer, len: 0 }
    }

    /// How many bits have been written.
    pub fn len_bits(&self) -> usize {
        self.len
    }

    /// How many bytes the written bits take; the unused bits of the last one are zero.
    pub fn len_bytes(&self) -> usize {
        self.len.div_ceil(8)
    }

    /// Whether nothing has been written.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many bits still fit.
    pub fn room_bits(&self) -> usize {
        self.buffer.len() * 8 - self.len
    }

    /// The bytes written so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.buffer[..self.len_bytes()]
    }

    /// Takes back everything after the first `len_bits` bits, for a record that did not fit. Longer than what has been
    /// written changes nothing.
    pub fn truncate(&mut self, len_bits: usize) {
        if len_bits >= self.len {
            return;
        }
        self.len = len_bits;
        if len_bits % 8 != 0 {
            self.buffer[len_bits / 8] &= (1 << (len_bits % 8)) - 1;
        }
    }

    /// Writes the lowest `bits` bits of `value`, 64 at most.
    #[inline]
    pub fn push(&mut self, value: u64, bits: u32) -> Result<(), Full> {
        let bits = bits.min(64);
        if bits as usize > self.room_bits() {
            return Err(Full);
        }
        let value = value & low_mask(bits);
        let (byte, offset) = (self.len / 8, (self.len % 8) as u32);
        match self.buffer[byte..].first_chunk_mut::<9>() {
            Some(chunk) => put(chunk, offset, value),
            None => self.push_near_the_end(byte, offset, value, bits),
        }
        self.len += bits as usize;
        Ok(())
    }

    /// The last bytes of the buffer are filled by way of a copy that is long enough.
    #[cold]
    fn push_near_the_end(&mut self, byte: usize, offset: u32, value: u64, bits: u32) {
        let used = ((offset + bits) as usize).div_ceil(8);
        let mut chunk = [0; 9];
        let tail = &mut self.buffer[byte..byte + used];
        chunk[..used].copy_from_slice(tail);
        put(&mut chunk, offset, value);
        tail.copy_from_slice(&chunk[..used]);
    }

    /// Writes other bits in the place of some that are written: `bits` of them, from the bit `at` on. What would reach beyond
    /// what is written changes nothing.
    pub(crate) fn overwrite(&mut self, at: usize, value: u64, bits: u32) {
        if at + bits as usize > self.len {
            return;
        }
        for (i, bit) in (at..).zip((0..bits).map(|shift| (value >> shift & 1) as u8)) {
            let byte = &mut self.buffer[i / 8];
            *byte = *byte & !(1 << (i % 8)) | bit << (i % 8);
        }
    }

    /// Writes one bit.
    #[inline]
    pub fn flag(&mut self, set: bool) -> Result<(), Full> {
        self.push(u64::from(set), 1)
    }

    /// Writes the first `n_bits` bits of `bits`, as fast as whole words go. More than `bits` holds is an error.
    pub fn copy(&mut self, bits: &[u8], n_bits: usize) -> Result<(), Full> {
        if n_bits > self.room_bits() || n_bits > bits.len() * 8 {
            return Err(Full);
        }
        self.push_and_copy(0, 0, bits, n_bits)
    }

    /// Writes a short code of `prefix_bits` bits, which must have no others, and after it the first `n_bits` bits of `bits`: the words
    /// go to their places in one pass. If it fails, part of it is written.
    #[inline]
    pub(crate) fn push_and_copy(
        &mut self,
        prefix: u64,
        prefix_bits: u32,
        bits: &[u8],
        n_bits: usize,
    ) -> Result<(), Full> {
        let (byte, offset) = (self.len / 8, (self.len % 8) as u32 + prefix_bits);
        let bytes = (n_bits / 64 + 2) * 8;
        let Some(out) = self.buffer.get_mut(byte..byte + bytes).filter(|_| offset < 64 && bits.len() * 8 >= n_bits)
        else {
            return self.push_and_copy_near_the_end(prefix, prefix_bits, bits, n_bits);
        };
        let mut word = u64::from(out[0]) & low_mask(offset - prefix_bits) | prefix << (offset - prefix_bits);
        let (mut from, mut left) = (bits, n_bits);
        for to in out.chunks_exact_mut(8) {
            let next = match from.split_first_chunk() {
                Some((next, rest)) => {
                    from = rest;
                    u64::from_le_bytes(*next)
                }
                None => core::mem::take(&mut from).iter().rev().fold(0, |next, &byte| next << 8 | u64::from(byte)),
            };
            let next = next & low_mask(left as u32);
            to.copy_from_slice(&(word | next << offset).to_le_bytes());
            if left <= 64 - offset as usize {
                break;
            }
            // Shifted in two steps, because shifting by 64 is not defined.
            word = next >> 1 >> (63 - offset);
            left = left.saturating_sub(64);
        }
        self.len += prefix_bits as usize + n_bits;
        Ok(())
    }

    #[cold]
    fn push_and_copy_near_the_end(
        &mut self,
        prefix: u64,
        prefix_bits: u32,
        bits: &[u8],
        n_bits: usize,
    ) -> Result<(), Full> {
        self.push(prefix, prefix_bits)?;
        let mut reader = BitReader::new(bits);
        let mut left = n_bits;
        while left > 0 {
            let now = left.min(64) as u32;
            let Ok(word) = reader.pull(now) else { return Err(Full) };
            self.push(word, now)?;
            left -= now as usize;
        }
        Ok(())
    }

    /// Writes `value` as an exponential Golomb code of order `k`: 1 + k bits below 2^k, two more for every doubling.
    #[inline]
    pub fn exp_golomb(&mut self, value: u64, k: u32) -> Result<(), Full> {
        let k = k.min(63);
        if let Some((code, bits)) = golomb_code(value, k) {
            return self.push(code, bits);
        }
        let group = (value >> k).wrapping_add(1);
        let n = if group == 0 { 64 } else { group.ilog2() };
        let total = 2 * n + 1 + k;
        if total as usize > self.room_bits() {
            return Err(Full);
        }
        self.push(u64::MAX, n)?;
        self.push(0, 1)?;
        self.push(group, n)?;
        self.push(value, k)
    }

    /// Writes a signed value as an exponential Golomb code: 0, -1, 1, -2, 2, ... count up.
    #[inline]
    pub fn signed_exp_golomb(&mut self, value: i64, k: u32) -> Result<(), Full> {
        self.exp_golomb(zigzag(value), k)
    }

    /// Writes `value` as a Rice code: value / 2^k in unary, then `k` bits. Long ones continue as exponential Golomb code.
    #[inline]
    pub fn rice(&mut self, value: u64, k: u32) -> Result<(), Full> {
        let k = k.min(32);
        let quotient = value >> k;
        if quotient < RICE_LONGEST {
            let unary = low_mask(quotient as u32);
            return self.push(unary | (value & low_mask(k)) << (quotient + 1), quotient as u32 + 1 + k);
        }
        let before = self.len;
        self.push(u64::MAX, RICE_LONGEST as u32)?;
        self.exp_golomb(value - (RICE_LONGEST << k), k).inspect_err(|_| self.truncate(before))
    }

    /// Writes a signed value as a Rice code: 0, -1, 1, -2, 2, ... count up.
    #[inline]
    pub fn signed_rice(&mut self, value: i64, k: u32) -> Result<(), Full> {
        self.rice(zigzag(value), k)
    }
}

/// An exponential Golomb code of order `k` (63 at most) and its length, if that is 64 bits or less: ones, the zero that ends them, the
/// digits of the group below its leading one, the low bits.
#[inline]
pub(crate) fn golomb_code(value: u64, k: u32) -> Option<(u64, u32)> {
    if value >> k == 0 && k < 63 {
        // What is usual: a zero in front of the low bits.
        return Some((value << 1, k + 1));
    }
    let group = (value >> k).checked_add(1)?;
    let n = group.ilog2();
    let bits = 2 * n + 1 + k;
    if bits > 64 {
        return None;
    }
    Some((low_mask(n) | (group & low_mask(n)) << (n + 1) | (value & low_mask(k)) << n << n << 1, bits))
}

/// Gathers short codes in a register and hands them to a [`BitWriter`] 64 bits at a time.
pub(crate) struct Gather<'p, 'a> {
    writer: &'p mut BitWriter<'a>,
    word: u64,
    used: u32,
}

impl<'p, 'a> Gather<'p, 'a> {
    pub(crate) fn new(writer: &'p mut BitWriter<'a>) -> Self {
        Self { writer, word: 0, used: 0 }
    }

    /// Writes the `bits` bits of `value`, which must have no others. If it fails, part of what was gathered is written.
    #[inline(always)]
    pub(crate) fn push(&mut self, value: u64, bits: u32) -> Result<(), Full> {
        self.word |= value << self.used;
        let used = self.used + bits;
        if used < 64 {
            self.used = used;
            return Ok(());
        }
        self.writer.push(self.word, 64)?;
        // What did not fit; shifted in two steps, because shifting by 64 is not defined.
        self.word = value >> 1 >> (63 - self.used);
        self.used = used - 64;
        Ok(())
    }

    /// Writes a value below 2^53 as an exponential Golomb code that is never longer than 73 bits or 39 + k.
    #[inline]
    pub(crate) fn short_golomb(&mut self, value: u64, k: u32) -> Result<(), Full> {
        if value >> k >= low_mask(SHORT_GOLOMB_LONGEST) {
            self.push(low_mask(SHORT_GOLOMB_LONGEST), SHORT_GOLOMB_LONGEST)?;
            return self.push(value & low_mask(SHORT_GOLOMB_BITS), SHORT_GOLOMB_BITS);
        }
        match golomb_code(value, k) {
            Some((code, bits)) => self.push(code, bits),
            None => {
                let (code, bits) = golomb_code(value >> k, 0).unwrap_or_default();
                self.push(code, bits)?;
                self.push(value & low_mask(k), k)
            }
        }
    }

    /// Hands over what is left.
    #[inline]
    pub(crate) fn finish(self) -> Result<(), Full> {
        self.writer.push(self.word, self.used)
    }
}

/// Puts `value` in at bit `offset` (below 8) and clears everything after it.
#[inline]
fn put(chunk: &mut [u8; 9], offset: u32, value: u64) {
    let kept = u64::from(chunk[0]) & low_mask(offset);
    let [first @ .., last] = chunk;
    *first = (kept | value << offset).to_le_bytes();
    // Shifting by 64 is not defined, so the last byte's share is shifted in two steps.
    *last = (value >> 1 >> (63 - offset)) as u8;
}

/// Reads bits from a byte slice. Whatever the bytes are, it never panics.
///
/// ```
/// use evenkeel::wire::{BitReader, Truncated};
/// let mut r = BitReader::new(&[0b1010_0110]);
/// assert_eq!(r.pull(4), Ok(6));
/// assert_eq!(r.pull(5), Err(Truncated));
/// assert_eq!(r.remaining_bits(), 4);
/// ```
#[derive(Clone, Debug)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> BitReader<'a> {
    /// A reader at the first bit of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How many bits are left.
    pub fn remaining_bits(&self) -> usize {
        self.bytes.len() * 8 - self.at
    }

    /// How many bits have been read.
    pub fn position_bits(&self) -> usize {
        self.at
    }

    /// The next 64 bits without reading them; zeros where the input has ended.
    #[inline]
    fn peek(&self) -> u64 {
        let (byte, offset) = (self.at / 8, (self.at % 8) as u32);
        let tail = &self.bytes[byte..];
        if let Some([first @ .., last]) = tail.first_chunk::<9>() {
            return u64::from_le_bytes(*first) >> offset | u64::from(*last) << 1 << (63 - offset);
        }
        self.peek_near_the_end(tail.len()) >> offset
    }

    /// The last `left` bytes, 8 at most.
    #[inline]
    fn peek_near_the_end(&self, left: usize) -> u64 {
        match self.bytes.last_chunk::<8>() {
            // Shifted in two steps, because shifting by 64 is not defined.
            Some(word) => u64::from_le_bytes(*word) >> (4 * (8 - left)) >> (4 * (8 - left)),
            None => {
                let tail = &self.bytes[self.bytes.len() - left..];
                tail.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
            }
        }
    }

    /// Moves on by `bits` bits.
    #[inline]
    fn skip(&mut self, bits: u32) -> Result<(), Truncated> {
        if bits as usize > self.remaining_bits() {
            return Err(Truncated);
        }
        self.at += bits as usize;
        Ok(())
    }

    /// Reads `bits` bits, 64 at most. On an error nothing is read.
    #[inline]
    pub fn pull(&mut self, bits: u32) -> Result<u64, Truncated> {
        let bits = bits.min(64);
        let value = self.peek() & low_mask(bits);
        self.skip(bits)?;
        Ok(value)
    }

    /// Reads one bit.
    #[inline]
    pub fn flag(&mut self) -> Result<bool, Truncated> {
        Ok(self.pull(1)? == 1)
    }

    /// Reads what [`BitWriter::exp_golomb`] wrote with the same `k`.
    #[inline]
    pub fn exp_golomb(&mut self, k: u32) -> Result<u64, WireError> {
        let k = k.min(63);
        let word = self.peek();
        let n = word.trailing_ones();
        if 2 * n + 1 + k <= 64 {
            self.skip(2 * n + 1 + k)?;
            let group = (word >> (n + 1) & low_mask(n)) + low_mask(n);
            return Ok(group << k | (word >> n >> n >> 1) & low_mask(k));
        }
        self.skip(n)?;
        if self.flag()? {
            return Err(WireError::TooLong);
        }
        let group = self.pull(n)?.checked_add(low_mask(n)).ok_or(WireError::TooLong)?;
        if group > u64::MAX >> k {
            return Err(WireError::TooLong);
        }
        Ok(group << k | self.pull(k)?)
    }

    /// Reads what [`Gather::short_golomb`] wrote with the same `k`.
    #[inline]
    pub(crate) fn short_golomb(&mut self, k: u32) -> Result<u64, WireError> {
        if self.peek().trailing_ones() < SHORT_GOLOMB_LONGEST {
            return self.exp_golomb(k);
        }
        self.skip(SHORT_GOLOMB_LONGEST)?;
        Ok(self.pull(SHORT_GOLOMB_BITS)?)
    }

    /// Reads what [`BitWriter::signed_exp_golomb`] wrote with the same `k`.
    #[inline]
    pub fn signed_exp_golomb(&mut self, k: u32) -> Result<i64, WireError> {
        Ok(unzigzag(self.exp_golomb(k)?))
    }

    /// Reads what [`BitWriter::rice`] wrote with the same `k`.
    #[inline]
    pub fn rice(&mut self, k: u32) -> Result<u64, WireError> {
        let k = k.min(32);
        let word = self.peek();
        let quotient = word.trailing_ones();
        if u64::from(quotient) < RICE_LONGEST {
            self.skip(quotient + 1 + k)?;
            return Ok(u64::from(quotient) << k | word >> (quotient + 1) & low_mask(k));
        }
        self.skip(RICE_LONGEST as u32)?;
        self.exp_golomb(k)?.checked_add(RICE_LONGEST << k).ok_or(WireError::TooLong)
    }

    /// Reads what [`BitWriter::signed_rice`] wrote with the same `k`.
    #[inline]
    pub fn signed_rice(&mut self, k: u32) -> Result<i64, WireError> {
        Ok(unzigzag(self.rice(k)?))
    }
}

/// The lowest `bits` bits set; all of them from 64 on.
#[inline]
const fn low_mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// 0, -1, 1, -2, 2, ... to 0, 1, 2, 3, 4, ...
#[inline]
pub(crate) const fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// The inverse of [`zigzag`].
#[inline]
pub(crate) const fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[derive(Clone, Copy, Debug)]
    enum Piece {
        Plain(u64, u32),
        Golomb(u64, u32),
        Signed(i64, u32),
        Short(u64, u32),
        Rice(u64, u32),
        SignedRice(i64, u32),
    }

    fn number() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0..64u32).prop_map(|(v, shift)| v >> shift)
    }

    fn piece() -> impl Strategy<Value = Piece> {
        prop_oneof![
            (any::<u64>(), 0..=64u32).prop_map(|(v, bits)| Piece::Plain(v & low_mask(bits), bits)),
            (number(), 0..40u32).prop_map(|(v, k)| Piece::Golomb(v, k)),
            (number(), 0..40u32).prop_map(|(v, k)| Piece::Signed(unzigzag(v), k)),
            (number(), 0..32u32).prop_map(|(v, k)| Piece::Short(v >> 11, k)),
            (number(), 0..32u32).prop_map(|(v, k)| Piece::Rice(v, k)),
            (number(), 0..32u32).prop_map(|(v, k)| Piece::SignedRice(unzigzag(v), k)),
        ]
    }

    fn write(w: &mut BitWriter<'_>, piece: Piece) -> Result<(), Full> {
        match piece {
            Piece::Plain(v, bits) => w.push(v, bits),
            Piece::Golomb(v, k) => w.exp_golomb(v, k),
            Piece::Signed(v, k) => w.signed_exp_golomb(v, k),
            Piece::Short(v, k) => {
                let before = w.len_bits();
                let mut gather = Gather::new(w);
                gather.short_golomb(v, k).and_then(|()| gather.finish()).inspect_err(|_| w.truncate(before))
            }
            Piece::Rice(v, k) => w.rice(v, k),
            Piece::SignedRice(v, k) => w.signed_rice(v, k),
        }
    }

    fn check(r: &mut BitReader<'_>, piece: Piece) {
        match piece {
            Piece::Plain(v, bits) => assert_eq!(r.pull(bits), Ok(v)),
            Piece::Golomb(v, k) => assert_eq!(r.exp_golomb(k), Ok(v)),
            Piece::Signed(v, k) => assert_eq!(r.signed_exp_golomb(k), Ok(v)),
            Piece::Short(v, k) => assert_eq!(r.short_golomb(k), Ok(v)),
            Piece::Rice(v, k) => assert_eq!(r.rice(k), Ok(v)),
            Piece::SignedRice(v, k) => assert_eq!(r.signed_rice(k), Ok(v)),
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(pieces in prop::collection::vec(piece(), 0..20), room in 0..80usize) {
            let mut buffer = std::vec![0xAA; room];
            let mut w = BitWriter::new(&mut buffer);
            let mut written = Vec::new();
            for piece in pieces {
                let before = w.len_bits();
                match write(&mut w, piece) {
                    Ok(()) => written.push(piece),
                    Err(Full) => prop_assert_eq!(w.len_bits(), before),
                }
            }
            let length = w.len_bits();
            let bytes = w.as_bytes().to_vec();
            let mut r = BitReader::new(&bytes);
            written.iter().for_each(|&piece| check(&mut r, piece));
            prop_assert_eq!(r.position_bits(), length);
            prop_assert_eq!(r.pull(r.remaining_bits() as u32), Ok(0));
        }

        #[test]
        fn a_copy_is_the_same_at_any_offset(bytes: Vec<u8>, offset in 0..64u32, cut in 0..8usize) {
            let n = (bytes.len() * 8).saturating_sub(cut);
            let mut buffer = std::vec![0; bytes.len() + 8];
            let mut w = BitWriter::new(&mut buffer);
            w.push(0, offset).unwrap();
            w.copy(&bytes, n).unwrap();
            let (mut a, mut b) = (BitReader::new(&buffer), BitReader::new(&bytes));
            a.pull(offset).unwrap();
            for _ in 0..n {
                prop_assert_eq!(a.pull(1), b.pull(1));
            }
        }

        #[test]
        fn hostile_input_never_panics(bytes: Vec<u8>, k in 0..70u32, bits in 0..70u32) {
            let mut r = BitReader::new(&bytes);
            for _ in 0..20 {
                let _ = (r.exp_golomb(k), r.rice(k), r.pull(bits), r.signed_rice(k));
            }
        }
    }

    #[test]
    fn an_endless_prefix_is_an_error() {
        let bytes = [0xFF; 40];
        assert_eq!(BitReader::new(&bytes).exp_golomb(0), Err(WireError::TooLong));
        assert_eq!(BitReader::new(&bytes).rice(3), Err(WireError::TooLong));
        assert_eq!(BitReader::new(&bytes[..3]).exp_golomb(0), Err(WireError::Truncated));
    }

    #[test]
    fn a_record_that_did_not_fit_leaves_no_trace() {
        let mut buffer = [0; 12];
        let mut w = BitWriter::new(&mut buffer);
        w.push(0x5, 4).unwrap();
        let start = w.len_bits();
        w.push(u64::MAX, 64).unwrap();
        w.truncate(start);
        assert_eq!(w.as_bytes(), [0x05]);
        w.push(0x3, 4).unwrap();
        assert_eq!(w.as_bytes(), [0x35]);
        assert_eq!(w.copy(&[0; 2], 17), Err(Full));
    }
}
