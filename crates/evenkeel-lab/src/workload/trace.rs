//! Recorded traces: comma-separated values, plain or gzipped, columns by name in any order.
//!
//! | column | meaning |
//! |---|---|
//! | `t_s` | seconds |
//! | `entity` or `player` | whose row it is |
//! | `x`, `y` (`z`) | position |
//! | `vx`, `vy` (`vz`) | velocity; derived from the path if left out |
//! | `heading` or `azimuth` | radians, counter-clockwise from x |
//! | `angvel` | radians per second; derived if left out |
//! | `status` | BZFlag's bits: 1 alive, 64 falling; alive if left out |
//!
//! A row needs its time, its entity and its position. Any other cell may be blank: then it is not known for this row, which is
//! treated as if there were no such column. A velocity is known as a whole or not at all: if only some of its cells are blank,
//! that is an error. What is derived follows from the rows of the life before: the velocity from the last place, the turn rate
//! from the last heading that is known. A heading is never made up: without one an entity has no orientation.
//!
//! Rows are in order of time for each entity. A path is cut into lives where the entity is not alive, where it is silent for
//! too long, and where it jumps farther than it can have moved: by its velocity, or, where that is not known, by how fast it
//! moves right before and after.
//!
//! A recording (`docs/RECORDING.md`) is taken as a trace too: of where its entities really were.

mod recorded;

use super::{Entity, Life, Sample};
use anyhow::{Context, Result, anyhow, bail, ensure};
use csv::StringRecord;
use evenkeel::{GlobalTime, Pose, Vec3, wrap_angle};
use evenkeel_link::recording::MAGIC;
use flate2::read::MultiGzDecoder;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Chain, Cursor, Read};
use std::path::Path;

/// The bit of `status` that says alive.
pub const ALIVE: u32 = 1;
/// The bit of `status` that says falling or jumping.
pub const FALLING: u32 = 64;
/// What falls accelerates like this.
const GRAVITY: Vec3 = Vec3::new(0.0, 0.0, -9.8);
/// A jump is a teleport if it is so many times farther than the speed at either end allows,
const TELEPORT_FACTOR: f64 = 4.0;
/// and so much farther again.
const TELEPORT_SLACK: f64 = 5.0;
/// A trace with longer gaps than this, in the median, cannot be the true path.
const SPARSE_SECONDS: f64 = 0.1;
/// No trace is longer than this: about three years.
const LONGEST_SECONDS: f64 = 1e8;
/// Nothing is farther out than this, in metres: beyond it, squares of distances lose what matters.
const FARTHEST: f64 = 1e9;

/// One row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Seconds by the trace's clock.
    pub seconds: f64,
    /// Where.
    pub position: Vec3,
    /// How fast, if the row says so.
    pub velocity: Option<Vec3>,
    /// Facing where, if the row says so.
    pub heading: Option<f64>,
    /// Turning how fast, if the row says so.
    pub turn_rate: Option<f64>,
    /// BZFlag's bits; alive if the row has none.
    pub status: u32,
}

/// Where to cut paths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cuts {
    /// At gaps longer than this, in seconds.
    pub max_gap: f64,
    /// At jumps farther than the velocity allows.
    pub teleports: bool,
}

impl Default for Cuts {
    /// At gaps over a second, and at teleports.
    fn default() -> Self {
        Self { max_gap: 1.0, teleports: true }
    }
}

/// A trace: the rows of every life of every entity.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Entities in order of appearance, each with its lives. No life is empty.
    pub entities: Vec<(String, Vec<Vec<Row>>)>,
}

impl Row {
    /// When, on the session's clock.
    pub fn at(&self) -> GlobalTime {
        GlobalTime::from_secs_f64(self.seconds)
    }

    /// Whether it falls.
    pub fn falls(&self) -> bool {
        self.status & FALLING != 0
    }

    fn sample(&self) -> Sample {
        let mut pose = Pose::at(self.position);
        if let Some(velocity) = self.velocity {
            pose = pose.moving(velocity);
        }
        if let Some(heading) = self.heading {
            pose = pose.facing(heading);
            if let Some(turn_rate) = self.turn_rate {
                pose = pose.turning(turn_rate);
            }
        }
        if self.falls() {
            pose = pose.accelerating(GRAVITY);
        }
        Sample { at: self.at(), pose, accelerated: self.falls() }
    }

    /// How long ago another row was, in seconds by the session's clock; unknown if no time passed.
    fn seconds_since(&self, before: &Row) -> Option<f64> {
        Some(self.at().since(before.at()).as_secs_f64()).filter(|seconds| *seconds > 0.0)
    }

    /// What it moved by since another row, in metres per second; unknown if no time passed.
    fn moved_since(&self, before: &Row) -> Option<Vec3> {
        Some((self.position - before.position) * (1.0 / self.seconds_since(before)?))
    }

    /// What it turned by since another row, in radians per second; unknown if no time passed, or without two headings.
    fn turned_since(&self, before: &Row) -> Option<f64> {
        Some(wrap_angle(self.heading? - before.heading?) / self.seconds_since(before)?)
    }
}

/// The rows of a life, with velocities and turn rates that are not known derived from the rows before, where there are any.
pub(crate) fn with_rates(rows: &[Row]) -> Vec<Row> {
    let (mut before, mut faced): (Option<&Row>, Option<&Row>) = (None, None);
    let mut all = Vec::with_capacity(rows.len());
    // Of rows at the same moment the last counts for those that follow.
    for moment in rows.chunk_by(|a, b| a.at() == b.at()) {
        all.extend(moment.iter().map(|row| Row {
            velocity: row.velocity.or_else(|| row.moved_since(before?)),
            turn_rate: row.turn_rate.or_else(|| row.turned_since(faced?)),
            ..*row
        }));
        before = moment.last();
        faced = moment.iter().rfind(|row| row.heading.is_some()).or(faced);
    }
    all
}

/// How fast an entity may have gone from the row at `n` of a life to the next; unknown if nothing tells. `first` is where
/// the life begins: what lies before is another one.
fn speed_at(rows: &[Row], first: usize, n: usize) -> Option<f64> {
    let (here, there) = (&rows[n], &rows[n + 1]);
    if let (Some(before), Some(after)) = (here.velocity, there.velocity) {
        return Some(before.length().max(after.length()));
    }
    let before = here.velocity.or_else(|| here.moved_since(rows[first..n].last()?));
    let after = there.velocity.or_else(|| rows.get(n + 2)?.moved_since(there));
    let step = there.position - here.position;
    // Who sets off is slow before and fast after, in the same direction. Who comes back at once was never there.
    let onward = after.map_or(0.0, |after| after.dot(step) / step.length().max(f64::MIN_POSITIVE));
    before.map(|before| before.length().max(onward)).or(after.map(Vec3::length))
}

/// Whether an entity cannot have come from the row at `n` to the next.
fn is_teleport(rows: &[Row], first: usize, n: usize) -> bool {
    let (here, there) = (&rows[n], &rows[n + 1]);
    let seconds = there.seconds - here.seconds;
    let distance = there.position.distance(here.position);
    speed_at(rows, first, n).is_some_and(|speed| distance > TELEPORT_FACTOR * speed * seconds + TELEPORT_SLACK)
}

/// The lives that a path without gaps consists of.
fn cut_at_teleports(rows: &[Row]) -> Vec<Vec<Row>> {
    let mut lives = Vec::new();
    let mut first = 0;
    for n in 0..rows.len().saturating_sub(1) {
        if is_teleport(rows, first, n) {
            lives.push(rows[first..=n].to_vec());
            first = n + 1;
        }
    }
    lives.push(rows[first..].to_vec());
    lives
}

impl Trace {
    /// Reads a trace. Errors name the file and the line.
    pub fn read(path: &Path, cuts: Cuts) -> Result<Self> {
        let name = path.display().to_string();
        match open(path).with_context(|| format!("cannot read {name}"))? {
            Opened::Rows(rows) => Self::parse(&name, rows, cuts),
            Opened::Recording(recording) => recorded::read(&name, recording, cuts),
        }
    }

    /// Reads a trace from anywhere; errors call it `name`.
    pub fn parse(name: &str, input: impl Read, cuts: Cuts) -> Result<Self> {
        let mut reader = csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(input);
        let header = reader.headers().map_err(|error| damaged(name, &error))?.clone();
        ensure!(!header.iter().all(str::is_empty), "{name} is empty: it needs a line with column names and rows");
        let columns = Columns::find(&header).with_context(|| format!("{name}, line 1"))?;
        let mut builder = Builder::new(cuts);
        let mut record = StringRecord::new();
        while reader.read_record(&mut record).map_err(|error| damaged(name, &error))? {
            let line = record.position().map_or(0, csv::Position::line);
            let place = || format!("{name}, line {line}");
            let row = columns.row(&record).with_context(place)?;
            builder.add(columns.entity(&record).with_context(place)?, row).with_context(place)?;
        }
        builder.finish(name)
    }

    /// The median time between two rows of the same life.
    pub fn median_gap(&self) -> f64 {
        let lives = self.entities.iter().flat_map(|(_, lives)| lives);
        let mut gaps: Vec<f64> =
            lives.flat_map(|life| life.windows(2).map(|pair| pair[1].seconds - pair[0].seconds)).collect();
        if gaps.is_empty() {
            return f64::INFINITY;
        }
        let middle = gaps.len() / 2;
        *gaps.select_nth_unstable_by(middle, f64::total_cmp).1
    }

    /// The true paths, up to so many seconds after the first row. A trace of DR vectors only is refused, unless forced.
    pub fn truth(&self, name: &str, seconds: Option<f64>, force: bool) -> Result<Vec<Entity>> {
        let gap = self.median_gap();
        if gap > SPARSE_SECONDS && !force {
            bail!(
                "{name} has one row every {:.0} ms (median): these look like DR vectors, not the true path, and no error \
                 can be measured against them. Record every frame, or take them as a stream of vectors by --vectors-only \
                 (export error only); --force takes them as the true path all the same.",
                gap * 1e3
            );
        }
        let first = self.rows().map(|row| row.seconds).fold(f64::INFINITY, f64::min);
        let end = seconds.map_or(f64::INFINITY, |seconds| first + seconds);
        let life =
            |rows: &Vec<Row>| Life::new(with_rates(rows).iter().filter(|row| row.seconds <= end).map(Row::sample));
        let entity = |(name, lives): &(String, Vec<Vec<Row>>)| Entity {
            name: name.clone(),
            lives: lives.iter().filter_map(life).collect(),
        };
        let mut entities: Vec<Entity> = self.entities.iter().map(entity).collect();
        entities.retain(|entity| !entity.lives.is_empty());
        ensure!(!entities.is_empty(), "{name} has no life of two rows or more; see --max-gap");
        Ok(entities)
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.entities.iter().flat_map(|(_, lives)| lives.iter().flatten())
    }
}

/// What a file holds.
enum Opened {
    /// Text, unpacked if it was gzipped.
    Rows(Box<dyn Read>),
    Recording(Whole),
}

/// A file, with its first bytes before it again.
type Whole = Chain<Cursor<Vec<u8>>, BufReader<File>>;

/// What the file holds, whatever its name.
fn open(path: &Path) -> std::io::Result<Opened> {
    let mut file = BufReader::new(File::open(path)?);
    let mut magic = Vec::new();
    file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut magic)?;
    let (recording, zipped) = (magic == MAGIC, magic.starts_with(&[0x1F, 0x8B]));
    let whole: Whole = Cursor::new(magic).chain(file);
    Ok(match (recording, zipped) {
        (true, _) => Opened::Recording(whole),
        (_, true) => Opened::Rows(Box::new(BufReader::new(MultiGzDecoder::new(whole)))),
        _ => Opened::Rows(Box::new(whole)),
    })
}

fn damaged(name: &str, error: &csv::Error) -> anyhow::Error {
    match (error.kind(), error.position()) {
        (csv::ErrorKind::Utf8 { .. }, Some(position)) => {
            anyhow!("{name}, line {}: this is not text", position.line())
        }
        (csv::ErrorKind::Io(error), _) => anyhow!("cannot read {name}: {error}"),
        _ => anyhow!("cannot read {name}: {error}"),
    }
}

/// Which column is where.
struct Columns {
    time: usize,
    entity: usize,
    position: [Option<usize>; 3],
    velocity: Option<[Option<usize>; 3]>,
    heading: Option<usize>,
    turn_rate: Option<usize>,
    status: Option<usize>,
    names: Vec<String>,
}

impl Columns {
    fn find(header: &StringRecord) -> Result<Self> {
        // Spreadsheets like to put a byte-order mark before the first name.
        let names: Vec<String> = header.iter().map(|name| name.trim_start_matches('\u{FEFF}').to_owned()).collect();
        for (i, name) in names.iter().enumerate() {
            ensure!(name.is_empty() || !names[..i].contains(name), "there are two columns `{name}`");
        }
        let of = |wanted: &str| names.iter().position(|name| name == wanted);
        let need = |wanted: &str, of: Option<usize>| {
            of.with_context(|| format!("there is no column {wanted}; found: {}", names.join(", ")))
        };
        let velocity = match (of("vx"), of("vy"), of("vz")) {
            (None, None, None) => None,
            (Some(vx), Some(vy), vz) => Some([Some(vx), Some(vy), vz]),
            _ => bail!("a velocity needs the columns `vx` and `vy`; found: {}", names.join(", ")),
        };
        Ok(Self {
            time: need("`t_s`", of("t_s"))?,
            entity: need("`entity` or `player`", of("entity").or(of("player")))?,
            position: [Some(need("`x`", of("x"))?), Some(need("`y`", of("y"))?), of("z")],
            velocity,
            heading: of("heading").or(of("azimuth")),
            turn_rate: of("angvel"),
            status: of("status"),
            names,
        })
    }

    fn cell<'a>(&self, record: &'a StringRecord, column: usize) -> Result<&'a str> {
        record.get(column).with_context(|| format!("the row ends before column `{}`", self.names[column]))
    }

    fn number(&self, record: &StringRecord, column: usize) -> Result<f64> {
        let (name, text) = (&self.names[column], self.cell(record, column)?);
        ensure!(!text.is_empty(), "the column `{name}` is empty");
        let number: f64 = text.parse().map_err(|_| anyhow!("`{name}` is `{text}`, which is not a number"))?;
        ensure!(number.is_finite(), "`{name}` is {text}: every number must be finite");
        Ok(number)
    }

    /// The number in a column that may be missing or blank; a row that is too short is damaged.
    fn optional(&self, record: &StringRecord, column: Option<usize>) -> Result<Option<f64>> {
        match column {
            Some(column) if !self.cell(record, column)?.is_empty() => self.number(record, column).map(Some),
            _ => Ok(None),
        }
    }

    fn sane_number(&self, record: &StringRecord, column: usize) -> Result<f64> {
        let number = self.number(record, column)?;
        ensure!(number.abs() <= FARTHEST, "`{}` is {number:e}: that is out of this world", self.names[column]);
        Ok(number)
    }

    fn vector(&self, record: &StringRecord, columns: [Option<usize>; 3]) -> Result<Vec3> {
        let part = |column: Option<usize>| column.map_or(Ok(0.0), |column| self.sane_number(record, column));
        Ok(Vec3::new(part(columns[0])?, part(columns[1])?, part(columns[2])?))
    }

    /// The velocity, if the row has one. Half a velocity is no velocity, and not the lack of one either.
    fn velocity(&self, record: &StringRecord) -> Result<Option<Vec3>> {
        let Some(columns) = self.velocity else { return Ok(None) };
        let is_blank = |column: &usize| record.get(*column).is_some_and(str::is_empty);
        let (blank, given): (Vec<usize>, Vec<usize>) = columns.into_iter().flatten().partition(is_blank);
        if given.is_empty() {
            return Ok(None);
        }
        let names =
            |columns: &[usize]| columns.iter().map(|c| format!("`{}`", self.names[*c])).collect::<Vec<_>>().join(", ");
        ensure!(
            blank.is_empty(),
            "only a part of the velocity is given ({}, but not {}): give all of it, or none",
            names(&given),
            names(&blank)
        );
        self.vector(record, columns).map(Some)
    }

    fn entity<'a>(&self, record: &'a StringRecord) -> Result<&'a str> {
        let name = record.get(self.entity).filter(|name| !name.is_empty());
        name.with_context(|| format!("the column `{}` is empty", self.names[self.entity]))
    }

    fn row(&self, record: &StringRecord) -> Result<Row> {
        let status = match self.optional(record, self.status)? {
            None => ALIVE,
            Some(bits) if bits.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&bits) => bits as u32,
            Some(bits) => bail!("`status` is {bits}, which is not a bit mask"),
        };
        let seconds = self.number(record, self.time)?;
        ensure!(seconds.abs() <= LONGEST_SECONDS, "`t_s` is {seconds}: that is not seconds from a start nearby");
        Ok(Row {
            seconds,
            position: self.vector(record, self.position)?,
            velocity: self.velocity(record)?,
            heading: self.optional(record, self.heading)?,
            turn_rate: self.optional(record, self.turn_rate)?,
            status,
        })
    }
}

/// An entity while its rows come in.
struct Growing {
    name: String,
    lives: Vec<Vec<Row>>,
    last_seconds: f64,
}

struct Builder {
    cuts: Cuts,
    index: HashMap<String, usize>,
    entities: Vec<Growing>,
}

impl Builder {
    fn new(cuts: Cuts) -> Self {
        Self { cuts, index: HashMap::new(), entities: Vec::new() }
    }

    /// The trace, if there is anything in it.
    fn finish(self, name: &str) -> Result<Trace> {
        let mut entities: Vec<_> = self.entities.into_iter().map(|e| (e.name, e.lives)).collect();
        for (_, lives) in &mut entities {
            lives.retain(|life| !life.is_empty());
            if self.cuts.teleports {
                *lives = lives.iter().flat_map(|life| cut_at_teleports(life)).collect();
            }
        }
        entities.retain(|(_, lives)| !lives.is_empty());
        ensure!(!entities.is_empty(), "{name} has no rows of anything alive");
        Ok(Trace { entities })
    }

    fn add(&mut self, name: &str, row: Row) -> Result<()> {
        let index = match self.index.get(name) {
            Some(&index) => index,
            None => {
                self.index.insert(name.to_owned(), self.entities.len());
                let growing = Growing { name: name.to_owned(), lives: vec![Vec::new()], last_seconds: row.seconds };
                self.entities.push(growing);
                self.entities.len() - 1
            }
        };
        let entity = &mut self.entities[index];
        ensure!(
            row.seconds >= entity.last_seconds,
            "time goes backwards ({:.2} s after {:.2} s). Sort the file by t_s, or split it per player.",
            row.seconds,
            entity.last_seconds
        );
        entity.last_seconds = row.seconds;
        let before = entity.lives.last().and_then(|life| life.last());
        let cut = before.is_some_and(|before| row.seconds - before.seconds > self.cuts.max_gap);
        if row.status & ALIVE == 0 {
            entity.lives.push(Vec::new());
        } else if cut {
            entity.lives.push(vec![row]);
        } else if let Some(life) = entity.lives.last_mut() {
            life.push(row);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Trace> {
        Trace::parse("game.csv", text.as_bytes(), Cuts::default())
    }

    fn error(text: &str) -> String {
        format!("{:#}", parse(text).unwrap_err())
    }

    #[test]
    fn errors_say_which_line_and_what_to_do() {
        for (text, wanted) in [
            ("", "game.csv is empty"),
            ("t_s,x,y\n", "game.csv, line 1: there is no column `entity` or `player`; found: t_s, x, y"),
            ("t_s,entity,y\n", "game.csv, line 1: there is no column `x`"),
            ("t_s,entity,x,y,vx\n", "game.csv, line 1: a velocity needs the columns `vx` and `vy`"),
            ("t_s,entity,x,y,x\n", "game.csv, line 1: there are two columns `x`"),
            ("t_s,entity,x,y\n", "game.csv has no rows of anything alive"),
            ("t_s,entity,x,y\n0,a,1,2\n1,a,b,3\n", "game.csv, line 3: `x` is `b`, which is not a number"),
            ("t_s,entity,x,y\n0,a,1,NaN\n", "game.csv, line 2: `y` is NaN: every number must be finite"),
            ("t_s,entity,x,y\n0,a,1,-2e9\n", "game.csv, line 2: `y` is -2e9: that is out of this world"),
            ("t_s,entity,x,y\n0,a,1\n", "game.csv, line 2: the row ends before column `y`"),
            ("t_s,entity,x,y\n0,,1,2\n", "game.csv, line 2: the column `entity` is empty"),
            ("t_s,entity,x,y\n1e300,a,1,2\n", "game.csv, line 2: `t_s` is 1000"),
            (
                "t_s,player,x,y\n41.35,7,1,2\n41.1,8,0,0\n41.20,7,1,2\n",
                "game.csv, line 4: time goes backwards (41.20 s after 41.35 s). Sort the file by t_s",
            ),
        ] {
            assert!(error(text).starts_with(wanted), "{}", error(text));
        }
    }

    #[test]
    fn columns_come_in_any_order_and_names() {
        let trace = parse("y,x,azimuth,player,t_s,angvel,vy,vx\n2,1,0.5,tank,0.0,0.1,4,3\n2,1,0.5,tank,0.1,0.1,4,3\n");
        let (name, lives) = trace.unwrap().entities.remove(0);
        let row = lives[0][0];
        assert_eq!((name.as_str(), lives[0].len()), ("tank", 2));
        assert_eq!((row.position, row.velocity), (Vec3::new(1.0, 2.0, 0.0), Some(Vec3::new(3.0, 4.0, 0.0))));
        assert_eq!((row.heading, row.turn_rate, row.status), (Some(0.5), Some(0.1), ALIVE));
    }

    #[test]
    fn lives_are_cut_at_gaps_deaths_and_teleports() {
        let rows = |lives: &[&[(f64, f64, u32)]]| {
            let rows = lives.concat();
            let lines = rows.iter().map(|(t, x, status)| format!("{t},a,{x},0,10,0,{status}\n"));
            format!("t_s,entity,x,y,vx,vy,status\n{}", lines.collect::<String>())
        };
        let text = rows(&[
            &[(0.0, 0.0, 1), (0.05, 0.5, 1)],
            &[(1.2, 12.0, 1), (1.25, 12.5, 65)], // after a gap
            &[(1.4, 13.0, 4)],                   // dead
            &[(1.5, 14.0, 1), (1.55, 14.5, 1)],
            &[(1.6, 80.0, 1), (1.65, 80.5, 1)], // from nowhere
        ]);
        let trace = parse(&text).unwrap();
        let lengths: Vec<usize> = trace.entities[0].1.iter().map(Vec::len).collect();
        assert_eq!(lengths, [2, 2, 2, 2]);
        let truth = trace.truth("game.csv", None, false).unwrap();
        let falling: Vec<bool> = truth[0].lives[1].samples().iter().map(|s| s.accelerated).collect();
        assert_eq!(falling, [false, true]);
        assert_eq!(trace.truth("game.csv", Some(1.35), false).unwrap()[0].lives.len(), 2);
    }

    /// How long the lives are if these are the places along a line, so many seconds apart, and nothing says how fast.
    fn lives_of(step: f64, places: &[f64]) -> Vec<usize> {
        let line = |(n, x): (usize, &f64)| format!("{},a,{x},0,1\n", n as f64 * step);
        let lines: String = places.iter().enumerate().map(line).collect();
        let trace = parse(&format!("t_s,entity,x,y,z\n{lines}")).unwrap();
        trace.entities[0].1.iter().map(Vec::len).collect()
    }

    #[test]
    fn without_velocities_a_teleport_is_what_goes_with_neither_neighbour() {
        let steady = |metres: f64| (0..20).map(|n| f64::from(n) * metres).collect::<Vec<f64>>();
        assert_eq!(lives_of(0.05, &steady(6.0)), [20]); // 120 m/s
        assert_eq!(lives_of(1.0, &steady(10.0)), [20]);
        assert_eq!(lives_of(1.0, &[0.0, 0.0, 10.0, 30.0, 50.0, 50.0]), [6]); // sets off, and stops
        assert_eq!(lives_of(1.0, &[0.0, 10.0, 0.0, 10.0]), [4]); // to and fro
        assert_eq!(lives_of(0.05, &[0.0, 0.5, 1.0, 80.0, 80.5, 81.0]), [3, 3]);
        assert_eq!(lives_of(0.05, &[0.0, 80.0, 80.5, 81.0]), [1, 3]); // at once
        assert_eq!(lives_of(0.05, &[0.0, 0.5, 80.0, 1.0, 1.5]), [2, 1, 2]); // and back
        assert_eq!(lives_of(0.05, &[0.0, 80.0]), [2]); // nothing tells
        assert_eq!(lives_of(0.05, &[0.0, 0.0, 0.5, 80.0]), [3, 1]); // at the end
    }

    #[test]
    fn vectors_are_no_truth_unless_one_insists() {
        let lines: String = (0..20).map(|i| format!("{},a,{},0\n", f64::from(i) * 0.3, f64::from(i))).collect();
        let trace = parse(&format!("t_s,entity,x,y\n{lines}")).unwrap();
        let refused = trace.truth("game.csv", None, false).unwrap_err().to_string();
        assert!(refused.contains("one row every 300 ms") && refused.contains("DR vectors"), "{refused}");
        assert!(trace.truth("game.csv", None, true).is_ok());
    }

    /// The only life of the only entity in a trace.
    fn only_life(text: &str) -> Vec<Row> {
        let mut entities = parse(text).unwrap().entities;
        assert_eq!((entities.len(), entities[0].1.len()), (1, 1));
        entities.remove(0).1.remove(0)
    }

    #[test]
    fn a_blank_optional_cell_is_not_known() {
        let header = "t_s,entity,x,y,z,vx,vy,vz,heading,angvel,status";
        let whole = Row {
            seconds: 0.5,
            position: Vec3::new(1.0, 2.0, 3.0),
            velocity: Some(Vec3::new(4.0, 5.0, 6.0)),
            heading: Some(0.5),
            turn_rate: Some(0.1),
            status: 65,
        };
        for blank in ["", "  ", "\t", "\"\"", "\" \""] {
            for (cells, wanted) in [
                (format!("4,5,6,{blank},0.1,65"), Row { heading: None, ..whole }),
                (format!("4,5,6,0.5,{blank},65"), Row { turn_rate: None, ..whole }),
                (format!("4,5,6,0.5,0.1,{blank}"), Row { status: ALIVE, ..whole }),
                (format!("{blank},{blank},{blank},0.5,0.1,65"), Row { velocity: None, ..whole }),
            ] {
                for end in ["\n", "\r\n"] {
                    let text = [header, "0.5,a,1,2,3,4,5,6,0.5,0.1,65", &format!("0.5,a,1,2,3,{cells}"), ""].join(end);
                    assert_eq!(only_life(&text), [whole, wanted], "{text:?}");
                }
            }
        }
        let flat = only_life("t_s,player,x,y,vx,vy,azimuth\r\n0,a,1,2,3,4,\r\n0.1,a,1,2,,,\r\n");
        assert_eq!(flat.iter().map(|row| row.velocity.is_some()).collect::<Vec<_>>(), [true, false]);
        assert!(flat.iter().all(|row| row.heading.is_none()));
    }

    #[test]
    fn what_a_row_needs_must_not_be_blank() {
        let text = |header: &str, row: &str| format!("{header}\n0,a,1,2,3,4,5,6\n{row}\n");
        let header = "t_s,entity,x,y,z,vx,vy,vz";
        for (row, wanted) in [
            (",a,1,2,3,4,5,6", "the column `t_s` is empty"),
            ("1, ,1,2,3,4,5,6", "the column `entity` is empty"),
            ("1,a,,2,3,4,5,6", "the column `x` is empty"),
            ("1,a,1,  ,3,4,5,6", "the column `y` is empty"),
            ("1,a,1,2,,4,5,6", "the column `z` is empty"),
            (
                "1,a,1,2,3,,5,6",
                "only a part of the velocity is given (`vy`, `vz`, but not `vx`): give all of it, or none",
            ),
            (
                "1,a,1,2,3,4, ,6",
                "only a part of the velocity is given (`vx`, `vz`, but not `vy`): give all of it, or none",
            ),
            (
                "1,a,1,2,3,,5,",
                "only a part of the velocity is given (`vy`, but not `vx`, `vz`): give all of it, or none",
            ),
            ("1,a,1,2,3,4,5", "the row ends before column `vz`"),
        ] {
            assert_eq!(error(&text(header, row)), format!("game.csv, line 3: {wanted}"));
        }
        assert!(
            error(&text("t_s,player,x,y,z,a,b,c", "1,,1,2,3,4,5,6")).contains("line 3: the column `player` is empty")
        );
    }

    #[test]
    fn one_velocity_of_two_tells_a_teleport() {
        let lives = |cells: [&str; 2]| {
            let [here, there] = cells;
            let text = format!("t_s,entity,x,y,vx,vy\n0,a,0,0,{here}\n0.05,a,80,0,{there}\n");
            parse(&text).unwrap().entities.remove(0).1.len()
        };
        assert_eq!([lives(["10,0", ","]), lives([",", "10,0"]), lives([",", ","])], [2, 2, 1]);
        assert_eq!([lives(["900,0", ","]), lives([",", "900,0"])], [1, 1]);
    }

    #[test]
    fn what_is_not_known_is_derived_from_the_rows_before() {
        let text = "t_s,entity,x,y,vx,vy,heading,angvel\n\
                    0,a,0,0,,,0.1,\n0.05,a,1,0,,,,0.7\n0.1,a,3,0,7,0,0.2,\n0.1,a,3,0,,,0.2,\n0.15,a,4,0,8,0,0.3,0.9\n";
        let trace = parse(text).unwrap();
        let life = trace.truth("game.csv", None, false).unwrap().remove(0).lives.remove(0);
        let said = |sample: &Sample| {
            let motion = sample.pose.motion(evenkeel::MotionKind::Linear);
            let round = |x: f64| (x * 1e6).round() / 1e6;
            (round(motion.velocity_at(0.0).x), round(motion.attitude.heading()), round(motion.attitude.turn_rate()))
        };
        let wanted = [(0.0, 0.1, 0.0), (20.0, 0.0, 0.0), (40.0, 0.2, 1.0), (8.0, 0.3, 0.9)];
        assert_eq!(life.samples().iter().map(said).collect::<Vec<_>>(), wanted);
        assert_eq!(life.samples()[1].pose.attitude(), evenkeel::Attitude::None);
    }

    /// Two tanks for twenty seconds, with the velocity, the heading and the turn rate of those rows that know them.
    fn tanks(knows: impl Fn(usize) -> [bool; 3]) -> String {
        let mut text = String::from("t_s,entity,x,y,vx,vy,heading,angvel\r\n");
        for entity in crate::workload::Motion::Tank.entities(2, 20.0, 3) {
            for (n, sample) in entity.lives[0].samples().iter().enumerate() {
                let motion = sample.pose.motion(evenkeel::MotionKind::Linear);
                let (place, velocity) = (motion.position, motion.velocity_at(0.0));
                let [moves, faces, turns] = knows(n);
                let cell = |known: bool, x: f64| if known { x.to_string() } else { String::new() };
                let cells = [
                    sample.at.as_secs_f64().to_string(),
                    entity.name.clone(),
                    place.x.to_string(),
                    place.y.to_string(),
                    cell(moves, velocity.x),
                    cell(moves, velocity.y),
                    cell(faces, motion.attitude.heading()),
                    cell(turns, motion.attitude.turn_rate()),
                ];
                text += &(cells.join(",") + "\r\n");
            }
        }
        text
    }

    /// A short comparison on such a trace: what `base` and `even` achieve.
    fn compared(name: &str, text: &str, rules: crate::world::Rules) -> Vec<crate::experiment::Row> {
        use crate::experiment::{Settings, Source, run};
        let path = std::env::temp_dir().join(format!("evenkeel-trace-{}-{name}.csv", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let source = Source::Trace { path: path.clone(), max_gap: 1.0, force: false };
        let policies = ["base", "even"].map(String::from).to_vec();
        let settings = Settings { source, policies, trim: false, rules, ..Settings::default() };
        let findings = run(&settings.over(&[100.0, 20.0], 0.0, 0.0), &|_| ());
        std::fs::remove_file(&path).unwrap();
        findings.unwrap().rows
    }

    #[test]
    fn a_trace_with_blanks_is_compared_like_one_without() {
        use crate::world::{Rules, VectorKind};
        let whole = tanks(|_| [true; 3]);
        let holes = tanks(|n| [n % 3 != 1, n % 7 < 4, n % 5 < 2]);
        for (_, vector) in VectorKind::ALL {
            for relays in [false, true] {
                let rules = Rules { vector, relays, ..Rules::default() };
                let [whole, holes] =
                    [("whole", &whole), ("holes", &holes)].map(|(name, text)| compared(name, text, rules));
                assert!(holes.iter().all(|row| row.mean.is_finite() && row.vectors_sent > 0.0), "{rules:?}: {holes:?}");
                let (whole, holes) = (&whole[0], &holes[0]);
                let (vectors, mean) = (holes.vectors_sent / whole.vectors_sent, holes.mean / whole.mean);
                assert!(vectors < 1.6 && mean < 1.25, "{rules:?}: {vectors} times the vectors, {mean} times the error");
            }
        }
    }

    #[test]
    fn a_blank_column_is_no_column() {
        let blank = tanks(|_| [false; 3]);
        let none: String =
            blank.lines().map(|line| line.split(',').take(4).collect::<Vec<_>>().join(",") + "\n").collect();
        let rules = crate::world::Rules::default();
        let [blank, none] = [("blank", blank), ("none", none)].map(|(name, text)| compared(name, &text, rules));
        assert_eq!(blank, none);
    }

    #[test]
    fn a_sender_would_derive_the_same() {
        use crate::world::{Fleet, Rules};
        let truth = parse(&tanks(|_| [false, true, false])).unwrap().truth("game.csv", None, false).unwrap();
        let bare =
            |life: &Life| Life::new(life.samples().iter().map(|s| Sample { pose: s.pose.without_rates(), ..*s }));
        let bare = |entity: &Entity| Entity { lives: entity.lives.iter().filter_map(bare).collect(), ..entity.clone() };
        let left_open: Vec<Entity> = truth.iter().map(bare).collect();
        let [derived, left_open] =
            [truth, left_open].map(|all| Fleet::new("all".into(), all, &Rules::default()).unwrap());
        assert!((0..2).all(|life| derived.exported(life) == left_open.exported(life)));
        assert!(derived.exported(0).len() > 20);
    }
}
