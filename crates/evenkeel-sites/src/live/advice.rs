//! Whether to change servers.

use std::time::Duration;

use super::{
    KeeperError, Trouble,
    keeper::Keeper,
    look::{Choice, Look, difference},
};
use crate::{Plan, field::Field, solve, strategy::search::Lack};

/// If the gap to what is possible has grown by this part, it is time to solve again.
const DRIFT: f64 = 0.05;

/// What is remembered between one advice and the next.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// Whether anything has changed since nothing better was found.
    pub changed: bool,
    /// Nothing is advised before.
    quiet_until: Duration,
    /// How many could not play when the pause began, or fewer since.
    unserved: usize,
    solved: Option<Solved>,
}

/// What is remembered of solving the whole problem.
#[derive(Debug)]
struct Solved {
    at: Duration,
    /// The gap to what was possible after it, if there was a plan.
    ratio: Option<f64>,
    /// The servers it found, if any. As long as they are not taken, they are looked at every time.
    servers: Vec<usize>,
}

/// Somebody who would play on another server.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    /// Who.
    pub player: String,
    /// The site before; none if none could be reached.
    pub from: Option<usize>,
    /// The site after.
    pub to: Option<usize>,
}

/// Other servers, and what they are good for.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The sites where a server starts, ascending.
    pub start: Vec<usize>,
    /// The sites where one stops, ascending.
    pub stop: Vec<usize>,
    /// Who moves.
    pub moves: Vec<Move>,
    /// The share of the players who move from one server to another, by weight.
    pub moved: f64,
    /// What is wrong with the servers that run, if they are no plan at all.
    pub trouble: Option<Trouble>,
    /// The objective before, in milliseconds with the price of the servers; none if there was trouble.
    pub before: Option<f64>,
    /// The objective after; none if the trouble would only be smaller.
    pub after: Option<f64>,
    /// How much smaller the objective is.
    pub gain_ms: Option<f64>,
    /// The same in percent of the objective before.
    pub gain_percent: Option<f64>,
    /// What the starts and the moves cost, in milliseconds of the objective.
    pub cost_ms: f64,
    /// The servers that run, with their lags in milliseconds.
    pub lags_before: Vec<(usize, f64)>,
    /// The servers after, with theirs.
    pub lags_after: Vec<(usize, f64)>,
}

impl Keeper {
    /// Whether other servers are worth the trouble now. Times are since any fixed moment.
    ///
    /// Asked again without an answer, it gives the same advice as long as that is the best.
    pub fn advise(&mut self, now: Duration) -> Option<Change> {
        if self.problem.players.is_empty() {
            return None;
        }
        if now < self.clock.quiet_until {
            return self.help();
        }
        let solved = self.clock.solved.as_ref();
        let due = |since: Duration| solved.is_none_or(|solved| now.saturating_sub(solved.at) >= since);
        let (routine, again) = (due(self.settings.solve_every), due(self.settings.pause));
        if !self.clock.changed && !routine {
            return None;
        }
        let field = Field::new(&self.problem, self.request.lag).ok()?;
        let mut look = Look::new(self, &field);
        let mut best = look.now();
        let then = solved.and_then(|solved| solved.ratio);
        let grown = self.ratio(&field, &best).zip(then).is_some_and(|(ratio, then)| ratio > then * (1.0 + DRIFT));
        look.around(&mut best);
        look.at(solved.map_or(&[], |solved| &solved.servers), &mut best);
        let solved = (routine || again && (grown || best.lack != Lack::Nothing)).then(|| {
            let servers = solve(&self.problem, &self.request).map_or(Vec::new(), |answer| answer.plan.servers);
            look.at(&servers, &mut best);
            Solved { at: now, ratio: self.ratio(&field, &best), servers }
        });
        let change = (best.servers != self.seats.servers).then(|| self.change(&field, best));
        self.clock.changed = change.is_some();
        self.clock.solved = solved.or_else(|| self.clock.solved.take());
        change
    }

    /// Advice during the pause: only what lets somebody play who could play when it began, or was not here.
    fn help(&mut self) -> Option<Change> {
        let unserved = self.seats.unserved();
        if unserved <= self.clock.unserved {
            self.clock.unserved = unserved;
            return None;
        }
        let field = Field::new(&self.problem, self.request.lag).ok()?;
        let mut look = Look::new(self, &field);
        let mut best = look.now();
        look.around(&mut best);
        if self.seated(&field, &best.servers).unserved() < unserved {
            return Some(self.change(&field, best));
        }
        // Nobody can be helped: no need to look at it again and again.
        self.clock.unserved = unserved;
        None
    }

    fn change(&self, field: &Field<'_>, to: Choice) -> Change {
        let seats = self.seated(field, &to.servers);
        let (start, stop) = difference(&self.seats.servers, &to.servers);
        let (before, moved) = (self.value(), self.moved(&seats));
        let after = (to.lack == Lack::Nothing).then_some(to.value);
        let gain_ms = before.ok().zip(after).map(|(before, after)| before - after);
        let names = self.problem.players().iter().zip(self.seats.at.iter().zip(&seats.at));
        let moves = names.filter(|(_, (from, to))| from != to).map(|(player, (from, to))| Move {
            player: player.name.clone(),
            from: from.map(|s| s as usize),
            to: to.map(|s| s as usize),
        });
        let lags = |servers: &[usize], lags: &[f64]| servers.iter().copied().zip(lags.iter().copied()).collect();
        Change {
            moves: moves.collect(),
            moved,
            trouble: before.err(),
            before: before.ok(),
            after,
            gain_ms,
            gain_percent: gain_ms.zip(before.ok()).map(|(gain, before)| 100.0 * gain / before),
            cost_ms: to.cost,
            lags_before: lags(&self.seats.servers, &self.seats.lags),
            lags_after: lags(&seats.servers, &seats.lags),
            start,
            stop,
        }
    }

    /// Does what was advised, and starts the pause.
    ///
    /// Players may have come and gone since. The change is refused if other servers run by now, or if it is no gain any more.
    pub fn accept(&mut self, change: &Change, now: Duration) -> Result<(), KeeperError> {
        let sites = |lags: &[(usize, f64)]| lags.iter().map(|(site, _)| *site).collect::<Vec<usize>>();
        let (before, after) = (sites(&change.lags_before), sites(&change.lags_after));
        if before != self.seats.servers || self.problem.players.is_empty() {
            return Err(KeeperError::Stale);
        }
        let field = Field::new(&self.problem, self.request.lag)?;
        let after = Plan::empty(&self.problem, self.request.lag, &field.with_required(&after))?.servers;
        if !self.gains(&field, &after) {
            return Err(KeeperError::Stale);
        }
        self.follow(after, now);
        Ok(())
    }

    /// Does what has just been advised: nothing can have come between.
    pub(super) fn follow(&mut self, servers: Vec<usize>, now: Duration) {
        self.stand(servers);
        self.decline(now);
    }

    /// Starts the pause without doing anything.
    pub fn decline(&mut self, now: Duration) {
        self.clock.quiet_until = now.saturating_add(self.settings.pause);
        self.clock.unserved = self.seats.unserved();
    }
}
