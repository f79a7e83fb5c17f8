//! The best that anybody could do who knew the future, in the cells with constant delays.

use super::grid::Point;
use crate::clairvoyant::{Choice, Clairvoyant};
use crate::study::cells::Take;
use crate::world::{Fleet, Rules};
use anyhow::Result;
use evenkeel::Duration;
use rayon::prelude::*;

/// The smallest mean that there could be.
pub(super) const SMALLEST_MEAN: &str = "clairvoyant, smallest mean";
/// The smallest error that all could have alike.
pub(super) const SMALLEST_EQUAL: &str = "clairvoyant, all alike";
/// More receivers than this take too long.
const MOST_RECEIVERS: usize = 8;

/// Adds what a clairvoyant could do with as many vectors as `even` sent, seed by seed, where delays are constant.
pub(super) fn add(point: &mut Point) -> Result<()> {
    if !point.network.is_constant() || point.cell.delays_ms.len() > MOST_RECEIVERS {
        return Ok(());
    }
    let seeds: Vec<u64> = point.size.each_seed().collect();
    let sent = point.cell.values("even", Take::sent);
    let delays: Vec<Duration> = point.cell.delays_ms.iter().map(|ms| Duration::from_secs_f64(ms / 1e3)).collect();
    let one = |(seed, vectors): (u64, f64)| -> Result<[Take; 2]> {
        let (rules, seconds) = (Rules::default(), point.size.seconds);
        let fleet = Fleet::new("all".into(), point.motion.entities(1, seconds, seed), &rules)?;
        let clairvoyant = Clairvoyant::new(&fleet, &delays, rules.placing.max_age);
        let take = |choices: Vec<Choice>| take(&choices, &delays, seconds);
        Ok([take(clairvoyant.smallest_mean(vectors)), take(clairvoyant.smallest_equal(vectors))])
    };
    let both: Vec<[Take; 2]> = seeds.into_par_iter().zip(sent).map(one).collect::<Result<_>>()?;
    let (means, equals) = both.into_iter().map(|[mean, equal]| (mean, equal)).unzip();
    point.cell.policies.push((SMALLEST_MEAN.into(), means));
    point.cell.policies.push((SMALLEST_EQUAL.into(), equals));
    Ok(())
}

/// A choice of vectors as if it had been run. What it makes of the real path is not known.
fn take(choices: &[Choice], delays: &[Duration], seconds: f64) -> Take {
    let shown = delays.iter().map(|delay| seconds - delay.as_secs_f64());
    Take {
        errors: choices.iter().zip(shown).map(|(choice, shown)| choice.error * shown).collect(),
        distances: choices.iter().map(|choice| choice.error).collect(),
        real: vec![f64::NAN; choices.len()],
        vectors: choices.iter().map(|choice| choice.vectors).collect(),
        course: Vec::new(),
    }
}
