//! How soon does one see what one does, and how often is it taken back?

use super::{Brief, Entry, Study, Watch};
use anyhow::{Result, bail};

pub(super) const ENTRY: Entry = Entry {
    name: "prediction",
    question: "How soon does one see what one does, and how often is it taken back?",
    reproduces: "managing latency and fairness: client-side prediction and revocation",
    needs: &[],
    run,
};

fn run(_brief: &Brief, _watch: &Watch<'_>) -> Result<Study> {
    bail!("not there yet")
}
