//! Networks without a plan.

use super::graph::{Fibre, Graph};
use super::{Kind, Topology};
use crate::random::Random;
use libm::exp;

/// Nodes anywhere on the map; the nearer two are, the likelier they are linked (Waxman 1988): with probability
/// `alpha * exp(-distance / (beta * L))`, where L is the map's diagonal. What remains apart is joined to what is nearest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waxman {
    /// How many nodes: 600.
    pub nodes: usize,
    /// How likely any link is: 0.1.
    pub alpha: f64,
    /// How long links are: 0.1.
    pub beta: f64,
    /// Which share of the nodes, those with the most links, is backbone: 0.1.
    pub backbone: f64,
    /// The map and the cables.
    pub fibre: Fibre,
}

impl Default for Waxman {
    fn default() -> Self {
        Self { nodes: 600, alpha: 0.1, beta: 0.1, backbone: 0.1, fibre: Fibre::default() }
    }
}

impl Waxman {
    /// Makes a network.
    pub fn generate(&self, seed: u64) -> Topology {
        let mut random = Random::new(seed);
        let mut graph = Graph::new(self.fibre);
        let Fibre { width_km, height_km, .. } = self.fibre;
        let reach = self.beta * (width_km * width_km + height_km * height_km).sqrt();
        for _ in 0..self.nodes {
            let place = graph.anywhere(&mut random);
            let node = graph.add(Kind::Edge, place);
            for other in 0..node {
                if random.unit() < self.alpha * exp(-graph.km(node, other) / reach) {
                    graph.link(node, other);
                }
            }
        }
        join(&mut graph);
        graph.crown(self.backbone);
        graph.finish(&mut random)
    }
}

/// Joins what cannot be reached from node 0 to the nearest of what can.
fn join(graph: &mut Graph) {
    while !graph.nodes.is_empty() {
        let reached = graph.shortest(0);
        let is_reached = |i: &usize| reached[*i].is_finite();
        let Some(apart) = (0..reached.len()).find(|i| !is_reached(i)) else { return };
        let Some(near) = graph.nearest(apart, (0..reached.len()).filter(is_reached)) else { return };
        graph.link(apart, near);
    }
}

/// Nodes come one after another, and link with those that have many links already and are not far: preferential attachment
/// (Barabási, Albert 1999) on a map. A few become hubs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attachment {
    /// How many nodes: 600.
    pub nodes: usize,
    /// With how many of those before each links, at least one: 2.
    pub links: usize,
    /// By how much farther a node must be to be e times less attractive, in kilometres: 1,500.
    pub reach_km: f64,
    /// Which share of the nodes, those with the most links, is backbone: 0.1.
    pub backbone: f64,
    /// The map and the cables.
    pub fibre: Fibre,
}

impl Default for Attachment {
    fn default() -> Self {
        Self { nodes: 600, links: 2, reach_km: 1_500.0, backbone: 0.1, fibre: Fibre::default() }
    }
}

impl Attachment {
    /// Makes a network.
    pub fn generate(&self, seed: u64) -> Topology {
        let mut random = Random::new(seed);
        let mut graph = Graph::new(self.fibre);
        for _ in 0..self.nodes {
            let place = graph.anywhere(&mut random);
            let node = graph.add(Kind::Edge, place);
            let pull = |i: usize| (1 + graph.links(i)) as f64 * exp(-graph.km(node, i) / self.reach_km);
            let mut pulls: Vec<f64> = (0..node).map(pull).collect();
            for _ in 0..self.links.max(1).min(node) {
                let other = pick(&pulls, &mut random);
                pulls[other] = 0.0;
                graph.link(node, other);
            }
        }
        graph.crown(self.backbone);
        graph.finish(&mut random)
    }
}

/// One by chance, in proportion. There is at least one; if all are nothing, it is the last.
fn pick(shares: &[f64], random: &mut Random) -> usize {
    let mut rest = random.unit() * shares.iter().sum::<f64>();
    let hit = shares.iter().position(|share| {
        rest -= share;
        rest < 0.0
    });
    hit.unwrap_or(shares.len() - 1)
}
