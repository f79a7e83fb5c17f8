//! `evenkeel lab audit` from outside: exit codes, messages, files.
#![allow(clippy::unwrap_used)]

mod common;

use common::{errors, evenkeel, folder, text};
use std::path::Path;

const REAL: &str = "t_s,entity,x,y\n0,a,0,0\n0.5,a,5,0\n1,a,10,0\n";
const NEAR: &str = "t_s,entity,x,y\n0,a,0,1\n0.5,a,5,1\n1,a,10,1\n";
const FAR: &str = "t_s,entity,x,y\n0,a,0,5\n0.5,a,5,5\n1,a,10,5\n";

/// Writes logs; answers the arguments that name them.
fn logs(folder: &Path, files: [(&str, &str); 3]) -> Vec<String> {
    for (name, text) in files {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let path = |name: &str| folder.join(name).display().to_string();
    let placed = |name: &str| format!("{name}={}", path(name));
    let arguments = ["lab".into(), "audit".into(), "--real".into(), path(files[0].0)];
    let rest = files[1..].iter().flat_map(|(name, _)| ["--placed".to_owned(), placed(name)]);
    arguments.into_iter().chain(rest).collect()
}

fn run(arguments: &[String], more: &[&str]) -> std::process::Output {
    evenkeel(&arguments.iter().map(String::as_str).chain(more.iter().copied()).collect::<Vec<_>>())
}

#[test]
fn a_game_is_audited_in_every_form() {
    let folder = folder("audit");
    let arguments = logs(&folder, [("real", REAL), ("near", NEAR), ("far", FAR)]);
    let output = run(&arguments, &[]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("Unfair: far is worst off and sees things 5.00 m from where they are, 1.67"), "{printed}");
    let (report, csv) = (folder.join("report"), folder.join("a.csv"));
    let output = run(&arguments, &["--json", "-", "--csv", text(&csv), "--report", text(&report)]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let row = &value["rows"][0];
    let close =
        |value: &serde_json::Value, wanted: f64| assert!((value.as_f64().unwrap() - wanted).abs() < 1e-9, "{row}");
    close(&row["real_mean"], 3.0);
    close(&row["real_std"], 2.0);
    close(&row["real_max"], 5.0);
    close(&row["spread"], 4.0);
    close(&row["receivers"][0]["real_error"], 1.0);
    assert_eq!((&row["receivers"][1]["name"], &row["senders"][0]["name"]), (&"far".into(), &"a".into()));
    assert_eq!(std::fs::read_to_string(csv).unwrap().lines().count(), 3);
    assert!(std::fs::read_to_string(report.join("index.html")).unwrap().contains("Is this game fair?"));
}

#[test]
fn bad_logs_are_one_line_and_exit_code_2_and_nothing_is_written() {
    let folder = folder("audit-bad");
    let report = folder.join("report");
    for (file, wanted) in [
        ("t_s,entity,x,y\n0,a,1,1\n1,a,x,1\n", "far, line 3: `x` is `x`, which is not a number"),
        ("t_s,entity,x,y\n1,a,1,1\n0,a,1,1\n", "far, line 3: time goes backwards"),
        ("t_s,entity,x,y\n0,b,1,1\n1,b,1,1\n", "far shows `b`, which is not in"),
        ("t_s,entity,x\n0,a,1\n", "far, line 1: there is no column `y`"),
        ("", "far is empty"),
        ("t_s,entity,x,y\n50,a,1,1\n51,a,1,1\n", "receiver `far` shows nothing at a time when it is real"),
    ] {
        let arguments = logs(&folder, [("real", REAL), ("near", NEAR), ("far", file)]);
        let output = run(&arguments, &["--report", text(&report)]);
        let errors = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(wanted) && errors.lines().count() == 1, "{errors}");
        assert!(output.stdout.is_empty() && !report.exists());
    }
}

#[test]
fn bad_arguments_are_one_line_and_exit_code_2() {
    let folder = folder("audit-arguments");
    let arguments = logs(&folder, [("real", REAL), ("near", NEAR), ("far", FAR)]);
    for (more, wanted) in [
        (vec!["--placed", "nameless.csv"], "--placed needs NAME=FILE"),
        (vec!["--placed", "=x.csv"], "--placed needs NAME=FILE"),
        (vec!["--placed", "third=no-such-file.csv"], "cannot read no-such-file.csv"),
        (vec!["--placed", "near=x.csv"], "there are two receivers `near`"),
        (vec!["--max-gap", "-1"], "--max-gap must be above zero"),
        (vec!["--json", "no/such/folder/a.json"], "cannot write no/such/folder/a.json"),
    ] {
        let output = run(&arguments, &more);
        let errors = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{more:?}: {errors}");
        assert!(errors.contains(wanted) && errors.lines().count() == 1, "{more:?}: {errors}");
    }
}

#[test]
fn nothing_is_written_over_logs_or_other_results() {
    let folder = folder("audit-clash");
    let arguments = logs(&folder, [("real", REAL), ("near", NEAR), ("index.html", FAR)]);
    let (detour, out) = (folder.join(".").join("real"), folder.join("out"));
    for (more, wanted) in [
        (vec!["--json", text(&detour)], "the same file is read from"),
        (vec!["--csv", text(&folder.join("near"))], "the same file is read from"),
        (vec!["--report", text(&folder)], "the same file is read from"),
        (vec!["--json", text(&out), "--csv", text(&out)], "the same file takes other results"),
        (vec!["--json", text(&out), "--report", text(&out)], "the same file takes other results"),
    ] {
        let output = run(&arguments, &more);
        let errors = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{more:?}: {errors}");
        assert!(errors.contains(wanted) && errors.lines().count() == 1 && !out.exists(), "{more:?}: {errors}");
    }
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!([read("real"), read("near"), read("index.html")], [REAL, NEAR, FAR]);
}

#[test]
fn a_report_that_cannot_be_leaves_nothing_behind() {
    let folder = folder("audit-nowhere");
    let arguments = logs(&folder, [("real", REAL), ("near", NEAR), ("far", FAR)]);
    let (json, below_a_file) = (folder.join("a.json"), folder.join("real").join("report"));
    let output = run(&arguments, &["--json", text(&json), "--report", text(&below_a_file)]);
    assert_eq!((output.status.code(), json.exists()), (Some(2), false), "{}", errors(&output));
}
