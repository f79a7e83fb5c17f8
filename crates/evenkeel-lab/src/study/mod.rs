//! Experiments by name: each knows which figures or tables of the papers it reproduces, shows what it found as tables and
//! plots, and says which of the papers' claims hold.
//!
//! A study is made of [`Exhibit`]s, for people to look at, and of [`Finding`]s, one for each claim it checks. Everything
//! follows from its [`Size`]: equal sizes give equal bytes.

mod accuracy;
mod baselines;
mod budget;
mod cells;
mod claim;
mod clock;
mod exhibit;
mod hits;
mod lag_fairness;
mod liar;
mod local_lag;
mod measure;
mod mirrors;
mod plots;
mod policies;
mod prediction;
mod rank;
mod recorded;
mod scenario;
mod scheduling;
pub mod sites;
mod spy;
mod threshold;
mod timewarp;
mod verdicts;

pub use claim::{Band, Claim, Finding, Observation, Verdict};
pub use exhibit::{Exhibit, Series};
pub use scenario::{Body, Scenario};

use crate::bench::{default_data, trace};
use crate::experiment::Progress;
use crate::names::nearest;
use crate::policies::{Own, check_own};
use anyhow::{Error, Result, bail, ensure};
use std::path::PathBuf;

/// How much of an experiment to run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// How many seeds each cell is averaged over.
    pub seeds: u64,
    /// How long each run of a synthetic motion lasts, in seconds.
    pub seconds: f64,
    /// The first seed.
    pub seed: u64,
}

impl Size {
    /// The papers' cells at full size.
    pub const FULL: Self = Self { seeds: 20, seconds: 600.0, seed: 1 };
    /// About a tenth of the work, for a first look.
    pub const QUICK: Self = Self { seeds: 5, seconds: 240.0, seed: 1 };

    /// The seeds, one by one.
    pub fn each_seed(self) -> impl Iterator<Item = u64> {
        (0..self.seeds).map(move |n| self.seed.wrapping_add(n))
    }

    /// Whether this can be run.
    pub fn check(&self) -> Result<()> {
        ensure!((1..=1000).contains(&self.seeds), "--seeds must be between 1 and 1000");
        ensure!((20.0..=86_400.0).contains(&self.seconds), "--seconds must be between 20 and 86400");
        Ok(())
    }
}

/// What to run an experiment on.
#[derive(Clone, Debug, PartialEq)]
pub struct Brief {
    /// How much of it.
    pub size: Size,
    /// Policies of one's own, for every table that compares policies within a budget.
    pub own: Vec<Own>,
    /// The folder that holds `traces/`, for what is run on recorded games.
    pub data: PathBuf,
}

impl Brief {
    /// So much of it, with nobody's own policies, and the project's data from where it usually is.
    pub fn new(size: Size) -> Self {
        Self { size, own: Vec::new(), data: default_data() }
    }

    /// The same at another size.
    fn sized(&self, size: Size) -> Self {
        Self { size, ..self.clone() }
    }
}

/// An experiment that can be asked for by name.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// The question it answers, in a line.
    pub question: &'static str,
    /// The figures and tables it reproduces.
    pub reproduces: &'static str,
    /// The traces it is run on, by name.
    needs: &'static [&'static str],
    run: fn(&Brief, &Watch<'_>) -> Result<Study>,
}

/// Somebody who wants to know how far it is.
pub type Watch<'a> = dyn Fn(Progress) + Sync + 'a;

/// What an experiment found.
#[derive(Clone, Debug)]
pub struct Study {
    /// The experiment's name.
    pub name: &'static str,
    /// What was run, by name.
    pub settings: Vec<(String, String)>,
    /// The answer, in a sentence or a few.
    pub summary: String,
    /// Tables and plots, in the order to look at them.
    pub exhibits: Vec<Exhibit>,
    /// The papers' claims that it checked.
    pub findings: Vec<Finding>,
    /// Its figures, for programs: one row for each setting and method, values by name.
    pub rows: Vec<Row>,
    /// How many seconds were simulated, over all runs.
    pub simulated_seconds: f64,
}

/// One line of figures, values by name.
pub type Row = serde_json::Map<String, serde_json::Value>;

impl Study {
    /// An experiment that was not run, and why.
    pub fn left_out(entry: &Entry, why: &Error) -> Self {
        Self {
            name: entry.name,
            settings: Vec::new(),
            summary: format!("Left out: {why:#}."),
            exhibits: Vec::new(),
            findings: Vec::new(),
            rows: Vec::new(),
            simulated_seconds: 0.0,
        }
    }
}

/// All experiments, in the order to run them.
pub const ENTRIES: &[Entry] = &[
    accuracy::ENTRY,
    clock::ENTRY,
    scheduling::ENTRY,
    budget::ENTRY,
    threshold::ENTRY,
    policies::ENTRY,
    recorded::ENTRY,
    baselines::ENTRY,
    hits::ENTRY,
    liar::ENTRY,
    local_lag::ENTRY,
    lag_fairness::ENTRY,
    verdicts::ENTRY,
    timewarp::ENTRY,
    mirrors::ENTRY,
    prediction::ENTRY,
    sites::ENTRY,
];

impl Entry {
    /// The experiment with this name.
    pub fn by_name(name: &str) -> Result<Self> {
        if let Some(entry) = ENTRIES.iter().find(|entry| entry.name == name) {
            return Ok(*entry);
        }
        let names: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
        match nearest(name, names.iter().copied()) {
            Some(near) => bail!("there is no experiment `{name}`; did you mean `{near}`?"),
            None => bail!("there is no experiment `{name}`; there are {}", names.join(", ")),
        }
    }

    /// Why it cannot be run: which of the traces it needs are not there.
    pub fn missing(&self, brief: &Brief) -> Option<Error> {
        self.needs.iter().find_map(|name| trace(&brief.data, name).err())
    }

    /// Runs it.
    pub fn run(&self, brief: &Brief, watch: &Watch<'_>) -> Result<Study> {
        brief.size.check()?;
        check_own(&brief.own)?;
        if let Some(missing) = self.missing(brief) {
            return Err(missing);
        }
        (self.run)(brief, watch)
    }
}
