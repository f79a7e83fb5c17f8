//! `evenkeel sites compare`: all strategies over many problems.

use super::ask::{Question, ask};
use super::given::{Given, Loaded};
use crate::lab::{Outputs, Report, Waiting};
use anyhow::{Context, Result, ensure};
use evenkeel_lab::experiment::Progress;
use evenkeel_lab::report::sites::{Row, Series};
use evenkeel_sites::topology::{Attachment, Topology, TransitStub, Waxman};
use evenkeel_sites::{Problem, Strategy};
use std::path::PathBuf;

/// More nodes than this have too many round-trip times to make up for every seed.
const MAX_NODES: usize = 5_000;
const MAX_SEEDS: u64 = 100_000;

#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
enum TopologyName {
    TransitStub,
    Waxman,
    BarabasiAlbert,
}

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Round-trip times, as for `sites solve`; every seed draws other players.
    #[arg(long, value_name = "FILE", conflicts_with = "topology", required_unless_present = "topology")]
    #[arg(help_heading = "What is given")]
    rtt: Option<PathBuf>,
    /// A network made by chance instead, another for every seed.
    #[arg(long, value_name = "MODEL", help_heading = "What is given")]
    topology: Option<TopologyName>,
    /// How many nodes the network has.
    #[arg(long, value_name = "N", default_value_t = 600, help_heading = "What is given")]
    nodes: usize,
    #[command(flatten)]
    given: Given,
    #[command(flatten)]
    question: Question,
    /// How many problems.
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Runs and results")]
    seeds: u64,
    /// The first seed.
    #[arg(long, value_name = "S", default_value_t = 1, help_heading = "Runs and results")]
    seed: u64,
    #[command(flatten)]
    outputs: Outputs,
}

/// How many players are drawn if nothing is said: as in the paper.
const PLAYERS: usize = 48;

const STRATEGIES: [Strategy; 5] =
    [Strategy::CentralRandom, Strategy::CentralMean, Strategy::CentralCritical, Strategy::Heuristic, Strategy::Best];

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { rtt, given, question, outputs, seeds, .. } = arguments;
    let inputs: Vec<_> = rtt.iter().map(PathBuf::as_path).chain(given.files()).collect();
    outputs.check(&inputs)?;
    ensure!((1..=MAX_SEEDS).contains(seeds), "--seeds {seeds}: choose between 1 and {MAX_SEEDS}");
    let loaded = rtt.as_deref().map(|rtt| given.load(rtt)).transpose()?;
    let waiting = Waiting::new();
    waiting.tell(Progress::Expect(seeds * STRATEGIES.len() as u64));
    let mut problems: Vec<Vec<Row>> = Vec::new();
    for seed in (0..*seeds).map(|n| arguments.seed.wrapping_add(n)) {
        let problem = arguments.problem(loaded.as_ref(), seed)?;
        question.check(&problem)?;
        let asked = ask(&problem, &question.request(seed)?, &STRATEGIES, || waiting.tell(Progress::Done));
        problems.push(asked.with_context(|| format!("seed {seed}"))?.0);
    }
    waiting.end();
    outputs.write(&Series::new(arguments.settings(), question.objective, &STRATEGIES, &problems))
}

impl Arguments {
    fn problem(&self, loaded: Option<&Loaded>, seed: u64) -> Result<Problem> {
        if let Some(loaded) = loaded {
            return Ok(self.given.known(loaded, seed, Some(PLAYERS))?.problem);
        }
        let players =
            self.given.drawn().context("--topology: only a number of --players, nothing else, goes with it")?;
        let network = self.network(seed)?;
        let nodes = network.nodes().len();
        let players = players.unwrap_or(PLAYERS);
        ensure!((1..nodes).contains(&players), "--players {players}: there are {nodes} nodes, and sites must be left");
        let (players, sites) = network.split(players, seed);
        Ok(network.problem(&players, &sites)?)
    }

    fn network(&self, seed: u64) -> Result<Topology> {
        let nodes = self.nodes;
        ensure!((2..=MAX_NODES).contains(&nodes), "--nodes {nodes}: choose between 2 and {MAX_NODES}");
        Ok(match self.topology {
            Some(TopologyName::Waxman) => Waxman { nodes, ..Waxman::default() }.generate(seed),
            Some(TopologyName::BarabasiAlbert) => Attachment { nodes, ..Attachment::default() }.generate(seed),
            _ => {
                // Whole domains of a hundred nodes.
                let all = TransitStub::default();
                let domain = all.transit_nodes * (1 + all.stubs * all.stub_nodes);
                let whole = nodes.is_multiple_of(domain);
                ensure!(whole, "--nodes {nodes}: a transit-stub network has a multiple of {domain} nodes");
                TransitStub { transit_domains: nodes / domain, ..all }.generate(seed)
            }
        })
    }

    fn settings(&self) -> Vec<(String, String)> {
        let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut all: Vec<(String, String)> = self.rtt.iter().map(|path| ("rtt".to_owned(), name(path))).collect();
        if let Some(topology) = self.topology {
            let name = match topology {
                TopologyName::TransitStub => "transit-stub",
                TopologyName::Waxman => "waxman",
                TopologyName::BarabasiAlbert => "barabasi-albert",
            };
            all.extend(
                [("topology", name.to_owned()), ("nodes", self.nodes.to_string())].map(|(n, v)| (n.to_owned(), v)),
            );
        }
        all.extend(self.given.settings());
        all.extend(self.question.settings());
        all.extend(
            [("seed", self.seed), ("seeds", self.seeds)].map(|(name, value)| (name.to_owned(), value.to_string())),
        );
        all
    }
}

impl Report for Series {
    fn json(&self) -> serde_json::Value {
        self.to_json()
    }

    fn csv(&self) -> Result<String> {
        self.to_csv()
    }

    fn html(&self) -> String {
        self.to_html()
    }

    fn text(&self) -> String {
        self.to_text()
    }

    fn beside(&self) -> Result<Vec<(&'static str, String)>> {
        Ok(vec![("strategies.csv", self.to_csv()?)])
    }
}
