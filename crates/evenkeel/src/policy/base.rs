//! `base` and `base/k`: what games do today, and the yardstick of every comparison.

use super::{Decision, Policy, Trigger};
use crate::ledger::{EntityIndex, Ledger};
use crate::trigger::Cause;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::num::NonZeroU32;

/// The base case (paper, section 4.7): every vector to everybody at once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Base;

impl Policy for Base {
    fn name(&self) -> String {
        "base".into()
    }

    fn decide(&mut self, _ledger: &Ledger, _trigger: &Trigger, decisions: &mut [Decision]) {
        decisions.fill(Decision::Now);
    }

    fn reads_error(&self) -> bool {
        false
    }
}

/// The 1/k base case (paper, section 5.3): every k-th vector of an entity to everybody, the others to nobody. The error is
/// still measured against all of them.
#[derive(Clone, Debug)]
pub struct EveryKth {
    k: NonZeroU32,
    /// Triggers of each entity since its last sent vector.
    skipped: Vec<u32>,
}

impl EveryKth {
    /// Sends every k-th vector.
    pub fn new(k: NonZeroU32) -> Self {
        Self { k, skipped: Vec::new() }
    }
}

impl Policy for EveryKth {
    fn name(&self) -> String {
        format!("base/{}", self.k)
    }

    fn decide(&mut self, _ledger: &Ledger, trigger: &Trigger, decisions: &mut [Decision]) {
        let index = trigger.entity.0;
        if self.skipped.len() <= index {
            self.skipped.resize(index + 1, 0);
        }
        let skipped = &mut self.skipped[index];
        if trigger.cause == Cause::First || *skipped + 1 >= self.k.get() {
            *skipped = 0;
            decisions.fill(Decision::Now);
        } else {
            *skipped += 1;
        }
    }

    fn reads_error(&self) -> bool {
        false
    }

    fn entity_left(&mut self, entity: EntityIndex) {
        if let Some(skipped) = self.skipped.get_mut(entity.0) {
            *skipped = 0;
        }
    }
}
