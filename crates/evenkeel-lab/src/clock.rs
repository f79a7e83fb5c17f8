//! How good the clock is: named paths, random paths, steps, cost; beside it the rules games use today, on the same
//! packets.

mod rivals;
mod world;

use evenkeel_link::Conditions;
pub use rivals::{Ewma, Exchange, Lightyear, MinOfEight, Rival};

/// The paths of the table, by their names in [`Conditions::named`].
pub const PATHS: [&str; 7] = ["lan", "near", "mid", "far", "sat", "uniform", "wifi"];

/// What happens on a path besides its delays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile {
    /// Length of a run.
    pub seconds: f64,
    /// Errors count from here on.
    pub score_after: f64,
    /// Share of packets lost.
    pub loss: f64,
    /// Skew of the host's clock, to either side.
    pub drift_ppm: f64,
    /// How far the skew wanders from that in five minutes, as a standard deviation.
    pub wander_ppm: f64,
    /// Stamped datagrams a second.
    pub stamps_hz: f64,
    /// Whether the reference reports when it got the follower's own datagrams.
    pub echoes: bool,
    /// When the host's clock is set, and by how many seconds.
    pub step: Option<(f64, f64)>,
}

/// The profile all figures are for unless they say otherwise.
pub const REFERENCE: Profile = Profile {
    seconds: 300.0,
    score_after: 60.0,
    loss: 0.05,
    drift_ppm: 50.0,
    wander_ppm: 2.0,
    stamps_hz: 10.0,
    echoes: false,
    step: None,
};

/// Absolute errors in ms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Half are smaller.
    pub p50_ms: f64,
    /// One in a hundred is larger.
    pub p99_ms: f64,
    /// None is larger.
    pub max_ms: f64,
}

/// One row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct PathReport {
    /// The path's name.
    pub path: String,
    /// Our clock, as the game sees it.
    pub ours: Errors,
    /// EWMA of half the round trip.
    pub ewma: Errors,
    /// NTP's shortest of eight.
    pub min_of_eight: Errors,
    /// lightyear's rule.
    pub lightyear: Errors,
    /// 90 % of the runs stay under 5 ms from here on.
    pub under_5ms_secs: f64,
    /// 90 % of the runs stay under 1 ms from here on.
    pub under_1ms_secs: f64,
    /// Share of frames with an error within the published uncertainty.
    pub within_uncertainty: f64,
    /// Share of frames with an error within the hard bound.
    pub within_bound: f64,
    /// Frames on which the output ran backwards.
    pub backward_ticks: u32,
    /// Memory of the follower's clock.
    pub memory_bytes: usize,
}

/// Runs `profile` on `path`, `runs` times.
pub fn measure_path(name: &str, path: &Conditions, profile: &Profile, runs: u64, seed: u64) -> PathReport {
    let all: Vec<world::Run> = (0..runs).map(|run| world::run(path, profile, seed_of(seed, run))).collect();
    let errors = |rule: usize| {
        let runs = all.iter().flat_map(|run| &run.errors_ms[rule]);
        summarise(runs.filter(|(secs, _)| *secs >= profile.score_after).map(|(_, error)| error.abs()).collect())
    };
    let settled =
        |limit_ms: f64| percentile(&mut all.iter().map(|run| settled_at(run, limit_ms)).collect::<Vec<_>>(), 0.9);
    let frames = all.iter().flat_map(|run| &run.errors_ms[0]).filter(|(secs, _)| *secs >= profile.score_after).count();
    let share = |beyond: usize| 1.0 - beyond as f64 / frames.max(1) as f64;
    PathReport {
        path: name.to_owned(),
        ours: errors(0),
        ewma: errors(1),
        min_of_eight: errors(2),
        lightyear: errors(3),
        under_5ms_secs: settled(5.0),
        under_1ms_secs: settled(1.0),
        within_uncertainty: share(all.iter().map(|run| run.beyond_uncertainty).sum()),
        within_bound: share(all.iter().map(|run| run.beyond_bound).sum()),
        backward_ticks: all.iter().map(|run| run.backward_ticks).sum(),
        memory_bytes: all.iter().map(|run| run.memory_bytes).max().unwrap_or(0),
    }
}

fn seed_of(seed: u64, run: u64) -> u64 {
    seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ run.wrapping_mul(0xD1B5_4A32_D192_ED03)
}

/// From when on the error stays under a limit until scoring begins.
fn settled_at(run: &world::Run, limit_ms: f64) -> f64 {
    let early = run.errors_ms[0].iter().take_while(|(secs, _)| *secs < 60.0);
    early.filter(|(_, error)| error.abs() >= limit_ms).last().map_or(0.0, |(secs, _)| *secs)
}

fn summarise(mut errors: Vec<f64>) -> Errors {
    Errors {
        p50_ms: percentile(&mut errors, 0.5),
        p99_ms: percentile(&mut errors, 0.99),
        max_ms: percentile(&mut errors, 1.0),
    }
}

/// The value that a share of all values does not exceed.
fn percentile(values: &mut [f64], share: f64) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let rank = (share * (values.len() - 1) as f64).round() as usize;
    *values.select_nth_unstable_by(rank, f64::total_cmp).1
}
#[doc(hidden)]
pub fn debug_runs(path: &Conditions, profile: &Profile, runs: u64, seed: u64) {
    for run in 0..runs {
        eprintln!("run {run}");
        world::run(path, profile, seed_of(seed, run));
    }
}
