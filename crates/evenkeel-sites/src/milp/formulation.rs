//! Writes a placement problem as a mixed-integer program: see the documentation of the module above for what it says.

use std::ops::Range;

use super::model::{Model, Sense};
use crate::{Rule, field::Field};

/// What shall be least, and what nobody's response may exceed.
pub(crate) struct Ask {
    /// How much the mean response counts.
    pub mean: f64,
    /// How much the critical response counts.
    pub max: f64,
    /// How much a server counts, site by site.
    pub costs: Vec<f64>,
    /// What a response may be at most, player by player.
    pub limits: Vec<f64>,
    /// How many servers there may be.
    pub servers: usize,
    /// How many factors the program may have.
    pub size: usize,
}

/// A player on a site, by position in `usable`, with a lag that is at least that of the server there.
#[derive(Clone, Copy)]
pub(crate) struct Arc {
    pub player: usize,
    pub site: usize,
    lag: f64,
    response: f64,
}

/// The program, and what its columns mean.
pub(crate) struct Formulation<'a> {
    field: &'a Field<'a>,
    pub model: Model,
    pub arcs: Vec<Arc>,
    /// The arcs of every player.
    of: Vec<Range<usize>>,
}

/// It would be larger than allowed.
pub(crate) struct TooLarge;

impl<'a> Formulation<'a> {
    pub fn new(field: &'a Field<'a>, ask: &Ask) -> Result<Self, TooLarge> {
        let mut all = Self { field, model: Model::default(), arcs: Vec::new(), of: Vec::new() };
        let levels = all.list(ask)?;
        all.columns(ask);
        all.seats();
        all.waits();
        all.common(&levels);
        all.rooms();
        all.most(ask);
        Ok(all)
    }

    /// The column that says whether an arc is used. Before them come those that say where servers are, by position.
    pub fn used(&self, arc: usize) -> usize {
        self.field.usable.len() + arc
    }

    /// Whether somebody can be nowhere at all.
    pub fn hopeless(&self) -> bool {
        self.of.iter().any(Range::is_empty)
    }

    /// How long everybody on `site` waits at least if there is a server at `other`, by position.
    fn wait(&self, site: usize, other: usize) -> f64 {
        let (s, t) = (self.field.usable[site], self.field.usable[other]);
        let own = self.field.part(s, t).max(self.field.base[s]);
        if self.field.lag.rule() == Rule::Common { own.max(self.field.base[t]) } else { own }
    }

    fn limited(&self) -> bool {
        self.field.usable.iter().any(|&s| self.field.problem.sites()[s].capacity.is_some())
    }

    /// Lists the arcs that can be in an answer. Returns the lags that all may have together, if that is the rule.
    fn list(&mut self, ask: &Ask) -> Result<Vec<f64>, TooLarge> {
        let (field, k, common) = (self.field, self.field.usable.len(), self.field.lag.rule() == Rule::Common);
        if (field.players() + k).saturating_mul(k) > ask.size {
            return Err(TooLarge);
        }
        let mut levels: Vec<Vec<f64>> = (0..k).map(|s| sorted((0..k).map(|t| self.wait(s, t)).collect())).collect();
        let all = if common { sorted(levels.concat()) } else { Vec::new() };
        if common {
            levels = levels.iter().map(|own| all.iter().copied().filter(|lag| *lag >= own[0]).collect()).collect();
        }
        // Where only limits count, the longest lag within them is as good as all shorter ones.
        let one = ask.mean == 0.0 && ask.max == 0.0 && !common;
        for player in 0..field.players() {
            let (first, limit) = (self.arcs.len(), ask.limits[player]);
            for (site, levels) in levels.iter().enumerate() {
                let room = field.problem.sites()[field.usable[site]].capacity.unwrap_or(f64::INFINITY);
                let rtt = field.problem.rtt(player, field.usable[site]);
                if field.problem.players()[player].weight > room * (1.0 + SLACK) || rtt.is_infinite() {
                    continue;
                }
                let fits = levels.partition_point(|lag| rtt + lag <= limit);
                let from = if one { fits.saturating_sub(1) } else { 0 };
                let arc = |lag: &f64| Arc { player, site, lag: *lag, response: rtt + lag };
                self.arcs.extend(levels[from..fits].iter().map(arc));
                if self.arcs.len().saturating_mul(k) > ask.size {
                    return Err(TooLarge);
                }
            }
            self.of.push(first..self.arcs.len());
        }
        Ok(all)
    }

    fn columns(&mut self, ask: &Ask) {
        let field = self.field;
        let (all, whole) = (field.problem.weight(), self.limited());
        for &s in &field.usable {
            let low = if field.required.contains(&s) { 1.0 } else { 0.0 };
            self.model.column(ask.costs[s], low, 1.0, true);
        }
        for arc in &self.arcs {
            let part = field.problem.players()[arc.player].weight / all;
            self.model.column(ask.mean * part * arc.response, 0.0, 1.0, whole);
        }
        if ask.max > 0.0 {
            let floor = (0..field.players()).map(|p| field.floor(p)).fold(0.0, f64::max);
            let critical = self.model.column(ask.max, floor, f64::INFINITY, false);
            for arcs in self.of.clone() {
                let mut terms: Vec<_> = arcs.map(|a| (self.used(a), -self.arcs[a].response)).collect();
                terms.push((critical, 1.0));
                self.model.row(terms, Sense::AtLeast, 0.0);
            }
        }
    }

    /// Everybody has one arc, to a site with a server.
    fn seats(&mut self) {
        for arcs in self.of.clone() {
            self.model.row(arcs.clone().map(|a| (self.used(a), 1.0)).collect(), Sense::Equal, 1.0);
            let mut rest = arcs;
            while let Some(first) = rest.clone().next() {
                let site = self.arcs[first].site;
                let here: Vec<usize> = rest.clone().take_while(|a| self.arcs[*a].site == site).collect();
                rest.start = first + here.len();
                let mut terms: Vec<_> = here.into_iter().map(|a| (self.used(a), 1.0)).collect();
                terms.push((site, -1.0));
                self.model.row(terms, Sense::AtMost, 0.0);
            }
        }
    }

    /// If there is a server at `other`, everybody has an arc that waits for it.
    fn waits(&mut self) {
        for arcs in self.of.clone() {
            for other in 0..self.field.usable.len() {
                let (long, short): (Vec<usize>, Vec<usize>) = arcs.clone().partition(|a| {
                    let arc = self.arcs[*a];
                    arc.lag >= self.wait(arc.site, other)
                });
                // Of all arcs of a player the one or the other: what says it with fewer words.
                let (arcs, sense, right, sign) = match (short.is_empty(), short.len() <= long.len()) {
                    (true, _) => continue,
                    (false, true) => (short, Sense::AtMost, 1.0, 1.0),
                    (false, false) => (long, Sense::AtLeast, 0.0, -1.0),
                };
                let mut terms: Vec<_> = arcs.into_iter().map(|a| (self.used(a), 1.0)).collect();
                terms.push((other, sign));
                self.model.row(terms, sense, right);
            }
        }
    }

    /// All have the same lag, if that is the rule.
    fn common(&mut self, levels: &[f64]) {
        let each: Vec<usize> = levels.iter().map(|_| self.model.column(0.0, 0.0, 1.0, true)).collect();
        for arcs in self.of.clone() {
            for (lag, column) in levels.iter().zip(&each) {
                let same = arcs.clone().filter(|a| self.arcs[*a].lag == *lag);
                let mut terms: Vec<_> = same.map(|a| (self.used(a), 1.0)).collect();
                terms.push((*column, -1.0));
                self.model.row(terms, Sense::Equal, 0.0);
            }
        }
    }

    /// No server holds more than it can.
    fn rooms(&mut self) {
        let problem = self.field.problem;
        let weight = |p: usize| problem.players()[p].weight;
        let equal = problem.players().iter().all(|player| player.weight == weight(0));
        for (site, &s) in self.field.usable.iter().enumerate() {
            let Some(room) = problem.sites()[s].capacity else { continue };
            // Where all are alike, whole players count.
            let room = if equal { (room / weight(0) + SLACK).floor() * weight(0) } else { room };
            let here = self.arcs.iter().enumerate().filter(|(_, arc)| arc.site == site && room > 0.0);
            let mut terms: Vec<_> = here.map(|(a, arc)| (self.used(a), weight(arc.player) / room)).collect();
            terms.push((site, -1.0));
            self.model.row(terms, Sense::AtMost, 0.0);
        }
    }

    fn most(&mut self, ask: &Ask) {
        let k = self.field.usable.len();
        if ask.servers < k {
            self.model.row((0..k).map(|s| (s, 1.0)).collect(), Sense::AtMost, ask.servers as f64);
        }
    }
}

/// How much more than there is room for is due to rounding.
pub(crate) const SLACK: f64 = 1e-9;

/// Finite values, ascending, each once.
fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.retain(|value| value.is_finite());
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    values
}
