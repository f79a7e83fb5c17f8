//! Files that say how tanks moved.

use anyhow::{Context, Result, bail};
use evenkeel::GlobalTime;
use evenkeel_bzflag::Tap;
use evenkeel_bzflag::message::TankUpdate;
use evenkeel_bzflag::record::{CsvRecorder, LinkRecorder, Recorder, Stamps};
use evenkeel_lab::report::VERSION;
use evenkeel_link::recording::Header;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;

/// So many updates may wait for the disk: those of forty tanks for half a minute.
const WAITING: usize = 65_536;

/// What a file's name says it shall be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Csv,
    GzippedCsv,
    Recording,
}

impl Format {
    pub(super) fn of(path: &Path) -> Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Ok(match &*name {
            name if name.ends_with(".csv") => Self::Csv,
            name if name.ends_with(".csv.gz") => Self::GzippedCsv,
            name if name.ends_with(".evk") => Self::Recording,
            _ => bail!("{}: a record's name ends with .csv, .csv.gz or .evk", path.display()),
        })
    }
}

/// Begins a file.
pub(super) fn create(path: &Path) -> Result<Box<dyn Recorder + Send>> {
    let format = Format::of(path)?;
    let begin = || -> io::Result<Box<dyn Recorder + Send>> {
        let file = BufWriter::new(File::create(path)?);
        Ok(match format {
            Format::Csv => Box::new(CsvRecorder::new(file)?),
            Format::GzippedCsv => Box::new(CsvRecorder::new(Gzip(GzEncoder::new(file, Compression::default())))?),
            Format::Recording => Box::new(LinkRecorder::new(file, &header())?),
        })
    };
    begin().with_context(|| format!("cannot write {}", path.display()))
}

fn header() -> Header {
    let settings = vec![("game".to_owned(), "BZFlag".to_owned())];
    Header { program: format!("evenkeel {VERSION}"), settings, ..Header::default() }
}

/// A compressed file. Recorders flush once, when they finish: then it ends as such files must.
struct Gzip(GzEncoder<BufWriter<File>>);

impl Write for Gzip {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.try_finish()?;
        self.0.get_mut().flush()
    }
}

/// A file that is written while a relay runs, by a thread of its own.
pub(super) struct Tape {
    path: PathBuf,
    thread: JoinHandle<io::Result<u64>>,
}

impl Tape {
    /// Begins a file, and answers where updates for it go.
    pub(super) fn start(path: &Path) -> Result<(Self, Tap)> {
        let recorder = create(path)?;
        let (tap, updates) = sync_channel(WAITING);
        let thread = std::thread::spawn(move || write(recorder, &updates));
        Ok((Self { path: path.to_owned(), thread }, tap))
    }

    /// Waits until all is written, which nobody may add to any more; says how many updates that are.
    pub(super) fn finish(self) -> Result<u64> {
        let written = self.thread.join().map_err(|_| anyhow::anyhow!("the recorder died"))?;
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }
}

fn write(mut recorder: Box<dyn Recorder + Send>, updates: &Receiver<(GlobalTime, TankUpdate)>) -> io::Result<u64> {
    let (mut stamps, mut count) = (Stamps::default(), 0);
    for (received, update) in updates {
        if let Err(problem) = recorder.record(stamps.time(received, &update), &update) {
            tracing::error!(%problem, "nothing more is recorded");
            return Err(problem);
        }
        count += 1;
    }
    recorder.finish()?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn names_say_what_a_file_is() {
        let of = |name: &str| Format::of(Path::new(name)).ok();
        assert_eq!(of("a/b.csv"), Some(Format::Csv));
        assert_eq!(of("b.csv.gz"), Some(Format::GzippedCsv));
        assert_eq!(of("b.evk"), Some(Format::Recording));
        assert_eq!((of("b.gz"), of("csv"), of("x.csv/")), (None, None, Some(Format::Csv)));
    }

    #[test]
    fn a_compressed_tape_is_whole() {
        let path = std::env::temp_dir().join(format!("evenkeel-tape-{}.csv.gz", std::process::id()));
        let (tape, tap) = Tape::start(&path).unwrap();
        for n in 0..1000 {
            let update = TankUpdate { order: n, stamp: n as f32, ..TankUpdate::of(3) };
            tap.send((GlobalTime::from_millis(1000 * i64::from(n)), update)).unwrap();
        }
        drop(tap);
        assert_eq!(tape.finish().unwrap(), 1000);
        let mut text = String::new();
        flate2::read::GzDecoder::new(File::open(&path).unwrap()).read_to_string(&mut text).unwrap();
        assert_eq!(text.lines().count(), 1001);
        assert!(text.ends_with("\n999,3,0,0,0,0,0,0,0,0,1,999\n"), "{text}");
        std::fs::remove_file(path).unwrap();
    }
}
