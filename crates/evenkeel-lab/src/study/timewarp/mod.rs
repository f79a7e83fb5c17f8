//! What do late operations cost when they are executed after all?

mod account;
mod copies;
mod sites;

pub(super) use account::Account;
pub(super) use sites::{Terms, Truth};

use super::{Brief, Entry, Study, Watch};
use anyhow::{Result, bail};

pub(super) const ENTRY: Entry = Entry {
    name: "timewarp",
    question: "What do late operations cost when they are executed after all?",
    reproduces: "managing latency and fairness: roll back; local lag against the number and depth of roll backs",
    needs: &[],
    run,
};

fn run(_brief: &Brief, _watch: &Watch<'_>) -> Result<Study> {
    bail!("not there yet")
}
