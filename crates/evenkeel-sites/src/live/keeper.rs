//! Who plays, what runs, and how good that is.

use std::{collections::HashMap, time::Duration};

use super::{
    KeeperError, Trouble,
    seats::{self, Seats},
};
use crate::{
    Objective, Plan, Player, Problem, Request, Site, SolveError, Strategy, field::Field, solve, strategy::search::Goal,
};

/// The longest name, in bytes.
const LONGEST_NAME: usize = 256;

/// When a change is worth the trouble.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Which part of the objective every server that starts or stops must gain, 0.01 for 1 %: one in the place of another counts twice.
    pub hysteresis: f64,
    /// What starting a server costs, in milliseconds of the objective.
    pub start_ms: f64,
    /// What it would cost to move everybody to another server, in milliseconds of the objective; some cost their share.
    pub move_ms: f64,
    /// How long nothing is advised after a change was accepted or declined. Who cannot play does not wait for its end: if that is
    /// somebody new, what helps is advised at once.
    pub pause: Duration,
    /// How often the whole problem is solved again, besides when the gap to what is possible has grown.
    pub solve_every: Duration,
    /// How many players there may be. Each needs four bytes for every site.
    pub max_players: usize,
}

impl Default for Settings {
    fn default() -> Self {
        let (pause, solve_every) = (Duration::from_secs(60), Duration::from_secs(600));
        Self { hysteresis: 0.01, start_ms: 0.0, move_ms: 0.0, pause, solve_every, max_players: 100_000 }
    }
}

/// Keeps watch over players and servers; see the [module](super) for an example.
///
/// A round-trip time that is infinite means that there is no way. What is refused changes nothing.
#[derive(Debug)]
pub struct Keeper {
    pub(super) problem: Problem,
    pub(super) request: Request,
    pub(super) settings: Settings,
    pub(super) seats: Seats,
    players: HashMap<String, usize>,
    /// Whether a player could use each site at all.
    usable: Vec<bool>,
    /// Whether any site is limited in what it can hold.
    pub(super) limited: bool,
    pub(super) clock: super::advice::Clock,
}

impl Keeper {
    /// Nobody plays yet, and only required servers run. `between` is the sites' round-trip times in milliseconds, site by site.
    ///
    /// Servers are chosen by [`Strategy::Best`], whatever the request says.
    pub fn new(sites: Vec<Site>, between: Vec<f32>, request: Request, settings: Settings) -> Result<Self, KeeperError> {
        solve::check(&request)?;
        let numbers = [
            ("hysteresis", settings.hysteresis),
            ("cost of a start", settings.start_ms),
            ("cost of moving", settings.move_ms),
        ];
        for (what, value) in numbers {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(KeeperError::Setting { what, value });
            }
        }
        // A problem has players; this one only helps to check the rest.
        let rtt = vec![0.0; sites.len()];
        let mut problem = Problem::new(vec![Player::new("")], sites, rtt, between)?;
        problem.players.clear();
        problem.rtt.clear();
        let request = Request { strategy: Strategy::Best, ..request };
        let field = Field::new(&problem, request.lag)?;
        let usable: Vec<bool> = field.base.iter().map(|base| base.is_finite()).collect();
        let limited = problem.sites().iter().any(|site| site.capacity.is_some());
        let seats = Seats::new(&problem, request.lag, field.required);
        let players = HashMap::new();
        Ok(Self { problem, request, settings, seats, players, usable, limited, clock: Default::default() })
    }

    /// Says which servers run, if any; the required ones do in any case.
    pub fn run(&mut self, servers: &[usize]) -> Result<(), KeeperError> {
        let field = Field::new(&self.problem, self.request.lag)?;
        let mut servers = field.with_required(servers);
        if !servers.is_empty() {
            servers = Plan::empty(&self.problem, self.request.lag, &servers)?.servers;
        }
        self.stand(servers);
        Ok(())
    }

    /// Somebody comes, with a round-trip time in milliseconds to every site.
    pub fn join(&mut self, name: &str, weight: f64, row: &[f32]) -> Result<(), KeeperError> {
        if name.len() > LONGEST_NAME {
            return Err(KeeperError::LongName(name.len()));
        }
        if self.players.contains_key(name) {
            return Err(KeeperError::KnownPlayer(name.to_owned()));
        }
        if self.problem.players.len() >= self.settings.max_players {
            return Err(KeeperError::TooManyPlayers(self.settings.max_players));
        }
        if !(weight > 0.0 && weight.is_finite()) {
            return Err(value(name, "weight", weight));
        }
        self.check_row(name, row)?;
        self.players.insert(name.to_owned(), self.problem.players.len());
        self.problem.players.push(Player { name: name.to_owned(), weight });
        self.problem.rtt.extend_from_slice(row);
        self.seats.join(row);
        self.changed();
        Ok(())
    }

    /// Somebody goes.
    pub fn leave(&mut self, name: &str) -> Result<(), KeeperError> {
        let player = self.index(name)?;
        self.players.remove(name);
        self.problem.players.swap_remove(player);
        // The last row takes the place of the one that goes.
        let (m, rtt) = (self.usable.len(), &mut self.problem.rtt);
        let last = rtt.len() - m;
        rtt.copy_within(last.., player * m);
        rtt.truncate(last);
        if let Some(moved) = self.problem.players.get(player) {
            self.players.insert(moved.name.clone(), player);
        }
        self.seats.leave(player);
        self.changed();
        Ok(())
    }

    /// All round-trip times of a player were measured again, in milliseconds.
    pub fn measured(&mut self, name: &str, row: &[f32]) -> Result<(), KeeperError> {
        let player = self.index(name)?;
        self.check_row(name, row)?;
        self.problem.rtt[player * row.len()..][..row.len()].copy_from_slice(row);
        self.seats.measured(player, row);
        self.changed();
        Ok(())
    }

    /// The round-trip time between a player and one site was measured again, in milliseconds.
    pub fn measured_to(&mut self, name: &str, site: usize, ms: f32) -> Result<(), KeeperError> {
        let mut row = self.problem.row(self.index(name)?).to_vec();
        *row.get_mut(site).ok_or(KeeperError::UnknownSite(site))? = ms;
        self.measured(name, &row)
    }

    /// The round-trip time between two sites was measured again, in milliseconds.
    pub fn measured_between(&mut self, one: usize, other: usize, ms: f32) -> Result<(), KeeperError> {
        let m = self.usable.len();
        if let Some(site) = [one, other].into_iter().find(|site| *site >= m) {
            return Err(KeeperError::UnknownSite(site));
        }
        if one == other || ms.is_nan() || ms < 0.0 {
            return Err(value(&self.problem.sites()[one].name, "round-trip time", f64::from(ms)));
        }
        let places = [one * m + other, other * m + one];
        let before = self.problem.between[places[0]];
        places.iter().for_each(|&i| self.problem.between[i] = ms);
        match Field::new(&self.problem, self.request.lag) {
            Ok(field) => self.usable = field.base.iter().map(|base| base.is_finite()).collect(),
            Err(error) => {
                places.iter().for_each(|&i| self.problem.between[i] = before);
                return Err(error.into());
            }
        }
        let servers = &self.seats.servers;
        if servers.contains(&one) && servers.contains(&other) {
            self.stand(servers.clone());
        }
        self.changed();
        Ok(())
    }

    fn index(&self, name: &str) -> Result<usize, KeeperError> {
        self.players.get(name).copied().ok_or_else(|| KeeperError::UnknownPlayer(name.to_owned()))
    }

    fn check_row(&self, name: &str, row: &[f32]) -> Result<(), KeeperError> {
        if row.len() != self.usable.len() {
            return Err(KeeperError::Row { given: row.len(), sites: self.usable.len() });
        }
        if let Some(wrong) = row.iter().find(|ms| ms.is_nan() || **ms < 0.0) {
            return Err(value(name, "round-trip time", f64::from(*wrong)));
        }
        match row.iter().zip(&self.usable).any(|(ms, usable)| *usable && ms.is_finite()) {
            true => Ok(()),
            false => Err(KeeperError::Nowhere(name.to_owned())),
        }
    }

    /// Other servers run.
    pub(super) fn stand(&mut self, servers: Vec<usize>) {
        let looked = self.seats.looked;
        self.seats = Seats::new(&self.problem, self.request.lag, servers);
        self.seats.looked += looked;
        self.changed();
    }

    fn changed(&mut self) {
        self.clock.changed = true;
        if self.limited {
            // A problem that is kept is one that can be looked at.
            if let Ok(field) = Field::new(&self.problem, self.request.lag) {
                self.seats.seat_within_rooms(&field, &self.goal());
            }
        }
    }

    pub(super) fn goal(&self) -> Goal {
        let Request { objective, price, .. } = self.request;
        let limit = self.request.critical_limit.unwrap_or(f64::INFINITY);
        Goal { objective, price, limit, servers: self.request.max_servers.unwrap_or(usize::MAX), idle: true }
    }

    /// Players and sites as they are now.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The sites with servers, ascending.
    pub fn servers(&self) -> &[usize] {
        &self.seats.servers
    }

    /// How long each of the servers holds actions back, in milliseconds.
    pub fn lags(&self) -> &[f64] {
        &self.seats.lags
    }

    /// The response time of every player in milliseconds, in the order of [`Self::problem`]; infinite for who cannot play.
    pub fn responses(&self) -> &[f64] {
        &self.seats.responses
    }

    /// The response time of a player in milliseconds.
    pub fn response(&self, name: &str) -> Result<f64, KeeperError> {
        Ok(self.seats.responses[self.index(name)?])
    }

    /// All round-trip times of a player, in milliseconds.
    pub fn row(&self, name: &str) -> Result<&[f32], KeeperError> {
        Ok(self.problem.row(self.index(name)?))
    }

    /// How many responses of a player on a server have been looked at, without advice: what the events have cost.
    pub fn looked(&self) -> u64 {
        self.seats.looked
    }

    /// Servers and players as a plan. Fails if somebody cannot play.
    pub fn plan(&self) -> Result<Plan, SolveError> {
        let mut plan = Plan::empty(&self.problem, self.request.lag, &self.seats.servers)?;
        let lost = || self.seats.at.iter().enumerate().filter(|(_, at)| at.is_none()).map(|(p, _)| p);
        if let Some(first) = lost().next() {
            let player = self.problem.players[first].name.clone();
            return Err(SolveError::Unreachable { player, players: lost().count() });
        }
        plan.assignment = self.seats.at.iter().flatten().copied().collect();
        Ok(plan)
    }

    /// The objective with the price of the servers, or why there is none.
    pub fn value(&self) -> Result<f64, Trouble> {
        let (seats, goal) = (&self.seats, self.goal());
        let max = seats.responses.iter().copied().fold(0.0, f64::max);
        match () {
            () if seats.servers.len() > goal.servers => return Err(Trouble::TooManyServers),
            () if seats.at.is_empty() => {}
            () if seats.servers.is_empty() => return Err(Trouble::NoServers),
            () if seats.lags.iter().any(|lag| lag.is_infinite()) => return Err(Trouble::Apart),
            () if max.is_infinite() => {
                return Err(Trouble::Unreachable(seats.at.iter().filter(|at| at.is_none()).count()));
            }
            () if seats.full => return Err(Trouble::Full),
            () if max > goal.limit => return Err(Trouble::Limit(max)),
            () => {}
        }
        let cost: f64 = seats.servers.iter().map(|&s| self.problem.sites()[s].cost).sum();
        Ok(match goal.objective {
            Objective::Servers => seats.servers.len() as f64,
            Objective::Cost => cost,
            _ if seats.at.is_empty() => goal.price * cost,
            of => of.of(&seats.responses, &seats::weights(&self.problem), &mut Vec::new()) + goal.price * cost,
        })
    }
}

fn value(of: &str, what: &'static str, value: f64) -> KeeperError {
    KeeperError::Problem(crate::ProblemError::Value { of: of.to_owned(), what, value })
}
