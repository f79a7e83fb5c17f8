//! What the receivers of an entity share in the booking of errors: the integral of the distance between a vector that is shown and one
//! that is exported meanwhile.

use super::Exported;
use crate::ids::VectorNumber;
use crate::motion::Motion;
use crate::path::{Antiderivative, distance_integral};
use alloc::vec::Vec;

/// Rows are kept for receivers that are fewer vectors behind than this,
const BEHIND: usize = 16;
/// and for so many vectors in a row: a receipt speaks of a few, and every receiver's of nearly the same.
const IN_A_ROW: usize = 4;
/// A row that served fewer than this was not worth its making. After so many of them more than good ones, a place is left alone for so
/// many requests.
const ENOUGH: u8 = 6;
const PATIENCE: i8 = 4;
const IDLE: u8 = 250;
/// Rows reach no further than this after the exported vector was generated, in seconds: what is longer is seldom tame.
const LONGEST: f64 = 0.05;

/// The distance between one vector that is shown and one that is exported, for as long as that was the newest.
#[derive(Clone, Debug)]
struct Row {
    shown: VectorNumber,
    exported: VectorNumber,
    /// How many it has served.
    served: u8,
    /// How far it reaches, in seconds since the exported vector was generated.
    span: f64,
    /// Where the second part begins: a third of the way, up to where the two have just parted, unless it is tame as a whole.
    cut: f64,
    /// Each once somebody asks; none where it would not be exact.
    parts: [Option<Option<Antiderivative>>; 2],
}

/// A vector that is shown, and another one that is exported; and where to find them, if that must be.
#[derive(Clone, Copy)]
pub(crate) struct Two<'a> {
    pub(crate) shown: VectorNumber,
    pub(crate) exported: VectorNumber,
    pub(crate) path: &'a Exported,
}

/// Those of one entity that are in use.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    rows: Vec<Option<Row>>,
    /// How each place has done.
    places: Vec<Place>,
}

/// What making rows in one place was worth.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Falls with every row that served few.
    credit: i8,
    /// How often it is still to be left alone.
    idle: u8,
}

impl Place {
    fn note(&mut self, served: u8) {
        self.credit = if served >= ENOUGH { PATIENCE } else { self.credit - 1 };
        if self.credit < 0 {
            *self = Self { credit: 0, idle: IDLE };
        }
    }
}

impl Rows {
    /// The error from one time to another, both by global time in seconds since the exported one was generated, which was the newest
    /// until `end`, if that is known.
    #[inline]
    pub(crate) fn error(&mut self, two: Two<'_>, end: Option<f64>, from: f64, to: f64) -> f64 {
        match self.row(two, end) {
            Some(row) if to <= row.span => row.between(two, from, to),
            Some(row) if from < row.span => row.between(two, from, row.span) + two.distance(row.span, to),
            _ => two.distance(from, to),
        }
    }

    #[inline]
    fn row(&mut self, two: Two<'_>, end: Option<f64>) -> Option<&mut Row> {
        let behind = two.exported.get().wrapping_sub(two.shown.get()) as usize;
        if behind >= BEHIND {
            return None;
        }
        let place = behind * IN_A_ROW + two.shown.get() as usize % IN_A_ROW;
        if place >= self.rows.len() {
            self.rows.resize_with(place + 1, || None);
            self.places.resize(place + 1, Place { credit: PATIENCE, idle: 0 });
        }
        let (row, place) = (&mut self.rows[place], &mut self.places[place]);
        if place.idle > 0 {
            place.idle -= 1;
            return None;
        }
        if let Some(other) = row.as_ref().filter(|row| row.shown != two.shown || row.exported != two.exported) {
            place.note(other.served);
            *row = None;
        }
        let row = row.get_or_insert_with(|| Row::new(two, end.map_or(LONGEST, |end| end.min(LONGEST))));
        row.served = row.served.saturating_add(1);
        Some(row)
    }

    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.places.clear();
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.rows.capacity() * size_of::<Option<Row>>() + self.places.capacity() * size_of::<Place>()
    }
}

impl Row {
    fn new(two: Two<'_>, span: f64) -> Self {
        let Two { shown, exported, .. } = two;
        let whole = two.antiderivative(0.0, span);
        let (cut, parts) = if whole.is_some() { (span, [Some(whole), None]) } else { (span / 3.0, [None, None]) };
        Self { shown, exported, served: 0, span, cut, parts }
    }

    /// The integral from one time to another, in seconds since the exported vector was generated.
    #[inline]
    fn between(&mut self, two: Two<'_>, from: f64, to: f64) -> f64 {
        if to <= self.cut {
            self.of_part(two, 0, from, to)
        } else if from >= self.cut {
            self.of_part(two, 1, from, to)
        } else {
            self.of_part(two, 0, from, self.cut) + self.of_part(two, 1, self.cut, to)
        }
    }

    #[inline]
    fn of_part(&mut self, two: Two<'_>, part: usize, from: f64, to: f64) -> f64 {
        let (begins, ends) = if part == 0 { (0.0, self.cut) } else { (self.cut, self.span) };
        match self.parts[part].get_or_insert_with(|| two.antiderivative(begins, ends)) {
            Some(part) => part.between(from - begins, to - begins),
            None => two.distance(from, to),
        }
    }
}

impl Two<'_> {
    /// Both motions, and how much earlier the shown one was generated, unless the path has forgotten one.
    fn motions(&self) -> Option<(&Motion, &Motion, f64)> {
        let (exported, shown) = (self.path.get(self.exported)?, self.path.get(self.shown)?);
        Some((&exported.motion, &shown.motion, exported.generated.since(shown.generated).as_secs_f64()))
    }

    #[inline(never)]
    fn antiderivative(&self, from: f64, to: f64) -> Option<Antiderivative> {
        let (exported, shown, lead) = self.motions()?;
        Antiderivative::new(exported, from, shown, lead + from, to - from)
    }

    /// The same integral by itself.
    #[inline(never)]
    pub(crate) fn distance(&self, from: f64, to: f64) -> f64 {
        let Some((exported, shown, lead)) = self.motions() else { return 0.0 };
        distance_integral(exported, from, shown, lead + from, to - from).value
    }
}
