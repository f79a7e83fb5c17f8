//! Where should servers stand, how many, and how far is a choice from the best?

mod claims;
mod claims_design;
mod findings;
mod network;
mod show;
mod take;

pub use network::Network;

use super::measure::over;
use super::{Brief, Entry, Study, Watch};
use anyhow::{Result, ensure};
use take::Take;

pub(super) const ENTRY: Entry = Entry {
    name: "sites",
    question: "Where should servers stand, how many, and how far is a choice from the best?",
    reproduces: "managing latency and fairness, table 1 (the heuristic), figure 2 (its convergence), figure 3 (playability \
                 and fairness of the ways of choosing servers)",
    needs: &[],
    run: |brief, watch| run(&Scope::of(brief), watch),
};

/// How much to run: every network with every seed is one game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// How many nodes generated networks have, about.
    pub nodes: usize,
    /// How many players there are.
    pub players: usize,
    /// How many games on each network; every game has a network and players of its own.
    pub runs: u64,
    /// The first game's seed.
    pub seed: u64,
    /// The networks.
    pub networks: Vec<Network>,
}

impl Scope {
    /// The paper's: 100 games of 48 players in 600 nodes.
    pub fn paper() -> Self {
        Self { nodes: 600, players: 48, runs: 100, seed: 1, networks: Network::ALL.to_vec() }
    }

    /// Networks and players as in the paper, as many games as there are seeds.
    fn of(brief: &Brief) -> Self {
        Self { runs: brief.size.seeds, seed: brief.size.seed, ..Self::paper() }
    }

    /// Whether this can be run.
    pub fn check(&self) -> Result<()> {
        ensure!((100..=2000).contains(&self.nodes), "--nodes must be between 100 and 2000");
        ensure!((2..=200).contains(&self.players), "--players must be between 2 and 200");
        ensure!(self.players <= self.nodes / 2, "--players must be at most half of --nodes");
        ensure!((1..=1000).contains(&self.runs), "--runs must be between 1 and 1000");
        ensure!(!self.networks.is_empty(), "there must be a network");
        Ok(())
    }
}

/// All games on a network.
struct Games {
    network: Network,
    takes: Vec<Take>,
}

/// Runs it.
pub fn run(scope: &Scope, watch: &Watch<'_>) -> Result<Study> {
    scope.check()?;
    let seeds = || (0..scope.runs).map(|n| scope.seed.wrapping_add(n));
    let keys: Vec<(Network, u64)> =
        scope.networks.iter().flat_map(|network| seeds().map(|seed| (*network, seed))).collect();
    let takes = over(&keys, watch, |(network, seed)| Take::new(*network, scope, *seed))?;
    let by_network = takes.chunks(scope.runs as usize).zip(&scope.networks);
    let games: Vec<Games> =
        by_network.map(|(takes, network)| Games { network: *network, takes: takes.to_vec() }).collect();
    Ok(Study {
        name: ENTRY.name,
        settings: settings(scope),
        summary: show::summary(&games),
        exhibits: show::exhibits(&games),
        findings: findings::findings(&games),
        rows: show::rows(&games, scope.seed),
        simulated_seconds: 0.0,
    })
}

fn settings(scope: &Scope) -> Vec<(String, String)> {
    let networks: Vec<&str> = scope.networks.iter().map(|network| network.name()).collect();
    let all = [
        ("nodes", scope.nodes.to_string()),
        ("players", scope.players.to_string()),
        ("runs", scope.runs.to_string()),
        ("seed", scope.seed.to_string()),
        ("networks", networks.join("; ")),
        ("synchronisation", "conservative local lag, per server".into()),
    ];
    all.map(|(name, value)| (name.to_owned(), value)).to_vec()
}
