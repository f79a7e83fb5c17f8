//! Why there is no plan.

use std::fmt;

/// Why a problem or a request has no answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SolveError {
    /// A share of the lag that is not between 0 and 1.
    Share(f64),
    /// A percentile that is not above 0 and at most 1.
    Percentile(f64),
    /// A number in the request that cannot be.
    Request {
        /// Which.
        what: &'static str,
        /// What is said.
        value: f64,
    },
    /// A server at a site that does not exist.
    UnknownSite(usize),
    /// A server where there may be none.
    Forbidden {
        /// The site.
        site: String,
    },
    /// No servers at all.
    NoServers,
    /// Servers that cannot reach one another.
    Apart {
        /// One of them.
        one: String,
        /// The other.
        other: String,
    },
    /// A player who cannot reach any server.
    Unreachable {
        /// The first such player.
        player: String,
        /// How many there are.
        players: usize,
    },
    /// Everybody can reach some site, but no servers that can reach one another reach everybody.
    Disconnected,
    /// Fewer servers are allowed than there must be.
    TooFewServers {
        /// How many are allowed.
        allowed: usize,
        /// How many are needed at least.
        needed: usize,
    },
    /// The servers cannot hold all players.
    Capacity {
        /// The sum of the players' weights.
        players: f64,
        /// What the sites that may be used can hold.
        capacity: f64,
    },
    /// Nobody can be kept within this limit of the response time.
    Limit {
        /// What was asked for, in milliseconds.
        limit: f64,
        /// The nearest limit for which a plan is known.
        nearest: f64,
        /// Whether it is proven that there is no nearer one.
        proven: bool,
    },
    /// The search gave up before it found a plan.
    NothingFound,
}

impl fmt::Display for SolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Share(share) => write!(f, "the share of the lag must be between 0 and 1, not {share}"),
            Self::Percentile(value) => write!(f, "a percentile must be above 0 and at most 1, not {value}"),
            Self::Request { what, value } => write!(f, "the {what} cannot be {value}"),
            Self::UnknownSite(site) => write!(f, "there is no site {site}"),
            Self::Forbidden { site } => write!(f, "there may be no server at {site}"),
            Self::NoServers => f.write_str("there must be at least one server"),
            Self::Apart { one, other } => write!(f, "servers at {one} and {other} cannot reach each other"),
            Self::Unreachable { player, players: 1 } => write!(f, "{player} cannot reach any server"),
            Self::Unreachable { player, players } => {
                write!(f, "{players} players cannot reach any server, {player} among them")
            }
            Self::Disconnected => f.write_str("no servers that can reach one another reach everybody"),
            Self::TooFewServers { allowed, needed } => {
                write!(f, "at most {allowed} servers are allowed, but at least {needed} are needed")
            }
            Self::Capacity { players, capacity } => {
                write!(f, "the sites can hold {capacity} players, but there are {players}")
            }
            Self::Limit { limit, nearest, proven } => {
                let sure = if *proven { "no plan has" } else { "no plan was found that has" };
                write!(f, "{sure} a critical response within {limit} ms: the nearest is {nearest} ms")
            }
            Self::NothingFound => f.write_str("the search gave up before it found a plan"),
        }
    }
}

impl std::error::Error for SolveError {}
