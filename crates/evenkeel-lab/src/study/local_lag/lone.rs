//! A single operation, as in the paper's figures 1 and 2: how long do the sites differ?

use super::couple::{HAIR, Points};
use super::game::Game;
use super::setting::Setting;
use super::sites::{Glimpse, play};
use anyhow::{Context, Result};
use evenkeel::{Duration, Tick, Vec3};

/// What a single operation comes to.
#[derive(Clone, Debug)]
pub(super) struct Lone {
    /// From the operation (t0) to the update that tells of it (t1).
    pub(super) filtered: Duration,
    /// How long the sites differed.
    pub(super) period: Duration,
    /// How long they would according to the paper: t2 - t0 - n, and t1 - t0 where the lag covers the delay.
    pub(super) foretold: Duration,
    /// How long a step is.
    pub(super) step: Duration,
    /// How far the ship has come, over the seconds on the clock since the operation: at the local site, at the remote one.
    pub(super) ways: [Points; 2],
    /// How long the run lasted.
    pub(super) lasted: Duration,
}

impl Lone {
    /// Plays it back under a setting.
    pub(super) fn new(seed: u64, setting: &Setting) -> Result<Self> {
        let game = Game::lone_operation(seed)?;
        let run = play(&game, setting)?;
        let operation = game.recording.operations().first().context("there is an operation")?;
        let executed = Tick::at_or_after(operation.at, game.step()).time(game.step());
        let sent = run.sent[0].iter().find(|at| **at >= executed).context("an update tells of the operation")?;
        let filtered = sent.since(executed);
        let differ = run.ships[0].iter().filter(|glimpse| glimpse.off() > HAIR).count();
        let start = run.ships[0].first().context("the ship is shown")?.local;
        let way = |place: fn(&Glimpse) -> Vec3| {
            let clock = |glimpse: &Glimpse| (glimpse.shown + setting.lag()).since(executed).as_secs_f64();
            run.ships[0].iter().map(|glimpse| (clock(glimpse), place(glimpse).distance(start))).collect()
        };
        Ok(Self {
            filtered,
            period: game.step() * differ as i64,
            foretold: filtered + (setting.delay() - setting.lag()).max(Duration::ZERO),
            step: game.step(),
            ways: [way(|glimpse| glimpse.local), way(|glimpse| glimpse.remote)],
            lasted: run.lasted,
        })
    }

    /// By how many ticks the paper is off.
    pub(super) fn ticks_off(&self) -> f64 {
        (self.period - self.foretold).as_secs_f64().abs() / self.step.as_secs_f64()
    }
}
