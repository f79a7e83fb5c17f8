//! `evenkeel join` against a server of the test's own.

#![allow(clippy::unwrap_used)]

mod common;

use common::{errors, evenkeel, folder, text};
use evenkeel::{Pose, Threshold, Vec3};
use evenkeel_net::Server;
use evenkeel_net::hub::HubConfig;
use evenkeel_net::protocol::Model;
use evenkeel_net::transport::{Identity, ListenConfig};
use serde_json::Value;
use std::time::Duration;
use tokio::runtime::Runtime;

struct Session {
    runtime: Runtime,
    server: Server,
    hash: String,
}

impl Session {
    fn new(config: HubConfig) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let identity = Identity::self_made(["localhost", "127.0.0.1"], Duration::from_secs(3600)).unwrap();
        let hash: String = identity.hash().iter().map(|byte| format!("{byte:02x}")).collect();
        let listen = ListenConfig::new("127.0.0.1:0".parse().unwrap(), identity);
        let server = runtime.block_on(Server::start(listen, config)).unwrap();
        Self { runtime, server, hash }
    }

    fn url(&self) -> String {
        format!("https://{}/", self.server.address())
    }

    /// Joins it, and answers what came of it.
    fn join(&self, flags: &[&str]) -> Value {
        let url = self.url();
        let all = [&["join", &url, "--hash", &self.hash, "--json", "-"][..], flags].concat();
        let output = evenkeel(&all);
        assert!(output.status.success(), "{}", errors(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn players_of_one_program_see_each_other_and_it_is_written_down() {
    let session = Session::new(HubConfig::default());
    // Of this one nobody says how it moves.
    let red = session.server.with(|hub, now| hub.make(Threshold::within(0.1), b"red".to_vec(), now)).unwrap();
    session.server.with(|hub, now| hub.observe(red, Pose::at(Vec3::ZERO), now)).unwrap();
    let film = folder("join").join("film.ekr");
    let flags = ["--players", "3", "--entities", "2", "--seconds", "4", "--record", text(&film), "--name", "tank"];
    let results = session.join(&[&flags[..], &["--clock", "offset=-3s,drift=50ppm"]].concat());
    assert_eq!((&results["version"], results["rows"].as_array().unwrap().len()), (&Value::from(1), 3));
    for row in results["rows"].as_array().unwrap() {
        // Four tanks of others, and one that is not known.
        assert_eq!((&row["entities"], &row["entities_unknown"]), (&Value::from(5), &Value::from(1)), "{row:#}");
        assert!(number(&row["shown_s"]) > 8.0 && number(&row["vectors_seen"]) > 8.0, "{row:#}");
        assert!(number(&row["real_m"]["mean"]) < 0.3 && number(&row["export_m"]["mean"]) < 0.3, "{row:#}");
        assert!(number(&row["clock_uncertainty_ms"]) < 20.0 && number(&row["bytes_sent"]) > 100.0, "{row:#}");
    }
    let summary = evenkeel(&["recording", text(&film)]);
    let said = String::from_utf8(summary.stdout.clone()).unwrap();
    assert!(summary.status.success() && said.contains("tank 1"), "{said} {}", errors(&summary));
}

#[test]
fn peers_and_conditions_and_a_recorded_game() {
    let session = Session::new(HubConfig { model: Model::PeerToPeer, ..HubConfig::default() });
    let results = session.join(&["--peer", "--players", "2", "--seconds", "3"]);
    for row in results["rows"].as_array().unwrap() {
        assert!(number(&row["shown_s"]) > 1.0 && number(&row["real_m"]["mean"]) < 0.5, "{row:#}");
    }
    let said = evenkeel(&["join", &session.url(), "--hash", &session.hash, "--timeout", "5"]);
    assert!(said.status.code() == Some(2) && errors(&said).contains("peer to peer"), "{}", errors(&said));
    drop(session.runtime);

    let session = Session::new(HubConfig::default());
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/traces/bzflag-dense-b.csv.gz");
    let flags = ["--trace", trace, "--players", "2", "--seconds", "5", "--condition", "delay=40ms"];
    let results = session.join(&flags);
    let row = &results["rows"][1];
    assert!(number(&row["entities"]) > 1.0 && row["entities_unknown"] == 0, "{row:#}");
    assert!(number(&row["shown_s"]) > 3.0 && number(&row["real_m"]["mean"]) < 5.0, "{row:#}");
    assert!((number(&row["delay_ms"]) - 40.0).abs() < 15.0, "{row:#}");
}
