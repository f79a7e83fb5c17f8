//! What is given: players, sites, and how far they are from one another.

use std::fmt;

/// A place where a server may stand.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// What people call it.
    pub name: String,
    /// What a server there costs, in whatever unit the operator counts.
    pub cost: f64,
    /// How many players it can serve, if that is limited: the sum of their weights.
    pub capacity: Option<f64>,
    /// Whether it may be used at all.
    pub usage: Use,
}

/// Whether a site is the planner's to choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Use {
    /// It may be chosen.
    #[default]
    Allowed,
    /// There is a server in any case.
    Required,
    /// There is none in any case.
    Forbidden,
}

impl Site {
    /// A site of cost 1, without limits.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), cost: 1.0, capacity: None, usage: Use::Allowed }
    }
}

/// A player, or a number of players who are equally far from every site.
#[derive(Clone, Debug, PartialEq)]
pub struct Player {
    /// What people call it.
    pub name: String,
    /// How many it stands for, or how much it matters.
    pub weight: f64,
}

impl Player {
    /// One player.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), weight: 1.0 }
    }
}

/// Players, sites, and the round-trip times between them, in milliseconds.
///
/// What was not measured is infinite: a player cannot use such a site, and two such sites cannot both have servers.
///
/// ```
/// use evenkeel_sites::{Player, Problem, Site};
///
/// let sites = vec![Site::new("Frankfurt"), Site::new("Tokyo")];
/// let players = vec![Player::new("Ada"), Player::new("Bo")];
/// // Player by player: to Frankfurt, to Tokyo. Then site by site.
/// let problem = Problem::new(players, sites, vec![20.0, 240.0, 230.0, 10.0], vec![0.0, 225.0, 225.0, 0.0])?;
/// assert_eq!(problem.rtt(1, 0), 230.0);
/// assert_eq!(problem.between(0, 1), 112.5, "one way");
/// # Ok::<(), evenkeel_sites::ProblemError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub(crate) players: Vec<Player>,
    sites: Vec<Site>,
    /// Player by player. Four bytes each: there may be very many.
    pub(crate) rtt: Vec<f32>,
    /// Site by site, round trips, symmetric, with zeros on the diagonal.
    pub(crate) between: Vec<f32>,
}

impl Problem {
    /// Players and sites with their round-trip times in milliseconds: `rtt` player by player, `between` site by site.
    ///
    /// A round trip between two sites is the same quantity whoever measures it: of two different values the mean counts, of one
    /// that is missing the other. The diagonal of `between` is not looked at.
    pub fn new(
        players: Vec<Player>,
        sites: Vec<Site>,
        rtt: Vec<f32>,
        mut between: Vec<f32>,
    ) -> Result<Self, ProblemError> {
        let (n, m) = (players.len(), sites.len());
        if n == 0 {
            return Err(ProblemError::NoPlayers);
        }
        if sites.iter().all(|site| site.usage == Use::Forbidden) {
            return Err(ProblemError::NoSites);
        }
        if rtt.len() != n * m || between.len() != m * m {
            return Err(ProblemError::Shape { players: n, sites: m, rtt: rtt.len(), between: between.len() });
        }
        for player in &players {
            check(player.weight > 0.0 && player.weight.is_finite(), &player.name, "weight", player.weight)?;
        }
        for site in &sites {
            check(site.cost >= 0.0 && site.cost.is_finite(), &site.name, "cost", site.cost)?;
            let capacity = site.capacity.unwrap_or(0.0);
            check(capacity >= 0.0 && capacity.is_finite(), &site.name, "capacity", capacity)?;
        }
        for (i, value) in rtt.iter().enumerate() {
            check(*value >= 0.0, &players[i / m].name, "round-trip time", f64::from(*value))?;
        }
        for (i, value) in between.iter().enumerate() {
            check(*value >= 0.0 || i / m == i % m, &sites[i / m].name, "round-trip time", f64::from(*value))?;
        }
        symmetrise(&mut between, m);
        Ok(Self { players, sites, rtt, between })
    }

    /// The players.
    pub fn players(&self) -> &[Player] {
        &self.players
    }

    /// The sites.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// The round-trip time between a player and a site, in milliseconds; infinite if there is none.
    #[inline]
    pub fn rtt(&self, player: usize, site: usize) -> f64 {
        f64::from(self.rtt[player * self.sites.len() + site])
    }

    /// All round-trip times of a player, in milliseconds.
    #[inline]
    pub fn row(&self, player: usize) -> &[f32] {
        &self.rtt[player * self.sites.len()..][..self.sites.len()]
    }

    /// The delay from one site to another, in milliseconds: half their round trip.
    #[inline]
    pub fn between(&self, from: usize, to: usize) -> f64 {
        f64::from(self.between[from * self.sites.len() + to]) / 2.0
    }

    /// The sum of the players' weights.
    pub fn weight(&self) -> f64 {
        self.players.iter().map(|player| player.weight).sum()
    }
}

fn check(holds: bool, of: &str, what: &'static str, value: f64) -> Result<(), ProblemError> {
    if holds { Ok(()) } else { Err(ProblemError::Value { of: of.to_owned(), what, value }) }
}

fn symmetrise(between: &mut [f32], m: usize) {
    for i in 0..m {
        between[i * m + i] = 0.0;
        for j in 0..i {
            let (a, b) = (between[i * m + j], between[j * m + i]);
            let both = match (a.is_finite(), b.is_finite()) {
                (true, true) => (a + b) / 2.0,
                _ => a.min(b),
            };
            (between[i * m + j], between[j * m + i]) = (both, both);
        }
    }
}

/// Why something is no [`Problem`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ProblemError {
    /// There is nobody to serve.
    NoPlayers,
    /// There is no site that may be used.
    NoSites,
    /// The numbers of round-trip times do not fit.
    Shape {
        /// How many players.
        players: usize,
        /// How many sites.
        sites: usize,
        /// How many round-trip times of players.
        rtt: usize,
        /// How many round-trip times of sites.
        between: usize,
    },
    /// A number that cannot be.
    Value {
        /// The player's or site's name.
        of: String,
        /// What it is.
        what: &'static str,
        /// What is said.
        value: f64,
    },
}

impl fmt::Display for ProblemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPlayers => f.write_str("there are no players"),
            Self::NoSites => f.write_str("there is no site that may be used"),
            Self::Shape { players, sites, rtt, between } => write!(
                f,
                "{players} players and {sites} sites need {} and {} round-trip times, not {rtt} and {between}",
                players * sites,
                sites * sites
            ),
            Self::Value { of, what, value } => write!(f, "the {what} of {of} cannot be {value}"),
        }
    }
}

impl std::error::Error for ProblemError {}
