//! How much less do two sites differ if what one does is shown a little later everywhere?

use super::{Brief, Entry, Study, Watch};
use anyhow::{Result, bail};

pub(super) const ENTRY: Entry = Entry {
    name: "local-lag",
    question: "How much less do two sites differ if what one does is shown a little later everywhere?",
    reproduces: "globally synchronised dead reckoning with local lag, figures 3 to 8 and all claims of the paper",
    needs: &[],
    run,
};

fn run(_brief: &Brief, _watch: &Watch<'_>) -> Result<Study> {
    bail!("not there yet")
}
