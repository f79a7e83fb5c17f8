//! What waiting with verdicts buys, and what late operations cost: the figures that must be reached, and the papers' claims.
#![allow(clippy::unwrap_used)]

use evenkeel_lab::study::{Brief, Entry, Row, Size, Study, Verdict};
use std::collections::BTreeMap;
use std::sync::OnceLock;

use Verdict::{DoesNotHold, Holds, HoldsWithConditions};

const SIZE: Size = Size { seeds: 6, seconds: 240.0, seed: 1 };

fn study(name: &str, size: Size) -> Study {
    Entry::by_name(name).and_then(|entry| entry.run(&Brief::new(size), &|_| {})).unwrap()
}

fn verdicts() -> &'static Study {
    static STUDY: OnceLock<Study> = OnceLock::new();
    STUDY.get_or_init(|| study("verdicts", SIZE))
}

fn timewarp() -> &'static Study {
    static STUDY: OnceLock<Study> = OnceLock::new();
    STUDY.get_or_init(|| study("timewarp", SIZE))
}

fn number(row: &Row, name: &str) -> f64 {
    row[name].as_f64().unwrap()
}

/// The wrong share of a method at 200 ms without jitter.
fn wrong_share(method: &str, movement_lag: f64, verdict_lag: f64) -> f64 {
    let is = |row: &&Row| {
        let network = (number(row, "delay_ms"), number(row, "jitter_ms")) == (200.0, 0.0);
        let lags = (number(row, "movement_lag_ms"), number(row, "verdict_lag_ms")) == (movement_lag, verdict_lag);
        row["method"] == method && row["game"] != "arena-four" && network && lags
    };
    number(verdicts().rows.iter().find(is).unwrap(), "wrong_share")
}

/// Compares all verdicts at once, so that a failure shows all that changed.
fn assert_verdicts(study: &Study, expected: &[(&str, Verdict)]) {
    let found: BTreeMap<&str, String> = study.findings.iter().map(|f| (f.claim.id, f.verdict().to_string())).collect();
    let expected: BTreeMap<&str, String> = expected.iter().map(|(id, verdict)| (*id, verdict.to_string())).collect();
    assert_eq!(found, expected, "{:#?}", study.findings);
    assert_eq!(found.len(), study.findings.len(), "every claim once");
    assert!(!study.summary.is_empty() && !study.exhibits.is_empty() && study.simulated_seconds > 0.0);
    let mut values = study.findings.iter().flat_map(|finding| &finding.observations).map(|o| o.values.len());
    assert!(values.all(|count| count == SIZE.seeds as usize), "one value per seed");
}

#[test]
fn waiting_220_ms_with_the_verdict_alone_is_enough_at_200_ms() {
    let share = wrong_share("states", 0.0, 220.0);
    assert!(share <= 0.001, "{share}");
    let at_once = wrong_share("states", 0.0, 0.0);
    assert!((0.02..0.05).contains(&at_once), "{at_once}: there is something to gain");
    assert_eq!(wrong_share("operations", 0.0, 220.0), 0.0);
    assert!(wrong_share("operations", 0.0, 0.0) > 0.1, "there is something to gain");
}

#[test]
fn after_healing_every_verdict_is_the_one_of_the_game_in_order() {
    let operations = verdicts().rows.iter().filter(|row| row["method"] == "operations");
    let (mut cells, mut recorded, mut wrong) = (0, 0, 0.0);
    for row in operations {
        assert_eq!(number(row, "wrong_after_healing"), 0.0, "{row:?}");
        assert_eq!(number(row, "hosts_in_another_state_at_the_end"), 0.0, "{row:?}");
        assert!(number(row, "verdicts") > 0.0, "{row:?}");
        cells += 1;
        recorded += usize::from(row["game"] == "arena-four");
        wrong += number(row, "wrong");
    }
    assert!(cells == 2 * 12 * 7 && recorded == 12 * 7 && wrong > 100.0, "{cells} {recorded} {wrong}");
}

#[test]
fn claims_about_verdicts() {
    let expected = [
        ("verdicts-positions-less-lag", Holds),
        ("verdicts-tailored-better", Holds),
        ("verdicts-position-errors-harmless", Holds),
        ("verdicts-conservative-none", Holds),
        ("verdicts-rollback-heals", Holds),
    ];
    assert_verdicts(verdicts(), &expected);
}

#[test]
fn claims_about_timewarp() {
    let expected = [
        ("timewarp-partial-lag-reduces", Holds),
        // The spaceship's beams strike at once: at 200 ms this is too small a size to see the little that half a lag gains.
        ("timewarp-longer-more-paradoxes", HoldsWithConditions),
        ("timewarp-short-lag-floods", Holds),
        // Nearly every operation asks for a repair, but a repair is a few ticks of a game.
        ("timewarp-flood-of-work", DoesNotHold),
        ("timewarp-long-lag-spares", Holds),
        ("timewarp-states-no-constraint", Holds),
        ("timewarp-states-decreased", Holds),
    ];
    assert_verdicts(timewarp(), &expected);
}

#[test]
fn a_history_as_long_as_operations_are_late_heals_everything_and_a_shorter_one_is_noticed() {
    let rows = timewarp().rows.iter().filter(|row| row["method"] == "timewarp");
    let (mut short, mut long) = (0, 0);
    for row in rows {
        // Spikes take 800 ms.
        let spiky = row["network"].as_str().unwrap().contains("bursts");
        if spiky && number(row, "history_ms") < 800.0 {
            short += 1;
            assert!(number(row, "refused_before_history") > 0.0, "{row:?}");
            assert!(number(row, "hosts_in_another_state_at_the_end") > 0.0, "{row:?}");
        } else {
            long += 1;
            assert_eq!(number(row, "refused_before_history"), 0.0, "{row:?}");
            assert_eq!(number(row, "wrong_after_healing"), 0.0, "{row:?}");
            assert_eq!(number(row, "hosts_in_another_state_at_the_end"), 0.0, "{row:?}");
        }
    }
    assert_eq!((short, long), (2, 2 + 2 * 5 * 2 * 6));
}

#[test]
fn without_jitter_a_lag_as_long_as_the_delay_leaves_nothing_to_repair() {
    let enough = |row: &&Row| {
        row["method"] == "timewarp" && row.get("jittery") == Some(&false.into()) && number(row, "lag_per_delay") >= 1.0
    };
    let rows: Vec<&Row> = timewarp().rows.iter().filter(enough).collect();
    assert_eq!(rows.len(), 2 * 5 * 2);
    for row in rows {
        let figures = ["late_share", "rollbacks_per_second", "time_apart_share", "paradox_share", "correction_max"];
        assert!(figures.iter().all(|name| number(row, name) == 0.0), "{row:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_rows() {
    let small = Size { seeds: 1, seconds: 30.0, seed: 5 };
    for name in ["verdicts", "timewarp"] {
        let [once, again] = [(); 2].map(|()| study(name, small).rows);
        assert!(!once.is_empty() && once == again, "{name}");
        assert_ne!(once, study(name, Size { seed: 6, ..small }).rows, "{name}");
    }
}
