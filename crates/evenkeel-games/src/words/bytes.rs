//! Reading numbers from bytes that anybody may have sent.

use super::VERSION;

/// What is left to be read.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// What follows the version, if it is ours.
    pub(super) fn after_version(bytes: &'a [u8]) -> Option<Self> {
        let (&version, rest) = bytes.split_first()?;
        (version == VERSION).then_some(Self(rest))
    }

    pub(super) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*bytes)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    pub(super) fn finite(&mut self) -> Option<f64> {
        self.take().map(f64::from_le_bytes).filter(|number| number.is_finite())
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }
}

/// A number that is no more than the most it can be.
pub(super) fn number(byte: u8, most: u8) -> Option<u8> {
    (byte <= most).then_some(byte)
}
