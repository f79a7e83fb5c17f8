//! Files into a [`Problem`]: measured round-trip times, and what else is known of sites and players.
//!
//! All round-trip times are in milliseconds. All files are comma-separated values in UTF-8, plain or compressed by gzip, of at most
//! 1 GiB of text. Cells may stand in quotation marks; blank lines do not count. The [`Format`] of the round-trip times is seen from the
//! text:
//!
//! | format | what it looks like |
//! |---|---|
//! | [pairs](Format::Pairs) | a first line with the columns `from`, `to` and `rtt_ms`; more columns are not looked at. Of repeated measurements the median counts |
//! | [square](Format::Square) | row i, column j is the round trip from i to j. A first row and column of names are recognised by the second cell of the first line, which is no number; the rows may come in any order. Without names the nodes are called 0, 1, 2… |
//! | [rectangle](Format::Rectangle) | players by candidates, with names; a column `weight` says how many players a row stands for. It needs a second file, square or pairs, with the round-trip times between the candidates |
//!
//! A table with names is taken for a square unless there is a second file, a column `weight`, or a first row that is not called like a
//! column. A value that is missing is an empty cell, `-`, `NA` or `nan`: see [`Missing`].
//!
//! The sites' table has a column `name` and any of `cost`, `capacity`, `use` (`allowed`, `required`, `forbidden`), `latitude`,
//! `longitude`; the players' table has `name` and `weight`, or just a name in every line. A column that means nothing there is an error:
//! it would be a slip of the pen.
//!
//! ```
//! use evenkeel_sites::input::{Files, Options, Players, read};
//!
//! let latencies = b"city,Oslo,Lima,Rome\nOslo,0,210.5,41\nLima,211,0,\nRome,40,190,0\n";
//! let players = Some(Players::Named(vec!["Oslo".into(), "Lima".into()]));
//! let input = read(&Files::new(latencies), &Options { players, ..Options::default() })?;
//! assert_eq!(input.problem.sites()[0].name, "Rome");
//! // From Lima to Rome there is nothing: that of the other direction counts.
//! assert_eq!(input.problem.rtt(1, 0), 190.0);
//! assert_eq!(input.filled.mirrored, 1);
//! # Ok::<(), evenkeel_sites::input::InputError>(())
//! ```

mod assemble;
mod error;
mod known;
mod matrix;
mod pairs;
mod select;
mod tables;
#[cfg(test)]
mod tests;
mod text;

pub use error::{Fault, File, InputError};
pub use known::{Filled, Missing};
pub use pairs::{Pair, write_pairs};
pub use select::{Candidates, Players};
pub use tables::Place;

use crate::Problem;
use assemble::Source;
use matrix::Table;
use tables::{PlayerTable, SiteTable};

/// How round-trip times are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// All nodes by all nodes.
    Square,
    /// Players by candidates.
    Rectangle,
    /// One measurement in a line.
    Pairs,
}

/// The contents of files, plain or compressed by gzip.
#[derive(Clone, Copy, Debug)]
pub struct Files<'a> {
    /// The round-trip times.
    pub latencies: &'a [u8],
    /// Those between the candidates, if the first are those of players to candidates.
    pub between: Option<&'a [u8]>,
    /// The sites' table.
    pub sites: Option<&'a [u8]>,
    /// The players' table.
    pub players: Option<&'a [u8]>,
}

impl<'a> Files<'a> {
    /// Round-trip times alone.
    pub fn new(latencies: &'a [u8]) -> Self {
        Self { latencies, between: None, sites: None, players: None }
    }
}

/// What to make of the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// How the round-trip times are written; seen from the text unless said here.
    pub format: Option<Format>,
    /// What stands for a value that is missing.
    pub missing: Missing,
    /// Who plays. Unless said here: those of the players' table; without one, the nodes that are no candidates if those are named or
    /// counted, here or by a sites' table; else all.
    pub players: Option<Players>,
    /// Where servers may stand. Unless said here: the sites of the sites' table; without one, the nodes that are no players; if all
    /// are players, all.
    pub candidates: Option<Candidates>,
}

/// What the files say.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Players, sites and round-trip times.
    pub problem: Problem,
    /// Where each site is, if the sites' table knows.
    pub places: Vec<Option<Place>>,
    /// How the round-trip times were written.
    pub format: Format,
    /// What was not measured.
    pub filled: Filled,
}

/// Reads files.
pub fn read(files: &Files<'_>, options: &Options) -> Result<Input, InputError> {
    let sites = optional(files.sites, File::Sites, tables::read_sites)?;
    let players = optional(files.players, File::Players, tables::read_players)?;
    let (format, source) = source(files, options.format)?;
    let (who, what) = wanted(options, players.as_ref(), sites.as_ref());
    source.input(&who, &what, options.missing, format, (players, sites))
}

fn optional<T>(
    bytes: Option<&[u8]>,
    file: File,
    read: fn(&str) -> Result<T, InputError>,
) -> Result<Option<T>, InputError> {
    let read = |bytes| read(&text::unpack(bytes)?);
    bytes.map(read).transpose().map_err(|error| error.of(file))
}

/// The round-trip times, and how they are written.
fn source(files: &Files<'_>, forced: Option<Format>) -> Result<(Format, Source), InputError> {
    let (format, table) =
        latencies(files.latencies, forced, files.between.is_some()).map_err(|error| error.of(File::Latencies))?;
    let source = match (table, files.between) {
        (Latencies::Players(rectangle), Some(bytes)) => {
            let between = latencies(bytes, None, false).and_then(|(_, table)| match table {
                Latencies::Nodes(known) => Ok(known),
                Latencies::Players(_) => Err(Fault::NoSecond.into()),
            });
            Source::of_tables(rectangle, between.map_err(|error| error.of(File::Between))?)?
        }
        (Latencies::Players(_), None) => return Err(InputError::from(Fault::NoSecond)),
        (Latencies::Nodes(_), Some(_)) => return Err(InputError::from(Fault::Unneeded).of(File::Between)),
        (Latencies::Nodes(known), None) => Source::Nodes(known),
    };
    Ok((format, source))
}

enum Latencies {
    Nodes(known::Known),
    Players(matrix::Rectangle),
}

fn latencies(bytes: &[u8], forced: Option<Format>, second: bool) -> Result<(Format, Latencies), InputError> {
    let text = text::unpack(bytes)?;
    let first = text::rows(&text).next().ok_or(Fault::Empty)??;
    if forced == Some(Format::Pairs) || forced.is_none() && pairs::is_header(&first.cells) {
        return Ok((Format::Pairs, Latencies::Nodes(pairs::read(&text)?)));
    }
    let table = Table::read(&text, forced != Some(Format::Square))?;
    let square = forced.map_or_else(|| !second && table.looks_square(), |format| format == Format::Square);
    if square {
        Ok((Format::Square, Latencies::Nodes(table.square()?)))
    } else {
        Ok((Format::Rectangle, Latencies::Players(table.rectangle()?)))
    }
}

/// Who plays and where servers may stand, if need be as the files have it.
fn wanted(options: &Options, players: Option<&PlayerTable>, sites: Option<&SiteTable>) -> (Players, Candidates) {
    let some_are_candidates = match &options.candidates {
        Some(said) => matches!(said, Candidates::Named(_) | Candidates::First(_)),
        None => sites.is_some(),
    };
    let who = options.players.clone().unwrap_or_else(|| match players {
        Some(table) => Players::Named(table.names.list().to_vec()),
        None if some_are_candidates => Players::Rest,
        None => Players::All,
    });
    let what = options.candidates.clone().unwrap_or_else(|| match sites {
        Some(table) => Candidates::Named(table.names.list().to_vec()),
        None if who == Players::All => Candidates::All,
        None => Candidates::Rest,
    });
    (who, what)
}
