//! How far receivers are off under each clock rule: the thesis's accuracy experiments (2.3, figure 2.2).

mod claims;
mod drive;
mod exhibits;
mod findings;
mod stop;
mod take;

use super::measure::{median, over, seeds_with, settings_of, text};
use super::{Brief, Entry, Study, Watch};
use anyhow::Result;
pub(super) use drive::Drive;
use stop::Stops;
use take::Take;

/// One drive of each kind.
type Takes = Vec<Take>;

/// Everything that was measured with one seed.
struct Seed {
    /// As in [`Drive::ALL`].
    takes: Takes,
    stops: Stops,
}

pub(super) const ENTRY: Entry = Entry {
    name: "accuracy",
    question: "How far off is what receivers show, counted from a vector's generation or from its arrival?",
    reproduces: "thesis 2.3, fig. 2.2; thesis 2.2, fig. 2.1 (before and after export error)",
    needs: &[],
    run,
};

/// Runs it.
fn run(brief: &Brief, watch: &Watch<'_>) -> Result<Study> {
    let size = brief.size;
    let first = size.seed;
    let keys = seeds_with(size, &Drive::ALL.map(|(_, drive)| drive));
    let takes = over(&keys, watch, |(seed, drive)| Take::new(*drive, size.seconds, *seed, *seed == first))?;
    let all_stops = over(&size.each_seed().collect::<Vec<_>>(), watch, |seed| Stops::new(size.seconds, *seed))?;
    let mut takes = takes.into_iter();
    let seeds: Vec<Seed> = all_stops
        .into_iter()
        .map(|stops| Seed { takes: takes.by_ref().take(Drive::ALL.len()).collect(), stops })
        .collect();
    // Each drive under three clock rules and with three jitters, and each seed's stops under two rules.
    let drives = 3.0 * (size.seconds + size.seconds.min(take::LONGEST_WITH_JITTER)) * keys.len() as f64;
    let simulated_seconds = drives + size.seconds.min(stop::SECONDS) * 2.0 * size.seeds as f64;
    Ok(Study {
        name: "accuracy",
        settings: settings_of(size, &[("delays_ms", "100, 300, 800".into()), ("threshold_m", text(take::tolerance()))]),
        summary: summary(&seeds),
        exhibits: exhibits::exhibits(&seeds),
        findings: findings::findings(&seeds),
        rows: Vec::new(),
        simulated_seconds,
    })
}

fn summary(seeds: &[Seed]) -> String {
    let mean =
        |drive: usize, rule: usize, delay: usize| text(median(seeds, |seed| seed.takes[drive].cells[rule][delay].mean));
    let past = text(median(seeds, |seed| seed.stops.global[2].past.1));
    format!(
        "Global time brings the mean distance between where a randomly driven tank is and where it is placed from {} to {} m at \
         100 ms, from {} to {} m at 300 ms and from {} to {} m at 800 ms; driven straight on, from {} to {} m at 300 ms. Nothing \
         is left of the export error once a vector has been received. The price is a stop: the image runs past it, by up to \
         {past} m at 800 ms.",
        mean(2, 1, 0),
        mean(2, 0, 0),
        mean(2, 1, 1),
        mean(2, 0, 1),
        mean(2, 1, 2),
        mean(2, 0, 2),
        mean(0, 1, 1),
        mean(0, 0, 1),
    )
}
