//! A real server's numbers, asked for over HTTP while two clients play.

#![cfg(feature = "metrics")]
#![allow(clippy::unwrap_used)]

use evenkeel::{Pose, Threshold, Vec3};
use evenkeel_net::hub::{Asking, HubConfig, Pass};
use evenkeel_net::metrics::{Exporter, MetricsServer, names};
use evenkeel_net::protocol::Refusal;
use evenkeel_net::seat::SeatConfig;
use evenkeel_net::transport::{Identity, ListenConfig, Rate, Trust};
use evenkeel_net::{Client, Server};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn any_port() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

fn client(server: &Server, identity: &Identity, name: &str) -> Client {
    let url = format!("https://127.0.0.1:{}/", server.address().port());
    Client::start(&url, Trust::Hashes(vec![identity.hash()]), SeatConfig::named(name)).unwrap()
}

async fn server(identity: &Identity) -> Server {
    let gate = |asking: &Asking<'_>| match asking.name {
        "Eve" => Err(Refusal::Token("not you".into())),
        _ => Ok(Pass::with_entities(4)),
    };
    let many = Rate { burst: 1_000, per_second: 1_000.0 };
    let listen = ListenConfig { handshakes_per_source: many, ..ListenConfig::new(any_port(), identity.clone()) };
    let session = HubConfig { gate: Box::new(gate), session: "main".into(), ..HubConfig::default() };
    Server::start(listen, session).await.unwrap()
}

fn identity() -> Identity {
    Identity::self_made(["127.0.0.1"], Duration::from_secs(86_400)).unwrap()
}

/// Status, type and body of what is at a path.
async fn get(address: SocketAddr, path: &str) -> (u16, String, String) {
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let kind = head.lines().find_map(|line| line.strip_prefix("content-type: ")).unwrap_or("");
    (status, kind.to_owned(), body.to_owned())
}

/// Values by name and labels, as a strict reader of the form finds them.
fn parse(text: &str) -> BTreeMap<(String, String), f64> {
    let body = text.strip_suffix("# EOF\n").expect("it ends as it should");
    let mut samples = BTreeMap::new();
    let mut announced = BTreeSet::new();
    for line in body.lines() {
        if let Some(kind) = line.strip_prefix("# TYPE ") {
            assert!(announced.insert(kind.split(' ').next().unwrap().to_owned()), "announced twice: {line}");
        } else if !line.starts_with('#') {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let (name, labels) = series.strip_suffix('}').and_then(|s| s.split_once('{')).unwrap_or((series, ""));
            assert!(announced.contains(name.strip_suffix("_total").unwrap_or(name)), "not announced: {line}");
            let value = value.parse().unwrap_or_else(|_| panic!("no number: {line}"));
            assert!(samples.insert((name.to_owned(), labels.to_owned()), value).is_none(), "twice: {line}");
        }
    }
    samples
}

async fn play(clients: &[Client], millis: u64) {
    let tanks: Vec<_> = clients.iter().map(|c| c.make(Threshold::within(0.1), Vec::new()).unwrap()).collect();
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(millis) {
        for (client, tank) in clients.iter().zip(&tanks) {
            let t = client.now().unwrap().as_secs_f64();
            let velocity = Vec3::from_heading(t) * 10.0;
            let position = Vec3::new(10.0 * t.sin(), -10.0 * t.cos(), 0.0);
            client.observe(*tank, Pose::at(position).moving(velocity)).unwrap();
        }
        tokio::time::sleep(Duration::from_millis(16)).await;
    }
}

async fn ready(clients: &[Client]) {
    for _ in 0..4_000 {
        if clients.iter().all(Client::is_ready) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("never in");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_with_players_is_scraped() {
    let identity = identity();
    let server = server(&identity).await;
    let metrics = MetricsServer::start(any_port(), &server).await.unwrap();
    let clients = ["Ada", "Ben"].map(|name| client(&server, &identity, name));
    let _eve = client(&server, &identity, "Eve");
    ready(&clients).await;
    play(&clients, 1_500).await;

    assert_eq!(get(metrics.address(), "/healthz").await.0, 200);
    let (status, kind, text) = get(metrics.address(), "/metrics").await;
    assert_eq!((status, kind.split(';').next().unwrap()), (200, "application/openmetrics-text"));
    let samples = parse(&text);
    let of = |name: &str, labels: &str| {
        let labels = format!("session=\"main\"{}{labels}", if labels.is_empty() { "" } else { "," });
        *samples.get(&(name.to_owned(), labels.clone())).unwrap_or_else(|| panic!("{name}{{{labels}}}\n{text}"))
    };
    assert_eq!((of("evenkeel_players", ""), of("evenkeel_entities", "")), (2.0, 2.0));
    assert_eq!(of("evenkeel_refusals_total", "reason=\"token\""), 1.0);
    assert!(of("evenkeel_vectors_relayed_total", "") > 5.0);
    assert!(of("evenkeel_messages_received_total", "level=\"all_reliable\"") >= 4.0);
    for receiver in ["receiver=\"0\"", "receiver=\"1\""] {
        let delay = of("evenkeel_receiver_delay_seconds", receiver);
        assert!((-1.0..2.0).contains(&delay), "{delay}");
        let off = of("evenkeel_receiver_error_mean_meters", receiver);
        assert!(off > 0.0 && off < 5.0 && off <= of("evenkeel_error_max_meters", ""), "{off}");
        assert!(of("evenkeel_receiver_vectors_total", receiver) > 5.0);
        assert!(of("evenkeel_receiver_bytes_total", receiver) > of("evenkeel_receiver_vectors_total", receiver));
        assert!(of("evenkeel_receiver_clock_uncertainty_seconds", receiver) < 2.0);
    }
    let known: BTreeSet<String> = names().into_iter().collect();
    let seen: BTreeSet<String> = samples.into_keys().map(|(name, _)| name).collect();
    assert_eq!(seen, known, "everything in the catalogue is told, and nothing else");

    let (_, _, json) = get(metrics.address(), "/report").await;
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let called: BTreeSet<&str> = (0..2).map(|at| report["receivers"][at]["name"].as_str().unwrap()).collect();
    assert_eq!(called, BTreeSet::from(["Ada", "Ben"]));
    assert_eq!(report["receivers"][1]["connection"]["carrier"], "webtransport");

    server.with(|hub, _| hub.end("the test is over"));
    assert_eq!(get(metrics.address(), "/healthz").await.0, 503);
    drop(server);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(get(metrics.address(), "/healthz").await.0, 503);
    assert_eq!(get(metrics.address(), "/report").await.0, 503);
}

#[test]
fn the_dashboard_asks_for_what_there_is() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/grafana/evenkeel.json");
    let dashboard: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let mut asked = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().unwrap() {
            let expression = target["expr"].as_str().unwrap();
            let words = expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            asked.extend(words.filter(|word| word.starts_with("evenkeel_")).map(str::to_owned));
        }
    }
    let known: BTreeSet<String> = names().into_iter().collect();
    assert_eq!(asked, known, "every number is on the dashboard, and all that it shows exist");
}

/// Not a test: `cargo test -p evenkeel-net --test metrics -- --ignored --nocapture` says what a scrape costs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it measures"]
async fn what_a_scrape_costs_with_fifty_players() {
    let identity = identity();
    let server = server(&identity).await;
    let metrics = MetricsServer::start(any_port(), &server).await.unwrap();
    let clients: Vec<Client> = (0..50).map(|n| client(&server, &identity, &format!("player {n}"))).collect();
    ready(&clients).await;
    play(&clients, 3_000).await;
    let (mut reading, mut writing, mut size) = (Vec::new(), Vec::new(), 0);
    let exporter = Exporter::default();
    for _ in 0..21 {
        // For how long nobody else would have the hub if it were read at once, and how long the text takes.
        let report = server.with(|hub, now| {
            let start = Instant::now();
            let report = hub.report(now);
            reading.push(start.elapsed());
            report
        });
        let text = Instant::now();
        size = exporter.text(&report).unwrap().len();
        writing.push(text.elapsed());
    }
    let median = |times: &mut Vec<Duration>| {
        times.sort();
        times[times.len() / 2]
    };
    let start = Instant::now();
    assert_eq!(get(metrics.address(), "/metrics").await.0, 200);
    let (books, text, whole) = (median(&mut reading), median(&mut writing), start.elapsed());
    println!("all books {books:?}, text {text:?}, over HTTP {whole:?}, {size} bytes");
}
