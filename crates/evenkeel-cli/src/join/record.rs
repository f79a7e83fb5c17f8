//! `--record`: what was, and what was shown, in the format of all recordings.

use anyhow::{Context, Result};
use evenkeel::{Duration, EntityId, GlobalTime, Placement, Vec3};
use evenkeel_link::recording::{Event, Header, RecordingWriter};
use std::fs::File;
use std::path::{Path, PathBuf};

/// A recording of what the players of this program saw. Times are the common ones, from when it began.
pub(super) struct Recording {
    writer: RecordingWriter<File>,
    path: PathBuf,
    begin: i64,
}

impl Recording {
    pub(super) fn new(path: &Path, players: Vec<String>, seed: u64, url: &str, begin: i64) -> Result<Self> {
        let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        let header = Header {
            program: concat!("evenkeel ", env!("CARGO_PKG_VERSION")).into(),
            seed,
            settings: vec![("url".into(), url.into())],
            hosts: players,
            entities: Vec::new(),
        };
        let writer = RecordingWriter::new(file, &header)?;
        Ok(Self { writer, path: path.to_owned(), begin })
    }

    /// One entity at one moment: where it is, and where a player shows it.
    pub(super) fn note(&mut self, entity: EntityId, by: u32, unix: i64, real: Vec3, shown: &Placement) -> Result<()> {
        let at = GlobalTime::ZERO + Duration::from_nanos(unix.saturating_sub(self.begin));
        let (entity, heading) = (entity.0, shown.attitude.heading());
        let really = Event::Real { entity, at, position: real, velocity: shown.velocity, heading };
        let placed = Event::Placed { entity, by, at, position: shown.position, heading };
        let written = self.writer.write(&really).and_then(|()| self.writer.write(&placed));
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }

    pub(super) fn finish(self) -> Result<()> {
        self.writer.finish().with_context(|| format!("cannot write {}", self.path.display()))?;
        Ok(())
    }
}
