//! Which of the paper's claims hold, over the games of all seeds.

use super::claims::*;
use super::couple::Couple;
use super::plan::{DELAYS_MS, LEAST_LAG_MS, Seed, covered, uncovered};
use super::setting::{FIXED_LAG, GRID, LARGE, LIMITS, Limit, METHODS, NO_FILTER, SMALL, Setting, evaluation};
use crate::study::measure::{growth, median, observe, percent, text};
use crate::study::{Finding, Observation};

/// All of them, in the order of the paper.
pub(super) fn findings(seeds: &[Seed]) -> Vec<Finding> {
    let mut all = dead_reckoning(seeds);
    all.extend(causes(seeds));
    all.extend(mechanism(seeds));
    all.extend(covering(seeds));
    all.extend(shorter_lags(seeds));
    all.extend(first_figures(seeds));
    all.extend(against_delay_and_threshold(seeds));
    all.extend(comparison(seeds));
    all.extend(against_lag(seeds));
    all
}

fn name(setting: &Setting) -> String {
    let Setting { limit, lag_ms, delay_ms, .. } = setting;
    format!("{limit}, lag {lag_ms} ms, delay {delay_ms} ms")
}

/// One observation for each of some settings.
fn each(seeds: &[Seed], settings: impl IntoIterator<Item = Setting>, of: impl Fn(&Couple) -> f64) -> Vec<Observation> {
    let one = |setting: Setting| observe(name(&setting), seeds, |seed| of(&seed.couples[&setting]));
    settings.into_iter().map(one).collect()
}

/// The same, of GS-DR-LL / GS-DR.
fn ratios(
    seeds: &[Seed],
    settings: impl IntoIterator<Item = Setting>,
    of: impl Fn(&Couple) -> f64,
) -> Vec<Observation> {
    let one = |setting: Setting| observe(name(&setting), seeds, |seed| ratio(seed, setting, &of));
    settings.into_iter().map(one).collect()
}

fn ratio(seed: &Seed, setting: Setting, of: impl Fn(&Couple) -> f64) -> f64 {
    of(&seed.couples[&setting]) / of(&seed.couples[&setting.under(0)])
}

fn mean(couple: &Couple) -> f64 {
    couple.mean
}

/// The evaluation's settings without lag: by threshold and delay.
fn without_lag() -> impl Iterator<Item = Setting> {
    LIMITS.into_iter().flat_map(|limit| DELAYS_MS.map(|delay| Setting::new(limit, 0, delay)))
}

/// Some combinations of lag and delay with both thresholds.
fn with_both(pairs: impl Iterator<Item = (i64, i64)> + Clone) -> impl Iterator<Item = Setting> {
    LIMITS.into_iter().flat_map(move |limit| pairs.clone().map(move |(lag, delay)| Setting::new(limit, lag, delay)))
}

/// The three settings of the fixed lag, or of the fixed delay.
fn three(limit: Limit, fixed_delay: bool) -> [Setting; 3] {
    let from = if fixed_delay { FIXED_LAG } else { 0 };
    [0, 1, 2].map(|n| Setting::new(limit, GRID[from + n].0, GRID[from + n].1))
}

fn dead_reckoning(seeds: &[Seed]) -> Vec<Finding> {
    let sent = |couple: &Couple| couple.updates() as f64 / couple.ticks;
    let filtered =
        |limit: Limit| observe(limit.to_string(), seeds, |seed| sent(&seed.couples[&Setting::new(limit, 0, 0)]));
    let helped = |setting: Setting| {
        let of = |seed: &Seed| seed.couples[&setting].mean / seed.couples[&setting.unsynchronised()].mean;
        observe(name(&setting), seeds, of)
    };
    let bare =
        |setting: Setting| observe(name(&setting), seeds, |seed| seed.couples[&setting.unsynchronised()].after_most);
    vec![
        Finding::new(LL_FILTERS, LIMITS.map(filtered).into()),
        Finding::new(LL_CHANGED_MEANWHILE, each(seeds, without_lag(), |couple| couple.overtaken)).remarking(
            "With the larger threshold, no two updates of a ship come within 100 ms of each other in most games.",
        ),
        Finding::new(LL_CLOCKS_HELP, without_lag().map(helped).collect()),
        Finding::new(LL_AFTER_FROM_CLOCKS, without_lag().map(bare).collect())
            .remarking("Without synchronised clocks an update is extrapolated from its arrival."),
    ]
}

fn causes(seeds: &[Seed]) -> Vec<Finding> {
    let all = without_lag().chain(evaluation());
    vec![
        Finding::new(LL_AFTER_ZERO, each(seeds, all, |couple| couple.after_most)).remarking(
            "Compared with the path that the update says, once it has arrived and its time has come to be shown. \
             From the next operation on the ship leaves that path: this is before inconsistency of the next update.",
        ),
        Finding::new(LL_BEFORE_REMAINS, each(seeds, without_lag(), |couple| couple.delay_part)),
        Finding::new(LL_TWO_CAUSES, each(seeds, [Setting::new(NO_FILTER, 0, 0)], |couple| couple.most)),
    ]
}

fn mechanism(seeds: &[Seed]) -> Vec<Finding> {
    let other_times = |setting: Setting| {
        let differ = |seed: &Seed| {
            let pairs = seed.couples[&setting].sent.iter().zip(&seed.couples[&setting.under(0)].sent);
            let one = |(a, b): (&Vec<_>, &Vec<_>)| {
                a.len().abs_diff(b.len()) + a.iter().zip(b).filter(|(one, other)| one != other).count()
            };
            pairs.map(one).sum::<usize>() as f64
        };
        observe(name(&setting), seeds, differ)
    };
    // The formula is for updates that are late to be shown: the lag does not cover the delay.
    let late = without_lag().chain(with_both(uncovered()));
    let period = |setting: Setting| observe(name(&setting), seeds, |seed| seed.lone[&setting].ticks_off());
    vec![
        Finding::new(LL_SAME_UPDATES, evaluation().map(other_times).collect())
            .remarking("So the updates cost the same with any lag."),
        Finding::new(LL_PERIOD, late.map(period).collect()).remarking(
            "The paper ignores the time between two ticks. Its example changes a velocity; ours begins to accelerate \
             a ship that stands, at a time that depends on the seed.",
        ),
    ]
}

fn covering(seeds: &[Seed]) -> Vec<Finding> {
    let settings = || with_both(covered());
    let exact = covered().map(|(lag, delay)| Setting::new(NO_FILTER, lag, delay));
    let by_delay = |couple: &Couple| couple.delay_part / couple.mean;
    let small = DELAYS_MS.map(|delay| Setting::new(SMALL, 0, delay));
    let large = median(seeds, |seed| by_delay(&seed.couples[&Setting::new(LARGE, 0, 300)]));
    vec![
        Finding::new(LL_DELAY_PART_GONE, each(seeds, settings(), |couple| couple.delay_part)).remarking(
            "A lag equal to the delay is enough: updates are used as soon as their timestamp is at most T - n, where \
             the paper says less than.",
        ),
        Finding::new(LL_FILTER_PART_STAYS, each(seeds, settings(), mean)),
        Finding::new(LL_ELIMINATED, each(seeds, exact, |couple| couple.most)).remarking(
            "To the last bit: states are sent as they are (lossless format). Rounded for the wire, what is left is \
             the rounding.",
        ),
        Finding::new(LL_MOSTLY_DELAY, each(seeds, small, by_delay)).remarking(format!(
            "\"Small\" is read as the smaller of the two thresholds. With the larger, {} at 300 ms.",
            percent(large),
        )),
        Finding::new(LL_MOST_GONE, ratios(seeds, settings(), mean)).remarking(
            "With the larger threshold and a delay of 100 ms, about half of the inconsistency is the filter's, which \
             no lag takes away.",
        ),
    ]
}

fn shorter_lags(seeds: &[Seed]) -> Vec<Finding> {
    let settings = || with_both(uncovered());
    let under_way = |couple: &Couple| couple.delay_part;
    vec![
        Finding::new(LL_SHORT_LAG_LEAVES, each(seeds, settings(), under_way)),
        Finding::new(LL_SHORT_LAG_DECREASES, ratios(seeds, settings(), under_way)),
    ]
}

/// Of figures 3 to 5: the fixed lag, both methods, both thresholds.
fn first_figures(seeds: &[Seed]) -> Vec<Finding> {
    let panels = || LIMITS.into_iter().flat_map(|limit| three(limit, false));
    let both = |of: &dyn Fn(&Couple) -> f64, what: &str| -> Vec<Observation> {
        let one = |setting: Setting, method: usize| {
            let condition = format!("{what}{}, {}, delay {} ms", METHODS[method], setting.limit, setting.delay_ms);
            observe(condition, seeds, |seed| of(&seed.couples[&setting.under(method)]))
        };
        panels().flat_map(|setting| [0, 1].map(|method| one(setting, method))).collect()
    };
    let mut zero = both(&|couple| 1.0 - couple.inconsistent, "");
    zero.extend(both(&|couple| 1.0 - couple.visible, "within half a pixel: "));
    vec![
        Finding::new(LL_EXISTS, both(&|couple| couple.most, "")),
        Finding::new(LL_MOSTLY_ZERO, zero).remarking(
            "Read twice: as nothing at all (a millionth of a pixel), and as what a plot in pixels shows as nothing \
             (half a pixel). It depends on how often pilots do something, and the paper's players are not our bots.",
        ),
    ]
}

fn against_delay_and_threshold(seeds: &[Seed]) -> Vec<Finding> {
    let grows = |limit: Limit, method: usize| {
        observe(format!("{}, {limit}", METHODS[method]), seeds, |seed| {
            growth(&three(limit, false).map(|setting| seed.couples[&setting.under(method)].mean))
        })
    };
    let by_delay = LIMITS.into_iter().flat_map(|limit| [0, 1].map(|method| grows(limit, method))).collect();
    let larger = |setting: Setting, method: usize| {
        let condition = format!("{}, lag {} ms, delay {} ms", METHODS[method], setting.lag_ms, setting.delay_ms);
        let of = move |seed: &Seed, limit: Limit| seed.couples[&Setting { limit, ..setting.under(method) }].mean;
        (condition, move |seed: &Seed| of(seed, LARGE) / of(seed, SMALL))
    };
    let figures = || three(SMALL, false).into_iter().flat_map(|setting| [0, 1].map(|method| larger(setting, method)));
    vec![
        Finding::new(LL_GROWS_WITH_DELAY, by_delay).remarking(
            "With a lag of 300 ms the sites differ as much at 100 ms as at 300 ms: a delay that the lag covers does \
             not matter.",
        ),
        Finding::new(LL_FALLS_WITH_THRESHOLD, figures().map(|(name, of)| observe(name, seeds, of)).collect())
            .remarking(
                "As it is worded. The same sentence says \"increases with the delay\", and later \"decreases with the \
             lag\", of quantities that grow.",
            ),
        Finding::new(
            LL_FALLS_AS_THRESHOLD_FALLS,
            figures().map(|(name, of)| observe(name, seeds, |seed| 1.0 / of(seed))).collect(),
        )
        .remarking("The same words read the other way round: a smaller threshold leaves less."),
    ]
}

fn comparison(seeds: &[Seed]) -> Vec<Finding> {
    let near = [Setting::new(SMALL, GRID[0].0, GRID[0].1)];
    let at = |delay: i64| text(median(seeds, |seed| ratio(seed, Setting::new(SMALL, 300, delay), mean)));
    vec![
        Finding::new(LL_LOWER, ratios(seeds, evaluation(), mean)),
        Finding::new(LL_EFFECTIVE, ratios(seeds, evaluation(), mean)).remarking(
            "\"Effectively\" is read as by a quarter or more, in every setting of the evaluation: a lag of an eighth \
             of the delay takes off about a quarter, and a little less with the larger threshold.",
        ),
        Finding::new(LL_MOST_GONE_WHEN_NEAR, ratios(seeds, near, mean)).remarking(format!(
            "The digits are lost: 100 ms and {SMALL} are our choice, the least of each. At 300 and 500 ms: {}, {}.",
            at(300),
            at(500),
        )),
    ]
}

fn against_lag(seeds: &[Seed]) -> Vec<Finding> {
    let falls = |limit: Limit| {
        observe(limit.to_string(), seeds, |seed| {
            growth(&three(limit, true).map(|setting| 1.0 / seed.couples[&setting].mean))
        })
    };
    let effects = |limit: Limit| {
        observe(limit.to_string(), seeds, |seed| {
            growth(&three(limit, true).map(|setting| 1.0 - ratio(seed, setting, mean)))
        })
    };
    let lags = [LEAST_LAG_MS, 100];
    let short = || with_both(lags.into_iter().map(|lag| (lag, 800)));
    let of = |what: &str, mut all: Vec<Observation>| {
        all.iter_mut().for_each(|one| one.condition = format!("{what}: {}", one.condition));
        all
    };
    let mut any = of("inconsistency", ratios(seeds, short(), mean));
    any.extend(of("updates", ratios(seeds, short(), |couple| couple.updates() as f64)));
    vec![
        Finding::new(LL_FALLS_WITH_LAG, LIMITS.map(falls).into()),
        Finding::new(LL_EFFECTS_GROW, LIMITS.map(effects).into()),
        Finding::new(LL_ANY_LAG, any).remarking(
            "\"Fine\" is read as no worse than without lag, and with no more updates: nothing floods the network. \
             One tick is the shortest lag there is.",
        ),
    ]
}
