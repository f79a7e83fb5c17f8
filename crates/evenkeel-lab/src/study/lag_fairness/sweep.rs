//! The cells: every lag on two networks and two motions, for each policy.

use crate::experiment::{Settings, Source};
use crate::study::cells::{Cell, DELAYS_MS, Take, average, papers};
use crate::study::measure::millis;
use crate::study::{Brief, Size, Watch};
use crate::workload::Motion;
use crate::world::{Rules, statistics};
use anyhow::Result;
use evenkeel::Placing;

/// Eight receivers, evenly from 20 to 250 ms.
pub(super) const NEAR_MS: [f64; 8] = [20.0, 53.0, 86.0, 119.0, 152.0, 185.0, 218.0, 250.0];
/// The longest lag that players bear.
pub(super) const PLAYABLE_MS: f64 = 100.0;
pub(super) const MOTIONS: [Motion; 2] = [Motion::Tank, Motion::TankInertia];
/// All vectors; every third; holding back; and a third to whom a policy chooses, or of a coarser path.
pub(super) const POLICIES: [&str; 10] = [
    "base",
    "base/3",
    "schedule-drop",
    "schedule-drop-projected",
    "credits",
    "tolerance",
    "accumulator",
    "accumulator-distance",
    "tang-zhou",
    "even",
];
const LAGS_MS: [f64; 8] = [0.0, 25.0, 50.0, 100.0, 150.0, 200.0, 250.0, 400.0];
/// Where delays are that long, lags may be too.
const FAR_LAGS_MS: [f64; 2] = [500.0, 800.0];

/// Who listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Network {
    /// The papers' three receivers.
    Far,
    /// Eight receivers as they are found in practice.
    Near,
}

impl Network {
    pub(super) const ALL: [Self; 2] = [Self::Near, Self::Far];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Far => "800/500/200 ms",
            Self::Near => "20-250 ms",
        }
    }

    pub(super) fn delays_ms(self) -> &'static [f64] {
        match self {
            Self::Far => &DELAYS_MS,
            Self::Near => &NEAR_MS,
        }
    }

    fn lags_ms(self) -> Vec<f64> {
        let more: &[f64] = if self == Self::Far { &FAR_LAGS_MS } else { &[] };
        LAGS_MS.iter().chain(more).copied().collect()
    }
}

/// What is told of the export errors of a run: the mean distance between exported and placed path, over receivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figure {
    Mean,
    Std,
    Max,
}

impl Figure {
    pub(super) const ALL: [(&str, Self); 3] = [("mean", Self::Mean), ("std", Self::Std), ("max", Self::Max)];

    pub(super) fn of(self, take: &Take) -> f64 {
        let (mean, std, max) = statistics(take.distances.iter().copied());
        match self {
            Self::Mean => mean,
            Self::Std => std,
            Self::Max => max,
        }
    }
}

/// One network and motion at every lag.
pub(super) struct Sweep {
    pub(super) network: Network,
    pub(super) motion: Motion,
    /// By lag in milliseconds, shortest first.
    pub(super) cells: Vec<(f64, Cell)>,
}

impl Sweep {
    pub(super) fn name(&self) -> String {
        format!("{}, {}", self.motion.name(), self.network.name())
    }

    pub(super) fn lags_ms(&self) -> impl Iterator<Item = f64> {
        self.cells.iter().map(|(lag, _)| *lag)
    }

    pub(super) fn longest_ms(&self) -> f64 {
        self.lags_ms().fold(0.0, f64::max)
    }

    pub(super) fn takes(&self, policy: &str, lag_ms: f64) -> &[Take] {
        self.cells.iter().find(|(lag, _)| *lag == lag_ms).map_or(&[], |(_, cell)| cell.takes(policy))
    }

    /// A figure of a policy with a lag, averaged over seeds.
    pub(super) fn average(&self, policy: &str, lag_ms: f64, figure: Figure) -> f64 {
        average(&self.takes(policy, lag_ms).iter().map(|take| figure.of(take)).collect::<Vec<_>>())
    }

    /// What a lag leaves of a policy's figure, as a share of that without lag, averages over seeds. Where there was nothing,
    /// nothing is left to say.
    pub(super) fn left(&self, policy: &str, lag_ms: f64, figure: Figure) -> f64 {
        self.average(policy, lag_ms, figure) / self.average(policy, 0.0, figure)
    }

    /// A figure of a policy with a lag against that of another policy with another lag, seed by seed.
    pub(super) fn ratios(&self, one: (&str, f64), other: (&str, f64), figure: Figure) -> Vec<f64> {
        let pairs = self.takes(one.0, one.1).iter().zip(self.takes(other.0, other.1));
        pairs.map(|(a, b)| figure.of(a) / figure.of(b)).collect()
    }

    pub(super) fn simulated_seconds(&self) -> f64 {
        self.cells.iter().map(|(_, cell)| cell.simulated_seconds).sum()
    }
}

/// Lags times policies are many runs: fewer and shorter ones do.
pub(super) fn shortened(brief: &Brief) -> Brief {
    let Size { seeds, seconds, .. } = brief.size;
    brief.sized(Size { seeds: (seeds * 2).div_ceil(5), seconds: (seconds / 6.0).max(20.0), ..brief.size })
}

/// One tank on a network with a lag; budgets are trimmed to a third.
pub(super) fn settings(brief: &Brief, network: Network, motion: Motion, lag_ms: f64) -> Settings {
    let placing = Placing { lag: millis(lag_ms), ..Rules::default().placing };
    let mut settings = Settings {
        source: Source::Motion { motion, entities: 1 },
        rules: Rules { placing, ..Rules::default() },
        own: brief.own.clone(),
        ..papers(brief, 0.0, &POLICIES)
    };
    settings.policies.extend(brief.own.iter().map(|own| own.name.to_owned()));
    settings.over(network.delays_ms(), 0.0, 0.0)
}

/// What all cells have in common, and what differs.
pub(super) fn described(brief: &Brief) -> Vec<(String, String)> {
    let differs = ["motion", "receivers", "lag_ms"];
    let list = settings(brief, Network::Near, Motion::Tank, 0.0).describe();
    let mut list: Vec<_> = list.into_iter().filter(|(name, _)| !differs.contains(&name.as_str())).collect();
    let joined = |values: &[f64]| values.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
    let networks = Network::ALL.map(|network| joined(network.delays_ms())).join("; ");
    let motions = MOTIONS.map(Motion::name).join(", ");
    let lags = joined(&Network::Far.lags_ms());
    let more = [("motions", motions), ("delays_ms", networks), ("lags_ms", lags)];
    list.extend(more.map(|(name, value)| (name.to_owned(), value)));
    list
}

/// Every cell there is.
pub(super) fn run(brief: &Brief, watch: &Watch<'_>) -> Result<Vec<Sweep>> {
    let each = |network: Network| MOTIONS.map(|motion| sweep(brief, network, motion, watch));
    Network::ALL.into_iter().flat_map(each).collect()
}

fn sweep(brief: &Brief, network: Network, motion: Motion, watch: &Watch<'_>) -> Result<Sweep> {
    let cell = |lag_ms: f64| {
        let name = format!("{}, {}, lag {lag_ms} ms", motion.name(), network.name());
        Ok((lag_ms, Cell::run(&name, &settings(brief, network, motion, lag_ms), false, watch)?))
    };
    let cells = network.lags_ms().into_iter().map(cell).collect::<Result<_>>()?;
    Ok(Sweep { network, motion, cells })
}
