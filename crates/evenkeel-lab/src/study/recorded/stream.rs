//! A game as its own dead reckoning sent it: a stream of vectors, of which nobody knows the true paths.

use super::cell::{Network, POLICIES, common, export};
use super::seconds;
use crate::bench::trace;
use crate::experiment::{Row, Settings, Source, run as run_experiment};
use crate::study::cells::{number, table};
use crate::study::{Brief, Exhibit, Watch};
use crate::world::Rules;
use anyhow::Result;

/// The game.
pub(super) const GAME: &str = "bzflag-default-a";
/// A life ends at a gap longer than this, in seconds: beyond three of the game's heartbeats.
const MAX_GAP: f64 = 3.0;
/// Its triggers are given: there are no thresholds to stretch.
const NOT_HERE: &str = "tolerance";

/// The table, and how many seconds that took to simulate.
pub(super) fn run(brief: &Brief, watch: &Watch<'_>) -> Result<(Exhibit, f64)> {
    let compared = POLICIES.into_iter().filter(|name| *name != NOT_HERE);
    let policies = ["base", "base/3"].into_iter().chain(compared).chain(brief.own.iter().map(|own| own.name));
    let settings = Settings {
        source: Source::Trace { path: trace(&brief.data, GAME)?, max_gap: MAX_GAP, force: false },
        policies: policies.map(str::to_owned).collect(),
        rules: Rules { relays: true, ..Rules::default() },
        seconds: seconds(brief),
        ..common(brief)
    };
    let (mut rows, mut simulated) = (Vec::new(), 0.0);
    for network in Network::ALL {
        let findings = run_experiment(&settings.clone().over(network.delays_ms(), 0.0, 0.0), watch)?;
        let third = findings.rows.iter().find(|row| row.policy == "base/3").map_or([f64::NAN; 3], export);
        rows.extend(findings.rows.iter().map(|row| cells(network, row, third)));
        simulated += findings.simulated_seconds;
    }
    let head = ["to", "policy", "vectors", "mean (m)", "std (m)", "max (m)", "mean / k", "std / k", "max / k"];
    let note = "What BZFlag's own trigger sent, each row passed on as a vector by one server at a third of the vectors to the \
                three far receivers and the eight near ones; errors judged per player, in metres and as multiples of those \
                of base/3. True paths are not known, so there is the export error only, and a larger tolerance has no \
                triggers to save.";
    Ok((table("The game's own vectors: default-a, server, 1/3", note, &head, rows), simulated))
}

fn cells(network: Network, row: &Row, third: [f64; 3]) -> Vec<String> {
    let figures = export(row);
    let mut cells = vec![network.short().to_owned(), row.policy.clone(), format!("{:.0}", row.vectors_sent)];
    cells.extend(figures.map(number));
    cells.extend([0, 1, 2].map(|which| format!("{:.3}", figures[which] / third[which])));
    cells
}
