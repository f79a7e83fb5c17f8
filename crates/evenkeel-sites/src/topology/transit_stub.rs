//! Carriers, and those who are connected to them.

use super::graph::{Fibre, Graph};
use super::{Kind, Topology};
use crate::random::Random;

/// Transit domains, the backbone, linked with each other; stub domains, where people live, each hung on a node of a transit domain
/// (Zegura, Calvert, Bhattacharjee 1996). By default 600 nodes, 24 of them backbone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransitStub {
    /// How many transit domains: 6.
    pub transit_domains: usize,
    /// How many nodes each: 4.
    pub transit_nodes: usize,
    /// How many stub domains hang on each node of a transit domain: 3.
    pub stubs: usize,
    /// How many nodes each: 8.
    pub stub_nodes: usize,
    /// How far the nodes of a transit domain are from its middle at most, in kilometres along either axis: 1,200.
    pub transit_reach_km: f64,
    /// The same for stub domains and what they hang on: 400.
    pub stub_reach_km: f64,
    /// How likely any two nodes of a domain are linked, beyond what connects them: 0.3.
    pub extra_links: f64,
    /// How likely a stub domain has a second link, to any node of the backbone: 0.1.
    pub second_home: f64,
    /// The map and the cables.
    pub fibre: Fibre,
}

impl Default for TransitStub {
    fn default() -> Self {
        Self {
            transit_domains: 6,
            transit_nodes: 4,
            stubs: 3,
            stub_nodes: 8,
            transit_reach_km: 1_200.0,
            stub_reach_km: 400.0,
            extra_links: 0.3,
            second_home: 0.1,
            fibre: Fibre::default(),
        }
    }
}

impl TransitStub {
    /// Makes a network.
    pub fn generate(&self, seed: u64) -> Topology {
        let mut random = Random::new(seed);
        let mut graph = Graph::new(self.fibre);
        for domain in 0..self.transit_domains {
            let centre = graph.anywhere(&mut random);
            self.domain(&mut graph, Kind::Backbone, centre, self.transit_nodes, &mut random);
            // Each domain peers with the nearest of those before, and with any one of them.
            let own = domain * self.transit_nodes..graph.nodes.len();
            if domain > 0 && !own.is_empty() {
                let gate = own.start + random.below(own.len());
                let near = graph.nearest(gate, 0..own.start);
                near.into_iter().for_each(|other| graph.link(gate, other));
                let (gate, other) = (own.start + random.below(own.len()), random.below(own.start));
                graph.link(gate, other);
            }
        }
        let backbone = graph.nodes.len();
        for home in 0..backbone {
            for _ in 0..self.stubs {
                self.stub(&mut graph, home, backbone, &mut random);
            }
        }
        graph.finish(&mut random)
    }

    fn stub(&self, graph: &mut Graph, home: usize, backbone: usize, random: &mut Random) {
        let start = graph.nodes.len();
        let centre = graph.near(home, self.stub_reach_km, random);
        self.domain(graph, Kind::Edge, centre, self.stub_nodes, random);
        if graph.nodes.len() > start {
            graph.link(start, home);
            if random.unit() < self.second_home {
                let (gate, other) = (start + random.below(self.stub_nodes), random.below(backbone));
                graph.link(gate, other);
            }
        }
    }

    /// Nodes around a place: each linked with the nearest of those before, and with others by chance.
    fn domain(&self, graph: &mut Graph, kind: Kind, centre: (f64, f64), count: usize, random: &mut Random) {
        let start = graph.nodes.len();
        let reach = if kind == Kind::Backbone { self.transit_reach_km } else { self.stub_reach_km };
        for _ in 0..count {
            let mut off = |middle: f64| middle + random.between(-reach, reach);
            let place = (off(centre.0), off(centre.1));
            let node = graph.add(kind, place);
            if let Some(near) = graph.nearest(node, start..node) {
                graph.link(node, near);
            }
            for other in start..node {
                if random.unit() < self.extra_links {
                    graph.link(node, other);
                }
            }
        }
    }
}
