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
//! | `status` | BZFlag's bits: 1 alive, 64 falling |
//!
//! Rows are in order of time for each entity. A path is cut into lives where the entity is not alive, where it is silent for
//! too long, and where it jumps farther than it can have moved: by its velocity, or, if the trace has none, by how fast it
//! moves right before and after.
//!
//! A recording (`docs/RECORDING.md`) is taken as a trace too: of where its entities really were.

mod recorded;

use super::{Entity, Life, Sample};
use anyhow::{Context, Result, anyhow, bail, ensure};
use csv::StringRecord;
use evenkeel::{GlobalTime, Pose, Vec3};
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
    /// How fast, if the trace says so.
    pub velocity: Option<Vec3>,
    /// Facing where, if the trace says so.
    pub heading: Option<f64>,
    /// Turning how fast, if the trace says so.
    pub turn_rate: Option<f64>,
    /// BZFlag's bits; alive if the trace has none.
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

    /// What it moved by since another row, in metres per second; unknown if no time passed.
    fn moved_since(&self, before: &Row) -> Option<Vec3> {
        let seconds = self.seconds - before.seconds;
        (seconds > 0.0).then(|| (self.position - before.position) * (1.0 / seconds))
    }
}

/// How fast an entity may have gone from the row at `n` of a life to the next; unknown if nothing tells. `first` is where
/// the life begins: what lies before is another one.
fn speed_at(rows: &[Row], first: usize, n: usize) -> Option<f64> {
    let (here, there) = (&rows[n], &rows[n + 1]);
    if let (Some(before), Some(after)) = (here.velocity, there.velocity) {
        return Some(before.length().max(after.length()));
    }
    let before = rows[first..n].last().and_then(|row| here.moved_since(row));
    let after = rows.get(n + 2).and_then(|row| row.moved_since(there));
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
        let life = |rows: &Vec<Row>| Life::new(rows.iter().filter(|row| row.seconds <= end).map(Row::sample));
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

    fn number(&self, record: &StringRecord, column: usize) -> Result<f64> {
        let name = &self.names[column];
        let text = record.get(column).with_context(|| format!("the row ends before column `{name}`"))?;
        let number: f64 = text.parse().map_err(|_| anyhow!("`{name}` is `{text}`, which is not a number"))?;
        ensure!(number.is_finite(), "`{name}` is {text}: every number must be finite");
        Ok(number)
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

    fn entity<'a>(&self, record: &'a StringRecord) -> Result<&'a str> {
        let name = record.get(self.entity).filter(|name| !name.is_empty());
        name.with_context(|| format!("the column `{}` is empty", self.names[self.entity]))
    }

    fn row(&self, record: &StringRecord) -> Result<Row> {
        let optional = |column: Option<usize>| column.map(|column| self.number(record, column)).transpose();
        let status = match optional(self.status)? {
            None => ALIVE,
            Some(bits) if bits.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&bits) => bits as u32,
            Some(bits) => bail!("`status` is {bits}, which is not a bit mask"),
        };
        let seconds = self.number(record, self.time)?;
        ensure!(seconds.abs() <= LONGEST_SECONDS, "`t_s` is {seconds}: that is not seconds from a start nearby");
        Ok(Row {
            seconds,
            position: self.vector(record, self.position)?,
            velocity: self.velocity.map(|columns| self.vector(record, columns)).transpose()?,
            heading: optional(self.heading)?,
            turn_rate: optional(self.turn_rate)?,
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
}
