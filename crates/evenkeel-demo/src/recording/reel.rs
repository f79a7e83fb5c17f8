//! Reading a recording as pictures, one after the other.

use super::remark::{Cast, Remark};
use super::store::Spool;
use crate::feed::{CraftInfo, Frame, Mark, Second, State, ViewInfo};
use crate::settings::Settings;
use data_encoding::HEXLOWER;
use evenkeel::{GlobalTime, Vec3};
use evenkeel_link::recording::{Event, Header, RecordingReader};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fs::File;
use std::path::Path;

/// What happens in so many seconds is one picture.
const ONE_PICTURE_S: f64 = 0.01;
/// A recording with more events is not shown: half an hour with the largest crowd has a quarter of them.
const MAX_EVENTS: u64 = 50_000_000;
/// Nor one with more bytes of notes, of which a small file can hold very many.
const MAX_NOTES: usize = 500_000_000;
/// So many entities and hosts of another program's recording are shown.
const MAX_ENTITIES: usize = 64;
const MAX_HOSTS: usize = 16;

/// What comes next in a recording.
pub(super) enum Piece {
    /// There is more, which takes longer to read than was allowed.
    Later,
    /// Nothing: it is over.
    End,
    Cast(Box<Cast>),
    Frame(Frame),
    Second(Box<Second>),
    News(String),
}

/// A recording as pictures. Everything stays where it was until it is said to be elsewhere.
pub(super) struct Reel {
    reader: RecordingReader<File>,
    cast: Cast,
    entities: HashMap<u32, usize>,
    hosts: HashMap<u32, (usize, usize)>,
    frame: Frame,
    /// Something of the frame has been read.
    begun: bool,
    /// The recording says which flags marks have.
    flagged: bool,
    next: VecDeque<(f64, Piece)>,
}

/// Reads a recording to its end, to know that it can be shown, and what it is about.
pub(super) fn examine(spool: &Spool) -> Result<(Cast, f64), String> {
    let mut reader = open(spool.path())?;
    let (mut count, mut notes, mut seconds, mut cast) = (0_u64, 0, 0.0_f64, None);
    let (mut entities, mut hosts) = (BTreeSet::new(), BTreeSet::new());
    for event in &mut reader {
        let event = event.map_err(|error| error.to_string())?;
        count += 1;
        if count > MAX_EVENTS {
            return Err(format!("the recording has more than {MAX_EVENTS} events: too many to be shown"));
        }
        if spool.is_closed() {
            return Err("the demo is stopping".into());
        }
        seconds = seconds.max(event.at().as_secs_f64());
        match event {
            Event::Real { entity, .. } if entities.len() < MAX_ENTITIES => drop(entities.insert(entity)),
            Event::Placed { by, .. } if hosts.len() < MAX_HOSTS => drop(hosts.insert(by)),
            Event::Note { text, .. } => {
                notes += text.len();
                if notes > MAX_NOTES {
                    return Err(format!("the recording has more than {} MB of notes", MAX_NOTES / 1_000_000));
                }
                if let (None, Some(Remark::Cast(first))) = (&cast, Remark::read(&text)?) {
                    cast = Some(*first);
                }
            }
            _ => {}
        }
    }
    if entities.is_empty() {
        return Err("there is nothing to be seen in this recording".into());
    }
    Ok((cast.unwrap_or_else(|| foreign(reader.header(), &entities, &hosts)), seconds))
}

/// What there is to see in another program's recording.
fn foreign(header: &Header, entities: &BTreeSet<u32>, hosts: &BTreeSet<u32>) -> Cast {
    let name = |names: &[String], number: u32| match names.get(number as usize) {
        Some(name) => name.clone(),
        None => number.to_string(),
    };
    let craft = |(n, &id): (usize, &u32)| CraftInfo {
        id,
        name: name(&header.entities, id),
        colour: u8::try_from(n % 8).unwrap_or_default(),
        human: false,
    };
    let view = |&host: &u32| ViewInfo { name: name(&header.hosts, host), delay_ms: 0.0 };
    let state = State {
        generation: 0,
        settings: Settings { right: None, ..Settings::default() },
        crafts: entities.iter().enumerate().map(craft).collect(),
        views: hosts.iter().map(view).collect(),
        scores: Vec::new(),
        recording: false,
        opened: None,
    };
    Cast { state, entities: entities.iter().copied().collect(), hosts: vec![hosts.iter().copied().collect()] }
}

fn open(path: &Path) -> Result<RecordingReader<File>, String> {
    let file = File::open(path).map_err(|error| format!("the recording cannot be read: {error}"))?;
    RecordingReader::new(file, &[]).map_err(|error| error.to_string())
}

impl Reel {
    /// A recording from its beginning, with what there is to see in it.
    pub(super) fn new(path: &Path, cast: Cast) -> Result<Self, String> {
        let mut reel = Self {
            reader: open(path)?,
            cast: cast.clone(),
            entities: HashMap::new(),
            hosts: HashMap::new(),
            frame: Frame::default(),
            begun: false,
            flagged: false,
            next: VecDeque::new(),
        };
        reel.enter(cast);
        Ok(reel)
    }

    /// What comes next, and when. Takes from `allowed` what reading costs: a recording says as much as it likes at one moment.
    pub(super) fn next(&mut self, allowed: &mut usize) -> Result<(f64, Piece), String> {
        loop {
            if let Some(piece) = self.next.pop_front() {
                return Ok(piece);
            }
            if *allowed == 0 {
                return Ok((self.frame.time_s, Piece::Later));
            }
            match self.reader.next() {
                Some(event) => {
                    let event = event.map_err(|error| error.to_string())?;
                    *allowed = allowed.saturating_sub(cost(&event));
                    self.take(event)?;
                }
                None if self.begun => self.complete(),
                None => return Ok((self.frame.time_s, Piece::End)),
            }
        }
    }

    fn take(&mut self, event: Event) -> Result<(), String> {
        let at = event.at();
        match event {
            Event::Real { entity, position, heading, .. } => {
                self.begin(at);
                if let Some(&craft) = self.entities.get(&entity) {
                    put(&mut self.frame.truth[craft], position, heading, self.flagged);
                }
            }
            Event::Placed { entity, by, position, heading, .. } => {
                self.begin(at);
                if let (Some(&craft), Some(&(world, view))) = (self.entities.get(&entity), self.hosts.get(&by)) {
                    put(&mut self.frame.shown[world][view][craft], position, heading, self.flagged);
                }
            }
            Event::Note { text, .. } => self.heed(Remark::read(&text)?, at),
            Event::Exported { .. } | Event::Sent { .. } | Event::Received { .. } | Event::Lost { .. } => {}
        }
        Ok(())
    }

    fn heed(&mut self, remark: Option<Remark>, at: GlobalTime) {
        match remark {
            None => {}
            Some(Remark::Cast(cast)) => {
                self.complete();
                self.enter(*cast);
            }
            Some(Remark::Flags(flags)) => {
                self.begin(at);
                self.flag(&flags);
            }
            Some(Remark::Shots(shots)) => {
                self.begin(at);
                self.frame.shots = shots;
            }
            Some(Remark::Second(second)) => self.next.push_back((at.as_secs_f64(), Piece::Second(second))),
            Some(Remark::News(text)) => self.next.push_back((at.as_secs_f64(), Piece::News(text))),
        }
    }

    /// From now on there is this to see.
    fn enter(&mut self, cast: Cast) {
        let (crafts, views) = (cast.entities.len(), cast.state.views.len());
        self.entities = cast.entities.iter().enumerate().map(|(craft, &entity)| (entity, craft)).collect();
        let of = |(world, hosts): (usize, &Vec<u32>)| {
            hosts.iter().enumerate().map(|(view, &host)| (host, (world, view))).collect::<Vec<_>>()
        };
        self.hosts = cast.hosts.iter().enumerate().flat_map(of).collect();
        self.frame.truth = vec![Mark::default(); crafts];
        self.frame.shown = vec![vec![vec![Mark::default(); crafts]; views]; cast.hosts.len()];
        self.frame.shots.clear();
        self.flagged = false;
        // What is to be seen first is known before it is read.
        if self.cast != cast || self.frame.generation == 0 {
            self.frame.generation += 1;
            self.next.push_back((self.frame.time_s, Piece::Cast(Box::new(cast.clone()))));
            self.cast = cast;
        }
    }

    /// Something of the picture at this time comes: the one before is complete.
    fn begin(&mut self, at: GlobalTime) {
        let time_s = at.as_secs_f64();
        if self.begun && time_s < self.frame.time_s + ONE_PICTURE_S {
            return;
        }
        self.complete();
        (self.begun, self.frame.time_s) = (true, time_s);
    }

    fn complete(&mut self) {
        if self.begun {
            self.next.push_back((self.frame.time_s, Piece::Frame(self.frame.clone())));
            self.frame.shots.clear();
            self.begun = false;
        }
    }

    fn flag(&mut self, flags: &str) {
        let flags = HEXLOWER.decode(flags.as_bytes()).unwrap_or_default();
        let shown = self.frame.shown.iter_mut().flatten().flatten();
        self.frame.truth.iter_mut().chain(shown).zip(flags).for_each(|(mark, flags)| mark.flags = flags);
        self.flagged = true;
    }
}

/// What it costs to read an event: a long note is as much work as many short events.
fn cost(event: &Event) -> usize {
    match event {
        Event::Note { text, .. } => 1 + text.len() / 100,
        _ => 1,
    }
}

fn put(mark: &mut Mark, position: Vec3, heading: f64, flagged: bool) {
    let flags = if flagged { mark.flags } else { 1 };
    *mark = Mark { x: position.x, y: position.y, heading, flags };
}
