//! `/feed`.

use crate::client::{Page, demo, within};
use evenkeel_demo::site::{MAX_COMMAND_BYTES, MAX_PAGES};
use tokio_tungstenite::tungstenite::protocol::Message;

#[tokio::test(flavor = "multi_thread")]
async fn the_feed_says_hello_then_shows_pictures_as_promised() {
    let demo = demo().await;
    let mut page = Page::open(&demo).await;
    let Some(Message::Text(hello)) = page.next().await else { panic!("no hello") };
    let hello: serde_json::Value = serde_json::from_str(&hello).unwrap();
    assert_eq!((&hello["kind"], &hello["version"]), (&"hello".into(), &1.into()));
    assert_eq!(hello["games"]["tanks"]["obstacles"].as_array().unwrap().len(), 9);
    assert!(hello["policies"].as_array().unwrap().iter().any(|policy| policy[0] == "even"));
    assert_eq!(hello["play"]["session"], "left");
    assert!(hello["play"]["port"].as_u64().unwrap() > 0);
    assert_eq!(hello["play"]["hashes"][0].as_str().unwrap().len(), 44);
    assert_eq!(hello["play"]["how"].is_null(), hello["play"]["wasm"].as_bool().unwrap());

    let mut state = page.told("state", |_| true).await;
    let mut seen = 0;
    within(async {
        while seen < 20 {
            match page.next().await.unwrap() {
                Message::Text(text) => {
                    let told: serde_json::Value = serde_json::from_str(&text).unwrap();
                    if told["kind"] == "state" {
                        state = told;
                    }
                }
                Message::Binary(bytes) => {
                    let count = |n: usize| usize::from(bytes[n]);
                    let (worlds, views, crafts, shots) = (count(2), count(3), count(4), count(5));
                    assert_eq!(bytes.len(), 14 + crafts * 7 + worlds * views * crafts * 7 + shots * 5);
                    assert_eq!(u64::from(bytes[1]), state["generation"].as_u64().unwrap() & 0xFF);
                    assert_eq!(crafts, state["crafts"].as_array().unwrap().len());
                    assert_eq!((worlds, views), (2, state["views"].as_array().unwrap().len()));
                    seen += 1;
                }
                _ => {}
            }
        }
    })
    .await;
    let second = page.told("second", |_| true).await;
    assert_eq!(second["worlds"].as_array().unwrap().len(), 2);
    demo.stop().await;
    // Nothing is left to listen to.
    while page.next().await.is_some() {}
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_act_or_are_refused_with_a_reason() {
    let demo = demo().await;
    let (mut page, mut other) = (Page::open(&demo).await, Page::open(&demo).await);
    page.send(r#"{"set": {"left": {"policy": "credits"}}}"#).await;
    for page in [&mut page, &mut other] {
        page.told("state", |state| state["settings"]["left"]["policy"] == "credits").await;
    }
    page.send(r#"{"set": {"right": null}}"#).await;
    page.told("state", |state| state["settings"]["right"].is_null()).await;
    for (command, why) in [
        (r#"{"set": {"bots": 17}}"#, "bots must be 1 to 16, not 17"),
        (r#"{"set": {"left": {"policy": "evn"}}}"#, "did you mean `even`"),
        (r#"{"set": {"left": 3}}"#, "settings"),
        (r#"{"set": 3}"#, "JSON object"),
        (r#"{"do": "a barrel roll"}"#, "nobody knows how to do `a barrel roll`"),
        (r#"{"do": "stop-recording"}"#, "nothing is being recorded"),
        (r#"{"do": "close-recording"}"#, "no recording is open"),
        (r#"{"do": "reset", "set": {}}"#, "one field"),
        ("[]", "JSON object"),
        ("drive!", "no JSON"),
    ] {
        let said = page.refused(command).await;
        assert!(said.contains(why), "{command}: {said}");
    }
    page.send(r#"{"do": "reset"}"#).await;
    page.picture().await;
    demo.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_pages_of_this_site_may_command() {
    let demo = demo().await;
    for origin in ["http://evil.example", "null", "http://localhost:1"] {
        assert!(Page::open_from(&demo, Some(origin)).await.is_err(), "{origin}");
    }
    // A program, which no page can make come.
    Page::open_from(&demo, None).await.unwrap().picture().await;
    demo.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_floods_is_closed_alone() {
    let demo = demo().await;
    let mut good = Page::open(&demo).await;
    let mut nonsense = Page::open(&demo).await;
    let mut flood = Page::open(&demo).await;
    let mut long = Page::open(&demo).await;
    long.send(&"x".repeat(MAX_COMMAND_BYTES + 1)).await;
    for _ in 0..300 {
        nonsense.send("?").await;
        flood.send(r#"{"do": "reset"}"#).await;
    }
    for mut bad in [nonsense, flood, long] {
        within(async { while bad.next().await.is_some() {} }).await;
    }
    good.send(r#"{"set": {"bots": 2}}"#).await;
    good.told("state", |state| state["settings"]["bots"] == 2).await;
    good.picture().await;
    demo.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn there_are_so_many_pages_and_no_more() {
    let demo = demo().await;
    let mut pages = Vec::new();
    for _ in 0..MAX_PAGES {
        pages.push(Page::open(&demo).await);
    }
    assert!(Page::open_from(&demo, None).await.is_err());
    pages.clear();
    within(async {
        while Page::open_from(&demo, None).await.is_err() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    })
    .await;
    demo.stop().await;
}
