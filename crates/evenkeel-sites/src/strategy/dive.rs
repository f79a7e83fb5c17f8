//! Looks for servers that keep everybody within a threshold: the hardest player first, every site for them, and back.

use crate::{
    Rule,
    bound::arcs::{Arcs, Needs},
};

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

/// A search for one threshold.
pub(crate) struct Dive<'a> {
    arcs: &'a Arcs<'a>,
    threshold: f64,
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
}

impl<'a> Dive<'a> {
    /// Looks for servers within a threshold, from what is known for it. Gives up after a number of nodes, which it counts down.
    pub fn run(arcs: &'a Arcs<'a>, needs: &Needs, threshold: f64, nodes: &'a mut u64) -> Found {
        let sites = (0..arcs.sites() as u32).filter(|&s| needs.need[s as usize].is_finite()).collect();
        let chosen = Chosen { needs: needs.clone(), open: Vec::new(), sites };
        let players = (0..arcs.players.len() as u32).collect();
        Dive { arcs, threshold, nodes }.descend(chosen, players)
    }

    fn descend(&mut self, chosen: Chosen, mut players: Vec<u32>) -> Found {
        if *self.nodes == 0 {
            return Found::GaveUp;
        }
        *self.nodes -= 1;
        players.retain(|&q| !self.served(&chosen, q as usize));
        let Some((q, mut sites)) = self.hardest(&chosen, &players) else {
            let servers = chosen.open.iter().map(|(s, _)| self.arcs.field.usable[*s]).collect::<Vec<_>>();
            return Found::Servers(self.arcs.field.with_required(&servers));
        };
        let row = self.arcs.row(q);
        sites.sort_by(|a, b| {
            let response = |s: u32| chosen.needs.response(s as usize, f64::from(row[s as usize]));
            response(*a).total_cmp(&response(*b))
        });
        for s in sites {
            let next = self.choose(&chosen, s as usize, f64::from(row[s as usize]));
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

    /// The player with the fewest sites left, and these.
    fn hardest(&self, chosen: &Chosen, players: &[u32]) -> Option<(usize, Vec<u32>)> {
        let fits = |q: usize, s: u32| {
            let rtt = f64::from(self.arcs.row(q)[s as usize]);
            chosen.needs.response(s as usize, rtt) <= self.threshold
        };
        let count = |q: &u32| chosen.sites.iter().filter(|&&s| fits(*q as usize, s)).count();
        let q = players.iter().copied().min_by_key(count)? as usize;
        Some((q, chosen.sites.iter().copied().filter(|&s| fits(q, s)).collect()))
    }

    /// Puts a player with this round trip on a site.
    fn choose(&self, chosen: &Chosen, s: usize, rtt: f64) -> Chosen {
        let mut next = chosen.clone();
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
        next
    }
}
