//! Traces as recordings of [`evenkeel_link`].

use super::Recorder;
use crate::message::{Status, TankUpdate};
use evenkeel::{GlobalTime, Vec3};
use evenkeel_link::recording::{Event, Header, RecordingError, RecordingWriter};
use std::io::{self, Write};

/// Writes a recording of where living tanks really were: one [`Event::Real`] for each update. Entities are players.
#[derive(Debug)]
pub struct LinkRecorder<W: Write> {
    writer: Option<RecordingWriter<W>>,
}

impl<W: Write> LinkRecorder<W> {
    /// Begins a recording. Its header may name the players, by their numbers, as entities.
    pub fn new(sink: W, header: &Header) -> io::Result<Self> {
        Ok(Self { writer: Some(RecordingWriter::new(sink, header).map_err(io_error)?) })
    }
}

impl<W: Write> Recorder for LinkRecorder<W> {
    fn record(&mut self, at: GlobalTime, update: &TankUpdate) -> io::Result<()> {
        let writer = self.writer.as_mut().ok_or_else(|| io::Error::other("the recording was finished"))?;
        if !update.status.contains(Status::ALIVE) {
            return Ok(());
        }
        let (position, velocity) = (vec3(update.position), vec3(update.velocity));
        let (entity, heading) = (update.player.into(), update.azimuth.into());
        writer.write(&Event::Real { entity, at, position, velocity, heading }).map_err(io_error)
    }

    fn finish(&mut self) -> io::Result<()> {
        match self.writer.take() {
            Some(writer) => writer.finish().map_err(io_error)?.flush(),
            None => Ok(()),
        }
    }
}

fn vec3(vector: [f32; 3]) -> Vec3 {
    Vec3::from(vector.map(f64::from))
}

fn io_error(error: RecordingError) -> io::Error {
    match error {
        RecordingError::Io(error) => error,
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_link::recording::read_all;

    #[test]
    fn living_tanks_are_written_down_and_nothing_after_the_end() {
        let mut file = Vec::new();
        let mut recorder = LinkRecorder::new(&mut file, &Header::default()).unwrap();
        let at = GlobalTime::from_millis(5);
        let update = TankUpdate {
            position: [1.0, 2.0, 3.0],
            velocity: [4.0, 5.0, 6.0],
            azimuth: 0.5,
            status: Status::ALIVE | Status::FALLING,
            ..TankUpdate::of(7)
        };
        recorder.record(at, &update).unwrap();
        recorder.record(at, &TankUpdate { status: Status::EXPLODING, ..update }).unwrap();
        recorder.finish().unwrap();
        recorder.finish().unwrap();
        assert!(recorder.record(at, &update).is_err());
        drop(recorder);
        let (position, velocity) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(4.0, 5.0, 6.0));
        assert_eq!(read_all(&file).unwrap(), [Event::Real { entity: 7, at, position, velocity, heading: 0.5 }]);
    }
}
