//! What cannot be done, and why servers do not serve.

use std::fmt;

use crate::{ProblemError, SolveError};

/// Why something was refused. Nothing has changed then.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum KeeperError {
    /// A player nobody knows.
    UnknownPlayer(String),
    /// A player who is here already.
    KnownPlayer(String),
    /// A name that is longer than a name may be, in bytes.
    LongName(usize),
    /// There are as many players as there may be.
    TooManyPlayers(usize),
    /// A site that does not exist.
    UnknownSite(usize),
    /// Not one round-trip time for every site.
    Row {
        /// How many there are.
        given: usize,
        /// How many sites there are.
        sites: usize,
    },
    /// A player who could play nowhere.
    Nowhere(String),
    /// A number among the settings that cannot be.
    Setting {
        /// Which.
        what: &'static str,
        /// What is said.
        value: f64,
    },
    /// The change was meant for other servers, or is no gain any more.
    Stale,
    /// Players, sites or times that cannot be.
    Problem(ProblemError),
    /// A request or servers that cannot be.
    Solve(SolveError),
}

impl fmt::Display for KeeperError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownPlayer(name) => write!(f, "there is no player {name}"),
            Self::KnownPlayer(name) => write!(f, "{name} plays already"),
            Self::LongName(bytes) => write!(f, "a name of {bytes} bytes is too long"),
            Self::TooManyPlayers(most) => write!(f, "there may be no more than {most} players"),
            Self::UnknownSite(site) => write!(f, "there is no site {site}"),
            Self::Row { given, sites } => write!(f, "{sites} sites need {sites} round-trip times, not {given}"),
            Self::Nowhere(name) => write!(f, "{name} would reach no site that may be used"),
            Self::Setting { what, value } => write!(f, "the {what} cannot be {value}"),
            Self::Stale => f.write_str("the change is out of date"),
            Self::Problem(error) => error.fmt(f),
            Self::Solve(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for KeeperError {}

impl From<ProblemError> for KeeperError {
    fn from(error: ProblemError) -> Self {
        Self::Problem(error)
    }
}

impl From<SolveError> for KeeperError {
    fn from(error: SolveError) -> Self {
        Self::Solve(error)
    }
}

/// Why the servers that run are no plan for the players who are here.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Trouble {
    /// No server runs.
    NoServers,
    /// More run than may.
    TooManyServers,
    /// Some cannot reach each other.
    Apart,
    /// So many players reach none.
    Unreachable(usize),
    /// They cannot hold everybody.
    Full,
    /// The critical response, in milliseconds, is beyond its limit.
    Limit(f64),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoServers => f.write_str("no server runs"),
            Self::TooManyServers => f.write_str("more servers run than may"),
            Self::Apart => f.write_str("some servers cannot reach each other"),
            Self::Unreachable(players) => write!(f, "players who reach no server: {players}"),
            Self::Full => f.write_str("the servers cannot hold everybody"),
            Self::Limit(critical) => write!(f, "the critical response of {critical} ms is beyond its limit"),
        }
    }
}

impl std::error::Error for Trouble {}
