//! Who decides, by name.

use anyhow::{Context, Result, ensure};
use evenkeel::Budget;
use evenkeel::policy::by_name;
use evenkeel_bzflag::Decider;

/// Each decider keeps books of its own on every tank and client.
const MOST: usize = 16;

/// What policies may spend.
pub(super) fn budget(text: &str) -> Result<Budget> {
    text.parse().with_context(|| format!("--budget: `{text}` is no budget"))
}

/// `today`, what the game does by itself, or a policy with the accuracy model.
pub(super) fn decider(name: &str, budget: Budget) -> Result<Decider> {
    let decider = match name.trim() {
        "today" => Decider::today(),
        "base" => Decider::with("base", Budget::Unlimited),
        policy => Decider::with(policy, budget),
    };
    by_name(&decider.policy, decider.budget, 0).map_err(|error| match error.unkept {
        Some(_) => anyhow::anyhow!("{error}"),
        None => anyhow::anyhow!("{error}, and `today`"),
    })?;
    Ok(decider)
}

/// The one that is live, then the others, each once.
pub(super) fn in_order(live: Decider, others: Vec<Decider>) -> Result<Vec<Decider>> {
    let mut all = vec![live];
    for decider in others {
        if !all.contains(&decider) {
            all.push(decider);
        }
    }
    ensure!(all.len() <= MOST, "{} deciders: at most {MOST} can be compared at once", all.len());
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_deciders_and_each_comes_once() {
        let third = budget("1/3").unwrap();
        let of = |name: &str| decider(name, third).unwrap();
        assert_eq!(of("today"), Decider::today());
        assert_eq!(of(" even "), Decider::with("even", third));
        let all = in_order(of("base"), ["today", "base", "even", "today"].map(of).to_vec()).unwrap();
        assert_eq!(all, ["base", "today", "even"].map(of));
        let unknown = decider("evn", third).unwrap_err().to_string();
        assert!(unknown.contains("did you mean `even`") && unknown.ends_with("`today`"), "{unknown}");
        assert!(in_order(of("today"), (2..20).map(|k| of(&format!("base/{k}"))).collect()).is_err());
    }
}
