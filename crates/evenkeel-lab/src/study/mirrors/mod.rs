//! What do several servers that decide the same game disagree about, and what does agreement cost?

use super::{Brief, Entry, Study, Watch};
use anyhow::{Result, bail};

pub(super) const ENTRY: Entry = Entry {
    name: "mirrors",
    question: "What do several servers that decide the same game disagree about, and what does agreement cost?",
    reproduces: "managing latency and fairness, figure 1: conservative, partial and optimistic synchronisation",
    needs: &[],
    run,
};

fn run(_brief: &Brief, _watch: &Watch<'_>) -> Result<Study> {
    bail!("not there yet")
}
