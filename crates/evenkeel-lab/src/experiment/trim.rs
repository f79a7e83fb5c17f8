//! Budgets that are trimmed until a policy sends as many vectors as it may: only equal counts can be compared.

use anyhow::Result;
use evenkeel::Budget;

/// How far the count may be off.
const CLOSE_ENOUGH: f64 = 0.01;
/// Runs at most.
const MOST_RUNS: u32 = 6;

/// Runs a policy with its budget trimmed by secant steps until it sends `target` vectors within a percent. Answers what the
/// best run gave, with which budget, and how many runs it took.
pub(super) fn trimmed<T>(
    budget: Budget,
    target: f64,
    run: impl Fn(Budget) -> Result<T>,
    count: impl Fn(&T) -> f64,
) -> Result<(T, Budget, u32)> {
    let off = |outcome: &T| count(outcome) / target.max(1.0) - 1.0;
    let first = run(budget)?;
    let (mut before, mut scale) = ((1.0, off(&first)), 1.0);
    let mut best = (first, budget, before.1);
    let mut runs = 1;
    while best.2.abs() > CLOSE_ENOUGH && runs < MOST_RUNS {
        // The first step takes the count as proportional to the budget.
        let next_scale = if runs == 1 { scale / (1.0 + before.1).max(0.05) } else { scale };
        let next_budget = scaled(budget, next_scale);
        if next_budget == best.1 {
            break;
        }
        let outcome = run(next_budget)?;
        runs += 1;
        let now = (next_scale, off(&outcome));
        if now.1.abs() < best.2.abs() {
            best = (outcome, next_budget, now.1);
        }
        let slope = (now.1 - before.1) / (now.0 - before.0);
        if !(slope.is_finite() && slope > 0.0) {
            // What the policy sends does not follow its budget.
            break;
        }
        scale = (now.0 - now.1 / slope).clamp(now.0 / 4.0, now.0 * 4.0);
        before = now;
    }
    Ok((best.0, best.1, runs))
}

fn scaled(budget: Budget, scale: f64) -> Budget {
    match budget {
        Budget::Unlimited => Budget::Unlimited,
        Budget::OfBase { share } => Budget::OfBase { share: (share * scale).clamp(1e-6, 1.0) },
        Budget::PerSecond(rate) => Budget::PerSecond((rate * scale).max(1e-6)),
    }
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
            assert!((count / (1000.0 / 3.0) - 1.0).abs() <= 0.01 && runs <= 5, "{count} after {runs}");
        }
    }

    #[test]
    fn what_does_not_follow_its_budget_is_left_alone() {
        let (count, runs) = sends(|_| 0.6);
        assert_eq!((count, runs), (600.0, 2));
    }
}
