//! The primitives of the format: varints, bit-exact floats, short texts.

use super::{MAX_HEADER_BYTES, MAX_LIST_LENGTH, MAX_TEXT_BYTES, RecordingError};
use evenkeel::Vec3;
use std::io::{self, Read};

/// Appends primitives to a buffer.
pub(super) struct Encoder<'a>(pub &'a mut Vec<u8>);

impl Encoder<'_> {
    pub fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    /// Seven bits to a byte, lowest first, the top bit set on all but the last.
    pub fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// Zigzag: small numbers of either sign become small unsigned ones.
    pub fn signed(&mut self, value: i64) {
        self.varint(((value << 1) ^ (value >> 63)) as u64);
    }

    pub fn float(&mut self, value: f64) {
        self.0.extend_from_slice(&value.to_bits().to_le_bytes());
    }

    pub fn vector(&mut self, v: Vec3) {
        self.floats(&[v.x, v.y, v.z]);
    }

    pub fn floats(&mut self, values: &[f64]) {
        values.iter().for_each(|value| self.float(*value));
    }

    pub fn text(&mut self, text: &str) -> Result<(), RecordingError> {
        check_length("a text", text.len() as u64, MAX_TEXT_BYTES)?;
        self.varint(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }

    pub fn list_length(&mut self, length: usize) -> Result<(), RecordingError> {
        check_length("a list", length as u64, MAX_LIST_LENGTH)?;
        self.varint(length as u64);
        Ok(())
    }
}

/// Reads primitives from a stream, and knows how far it has come.
pub(super) struct Decoder<R> {
    pub source: R,
    /// How many whole events have been read: said in errors.
    pub events: u64,
    /// How many more bytes the header may have; nothing once it has been read.
    header_left: Option<u64>,
}

impl<R: Read> Decoder<R> {
    /// A decoder at the beginning of a header.
    pub fn new(source: R) -> Self {
        Self { source, events: 0, header_left: Some(MAX_HEADER_BYTES as u64) }
    }

    /// Lifts the limit on the header: events are not held, so there may be any number of them.
    pub fn end_header(&mut self) {
        self.header_left = None;
    }

    pub fn exact(&mut self, buffer: &mut [u8]) -> Result<(), RecordingError> {
        if let Some(left) = self.header_left {
            let left = left.checked_sub(buffer.len() as u64);
            self.header_left = Some(left.ok_or(self.corrupt("its header is longer than recordings allow"))?);
        }
        self.source.read_exact(buffer).map_err(|error| self.failure(error))
    }

    pub fn byte(&mut self) -> Result<u8, RecordingError> {
        let mut byte = [0];
        self.exact(&mut byte)?;
        Ok(byte[0])
    }

    pub fn varint(&mut self) -> Result<u64, RecordingError> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            // The tenth byte has room for one bit. No byte but the first may be 0 at the end: one number, one form.
            if (shift == 63 && bits > 1) || (shift > 0 && byte == 0) {
                return Err(self.corrupt("a number has more digits than it needs"));
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.corrupt("a number has too many digits"))
    }

    pub fn signed(&mut self) -> Result<i64, RecordingError> {
        let zigzag = self.varint()?;
        Ok((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }

    /// The number of a host or an entity.
    pub fn number(&mut self) -> Result<u32, RecordingError> {
        let value = self.varint()?;
        u32::try_from(value).map_err(|_| self.corrupt("the number of a host or an entity is too large"))
    }

    pub fn float(&mut self) -> Result<f64, RecordingError> {
        let mut bytes = [0; 8];
        self.exact(&mut bytes)?;
        Ok(f64::from_bits(u64::from_le_bytes(bytes)))
    }

    pub fn vector(&mut self) -> Result<Vec3, RecordingError> {
        Ok(Vec3::from(self.floats()?))
    }

    pub fn floats<const N: usize>(&mut self) -> Result<[f64; N], RecordingError> {
        let mut values = [0.0; N];
        for value in &mut values {
            *value = self.float()?;
        }
        Ok(values)
    }

    pub fn text(&mut self) -> Result<String, RecordingError> {
        let length = self.varint()?;
        check_length("a text", length, MAX_TEXT_BYTES)?;
        // Piece by piece, so that a length alone allocates nothing.
        let mut bytes = Vec::new();
        let mut left = length as usize;
        while left > 0 {
            let mut piece = [0; 256];
            let piece = &mut piece[..left.min(256)];
            self.exact(piece)?;
            bytes.extend_from_slice(piece);
            left -= piece.len();
        }
        String::from_utf8(bytes).map_err(|_| self.corrupt("a text is not UTF-8"))
    }

    pub fn list<T>(
        &mut self,
        mut entry: impl FnMut(&mut Self) -> Result<T, RecordingError>,
    ) -> Result<Vec<T>, RecordingError> {
        let length = self.varint()?;
        check_length("a list", length, MAX_LIST_LENGTH)?;
        // No capacity is reserved: the list grows as its entries arrive.
        let mut entries = Vec::new();
        for _ in 0..length {
            entries.push(entry(self)?);
        }
        Ok(entries)
    }

    /// Fails unless the stream ends here. For a compressed stream this also checks the checksum, which comes last.
    pub fn end(&mut self) -> Result<(), RecordingError> {
        loop {
            return match self.source.read(&mut [0]) {
                Ok(0) => Ok(()),
                Ok(_) => Err(self.corrupt("there is more after its end")),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(self.failure(error)),
            };
        }
    }

    pub fn corrupt(&self, problem: &'static str) -> RecordingError {
        RecordingError::Corrupt { events: self.events, problem }
    }

    fn failure(&self, error: io::Error) -> RecordingError {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => RecordingError::Truncated { events: self.events },
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                RecordingError::Damaged { events: self.events, problem: error.to_string() }
            }
            _ => RecordingError::Io(error),
        }
    }
}

pub(super) fn check_length(what: &'static str, length: u64, limit: usize) -> Result<(), RecordingError> {
    if length > limit as u64 { Err(RecordingError::TooLong { what, length, limit }) } else { Ok(()) }
}
