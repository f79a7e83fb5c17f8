//! Budgets that are trimmed until a policy sends as many vectors, or bytes, as it may: only equal counts can be compared.

use anyhow::Result;
use evenkeel::Budget;

/// How far the count may be off.
const CLOSE_ENOUGH: f64 = 0.01;
/// Runs at most.
const MOST_RUNS: u32 = 9;

/// Runs a policy with its budget trimmed until it sends `target` vectors or bytes within a percent. Answers what the best run gave, with
/// which budget, and how many runs it took. A policy whose count does not follow its budget is left alone.
pub(super) fn trimmed<T>(
    budget: Budget,
    target: f64,
    run: impl Fn(Budget) -> Result<T>,
    count: impl Fn(&T) -> f64,
) -> Result<(T, Budget, u32)> {
    let off = |outcome: &T| count(outcome) / target.max(1.0) - 1.0;
    let first = run(budget)?;
    let mut tried = vec![(1.0, off(&first))];
    let mut best = (first, budget, tried[0].1);
    while best.2.abs() > CLOSE_ENOUGH && (tried.len() as u32) < MOST_RUNS {
        let again = tried.iter().any(|(scale, _)| *scale == next(&tried));
        // What answers by chance may be asked again nearby.
        let nudge = if again { 1.0 + 0.002 * tried.len() as f64 } else { 1.0 };
        let scale = next(&tried) * nudge;
        let next_budget = scaled(budget, scale);
        let outcome = run(next_budget)?;
        let now = off(&outcome);
        let follows = tried.iter().all(|(_, before)| *before != now) && next_budget != best.1;
        tried.push((scale, now));
        if now.abs() < best.2.abs() {
            best = (outcome, next_budget, now);
        }
        if !follows {
            break;
        }
    }
    Ok((best.0, best.1, tried.len() as u32))
}

/// The next scale to try: on the line between the nearest that sent too little and the nearest that sent too much; as long as
/// one of them is missing, as if counts were proportional to budgets.
fn next(tried: &[(f64, f64)]) -> f64 {
    let by_off = |a: &&(f64, f64), b: &&(f64, f64)| a.1.abs().total_cmp(&b.1.abs());
    let under = tried.iter().filter(|(_, off)| *off < 0.0).min_by(by_off);
    let over = tried.iter().filter(|(_, off)| *off >= 0.0).min_by(by_off);
    match (under, over) {
        // Chance can turn the order around; then halfway is as good as anything.
        (Some(under), Some(over)) if under.0 >= over.0 => 0.5 * (under.0 + over.0),
        (Some(under), Some(over)) => under.0 + (over.0 - under.0) * -under.1 / (over.1 - under.1),
        (Some(only), None) | (None, Some(only)) => only.0 / (1.0 + only.1).clamp(0.05, 20.0),
        (None, None) => 1.0,
    }
}

fn scaled(budget: Budget, scale: f64) -> Budget {
    let most = if budget.rate().is_some() { f64::INFINITY } else { 1.0 };
    budget.map(|number| (number * scale).clamp(1e-6, most))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sends(of: impl Fn(f64) -> f64) -> (f64, u32) {
        let share = |budget: Budget| budget.share_of_base(1.0);
        let run = |budget: Budget| Ok(1000.0 * of(share(budget)));
        let (count, _, runs) = trimmed(Budget::of_base(1, 3), 1000.0 / 3.0, run, |count| *count).unwrap();
        (count, runs)
    }

    #[test]
    fn the_count_comes_within_a_percent_in_a_few_runs() {
        for (count, runs) in [sends(|b| b), sends(|b| 0.2 + 0.5 * b), sends(|b| 0.7 * b), sends(|b| 1.4 * b.powf(1.7))]
        {
            assert!((count / (1000.0 / 3.0) - 1.0).abs() <= 0.01 && runs <= 6, "{count} after {runs}");
        }
    }

    #[test]
    fn what_does_not_follow_its_budget_is_left_alone() {
        let (count, runs) = sends(|_| 0.6);
        assert_eq!((count, runs), (600.0, 2));
    }
}
