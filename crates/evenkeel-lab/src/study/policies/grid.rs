//! The cells: motions, networks and budgets.

use crate::experiment::{Settings, Source};
use crate::study::cells::{Cell, JITTERS_MS, jitter_name, papers};
use crate::study::{Brief, Size, Watch};
use crate::workload::Motion;
use anyhow::Result;
use evenkeel::Budget;

const MOTIONS: [Motion; 3] = [Motion::Tank, Motion::TankInertia, Motion::Random];
/// Budgets are one in so many of the base case's vectors.
const BUDGETS: [u32; 4] = [2, 3, 6, 10];
/// The papers' budget.
const THIRD: u32 = 3;
/// What is compared, beside the base case and every k-th of its vectors.
const POLICIES: [&str; 8] = [
    "schedule-drop-projected",
    "lottery-pi",
    "credits",
    "tolerance",
    "accumulator",
    "accumulator-distance",
    "tang-zhou",
    "even",
];

/// Who listens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Network {
    /// The papers' three receivers, with so much jitter.
    Papers(f64),
    /// So many receivers, evenly spread over 20 to 250 ms.
    Spread(usize),
}

impl Network {
    pub(super) fn name(self) -> String {
        match self {
            Self::Papers(jitter) => format!("800/500/200 {}", jitter_name(jitter)),
            Self::Spread(receivers) => format!("{receivers} receivers at 20 to 250 ms"),
        }
    }

    /// Whether the delays never change.
    pub(super) fn is_constant(self) -> bool {
        !matches!(self, Self::Papers(jitter) if jitter > 0.0)
    }

    /// Runs cost by receiver: the more of them, the shorter and fewer. The papers' budget has the full size on a tank.
    fn size(self, full: Size, papers: bool) -> Size {
        let (seeds, shorter) = match self {
            Self::Papers(_) if papers => (full.seeds, 1.0),
            Self::Papers(_) => (full.seeds.div_ceil(2), 2.0),
            Self::Spread(receivers) if receivers <= 8 => (full.seeds.div_ceil(2), 4.0),
            Self::Spread(_) => (full.seeds.div_ceil(4), 5.0),
        };
        Size { seeds, seconds: (full.seconds / shorter).max(20.0), ..full }
    }

    fn over(self, settings: Settings) -> Settings {
        match self {
            Self::Papers(_) => settings,
            Self::Spread(receivers) => {
                let step = 230.0 / (receivers.max(2) - 1) as f64;
                let delays: Vec<f64> = (0..receivers).map(|i| (20.0 + step * i as f64).round()).collect();
                settings.over(&delays, 0.0, 0.0)
            }
        }
    }
}

/// One cell, and where it stands.
pub(super) struct Point {
    pub(super) motion: Motion,
    pub(super) network: Network,
    /// One in so many.
    pub(super) budget: u32,
    pub(super) size: Size,
    pub(super) cell: Cell,
}

impl Point {
    /// The policy that sends every k-th vector, at this budget.
    pub(super) fn every_kth(&self) -> String {
        format!("base/{}", self.budget)
    }

    /// Whether it is one of the papers' cells, run at full size.
    pub(super) fn is_papers(&self) -> bool {
        is_papers(self.motion, self.network, self.budget)
    }
}

fn is_papers(motion: Motion, network: Network, budget: u32) -> bool {
    motion == Motion::Tank && matches!(network, Network::Papers(_)) && budget == THIRD
}

/// What all cells have in common.
pub(super) fn settings(brief: &Brief) -> Settings {
    let mut settings = Settings { own: brief.own.clone(), ..papers(brief, JITTERS_MS[0], &["base", "base/3"]) };
    settings.policies.extend(POLICIES.map(str::to_owned));
    settings.policies.extend(brief.own.iter().map(|own| own.name.to_owned()));
    settings
}

/// Every cell there is. Many receivers are costly: with those only a third and a tenth.
pub(super) fn run(brief: &Brief, watch: &Watch<'_>) -> Result<Vec<Point>> {
    let networks = JITTERS_MS.map(Network::Papers).into_iter().chain([Network::Spread(8), Network::Spread(32)]);
    let mut points = Vec::new();
    for motion in MOTIONS {
        for network in networks.clone() {
            for budget in BUDGETS {
                if network != Network::Spread(32) || [THIRD, 10].contains(&budget) {
                    points.push(point(motion, network, budget, brief, watch)?);
                }
            }
        }
    }
    Ok(points)
}

fn point(motion: Motion, network: Network, budget: u32, brief: &Brief, watch: &Watch<'_>) -> Result<Point> {
    let size = network.size(brief.size, is_papers(motion, network, budget));
    let brief = brief.sized(size);
    let jitter = if let Network::Papers(jitter) = network { jitter } else { 0.0 };
    let mut settings = Settings {
        policies: settings(&brief).policies,
        own: brief.own.clone(),
        source: Source::Motion { motion, entities: 1 },
        budget: Budget::of_base(1, budget),
        ..network.over(papers(&brief, jitter, &[]))
    };
    settings.policies[1] = format!("base/{budget}");
    let name = format!("{}, {}, 1/{budget}", motion.name(), network.name());
    Ok(Point { motion, network, budget, size, cell: Cell::run(&name, &settings, false, watch)? })
}
