//! A track couple, the same ships as two sites show them, and what their inconsistency comes to.

use super::game::Game;
use super::setting::Setting;
use super::sites::{Glimpse, Run, play};
use anyhow::Result;
use evenkeel::{Duration, GlobalTime};

/// Nearer than this is the same place: an extrapolation over many steps and the steps one by one are rounded differently.
pub(super) const HAIR: f64 = 1e-6;
/// Nearer than this is the same place on a screen.
pub(super) const VISIBLE: f64 = 0.5;

/// Points of a curve.
pub(super) type Points = Vec<(f64, f64)>;

/// One track couple. Distances are in pixels, over all ships and ticks.
#[derive(Clone, Debug)]
pub(super) struct Couple {
    /// The mean inconsistency: formula 4, divided by the time.
    pub(super) mean: f64,
    pub(super) most: f64,
    /// What it exceeds in one tick of twenty.
    pub(super) p95: f64,
    /// The share of ticks with any.
    pub(super) inconsistent: f64,
    /// The share of ticks with one that can be seen.
    pub(super) visible: f64,
    /// The mean difference of headings, in degrees.
    pub(super) heading: f64,
    /// The part of the mean while no update is under way: D1, nothing has been sent yet.
    pub(super) filter_part: f64,
    /// The part of the mean while one is under way: D2.
    pub(super) delay_part: f64,
    /// How far the remote site is from the newest update at most, once it has arrived.
    pub(super) after_most: f64,
    /// When updates were sent, by ship, as far as the game is measured.
    pub(super) sent: Vec<Vec<GlobalTime>>,
    /// The largest possible number of updates: one for each ship at each tick.
    pub(super) ticks: f64,
    /// The share of updates whose successor is sent before they arrive.
    pub(super) overtaken: f64,
    /// The first ship's inconsistency over the game's time, in seconds.
    pub(super) track: Points,
    /// How long the run lasted.
    pub(super) lasted: Duration,
}

impl Couple {
    /// Plays a game back under a setting, and measures. The track is kept if asked for.
    pub(super) fn new(game: &Game, setting: &Setting, keep_track: bool) -> Result<Self> {
        let run = play(game, setting)?;
        let all = || run.ships.iter().flatten();
        let mean = |of: &dyn Fn(&Glimpse) -> f64| mean(all().map(of));
        let most = |of: &dyn Fn(&Glimpse) -> f64| all().map(of).fold(0.0, f64::max);
        let share = |beyond: f64| mean(&|glimpse| f64::from(glimpse.off() > beyond));
        let sent: Vec<Vec<GlobalTime>> = run.sent.iter().map(|sent| until(sent, game.end())).collect();
        Ok(Self {
            mean: mean(&Glimpse::off),
            most: most(&Glimpse::off),
            p95: quantile(all().map(Glimpse::off).collect(), 0.95),
            inconsistent: share(HAIR),
            visible: share(VISIBLE),
            heading: mean(&|glimpse| glimpse.turned.to_degrees()),
            filter_part: mean(&|glimpse| if glimpse.under_way { 0.0 } else { glimpse.off() }),
            delay_part: mean(&|glimpse| if glimpse.under_way { glimpse.off() } else { 0.0 }),
            after_most: most(&|glimpse| if glimpse.under_way { 0.0 } else { glimpse.off_update }),
            overtaken: overtaken(&sent, setting),
            ticks: (run.ships.len() as i64 * game.last.0) as f64,
            track: if keep_track { track(&run) } else { Points::new() },
            lasted: run.lasted,
            sent,
        })
    }

    /// How many updates were sent.
    pub(super) fn updates(&self) -> usize {
        self.sent.iter().map(Vec::len).sum()
    }
}

fn until(sent: &[GlobalTime], end: GlobalTime) -> Vec<GlobalTime> {
    sent.iter().copied().filter(|at| *at <= end).collect()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get((share * values.len() as f64) as usize).copied().unwrap_or(f64::NAN)
}

fn overtaken(sent: &[Vec<GlobalTime>], setting: &Setting) -> f64 {
    let pairs = || sent.iter().flat_map(|sent| sent.windows(2));
    mean(pairs().map(|pair| f64::from(pair[1].since(pair[0]) < setting.delay())))
}

fn track(run: &Run) -> Points {
    let first = run.ships.first().into_iter().flatten();
    first.map(|glimpse| (glimpse.shown.as_secs_f64(), glimpse.off())).collect()
}
