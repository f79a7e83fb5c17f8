//! One message on the wire: how long, which, and its bytes.

use super::bytes::Bytes;
use super::{Code, MessageError};

/// How many bytes come before a payload: its length and its code, two bytes each.
pub const HEAD_BYTES: usize = 4;

/// The longest payload: a message has at most 1024 bytes with its head, and pieces of the world have just that.
pub const MAX_PAYLOAD: usize = 1020;

/// A message whose meaning has not been looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Which message.
    pub code: Code,
    /// What it says, at most [`MAX_PAYLOAD`] bytes.
    pub payload: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Appends it as it travels, head and payload.
    ///
    /// # Panics
    /// If the payload is longer than [`MAX_PAYLOAD`]; what was read never is.
    pub fn emit(&self, out: &mut Vec<u8>) {
        assert!(self.payload.len() <= MAX_PAYLOAD, "a payload of {} bytes", self.payload.len());
        out.extend_from_slice(&(self.payload.len() as u16).to_be_bytes());
        out.extend_from_slice(&self.code.0.to_be_bytes());
        out.extend_from_slice(self.payload);
    }

    /// The bytes of what must be the message `code`.
    pub(super) fn expect(self, code: Code) -> Result<Bytes<'a>, MessageError> {
        if self.code == code {
            Ok(Bytes::new(self.payload))
        } else {
            Err(MessageError::WrongCode { expected: code, found: self.code })
        }
    }
}

/// The frames of a datagram, in order. The first error is the last item.
///
/// ```
/// use evenkeel_bzflag::message::{Code, frames};
/// let datagram = [0, 2, b'p', b'i', 0, 9, 0, 0, b'e', b'x'];
/// let codes: Result<Vec<Code>, _> = frames(&datagram).map(|frame| frame.map(|frame| frame.code)).collect();
/// assert_eq!(codes, Ok(vec![Code::LAG_PING, Code::EXIT]));
/// ```
pub fn frames(datagram: &[u8]) -> impl Iterator<Item = Result<Frame<'_>, MessageError>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = datagram.get(at..).filter(|rest| !rest.is_empty())?;
        let (frame, next) = match split(rest, at) {
            Ok(Some(frame)) => (Ok(frame), at + HEAD_BYTES + frame.payload.len()),
            Ok(None) => (Err(incomplete(rest, at)), usize::MAX),
            Err(error) => (Err(error), usize::MAX),
        };
        at = next;
        Some(frame)
    })
}

/// Cuts a TCP stream into frames.
///
/// A length that no message has is an error, after which there is nothing more to be read: no one knows where the next
/// frame would begin. Between two calls of [`push`](Self::push) all frames should be taken out; then at most one
/// incomplete frame is kept besides what is pushed.
///
/// ```
/// use evenkeel_bzflag::message::{Code, FrameReader};
/// let mut reader = FrameReader::default();
/// reader.push(&[0, 2, b'p', b'i', 0]);
/// assert_eq!(reader.next_frame(), Ok(None));
/// reader.push(&[9, 0, 0]);
/// let frame = reader.next_frame()?.expect("it is complete");
/// assert_eq!((frame.code, frame.payload), (Code::LAG_PING, &[0, 9][..]));
/// assert_eq!(reader.next_frame(), Ok(None));
/// # Ok::<(), evenkeel_bzflag::message::MessageError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct FrameReader {
    buffer: Vec<u8>,
    /// How much of the buffer was taken out.
    taken: usize,
}

impl FrameReader {
    /// Takes what has arrived. Nothing is kept once the stream is broken.
    pub fn push(&mut self, bytes: &[u8]) {
        if split(&self.buffer[self.taken..], 0).is_ok() {
            self.buffer.drain(..self.taken);
            self.taken = 0;
            self.buffer.extend_from_slice(bytes);
        }
    }

    /// The next frame, if it has arrived as a whole.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, MessageError> {
        let frame = split(&self.buffer[self.taken..], 0)?;
        if let Some(frame) = frame {
            self.taken += HEAD_BYTES + frame.payload.len();
        }
        Ok(frame)
    }

    /// How many bytes have arrived and were not taken out.
    pub fn pending(&self) -> usize {
        self.buffer.len() - self.taken
    }
}

/// The frame at the beginning of `bytes`, which lie at `at`; none if it is not complete.
fn split(bytes: &[u8], at: usize) -> Result<Option<Frame<'_>>, MessageError> {
    let Some((&[a, b, c, d], rest)) = bytes.split_first_chunk::<HEAD_BYTES>() else { return Ok(None) };
    let length = usize::from(u16::from_be_bytes([a, b]));
    if length > MAX_PAYLOAD {
        return Err(MessageError::TooLong { length, at });
    }
    Ok(rest.get(..length).map(|payload| Frame { code: Code(u16::from_be_bytes([c, d])), payload }))
}

fn incomplete(rest: &[u8], at: usize) -> MessageError {
    let payload = rest.first_chunk().map_or(0, |&[a, b]| usize::from(u16::from_be_bytes([a, b])));
    let needed = if rest.len() < HEAD_BYTES { HEAD_BYTES } else { HEAD_BYTES + payload };
    MessageError::Truncated { what: "the frame", at, needed, left: rest.len() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_datagram_gives_its_frames_and_then_what_is_wrong() {
        let ping = [0, 2, b'p', b'i', 0, 9];
        let frame = Frame { code: Code::LAG_PING, payload: &[0, 9] };
        let truncated = |needed, left| MessageError::Truncated { what: "the frame", at: 6, needed, left };
        for (rest, error) in [
            (&[0, 2, b'p'][..], truncated(4, 3)),
            (&[0, 2, b'p', b'i', 1], truncated(6, 5)),
            (&[3, 253, b'p', b'i', 1], MessageError::TooLong { length: 1021, at: 6 }),
        ] {
            let datagram = [&ping[..], rest].concat();
            assert_eq!(frames(&datagram).collect::<Vec<_>>(), [Ok(frame), Err(error)]);
        }
        assert_eq!(frames(&[]).count(), 0);
    }

    #[test]
    fn a_broken_stream_stays_broken_and_keeps_nothing_more() {
        let mut reader = FrameReader::default();
        reader.push(&[0xff; 8]);
        for _ in 0..3 {
            assert_eq!(reader.next_frame(), Err(MessageError::TooLong { length: 65535, at: 0 }));
            reader.push(&[0; 1000]);
            assert_eq!(reader.pending(), 8);
        }
    }

    #[test]
    fn a_reader_keeps_no_more_than_a_frame_that_is_not_complete() {
        let mut stream = Vec::new();
        for _ in 0..100 {
            Frame { code: Code::GET_WORLD, payload: &[7; MAX_PAYLOAD] }.emit(&mut stream);
        }
        let mut reader = FrameReader::default();
        let mut count = 0;
        for piece in stream.chunks(1500) {
            reader.push(piece);
            assert!(reader.buffer.len() < HEAD_BYTES + MAX_PAYLOAD + 1500);
            while reader.next_frame().unwrap().is_some() {
                count += 1;
            }
        }
        assert_eq!((count, reader.pending()), (100, 0));
    }

    proptest! {
        #[test]
        fn what_is_emitted_is_read_however_it_is_cut(
            sent in prop::collection::vec((any::<u16>(), prop::collection::vec(any::<u8>(), 0..60)), 0..20),
            size in 1usize..50,
        ) {
            let sent: Vec<_> = sent.iter().map(|(code, payload)| Frame { code: Code(*code), payload }).collect();
            let mut stream = Vec::new();
            sent.iter().for_each(|frame| frame.emit(&mut stream));
            let read: Result<Vec<_>, _> = frames(&stream).collect();
            prop_assert_eq!(read.unwrap(), &sent[..]);

            let mut reader = FrameReader::default();
            let mut expected = sent.iter();
            for piece in stream.chunks(size) {
                reader.push(piece);
                while let Some(frame) = reader.next_frame().unwrap() {
                    prop_assert_eq!(Some(&frame), expected.next());
                }
            }
            prop_assert!(expected.next().is_none());
        }

        #[test]
        fn any_bytes_are_frames_or_an_error(bytes: Vec<u8>) {
            let taken: usize = frames(&bytes).flatten().map(|frame| HEAD_BYTES + frame.payload.len()).sum();
            prop_assert_eq!(taken == bytes.len(), frames(&bytes).all(|frame| frame.is_ok()));
        }
    }
}
