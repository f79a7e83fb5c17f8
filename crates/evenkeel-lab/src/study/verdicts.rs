//! How often is a hit decided wrongly, by how long movement and verdicts wait?

use super::{Brief, Entry, Study, Watch};
use anyhow::{Result, bail};

pub(super) const ENTRY: Entry = Entry {
    name: "verdicts",
    question: "How often is a hit decided wrongly, by how long movement and verdicts wait?",
    reproduces: "managing latency and fairness: different parameters for different actions",
    needs: &[],
    run,
};

fn run(_brief: &Brief, _watch: &Watch<'_>) -> Result<Study> {
    bail!("not there yet")
}
