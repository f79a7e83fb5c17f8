//! Writing a recording event by event.

use super::codec::{Encoder, check_length};
use super::event::{Event, Header, tag};
use super::{FORMAT_VERSION, MAGIC, MAX_HEADER_BYTES, RecordingError, motion};
use evenkeel::GlobalTime;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write};

/// Writes a recording.
///
/// Call [`finish`](Self::finish) at the end. A recording without it reads as far as it goes, and then as truncated.
///
/// ```
/// use evenkeel::GlobalTime;
/// use evenkeel_link::recording::{Event, Header, RecordingReader, RecordingWriter};
/// let header = Header { program: "example 1.0".into(), seed: 42, ..Header::default() };
/// let mut writer = RecordingWriter::new(Vec::new(), &header)?;
/// let event = Event::Sent { entity: 0, sequence: 1, to: 2, at: GlobalTime::from_millis(5) };
/// writer.write(&event)?;
/// let bytes = writer.finish()?;
///
/// let mut reader = RecordingReader::new(&bytes[..], &[])?;
/// assert_eq!(reader.header().seed, 42);
/// assert_eq!(reader.next().transpose()?, Some(event));
/// assert!(reader.next().is_none());
/// # Ok::<(), evenkeel_link::recording::RecordingError>(())
/// ```
#[derive(Debug)]
pub struct RecordingWriter<W: Write> {
    sink: GzEncoder<W>,
    /// One event at a time is put together here.
    buffer: Vec<u8>,
    /// Times are written as what has passed since the event before.
    previous: GlobalTime,
    events: u64,
}

impl<W: Write> RecordingWriter<W> {
    /// Begins a recording. The sink is written to in large pieces; it needs no buffer of its own.
    pub fn new(mut sink: W, header: &Header) -> Result<Self, RecordingError> {
        let mut buffer = Vec::new();
        encode_header(&mut Encoder(&mut buffer), header)?;
        check_length("a header", buffer.len() as u64, MAX_HEADER_BYTES)?;
        sink.write_all(&MAGIC).map_err(RecordingError::Io)?;
        sink.write_all(&FORMAT_VERSION.to_le_bytes()).map_err(RecordingError::Io)?;
        // Most of a recording is floats, which the best compression packs 4 % better for four times the work.
        let sink = GzEncoder::new(sink, Compression::fast());
        let mut writer = Self { sink, buffer, previous: GlobalTime::ZERO, events: 0 };
        writer.pass_on()?;
        Ok(writer)
    }

    /// Writes an event. They need not come in order of time, but take less space if they nearly do.
    pub fn write(&mut self, event: &Event) -> Result<(), RecordingError> {
        self.buffer.clear();
        // The difference wraps round, as does the sum in the reader: any two times are possible.
        let passed = event.at().as_nanos().wrapping_sub(self.previous.as_nanos());
        encode_event(&mut Encoder(&mut self.buffer), event, passed)?;
        self.pass_on()?;
        self.previous = event.at();
        self.events += 1;
        Ok(())
    }

    /// How many events have been written.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Passes on all that was written so far, at some cost in compression: what is flushed survives a crash.
    pub fn flush(&mut self) -> Result<(), RecordingError> {
        self.sink.flush().map_err(RecordingError::Io)
    }

    /// Ends the recording and gives the sink back.
    pub fn finish(mut self) -> Result<W, RecordingError> {
        self.buffer.clear();
        let mut out = Encoder(&mut self.buffer);
        out.byte(tag::END);
        out.varint(self.events);
        self.pass_on()?;
        let finished: io::Result<W> = self.sink.finish();
        finished.map_err(RecordingError::Io)
    }

    fn pass_on(&mut self) -> Result<(), RecordingError> {
        self.sink.write_all(&self.buffer).map_err(RecordingError::Io)
    }
}

fn encode_header(out: &mut Encoder<'_>, header: &Header) -> Result<(), RecordingError> {
    out.text(&header.program)?;
    out.varint(header.seed);
    out.list_length(header.settings.len())?;
    for (key, value) in &header.settings {
        out.text(key)?;
        out.text(value)?;
    }
    for names in [&header.hosts, &header.entities] {
        out.list_length(names.len())?;
        names.iter().try_for_each(|name| out.text(name))?;
    }
    Ok(())
}

fn encode_event(out: &mut Encoder<'_>, event: &Event, passed: i64) -> Result<(), RecordingError> {
    let mut begin = |tag| {
        out.byte(tag);
        out.signed(passed);
    };
    match event {
        Event::Real { entity, position, velocity, heading, .. } => {
            begin(tag::REAL);
            out.varint((*entity).into());
            out.vector(*position);
            out.vector(*velocity);
            out.float(*heading);
        }
        Event::Exported { entity, sequence, motion, .. } => {
            begin(tag::EXPORTED);
            out.varint((*entity).into());
            out.varint(*sequence);
            motion::write(out, motion);
        }
        Event::Sent { entity, sequence, to: host, .. }
        | Event::Received { entity, sequence, by: host, .. }
        | Event::Lost { entity, sequence, to: host, .. } => {
            begin(match event {
                Event::Sent { .. } => tag::SENT,
                Event::Received { .. } => tag::RECEIVED,
                _ => tag::LOST,
            });
            out.varint((*entity).into());
            out.varint(*sequence);
            out.varint((*host).into());
        }
        Event::Placed { entity, by, position, heading, .. } => {
            begin(tag::PLACED);
            out.varint((*entity).into());
            out.varint((*by).into());
            out.vector(*position);
            out.float(*heading);
        }
        Event::Note { text, .. } => {
            begin(tag::NOTE);
            out.text(text)?;
        }
    }
    Ok(())
}
