//! What could be better than the servers that run.

use super::{keeper::Keeper, seats::Seats};
use crate::{
    Objective,
    field::Field,
    strategy::search::{Judge, Lack, Worth, with, without},
};

/// How many responses a look around may cost.
const WORK: u64 = 200_000_000;
/// How many changes, one after the other, are looked for.
const ROUNDS: usize = 2;
/// A gain of less than this, in milliseconds, may be rounding.
const TINY: f64 = 1e-9;

/// Servers with what they are worth, all costs of changing to them included.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub servers: Vec<usize>,
    pub lack: Lack,
    /// The objective, or how much is lacking.
    pub value: f64,
    pub total: f64,
    pub cost: f64,
}

/// Looks around.
pub(super) struct Look<'a> {
    keeper: &'a Keeper,
    judge: Judge<'a>,
    now: Worth,
    left: u64,
}

impl<'a> Look<'a> {
    pub fn new(keeper: &'a Keeper, field: &'a Field<'a>) -> Self {
        let mut judge = Judge::new(field, keeper.goal(), WORK);
        let now = judge.worth(&keeper.seats.servers, None);
        Self { keeper, judge, now, left: WORK }
    }

    /// The servers that run.
    pub fn now(&self) -> Choice {
        let servers = self.keeper.seats.servers.clone();
        Choice { servers, lack: self.now.lack, value: self.now.value, total: self.now.value, cost: 0.0 }
    }

    /// Looks around the servers that run and, if there is no plan near them, around the best central server.
    pub fn around(&mut self, best: &mut Choice) {
        self.rounds(best);
        if best.lack != Lack::Nothing {
            let field = self.judge.field;
            field.usable.iter().for_each(|&s| self.at(&field.with_required(&[s]), best));
            self.rounds(best);
        }
    }

    /// The best of a server more, one fewer, another in its place, and once more from there.
    fn rounds(&mut self, best: &mut Choice) {
        for _ in 0..ROUNDS {
            let from = best.servers.clone();
            let mut next = None;
            let field = self.judge.field;
            let rests = from.iter().filter(|s| !field.required.contains(s)).map(|&s| without(&from, s));
            for rest in rests.chain([from.clone()]) {
                self.offer(rest.clone(), &mut next);
                for &s in field.usable.iter().filter(|s| !from.contains(s)) {
                    self.offer(with(&rest, s), &mut next);
                }
            }
            let Some(next) = next.filter(|next| self.better(next, best)) else { return };
            *best = next;
        }
    }

    /// These servers, if they are better.
    pub fn at(&mut self, servers: &[usize], best: &mut Choice) {
        let mut found = None;
        self.offer(servers.to_vec(), &mut found);
        if let Some(found) = found.filter(|found| self.better(found, best)) {
            *best = found;
        }
    }

    fn better(&self, one: &Choice, other: &Choice) -> bool {
        one.lack < other.lack || one.lack == other.lack && one.total < other.total - TINY
    }

    /// Keeps the servers if they are the best so far.
    pub fn offer(&mut self, servers: Vec<usize>, best: &mut Option<Choice>) {
        let seats = &self.keeper.seats.servers;
        if servers.is_empty() || servers == *seats || self.left == 0 || self.apart(&servers) {
            return;
        }
        self.left = self.left.saturating_sub((self.judge.field.players() * servers.len()) as u64);
        let than = best.as_ref().map(|best| Worth { lack: best.lack, value: best.total, then: f64::INFINITY });
        let worth = self.judge.worth(&servers, than.as_ref());
        let mut option = Choice { servers, lack: worth.lack, value: worth.value, total: worth.value, cost: 0.0 };
        if worth.lack == Lack::Nothing {
            option.total += self.hysteresis(&option.servers, worth.value);
        }
        // Who would move is looked at only if it can still matter.
        if best.as_ref().is_none_or(|best| self.better(&option, best)) {
            option.cost = self.cost(&option.servers);
            if worth.lack == Lack::Nothing {
                option.total += option.cost;
            }
            if best.as_ref().is_none_or(|best| self.better(&option, best)) {
                *best = Some(option);
            }
        }
    }

    /// Whether some of the servers cannot reach each other: fewer of those would be less bad, but still no advice.
    fn apart(&self, servers: &[usize]) -> bool {
        self.judge.field.lag.of(&self.keeper.problem, servers).iter().any(|lag| lag.is_infinite())
    }

    /// What the change must gain at least.
    fn hysteresis(&self, servers: &[usize], value: f64) -> f64 {
        let of = if self.now.lack == Lack::Nothing { self.now.value } else { value };
        let (start, stop) = difference(&self.keeper.seats.servers, servers);
        self.keeper.settings.hysteresis * of * (start.len() + stop.len()) as f64
    }

    /// What the change costs, in milliseconds of the objective.
    fn cost(&self, servers: &[usize]) -> f64 {
        let settings = &self.keeper.settings;
        let starts = difference(&self.keeper.seats.servers, servers).0.len() as f64;
        let moved = if settings.move_ms > 0.0 {
            self.keeper.moved(&self.keeper.seated(self.judge.field, servers))
        } else {
            0.0
        };
        settings.start_ms * starts + settings.move_ms * moved
    }
}

/// What starts and what stops.
pub(super) fn difference(before: &[usize], after: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let not_in = |all: &[usize], these: &[usize]| these.iter().copied().filter(|s| !all.contains(s)).collect();
    (not_in(before, after), not_in(after, before))
}

impl Keeper {
    /// Everybody on these servers.
    pub(super) fn seated(&self, field: &Field<'_>, servers: &[usize]) -> Seats {
        let mut seats = Seats::new(&self.problem, self.request.lag, servers.to_vec());
        if self.limited {
            seats.seat_within_rooms(field, &self.goal());
        }
        seats
    }

    /// The share of the players who would play on another server than now.
    pub(super) fn moved(&self, seats: &Seats) -> f64 {
        let both = self.seats.at.iter().zip(&seats.at).zip(self.problem.players());
        let moved = both.filter(|((from, to), _)| from.is_some() && from != to);
        moved.map(|(_, player)| player.weight).sum::<f64>() / self.problem.weight()
    }

    /// Whether these servers would be better than those that run, whatever it costs.
    pub(super) fn gains(&self, field: &Field<'_>, servers: &[usize]) -> bool {
        let mut judge = Judge::new(field, self.goal(), WORK);
        let now = judge.worth(&self.seats.servers, None);
        judge.worth(servers, None).better(&now)
    }

    /// How many times what is possible at best the value of the choice is; none if it is no plan. The bound is a loose one: it is
    /// looked at for how it changes.
    pub(super) fn ratio(&self, field: &Field<'_>, of: &Choice) -> Option<f64> {
        if of.lack != Lack::Nothing {
            return None;
        }
        let floors: Vec<f64> = (0..field.players()).map(|p| field.floor(p)).collect();
        let weights = super::seats::weights(&self.problem);
        let objective = match self.request.objective {
            Objective::MeanPlusStd => Objective::Mean,
            objective => objective,
        };
        Some(of.value / objective.of(&floors, &weights, &mut Vec::new()).max(1.0))
    }
}
