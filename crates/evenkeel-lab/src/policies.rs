//! Policies by name.

use anyhow::Result;
use evenkeel::policy::{Budget, Policy, by_name};

/// The policy with this name, with a budget and a seed if it has use for them.
pub fn make_policy(name: &str, budget: Budget, seed: u64) -> Result<Box<dyn Policy>> {
    Ok(by_name(name, budget, seed)?)
}

/// Whether a policy spends as much as its budget says, and not what its name says.
pub fn takes_budget(name: &str) -> bool {
    ["lottery", "credits", "tolerance", "even"].iter().any(|family| name.starts_with(family))
}
