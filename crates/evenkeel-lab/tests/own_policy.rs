//! A policy of one's own stands in every table and plot that compares policies within a budget.

#![allow(clippy::unwrap_used)]

#[path = "../examples/own_policy.rs"]
#[allow(dead_code, reason = "only the policy is wanted here, not the program")]
mod example;

use evenkeel_lab::study::{Brief, Entry, Exhibit, Size};
use example::FARTHEST;

/// The policies that a table or plot compares.
fn policies(exhibit: &Exhibit) -> Vec<&str> {
    match exhibit {
        Exhibit::Table { head, rows, .. } => {
            let column = head.iter().position(|name| name == "policy");
            column.map_or_else(Vec::new, |column| rows.iter().map(|row| row[column].as_str()).collect())
        }
        Exhibit::Curves { series, .. } | Exhibit::Clouds { series, .. } => {
            series.iter().map(|series| series.name.as_str()).collect()
        }
        Exhibit::Bars { groups, .. } => groups.iter().map(String::as_str).collect(),
        Exhibit::Points { points, .. } => points.iter().map(|(.., name)| name.as_str()).collect(),
    }
}

#[test]
fn it_stands_beside_even_wherever_that_does() {
    let brief = Brief { own: vec![FARTHEST], ..Brief::new(Size { seeds: 1, seconds: 20.0, seed: 1 }) };
    for (name, least) in [("policies", 15), ("budget", 4), ("recorded", 20)] {
        let study = Entry::by_name(name).unwrap().run(&brief, &|_| {}).unwrap();
        let (mut tables, count) = (0, |all: &[&str], name: &str| all.iter().filter(|policy| **policy == name).count());
        for exhibit in &study.exhibits {
            let all = policies(exhibit);
            let title = exhibit.title();
            assert_eq!(count(&all, FARTHEST.name), count(&all, "even"), "{name}, {title}: {all:?}");
            tables += usize::from(matches!(exhibit, Exhibit::Table { .. }) && count(&all, FARTHEST.name) > 0);
        }
        assert!(tables >= least, "{name}: {tables} tables");
    }
}

#[test]
fn recorded_games_are_said_to_be_missing_and_equal_briefs_give_equal_studies() {
    let recorded = Entry::by_name("recorded").unwrap();
    let brief = Brief::new(Size { seeds: 1, seconds: 20.0, seed: 1 });
    let nowhere = Brief { data: "no/such/folder".into(), ..brief.clone() };
    let error = recorded.run(&nowhere, &|_| {}).unwrap_err().to_string();
    assert!(error.contains("bzflag-dense-a.csv.gz is missing") && error.contains("--data"), "{error}");
    let [once, again] = [(); 2].map(|()| format!("{:?}", recorded.run(&brief, &|_| {}).unwrap()));
    assert!(once == again, "two runs of one brief differ");
}
