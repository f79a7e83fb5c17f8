//! `evenkeel lab compare` from outside: exit codes, messages, files.
#![allow(clippy::unwrap_used)]

mod common;

use common::{folder, text};
use std::path::{Path, PathBuf};
use std::process::Output;

fn evenkeel(arguments: &[&str]) -> Output {
    common::evenkeel(&[&["lab", "compare"], arguments].concat())
}

#[test]
fn bad_input_is_one_line_and_exit_code_2_and_nothing_is_written() {
    let folder = folder("bad");
    let backwards = folder.join("backwards.csv");
    std::fs::write(&backwards, "t_s,player,x,y\n1.5,a,0,0\n1.0,a,0,0\n").unwrap();
    let out = folder.join("out.json");
    for (arguments, wanted) in [
        (vec!["--policies", "bass"], "unknown policy `bass`"),
        (vec!["--motion", "tnak"], "unknown motion `tnak`: did you mean `tank`?"),
        (vec!["--budget", "4/3"], "`4/3` is no budget"),
        (vec!["--budget", "0"], "`0` is no budget"),
        (vec!["--delays-ms", "100,-5"], "--delays-ms must be"),
        (vec!["--loss", "1.5"], "--loss must be"),
        (vec!["--uplink-ms", "inf"], "--uplink-ms must be"),
        (vec!["--uplink-ms", "50", "--senders", "each"], "there is none with --senders each"),
        (vec!["--uplink-ms", "50", "--policies", "base,tolerance"], "policy `tolerance` stretches thresholds"),
        (vec!["--bound", "--jitter-ms", "5"], "the bound needs constant delays"),
        (vec!["--bound", "--clock", "local"], "the bound needs vectors that count from their generation"),
        (vec!["--seconds", "NaN"], "seconds must be"),
        (vec!["--threshold", "-1"], "thresholds must not be negative"),
        (vec!["--trace", "no-such-file.csv"], "cannot read no-such-file.csv"),
        (vec!["--trace", text(&backwards)], "backwards.csv, line 3: time goes backwards (1.00 s after 1.50 s)"),
        (vec!["--trace", text(&backwards), "--csv", text(&backwards)], "the same file is read from"),
        (vec!["--report", text(&backwards)], "--report needs a directory"),
    ] {
        let output = evenkeel(&[&arguments[..], &["--json", text(&out)]].concat());
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(wanted), "{arguments:?}: {errors}");
        assert!(output.stdout.is_empty() && !out.exists(), "{arguments:?}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_everywhere() {
    let write = |name: &str| {
        let folder = folder(name);
        let (json, csv, report) = (folder.join("a.json"), folder.join("a.csv"), folder.join("report"));
        let settings = ["--seconds", "20", "--jitter-ms", "40", "--loss", "0.05", "--seeds", "2"];
        let files = ["--json", text(&json), "--csv", text(&csv), "--report", text(&report)];
        let output = evenkeel(&[&settings[..], &files[..]].concat());
        assert!(output.status.success());
        let table = String::from_utf8(output.stdout).unwrap().replace(name, "");
        let read = |path: PathBuf| std::fs::read_to_string(path).unwrap();
        [table, read(json), read(csv), read(report.join("index.html"))]
    };
    let once = write("once");
    assert_eq!(once, write("again"));
    assert!(once[0].starts_with(" policy ") && once[0].contains("Sending every third update"), "{}", once[0]);
    assert_eq!(once[2].lines().count(), 1 + 2 * 3);
}

#[test]
fn json_to_standard_output_is_json_alone() {
    let output = evenkeel(&["--seconds", "10", "--json", "-"]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["settings"]["motion"], "tank");
    assert_eq!(value["rows"][1]["policy"], "base/3");
    assert_eq!(value["rows"][0]["receivers"].as_array().unwrap().len(), 3);
    assert!(value["rows"][0]["mean"].as_f64().unwrap() > 0.0);
    assert!(value["version"].is_string());
}

#[test]
fn a_trace_of_vectors_is_refused_as_truth_and_taken_as_what_it_is() {
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/traces/bzflag-default-a.csv.gz");
    let output = evenkeel(&["--trace", text(&trace)]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("these look like DR vectors, not the true path"));
    let output = evenkeel(&["--trace", text(&trace), "--vectors-only", "--seconds", "60", "--json", "-"]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(value["rows"][0]["mean"].as_f64().unwrap() > 0.0 && value["rows"][0]["real_mean"].is_null());
}

#[test]
fn the_bound_is_in_every_form() {
    let folder = folder("bound");
    let (json, csv, report) = (folder.join("a.json"), folder.join("a.csv"), folder.join("report"));
    let settings = ["--seconds", "20", "--entities", "1", "--policies", "base,tolerance,even", "--bound"];
    let files = ["--json", text(&json), "--csv", text(&csv), "--report", text(&report)];
    let output = evenkeel(&[&settings[..], &files[..]].concat());
    assert!(output.status.success());
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("bound  gap closed") && table.contains("no policy with so many vectors"), "{table}");
    let read = |path: PathBuf| std::fs::read_to_string(path).unwrap();
    let found: serde_json::Value = serde_json::from_str(&read(json)).unwrap();
    for row in found["rows"].as_array().unwrap() {
        assert!(row["bound"].as_f64().unwrap() <= row["mean"].as_f64().unwrap(), "{row}");
    }
    assert_eq!(found["rows"][0]["gap_closed"], serde_json::Value::Null);
    assert_eq!(found["rows"][1]["gap_closed"], 0.0);
    assert!(read(csv).lines().next().unwrap().ends_with("bound,gap_closed"));
    assert!(read(report.join("index.html")).contains("gap closed"));
}
