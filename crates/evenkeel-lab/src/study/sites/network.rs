//! Where players live and servers may stand.

use anyhow::{Context, Result};
use evenkeel_link::Noise;
use evenkeel_sites::Problem;
use evenkeel_sites::input::{Candidates, Files, Options, Players, read};
use evenkeel_sites::topology::{Attachment, Kind, Topology, TransitStub, Waxman};

/// It comes with the program, so that it can be run anywhere.
const PLANETLAB: &[u8] = include_bytes!("../../../../../data/latency/planetlab490_median_rtt_ms.csv.gz");
/// A transit domain and all that hangs on it.
const DOMAIN: usize = 100;

/// A network, and which of its nodes are candidates for servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Carriers and those who are connected to them; servers stand in the backbone.
    Backbone,
    /// The same; servers stand at any node that is no player's.
    TransitStub,
    /// Nodes anywhere, the likelier linked the nearer; servers stand at any node that is no player's.
    Waxman,
    /// Nodes that link with those that have many links; servers stand at any node that is no player's.
    BarabasiAlbert,
    /// Measured round trips between 490 machines; servers stand at any that is no player's.
    PlanetLab,
}

impl Network {
    /// All there are.
    pub const ALL: [Self; 5] = [Self::Backbone, Self::TransitStub, Self::Waxman, Self::BarabasiAlbert, Self::PlanetLab];

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Backbone => "transit-stub, backbone",
            Self::TransitStub => "transit-stub, any node",
            Self::Waxman => "Waxman",
            Self::BarabasiAlbert => "Barabási-Albert",
            Self::PlanetLab => "PlanetLab",
        }
    }

    /// About so many nodes with so many players among them, by chance. What was measured is as large as it is, and networks of
    /// carriers come in hundreds.
    pub(super) fn problem(self, nodes: usize, players: usize, seed: u64) -> Result<Problem> {
        let drawn = |network: Topology| among(&network, self == Self::Backbone, players, seed);
        match self {
            Self::Backbone | Self::TransitStub => {
                let transit_domains = ((nodes + DOMAIN / 2) / DOMAIN).max(1);
                drawn(TransitStub { transit_domains, ..TransitStub::default() }.generate(seed))
            }
            Self::Waxman => drawn(Waxman { nodes, ..Waxman::default() }.generate(seed)),
            Self::BarabasiAlbert => drawn(Attachment { nodes, ..Attachment::default() }.generate(seed)),
            Self::PlanetLab => {
                let players = Some(Players::Drawn { count: players, seed });
                let options = Options { players, candidates: Some(Candidates::Rest), ..Options::default() };
                Ok(read(&Files::new(PLANETLAB), &options).context("PlanetLab")?.problem)
            }
        }
    }
}

/// Players by lot where people live; servers in the backbone, or anywhere but there.
fn among(network: &Topology, backbone: bool, players: usize, seed: u64) -> Result<Problem> {
    let mut homes: Vec<usize> = network.of_kind(Kind::Edge).collect();
    let noise = Noise::new(seed, 0);
    let players = players.min(homes.len());
    for i in 0..players {
        let other = i + (noise.bits(i as i64, 0) % (homes.len() - i) as u64) as usize;
        homes.swap(i, other);
    }
    let chosen = &mut homes[..players];
    chosen.sort_unstable();
    let sites: Vec<usize> = match backbone {
        true => network.of_kind(Kind::Backbone).collect(),
        false => (0..network.nodes().len()).filter(|node| chosen.binary_search(node).is_err()).collect(),
    };
    Ok(network.problem(chosen, &sites)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_sites::Player;
    use std::collections::BTreeSet;

    #[test]
    fn players_are_drawn_and_no_site_is_a_players() {
        for network in Network::ALL {
            let problem = network.problem(200, 20, 3).unwrap();
            let names = |players: &[Player]| players.iter().map(|p| p.name.clone()).collect::<BTreeSet<_>>();
            let players = names(problem.players());
            assert_eq!(players.len(), 20, "{network:?}");
            assert!(problem.sites().iter().all(|site| !players.contains(&site.name)), "{network:?}");
            let sites = match network {
                Network::Backbone => 8,
                Network::PlanetLab => 470,
                _ => 180,
            };
            assert_eq!(problem.sites().len(), sites, "{network:?}");
            let again = |seed| network.problem(200, 20, seed).unwrap();
            assert!(again(3) == problem && names(again(4).players()) != players, "{network:?}");
        }
    }
}
