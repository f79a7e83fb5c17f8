//! Nodes and links, and the shortest ways over them.

use super::{Kind, Node, Topology};
use crate::random::Random;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// The map, and what travelling on it takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fibre {
    /// The map's size from west to east, in kilometres: 10,000.
    pub width_km: f64,
    /// The map's size from south to north, in kilometres: 5,000.
    pub height_km: f64,
    /// How far light gets in fibre, in kilometres in a millisecond: 200.
    pub km_per_ms: f64,
    /// How much longer cables are than the straight line: 1.5 times.
    pub detour: f64,
    /// What every link adds to a round trip, in milliseconds, for the router at its end: 0.5.
    pub hop_ms: f64,
    /// The least and the most that the last mile of an edge node adds to a round trip, in milliseconds: 2 to 50. Little is likelier
    /// than much.
    pub last_mile_ms: (f64, f64),
}

impl Default for Fibre {
    fn default() -> Self {
        Self {
            width_km: 10_000.0,
            height_km: 5_000.0,
            km_per_ms: 200.0,
            detour: 1.5,
            hop_ms: 0.5,
            last_mile_ms: (2.0, 50.0),
        }
    }
}

/// A network as it grows.
pub(crate) struct Graph {
    fibre: Fibre,
    pub(crate) nodes: Vec<Node>,
    /// For each node the others, with the milliseconds of a round trip.
    links: Vec<Vec<(usize, f64)>>,
}

impl Graph {
    pub(crate) fn new(fibre: Fibre) -> Self {
        Self { fibre, nodes: Vec::new(), links: Vec::new() }
    }

    /// Adds a node, and gives its number. Places beside the map are moved to its edge.
    pub(crate) fn add(&mut self, kind: Kind, (x, y): (f64, f64)) -> usize {
        let number = self.nodes.len();
        let (x_km, y_km) = (x.clamp(0.0, self.fibre.width_km), y.clamp(0.0, self.fibre.height_km));
        self.nodes.push(Node { name: format!("node-{number}"), kind, x_km, y_km, last_mile_ms: 0.0 });
        self.links.push(Vec::new());
        number
    }

    /// A place anywhere on the map.
    pub(crate) fn anywhere(&self, random: &mut Random) -> (f64, f64) {
        (random.between(0.0, self.fibre.width_km), random.between(0.0, self.fibre.height_km))
    }

    /// A place in the square around a node.
    pub(crate) fn near(&self, node: usize, within_km: f64, random: &mut Random) -> (f64, f64) {
        let Node { x_km, y_km, .. } = self.nodes[node];
        let mut off = || random.between(-within_km, within_km);
        (x_km + off(), y_km + off())
    }

    pub(crate) fn km(&self, a: usize, b: usize) -> f64 {
        let (a, b) = (&self.nodes[a], &self.nodes[b]);
        let (x, y) = (a.x_km - b.x_km, a.y_km - b.y_km);
        (x * x + y * y).sqrt()
    }

    /// Of the nodes in a range the one that is nearest to a node: the first of several.
    pub(crate) fn nearest(&self, node: usize, among: impl Iterator<Item = usize>) -> Option<usize> {
        among.min_by(|a, b| self.km(node, *a).total_cmp(&self.km(node, *b)))
    }

    pub(crate) fn links(&self, node: usize) -> usize {
        self.links[node].len()
    }

    /// Links two nodes, once.
    pub(crate) fn link(&mut self, a: usize, b: usize) {
        if a == b || self.links[a].iter().any(|(other, _)| *other == b) {
            return;
        }
        let rtt = 2.0 * self.km(a, b) * self.fibre.detour / self.fibre.km_per_ms + self.fibre.hop_ms;
        self.links[a].push((b, rtt));
        self.links[b].push((a, rtt));
    }

    /// The nodes with the most links become the backbone; the first of equals.
    pub(crate) fn crown(&mut self, share: f64) {
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by_key(|i| Reverse(self.links(*i)));
        let crowned = (share * order.len() as f64).ceil() as usize;
        order.iter().take(crowned).for_each(|i| self.nodes[*i].kind = Kind::Backbone);
    }

    /// Last miles for the edge, and all shortest ways.
    pub(crate) fn finish(mut self, random: &mut Random) -> Topology {
        let (least, most) = self.fibre.last_mile_ms;
        for node in self.nodes.iter_mut().filter(|node| node.kind == Kind::Edge) {
            let slow = random.unit();
            node.last_mile_ms = least + (most - least) * slow * slow;
        }
        let n = self.nodes.len();
        let mut rtt_ms = vec![0.0; n * n];
        for from in 0..n {
            // One way only: the other would differ in its last bit.
            for (to, way) in self.shortest(from).into_iter().enumerate().take(from) {
                let rtt = (way + self.nodes[from].last_mile_ms + self.nodes[to].last_mile_ms) as f32;
                (rtt_ms[from * n + to], rtt_ms[to * n + from]) = (rtt, rtt);
            }
        }
        Topology { nodes: self.nodes, rtt_ms }
    }

    /// The shortest ways from a node to all, by Dijkstra's method.
    pub(crate) fn shortest(&self, from: usize) -> Vec<f64> {
        let mut best = vec![f64::INFINITY; self.nodes.len()];
        best[from] = 0.0;
        let mut heap = BinaryHeap::from([Reached { ms: 0.0, node: from }]);
        while let Some(Reached { ms, node }) = heap.pop() {
            if ms > best[node] {
                continue;
            }
            for (other, link) in &self.links[node] {
                if ms + link < best[*other] {
                    best[*other] = ms + link;
                    heap.push(Reached { ms: ms + link, node: *other });
                }
            }
        }
        best
    }
}

/// The nearest is the greatest: that is what comes first out of a heap.
struct Reached {
    ms: f64,
    node: usize,
}

impl Ord for Reached {
    fn cmp(&self, other: &Self) -> Ordering {
        other.ms.total_cmp(&self.ms).then(other.node.cmp(&self.node))
    }
}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Reached {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Reached {}
