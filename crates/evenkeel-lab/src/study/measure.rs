//! What several studies need: runs of the base case, one value per seed, numbers as text.

use super::{Observation, Size, Watch};
use crate::experiment::Progress;
use crate::world::{Film, Fleet, Outcome, Rules, Setting, film};
use anyhow::Result;
use evenkeel::policy::Base;
use evenkeel::{ClockRule, Duration, GlobalTime, Placing};
use evenkeel_link::Conditions;
use rayon::prelude::*;

/// A tank of BZFlag, in its units.
pub(super) const TANK_LENGTH: f64 = 6.0;
/// Its width.
pub(super) const TANK_WIDTH: f64 = 2.8;
/// The delays of the thesis's accuracy experiments (2.3).
pub(super) const ACCURACY_DELAYS_MS: [f64; 3] = [100.0, 300.0, 800.0];
/// The delays of both papers' fairness experiments.
pub(super) const FAIRNESS_DELAYS_MS: [f64; 3] = [800.0, 500.0, 200.0];
/// The uniform jitters of both, either way.
pub(super) const JITTERS_MS: [f64; 3] = [0.0, 100.0, 180.0];
/// The three clock rules, by name.
pub(super) const CLOCK_RULES: [(&str, ClockRule); 3] =
    [("global", ClockRule::Global), ("local", ClockRule::Local), ("one-way", ClockRule::OneWay)];

/// The default rules with this clock rule.
pub(super) fn rules(rule: ClockRule) -> Rules {
    Rules { placing: Placing { rule, ..Placing::default() }, ..Rules::default() }
}

/// The base case on a fleet, filmed.
pub(super) fn filmed(fleet: &Fleet, rules: Rules, paths: &[Conditions], seed: u64) -> Result<(Outcome, Film)> {
    film(base_case(fleet, rules, paths, seed))
}

/// The setting of the base case on a fleet.
pub(super) fn base_case<'a>(fleet: &'a Fleet, rules: Rules, paths: &'a [Conditions], seed: u64) -> Setting<'a> {
    Setting {
        fleet,
        rules,
        policy: Box::new(Base),
        paths,
        uplink: None,
        seed,
        origin: GlobalTime::ZERO,
        recorder: None,
    }
}

/// Answers for all keys, in their order, worked out in parallel.
pub(super) fn over<K, T>(keys: &[K], watch: &Watch<'_>, one: impl Fn(&K) -> Result<T> + Sync) -> Result<Vec<T>>
where
    K: Sync,
    T: Send,
{
    watch(Progress::Expect(keys.len() as u64));
    let done = |key: &K| {
        let answer = one(key);
        watch(Progress::Done);
        answer
    };
    keys.par_iter().map(done).collect()
}

/// All seeds of a size, each with each of some things: seed by seed.
pub(super) fn seeds_with<T: Copy>(size: Size, things: &[T]) -> Vec<(u64, T)> {
    size.each_seed().flat_map(|seed| things.iter().map(move |thing| (seed, *thing))).collect()
}

/// One value per seed under a condition.
pub(super) fn observe<T>(condition: impl Into<String>, seeds: &[T], of: impl Fn(&T) -> f64) -> Observation {
    Observation::new(condition, seeds.iter().map(of).collect())
}

/// The median over seeds.
pub(super) fn median<T>(seeds: &[T], of: impl Fn(&T) -> f64) -> f64 {
    observe("", seeds, of).median()
}

/// The smallest factor from one value to the next: above 1 if they grow.
pub(super) fn growth(values: &[f64]) -> f64 {
    values.windows(2).map(|pair| pair[1] / pair[0]).fold(f64::INFINITY, f64::min)
}

/// Milliseconds as a span of time.
pub(super) fn millis(ms: f64) -> Duration {
    Duration::from_secs_f64(ms / 1e3)
}

/// A number with about three digits that matter; a dash if there is none.
pub(super) fn text(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => "–".into(),
        0.0 => "0".into(),
        size if size < 0.000_5 => format!("{value:.0e}"),
        size if size < 1.0 => format!("{value:.3}"),
        size if size < 10.0 => format!("{value:.2}"),
        _ => format!("{value:.1}"),
    }
}

/// A share as text; a dash if it is a share of nothing.
pub(super) fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.1} %", 100.0 * share) } else { "–".into() }
}

/// Texts as the head or the row of a table.
pub(super) fn cells<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

/// What every study says about its size.
pub(super) fn settings_of(size: Size, more: &[(&str, String)]) -> Vec<(String, String)> {
    let size =
        [("seeds", size.seeds.to_string()), ("seed", size.seed.to_string()), ("seconds", size.seconds.to_string())];
    more.iter().cloned().chain(size).map(|(name, value)| (name.to_owned(), value)).collect()
}
