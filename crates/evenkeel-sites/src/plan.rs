//! What is chosen: servers, who plays on which, and how long they wait.

use crate::{Assessment, Lag, Problem, SolveError, Use};

/// Servers, the players on them, and their lags.
///
/// ```
/// use evenkeel_sites::{Lag, Plan, Player, Problem, Site};
///
/// let sites = vec![Site::new("Frankfurt"), Site::new("Tokyo")];
/// let players = vec![Player::new("Ada"), Player::new("Bo")];
/// let problem = Problem::new(players, sites, vec![20.0, 240.0, 230.0, 10.0], vec![0.0, 225.0, 225.0, 0.0])?;
/// let plan = Plan::nearest(&problem, Lag::default(), &[0, 1])?;
/// assert_eq!(plan.assignment, [0, 1]);
/// assert_eq!(plan.responses(&problem), [20.0 + 112.5, 10.0 + 112.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The sites with servers, ascending.
    pub servers: Vec<usize>,
    /// How long each of the servers holds actions back, in milliseconds.
    pub lags: Vec<f64>,
    /// The site every player plays on.
    pub assignment: Vec<u32>,
}

/// Actions that reach another server after it should have executed them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Inconsistency {
    /// How late an action is, in milliseconds: the mean over who acts and who sees it, by weight.
    pub mean: f64,
    /// How late it is between the worst two servers.
    pub worst: f64,
}

impl Plan {
    /// Servers at these sites, with every player on the one that answers soonest, the lowest index if there are several.
    ///
    /// Capacities are not looked at.
    pub fn nearest(problem: &Problem, lag: Lag, servers: &[usize]) -> Result<Self, SolveError> {
        let mut plan = Self::empty(problem, lag, servers)?;
        let best = |p: usize| {
            let response = |i: &usize| problem.rtt(p, plan.servers[*i]) + plan.lags[*i];
            let i = (0..plan.servers.len()).min_by(|a, b| response(a).total_cmp(&response(b)));
            i.filter(|i| response(i).is_finite()).map(|i| plan.servers[i] as u32)
        };
        let all: Vec<Option<u32>> = (0..problem.players().len()).map(best).collect();
        plan.assignment = match all.iter().position(Option::is_none) {
            None => all.into_iter().flatten().collect(),
            Some(first) => {
                let players = all.iter().filter(|site| site.is_none()).count();
                return Err(SolveError::Unreachable { player: problem.players()[first].name.clone(), players });
            }
        };
        Ok(plan)
    }

    /// Servers at these sites, without any player.
    pub(crate) fn empty(problem: &Problem, lag: Lag, servers: &[usize]) -> Result<Self, SolveError> {
        let sites = problem.sites();
        let mut servers = servers.to_vec();
        servers.sort_unstable();
        servers.dedup();
        for &s in &servers {
            let site = sites.get(s).ok_or(SolveError::UnknownSite(s))?;
            if site.usage == Use::Forbidden {
                return Err(SolveError::Forbidden { site: site.name.clone() });
            }
            if let Some(&t) = servers.iter().find(|&&t| problem.between(s, t).is_infinite()) {
                return Err(SolveError::Apart { one: site.name.clone(), other: sites[t].name.clone() });
            }
        }
        if servers.is_empty() {
            return Err(SolveError::NoServers);
        }
        let lags = lag.of(problem, &servers);
        Ok(Self { servers, lags, assignment: Vec::new() })
    }

    /// The lag of the server at a site, in milliseconds.
    fn lag_at(&self, site: u32) -> f64 {
        self.servers.binary_search(&(site as usize)).map_or(f64::INFINITY, |i| self.lags[i])
    }

    /// The response time of every player, in milliseconds.
    pub fn responses(&self, problem: &Problem) -> Vec<f64> {
        let response = |(p, &s): (usize, &u32)| problem.rtt(p, s as usize) + self.lag_at(s);
        self.assignment.iter().enumerate().map(response).collect()
    }

    /// How well the players are served.
    pub fn assess(&self, problem: &Problem) -> Assessment {
        Assessment::of(problem, self.responses(problem))
    }

    /// The weight of the players on each of the servers.
    pub fn loads(&self, problem: &Problem) -> Vec<f64> {
        let mut loads = vec![0.0; self.servers.len()];
        for (player, &site) in problem.players().iter().zip(&self.assignment) {
            if let Ok(i) = self.servers.binary_search(&(site as usize)) {
                loads[i] += player.weight;
            }
        }
        loads
    }

    /// The servers that somebody plays on or that are required, if there are others.
    pub(crate) fn used(&self, problem: &Problem) -> Option<Vec<usize>> {
        let used = self.servers.iter().zip(self.loads(problem));
        let used = used.filter(|(s, load)| *load > 0.0 || problem.sites()[**s].usage == Use::Required);
        let used: Vec<usize> = used.map(|(s, _)| *s).collect();
        (used.len() < self.servers.len()).then_some(used)
    }

    /// What all servers together cost.
    pub fn cost(&self, problem: &Problem) -> f64 {
        self.servers.iter().map(|&s| problem.sites()[s].cost).sum()
    }

    /// How late actions reach the other servers: nothing if the lag is conservative.
    pub fn inconsistency(&self, problem: &Problem) -> Inconsistency {
        let (loads, all) = (self.loads(problem), problem.weight());
        let mut late = Inconsistency::default();
        for (i, &s) in self.servers.iter().enumerate() {
            for (j, &t) in self.servers.iter().enumerate() {
                let by = (problem.between(s, t) - self.lags[i]).max(0.0);
                late.mean += by * (loads[i] / all) * (loads[j] / all);
                late.worst = late.worst.max(by);
            }
        }
        late
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Player, Rule, Site};

    fn three() -> Problem {
        let sites = ["A", "B", "C"].map(Site::new).to_vec();
        let players = ["p", "q"].map(Player::new).to_vec();
        let rtt = vec![10.0, 50.0, 90.0, 70.0, f32::INFINITY, 20.0];
        Problem::new(players, sites, rtt, vec![0.0, 40.0, 60.0, 40.0, 0.0, 30.0, 60.0, 30.0, 0.0]).unwrap()
    }

    #[test]
    fn responses_follow_the_rule() {
        let problem = three();
        let per_server = Plan::nearest(&problem, Lag::default(), &[2, 0, 1, 0]).unwrap();
        assert_eq!(
            (per_server.servers.as_slice(), per_server.lags.as_slice()),
            (&[0, 1, 2][..], &[30.0, 20.0, 30.0][..])
        );
        assert_eq!(per_server.responses(&problem), [40.0, 50.0]);
        let common = Plan::nearest(&problem, Lag::new(Rule::Common, 0.5).unwrap(), &[0, 1, 2]).unwrap();
        assert_eq!(common.lags, [15.0; 3]);
        assert_eq!(common.responses(&problem), [25.0, 35.0]);
        let central = Plan::nearest(&problem, Lag::default(), &[0]).unwrap();
        assert_eq!(central.responses(&problem), [10.0, 70.0], "one server has nobody to wait for");
    }

    #[test]
    fn partial_lag_is_inconsistent() {
        let problem = three();
        assert_eq!(
            Plan::nearest(&problem, Lag::default(), &[0, 2]).unwrap().inconsistency(&problem),
            Inconsistency::default()
        );
        let half = Plan::nearest(&problem, Lag::new(Rule::PerServer, 0.5).unwrap(), &[0, 2]).unwrap();
        assert_eq!(half.inconsistency(&problem), Inconsistency { mean: 7.5, worst: 15.0 });
    }

    #[test]
    fn what_cannot_be_is_said() {
        let problem = three();
        let of = |servers: &[usize]| Plan::nearest(&problem, Lag::default(), servers).unwrap_err();
        assert_eq!(of(&[]), SolveError::NoServers);
        assert_eq!(of(&[3]), SolveError::UnknownSite(3));
        assert_eq!(of(&[1]), SolveError::Unreachable { player: "q".into(), players: 1 });
    }
}
