//! A run is recorded, taken along, and opened again.

use crate::client::{Page, demo, get, host, post};
use evenkeel::{GlobalTime, Vec3};
use evenkeel_link::recording::{Event, Header, RecordingReader, RecordingWriter};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_recorded_and_opened_again() {
    let demo = demo().await;
    let mut page = Page::open(&demo).await;
    // The farthest receiver is the last to see anything.
    page.told("second", |second| second["worlds"][1]["receivers"][2]["error"].is_number()).await;
    page.send(r#"{"do": "record"}"#).await;
    page.told("state", |state| state["recording"] == true).await;
    assert!(page.refused(r#"{"do": "record"}"#).await.contains("already"));
    for _ in 0..120 {
        page.picture().await;
    }
    page.send(r#"{"do": "stop-recording"}"#).await;
    let url = page.told("recorded", |_| true).await["url"].as_str().unwrap().to_owned();
    let file = get(&demo, &url).await;
    assert_eq!(file.header("content-length").unwrap(), file.body.len().to_string());

    let mut reader = RecordingReader::new(&file.body[..], &[]).unwrap();
    assert_eq!(reader.header().hosts.len(), 6);
    assert_eq!(reader.header().hosts[0], "left, 200 ms");
    assert_eq!(reader.header().setting("command"), Some("demo"));
    let events: Vec<Event> = reader.by_ref().map(Result::unwrap).collect();
    assert!(events.iter().filter(|event| matches!(event, Event::Real { .. })).count() > 60);
    assert!(events.iter().filter(|event| matches!(event, Event::Placed { by: 5, .. })).count() > 60);

    let opened = post(&demo, "x-file-name: my%20run.evkrec\r\n", &file.body).await;
    assert_eq!(opened.status, 204, "{}", opened.text());
    let state = page.told("state", |state| state["opened"] == "my run.evkrec").await;
    assert_eq!((state["crafts"].as_array().unwrap().len(), state["views"].as_array().unwrap().len()), (1, 3));
    let bytes = page.picture().await;
    assert_eq!((bytes[2], bytes[3], bytes[4]), (2, 3, 1));
    let second = page.told("second", |_| true).await;
    assert!(second["worlds"][0]["receivers"][2]["error"].is_number(), "{second}");
    assert!(page.refused(r#"{"set": {"bots": 2}}"#).await.contains("close it first"));
    // It begins anew by itself.
    page.told("state", |again| again["generation"] != state["generation"]).await;
    page.send(r#"{"do": "close-recording"}"#).await;
    page.told("state", |state| state["opened"].is_null()).await;
    page.picture().await;
    demo.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_recording_is_refused_in_a_line_and_nothing_changes() {
    let demo = demo().await;
    let mut page = Page::open(&demo).await;
    let good = foreign();
    let mut late = good.clone();
    late[40] ^= 0xFF;
    let mut nothing = RecordingWriter::new(Vec::new(), &Header::default()).unwrap();
    nothing.write(&Event::Note { at: GlobalTime::ZERO, text: "nobody came".into() }).unwrap();
    let cases: [(&[u8], &str); 5] = [
        (b"", "too early"),
        (b"GIF89a...", "no recording"),
        (&good[..good.len() / 2], "too early"),
        (&late, "recording"),
        (&nothing.finish().unwrap(), "nothing to be seen"),
    ];
    for (bytes, why) in cases {
        let answer = post(&demo, "", bytes).await;
        let said = answer.text();
        assert!(answer.status == 400 && said.contains(why) && said.lines().count() == 1, "{why}: {said}");
    }
    page.send(r#"{"set": {"bots": 2}}"#).await;
    let state = page.told("state", |state| state["settings"]["bots"] == 2).await;
    assert!(state["opened"].is_null());
    demo.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn recordings_of_other_programs_are_shown_too() {
    let demo = demo().await;
    let mut page = Page::open(&demo).await;
    assert_eq!(post(&demo, "", &foreign()).await.status, 204);
    let state = page.told("state", |state| state["opened"] == "recording").await;
    assert_eq!(state["crafts"][0]["name"], "tank 0");
    assert_eq!(state["views"][0]["name"], "far away");
    let second = page.told("second", |_| true).await;
    let receiver = &second["worlds"][0]["receivers"][0];
    assert!((receiver["error"].as_f64().unwrap() - 5.0).abs() < 1e-9, "{second}");
    assert!((receiver["accumulated"].as_f64().unwrap() - 5.0).abs() < 0.2, "{second}");
    let bytes = page.picture().await;
    let number = |at: usize| i16::from_le_bytes([bytes[at], bytes[at + 1]]);
    assert_eq!((number(23) - number(16), number(21) - number(14)), (200, 150), "4 and 3 units off");
    demo.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_sends_slowly_keeps_nobody_waiting() {
    let demo = demo().await;
    let host = host(&demo);
    let mut slow = TcpStream::connect(&host).await.unwrap();
    let origin = demo.url();
    let begin = format!("POST /recordings HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nContent-Length: 9\r\n\r\nE");
    slow.write_all(begin.as_bytes()).await.unwrap();
    // Until it has been heard.
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(post(&demo, "", &foreign()).await.status, 204);
    demo.stop().await;
}

/// One tank for two seconds, shown 5 m off.
fn foreign() -> Vec<u8> {
    let header =
        Header { hosts: vec!["near".into(), "far away".into()], entities: vec!["tank 0".into()], ..Header::default() };
    let mut writer = RecordingWriter::new(Vec::new(), &header).unwrap();
    for n in 0..100 {
        let at = GlobalTime::from_millis(20 * n);
        let position = Vec3::new(n as f64 * 0.1, 1.0, 0.0);
        writer.write(&Event::Real { entity: 0, at, position, velocity: Vec3::ZERO, heading: 0.0 }).unwrap();
        let position = position + Vec3::new(3.0, 4.0, 0.0);
        writer.write(&Event::Placed { entity: 0, by: 1, at, position, heading: 0.0 }).unwrap();
    }
    writer.finish().unwrap()
}
