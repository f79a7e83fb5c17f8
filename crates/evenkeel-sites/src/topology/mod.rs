//! Networks like the Internet, made by chance: the same for the same seed.
//!
//! Nodes stand on a map of kilometres. Links are fibre: a delay by length, a little for every hop. Round trips take the shortest
//! way, and those of [edge](Kind::Edge) nodes a last mile besides. Three models place and link the nodes: [`TransitStub`], [`Waxman`]
//! and [`Attachment`]. [`Cities`] is for large numbers of players: nothing but distances on the globe, row by row.
//!
//! ```
//! use evenkeel_sites::topology::{Kind, TransitStub};
//!
//! let network = TransitStub::default().generate(7);
//! let backbone: Vec<usize> = network.of_kind(Kind::Backbone).collect();
//! let players: Vec<usize> = network.of_kind(Kind::Edge).take(48).collect();
//! let problem = network.problem(&players, &backbone)?;
//! assert_eq!((problem.players().len(), problem.sites().len()), (48, 24));
//! # Ok::<(), evenkeel_sites::ProblemError>(())
//! ```

mod cities;
mod graph;
mod models;
mod transit_stub;

pub use cities::{Cities, Rows, World};
pub use graph::Fibre;
pub use models::{Attachment, Waxman};
pub use transit_stub::TransitStub;

use crate::{Player, Problem, ProblemError, Site};

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A place where many links meet: a usual candidate for a server.
    Backbone,
    /// A place where people live, behind a last mile.
    Edge,
}

/// A node of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it is called.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// How far east on the map, in kilometres.
    pub x_km: f64,
    /// How far north on the map, in kilometres.
    pub y_km: f64,
    /// What its last mile adds to every round trip, in milliseconds.
    pub last_mile_ms: f64,
}

/// Nodes, and the round-trip times between every two of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    nodes: Vec<Node>,
    rtt_ms: Vec<f32>,
}

impl Topology {
    /// The nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The numbers of the nodes of a kind, ascending.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = usize> {
        self.nodes.iter().enumerate().filter(move |(_, node)| node.kind == kind).map(|(i, _)| i)
    }

    /// The round-trip times from a node to all, in milliseconds: symmetric, and 0 from a node to itself.
    pub fn row(&self, node: usize) -> &[f32] {
        &self.rtt_ms[node * self.nodes.len()..][..self.nodes.len()]
    }

    /// Some nodes by chance, and the others: players and sites, for example.
    pub fn split(&self, count: usize, seed: u64) -> (Vec<usize>, Vec<usize>) {
        // Not the numbers that made the network.
        let drawn = crate::random::Random::new(!seed).draw(count, self.nodes.len());
        let others = (0..self.nodes.len()).filter(|node| drawn.binary_search(node).is_err()).collect();
        (drawn, others)
    }

    /// Some nodes as players, some as sites; a node may be both.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    pub fn problem(&self, players: &[usize], sites: &[usize]) -> Result<Problem, ProblemError> {
        let to_sites = |from: &usize| {
            let row = self.row(*from);
            sites.iter().map(|to| row[*to])
        };
        Problem::new(
            players.iter().map(|i| Player::new(&self.nodes[*i].name)).collect(),
            sites.iter().map(|i| Site::new(&self.nodes[*i].name)).collect(),
            players.iter().flat_map(to_sites).collect(),
            sites.iter().flat_map(to_sites).collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(seed: u64) -> [(&'static str, Topology); 3] {
        [
            ("transit-stub", TransitStub::default().generate(seed)),
            ("Waxman", Waxman::default().generate(seed)),
            ("attachment", Attachment::default().generate(seed)),
        ]
    }

    fn check(name: &str, network: &Topology) {
        let n = network.nodes().len();
        for i in 0..n {
            let row = network.row(i);
            assert_eq!(row[i], 0.0, "{name}");
            for (j, rtt) in row.iter().enumerate() {
                assert!(rtt.is_finite() && (*rtt > 0.0 || i == j), "{name}: {i} and {j} are {rtt} ms apart");
                assert_eq!(*rtt, network.row(j)[i], "{name}");
            }
        }
        for (i, j, k) in (0..n).flat_map(|i| (i % 7..n).step_by(11).map(move |j| (i, j, (i * 31 + j * 17) % n))) {
            let detour = network.row(i)[k] + network.row(k)[j];
            assert!(network.row(i)[j] <= detour * (1.0 + 1e-5), "{name}: {i} to {j} is shorter through {k}");
        }
    }

    #[test]
    fn networks_are_metric_and_like_the_internet() {
        for (name, network) in (1..4).flat_map(all) {
            assert_eq!(network.nodes().len(), 600, "{name}");
            check(name, &network);
            let mut values: Vec<f32> = (0..600).flat_map(|i| network.row(i)[..i].to_vec()).collect();
            values.sort_by(f32::total_cmp);
            let (median, most) = (values[values.len() / 2], values[values.len() - 1]);
            assert!((70.0..170.0).contains(&median), "{name}: median {median} ms");
            assert!((230.0..450.0).contains(&most), "{name}: most {most} ms");
            assert!((10..100).contains(&network.of_kind(Kind::Backbone).count()), "{name}");
        }
    }

    #[test]
    fn the_seed_decides() {
        let (once, again, other) = (all(5), all(5), all(6));
        assert_eq!(once, again);
        assert!(once.iter().zip(&other).all(|(one, other)| one.1 != other.1));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn any_size_is_connected(seed: u64, n in 0usize..40, links in 0usize..5, alpha in 0.0..1.0, beta in 0.001..1.0) {
            let waxman = Waxman { nodes: n, alpha, beta, ..Waxman::default() }.generate(seed);
            let attachment = Attachment { nodes: n, links, reach_km: 5_000.0 * beta, ..Attachment::default() }.generate(seed);
            for network in [waxman, attachment] {
                prop_assert_eq!(network.nodes().len(), n);
                check("small", &network);
            }
            let stub = TransitStub {
                transit_domains: links, transit_nodes: 1 + n % 4, stubs: n % 3, stub_nodes: n % 5, ..TransitStub::default()
            };
            check("small", &stub.generate(seed));
        }
    }
}
