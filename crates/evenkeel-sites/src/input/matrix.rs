//! Tables of round-trip times: all nodes by all nodes, or players by candidates.

use super::error::{Fault, InputError, shown};
use super::known::{Known, Links, Names};
use super::text::{Row, is_missing, name, number, rows, rtt_ms};
use std::borrow::Cow;

/// A table as it stands there.
pub(crate) struct Table {
    named: bool,
    header_line: usize,
    /// One by one, with the column in which each stands.
    columns: Vec<(String, usize)>,
    /// Row by row.
    rows: Vec<(String, usize)>,
    weights: Option<Vec<f64>>,
    /// Row by row; not a number where nothing is known.
    rtt: Vec<f32>,
}

/// Players by candidates.
pub(crate) struct Rectangle {
    pub(crate) players: Names,
    pub(crate) candidates: Names,
    pub(crate) weights: Option<Vec<f64>>,
    /// Player by player; not a number where nothing is known.
    pub(crate) rtt: Vec<f32>,
    /// In which line each player stands, and in which column each candidate.
    pub(crate) lines: Vec<usize>,
    pub(crate) columns: Vec<usize>,
}

/// Names and no values: the first of the cells but one that is not empty, or like it, is no number.
///
/// The first cell of a table with names may be anything, even a number.
fn is_header(cells: &[Cow<'_, str>]) -> bool {
    let telling = cells.iter().skip(1).chain(cells.first()).find(|cell| !is_missing(cell));
    telling.is_some_and(|cell| cell.parse::<f64>().is_err())
}

impl Table {
    /// Reads a table. If it may have weights, a column called "weight" is one.
    pub(crate) fn read(text: &str, may_have_weights: bool) -> Result<Self, InputError> {
        let mut lines = rows(text).peekable();
        let first = match lines.peek() {
            None => return Err(Fault::Empty.into()),
            Some(Err(error)) => return Err(error.clone()),
            Some(Ok(first)) => first,
        };
        let named = is_header(&first.cells);
        let width = first.cells.len();
        let header_line = first.line;
        let mut table =
            Self { named, header_line, columns: Vec::new(), rows: Vec::new(), weights: None, rtt: Vec::new() };
        let mut weight_at = None;
        if named && let Some(header) = lines.next() {
            weight_at = table.header(&header?, may_have_weights)?;
        } else {
            table.columns = (0..width).map(|i| (i.to_string(), i + 1)).collect();
        }
        table.weights = weight_at.map(|_| Vec::new());
        for row in lines {
            table.row(&row?, width, weight_at)?;
        }
        if table.rows.is_empty() { Err(Fault::Empty.into()) } else { Ok(table) }
    }

    /// Takes the columns' names; says which column has the weights.
    fn header(&mut self, header: &Row<'_>, may_have_weights: bool) -> Result<Option<usize>, InputError> {
        let mut weight_at = None;
        for (i, cell) in header.cells.iter().enumerate().skip(1) {
            if may_have_weights && weight_at.is_none() && cell.eq_ignore_ascii_case("weight") {
                weight_at = Some(i);
                continue;
            }
            self.columns.push((name(cell).map_err(|fault| fault.at(header.line, i + 1))?, i + 1));
        }
        Ok(weight_at)
    }

    fn row(&mut self, row: &Row<'_>, width: usize, weight_at: Option<usize>) -> Result<(), InputError> {
        if row.cells.len() != width {
            return Err(Fault::Ragged { found: row.cells.len(), wanted: width }.on(row.line));
        }
        let called = if self.named {
            name(&row.cells[0]).map_err(|fault| fault.at(row.line, 1))?
        } else {
            self.rows.len().to_string()
        };
        self.rows.push((called, row.line));
        for (i, cell) in row.cells.iter().enumerate().skip(usize::from(self.named)) {
            let at = |fault: Fault| fault.at(row.line, i + 1);
            if Some(i) == weight_at {
                let weight = weight(cell).map_err(at)?;
                self.weights.get_or_insert_default().push(weight);
            } else {
                self.rtt.push(rtt_ms(cell).map_err(at)?);
            }
        }
        Ok(())
    }

    /// Whether this looks like all nodes by all nodes: it has no weights, and the first row is called like one of the columns.
    pub(crate) fn looks_square(&self) -> bool {
        let first = &self.rows[0].0;
        self.weights.is_none() && (!self.named || self.columns.iter().any(|(name, _)| name == first))
    }

    /// All nodes by all nodes. The rows may come in another order than the columns.
    pub(crate) fn square(self) -> Result<Known, InputError> {
        let (n, rows) = (self.columns.len(), self.rows.len());
        let first_column = 1 + usize::from(self.named);
        let mut names = Names::default();
        for (name, column) in self.columns {
            names.add(name).map_err(|fault| fault.at(self.header_line, column))?;
        }
        if !self.named && rows != n {
            return Err(Fault::NotSquare { rows, columns: n }.into());
        }
        let mut lines = vec![0; n];
        let mut rtt = vec![f32::NAN; n * n];
        for (i, (name, line)) in self.rows.iter().enumerate() {
            let at = names.find(name).map_err(|_| Fault::cell(name, "is a row but not a column").at(*line, 1))?;
            if lines[at] > 0 {
                return Err(Fault::Twice(shown(name)).at(*line, 1));
            }
            lines[at] = *line;
            rtt[at * n..][..n].copy_from_slice(&self.rtt[i * n..][..n]);
        }
        if let Some(at) = lines.iter().position(|line| *line == 0) {
            return Err(Fault::NoRow(shown(&names.list()[at])).into());
        }
        Ok(Known { names, links: Links::Square { rtt, lines, first_column } })
    }

    /// Players by candidates.
    pub(crate) fn rectangle(self) -> Result<Rectangle, InputError> {
        if !self.named {
            return Err(Fault::NoNames.into());
        }
        if self.columns.is_empty() {
            return Err(Fault::NoCandidatesLeft.into());
        }
        let (mut players, mut candidates) = (Names::default(), Names::default());
        let lines = self.rows.iter().map(|(_, line)| *line).collect();
        let columns = self.columns.iter().map(|(_, column)| *column).collect();
        for (name, column) in self.columns {
            candidates.add(name).map_err(|fault| fault.at(self.header_line, column))?;
        }
        for (name, line) in self.rows {
            players.add(name).map_err(|fault| fault.at(line, 1))?;
        }
        Ok(Rectangle { players, candidates, weights: self.weights, rtt: self.rtt, lines, columns })
    }
}

/// A player's weight: more than 0.
pub(crate) fn weight(cell: &str) -> Result<f64, Fault> {
    let weight = number(cell, (1e12, "is too much for a weight"))?;
    if weight > 0.0 { Ok(weight) } else { Err(Fault::cell(cell, "is no weight: it must be more than 0")) }
}
