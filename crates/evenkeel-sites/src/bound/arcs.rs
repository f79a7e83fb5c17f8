//! Which player can still be on which site if nobody shall wait longer than a threshold.
//!
//! A player `p` on a site `s` and a player `q` on a site `t` get along if neither waits longer than the threshold for the way
//! between `s` and `t`. Every pair of players must have sites that get along: where that cannot be, there is no plan. For each
//! site it suffices to know how long a server there must wait at least, its `need`: a player fits if its round trip and that are
//! within the threshold. Needs only rise while the threshold falls, so that no neighbour of a site is ever looked at twice.

use std::{cell::Cell, sync::Arc};

use crate::{Rule, assessment, field::Field};

/// How many neighbours of sites a question is worth.
pub(crate) const WORK: u64 = 4_000_000_000;

/// The players and sites in question, by position in `players` and `usable`.
pub(crate) struct Arcs<'a> {
    pub field: &'a Field<'a>,
    /// The players that count, by index.
    pub players: Vec<usize>,
    /// Which part of the players' weight must be within the threshold.
    part: f64,
    /// Round trips, player by player, of usable sites only.
    rtt: Vec<f32>,
    /// The least round trip to every site.
    nearest: Vec<f64>,
    /// For every site all sites by distance, nearest first.
    order: Arc<[u32]>,
    /// How many neighbours may still be looked at. What is known then is less than it could be, but still true.
    pub work: &'a Cell<u64>,
}

/// What is known for a threshold. It holds for every lower one.
#[derive(Clone)]
pub(crate) struct Needs {
    /// How long a server at each site must wait at least; infinite if there can be none.
    pub need: Vec<f64>,
    /// If all wait the same, how long they must at least.
    pub floor_lag: f64,
    /// If all wait the same, the longest round trip there must be at least.
    pub floor_rtt: f64,
}

/// What is known, and how far the search for it has come.
#[derive(Clone)]
pub(crate) struct Known {
    pub needs: Needs,
    /// For every player and site, how many of the site's neighbours are ruled out.
    past: Vec<u32>,
}

impl Needs {
    /// The least response of somebody with this round trip on a site.
    #[inline]
    pub fn response(&self, site: usize, rtt: f64) -> f64 {
        rtt.max(self.floor_rtt) + self.need[site].max(self.floor_lag)
    }
}

/// For every usable site all usable sites by distance, nearest first.
pub(crate) fn order(field: &Field<'_>) -> Arc<[u32]> {
    let sites = &field.usable;
    let mut all = Vec::with_capacity(sites.len() * sites.len());
    for &s in sites {
        let start = all.len();
        all.extend(0..sites.len() as u32);
        all[start..].sort_by(|a, b| {
            let far = |i: u32| field.part(s, sites[i as usize]);
            far(*a).total_cmp(&far(*b))
        });
    }
    all.into()
}

impl<'a> Arcs<'a> {
    /// At least this part of the weight of these players must be within the threshold.
    pub fn new(field: &'a Field<'a>, order: Arc<[u32]>, players: Vec<usize>, part: f64, work: &'a Cell<u64>) -> Self {
        let mut rtt = Vec::with_capacity(players.len() * field.usable.len());
        let mut nearest = vec![f64::INFINITY; field.usable.len()];
        for &p in &players {
            let row = field.problem.row(p);
            for (least, &s) in nearest.iter_mut().zip(&field.usable) {
                rtt.push(row[s]);
                *least = least.min(f64::from(row[s]));
            }
        }
        Self { field, players, part, rtt, nearest, order, work }
    }

    /// How many sites there are.
    pub fn sites(&self) -> usize {
        self.field.usable.len()
    }

    /// The round trips of the player at this position.
    #[inline]
    pub fn row(&self, player: usize) -> &[f32] {
        &self.rtt[player * self.sites()..][..self.sites()]
    }

    /// How long one site waits because of another, by position.
    #[inline]
    pub fn part(&self, from: usize, to: usize) -> f64 {
        self.field.part(self.field.usable[from], self.field.usable[to])
    }

    /// What is known without any threshold.
    pub fn start(&self) -> Known {
        let need = self.field.usable.iter().map(|&s| self.field.base[s]).collect();
        let needs = Needs { need, floor_lag: 0.0, floor_rtt: 0.0 };
        Known { needs, past: vec![0; self.players.len() * self.sites()] }
    }

    /// Raises the needs to what the threshold demands. False if there is no plan within it; true if that is not known before the
    /// work is done.
    pub fn tighten(&self, known: &mut Known, threshold: f64) -> bool {
        loop {
            let (mut changed, mut any) = (false, false);
            for s in 0..self.sites() {
                if self.work.get() == 0 {
                    return true;
                }
                if known.needs.need[s].is_infinite() {
                    continue;
                }
                let mut need = self.needed(known, s, threshold).max(known.needs.need[s]);
                let needs = &mut known.needs;
                if self.nearest[s].max(needs.floor_rtt) + need.max(needs.floor_lag) > threshold {
                    need = f64::INFINITY;
                }
                changed |= need > needs.need[s];
                any |= need.is_finite();
                needs.need[s] = need;
            }
            if !any
                || (self.field.lag.rule() == Rule::Common
                    && !self.raise_floors(&mut known.needs, threshold, &mut changed))
            {
                return false;
            }
            if !changed {
                return true;
            }
        }
    }

    /// How long a server at this site must wait at least so that enough players can be on sites that get along with it.
    fn needed(&self, known: &mut Known, s: usize, threshold: f64) -> f64 {
        if self.part < 1.0 {
            let all = (0..self.players.len()).map(|q| self.needed_for(known, s, q, threshold)).collect();
            return self.enough(all);
        }
        let mut need = 0.0f64;
        for q in 0..self.players.len() {
            need = need.max(self.needed_for(known, s, q, threshold));
            if need.is_infinite() {
                break;
            }
        }
        need
    }

    /// How long a server at `s` must wait so that the player `q` can be somewhere.
    #[inline]
    fn needed_for(&self, known: &mut Known, s: usize, q: usize, threshold: f64) -> f64 {
        let (row, m) = (self.row(q), self.sites());
        let needs = &known.needs;
        let from = known.past[q * m + s] as usize;
        let mut past = from;
        let mut found = f64::INFINITY;
        while past < m {
            let t = self.order[s * m + past] as usize;
            let part = self.part(s, t);
            if part > threshold {
                past = m;
            } else if f64::from(row[t]).max(needs.floor_rtt) + needs.need[t].max(part).max(needs.floor_lag) <= threshold
            {
                found = part;
                break;
            } else {
                past += 1;
            }
        }
        self.work.set(self.work.get().saturating_sub((past - from + 1) as u64));
        known.past[q * m + s] = past as u32;
        found
    }

    /// What enough of the players' weight does not exceed.
    fn enough(&self, values: Vec<f64>) -> f64 {
        if self.part == 1.0 {
            return values.into_iter().fold(0.0, f64::max);
        }
        let weight = |p: &usize| self.field.problem.players()[*p].weight;
        let mut all: Vec<(f64, f64)> = values.into_iter().zip(self.players.iter().map(weight)).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        assessment::quantile(&all, self.part)
    }

    /// If all wait the same: somebody needs this lag, and somebody this round trip, for all. False if they cannot have it.
    fn raise_floors(&self, needs: &mut Needs, threshold: f64, changed: &mut bool) -> bool {
        let least = |value: &dyn Fn(usize, f64) -> f64| {
            let of = |q: usize| {
                let fitting = self.row(q).iter().enumerate().map(|(t, rtt)| (t, f64::from(*rtt)));
                let fitting = fitting.filter(|(t, rtt)| needs.response(*t, *rtt) <= threshold);
                fitting.map(|(t, rtt)| value(t, rtt)).fold(f64::INFINITY, f64::min)
            };
            self.enough((0..self.players.len()).map(of).collect())
        };
        let (lag, rtt) = (least(&|t, _| needs.need[t]), least(&|_, rtt| rtt));
        *changed |= lag > needs.floor_lag || rtt > needs.floor_rtt;
        (needs.floor_lag, needs.floor_rtt) = (needs.floor_lag.max(lag), needs.floor_rtt.max(rtt));
        needs.floor_lag + needs.floor_rtt <= threshold
    }

    /// Raises `low`, below which there is no plan, by halving what is between it and `high`, where there is one or may be. Returns
    /// what is known at the lowest threshold that could not be ruled out, and that threshold.
    pub fn narrow(&self, low: &mut f64, high: f64, within: f64) -> Option<(Known, f64)> {
        let mut known = self.start();
        if !self.tighten(&mut known, high) {
            return None;
        }
        let mut high = high;
        while high - *low > within * high && self.work.get() > 0 {
            let middle = (*low + high) / 2.0;
            let mut lower = known.clone();
            if self.tighten(&mut lower, middle) {
                (known, high) = (lower, middle);
            } else {
                *low = middle;
            }
        }
        Some((known, high))
    }
}
