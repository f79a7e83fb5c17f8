//! Writing a run down while it is shown.

use super::remark::{Cast, Remark};
use super::store::{Recordings, Spool};
use crate::feed::{Frame, Mark, State, Text};
use data_encoding::HEXLOWER;
use evenkeel::{GlobalTime, Vec3};
use evenkeel_link::recording::{Event, Header, RecordingError, RecordingWriter};
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A recording that has so many bytes ends.
pub const MAX_BYTES: u64 = 200_000_000;
/// A recording of so many seconds ends.
pub const MAX_SECONDS: f64 = 1_800.0;
/// Nothing moves faster, in either game: who does has been put elsewhere. Units per second.
const FASTEST: f64 = 500.0;

/// A recording that is being made.
pub(crate) struct Film {
    writer: RecordingWriter<Counted>,
    written: Arc<AtomicU64>,
    recordings: Arc<Recordings>,
    name: String,
    spool: Spool,
    /// The demo's time when it began.
    begin: Option<f64>,
    now: GlobalTime,
    numbers: Numbers,
    cast: Cast,
    /// As they were last written down.
    flags: Vec<u8>,
    before: Option<(f64, Vec<Mark>)>,
}

impl Film {
    /// Begins a recording of what there is.
    pub(crate) fn begin(recordings: &Arc<Recordings>, state: &State, seed: u64) -> Result<Self, String> {
        let (name, spool) = recordings.name();
        let mut numbers = Numbers::default();
        let cast = numbers.cast(state);
        let header = Header {
            program: concat!("evenkeel ", env!("CARGO_PKG_VERSION")).into(),
            seed,
            settings: settings(state)?,
            hosts: numbers.hosts.iter().map(|(world, view)| format!("{}, {view}", world_name(*world))).collect(),
            entities: numbers.crafts.iter().map(|(_, name)| name.clone()).collect(),
        };
        let written = Arc::new(AtomicU64::new(0));
        let file = File::create(spool.path()).map_err(|error| format!("there is no room to record: {error}"))?;
        let writer = RecordingWriter::new(Counted { file, written: written.clone() }, &header).map_err(failed)?;
        let recordings = recordings.clone();
        let (begin, now, flags, before) = (None, GlobalTime::ZERO, Vec::new(), None);
        let mut film = Self { writer, written, recordings, name, spool, begin, now, numbers, cast, flags, before };
        film.note(&Remark::Cast(Box::new(film.cast.clone())))?;
        Ok(film)
    }

    /// Settings or players have changed.
    pub(crate) fn state(&mut self, state: &State) -> Result<(), String> {
        self.cast = self.numbers.cast(state);
        (self.flags, self.before) = (Vec::new(), None);
        self.note(&Remark::Cast(Box::new(self.cast.clone())))
    }

    /// Something was said.
    pub(crate) fn text(&mut self, text: &Text) -> Result<(), String> {
        match text {
            Text::Second(second) => self.note(&Remark::Second(second.clone())),
            Text::News { text } => self.note(&Remark::News(text.clone())),
            Text::State(_) | Text::Recorded { .. } => Ok(()),
        }
    }

    /// A picture was shown.
    pub(crate) fn frame(&mut self, frame: &Frame) -> Result<(), String> {
        let passed = frame.time_s - *self.begin.get_or_insert(frame.time_s);
        if passed > MAX_SECONDS {
            return Err(format!("{:.0} minutes are the most", MAX_SECONDS / 60.0));
        }
        if self.written.load(Ordering::Relaxed) > MAX_BYTES {
            return Err(format!("{} MB are the most", MAX_BYTES / 1_000_000));
        }
        self.now = GlobalTime::from_secs_f64(passed);
        let flags: Vec<u8> = marks(frame).map(|mark| mark.flags).collect();
        if flags != self.flags {
            self.note(&Remark::Flags(HEXLOWER.encode(&flags)))?;
            self.flags = flags;
        }
        if !frame.shots.is_empty() {
            let rounded = |x: f64| (x * 50.0).round() / 50.0;
            let shots = frame.shots.iter().map(|(x, y, by)| (rounded(*x), rounded(*y), *by));
            self.note(&Remark::Shots(shots.collect()))?;
        }
        self.places(frame)
    }

    /// Ends the recording; gives its name.
    pub(crate) fn finish(self) -> Result<String, String> {
        let mut file = self.writer.finish().map_err(failed)?;
        file.flush().map_err(|error| error.to_string())?;
        self.recordings.keep(&self.name, self.spool);
        Ok(self.name)
    }

    /// Where everything is and is shown.
    fn places(&mut self, frame: &Frame) -> Result<(), String> {
        let at = self.now;
        for (n, (mark, &entity)) in frame.truth.iter().zip(&self.cast.entities).enumerate() {
            if mark.flags & 1 != 0 {
                let (position, velocity, heading) = (place(mark), self.velocity(n, frame.time_s, mark), mark.heading);
                self.writer.write(&Event::Real { entity, at, position, velocity, heading }).map_err(failed)?;
            }
        }
        for (views, hosts) in frame.shown.iter().zip(&self.cast.hosts) {
            for (crafts, &by) in views.iter().zip(hosts) {
                for (mark, &entity) in crafts.iter().zip(&self.cast.entities).filter(|(mark, _)| mark.flags & 1 != 0) {
                    let placed = Event::Placed { entity, by, at, position: place(mark), heading: mark.heading };
                    self.writer.write(&placed).map_err(failed)?;
                }
            }
        }
        self.before = Some((frame.time_s, frame.truth.clone()));
        Ok(())
    }

    /// How fast a craft has gone since the frame before.
    fn velocity(&self, craft: usize, time_s: f64, mark: &Mark) -> Vec3 {
        let Some((before_s, marks)) = &self.before else { return Vec3::ZERO };
        let seconds = time_s - before_s;
        match marks.get(craft).filter(|before| before.flags & 1 != 0 && seconds > 0.0) {
            Some(before) => {
                let velocity = (place(mark) - place(before)) * (1.0 / seconds);
                if velocity.length() <= FASTEST { velocity } else { Vec3::ZERO }
            }
            None => Vec3::ZERO,
        }
    }

    fn note(&mut self, remark: &Remark) -> Result<(), String> {
        self.writer.write(&Event::Note { at: self.now, text: remark.text()? }).map_err(failed)
    }
}

/// By which numbers a recording speaks of crafts and receivers. They are never used again for others.
#[derive(Default)]
struct Numbers {
    /// The demo's number and the name of each craft.
    crafts: Vec<(u32, String)>,
    /// The world and the name of each receiver.
    hosts: Vec<(usize, String)>,
}

impl Numbers {
    fn cast(&mut self, state: &State) -> Cast {
        let crafts = &mut self.crafts;
        let entities = state.crafts.iter().map(|craft| number(crafts, (craft.id, craft.name.clone()))).collect();
        let worlds = 0..1 + usize::from(state.settings.right.is_some());
        let hosts = &mut self.hosts;
        let hosts = worlds.map(|world| state.views.iter().map(|v| number(hosts, (world, v.name.clone()))).collect());
        Cast { state: state.clone(), entities, hosts: hosts.collect() }
    }
}

fn number<T: PartialEq>(known: &mut Vec<T>, wanted: T) -> u32 {
    let found = known.iter().position(|one| *one == wanted);
    let index = found.unwrap_or_else(|| {
        known.push(wanted);
        known.len() - 1
    });
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn settings(state: &State) -> Result<Vec<(String, String)>, String> {
    let whole = serde_json::to_string(&state.settings).map_err(|error| error.to_string())?;
    let left = &state.settings.left;
    let right = state.settings.right.as_ref().map(|right| ("right", format!("{} at {}", right.policy, right.budget)));
    let named = [("command", "demo".to_owned()), ("left", format!("{} at {}", left.policy, left.budget))];
    let all = named.into_iter().chain(right).chain([("settings", whole)]);
    Ok(all.map(|(key, value)| (key.to_owned(), value)).collect())
}

fn world_name(world: usize) -> &'static str {
    if world == 0 { "left" } else { "right" }
}

fn marks(frame: &Frame) -> impl Iterator<Item = &Mark> {
    frame.truth.iter().chain(frame.shown.iter().flatten().flatten())
}

fn place(mark: &Mark) -> Vec3 {
    Vec3::new(mark.x, mark.y, 0.0)
}

fn failed(error: RecordingError) -> String {
    error.to_string()
}

/// A file that says how long it has become.
struct Counted {
    file: File,
    written: Arc<AtomicU64>,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.file.write(bytes)?;
        self.written.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
