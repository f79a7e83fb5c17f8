//! `evenkeel sites reproduce`: the paper's experiment on choosing servers, at its size or another.

use crate::lab::{Outputs, Waiting};
use anyhow::Result;
use clap::ValueEnum;
use evenkeel_lab::report::Volume;
use evenkeel_lab::study::Size;
use evenkeel_lab::study::sites::{Network, Scope, run as run_study};

#[derive(Clone, Copy, ValueEnum)]
enum Topology {
    /// Carriers and those connected to them; servers in the backbone, then at any node.
    TransitStub,
    /// Nodes anywhere, the likelier linked the nearer.
    Waxman,
    /// Nodes that link with those that have many links.
    BarabasiAlbert,
    /// Measured round trips between 490 machines.
    Planetlab,
    /// All of them.
    All,
}

impl Topology {
    fn networks(self) -> &'static [Network] {
        match self {
            Self::TransitStub => &[Network::Backbone, Network::TransitStub],
            Self::Waxman => &[Network::Waxman],
            Self::BarabasiAlbert => &[Network::BarabasiAlbert],
            Self::Planetlab => &[Network::PlanetLab],
            Self::All => &Network::ALL,
        }
    }
}

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many nodes generated networks have; those of carriers come in hundreds.
    #[arg(long, value_name = "N", default_value_t = 600, help_heading = "What is run")]
    nodes: usize,
    /// How many of them are players.
    #[arg(long, value_name = "N", default_value_t = 48, help_heading = "What is run")]
    players: usize,
    /// How many games on each kind of network, each with a network and players of its own.
    #[arg(long, value_name = "N", default_value_t = 100, help_heading = "What is run")]
    runs: u64,
    /// The kind of network.
    #[arg(long, value_enum, default_value_t = Topology::All, help_heading = "What is run")]
    topology: Topology,
    /// The first game's seed. The same seed gives the same bytes.
    #[arg(long, value_name = "X", default_value_t = 1, help_heading = "Runs and results")]
    seed: u64,
    #[command(flatten)]
    outputs: Outputs,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { nodes, players, runs, seed, .. } = *arguments;
    let scope = Scope { nodes, players, runs, seed, networks: arguments.topology.networks().to_vec() };
    scope.check()?;
    arguments.outputs.check(&[])?;
    let waiting = Waiting::new();
    let study = run_study(&scope, &|progress| waiting.tell(progress))?;
    waiting.end();
    // Nothing here takes game time.
    let size = Size { seeds: runs, seconds: 0.0, seed };
    arguments.outputs.write(&Volume { size, studies: vec![study] })?;
    waiting.report_time();
    Ok(())
}
