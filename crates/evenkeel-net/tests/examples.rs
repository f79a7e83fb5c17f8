//! The examples run as the README says: `cargo test` builds them beside this test.

#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// An example that is stopped when it goes out of sight, or does not come to an end.
struct Example(Arc<Mutex<Child>>);

impl Drop for Example {
    fn drop(&mut self) {
        stop(&self.0);
    }
}

fn stop(child: &Mutex<Child>) {
    let mut child = child.lock().unwrap();
    let _ = child.kill();
    let _ = child.wait();
}

fn start(name: &str, arguments: &[&str]) -> (Example, impl Iterator<Item = String>) {
    let tests = std::env::current_exe().unwrap();
    let folder: PathBuf = tests.parent().unwrap().parent().unwrap().join("examples");
    let mut child = Command::new(folder.join(name)).args(arguments).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let child = Arc::new(Mutex::new(child));
    let watched = Arc::downgrade(&child);
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(30));
        if let Some(child) = watched.upgrade() {
            stop(&child);
        }
    });
    (Example(child), lines)
}

/// What the server prints is what players are given: for the program that it names, and for others that take the same.
fn sees_another(printed: &str, name: &str, server: (Example, impl Iterator<Item = String>)) {
    let (_server, mut said) = server;
    let line = said.next().unwrap();
    let words: Vec<&str> = line.split(' ').collect();
    assert_eq!(words[0], printed);
    let (_one, _said) = start(name, &words[1..]);
    let (_other, mut seen) = start(name, &words[1..]);
    let place = seen.find(|line| line.contains(" is at ")).unwrap();
    // It drives a circle of 10 m around the origin.
    let numbers: Vec<f64> = place.split(' ').filter_map(|word| word.parse().ok()).collect();
    let radius = numbers[numbers.len() - 2].hypot(numbers[numbers.len() - 1]);
    assert!((9.5..10.5).contains(&radius), "{place}");
}

#[test]
fn a_client_sees_another() {
    sees_another("minimal_client", "minimal_client", start("minimal_server", &["127.0.0.1:0"]));
}

#[test]
fn a_peer_sees_another() {
    sees_another("peer", "peer", start("peer", &["serve"]));
}

#[test]
fn a_game_loop_without_tokio_sees_another() {
    sees_another("minimal_client", "frame_loop", start("minimal_server", &["127.0.0.1:0"]));
}
