//! What does lag do for accuracy and fairness, alone and together with scheduling?

use super::{Brief, Entry, Study, Watch};
use anyhow::{Result, bail};

pub(super) const ENTRY: Entry = Entry {
    name: "lag-fairness",
    question: "What does lag do for accuracy and fairness, alone and together with scheduling?",
    reproduces: "nothing: beyond the papers, which treat one or the other",
    needs: &[],
    run,
};

fn run(_brief: &Brief, _watch: &Watch<'_>) -> Result<Study> {
    bail!("not there yet")
}
