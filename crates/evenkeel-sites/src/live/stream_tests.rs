use super::{Settings, stream::Watch};
use crate::{Request, Site};

fn watch() -> Watch {
    let sites = ["F", "T"].map(Site::new).to_vec();
    Watch::new(sites, vec![0.0, 100.0, 100.0, 0.0], Request::default(), Settings::default()).unwrap()
}

#[test]
fn lines_are_events() {
    let mut watch = watch();
    assert_eq!(watch.line(r#"{"at_s": 0, "servers": ["F"]}"#), Ok(None));
    assert_eq!(watch.line(""), Ok(None));
    assert_eq!(watch.line(r#"{"at_s": 1, "join": "Ada", "rtt_ms": {"F": 20}}"#), Ok(None));
    let line = watch.line(r#"{"at_s": 2, "join": "Bo", "weight": 2, "rtt_ms": {"T": 10}}"#).unwrap().unwrap();
    let advice: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&advice["start"], &advice["after_ms"]), (&serde_json::json!(["T"]), &serde_json::json!(70.0)));
    assert_eq!(advice["lag_after_ms"], serde_json::json!({"F": 50.0, "T": 50.0}));
    assert_eq!(watch.keeper().servers(), [0, 1]);
    assert_eq!(watch.line(r#"{"at_s": 3, "player": "Bo", "rtt_ms": {"F": 1, "T": null}}"#), Ok(None), "the pause");
    assert_eq!(watch.line(r#"{"at_s": 3, "between_ms": 40, "sites": ["F", "T"]}"#), Ok(None));
    assert_eq!(watch.keeper().response("Bo"), Ok(21.0));
    let line = watch.line(r#"{"at_s": 63}"#).unwrap().unwrap();
    assert!(line.contains(r#""stop":["T"]"#), "{line}");
    assert_eq!(watch.line(r#"{"at_s": 64, "leave": "Ada"}"#), Ok(None));
    assert_eq!(watch.keeper().problem().players().len(), 1);
}

/// Before the first player there need not be a server, and after the last there need not be one any more.
#[test]
fn a_session_may_be_empty() {
    let mut watch = watch();
    assert_eq!(watch.line(r#"{"at_s": 0, "servers": []}"#), Ok(None));
    assert_eq!(watch.keeper().value(), Ok(0.0));
    assert!(watch.line(r#"{"at_s": 1, "join": "Ada", "rtt_ms": {"F": 20}}"#).unwrap().is_some());
    assert_eq!(watch.line(r#"{"at_s": 2, "leave": "Ada"}"#), Ok(None));
    assert_eq!(watch.line(r#"{"at_s": 3, "servers": []}"#), Ok(None));
    assert_eq!(watch.line(r#"{"at_s": 99}"#), Ok(None));
    assert!(watch.keeper().servers().is_empty());
    assert!(watch.line(r#"{"at_s": 100, "join": "Bo", "rtt_ms": {"T": 20}}"#).unwrap().is_some());
}

#[test]
fn who_asks_waits() {
    let mut watch = watch().asking();
    assert!(watch.line(r#"{"at_s": 1, "join": "Ada", "rtt_ms": {"F": 20}}"#).unwrap().is_some());
    assert_eq!(watch.line(r#"{"at_s": 2}"#), Ok(None));
    assert_eq!(watch.line(r#"{"at_s": 3, "accept": false}"#), Ok(None));
    assert!(watch.line(r#"{"at_s": 63}"#).unwrap().is_some());
    assert!(watch.keeper().servers().is_empty());
    assert_eq!(watch.line(r#"{"at_s": 64, "accept": true}"#), Ok(None));
    assert_eq!(watch.keeper().servers(), [0]);
}

#[test]
fn bad_lines_change_nothing() {
    let mut watch = watch();
    watch.line(r#"{"at_s": 5, "join": "Ada", "rtt_ms": {"F": 20}}"#).unwrap();
    let before = watch.keeper().problem().clone();
    let bad = [
        "x",
        "[]",
        "{}",
        r#"{"at_s": -1}"#,
        r#"{"at_s": 4}"#,
        r#"{"at_s": 6, "x": 1}"#,
        r#"{"at_s": 6, "join": "Bo"}"#,
        r#"{"at_s": 6, "join": 7, "rtt_ms": {"F": 1}}"#,
        r#"{"at_s": 6, "join": "Bo", "rtt_ms": {"X": 1}}"#,
        r#"{"at_s": 6, "join": "Bo", "rtt_ms": {"F": "1"}}"#,
        r#"{"at_s": 6, "join": "Bo", "weight": -1, "rtt_ms": {"F": 1}}"#,
        r#"{"at_s": 6, "leave": "Bo"}"#,
        r#"{"at_s": 6, "leave": "Ada", "join": "Bo"}"#,
        r#"{"at_s": 6, "player": "Ada", "rtt_ms": {"F": -1}}"#,
        r#"{"at_s": 6, "player": "Ada", "rtt_ms": {"F": null}}"#,
        r#"{"at_s": 6, "between_ms": 5, "sites": ["F"]}"#,
        r#"{"at_s": 6, "servers": ["X"]}"#,
        r#"{"at_s": 6, "accept": true}"#,
    ];
    for (i, line) in bad.iter().enumerate() {
        let error = watch.line(line).expect_err(line);
        assert_eq!(error.line, i as u64 + 2, "{line}");
        assert_eq!(watch.keeper().problem(), &before);
    }
    assert_eq!(watch.line(r#"{"at_s": 4}"#).unwrap_err().to_string(), "line 20: time goes back from 5 s to 4 s");
    assert_eq!(watch.line(r#"{"at_s": 5, "leave": "Ada"}"#), Ok(None), "a bad line does not move the time");
    let twice = Watch::new(vec![Site::new("F"), Site::new("F")], vec![0.0; 4], Request::default(), Settings::default());
    assert!(twice.is_err());
}
