//! The plots of the study: figures 3 to 8 of the paper, and what follows from them.

use super::couple::Points;
use super::plan::{Couples, PAIRED_DELAYS_MS, PAIRED_LAGS_MS, Seed, swept_lags, swept_limits};
use super::setting::{GRID, LIMITS, Limit, METHODS, SMALL, SWEPT_DELAY_MS, Setting};
use crate::study::{Exhibit, Series};

/// The stretch of the duel that is plotted, in seconds: about twenty, as in the paper.
const WINDOW: (f64, f64) = (10.0, 30.0);
/// Every so many ticks are plotted.
const PLOTTED: usize = 2;
/// The setting of the single operation that is plotted.
const LONE: (i64, i64) = (300, 500);

/// Figures 3 to 8: by lag and delay, then by threshold.
pub(super) fn over_time(duel: &Couples) -> Vec<Exhibit> {
    let panel = |(figure, (lag, delay)): (usize, (i64, i64)), limit: Limit| {
        let series = |method: usize| {
            let track = &duel[&Setting::new(limit, lag, delay).under(method)].track;
            Series { name: METHODS[method].into(), points: window(track) }
        };
        Exhibit::Curves {
            title: format!("Figure {}: delay {delay} ms, lag {lag} ms, threshold {limit}", figure + 3),
            note: format!(
                "Inconsistency of the first pilot's ship, from second {} of the recorded duel on. Both curves are by the time of the \
                 game that is shown: with lag, the same moment is shown later.",
                WINDOW.0,
            ),
            x: "time (s)".into(),
            y: "inconsistency (px)".into(),
            series: vec![series(0), series(1)],
        }
    };
    GRID.into_iter().enumerate().flat_map(|pair| LIMITS.map(|limit| panel(pair, limit))).collect()
}

fn window(track: &Points) -> Points {
    let within = track.iter().filter(|(at, _)| (WINDOW.0..=WINDOW.1).contains(at));
    within.step_by(PLOTTED).map(|(at, off)| (at - WINDOW.0, *off)).collect()
}

/// How much every millisecond of lag takes off.
pub(super) fn against_lag(duel: &Couples) -> Exhibit {
    let curve = |limit: Limit| Series {
        name: limit.to_string(),
        points: swept_lags().map(|lag| (lag as f64, duel[&Setting::new(limit, lag, SWEPT_DELAY_MS)].mean)).collect(),
    };
    Exhibit::Curves {
        title: format!("Inconsistency against the lag, delay {SWEPT_DELAY_MS} ms"),
        note: "Mean over both ships of the recorded duel. It falls until the lag covers the delay; what is left is the filter's, and \
               more lag buys nothing. Lags are whole ticks of 20 ms."
            .into(),
        x: "lag (ms)".into(),
        y: "mean inconsistency (px)".into(),
        series: swept_limits().map(curve).into(),
    }
}

/// What the delay exceeds the lag by, and the mean inconsistency, for one lag and all delays.
fn by_excess(duel: &Couples, lag: i64) -> Points {
    let point = |delay: i64| ((delay - lag).max(0) as f64, duel[&Setting::new(SMALL, lag, delay)].mean);
    PAIRED_DELAYS_MS.map(point).into()
}

/// The largest difference between two pairs of lag and delay with the same excess.
fn largest_gap(duel: &Couples) -> f64 {
    let all: Points = PAIRED_LAGS_MS.into_iter().flat_map(|lag| by_excess(duel, lag)).collect();
    let gap = |(x, y): &(f64, f64)| {
        all.iter().filter(|other| other.0 == *x).map(|other| (other.1 - y).abs()).fold(0.0, f64::max)
    };
    all.iter().map(gap).fold(0.0, f64::max)
}

/// That nothing else matters.
pub(super) fn against_excess(duel: &Couples) -> Exhibit {
    let curve = |lag: i64| Series { name: format!("lag {lag} ms"), points: by_excess(duel, lag) };
    Exhibit::Curves {
        title: format!("Inconsistency against what the delay exceeds the lag by, threshold {SMALL}"),
        note: format!(
            "All {} pairs of these lags with delays of 0 to 800 ms lie on one curve, which hides all but the last drawn: pairs with \
             the same excess differ by {} px at most.",
            PAIRED_LAGS_MS.len() * PAIRED_DELAYS_MS.len(),
            crate::study::measure::text(largest_gap(duel)),
        ),
        x: "delay - lag, or 0 (ms)".into(),
        y: "mean inconsistency (px)".into(),
        series: PAIRED_LAGS_MS.map(curve).into(),
    }
}

/// Figure 2: the way of a ship after a single operation, for the first seed.
pub(super) fn lone_operation(seeds: &[Seed]) -> Option<Exhibit> {
    let first = seeds.first()?;
    let setting = Setting::new(SMALL, LONE.0, LONE.1);
    let curve = |method: usize, site: usize| Series {
        name: format!("{}, {} site", METHODS[method], ["local", "remote"][site]),
        points: first.lone[&setting.under(method)].ways[site].iter().copied().filter(|(at, _)| *at >= -0.1).collect(),
    };
    Some(Exhibit::Curves {
        title: format!("Figure 2: a ship begins to accelerate; delay {} ms, lag {} ms", LONE.1, LONE.0),
        note: format!(
            "How far the ship has come at each site, by the time on the clock since the operation, threshold {SMALL}. Where the two \
             curves of a method part, the sites are inconsistent."
        ),
        x: "seconds after the operation".into(),
        y: "way (px)".into(),
        series: vec![curve(0, 0), curve(0, 1), curve(1, 0), curve(1, 1)],
    })
}

#[cfg(test)]
mod tests {
    use super::super::game::Game;
    use super::super::plan::play_duel;
    use super::*;
    use crate::study::{Brief, Size};

    #[test]
    fn nothing_matters_but_what_the_delay_exceeds_the_lag_by() {
        let brief = Brief::new(Size { seeds: 1, seconds: 20.0, seed: 1 });
        let duel = play_duel(&Game::duel(&brief).unwrap(), &|_| {}).unwrap();
        assert_eq!(largest_gap(&duel), 0.0, "to the last bit");
        let track = |lag, delay| &duel[&Setting::new(SMALL, lag, delay)].track;
        assert_eq!(track(0, 300), track(500, 800), "at every tick");
        assert_ne!(track(0, 300), track(300, 800));
        // What is never further off than the threshold: there is lag for the delay.
        assert!(duel[&Setting::new(SMALL, 300, 300)].most <= 4.0);
    }
}
