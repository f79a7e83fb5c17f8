//! Local search for any objective: a server more, one fewer, or another in its place, as long as it helps.

use std::cmp::Ordering;

use crate::{Objective, Plan, capacity::Seating, field::Field, objective::Weights, random::Random};

/// What plans must keep to, and what they are judged by.
#[derive(Clone, Copy)]
pub(crate) struct Goal {
    pub objective: Objective,
    /// How many milliseconds a unit of cost is worth.
    pub price: f64,
    /// What the critical response must not exceed.
    pub limit: f64,
    /// How many servers there may be.
    pub servers: usize,
    /// Whether there may be servers that serve nobody.
    pub idle: bool,
}

/// How good servers are: what they lack comes before what they are worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Worth {
    pub lack: Lack,
    pub value: f64,
    /// Decides between equal values.
    pub(crate) then: f64,
}

/// What keeps servers from being a plan, the gravest last. The value says how much.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) enum Lack {
    Nothing,
    Idle,
    Limit,
    Reach,
    Room,
    Count,
}

impl Worth {
    pub fn better(&self, other: &Self) -> bool {
        let order = self.lack.partial_cmp(&other.lack).unwrap_or(Ordering::Equal);
        order.then(self.value.total_cmp(&other.value)).then(self.then.total_cmp(&other.then)) == Ordering::Less
    }
}

/// Judges servers.
pub(crate) struct Judge<'a> {
    pub field: &'a Field<'a>,
    pub goal: Goal,
    pub weights: Weights,
    /// Round trips, site by site: servers are looked at one after the other for all players.
    columns: Vec<f32>,
    /// Whether any site is limited in what it can hold.
    limited: bool,
    /// How many responses may still be looked at.
    work: u64,
    responses: Vec<f64>,
    scratch: Vec<(f64, f64)>,
}

impl<'a> Judge<'a> {
    pub fn new(field: &'a Field<'a>, goal: Goal, work: u64) -> Self {
        let (n, m) = (field.players(), field.sites());
        let mut columns = vec![0.0; n * m];
        for p in 0..n {
            for (s, rtt) in field.problem.row(p).iter().enumerate() {
                columns[s * n + p] = *rtt;
            }
        }
        let weights = Weights::new(field.problem.players().iter().map(|player| player.weight).collect());
        let limited = field.usable.iter().any(|&s| field.problem.sites()[s].capacity.is_some());
        Self { field, goal, weights, columns, limited, work, responses: vec![0.0; n], scratch: Vec::new() }
    }

    pub fn limited(&self) -> bool {
        self.limited
    }

    /// How good these servers are. If they are not better than `than`, it may be anything that is not better either.
    pub fn worth(&mut self, servers: &[usize], than: Option<&Worth>) -> Worth {
        self.work = self.work.saturating_sub((self.field.players() * servers.len().max(1)) as u64);
        let lack = |lack, value| Worth { lack, value, then: 0.0 };
        if servers.len() > self.goal.servers {
            return lack(Lack::Count, servers.len() as f64);
        }
        let apart = self.nearest(servers);
        if apart > 0 {
            return lack(Lack::Reach, (apart * self.field.players()) as f64);
        }
        let missing = self.missing_room(servers);
        if missing > 0.0 {
            return lack(Lack::Room, missing);
        }
        let mut worth = self.judged(servers);
        let hopeless = |worth: &Worth| worth.lack != Lack::Nothing || than.is_some_and(|than| !worth.better(than));
        if self.limited && !hopeless(&worth) {
            let Some(responses) = self.seats(servers) else { return lack(Lack::Room, 0.0) };
            self.responses = responses;
            worth = self.judged(servers);
        }
        // The only objective that can be smaller if somebody waits longer, for a server that serves nobody.
        if self.goal.objective == Objective::MeanPlusStd && !self.goal.idle && !hopeless(&worth) {
            let idle = self.idle(servers);
            return if idle > 0 { lack(Lack::Idle, idle as f64) } else { worth };
        }
        worth
    }

    /// How many servers nobody is on, at the responses at hand, and need not be there.
    fn idle(&self, servers: &[usize]) -> usize {
        let (lags, n) = (self.field.lag.of(self.field.problem, servers), self.responses.len());
        let serves = |s: usize, lag: f64| {
            let each = self.columns[s * n..][..n].iter().map(|rtt| f64::from(*rtt) + lag);
            each.zip(&self.responses).any(|(there, response)| there == *response)
        };
        let spare = servers.iter().zip(lags).filter(|(s, _)| !self.field.required.contains(s));
        spare.filter(|(s, lag)| !serves(**s, *lag)).count()
    }

    /// The value of a plan.
    pub fn value(&mut self, plan: &Plan) -> f64 {
        self.responses = plan.responses(self.field.problem);
        self.judged(&plan.servers).value
    }

    fn missing_room(&self, servers: &[usize]) -> f64 {
        let room = |s: &usize| self.field.problem.sites()[*s].capacity.unwrap_or(f64::INFINITY);
        if self.limited { self.weights.all - servers.iter().map(room).sum::<f64>() } else { 0.0 }
    }

    fn seats(&self, servers: &[usize]) -> Option<Vec<f64>> {
        let seating = Seating::new(self.field, servers, &self.weights);
        let seats = seating.seat(self.critical_first())?;
        Some(seats.into_iter().enumerate().map(|(p, i)| seating.response(p, i)).collect())
    }

    /// Whether the critical response decides who plays where.
    pub fn critical_first(&self) -> bool {
        self.goal.limit.is_finite() || !matches!(self.goal.objective, Objective::Mean | Objective::MeanPlusStd)
    }

    /// Puts everybody where the response is least. Returns how many servers cannot reach all others.
    fn nearest(&mut self, servers: &[usize]) -> usize {
        let lags = self.field.lag.of(self.field.problem, servers);
        let apart = lags.iter().filter(|lag| lag.is_infinite()).count();
        let n = self.responses.len();
        self.responses.fill(f64::INFINITY);
        for (&s, lag) in servers.iter().zip(lags).filter(|(_, lag)| lag.is_finite()) {
            for (response, rtt) in self.responses.iter_mut().zip(&self.columns[s * n..][..n]) {
                *response = response.min(f64::from(*rtt) + lag);
            }
        }
        apart
    }

    /// Judges the responses at hand.
    fn judged(&mut self, servers: &[usize]) -> Worth {
        let max = self.responses.iter().copied().fold(0.0, f64::max);
        if max.is_infinite() {
            let lost = self.responses.iter().filter(|response| response.is_infinite()).count();
            return Worth { lack: Lack::Reach, value: lost as f64, then: 0.0 };
        }
        if max > self.goal.limit {
            return Worth { lack: Lack::Limit, value: max, then: 0.0 };
        }
        let cost: f64 = servers.iter().map(|&s| self.field.problem.sites()[s].cost).sum();
        let value = match self.goal.objective {
            Objective::Servers => servers.len() as f64,
            Objective::Cost => cost,
            objective => objective.of(&self.responses, &self.weights, &mut self.scratch) + self.goal.price * cost,
        };
        let then = if self.goal.objective.is_about_servers() { max } else { self.weights.mean(&self.responses) };
        Worth { lack: Lack::Nothing, value, then }
    }

    /// Improves servers until nothing helps any more, or the work is done.
    pub fn improve(&mut self, start: &[usize]) -> (Vec<usize>, Worth) {
        let mut best = (start.to_vec(), self.worth(start, None));
        loop {
            let before = best.1;
            self.add_or_drop(&mut best);
            if !best.1.better(&before) {
                self.swap(&mut best);
            }
            if !best.1.better(&before) || self.work == 0 {
                return best;
            }
        }
    }

    fn offer(&mut self, servers: Vec<usize>, best: &mut (Vec<usize>, Worth)) {
        if self.work > 0 && !servers.is_empty() {
            let worth = self.worth(&servers, Some(&best.1));
            if worth.better(&best.1) {
                *best = (servers, worth);
            }
        }
    }

    fn add_or_drop(&mut self, best: &mut (Vec<usize>, Worth)) {
        let now = best.0.clone();
        for &s in now.iter().filter(|s| !self.field.required.contains(s)) {
            self.offer(without(&now, s), best);
        }
        if now.len() < self.goal.servers {
            for &s in self.field.usable.iter().filter(|s| !now.contains(s)) {
                self.offer(with(&now, s), best);
            }
        }
    }

    /// The best site in place of the first server that has a better one.
    fn swap(&mut self, best: &mut (Vec<usize>, Worth)) {
        let (now, before) = best.clone();
        for &old in now.iter().filter(|s| !self.field.required.contains(s)) {
            let rest = without(&now, old);
            for &s in self.field.usable.iter().filter(|s| !now.contains(s)) {
                self.offer(with(&rest, s), best);
            }
            if best.1.better(&before) {
                return;
            }
        }
    }

    /// The best of what comes of these starts and of some by lot.
    pub fn search(&mut self, starts: &[Vec<usize>], seed: u64) -> (Vec<usize>, Worth) {
        let mut dice = Random::new(seed);
        let mut all = starts.to_vec();
        for size in 1..=3.min(self.goal.servers.saturating_sub(self.field.required.len())) {
            let lot: Vec<usize> = (0..size).map(|_| self.field.usable[dice.below(self.field.usable.len())]).collect();
            all.push(self.field.with_required(&lot));
        }
        let mut best = (self.field.with_required(&self.field.usable[..1]), None::<Worth>);
        for start in all {
            let start = if start.len() > self.goal.servers { self.shrink(start) } else { start };
            let (servers, worth) = self.improve(&start);
            if best.1.is_none_or(|known| worth.better(&known)) {
                best = (servers, Some(worth));
            }
        }
        let worth = best.1.unwrap_or(Worth { lack: Lack::Reach, value: f64::INFINITY, then: 0.0 });
        (best.0, worth)
    }

    /// Drops, one at a time, the server without which the rest is best.
    fn shrink(&mut self, mut servers: Vec<usize>) -> Vec<usize> {
        let allowed = std::mem::replace(&mut self.goal.servers, usize::MAX);
        while servers.len() > allowed {
            let spare: Vec<usize> = servers.iter().copied().filter(|s| !self.field.required.contains(s)).collect();
            let rests = spare.into_iter().map(|s| without(&servers, s)).map(|rest| (self.worth(&rest, None), rest));
            let best = rests.reduce(|best, next| if next.0.better(&best.0) { next } else { best });
            let Some((_, rest)) = best else { break };
            servers = rest;
        }
        self.goal.servers = allowed;
        servers
    }
}

pub(crate) fn without(servers: &[usize], site: usize) -> Vec<usize> {
    servers.iter().copied().filter(|s| *s != site).collect()
}

pub(crate) fn with(servers: &[usize], site: usize) -> Vec<usize> {
    let mut more = servers.to_vec();
    more.insert(servers.partition_point(|s| *s < site), site);
    more
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{lags, problems};

    proptest! {
        /// The search ends where no server more, fewer or elsewhere helps, and the best of its starts counts.
        #[test]
        fn nothing_near_is_better(problem in problems(), lag in lags(), from in any::<prop::sample::Index>(), most in 1usize..5) {
            let Ok(field) = Field::new(&problem, lag) else { return Ok(()) };
            prop_assume!(field.required.len() <= most);
            let goal = Goal { objective: Objective::Mean, price: 0.0, limit: f64::INFINITY, servers: most, idle: true };
            let mut judge = Judge::new(&field, goal, u64::MAX);
            let start = field.with_required(&field.required);
            let start = if start.is_empty() { vec![*from.get(&field.usable)] } else { start };
            let (servers, worth) = judge.improve(&start);
            prop_assert!(!judge.worth(&start, None).better(&worth));
            let spare = servers.iter().copied().filter(|s| !field.required.contains(s));
            for rest in spare.map(|s| without(&servers, s)).chain([servers.clone()]).filter(|rest| !rest.is_empty()) {
                prop_assert!(!judge.worth(&rest, None).better(&worth), "{:?} is better than {:?}", rest, servers);
                for &s in field.usable.iter().filter(|s| !servers.contains(s)) {
                    let near = with(&rest, s);
                    prop_assert!(!judge.worth(&near, None).better(&worth), "{:?} is better than {:?}", near, servers);
                }
            }
            prop_assert!(!worth.better(&judge.search(&[start], 1).1));
        }
    }
}
