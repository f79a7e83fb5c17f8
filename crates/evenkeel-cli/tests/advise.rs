//! `evenkeel lab advise` from outside: exit codes, messages, files.
#![allow(clippy::unwrap_used)]

mod common;

use common::{errors, folder, text};
use serde_json::Value;
use std::process::Output;

const SMALL: [&str; 4] = ["--seconds", "20", "--entities", "1"];

fn evenkeel(arguments: &[&str]) -> Output {
    common::evenkeel(&[&["lab", "advise"], arguments].concat())
}

fn json(arguments: &[&str]) -> Value {
    let output = evenkeel(&[&SMALL[..], arguments, &["--json", "-"]].concat());
    assert!(output.status.success(), "{}", errors(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn bad_input_is_one_line_and_exit_code_2_and_nothing_is_written() {
    let folder = folder("advise-bad");
    let out = folder.join("out.json");
    for (arguments, wanted) in [
        (vec!["--max-lag", "movment=60"], "--max-lag: no action is called `movment`: did you mean `movement`?"),
        (vec!["--max-lag", "jumping=60"], "no action is called `jumping`: there are movement and verdicts"),
        (vec!["--max-lag", "60"], "`60` is no KIND=MS, as in movement=60,verdicts=250"),
        (vec!["--max-lag", "verdicts=-1"], "`-1` is no lag: write milliseconds"),
        (vec!["--motion", "tnak"], "unknown motion `tnak`: did you mean `tank`?"),
        (vec!["--budget", "4/3"], "`4/3` is no budget"),
        (vec!["--delays-ms", "100,-5"], "--delays-ms must be"),
        (vec!["--jitter-ms", "inf"], "--jitter-ms must be"),
        (vec!["--loss", "1"], "--loss must be"),
        (vec!["--tick-ms", "0"], "--tick-ms must be"),
        (vec!["--tick-ms", "NaN"], "--tick-ms must be"),
        (vec!["--seconds", "-3"], "seconds must be"),
        (vec!["--trace", "no-such-file.csv"], "cannot read no-such-file.csv"),
        (vec!["--json", "no/such/folder/x.json"], "cannot write no/such/folder/x.json: there is no such directory"),
        (vec!["--json", text(&folder)], "it is a directory"),
    ] {
        let asks_for_json = arguments.contains(&"--json");
        let file = if asks_for_json { vec![] } else { vec!["--json", text(&out)] };
        let output = evenkeel(&[&arguments[..], &file[..]].concat());
        let errors = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(wanted), "{arguments:?}: {errors}");
        assert!(errors.lines().count() == 1 && output.stdout.is_empty() && !out.exists(), "{arguments:?}: {errors}");
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_three_sentences() {
    let write = |name: &str, seed: &str| {
        let file = folder(name).join("a.json");
        let network = ["--delays-ms", "30,120", "--jitter-ms", "10", "--loss", "0.02", "--seed", seed];
        let output = evenkeel(&[&SMALL[..], &network[..], &["--json", text(&file)]].concat());
        assert!(output.status.success(), "{}", errors(&output));
        (String::from_utf8(output.stdout).unwrap(), std::fs::read_to_string(file).unwrap())
    };
    let once = write("advise-once", "1");
    assert_eq!(once, write("advise-again", "1"));
    assert_ne!(once, write("advise-other", "2"));
    let (printed, written) = once;
    assert!(printed.lines().all(|line| line.chars().count() <= 100), "{printed}");
    assert_eq!(printed.lines().filter(|line| line.starts_with(" > ")).count(), 1, "{printed}");
    let value: Value = serde_json::from_str(&written).unwrap();
    let sentences = value["sentences"].as_array().unwrap();
    let words = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(sentences.len(), 3);
    assert!(sentences.iter().all(|sentence| words.contains(sentence.as_str().unwrap())), "{printed}");
}

#[test]
fn json_to_standard_output_is_json_alone_and_keeps_to_the_limits() {
    let value = json(&["--delays-ms", "30,80,200", "--max-lag", "movement=40,verdicts=300"]);
    let set = &value["recommendation"];
    assert!(value["version"].is_string() && set["budget"].is_string() && set["policy"].is_string());
    assert!(set["movement_lag_ms"].as_f64().unwrap() <= 40.0);
    assert_eq!((&set["verdict_lag_ms"], &set["timewarp"]), (&217.0.into(), &false.into()));
    assert_eq!(set["prediction"], false);
    let rows = value["rows"].as_array().unwrap();
    assert_eq!((&rows[0]["policy"], &rows[0]["lag_ms"]), (&"base/3".into(), &0.0.into()));
    assert_eq!(rows.iter().filter(|row| row["recommended"] == true).count(), 1);
    for part in ["mean_m", "std_m", "max_m", "vectors", "response_ms"] {
        assert!(rows.iter().all(|row| row[part].is_number()), "{part}");
    }
}

#[test]
fn short_limits_take_timewarp_and_long_lags_prediction() {
    let value = json(&["--delays-ms", "200,500", "--max-lag", "movement=300,verdicts=250"]);
    let set = &value["recommendation"];
    assert_eq!((&set["timewarp"], &set["prediction"]), (&true.into(), &true.into()), "{set}");
    assert_eq!(set["verdict_lag_ms"], 250.0);
}

#[test]
fn who_may_send_everything_is_told_what_lag_does_alone() {
    let value = json(&["--budget", "1", "--delays-ms", "100,200"]);
    assert_eq!(value["recommendation"]["policy"], "base");
    assert!(value["rows"].as_array().unwrap().iter().all(|row| row["policy"] == "base"));
}
