//! Reading and writing the numbers of a payload: big-endian, one after the other.

use super::{Frame, MAX_PAYLOAD, MessageError};

/// Reads a payload from its beginning, and knows how far it has come.
pub(super) struct Bytes<'a> {
    payload: &'a [u8],
    at: usize,
}

impl<'a> Bytes<'a> {
    pub fn new(payload: &'a [u8]) -> Self {
        Self { payload, at: 0 }
    }

    pub fn take(&mut self, what: &'static str, needed: usize) -> Result<&'a [u8], MessageError> {
        let rest = &self.payload[self.at..];
        let taken =
            rest.get(..needed).ok_or(MessageError::Truncated { what, at: self.at, needed, left: rest.len() })?;
        self.at += needed;
        Ok(taken)
    }

    pub fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], MessageError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(what, N)?);
        Ok(array)
    }

    pub fn u8(&mut self, what: &'static str) -> Result<u8, MessageError> {
        self.array::<1>(what).map(|[byte]| byte)
    }

    pub fn u16(&mut self, what: &'static str) -> Result<u16, MessageError> {
        self.array(what).map(u16::from_be_bytes)
    }

    pub fn i16(&mut self, what: &'static str) -> Result<i16, MessageError> {
        self.array(what).map(i16::from_be_bytes)
    }

    pub fn i32(&mut self, what: &'static str) -> Result<i32, MessageError> {
        self.array(what).map(i32::from_be_bytes)
    }

    /// A finite number: no other is any use, and one would spoil whatever is computed from it.
    pub fn f32(&mut self, what: &'static str) -> Result<f32, MessageError> {
        let at = self.at;
        let number = f32::from_be_bytes(self.array(what)?);
        if number.is_finite() { Ok(number) } else { Err(MessageError::NotFinite { what, at }) }
    }

    pub fn vector(&mut self, what: &'static str) -> Result<[f32; 3], MessageError> {
        Ok([self.f32(what)?, self.f32(what)?, self.f32(what)?])
    }

    pub fn shorts<const N: usize>(&mut self, what: &'static str) -> Result<[i16; N], MessageError> {
        let mut shorts = [0; N];
        for short in &mut shorts {
            *short = self.i16(what)?;
        }
        Ok(shorts)
    }

    /// Fails unless all was read: what is not understood is not to be lost on the way.
    pub fn end(self) -> Result<(), MessageError> {
        match self.payload.len() - self.at {
            0 => Ok(()),
            left => Err(MessageError::Trailing { at: self.at, left }),
        }
    }
}

/// Appends a whole frame, of which the payload is made up as it goes.
pub(super) fn emit_with(out: &mut Vec<u8>, code: super::Code, payload: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    Frame { code, payload: &[] }.emit(out);
    let body = out.len();
    payload(out);
    let length = out.len() - body;
    debug_assert!(length <= MAX_PAYLOAD, "no message has {length} bytes");
    out[start..start + 2].copy_from_slice(&(length as u16).to_be_bytes());
}

pub(super) fn put_floats(out: &mut Vec<u8>, numbers: &[f32]) {
    numbers.iter().for_each(|number| out.extend_from_slice(&number.to_be_bytes()));
}

pub(super) fn put_shorts(out: &mut Vec<u8>, numbers: &[i16]) {
    numbers.iter().for_each(|number| out.extend_from_slice(&number.to_be_bytes()));
}
