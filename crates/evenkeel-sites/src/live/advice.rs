//! Whether to change servers.

use std::time::Duration;

use super::{
    KeeperError, Trouble,
    keeper::Keeper,
    look::{Choice, Look, difference},
};
use crate::{field::Field, solve, strategy::search::Lack};

/// If the gap to what is possible has grown by this part, it is time to solve again.
const DRIFT: f64 = 0.05;

/// What is remembered between one advice and the next.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// Whether anything has changed since nothing better was found.
    pub changed: bool,
    /// Nothing is advised before.
    quiet_until: Duration,
    /// When everything was solved again, and the gap to what is possible after it.
    solved: Option<(Duration, f64)>,
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
        if self.problem.players.is_empty() || now < self.clock.quiet_until {
            return None;
        }
        let due = |since: Duration| self.clock.solved.is_none_or(|(at, _)| now.saturating_sub(at) >= since);
        let (routine, again) = (due(self.settings.solve_every), due(self.settings.pause));
        if !self.clock.changed && !routine {
            return None;
        }
        let field = Field::new(&self.problem, self.request.lag).ok()?;
        let mut look = Look::new(self, &field);
        let mut best = look.now();
        let grown = self.clock.solved.is_some_and(|(_, ratio)| self.ratio(&field, best.total) > ratio * (1.0 + DRIFT));
        look.around(&mut best);
        let thorough = routine || again && (grown || best.lack != Lack::Nothing);
        if thorough {
            if let Ok(answer) = solve(&self.problem, &self.request) {
                let mut found = None;
                look.offer(answer.plan.servers, &mut found);
                best = found.filter(|found| look.better(found, &best)).unwrap_or(best);
            }
        }
        let ratio = self.ratio(&field, best.total);
        let change = (best.servers != self.seats.servers).then(|| self.change(&field, best));
        self.clock.changed = change.is_some();
        if thorough {
            self.clock.solved = Some((now, ratio));
        }
        change
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
        if before != self.seats.servers || self.problem.players.is_empty() || !self.gains(&after)? {
            return Err(KeeperError::Stale);
        }
        self.stand(after);
        self.decline(now);
        Ok(())
    }

    /// Starts the pause without doing anything.
    pub fn decline(&mut self, now: Duration) {
        self.clock.quiet_until = now.saturating_add(self.settings.pause);
    }
}
