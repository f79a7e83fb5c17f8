//! Which of the papers' claims about fairness hold, and which do not: a change of a verdict is a change of behaviour.

#![allow(clippy::unwrap_used)]

use evenkeel_lab::study::Verdict::{DoesNotHold, Holds, HoldsWithConditions};
use evenkeel_lab::study::{Brief, Entry, Size, Study, Verdict};

const SIZE: Size = Size { seeds: 10, seconds: 150.0, seed: 1 };

fn run(name: &str, size: Size) -> Study {
    Entry::by_name(name).unwrap().run(&Brief::new(size), &|_| {}).unwrap()
}

/// Compares all verdicts of a study with what is expected, and says all that differ at once.
fn check(study: &Study, expected: &[(&str, Verdict)]) {
    let found: Vec<(&str, Verdict)> = study.findings.iter().map(|f| (f.claim.id, f.verdict())).collect();
    let mut wrong = Vec::new();
    for (id, verdict) in &found {
        let finding = study.findings.iter().find(|f| f.claim.id == *id).unwrap();
        assert!(!finding.observations.is_empty(), "{id} was not observed");
        if !expected.contains(&(*id, *verdict)) {
            let medians: Vec<String> =
                finding.observations.iter().map(|o| format!("{}: {:.4}", o.condition, o.median())).collect();
            wrong.push(format!("(\"{id}\", {verdict:?}), // {}", medians.join("; ")));
        }
    }
    let missing = expected.iter().filter(|(id, _)| !found.iter().any(|(known, _)| known == id));
    wrong.extend(missing.map(|(id, _)| format!("{id} is missing")));
    assert!(wrong.is_empty(), "{}:\n{}", study.name, wrong.join("\n"));
}

#[test]
fn scheduling() {
    check(
        &run("scheduling", SIZE),
        &[
            ("paper-scheduling-std", DoesNotHold),
            ("paper-scheduling-mean", DoesNotHold),
            ("paper-scheduling-each-higher", Holds),
            ("paper-scheduling-toward-worst", Holds),
            ("paper-scheduling-toward-worst-far", Holds),
            ("paper-scheduling-deviation-shrinks", Holds),
            ("paper-flip-flop", HoldsWithConditions),
            ("thesis-drop-std", Holds),
            ("thesis-drop-mean", Holds),
            ("thesis-drop-fewer", Holds),
            ("thesis-drop-std-projected", Holds),
            ("thesis-drop-mean-projected", DoesNotHold),
            ("thesis-drop-fewer-projected", Holds),
            ("thesis-drop-each-higher", Holds),
            ("thesis-drop-beyond-worst", DoesNotHold),
            ("thesis-drop-each-higher-projected", Holds),
            ("thesis-drop-beyond-worst-projected", DoesNotHold),
            ("thesis-drop-unbounded", Holds),
            ("thesis-drop-unbounded-rate", DoesNotHold),
            ("thesis-drop-unbounded-projected", HoldsWithConditions),
            ("thesis-drop-unbounded-rate-projected", DoesNotHold),
            ("thesis-send-std", Holds),
            ("thesis-send-mean", DoesNotHold),
            ("thesis-send-far-as-base", DoesNotHold),
            ("thesis-send-near-more", Holds),
            ("thesis-send-near-more-short", Holds),
            ("thesis-send-below-drop-mean", Holds),
            ("thesis-send-below-drop-mean-rate", Holds),
            ("thesis-send-convergence", DoesNotHold),
            ("thesis-send-hysteresis-negligible", Holds),
            ("thesis-send-variable-all-higher", Holds),
            ("thesis-send-nothing-dropped", Holds),
            ("paper-theorem41", Holds),
            ("paper-equal-arrival", Holds),
            ("thesis-drop-hysteresis", Holds),
            ("thesis-schedule-equalises-on-reception", Holds),
            ("thesis-drop-hysteresis-projected", Holds),
            ("thesis-schedule-equalises-on-reception-projected", Holds),
            ("thesis-drop-gap-rate", Holds),
            ("thesis-drop-gap-rate-high", Holds),
        ],
    );
}

#[test]
fn budget() {
    check(
        &run("budget", SIZE),
        &[
            ("paper-lottery-std", Holds),
            ("paper-lottery-mean", DoesNotHold),
            ("paper-credits-std", Holds),
            ("paper-credits-mean-same", DoesNotHold),
            ("paper-credits-mean-same-almost", Holds),
            ("paper-det-mean-below-prob", Holds),
            ("paper-det-mean-below-prob-others", HoldsWithConditions),
            ("paper-det-std-low-variance", HoldsWithConditions),
            ("paper-det-std-high-variance", Holds),
            ("paper-budget-far-gets-more", HoldsWithConditions),
            ("paper-budget-far-gets-more-than-third", Holds),
            ("paper-budget-worst-not-increased", HoldsWithConditions),
            ("paper-budget-worst-not-increased-literal", DoesNotHold),
            ("paper-budget-mean-comparable", HoldsWithConditions),
            ("paper-budget-mean-comparable-literal", DoesNotHold),
            ("thesis-lottery-mean-higher", Holds),
            ("thesis-credits-std-below-base", Holds),
            ("thesis-credits-considerably-fairer", Holds),
            ("thesis-credits-considerably-fairer-literal", DoesNotHold),
            ("thesis-lottery-fixed-each-higher", Holds),
            ("thesis-credits-one-down-one-up", Holds),
            ("thesis-credits-one-down-one-up-up", Holds),
            ("thesis-credits-highest-down", Holds),
            ("thesis-credits-toward-mean", HoldsWithConditions),
            ("thesis-credits-mean-base-case", DoesNotHold),
            ("paper-budget-same-count", HoldsWithConditions),
            ("paper-lottery-irregular", Holds),
            ("paper-lottery-irregular-smooth", Holds),
            ("paper-lottery-irregular-guaranteed", Holds),
            ("paper-fewer-same-accuracy", DoesNotHold),
            ("paper-fewer-same-accuracy-count", Holds),
            ("paper-fewer-same-accuracy-local", DoesNotHold),
        ],
    );
}

#[test]
fn threshold() {
    check(
        &run("threshold", SIZE),
        &[
            ("threshold-more-triggers", Holds),
            ("threshold-lower-better", HoldsWithConditions),
            ("threshold-lower-better-far", HoldsWithConditions),
            // From 0.2 m to 0.1 m it is 0.974 at this size, where 0.98 is the bound; at full size it holds with 0.994.
            ("threshold-lower-better-share", HoldsWithConditions),
            ("threshold-zero-exact", Holds),
            ("threshold-very-low-toward-mean", Holds),
            ("threshold-very-low-toward-mean-std", Holds),
            ("threshold-eq35", Holds),
            ("threshold-true-base", Holds),
            ("threshold-true-base-far", DoesNotHold),
            ("threshold-true-base-mean", DoesNotHold),
        ],
    );
}

#[test]
#[ignore = "takes minutes: the grid of policies at full size"]
fn policies() {
    check(
        &run("policies", Size::FULL),
        &[
            ("thesis-five-std", HoldsWithConditions),
            ("thesis-pi-best", Holds),
            ("thesis-pi-best-text", Holds),
            ("thesis-five-mean-higher", Holds),
            ("thesis-five-each-higher", Holds),
            ("thesis-credits-pa-best", DoesNotHold),
            ("thesis-credits-pa-best-max", Holds),
            ("thesis-credits-pa-best-mean", DoesNotHold),
        ],
    );
}

#[test]
fn equal_briefs_give_equal_studies() {
    let size = Size { seeds: 2, seconds: 20.0, seed: 7 };
    for name in ["scheduling", "budget", "threshold"] {
        let [once, again] = [(); 2].map(|()| format!("{:?}", run(name, size)));
        assert_eq!(once, again, "{name}");
    }
}
