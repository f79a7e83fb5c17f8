//! `evenkeel sites reproduce` from outside: exit codes, messages, files.
#![allow(clippy::unwrap_used)]

mod common;

use common::{errors, evenkeel, folder, text};
use serde_json::Value;

const SMALL: [&str; 6] = ["--nodes", "100", "--players", "8", "--runs", "2"];

#[test]
fn bad_input_is_one_line_and_exit_code_2_and_nothing_is_written() {
    let folder = folder("reproduce-bad");
    let report = folder.join("report");
    for (arguments, wanted) in [
        (["--nodes", "7"], "--nodes must be between"),
        (["--players", "-1"], "invalid value"),
        (["--players", "1"], "--players must be between"),
        (["--runs", "0"], "--runs must be between"),
        (["--topology", "ring"], "invalid value"),
        (["--json", "no/such/folder/x.json"], "cannot write no/such/folder/x.json"),
    ] {
        let output = evenkeel(&[&["sites", "reproduce"], &arguments[..], &["--report", text(&report)]].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(errors(&output).contains(wanted), "{arguments:?}: {}", errors(&output));
        assert!(output.stdout.is_empty() && !report.exists(), "{arguments:?}");
    }
}

#[test]
fn results_go_where_they_are_wanted_and_the_same_seed_gives_the_same_bytes() {
    let folder = folder("reproduce");
    let (report, file) = (folder.join("report"), folder.join("all.json"));
    let run =
        |more: &[&str]| evenkeel(&[&["sites", "reproduce", "--topology", "transit-stub"], &SMALL[..], more].concat());
    let output = run(&["--json", text(&file), "--report", text(&report)]);
    assert!(output.status.success(), "{}", errors(&output));
    assert!(errors(&output).contains("Took "), "{}", errors(&output));
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("sites-gap-5-percent") && shown.contains("transit-stub, backbone"), "{shown}");
    let page = std::fs::read_to_string(report.join("index.html")).unwrap();
    assert!(page.contains("Figure 2") && page.contains("Figure 3") && !page.contains("NaN"));
    let written = std::fs::read_to_string(&file).unwrap();
    let value: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(value["rows"].as_array().unwrap().len(), 2 * 2 * 6);
    assert_eq!(String::from_utf8(run(&["--json", "-"]).stdout).unwrap(), written);
}
