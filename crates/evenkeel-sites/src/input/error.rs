//! What can be wrong with a file, and where.

use super::text::MAX_TEXT_BYTES;
use crate::ProblemError;
use std::fmt;

/// Which of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    /// The round-trip times.
    Latencies,
    /// The round-trip times between the candidates.
    Between,
    /// What is known of the sites.
    Sites,
    /// What is known of the players.
    Players,
}

/// Why files are no [`Problem`](crate::Problem), and where: one line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct InputError {
    /// In which file, if it is one file's fault.
    pub file: Option<File>,
    /// Counted from 1.
    pub line: Option<usize>,
    /// Counted from 1: cells, not letters.
    pub column: Option<usize>,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong with a file, or with what is wanted of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    /// The compressed text does not unpack.
    Gzip(String),
    /// It is not text.
    NotText,
    /// There is nothing in it.
    Empty,
    /// There is far too much in it.
    TooLarge,
    /// A quotation mark without its other half.
    Quote,
    /// A cell that is not what it should be.
    Cell {
        /// What stands there.
        cell: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A line that is longer or shorter than the first.
    Ragged {
        /// How many cells the line has.
        found: usize,
        /// How many it should have.
        wanted: usize,
    },
    /// Not as many rows as columns.
    NotSquare {
        /// How many rows.
        rows: usize,
        /// How many columns.
        columns: usize,
    },
    /// A name that is empty, or cannot be written on one line.
    BadName,
    /// A name that was there before.
    Twice(String),
    /// A name that nothing else has.
    Unknown(String),
    /// A column of a square table without its row.
    NoRow(String),
    /// A column that must be there.
    NoColumn(&'static str),
    /// A column that means nothing here.
    StrangeColumn {
        /// What it is called.
        name: String,
        /// What there may be.
        known: &'static str,
    },
    /// A table of players and candidates without names.
    NoNames,
    /// A table of players and candidates, but none of the round trips between the candidates.
    NoSecond,
    /// A second table beside one that says it all.
    Unneeded,
    /// A round-trip time that is not there, and that the rule does not make up.
    Missing {
        /// From here.
        from: String,
        /// To there.
        to: String,
        /// What could be done, beside measuring it.
        advice: &'static str,
    },
    /// So much is missing that looking for the fastest ways would take minutes.
    MuchMissing,
    /// More players drawn than there are, or none.
    Draw {
        /// How many are wanted.
        wanted: usize,
        /// How many there are.
        of: usize,
    },
    /// Both the players and the candidates are to be what the other leaves.
    BothRest,
    /// All are candidates, none is a player.
    NoPlayersLeft,
    /// All are players, none is a candidate.
    NoCandidatesLeft,
    /// More round-trip times than fit.
    TooMany {
        /// How many players.
        players: usize,
        /// How many candidates.
        candidates: usize,
    },
    /// It reads, but cannot be.
    Problem(ProblemError),
}

impl Fault {
    pub(crate) fn cell(cell: &str, problem: &'static str) -> Self {
        Self::Cell { cell: shown(cell), problem }
    }

    pub(crate) fn at(self, line: usize, column: usize) -> InputError {
        InputError { column: Some(column), ..self.on(line) }
    }

    pub(crate) fn on(self, line: usize) -> InputError {
        InputError { line: Some(line), ..self.into() }
    }
}

impl InputError {
    pub(crate) fn of(self, file: File) -> Self {
        Self { file: Some(file), ..self }
    }
}

impl From<Fault> for InputError {
    fn from(fault: Fault) -> Self {
        Self { file: None, line: None, column: None, fault }
    }
}

/// Short enough for one line, and nothing in it that would end the line.
pub(crate) fn shown(text: &str) -> String {
    text.chars().take(40).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file {
            Some(File::Between) => f.write_str("candidates' table: ")?,
            Some(File::Sites) => f.write_str("sites' table: ")?,
            Some(File::Players) => f.write_str("players' table: ")?,
            Some(File::Latencies) | None => {}
        }
        match (self.line, self.column) {
            (Some(line), Some(column)) => write!(f, "line {line}, column {column}: ")?,
            (Some(line), None) => write!(f, "line {line}: ")?,
            (None, _) => {}
        }
        self.fault.fmt(f)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gzip(problem) => write!(f, "the compressed text does not unpack: {problem}"),
            Self::NotText => f.write_str("this is not UTF-8 text"),
            Self::Empty => f.write_str("there is nothing in it"),
            Self::TooLarge => write!(f, "there are more than {} MiB of text", MAX_TEXT_BYTES >> 20),
            Self::Quote => f.write_str("a quotation mark is not closed before the line or the cell ends"),
            Self::Cell { cell, problem } => write!(f, "\"{cell}\" {problem}"),
            Self::Ragged { found, wanted } => write!(f, "{found} cells where the first line has {wanted}"),
            Self::NotSquare { rows, columns } => write!(f, "{rows} rows but {columns} columns; it must be square"),
            Self::BadName => f.write_str("a name must not be empty, nor longer than a line"),
            Self::Twice(name) => write!(f, "\"{name}\" is there twice"),
            Self::Unknown(name) => write!(f, "there is nothing called \"{name}\" among the round-trip times"),
            Self::NoRow(name) => write!(f, "there is a column but no row \"{name}\""),
            Self::NoColumn(name) => write!(f, "there is no column \"{name}\""),
            Self::StrangeColumn { name, known } => write!(f, "a column \"{name}\" means nothing here; known are {known}"),
            Self::NoNames => f.write_str("a table of players and candidates needs names in its first row and column"),
            Self::NoSecond => f.write_str(
                "a table of players and candidates needs a second one, with the round-trip times between the candidates",
            ),
            Self::Unneeded => f.write_str("the first table has the round-trip times between the candidates already"),
            Self::Missing { from, to, advice } => {
                write!(f, "the round-trip time from \"{from}\" to \"{to}\" is missing{advice}")
            }
            Self::MuchMissing => f.write_str(
                "too much is missing to look for the fastest way through another node each time; the rule \"unreachable\" does without",
            ),
            Self::Draw { wanted, of } => write!(f, "{wanted} players cannot be drawn from {of}"),
            Self::BothRest => f.write_str("players and candidates cannot both be what the other leaves"),
            Self::NoPlayersLeft => f.write_str("nobody is left as a player"),
            Self::NoCandidatesLeft => f.write_str("nothing is left as a candidate: everything is a player"),
            Self::TooMany { players, candidates } => {
                write!(f, "{players} players and {candidates} candidates have more round-trip times than are allowed")
            }
            Self::Problem(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for InputError {}
