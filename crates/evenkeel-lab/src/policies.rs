//! Policies by name: the heart's, and one's own.

use anyhow::{Result, ensure};
use evenkeel::policy::{Budget, Policy, by_name};

/// A policy of one's own, to be compared with the others in every table.
#[derive(Clone, Copy, Debug)]
pub struct Own {
    /// What tables call it.
    pub name: &'static str,
    /// Makes it, with a budget and a seed if it has use for them.
    pub make: fn(Budget, u64) -> Box<dyn Policy>,
}

impl PartialEq for Own {
    /// A name stands for one policy.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// The policy with this name, with a budget and a seed if it has use for them.
pub fn make_policy(name: &str, own: &[Own], budget: Budget, seed: u64) -> Result<Box<dyn Policy>> {
    match own.iter().find(|own| own.name == name) {
        Some(own) => Ok((own.make)(budget, seed)),
        None => Ok(by_name(name, budget, seed)?),
    }
}

/// Whether a policy spends as much as its budget says, and not what its name says.
pub fn takes_budget(name: &str, own: &[Own]) -> bool {
    let families = ["lottery", "credits", "tolerance", "accumulator", "tang-zhou", "even"];
    own.iter().any(|own| own.name == name) || families.iter().any(|family| name.starts_with(family))
}

/// Whether policies of one's own have names that nobody else has.
pub fn check_own(own: &[Own]) -> Result<()> {
    for (i, policy) in own.iter().enumerate() {
        let taken = by_name(policy.name, Budget::Unlimited, 0).is_ok() || own[..i].contains(policy);
        ensure!(!taken, "there is already a policy `{}`: give yours another name", policy.name);
    }
    Ok(())
}
