//! `evenkeel sites` from outside: exit codes, messages, files.
#![allow(clippy::unwrap_used)]

mod common;

use common::{errors, folder, text};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;

fn evenkeel(arguments: &[&str]) -> Output {
    common::evenkeel(&[&["sites"], arguments].concat())
}

/// Two players far from each other, a site beside each, and one half-way.
const SQUARE: &str = "rtt,Ada,Bo,Oslo,Rome,Lima\nAda,0,200,10,100,200\nBo,200,0,200,110,10\nOslo,10,200,0,90,190\n\
                      Rome,100,110,90,0,100\nLima,200,10,190,100,0\n";
const ADA_AND_BO: [&str; 2] = ["--players", "Ada,Bo"];

fn write(folder: &Path, name: &str, what: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, what).unwrap();
    path
}

fn printed(arguments: &[&str]) -> String {
    let output = evenkeel(arguments);
    assert!(output.status.success(), "{}", errors(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(&[arguments, &["--json", "-"]].concat())).unwrap()
}

/// The last row: the answer.
fn answer(value: &Value) -> &Value {
    value["rows"].as_array().unwrap().last().unwrap()
}

#[test]
fn the_answer_comes_first_and_is_the_best() {
    let square = write(&folder("sites-answer"), "square.csv", SQUARE);
    let solve = [&["solve", "--rtt", text(&square)], &ADA_AND_BO[..]].concat();
    // Servers at Oslo and Lima wait 95 ms for each other: 105 ms for both. Rome alone would be 110.
    let shown = printed(&solve);
    let lines: Vec<&str> = shown.lines().map(str::trim).collect();
    assert_eq!(lines[0], "2 players, 3 sites; objective: critical", "{shown}");
    assert!(lines[3].starts_with("Oslo") && lines[4].starts_with("Lima") && lines[3].contains("95.0"), "{shown}");
    assert!(shown.contains("Put servers at Oslo and Lima: the objective is 105.0 ms, 4.5 % less"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");

    let value = json(&[&solve[..], &["--assign"]].concat());
    let names: Vec<&Value> = value["rows"].as_array().unwrap().iter().map(|row| &row["strategy"]).collect();
    assert_eq!(names, ["central by mean", "central by critical response", "heuristic", "best"]);
    let best = answer(&value);
    assert_eq!(
        (&best["servers"], &best["lag_ms"]),
        (&serde_json::json!(["Oslo", "Lima"]), &serde_json::json!([95.0, 95.0]))
    );
    for (name, wanted) in [("mean_ms", 105.0), ("std_ms", 0.0), ("p95_ms", 105.0), ("max_ms", 105.0), ("gap", 0.0)] {
        assert_eq!(best[name], wanted, "{name}");
    }
    assert_eq!(
        (&best["objective"], &best["value_ms"], &best["bound_ms"]),
        (&"critical".into(), &105.0.into(), &105.0.into())
    );
    assert!(best["seconds"].is_number());
    assert_eq!(best["players"][1], serde_json::json!({ "name": "Bo", "server": "Lima", "response_ms": 105.0 }));
    let central = &value["rows"][1];
    assert_eq!((&central["servers"][0], &central["max_ms"]), (&"Rome".into(), &110.0.into()));
    assert!((central["gap"].as_f64().unwrap() - 5.0 / 110.0).abs() < 1e-9, "{central}");
}

/// Who waits for half the lag is answered sooner, and sees some actions too late.
#[test]
fn a_part_of_the_lag_has_a_price() {
    let square = write(&folder("sites-late"), "square.csv", SQUARE);
    let solve = [&["solve", "--rtt", text(&square)], &ADA_AND_BO[..]].concat();
    let value = json(&[&solve[..], &["--share", "0.5"]].concat());
    let best = answer(&value);
    assert_eq!(
        (&best["max_ms"], &best["late_ms"], &best["late_worst_ms"]),
        (&57.5.into(), &23.75.into(), &47.5.into())
    );
    let shown = printed(&[&solve[..], &["--share", "0.5"]].concat());
    assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
    assert!(shown.lines().any(|line| line.ends_with(" late")), "{shown}");
    assert!(shown.lines().any(|line| line.contains("best  ") && line.ends_with(" 23.8")), "{shown}");
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("actions come 23.8 ms too late on average, 47.5 ms at worst."), "{shown}");
    assert!(!printed(&solve).contains("late"), "nothing is late with the whole lag");
}

#[test]
fn flags_change_the_answer() {
    let square = write(&folder("sites-flags"), "square.csv", SQUARE);
    let solve = [&["solve", "--rtt", text(&square)], &ADA_AND_BO[..]].concat();
    for (flags, servers, max) in [
        (&["--max-servers", "1"][..], &["Rome"][..], 110.0),
        (&["--share", "0"], &["Oslo", "Lima"], 10.0),
        (&["--forbid", "Lima"], &["Rome"], 110.0),
        (&["--candidates", "Rome,Lima"], &["Rome"], 110.0),
        (&["--objective", "servers", "--critical-ms", "110"], &["Rome"], 110.0),
        (&["--price", "20"], &["Rome"], 110.0),
        (&["--capacity", "1"], &["Oslo", "Lima"], 105.0),
        (&["--round-ms", "50"], &["Oslo", "Lima"], 105.0),
    ] {
        let value = json(&[&solve[..], flags].concat());
        let best = answer(&value);
        assert_eq!(
            (&best["servers"], &best["max_ms"]),
            (&serde_json::json!(servers), &max.into()),
            "{flags:?}: {best}"
        );
    }
    let required = json(&[&solve[..], &["--require", "Rome"]].concat());
    assert!(answer(&required)["servers"].as_array().unwrap().contains(&"Rome".into()));
    // Rounding blurs what is proven, and says so.
    let rounded = json(&[&solve[..], &["--round-ms", "50"]].concat());
    assert!(answer(&rounded)["gap"].as_f64().unwrap() > 0.0, "{rounded}");
}

#[test]
fn bad_input_is_one_line_with_the_place_and_exit_code_2_and_nothing_is_written() {
    let folder = folder("sites-bad");
    let file = |name: &str, what: &str| text(&write(&folder, name, what)).to_owned();
    let good = file("good.csv", SQUARE);
    let broken = |name: &str, from: &str, to: &str| file(name, &SQUARE.replacen(from, to, 1));
    let short = file("short.csv", "0,1,2\n1,0,2\n");
    let negative = broken("negative.csv", "Oslo,10,200", "Oslo,-10,200");
    let nan = broken("nan.csv", "Ada,0,200,10", "Ada,0,200,ten");
    let hole = broken("hole.csv", "Ada,0,200,10", "Ada,0,200,NaN");
    let ragged = broken("ragged.csv", "Bo,200,0,200,110,10", "Bo,200,0,200");
    let missing_row = broken("missing_row.csv", "Rome,100,110,90,0,100\n", "");
    let sites = file("sites.csv", "name,cost\nOslo,1\nParis,2\n");
    let who = file("who.csv", "name,weight\nAda,2\nEve,1\n");
    let pairs = file("pairs.csv", "from,to,rtt_ms\nAda,Oslo,10\nBo,Oslo,200\n");
    let out = folder.join("out.json");
    let with = |rtt: &str, more: &[&str]| {
        let mut all = vec!["solve".to_owned(), "--rtt".to_owned(), rtt.to_owned()];
        all.extend(more.iter().map(|part| (*part).to_owned()));
        all
    };
    let both = |more: &[&str]| with(&good, &[&ADA_AND_BO[..], more].concat());
    for (arguments, wanted) in [
        (with("no-such.csv", &[]), &["cannot read no-such.csv"][..]),
        (with(&short, &[]), &["short.csv: 2 rows but 3 columns"]),
        (with(&negative, &ADA_AND_BO), &["negative.csv: line 4, column 2"]),
        (with(&nan, &ADA_AND_BO), &["nan.csv: line 2, column 4", "\"ten\""]),
        (
            with(&hole, &[&ADA_AND_BO[..], &["--missing", "refuse"]].concat()),
            &["hole.csv: line 2, column 4", "missing"],
        ),
        (with(&ragged, &ADA_AND_BO), &["ragged.csv: line 3", "4 cells"]),
        (with(&missing_row, &ADA_AND_BO), &["missing_row.csv:"]),
        (with(&good, &["--players", "Ada,Eve"]), &["good.csv: there is nothing called \"Eve\""]),
        (with(&good, &["--players", "9"]), &["9 players cannot be drawn from 5"]),
        (with(&good, &["--players", &who]), &["who.csv: line 3", "\"Eve\""]),
        (both(&["--sites", &sites]), &["sites.csv: line 3", "\"Paris\""]),
        (with(&pairs, &["--between", &good]), &["good.csv: the first table has"]),
        (both(&["--require", "Paris"]), &["--require: no candidate is called \"Paris\""]),
        (both(&["--forbid", "Oslo,Rome,Lima"]), &["site"]),
        (both(&["--max-servers", "0"]), &["--max-servers 0: there must be at least one server"]),
        (both(&["--max-servers", "1", "--capacity", "1"]), &["--max-servers: at most 1 servers", "at least 2"]),
        (both(&["--capacity", "0.5"]), &["--capacity: the sites can hold 1.5 players, but there are 2"]),
        (both(&["--critical-ms", "100"]), &["--critical-ms: no plan has", "within 100 ms: the nearest is 105 ms"]),
        (both(&["--objective", "servers"]), &["--objective servers needs --critical-ms"]),
        (both(&["--share", "1.5"]), &["--share"]),
        (both(&["--round-ms", "-1"]), &["--round-ms"]),
        (both(&["--json", "-", "--csv", "-"]), &["only one of --json and --csv"]),
        (both(&["--report", &good]), &["--report needs a directory"]),
    ] {
        let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        if !arguments.contains(&"--json") {
            arguments.extend(["--json", text(&out)]);
        }
        let output = evenkeel(&arguments);
        let errors = errors(&output);
        assert_eq!((output.status.code(), errors.lines().count()), (Some(2), 1), "{arguments:?}: {errors}");
        assert!(wanted.iter().all(|part| errors.contains(part)), "{arguments:?}: {errors}");
        assert!(output.stdout.is_empty() && !out.exists(), "{arguments:?}: {errors}");
    }
}

#[test]
fn a_report_has_a_page_with_a_map_and_tables() {
    let folder = folder("sites-report");
    let square = write(&folder, "square.csv", SQUARE);
    let sites = write(&folder, "sites.csv", "name,latitude,longitude\nOslo,60,11\nRome,42,12\nLima,-12,-77\n");
    for more in [&[][..], &["--sites", text(&sites)]] {
        let report = folder.join(format!("report{}", more.len()));
        let solve = [&["solve", "--rtt", text(&square)], &ADA_AND_BO[..], &["--report", text(&report)], more].concat();
        printed(&solve);
        let page = std::fs::read_to_string(report.join("index.html")).unwrap();
        assert!(page.contains("Lima (95 ms)") && page.contains("Ada: 105.0 ms"), "a map");
        assert_eq!(page.contains("Directions mean nothing"), more.is_empty());
        assert!(!page.contains("NaN") && !page.contains("http"));
        let assigned = std::fs::read_to_string(report.join("assignment.csv")).unwrap();
        assert_eq!(assigned, "player,weight,server,response_ms\nAda,1,Oslo,105\nBo,1,Lima,105\n");
        assert_eq!(std::fs::read_to_string(report.join("strategies.csv")).unwrap().lines().count(), 5);
    }
}

#[test]
fn the_same_seed_draws_the_same_players() {
    let square = write(&folder("sites-seed"), "square.csv", SQUARE);
    let players = |seed: &str| {
        let value = json(&["solve", "--rtt", text(&square), "--players", "2", "--seed", seed, "--assign"]);
        answer(&value)["players"].clone()
    };
    assert_eq!(players("1"), players("1"));
    assert!((2..9).any(|seed| players(&seed.to_string()) != players("1")));
}

#[test]
fn strategies_are_compared_over_seeds() {
    let network = ["compare", "--topology", "waxman", "--nodes", "40", "--players", "8", "--seeds", "3"];
    let value = json(&network);
    let rows = value["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &value["problems"]), (5, &3.into()));
    let (lot, best) = (&rows[0], &rows[4]);
    assert_eq!((&best["strategy"], &best["wins"], &best["plans"]), (&"best".into(), &3.into(), &3.into()));
    assert!(best["max_ms"].as_f64() < lot["max_ms"].as_f64(), "{value}");
    assert_eq!(json(&network)["rows"][3]["mean_ms"], rows[3]["mean_ms"]);
    for (arguments, wanted) in [
        (&["compare", "--topology", "transit-stub", "--nodes", "601"][..], "a multiple of 100 nodes"),
        (&["compare", "--topology", "waxman", "--nodes", "20"], "--players 48: there are 20 nodes"),
        (&["compare", "--topology", "waxman", "--seeds", "0"], "--seeds 0"),
    ] {
        let output = evenkeel(arguments);
        assert!(output.status.code() == Some(2) && errors(&output).contains(wanted), "{}", errors(&output));
    }
}

/// What `watch` says to these events.
fn watched(arguments: &[&str], events: &str) -> Output {
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_evenkeel"))
        .args(["sites", "watch"])
        .args(arguments)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Whoever ends early does not read it all.
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), events.as_bytes());
    child.wait_with_output().unwrap()
}

#[test]
fn who_watches_is_told_when_other_servers_are_worth_it() {
    let square = write(&folder("sites-watch"), "square.csv", SQUARE);
    let given = ["--rtt", text(&square), "--candidates", "Oslo,Rome,Lima"];
    let events = "{\"at_s\": 0, \"servers\": [\"Rome\"]}\n\
                  {\"at_s\": 1, \"join\": \"Ada\", \"rtt_ms\": {\"Oslo\": 10, \"Rome\": 100, \"Lima\": 200}}\n\
                  {\"at_s\": 2, \"leave\": \"Nobody\"}\n\
                  {\"at_s\": 100, \"join\": \"Bo\", \"rtt_ms\": {\"Oslo\": 200, \"Rome\": 110, \"Lima\": 10}}\n";
    let output = watched(&given, events);
    assert!(output.status.success(), "{}", errors(&output));
    assert!(errors(&output).contains("line 3: "), "{}", errors(&output));
    let advice: Vec<Value> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&advice[0]["start"], &advice[0]["stop"]), (&serde_json::json!(["Oslo"]), &serde_json::json!(["Rome"])));
    assert_eq!(advice[1]["start"], serde_json::json!(["Lima"]), "{advice:?}");

    let strict = watched(&[&given[..], &["--strict"]].concat(), events);
    assert_eq!(strict.status.code(), Some(2));
    assert!(errors(&strict).contains("line 3: ") && !strict.stdout.is_empty());
    let reluctant = watched(&[&given[..], &["--hysteresis", "95"]].concat(), events);
    assert!(reluctant.status.success() && reluctant.stdout.is_empty(), "{:?}", reluctant.stdout);
    let bad = watched(&[&given[..], &["--pause-s", "-1"]].concat(), events);
    assert_eq!((bad.status.code(), errors(&bad).lines().count()), (Some(2), 1));
}
