//! Reading a recording event by event.

use super::codec::Decoder;
use super::event::{Event, Header, tag};
use super::{FORMAT_VERSION, MAGIC, RecordingError, motion};
use evenkeel::GlobalTime;
use evenkeel::motion::LawRef;
use flate2::bufread::GzDecoder;
use std::fmt;
use std::io::{BufRead, BufReader, Read};

/// Reads a recording: an iterator over its [`Event`]s. After an error it gives nothing more.
///
/// See [`RecordingWriter`](super::RecordingWriter) for an example.
pub struct RecordingReader<R: Read> {
    decoder: Decoder<BufReader<GzDecoder<BufReader<R>>>>,
    header: Header,
    laws: Vec<LawRef>,
    previous: GlobalTime,
    done: bool,
}

impl<R: Read> RecordingReader<R> {
    /// Opens a recording and reads its header. Motions of a game's own need their laws.
    pub fn new(mut source: R, laws: &[LawRef]) -> Result<Self, RecordingError> {
        read_preamble(&mut source)?;
        let mut decoder = Decoder::new(BufReader::new(GzDecoder::new(BufReader::new(source))));
        let header = Header {
            program: decoder.text()?,
            seed: decoder.varint()?,
            settings: decoder.list(|decoder| Ok((decoder.text()?, decoder.text()?)))?,
            hosts: decoder.list(Decoder::text)?,
            entities: decoder.list(Decoder::text)?,
        };
        decoder.end_header();
        Ok(Self { decoder, header, laws: laws.to_vec(), previous: GlobalTime::ZERO, done: false })
    }

    /// What the recording says about the run as a whole.
    pub fn header(&self) -> &Header {
        &self.header
    }

    fn read(&mut self) -> Result<Option<Event>, RecordingError> {
        let tag = self.decoder.byte()?;
        if tag == tag::END {
            return self.read_end().map(|()| None);
        }
        let passed = self.decoder.signed()?;
        let at = GlobalTime::from_nanos(self.previous.as_nanos().wrapping_add(passed));
        let event = self.read_event(tag, at)?;
        self.previous = at;
        self.decoder.events += 1;
        Ok(Some(event))
    }

    fn read_end(&mut self) -> Result<(), RecordingError> {
        if self.decoder.varint()? != self.decoder.events {
            return Err(self.decoder.corrupt("it says it has another number of events"));
        }
        self.decoder.end()?;
        // Two recordings in one file would otherwise pass for the first.
        match self.decoder.source.get_mut().get_mut().fill_buf() {
            Ok([]) => Ok(()),
            Ok(_) => Err(self.decoder.corrupt("there is more after its end")),
            Err(error) => Err(RecordingError::Io(error)),
        }
    }

    fn read_event(&mut self, tag: u8, at: GlobalTime) -> Result<Event, RecordingError> {
        let input = &mut self.decoder;
        // Fields are read in the order they are named in.
        Ok(match tag {
            tag::REAL => Event::Real {
                entity: input.number()?,
                at,
                position: input.vector()?,
                velocity: input.vector()?,
                heading: input.float()?,
            },
            tag::EXPORTED => Event::Exported {
                entity: input.number()?,
                sequence: input.varint()?,
                generated: at,
                motion: motion::read(input, &self.laws)?,
            },
            tag::SENT => Event::Sent { entity: input.number()?, sequence: input.varint()?, to: input.number()?, at },
            tag::RECEIVED => {
                Event::Received { entity: input.number()?, sequence: input.varint()?, by: input.number()?, at }
            }
            tag::LOST => Event::Lost { entity: input.number()?, sequence: input.varint()?, to: input.number()?, at },
            tag::PLACED => Event::Placed {
                entity: input.number()?,
                by: input.number()?,
                at,
                position: input.vector()?,
                heading: input.float()?,
            },
            tag::NOTE => Event::Note { at, text: input.text()? },
            _ => return Err(input.corrupt("an event is of no known kind")),
        })
    }
}

impl<R: Read> Iterator for RecordingReader<R> {
    type Item = Result<Event, RecordingError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let event = self.read().transpose();
        self.done = !matches!(event, Some(Ok(_)));
        event
    }
}

impl<R: Read> std::iter::FusedIterator for RecordingReader<R> {}

impl<R: Read> fmt::Debug for RecordingReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordingReader").field("header", &self.header).field("events", &self.decoder.events).finish()
    }
}

/// What is not compressed, so that a recording is known by its first bytes.
fn read_preamble(source: &mut impl Read) -> Result<(), RecordingError> {
    let mut found = Vec::new();
    source.by_ref().take(MAGIC.len() as u64).read_to_end(&mut found).map_err(RecordingError::Io)?;
    if found != MAGIC {
        let cut_off = MAGIC.starts_with(&found);
        return Err(if cut_off {
            RecordingError::Truncated { events: 0 }
        } else {
            RecordingError::NotARecording { found }
        });
    }
    let mut version = [0; 2];
    Decoder::new(source).exact(&mut version)?;
    match u16::from_le_bytes(version) {
        0 => Err(RecordingError::Corrupt { events: 0, problem: "there is no format version 0" }),
        1..=FORMAT_VERSION => Ok(()),
        found => Err(RecordingError::FutureVersion { found }),
    }
}

/// How many times its own size the events of a recording may take in memory and still be read at once.
const MAX_RATIO: usize = 256;

/// However small the recording is, its events may take this much memory.
const ALWAYS_ALLOWED_BYTES: usize = 16 << 20;

/// Reads all the events of a recording in memory that has no motions of a game's own.
///
/// Memory stays in proportion to the input: a recording that unpacks to far more than its size is refused, and takes a
/// [`RecordingReader`] to be read event by event.
pub fn read_all(bytes: &[u8]) -> Result<Vec<Event>, RecordingError> {
    let limit = bytes.len().saturating_mul(MAX_RATIO).max(ALWAYS_ALLOWED_BYTES);
    let mut left = limit;
    let mut events = Vec::new();
    for event in RecordingReader::new(bytes, &[])? {
        let event = event?;
        let text_bytes = if let Event::Note { text, .. } = &event { text.len() } else { 0 };
        let takes = size_of::<Event>() + text_bytes;
        left = left.checked_sub(takes).ok_or(RecordingError::TooLarge { limit: limit as u64 })?;
        events.push(event);
    }
    Ok(events)
}
