//! The best that a server could do that knew the future.

use super::cell::{GAMES, MAX_GAP, Network, Point, Total};
use super::seconds;
use crate::bench::trace;
use crate::clairvoyant::{Choice, Clairvoyant};
use crate::study::Brief;
use crate::workload::trace::{Cuts, Trace};
use crate::world::{Fleet, Rules, statistics};
use anyhow::Result;
use evenkeel::Duration;

/// The smallest mean that there could be.
pub(super) const SMALLEST_MEAN: &str = "clairvoyant, smallest mean";
/// The smallest error that all could have alike.
pub(super) const SMALLEST_EQUAL: &str = "clairvoyant, all alike";

/// Adds what a clairvoyant could do with as many vectors as `even` sent, where there is one sender. It hands out vectors
/// over all players together, so it is judged, and the others beside it, by errors added up over players.
pub(super) fn add(points: &mut [Point], brief: &Brief) -> Result<()> {
    for game in GAMES {
        let fleet = fleet(game, brief)?;
        for network in Network::ALL {
            let delays: Vec<Duration> =
                network.delays_ms().iter().map(|ms| Duration::from_secs_f64(ms / 1e3)).collect();
            let clairvoyant = Clairvoyant::new(&fleet, &delays, Rules::default().placing.max_age);
            for point in points.iter_mut().filter(|point| (point.game, point.network) == (game, network)) {
                let Some(vectors) = point.totals.iter().find(|total| total.who == "even").map(|total| total.vectors)
                else {
                    continue;
                };
                point.totals.push(total(SMALLEST_MEAN, &clairvoyant.smallest_mean(vectors)));
                point.totals.push(total(SMALLEST_EQUAL, &clairvoyant.smallest_equal(vectors)));
            }
        }
    }
    Ok(())
}

/// All players of a game as one server's.
fn fleet(game: &str, brief: &Brief) -> Result<Fleet> {
    let trace = Trace::read(&trace(&brief.data, game)?, Cuts { max_gap: MAX_GAP, ..Cuts::default() })?;
    Fleet::new("all".into(), trace.truth(game, seconds(brief), false)?, &Rules::default())
}

fn total(who: &str, choices: &[Choice]) -> Total {
    let (mean, std, max) = statistics(choices.iter().map(|choice| choice.error));
    let vectors = choices.iter().map(|choice| choice.vectors).sum();
    Total { who: who.into(), vectors, figures: [mean, std, max] }
}
