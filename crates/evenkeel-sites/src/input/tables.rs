//! What else is known of sites and players.

use super::error::{Fault, InputError};
use super::known::Names;
use super::matrix::weight;
use super::text::{is_missing, name, number, rows};
use crate::{Site, Use};

/// Where something is, in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// North of the equator, from -90 to 90.
    pub latitude: f64,
    /// East of Greenwich, from -180 to 180.
    pub longitude: f64,
}

/// The sites of a table, in its order.
pub(crate) struct SiteTable {
    pub(crate) names: Names,
    pub(crate) sites: Vec<(Site, Option<Place>)>,
    pub(crate) lines: Vec<usize>,
}

const COLUMNS: [&str; 6] = ["name", "cost", "capacity", "use", "latitude", "longitude"];

pub(crate) fn read_sites(text: &str) -> Result<SiteTable, InputError> {
    let mut lines = rows(text);
    let header = lines.next().ok_or(Fault::Empty)??;
    let known = "name, cost, capacity, use, latitude, longitude";
    let columns = columns(&header.cells, &COLUMNS, known).map_err(|(fault, column)| fault.at(header.line, column))?;
    if !columns.contains(&0) {
        return Err(Fault::NoColumn("name").on(header.line));
    }
    let mut table = SiteTable { names: Names::default(), sites: Vec::new(), lines: Vec::new() };
    for row in lines {
        let row = row?;
        if row.cells.len() != columns.len() {
            return Err(Fault::Ragged { found: row.cells.len(), wanted: columns.len() }.on(row.line));
        }
        let mut site = Site::new("");
        let mut degrees = [None; 2];
        for (i, (cell, column)) in row.cells.iter().zip(&columns).enumerate() {
            set(&mut site, &mut degrees, *column, cell).map_err(|fault| fault.at(row.line, i + 1))?;
        }
        table.names.add(site.name.clone()).map_err(|fault| fault.on(row.line))?;
        let [latitude, longitude] = degrees;
        let place = latitude.zip(longitude).map(|(latitude, longitude)| Place { latitude, longitude });
        table.sites.push((site, place));
        table.lines.push(row.line);
    }
    if table.sites.is_empty() { Err(Fault::Empty.into()) } else { Ok(table) }
}

/// Which of the known columns each cell of the header names.
fn columns(header: &[impl AsRef<str>], known: &[&str], list: &'static str) -> Result<Vec<usize>, (Fault, usize)> {
    let mut found = Vec::new();
    for (column, cell) in (1..).zip(header.iter().map(AsRef::as_ref)) {
        let at = known.iter().position(|name| name.eq_ignore_ascii_case(cell));
        let Some(at) = at else {
            return Err((Fault::StrangeColumn { name: super::error::shown(cell), known: list }, column));
        };
        if found.contains(&at) {
            return Err((Fault::Twice(known[at].to_owned()), column));
        }
        found.push(at);
    }
    Ok(found)
}

/// What a cell says of a site. Nothing, if it is empty: then the site is as sites are.
fn set(site: &mut Site, degrees: &mut [Option<f64>; 2], column: usize, cell: &str) -> Result<(), Fault> {
    match COLUMNS[column] {
        "name" => site.name = name(cell)?,
        _ if is_missing(cell) => {}
        "cost" => site.cost = number(cell, (1e12, "is too much for a cost"))?,
        "capacity" => site.capacity = Some(number(cell, (1e12, "is too much for a capacity"))?),
        "use" => site.usage = usage(cell)?,
        "latitude" => degrees[0] = Some(angle(cell, 90.0)?),
        _ => degrees[1] = Some(angle(cell, 180.0)?),
    }
    Ok(())
}

fn usage(cell: &str) -> Result<Use, Fault> {
    let all = [("allowed", Use::Allowed), ("required", Use::Required), ("forbidden", Use::Forbidden)];
    let found = all.iter().find(|(name, _)| name.eq_ignore_ascii_case(cell));
    found.map(|(_, usage)| *usage).ok_or_else(|| Fault::cell(cell, "is not one of allowed, required, forbidden"))
}

fn angle(cell: &str, most: f64) -> Result<f64, Fault> {
    let degrees: f64 = cell.parse().map_err(|_| Fault::cell(cell, "is not a number of degrees"))?;
    if degrees.abs() <= most { Ok(degrees) } else { Err(Fault::cell(cell, "is out of range for degrees")) }
}

/// The players of a table, in its order.
pub(crate) struct PlayerTable {
    pub(crate) names: Names,
    pub(crate) weights: Vec<f64>,
    pub(crate) lines: Vec<usize>,
}

/// Columns `name` and `weight`, or names alone, with or without a first line that says so.
pub(crate) fn read_players(text: &str) -> Result<PlayerTable, InputError> {
    let mut lines = rows(text).peekable();
    let mut columns_here = vec![0];
    let is_list = match lines.peek() {
        None => return Err(Fault::Empty.into()),
        Some(first) => {
            first.as_ref().is_ok_and(|first| first.cells.len() == 1 && !first.cells[0].eq_ignore_ascii_case("name"))
        }
    };
    if !is_list && let Some(header) = lines.next() {
        let header = header?;
        columns_here = columns(&header.cells, &["name", "weight"], "name, weight")
            .map_err(|(fault, column)| fault.at(header.line, column))?;
        if !columns_here.contains(&0) {
            return Err(Fault::NoColumn("name").on(header.line));
        }
    }
    let mut table = PlayerTable { names: Names::default(), weights: Vec::new(), lines: Vec::new() };
    for row in lines {
        let row = row?;
        if row.cells.len() != columns_here.len() {
            return Err(Fault::Ragged { found: row.cells.len(), wanted: columns_here.len() }.on(row.line));
        }
        let mut heavy = 1.0;
        for (i, (cell, column)) in row.cells.iter().zip(&columns_here).enumerate() {
            let at = |fault: Fault| fault.at(row.line, i + 1);
            match column {
                0 => table.names.add(name(cell).map_err(at)?).map_err(at)?,
                _ if is_missing(cell) => {}
                _ => heavy = weight(cell).map_err(at)?,
            }
        }
        table.weights.push(heavy);
        table.lines.push(row.line);
    }
    if table.weights.is_empty() { Err(Fault::Empty.into()) } else { Ok(table) }
}
