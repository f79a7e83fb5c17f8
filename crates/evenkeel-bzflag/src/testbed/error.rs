//! What can go wrong with a bed.

use super::Missing;
use std::fmt;
use std::io;

/// Why something could not be started.
#[derive(Debug)]
pub enum BedError {
    /// A program is not installed.
    Missing(Missing),
    /// The machine refused something.
    Io {
        /// What was being done.
        what: String,
        /// How it was refused.
        error: io::Error,
    },
    /// The options make no sense.
    Options(String),
    /// The client's library did not compile.
    Compiler(String),
    /// A program ended by itself.
    Died(Died),
    /// A program runs, but does not answer.
    Silent {
        /// Its name in the bed.
        who: String,
    },
}

/// A program of the bed that ended by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Died {
    /// Its name in the bed: `server`, `watch` or the client's name.
    pub who: String,
    /// How it ended.
    pub how: String,
    /// The last lines of its log.
    pub log: String,
}

impl BedError {
    pub(super) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |error| Self::Io { what, error }
    }
}

impl fmt::Display for BedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(missing) => missing.fmt(f),
            Self::Io { what, error } => write!(f, "{what}: {error}"),
            Self::Options(why) => f.write_str(why),
            Self::Compiler(said) => write!(f, "the client's library did not compile:\n{said}"),
            Self::Died(died) => died.fmt(f),
            Self::Silent { who } => write!(f, "{who} does not answer"),
        }
    }
}

impl fmt::Display for Died {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ended by itself ({}); the last it said:\n{}", self.who, self.how, self.log)
    }
}

impl std::error::Error for BedError {}
impl std::error::Error for Died {}

impl From<Missing> for BedError {
    fn from(missing: Missing) -> Self {
        Self::Missing(missing)
    }
}

impl From<Died> for BedError {
    fn from(died: Died) -> Self {
        Self::Died(died)
    }
}
