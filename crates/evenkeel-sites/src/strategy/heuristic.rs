//! The heuristic of "Managing latency and fairness in networked games" (Brun, Safaei, Boustead, 2006), step by step.

use crate::field::Field;

/// One line of the heuristic's table.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The players who were critical: the two most distant ones at first, then one at a time.
    pub players: Vec<usize>,
    /// The sites that were added for them.
    pub added: Vec<usize>,
    /// How many servers there are now.
    pub servers: usize,
    /// The critical response time of the whole game now, in milliseconds.
    pub critical: f64,
}

/// Ties are looked into no further than this.
const TIES: usize = 256;

/// From here on the two most distant players are looked for by sweeps.
const MANY: usize = 512;

/// The servers, how they were found, and the paper's lower bound of the critical response.
pub(crate) struct Run {
    pub servers: Vec<usize>,
    pub steps: Vec<Step>,
    pub bound: f64,
}

/// Runs the heuristic. The servers may leave somebody out of reach where not everything is connected.
pub(crate) fn run(field: &Field<'_>) -> Run {
    let (one, other) = most_distant(field);
    let (bound, pairs) = pairs(field, one, other);
    let candidates = pairs.into_iter().map(|(s, t)| field.with_required(&[s, t]));
    let Some((mut servers, mut critical)) = best(field, candidates) else {
        return Run { servers: field.with_required(&field.usable[..1]), steps: Vec::new(), bound };
    };
    let mut steps = vec![Step { players: vec![one, other], added: servers.clone(), servers: servers.len(), critical }];
    let mut restricted = vec![one, other];
    while let Some(player) = new_critical(field, &servers, critical, &restricted) {
        restricted.push(player);
        let (soonest, sites) = extensions(field, &servers, player);
        let candidates = sites.into_iter().map(|s| field.with_required(&[&servers[..], &[s]].concat()));
        let Some((next, after)) = best(field, candidates) else { break };
        // While some are out of reach, to reach one more of them is progress.
        if after >= critical && !(critical.is_infinite() && soonest.is_finite()) {
            break;
        }
        let added = next.iter().copied().filter(|s| !servers.contains(s)).collect();
        steps.push(Step { players: vec![player], added, servers: next.len(), critical: after });
        (servers, critical) = (next, after);
    }
    Run { servers, steps, bound }
}

/// The servers with the lowest critical response, the first if there are several.
fn best(field: &Field<'_>, candidates: impl Iterator<Item = Vec<usize>>) -> Option<(Vec<usize>, f64)> {
    let valued = candidates.map(|servers| (field.critical(&servers), servers));
    valued.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(critical, servers)| (servers, critical))
}

/// The first of the slowest players who is not on the list yet.
fn new_critical(field: &Field<'_>, servers: &[usize], critical: f64, restricted: &[usize]) -> Option<usize> {
    let responses = field.responses(servers);
    (0..responses.len()).find(|p| responses[*p] == critical && !restricted.contains(p))
}

/// The sites which, added to the servers, give this player the soonest response, and that response.
fn extensions(field: &Field<'_>, servers: &[usize], player: usize) -> (f64, Vec<usize>) {
    let mut least = Least::default();
    for &site in field.usable.iter().filter(|s| !servers.contains(s)) {
        let more = [servers, &[site]].concat();
        let lags = field.lag.of(field.problem, &more);
        least.offer(field.response(player, &more, &lags), site);
    }
    (least.value, least.of)
}

/// The pairs of sites that serve these two players best as if there were nobody else, and the critical response: no plan for
/// everybody can have less.
fn pairs(field: &Field<'_>, one: usize, other: usize) -> (f64, Vec<(usize, usize)>) {
    let (a, b) = (field.problem.row(one), field.problem.row(other));
    let mut least = Least::default();
    for &s in &field.usable {
        for &t in &field.usable {
            let part = field.part(s, t);
            let first = f64::from(a[s]) + part.max(field.base[s]);
            let second = f64::from(b[t]) + part.max(field.base[t]);
            least.offer(first.max(second), (s, t));
        }
    }
    (least.value, least.of)
}

/// What has the least value, up to a number of ties.
struct Least<T> {
    value: f64,
    of: Vec<T>,
}

impl<T> Default for Least<T> {
    fn default() -> Self {
        Self { value: f64::INFINITY, of: Vec::new() }
    }
}

impl<T> Least<T> {
    fn offer(&mut self, value: f64, of: T) {
        if value < self.value {
            self.value = value;
            self.of.clear();
        }
        if value == self.value && value.is_finite() && self.of.len() < TIES {
            self.of.push(of);
        }
    }
}

/// The two players with the longest way from one to the other through servers, lowest indices first.
fn most_distant(field: &Field<'_>) -> (usize, usize) {
    let n = field.players();
    let farthest = |p: usize| {
        let way = ways(field, p);
        let to = (0..n).map(|q| (q, distance(field, &way, q)));
        to.reduce(|best, next| if next.1 > best.1 { next } else { best }).unwrap_or((p, 0.0))
    };
    if n > MANY {
        // Farthest from farthest: a good pair without looking at all.
        let start = farthest(0).0;
        let mut pair = (0, start, farthest(0).1);
        for _ in 0..4 {
            let (q, far) = farthest(pair.1);
            if far <= pair.2 {
                break;
            }
            pair = (pair.1, q, far);
        }
        return (pair.0.min(pair.1), pair.0.max(pair.1));
    }
    let each = (0..n).map(|p| (p, farthest(p)));
    let longest = each.reduce(|best, next| if next.1.1 > best.1.1 { next } else { best });
    longest.map_or((0, 0), |(p, (q, _))| (p.min(q), p.max(q)))
}

/// One way from a player to every site by way of the best server.
fn ways(field: &Field<'_>, player: usize) -> Vec<f64> {
    let row = field.problem.row(player);
    let mut way = vec![f64::INFINITY; field.sites()];
    for &s in &field.usable {
        let first = f64::from(row[s]) / 2.0;
        for &t in &field.usable {
            way[t] = way[t].min(first + field.problem.between(s, t));
        }
    }
    way
}

fn distance(field: &Field<'_>, way: &[f64], to: usize) -> f64 {
    let row = field.problem.row(to);
    row.iter().zip(way).map(|(rtt, way)| f64::from(*rtt) / 2.0 + way).fold(f64::INFINITY, f64::min)
}
