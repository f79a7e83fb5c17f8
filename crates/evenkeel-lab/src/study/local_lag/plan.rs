//! What is played back: the settings of every seed's game, and those of the recorded duel.

use super::couple::Couple;
use super::game::Game;
use super::lone::Lone;
use super::setting::{GRID, LIMITS, Limit, METHODS, NO_FILTER, SMALL, SWEPT_DELAY_MS, Setting, TINY, evaluation};
use crate::study::measure::over;
use crate::study::{Size, Watch};
use anyhow::Result;
use std::collections::{HashMap, HashSet};

/// The delays without lag that the evaluation has.
pub(super) const DELAYS_MS: [i64; 4] = [100, 300, 500, 800];
/// A lag of one tick, much smaller than any delay.
pub(super) const LEAST_LAG_MS: i64 = 20;
/// The longest lag of the sweep.
const SWEPT_TO_MS: i64 = 600;
/// Lags and delays of which all pairs are tried.
pub(super) const PAIRED_LAGS_MS: [i64; 5] = [0, 100, 200, 300, 500];
pub(super) const PAIRED_DELAYS_MS: [i64; 9] = [0, 100, 200, 300, 400, 500, 600, 700, 800];

/// All track couples of one game, by setting.
pub(super) type Couples = HashMap<Setting, Couple>;

/// One seed: its game, and its single operations.
pub(super) struct Seed {
    pub(super) couples: Couples,
    pub(super) lone: HashMap<Setting, Lone>,
}

/// The evaluation, its parts, and dead reckoning without synchronised clocks.
fn of_every_game() -> Vec<Setting> {
    let mut all: Vec<Setting> = evaluation().flat_map(|setting| [0, 1].map(|method| setting.under(method))).collect();
    for limit in LIMITS {
        all.push(Setting::new(limit, 0, 0));
        all.push(Setting::new(limit, LEAST_LAG_MS, 800));
        all.extend(DELAYS_MS.map(|delay| Setting::new(limit, 0, delay).unsynchronised()));
    }
    all.push(Setting::new(NO_FILTER, 0, 0));
    all.extend(covered().map(|(lag, delay)| Setting::new(NO_FILTER, lag, delay)));
    distinct(all)
}

/// What is shown of the duel beyond that: sweeps, and what rounding costs.
fn of_the_duel() -> Vec<Setting> {
    let sweep = |limit: Limit| swept_lags().map(move |lag| Setting::new(limit, lag, SWEPT_DELAY_MS));
    let swept = swept_limits().into_iter().flat_map(sweep);
    let paired =
        PAIRED_LAGS_MS.into_iter().flat_map(|lag| PAIRED_DELAYS_MS.map(|delay| Setting::new(SMALL, lag, delay)));
    let rounded =
        evaluation().flat_map(|setting| (0..METHODS.len()).map(move |method| setting.under(method).rounded()));
    distinct(of_every_game().into_iter().chain(swept).chain(paired).chain(rounded).collect())
}

/// The combinations whose lag covers the delay.
pub(super) fn covered() -> impl Iterator<Item = (i64, i64)> + Clone {
    GRID.into_iter().filter(|(lag, delay)| lag >= delay)
}

/// The combinations whose lag does not.
pub(super) fn uncovered() -> impl Iterator<Item = (i64, i64)> + Clone {
    GRID.into_iter().filter(|(lag, delay)| lag < delay)
}

/// The lags of the sweep: whole ticks. With others the local site, which shows ticks only, would be part of a tick behind.
pub(super) fn swept_lags() -> impl Iterator<Item = i64> {
    (0..=SWEPT_TO_MS).step_by(LEAST_LAG_MS as usize)
}

/// The thresholds of the sweep over lags.
pub(super) fn swept_limits() -> [Limit; 3] {
    [TINY, LIMITS[0], LIMITS[1]]
}

/// Each once, in the order they first come.
fn distinct(settings: Vec<Setting>) -> Vec<Setting> {
    let mut seen = HashSet::new();
    settings.into_iter().filter(|setting| seen.insert(*setting)).collect()
}

/// All couples of the duel, with their tracks.
pub(super) fn play_duel(game: &Game, watch: &Watch<'_>) -> Result<Couples> {
    let settings = of_the_duel();
    let couples = over(&settings, watch, |setting| Couple::new(game, setting, true))?;
    Ok(settings.into_iter().zip(couples).collect())
}

/// All couples of every seed.
pub(super) fn play_seeds(size: Size, watch: &Watch<'_>) -> Result<Vec<Seed>> {
    let seeds: Vec<u64> = size.each_seed().collect();
    over(&seeds, watch, |seed| {
        let game = Game::seeded(*seed, size.seconds)?;
        let couple = |setting: Setting| Ok((setting, Couple::new(&game, &setting, false)?));
        let lone = |setting: Setting| Ok((setting, Lone::new(*seed, &setting)?));
        let evaluated = evaluation().flat_map(|setting| [0, 1].map(|method| setting.under(method))).collect();
        Ok(Seed {
            couples: of_every_game().into_iter().map(couple).collect::<Result<_>>()?,
            lone: distinct(evaluated).into_iter().map(lone).collect::<Result<_>>()?,
        })
    })
}
