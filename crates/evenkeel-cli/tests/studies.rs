//! `evenkeel lab list`, `run` and `all` from outside: exit codes, messages, files.
#![allow(clippy::unwrap_used)]

mod common;

use common::{errors, evenkeel, folder, text};
use serde_json::Value;

const SMALL: [&str; 4] = ["--seeds", "2", "--seconds", "20"];

/// The name of some experiment.
fn some_name() -> String {
    let output = evenkeel(&["lab", "list", "--json"]);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let names = value["experiments"].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap());
    // One of the quicker ones, if it is there.
    names.clone().find(|name| *name == "liar").or(names.clone().next()).unwrap().to_owned()
}

#[test]
fn the_list_names_every_experiment_and_what_it_is_for() {
    let plain = String::from_utf8(evenkeel(&["lab", "list"]).stdout).unwrap();
    let output = evenkeel(&["lab", "list", "--json"]);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let entries = value["experiments"].as_array().unwrap();
    assert!(!entries.is_empty());
    for entry in entries {
        for part in ["name", "question", "reproduces"] {
            assert!(plain.contains(entry[part].as_str().unwrap()), "{part} of {entry}");
        }
        let [quick, full] = ["rough_seconds_quick", "rough_seconds"].map(|part| entry[part].as_f64().unwrap());
        assert!(0.0 < quick && quick < full, "{entry}");
    }
}

#[test]
fn bad_input_is_one_line_and_exit_code_2_and_nothing_is_written() {
    let (folder, name) = (folder("studies-bad"), some_name());
    let (report, file) = (folder.join("report"), folder.join("file"));
    std::fs::write(&file, "").unwrap();
    let wrong = format!("{name}x");
    for (arguments, wanted) in [
        (vec!["run", &wrong], format!("there is no experiment `{wrong}`; did you mean `{name}`?")),
        (vec!["run", "no such thing at all"], "there is no experiment `no such thing at all`; there are".into()),
        (vec!["run", &name, "--seeds", "0"], "--seeds must be between".into()),
        (vec!["all", "--seconds", "-5"], "--seconds must be between".into()),
        (vec!["all", "--seconds", "NaN"], "--seconds must be between".into()),
        (vec!["run", &name, "--json", "no/such/folder/x.json"], "cannot write no/such/folder/x.json".into()),
        (vec!["run", &name, "--json", text(&folder)], "it is a directory".into()),
        (vec!["run", &name, "--json", "-", "--csv", "-"], "only one of --json and --csv can be `-`".into()),
    ] {
        let output = evenkeel(&[&["lab"], &arguments[..], &["--report", text(&report)]].concat());
        let errors = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(&wanted), "{arguments:?}: {errors}");
        assert!(errors.lines().count() == 1 && output.stdout.is_empty() && !report.exists(), "{arguments:?}: {errors}");
    }
    let output = evenkeel(&["lab", "run", &name, "--report", text(&file)]);
    assert!(output.status.code() == Some(2) && errors(&output).contains("--report needs a directory"));
}

#[test]
fn the_same_seed_gives_the_same_bytes_everywhere() {
    let name = some_name();
    let write = |place: &str| {
        let folder = folder(place);
        let (json, csv, report) = (folder.join("a.json"), folder.join("a.csv"), folder.join("report"));
        let files = ["--json", text(&json), "--csv", text(&csv), "--report", text(&report)];
        let output = evenkeel(&[&["lab", "run", &name], &SMALL[..], &files[..]].concat());
        assert!(output.status.success(), "{}", errors(&output));
        assert!(errors(&output).contains("times as fast"));
        let printed = String::from_utf8(output.stdout).unwrap().replace(place, "");
        let read = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap();
        [printed, read(json), read(csv), read(report.join("index.html"))]
    };
    let once = write("studies-once");
    assert_eq!(once, write("studies-again"));
    let [printed, _, csv, page] = &once;
    assert!(printed.starts_with(&format!("{name}: ")), "{printed}");
    assert!(
        printed.lines().filter(|line| !line.contains("Details")).all(|line| line.chars().count() <= 100),
        "{printed}"
    );
    assert!(csv.starts_with("experiment,claim,verdict,"));
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    for foreign in ["http:", "https:", "<script", "<link", " src=", "NaN"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
}

#[test]
fn json_to_standard_output_is_json_alone() {
    let name = some_name();
    let output = evenkeel(&[&["lab", "run", &name, "--json", "-"], &SMALL[..]].concat());
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let study = &value["studies"][0];
    assert_eq!((study["name"].as_str().unwrap(), &value["seeds"], &value["seed"]), (&*name, &2.into(), &1.into()));
    assert!(value["version"].is_string() && study["summary"].is_string() && study["settings"].is_object());
    for part in ["tables", "plots", "claims"] {
        assert!(study[part].is_array(), "{part}");
    }
    for claim in study["claims"].as_array().unwrap() {
        assert!(claim["id"].is_string() && claim["verdict"].is_string() && claim["band"].is_string());
        assert!(claim["observations"][0]["values"].is_array());
    }
}

#[test]
fn without_the_recorded_games_their_study_fails_alone_and_is_left_out_of_all() {
    let folder = folder("studies-nowhere");
    let report = folder.join("report");
    let files = ["--data", text(&folder), "--report", text(&report)];
    let output = evenkeel(&[&["lab", "run", "recorded"], &SMALL[..], &files[..]].concat());
    let complaint = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{complaint}");
    assert!(complaint.lines().count() == 1 && complaint.contains("say where its data is with --data"), "{complaint}");
    assert!(output.stdout.is_empty() && !report.exists());
    let output = evenkeel(&[&["lab", "all", "--seeds", "1", "--seconds", "20"], &files[..]].concat());
    assert!(output.status.success() && errors(&output).contains("recorded is left out"), "{}", errors(&output));
    let page = std::fs::read_to_string(report.join("index.html")).unwrap();
    assert!(page.contains("<section id=\"recorded\">") && page.contains("Left out: "));
}

#[test]
fn whoever_asks_for_everything_gets_everything() {
    let folder = folder("studies-all");
    let listed = evenkeel(&["lab", "list", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let output = evenkeel(&["lab", "all", "--seeds", "1", "--seconds", "20", "--json", "-", "--report", text(&folder)]);
    assert!(output.status.success(), "{}", errors(&output));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let names = |list: &Value| list.as_array().unwrap().iter().map(|s| s["name"].clone()).collect::<Vec<_>>();
    assert_eq!(names(&value["studies"]), names(&listed["experiments"]));
    let page = std::fs::read_to_string(folder.join("index.html")).unwrap();
    for name in names(&listed["experiments"]) {
        assert!(page.contains(&format!("<section id=\"{}\">", name.as_str().unwrap())), "{name}");
    }
}
