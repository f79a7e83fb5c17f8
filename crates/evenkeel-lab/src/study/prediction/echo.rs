//! The echo: with a large lag and no prediction, one may be shown where one is going to be.

use super::gauge::mean;
use crate::study::measure::millis;
use anyhow::Result;
use evenkeel::lag::LocalSite;
use evenkeel::{GlobalTime, HostId, Lag, Simulation, Tick};
use evenkeel_games::{Arena, Game, Recording};

pub(super) const ECHO_LAGS_MS: [f64; 5] = [50.0, 100.0, 200.0, 300.0, 500.0];

/// What the echo of a lag hides.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Echo {
    /// The mean distance of a tank's echo from what is shown, in m.
    pub(super) mean: f64,
    /// Below this it is for nineteen twentieths of the time.
    pub(super) most: f64,
    /// How many of a player's operations wait to be shown, on average.
    pub(super) waiting: f64,
}

/// Plays a recording at one site with a lag; every player is a player whose echo is looked at.
pub(super) fn echo(recording: &Recording<Arena>, lag_ms: f64) -> Result<Echo> {
    let game = recording.start()?;
    let (step, players) = (game.step_length(), game.players());
    let mut site = LocalSite::new(game, Lag::constant(millis(lag_ms))?, GlobalTime::ZERO);
    let mut issued = recording.operations().iter().peekable();
    let (mut distances, mut waiting) = (Vec::new(), Vec::new());
    for tick in (1..=i64::from(recording.setup().ticks)).map(Tick) {
        let now = tick.time(step);
        while let Some(operation) = issued.next_if(|operation| operation.at <= now) {
            site.issue(operation.issuer, operation.act, operation.at)?;
        }
        site.advance(now)?;
        waiting.push(site.waiting().len() as f64 / f64::from(players));
        let tanks = |game: &Arena, player| game.tank(HostId(player)).filter(|tank| tank.is_alive()).copied();
        let apart = |player| {
            let (late, real) = (tanks(site.late(), player)?, tanks(site.real(), player)?);
            // Between two lives there is no way to speak of.
            (late.deaths == real.deaths).then(|| late.position.distance(real.position))
        };
        distances.extend((0..players).filter_map(apart));
    }
    distances.sort_by(f64::total_cmp);
    let most = distances.get(distances.len() * 19 / 20).copied().unwrap_or(0.0);
    Ok(Echo { mean: mean(distances.into_iter()), most, waiting: mean(waiting.into_iter()) })
}
