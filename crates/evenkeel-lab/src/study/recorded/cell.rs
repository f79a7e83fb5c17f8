//! The cells: games, who tells about them, who listens, and within which budget.

use super::{Figures, seconds};
use crate::bench::trace;
use crate::experiment::{Row, Senders, Settings, Source, digest};
use crate::study::cells::DELAYS_MS;
use crate::study::{Brief, Watch};
use crate::world::Outcome;
use anyhow::Result;
use evenkeel::Budget;
use rayon::prelude::*;

/// Games recorded frame by frame: true paths.
pub(super) const GAMES: [&str; 2] = ["bzflag-dense-a", "bzflag-dense-b"];
/// What is compared, beside the base case and every k-th of its vectors.
pub(super) const POLICIES: [&str; 8] = [
    "schedule-drop-projected",
    "lottery-pi",
    "credits",
    "tolerance",
    "accumulator",
    "accumulator-distance",
    "tang-zhou",
    "even",
];
/// Who tells about the players, and within which budgets: one in so many of the base case's vectors.
const SENDERS: [(Senders, &[u32]); 2] = [(Senders::One, &[THIRD, 6]), (Senders::Each, &[THIRD])];
/// The papers' budget.
const THIRD: u32 = 3;
/// One-way delays of players on one continent.
const NEAR_MS: [f64; 8] = [20.0, 53.0, 86.0, 119.0, 152.0, 185.0, 218.0, 250.0];
/// A life ends at a gap longer than this, in seconds.
pub(super) const MAX_GAP: f64 = 1.0;

/// Who listens, at constant delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Network {
    /// The papers' three receivers.
    Papers,
    /// Eight at 20 to 250 ms.
    Near,
}

impl Network {
    pub(super) const ALL: [Self; 2] = [Self::Papers, Self::Near];

    pub(super) fn delays_ms(self) -> &'static [f64] {
        match self {
            Self::Papers => &DELAYS_MS,
            Self::Near => &NEAR_MS,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Papers => "800/500/200 ms",
            Self::Near => "8 at 20 to 250 ms",
        }
    }

    /// A name for narrow columns.
    pub(super) fn short(self) -> &'static str {
        match self {
            Self::Papers => "3 far",
            Self::Near => "8 near",
        }
    }
}

/// What spends no budget comes out the same whatever it is.
const WITHOUT_BUDGET: &str = POLICIES[0];

/// What somebody made of all players together, and not player by player.
#[derive(Clone, Debug)]
pub(super) struct Total {
    pub(super) who: String,
    pub(super) vectors: f64,
    pub(super) figures: Figures,
}

/// One cell, and what every policy made of it.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) game: &'static str,
    pub(super) senders: Senders,
    pub(super) network: Network,
    /// One in so many.
    pub(super) budget: u32,
    pub(super) rows: Vec<Row>,
    /// The same with errors added up over players; only if there is one sender.
    pub(super) totals: Vec<Total>,
    pub(super) simulated_seconds: f64,
}

/// A figure's mean, standard deviation and maximum over receivers, judged per player.
pub(super) fn export(row: &Row) -> Figures {
    [row.mean, row.std, row.max]
}

/// The same of the distance between real and placed path.
pub(super) fn real(row: &Row) -> Figures {
    [row.real_mean, row.real_std, row.real_max]
}

impl Point {
    /// A cell that is still to be run.
    fn new(game: &'static str, senders: Senders, network: Network, budget: u32) -> Self {
        Self { game, senders, network, budget, rows: Vec::new(), totals: Vec::new(), simulated_seconds: 0.0 }
    }

    fn run(mut self, brief: &Brief, watch: &Watch<'_>) -> Result<Self> {
        let mut settings = Settings {
            source: Source::Trace { path: trace(&brief.data, self.game)?, max_gap: MAX_GAP, force: false },
            senders: self.senders,
            budget: Budget::of_base(1, self.budget),
            ..common(brief).over(self.network.delays_ms(), 0.0, 0.0)
        };
        settings.policies[1] = self.every_kth();
        settings.policies.retain(|name| self.budget == THIRD || name != WITHOUT_BUDGET);
        let (digests, simulated_seconds) = digest(&settings, watch, &over_players)?;
        self.simulated_seconds = simulated_seconds;
        for digest in digests {
            let (who, vectors) = (digest.row.policy.clone(), digest.row.vectors_sent);
            let figures = digest.seeds.into_iter().flatten();
            self.totals.extend(figures.map(|figures| Total { who: who.clone(), vectors, figures }));
            self.rows.push(digest.row);
        }
        Ok(self)
    }

    pub(super) fn name(&self) -> String {
        format!("{}, 1/{}", self.group(), self.budget)
    }

    /// Its name without the budget.
    pub(super) fn group(&self) -> String {
        let senders = match self.senders {
            Senders::One => "server",
            Senders::Each => "peer to peer",
        };
        format!("{}, {senders}, {}", self.game.trim_start_matches("bzflag-"), self.network.name())
    }

    /// The policy that sends every k-th vector, at this budget.
    pub(super) fn every_kth(&self) -> String {
        format!("base/{}", self.budget)
    }

    pub(super) fn row(&self, policy: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.policy == policy)
    }

    /// Figures of a policy as multiples of another's.
    pub(super) fn ratios(&self, policy: &str, to: &str, of: fn(&Row) -> Figures) -> Figures {
        let figures = |name: &str| self.row(name).map_or([f64::NAN; 3], of);
        let (ours, theirs) = (figures(policy), figures(to));
        [0, 1, 2].map(|which| ours[which] / theirs[which])
    }
}

/// What all cells have in common. Delays do not vary and a trace is what it is: one seed.
pub(super) fn common(brief: &Brief) -> Settings {
    let policies = ["base", "base/k"].into_iter().chain(POLICIES).chain(brief.own.iter().map(|own| own.name));
    Settings {
        source: Source::Trace { path: GAMES[0].into(), max_gap: MAX_GAP, force: false },
        policies: policies.map(str::to_owned).collect(),
        own: brief.own.clone(),
        seeds: 1,
        seed: brief.size.seed,
        seconds: seconds(brief),
        ..Settings::default()
    }
}

/// Every cell there is. A server's cell is few long runs one after the other, so cells run beside each other.
pub(super) fn run(brief: &Brief, watch: &Watch<'_>) -> Result<Vec<Point>> {
    let mut points = Vec::new();
    for game in GAMES {
        for (senders, budgets) in SENDERS {
            for network in Network::ALL {
                points.extend(budgets.iter().map(|budget| Point::new(game, senders, network, *budget)));
            }
        }
    }
    points.into_par_iter().map(|point| point.run(brief, watch)).collect()
}

/// The figures of the only sender, with errors added up over its players; nothing if there are several.
fn over_players(outcomes: &[Outcome]) -> Option<Figures> {
    let [outcome] = outcomes else { return None };
    let (mean, std, max) = outcome.over_receivers(|seen| seen.export_error);
    Some([mean, std, max])
}
