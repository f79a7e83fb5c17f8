//! What is asked of a problem.

use anyhow::{Context, Result, bail, ensure};
use evenkeel_lab::report::sites::{Row, objective_name};
use evenkeel_sites::{Lag, Objective, Problem, Request, Rule, SolveError, Strategy, solve};
use std::time::Instant;

#[derive(Clone, Copy, clap::ValueEnum)]
enum RuleName {
    PerServer,
    Common,
}

#[derive(clap::Args)]
pub(super) struct Question {
    /// What shall be small: critical (the slowest player's response), mean, p95 (or any percentile), mean+std, half (the mean
    /// of mean and slowest), or, within --critical-ms, servers (how many) or cost.
    #[arg(long, value_name = "WHAT", default_value = "critical", value_parser = objective, help_heading = "What is asked")]
    pub(super) objective: Objective,
    /// Whether every server waits as long as it must, or all as long as the slowest.
    #[arg(long, value_name = "RULE", default_value = "per-server", help_heading = "What is asked")]
    rule: RuleName,
    /// Which part of the full lag servers wait: 1 is never inconsistent.
    #[arg(long, value_name = "PART", default_value_t = 1.0, help_heading = "What is asked")]
    share: f64,
    /// So many servers at most.
    #[arg(long, value_name = "K", help_heading = "What is asked")]
    pub(super) max_servers: Option<usize>,
    /// Nobody's response may take longer, in milliseconds.
    #[arg(long, value_name = "MS", help_heading = "What is asked")]
    pub(super) critical_ms: Option<f64>,
    /// How many milliseconds of the objective a server must gain for each unit that it costs.
    #[arg(long, value_name = "MS", default_value_t = 0.0, help_heading = "What is asked")]
    price: f64,
}

/// An objective by its name.
fn objective(name: &str) -> Result<Objective, String> {
    let percentile = || {
        let percent: f64 = name.strip_prefix('p')?.parse().ok()?;
        (percent > 0.0 && percent <= 100.0).then_some(Objective::Percentile(percent / 100.0))
    };
    Ok(match name {
        "critical" => Objective::Critical,
        "mean" => Objective::Mean,
        "mean+std" => Objective::MeanPlusStd,
        "half" => Objective::HalfMeanHalfMax,
        "servers" => Objective::Servers,
        "cost" => Objective::Cost,
        _ => percentile().ok_or("choose critical, mean, p95 (or any percentile), mean+std, half, servers or cost")?,
    })
}

impl Question {
    /// As the solver wants it.
    pub(super) fn request(&self, seed: u64) -> Result<Request> {
        let rule = match self.rule {
            RuleName::PerServer => Rule::PerServer,
            RuleName::Common => Rule::Common,
        };
        let lag = Lag::new(rule, self.share).context("--share")?;
        ensure!(self.max_servers != Some(0), "--max-servers 0: there must be at least one server");
        ensure!(self.price >= 0.0 && self.price.is_finite(), "--price {}: it cannot be", self.price);
        if let Some(limit) = self.critical_ms {
            ensure!(limit > 0.0 && limit.is_finite(), "--critical-ms {limit}: it must be above 0");
        }
        let (objective, price) = (self.objective, self.price);
        let limits = (self.max_servers, self.critical_ms);
        Ok(Request {
            lag,
            objective,
            max_servers: limits.0,
            critical_limit: limits.1,
            price,
            seed,
            ..Request::default()
        })
    }

    /// Fewest servers want something that they must hold to.
    pub(super) fn check(&self, problem: &Problem) -> Result<()> {
        let about_servers = matches!(self.objective, Objective::Servers | Objective::Cost);
        let limited = self.critical_ms.is_some() || problem.sites().iter().any(|site| site.capacity.is_some());
        if about_servers && !limited {
            bail!("--objective {} needs --critical-ms: within which time?", objective_name(self.objective));
        }
        Ok(())
    }

    /// What it says, by name.
    pub(super) fn settings(&self) -> Vec<(String, String)> {
        let rule = match self.rule {
            RuleName::PerServer => "per-server",
            RuleName::Common => "common",
        };
        let mut all = vec![("objective", objective_name(self.objective)), ("rule", rule.into())];
        all.push(("share", self.share.to_string()));
        all.extend(self.max_servers.map(|most| ("max-servers", most.to_string())));
        all.extend(self.critical_ms.map(|limit| ("critical-ms", limit.to_string())));
        all.push(("price", self.price.to_string()));
        all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// What came of several strategies: rows, and those without a plan.
pub(super) type Rows = (Vec<Row>, Vec<(Strategy, String)>);

/// Asks several strategies. The best must have a plan; others are left out if they have none.
pub(super) fn ask(problem: &Problem, request: &Request, strategies: &[Strategy], done: impl Fn()) -> Result<Rows> {
    let (mut rows, mut left_out) = (Vec::new(), Vec::new());
    for strategy in strategies {
        let start = Instant::now();
        match solve(problem, &Request { strategy: *strategy, ..*request }) {
            Ok(answer) => rows.push(Row { answer, seconds: start.elapsed().as_secs_f64() }),
            Err(error) if *strategy == Strategy::Best => return Err(infeasible(&error)),
            Err(error) => left_out.push((*strategy, error.to_string())),
        }
        done();
    }
    // Without limits every bound is one for all plans: the highest counts.
    if request.max_servers.is_none() && request.critical_limit.is_none() {
        let bound = rows.iter().map(|row| row.answer.bound).fold(0.0, f64::max);
        rows.iter_mut().for_each(|row| bounded(&mut row.answer, bound));
    }
    Ok((rows, left_out))
}

/// Gives an answer another bound.
pub(super) fn bounded(answer: &mut evenkeel_sites::Answer, bound: f64) {
    answer.bound = bound.min(answer.value);
    answer.gap = if answer.value > 0.0 { (answer.value - answer.bound) / answer.value } else { 0.0 };
    answer.proven = answer.bound >= answer.value;
}

/// Which flag is in the way.
fn infeasible(error: &SolveError) -> anyhow::Error {
    let flag = match error {
        SolveError::TooFewServers { .. } => "--max-servers: ",
        SolveError::Limit { .. } => "--critical-ms: ",
        SolveError::Capacity { .. } => "--capacity: ",
        SolveError::Apart { .. } => "--require: ",
        _ => "",
    };
    anyhow::anyhow!("{flag}{error}")
}
