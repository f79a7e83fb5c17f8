//! Servers that decide the same game, and terminals that predict: which of the paper's claims hold, and what must never
//! happen. Bands are fixed by the paper's wording; a verdict that changes here is news.

use evenkeel_lab::study::{Brief, Entry, Row, Size, Study, Verdict};
use std::collections::BTreeMap;
use std::sync::LazyLock;

use Verdict::{Holds, HoldsWithConditions};

fn study(name: &str, size: Size) -> Study {
    Entry::by_name(name).and_then(|entry| entry.run(&Brief::new(size), &|_| {})).expect("a study that runs")
}

static MIRRORS: LazyLock<Study> = LazyLock::new(|| study("mirrors", Size { seeds: 4, seconds: 180.0, seed: 1 }));

/// Compares all verdicts at once, so that a failure shows all that changed.
fn assert_verdicts(study: &Study, expected: &[(&str, Verdict)]) {
    let found: BTreeMap<&str, String> = study.findings.iter().map(|f| (f.claim.id, f.verdict().to_string())).collect();
    let expected: BTreeMap<&str, String> = expected.iter().map(|(id, verdict)| (*id, verdict.to_string())).collect();
    assert_eq!(found, expected, "{:#?}", study.findings);
    assert_eq!(found.len(), study.findings.len(), "every claim once");
    assert!(!study.summary.is_empty() && !study.exhibits.is_empty() && study.simulated_seconds > 0.0);
}

fn number(row: &Row, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("{name} of {row:?}"))
}

/// The rows of mirrors with this synchronisation, to which nothing unusual happened.
fn usual(name: &str) -> Vec<&'static Row> {
    let rows = MIRRORS.rows.iter().filter(|row| row["synchronisation"] == name && row["twist"] == "none");
    let rows: Vec<_> = rows.collect();
    assert!(!rows.is_empty(), "no rows of {name}");
    rows
}

fn twisted(name: &str) -> &'static Row {
    MIRRORS.rows.iter().find(|row| row["twist"] == name).expect("it was run")
}

#[test]
fn claims_about_mirrors() {
    let verdicts = [
        ("sync-central-no-paradox", Holds),
        ("sync-paradox-needs-discrepancy", Holds),
        ("sync-distributed-closer", Holds),
        ("sync-introduces-inconsistency", Holds),
        ("sync-out-of-order", Holds),
        ("sync-optimistic-paradox", Holds),
        ("sync-healed", Holds),
        ("sync-must-be-healed", Holds),
        ("sync-conservative-none", Holds),
        ("sync-conservative-slower", Holds),
        // For the worst-off players of four servers; on average the lag costs more than the mirrors gain.
        ("sync-conservative-negates-some", HoldsWithConditions),
        ("sync-lag-buys-consistency", Holds),
        ("sync-lag-costs-response", Holds),
        ("sync-lag-compensates", Holds),
        ("sync-jitter-matters", Holds),
        ("sync-partial-reduces", Holds),
        ("sync-partial-remains", Holds),
        ("sync-longer-more-paradox", Holds),
    ];
    assert_verdicts(&MIRRORS, &verdicts);
}

#[test]
fn a_conservative_lag_leaves_nothing_to_roll_back() {
    let steady = usual("conservative").into_iter().filter(|row| row["jitter_ms"] == 0.0);
    for row in steady.chain(usual("conservative + jitter")).chain(usual("central")) {
        for name in ["paradoxes_per_minute", "rollbacks_per_s", "inconsistency_mean_m", "inconsistent_share"] {
            assert_eq!(number(row, name), 0.0, "{name} of {row:?}");
        }
    }
    assert!(usual("optimistic").iter().all(|row| number(row, "rollbacks_per_s") > 0.0));
}

#[test]
fn every_mirror_is_healed_and_its_verdicts_are_exact() {
    let rows: Vec<_> = MIRRORS.rows.iter().filter(|row| row["twist"] == "none").collect();
    assert!(rows.len() > 60);
    assert!(rows.iter().all(|row| row["healed"] == true), "{rows:#?}");
    assert!(rows.iter().all(|row| number(row, "missed_operations") == 0.0));
    assert!(rows.iter().any(|row| row["game"] == "spaceship" && number(row, "paradoxes_per_minute") > 0.0));
}

#[test]
fn what_is_beyond_the_history_is_reported_and_healed_by_a_briefing() {
    let spike = twisted("spike");
    assert!(number(spike, "missed_operations") > 0.0 && number(spike, "briefings") > 0.0, "{spike:?}");
    assert_eq!(spike["healed_states"], true, "{spike:?}");
    let refusing = twisted("no rollback");
    assert!(number(refusing, "missed_operations") > 0.0 && refusing["healed_states"] == false, "{refusing:?}");
}

#[test]
fn the_more_lag_the_fewer_paradoxes_and_the_slower_the_response() {
    let of = |name: &str, figure: &str| {
        let rows = usual(name).into_iter().filter(|row| row["delay_ms"] == 120.0 && row["jitter_ms"] == 0.0);
        rows.map(|row| number(row, figure)).sum::<f64>()
    };
    let lags = ["optimistic", "partial 0.25", "partial 0.5", "partial 0.75", "conservative"];
    assert!(lags.map(|name| of(name, "paradox_share")).is_sorted_by(|more, less| more > less));
    assert!(lags.map(|name| of(name, "response_ms")).is_sorted_by(|less, more| less < more));
}

#[test]
fn claims_about_prediction() {
    let study = study("prediction", Size { seeds: 8, seconds: 600.0, seed: 1 });
    let verdicts = [
        // A lag of half the round trip or more is most of the response time either way.
        ("prediction-response-improved", HoldsWithConditions),
        ("prediction-presentation-improved", Holds),
        ("prediction-may-be-revoked", Holds),
        ("prediction-only-if-incorrect", Holds),
        ("prediction-traded-for-revocation", Holds),
    ];
    assert_verdicts(&study, &verdicts);
    let steady = study.rows.iter().filter(|row| row["network"] == "steady");
    assert!(steady.clone().all(|row| number(row, "revocations_by_operations_per_minute") == 0.0));
    assert!(steady.clone().all(|row| number(row, "response_ms") < number(row, "response_told_ms")));
}

#[test]
fn the_same_seed_gives_the_same_figures() {
    let size = Size { seeds: 1, seconds: 30.0, seed: 7 };
    for name in ["mirrors", "prediction"] {
        assert_eq!(study(name, size).rows, study(name, size).rows);
    }
}
