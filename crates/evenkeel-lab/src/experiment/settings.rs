//! What to compare, and on what.

use crate::bound;
use crate::policies::{Own, check_own, make_policy};
use crate::workload::Motion;
use crate::world::{Rules, check_policy, check_uplink};
use anyhow::{Context, Result, ensure};
use evenkeel::{Budget, ClockRule, Duration, Placing};
use evenkeel_link::{Conditions, Jitter, Loss};
use std::path::PathBuf;

/// Where the real paths come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A recorded trace.
    Trace {
        /// The file.
        path: PathBuf,
        /// Lives are cut at gaps longer than this, in seconds.
        max_gap: f64,
        /// Take it as the true path whatever it looks like.
        force: bool,
    },
    /// A synthetic motion.
    Motion {
        /// Which.
        motion: Motion,
        /// Of how many entities.
        entities: u32,
    },
}

/// Who tells the receivers about the entities. Errors are kept and judged per entity either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Senders {
    /// One sender tells about all of them, within one budget: a server.
    One,
    /// Every entity has a sender of its own, with a budget of its own: peer to peer.
    Each,
}

/// What to compare, and on what. Start from the default and change what matters.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What moves.
    pub source: Source,
    /// Who tells the receivers about it.
    pub senders: Senders,
    /// The policies, by name.
    pub policies: Vec<String>,
    /// Policies of one's own that may be named there.
    pub own: Vec<Own>,
    /// What policies that take a budget may spend.
    pub budget: Budget,
    /// Whether budgets are trimmed until the vectors sent match within a percent; or the bytes, if the budget is in bytes.
    pub trim: bool,
    /// The way to each receiver, and back.
    pub paths: Vec<Conditions>,
    /// The way from each entity's owner to the one sender, a server that passes on what reaches it; nothing may get lost there.
    /// None: the server owns the entities.
    pub uplink: Option<Conditions>,
    /// How vectors are made and placed.
    pub rules: Rules,
    /// How many seeds to average over.
    pub seeds: u64,
    /// The first seed.
    pub seed: u64,
    /// For how long, or how much of the trace.
    pub seconds: Option<f64>,
    /// Whether to compute a lower bound for each row: constant delays and the global clock only.
    pub bound: bool,
}

impl Default for Settings {
    /// Four tanks for two minutes at the papers' delays, `base` against `base/3`.
    fn default() -> Self {
        Self {
            source: Source::Motion { motion: Motion::Tank, entities: 4 },
            senders: Senders::One,
            policies: vec!["base".into(), "base/3".into()],
            own: Vec::new(),
            budget: Budget::of_base(1, 3),
            trim: true,
            paths: Vec::new(),
            uplink: None,
            rules: Rules::default(),
            seeds: 1,
            seed: 1,
            seconds: None,
            bound: false,
        }
        .over(&[800.0, 500.0, 200.0], 0.0, 0.0)
    }
}

impl Settings {
    /// How long a synthetic motion lasts unless told otherwise.
    pub const DEFAULT_SECONDS: f64 = 120.0;

    /// With receivers at these [`paths`].
    pub fn over(self, delays_ms: &[f64], jitter_ms: f64, loss: f64) -> Self {
        Self { paths: paths(delays_ms, jitter_ms, loss), ..self }
    }

    /// Whether this can be run.
    pub fn check(&self) -> Result<()> {
        ensure!(!self.policies.is_empty(), "there must be at least one policy");
        check_own(&self.own)?;
        for (i, name) in self.policies.iter().enumerate() {
            let policy = make_policy(name, &self.own, self.budget, self.seed)?;
            if self.uplink.is_some() {
                check_policy(&*policy)?;
            }
            ensure!(!self.policies[..i].contains(name), "policy `{name}` is named twice");
        }
        ensure!((1..=1000).contains(&self.paths.len()), "there must be between 1 and 1000 receivers");
        for path in &self.paths {
            path.validate().with_context(|| format!("the path `{path}` cannot be"))?;
        }
        if let Some(uplink) = &self.uplink {
            ensure!(self.senders == Senders::One, "peer to peer has no server, and no uplink to one");
            check_uplink(uplink)?;
        }
        if self.bound {
            bound::check(&self.rules, &self.paths, self.uplink.as_ref())?;
        }
        ensure!((1..=10_000).contains(&self.seeds), "there must be between 1 and 10000 seeds");
        let possible = |seconds: f64| (1.0..=86_400.0).contains(&seconds);
        ensure!(self.seconds.is_none_or(possible), "seconds must be between 1 and 86400");
        ensure!(self.rules.threshold.is_valid(), "thresholds must not be negative, and the heartbeat above zero");
        let Placing { lag, max_age, .. } = self.rules.placing;
        ensure!(!lag.is_negative() && lag <= Duration::from_secs(60), "the lag must be between 0 and 60000 ms");
        ensure!(max_age > Duration::ZERO, "extrapolation must last for some time");
        match self.source {
            Source::Trace { max_gap, .. } => ensure!(max_gap > 0.0, "the largest gap must be above zero"),
            Source::Motion { entities, .. } => {
                ensure!(!self.rules.relays, "a motion has true paths: only a trace can be a stream of vectors");
                ensure!((1..=1000).contains(&entities), "there must be between 1 and 1000 entities");
            }
        }
        Ok(())
    }

    /// The settings as names and values, for reports.
    pub fn describe(&self) -> Vec<(String, String)> {
        let Rules { vector, threshold, placing, relays } = self.rules;
        let mut list: Vec<(&str, String)> = match &self.source {
            Source::Trace { path, max_gap, .. } => {
                let file = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
                vec![("trace", file), ("max_gap_s", max_gap.to_string())]
            }
            Source::Motion { motion, entities } => {
                vec![("motion", motion.name().to_owned()), ("entities", entities.to_string())]
            }
        };
        let senders = match self.senders {
            Senders::One => "one for all entities",
            Senders::Each => "one for each entity",
        };
        let clock = match placing.rule {
            ClockRule::Global => "global",
            ClockRule::Local => "local",
            ClockRule::OneWay => "one-way",
        };
        if relays {
            list.push(("vectors_only", "true".into()));
        }
        if let Some(uplink) = &self.uplink {
            list.push(("uplink", uplink.to_string()));
        }
        let paths: Vec<String> = self.paths.iter().map(Conditions::to_string).collect();
        list.extend([
            ("senders", senders.to_owned()),
            ("receivers", paths.join("; ")),
            ("policies", self.policies.join(",")),
            ("budget", budget_text(self.budget)),
            ("trim", self.trim.to_string()),
            ("vector", vector.name().to_owned()),
            ("threshold_m", threshold.tolerance.value().to_string()),
            ("angle_rad", threshold.angle.to_string()),
            ("heartbeat_s", threshold.time.as_secs_f64().to_string()),
            ("clock", clock.to_owned()),
            ("lag_ms", placing.lag.as_millis_f64().to_string()),
            ("extrapolation_s", placing.max_age.as_secs_f64().to_string()),
            ("seeds", self.seeds.to_string()),
            ("seed", self.seed.to_string()),
        ]);
        list.extend(self.seconds.map(|seconds| ("seconds", seconds.to_string())));
        list.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// A budget with as many digits as anybody wants to read.
pub(crate) fn budget_text(budget: Budget) -> String {
    let rounded = |x: f64| (x * 1e4).round() / 1e4;
    budget.map(rounded).to_string()
}

/// Paths with these one-way delays in milliseconds, all with jitter of so many milliseconds either way and this share of
/// packets lost.
pub fn paths(delays_ms: &[f64], jitter_ms: f64, loss: f64) -> Vec<Conditions> {
    let millis = |ms: f64| Duration::from_secs_f64(ms / 1e3);
    let path = |ms: &f64| {
        let mut path = Conditions::delay(millis(*ms));
        if jitter_ms != 0.0 {
            path = path.with_jitter(Jitter::Uniform { plus_minus: millis(jitter_ms) });
        }
        if loss == 0.0 { path } else { path.with_loss(Loss::Independent(loss)) }
    };
    delays_ms.iter().map(path).collect()
}
