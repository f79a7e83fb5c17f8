//! Looks for servers that keep everybody within a threshold: the hardest player first, every site for them, and back.

use crate::{
    Rule,
    bound::arcs::{Arcs, Needs},
    field::Field,
};

/// A node with more players times sites than this counts as several: they take longer.
const LARGE: u64 = 1 << 15;

/// What a search within a threshold ends with.
#[derive(Debug, PartialEq)]
pub(crate) enum Found {
    /// These servers keep everybody within it.
    Servers(Vec<usize>),
    /// There are none.
    Nothing,
    /// There are perhaps some.
    GaveUp,
}

/// What servers may cost together.
#[derive(Clone, Debug)]
pub(crate) struct Purse {
    /// The cost of a server at every usable site, by position. Required ones are paid for already.
    pub costs: Vec<f64>,
    /// How much there is.
    pub most: f64,
    /// How many servers there may be besides the required ones.
    pub more: usize,
}

impl Purse {
    /// Every server that is not required costs this.
    pub fn new(field: &Field<'_>, cost: impl Fn(usize) -> f64, most: f64) -> Self {
        let costs = field.usable.iter().map(|&s| if field.required.contains(&s) { 0.0 } else { cost(s) }).collect();
        Self { costs, most, more: usize::MAX }
    }
}

/// A search for one threshold.
pub(crate) struct Dive<'a> {
    arcs: &'a Arcs<'a>,
    threshold: f64,
    purse: Option<&'a Purse>,
    /// How many choices may still be tried.
    nodes: &'a mut u64,
}

/// What has been chosen on the way.
#[derive(Clone)]
struct Chosen {
    needs: Needs,
    /// The positions of servers, and the longest round trip of somebody on each.
    open: Vec<(usize, f64)>,
    /// The positions where a server can still stand.
    sites: Vec<u32>,
    /// What the servers cost.
    spent: f64,
    /// How many of them are not required.
    more: usize,
}

impl Chosen {
    /// Whether there is a server at this site.
    fn has(&self, s: u32) -> bool {
        self.open.iter().any(|(open, _)| *open == s as usize)
    }
}

impl<'a> Dive<'a> {
    /// Looks for servers within a threshold and a purse, from what is known for the threshold. Gives up after a number of nodes,
    /// which it counts down.
    pub fn run(
        arcs: &'a Arcs<'a>,
        needs: &Needs,
        threshold: f64,
        purse: Option<&'a Purse>,
        nodes: &'a mut u64,
    ) -> Found {
        let (chosen, players) = Self::root(arcs, needs);
        Dive { arcs, threshold, purse, nodes }.descend(chosen, players)
    }

    /// What servers within a threshold cost at least.
    pub fn least_cost(arcs: &'a Arcs<'a>, needs: &Needs, threshold: f64, purse: &'a Purse) -> f64 {
        let (chosen, players) = Self::root(arcs, needs);
        let dive = Dive { arcs, threshold, purse: Some(purse), nodes: &mut 0 };
        let mut domains: Vec<(u32, Vec<u32>)> = players.iter().map(|&q| (q, dive.domain(&chosen, q))).collect();
        dive.disjoint(&chosen, &mut domains)
    }

    fn root(arcs: &Arcs<'_>, needs: &Needs) -> (Chosen, Vec<u32>) {
        let sites = (0..arcs.sites() as u32).filter(|&s| needs.need[s as usize].is_finite()).collect();
        let chosen = Chosen { needs: needs.clone(), open: Vec::new(), sites, spent: 0.0, more: 0 };
        (chosen, (0..arcs.players.len() as u32).collect())
    }

    fn descend(&mut self, chosen: Chosen, mut players: Vec<u32>) -> Found {
        if *self.nodes == 0 {
            return Found::GaveUp;
        }
        *self.nodes = self.nodes.saturating_sub(1 + (players.len() * chosen.sites.len()) as u64 / LARGE);
        players.retain(|&q| !self.served(&chosen, q as usize));
        let last = chosen.sites.len() <= chosen.open.len();
        if last && players.iter().any(|&q| !chosen.sites.iter().any(|&s| self.fits(&chosen, q, s))) {
            return Found::Nothing;
        }
        // Where there are only servers that stand already, it does not matter who is on which.
        if last || players.is_empty() {
            let servers = chosen.open.iter().map(|(s, _)| self.arcs.field.usable[*s]).collect::<Vec<_>>();
            return Found::Servers(self.arcs.field.with_required(&servers));
        }
        let Some((q, sites)) = self.hardest(&chosen, &players) else { return Found::Nothing };
        for s in sites {
            let next = self.choose(&chosen, s as usize, f64::from(self.arcs.row(q as usize)[s as usize]));
            match self.descend(next, players.clone()) {
                Found::Nothing => {}
                end => return end,
            }
        }
        Found::Nothing
    }

    /// Whether somebody can be on a server without any harm.
    fn served(&self, chosen: &Chosen, q: usize) -> bool {
        let row = self.arcs.row(q);
        chosen.open.iter().any(|&(s, reach)| f64::from(row[s]) <= reach.max(chosen.needs.floor_rtt))
    }

    fn fits(&self, chosen: &Chosen, q: u32, s: u32) -> bool {
        let rtt = f64::from(self.arcs.row(q as usize)[s as usize]);
        chosen.needs.response(s as usize, rtt) <= self.threshold
    }

    fn domain(&self, chosen: &Chosen, q: u32) -> Vec<u32> {
        chosen.sites.iter().copied().filter(|&s| self.fits(chosen, q, s)).collect()
    }

    /// The player with the fewest sites left, and these, the most promising first. Nothing if it cannot be done.
    fn hardest(&self, chosen: &Chosen, players: &[u32]) -> Option<(u32, Vec<u32>)> {
        let Some(purse) = self.purse else {
            let count = |q: &u32| chosen.sites.iter().filter(|&&s| self.fits(chosen, *q, s)).count();
            let q = players.iter().copied().min_by_key(count)?;
            let mut sites = self.domain(chosen, q);
            let response = |s: u32| chosen.needs.response(s as usize, f64::from(self.arcs.row(q as usize)[s as usize]));
            sites.sort_by(|a, b| response(*a).total_cmp(&response(*b)));
            return Some((q, sites));
        };
        let mut domains: Vec<(u32, Vec<u32>)> = players.iter().map(|&q| (q, self.domain(chosen, q))).collect();
        if chosen.spent + self.disjoint(chosen, &mut domains) > purse.most {
            return None;
        }
        let mut serves = vec![0.0; self.arcs.sites()];
        domains.iter().flat_map(|(_, sites)| sites).for_each(|&s| serves[s as usize] += 1.0);
        let (q, mut sites) = domains.swap_remove(0);
        // What a site costs for everybody it can serve; servers that stand already cost nothing.
        let dear = |s: u32| self.cost(chosen, s) / serves[s as usize];
        sites.retain(|&s| self.affordable(chosen, s, purse));
        sites.sort_by(|a, b| dear(*a).total_cmp(&dear(*b)));
        Some((q, sites))
    }

    /// What a server at this site costs more.
    fn cost(&self, chosen: &Chosen, s: u32) -> f64 {
        self.purse.filter(|_| !chosen.has(s)).map_or(0.0, |purse| purse.costs[s as usize])
    }

    fn required(&self, s: u32) -> bool {
        self.arcs.field.required.contains(&self.arcs.field.usable[s as usize])
    }

    fn affordable(&self, chosen: &Chosen, s: u32, purse: &Purse) -> bool {
        chosen.spent + self.cost(chosen, s) <= purse.most
            && (chosen.more < purse.more || chosen.has(s) || self.required(s))
    }

    /// Players without a site in common need a server each: what these cost at least. Infinite if somebody has no site left.
    ///
    /// Sorts the players, fewest sites first.
    fn disjoint(&self, chosen: &Chosen, domains: &mut [(u32, Vec<u32>)]) -> f64 {
        domains.sort_by_key(|(_, sites)| sites.len());
        let mut taken = vec![false; self.arcs.sites()];
        let mut sum = 0.0;
        for (_, sites) in domains.iter() {
            if sites.iter().any(|&s| taken[s as usize]) {
                continue;
            }
            sum += sites.iter().map(|&s| self.cost(chosen, s)).fold(f64::INFINITY, f64::min);
            sites.iter().for_each(|&s| taken[s as usize] = true);
        }
        sum
    }

    /// Puts a player with this round trip on a site.
    fn choose(&self, chosen: &Chosen, s: usize, rtt: f64) -> Chosen {
        let mut next = chosen.clone();
        next.spent += self.cost(chosen, s as u32);
        next.more += usize::from(!chosen.has(s as u32) && !self.required(s as u32));
        let needs = &mut next.needs;
        let reach = match next.open.iter_mut().find(|(open, _)| *open == s) {
            Some((_, reach)) => {
                *reach = reach.max(rtt);
                *reach
            }
            None => {
                for &t in &next.sites {
                    needs.need[t as usize] = needs.need[t as usize].max(self.arcs.part(t as usize, s));
                }
                next.open.push((s, rtt));
                rtt
            }
        };
        if self.arcs.field.lag.rule() == Rule::Common {
            needs.floor_rtt = needs.floor_rtt.max(rtt);
            needs.floor_lag = needs.floor_lag.max(needs.need[s]);
            let (rtt, lag) = (needs.floor_rtt, needs.floor_lag);
            next.sites.retain(|&t| rtt + needs.need[t as usize].max(lag) <= self.threshold);
        } else {
            next.sites.retain(|&t| reach + self.arcs.part(s, t as usize) <= self.threshold);
        }
        if let Some(purse) = self.purse {
            let sites = std::mem::take(&mut next.sites);
            next.sites = sites.into_iter().filter(|&t| self.affordable(&next, t, purse)).collect();
        }
        next
    }
}
