//! How much less do two sites differ if what one does is shown a little later everywhere?
//!
//! The evaluation of globally synchronised dead reckoning with local lag (GS-DR-LL): a recorded duel is played back at one
//! site, and compared with what another site makes of the updates, at the same time on both clocks.

mod claims;
mod couple;
mod exhibits;
mod figures;
mod findings;
mod game;
mod lone;
mod plan;
mod setting;
mod sites;

use super::measure::{median, percent, settings_of, text};
use super::{Brief, Entry, Row, Study, Watch};
use anyhow::Result;
use evenkeel::Duration;
use game::Game;
use plan::{Couples, Seed};
use serde_json::{Value, json};
use setting::{LIMITS, METHODS, SMALL, Setting, evaluation};

pub(super) const ENTRY: Entry = Entry {
    name: "local-lag",
    question: "How much less do two sites differ if what one does is shown a little later everywhere?",
    reproduces: "globally synchronised dead reckoning with local lag, figures 1 to 8 and all claims of the paper",
    needs: &[],
    run,
};

/// Runs it.
fn run(brief: &Brief, watch: &Watch<'_>) -> Result<Study> {
    let size = brief.size;
    let game = Game::duel(brief)?;
    let duel = plan::play_duel(&game, watch)?;
    let seeds = plan::play_seeds(size, watch)?;
    Ok(Study {
        name: ENTRY.name,
        settings: settings_of(size, &settings(&game)),
        summary: summary(&duel),
        exhibits: exhibits::exhibits(&duel, &seeds),
        findings: findings::findings(&seeds),
        rows: rows(&duel, &seeds),
        simulated_seconds: simulated(&duel, &seeds).as_secs_f64(),
    })
}

/// Summed up as whole numbers: couples come in no order.
fn simulated(duel: &Couples, seeds: &[Seed]) -> Duration {
    let couples = duel.values().chain(seeds.iter().flat_map(|seed| seed.couples.values()));
    let lone = seeds.iter().flat_map(|seed| seed.lone.values());
    let lasted = couples.map(|couple| couple.lasted).chain(lone.map(|lone| lone.lasted));
    lasted.fold(Duration::ZERO, |sum, lasted| sum + lasted)
}

fn settings(game: &Game) -> Vec<(&'static str, String)> {
    vec![
        ("thresholds", LIMITS.map(|limit| limit.to_string()).join(", ")),
        ("lag_ms, delay_ms", setting::GRID.map(|(lag, delay)| format!("{lag}/{delay}")).join(", ")),
        ("duel_s", text(game.end().as_secs_f64())),
        ("longest_game_s", text(game::LONGEST_SECONDS)),
        ("tick_ms", game.step().as_millis().to_string()),
        ("format", "lossless".into()),
    ]
}

/// One row for each setting of the evaluation and each method.
fn rows(duel: &Couples, seeds: &[Seed]) -> Vec<Row> {
    let row = |setting: Setting, method: usize| {
        let applied = setting.under(method);
        let couple = &duel[&applied];
        let over_seeds = median(seeds, |seed| seed.couples[&applied].mean);
        let Value::Object(row) = json!({
            "method": METHODS[method],
            "threshold": setting.limit.to_string(),
            "threshold_px": setting.limit.px,
            "threshold_deg": setting.limit.deg,
            "lag_ms": setting.lag_ms,
            "applied_lag_ms": applied.lag_ms,
            "delay_ms": setting.delay_ms,
            "inconsistency_mean": couple.mean,
            "inconsistency_max": couple.most,
            "inconsistency_p95": couple.p95,
            "inconsistent_share": couple.inconsistent,
            "visible_share": couple.visible,
            "heading_mean_deg": couple.heading,
            "filter_part": couple.filter_part,
            "delay_part": couple.delay_part,
            "filter_alone": duel[&Setting::new(setting.limit, 0, 0)].mean,
            "updates": couple.updates(),
            "inconsistency_mean_over_seeds": over_seeds,
        }) else {
            return Row::new();
        };
        row
    };
    evaluation().flat_map(|setting| [0, 1].map(|method| row(setting, method))).collect()
}

fn summary(duel: &Couples) -> String {
    let mean = |lag: i64, delay: i64| text(duel[&Setting::new(SMALL, lag, delay)].mean);
    let share = |lag: i64, delay: i64| percent(duel[&Setting::new(SMALL, lag, delay)].visible);
    format!(
        "A recorded duel, flown at one site and seen at another, with a threshold of {SMALL}: showing everything 300 ms later at \
         both brings the mean distance between a ship here and there from {} to {} px at a delay of 100 ms, from {} to {} px at 300 ms and from {} to {} px at 500 ms; at 800 ms, \
         lags of 100, 300 and 500 ms bring it from {} to {}, {} and {} px. They differ by more than half a pixel {} of the time \
         at 300 ms, {} with the lag. Only what the delay exceeds the lag by matters; what is left where it does not is the \
         filter's. The updates sent are the same: the price is that players see what they do a lag later.",
        mean(0, 100),
        mean(300, 100),
        mean(0, 300),
        mean(300, 300),
        mean(0, 500),
        mean(300, 500),
        mean(0, 800),
        mean(100, 800),
        mean(300, 800),
        mean(500, 800),
        share(0, 300),
        share(300, 300),
    )
}
