//! The real game starts, plays and ends.
//!
//! Needs the game. Without it the tests say so and are passed over; `EVENKEEL_BZFLAG_TESTS=1` makes that a failure,
//! for machines that should have it.
#![allow(clippy::unwrap_used)]

mod real;

use evenkeel_bzflag::testbed::{Bed, BedError, ClientOptions, ServerOptions, Tools};
use real::tools;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Asks again and again, for a while that is long enough on the slowest machine.
fn until(mut happened: impl FnMut() -> bool) -> bool {
    (0..250).any(|_| {
        happened() || {
            thread::sleep(Duration::from_millis(100));
            false
        }
    })
}

/// The processes of a group.
fn processes(group: u32) -> Vec<String> {
    let stats = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let stat = std::fs::read_to_string(entry.ok()?.path().join("stat")).ok()?;
        let of = stat.rsplit_once(')')?.1.split_whitespace().nth(2)?.parse::<u32>().ok()?;
        (of == group).then_some(stat)
    });
    stats.collect()
}

#[test]
fn two_tanks_spawn_by_themselves_and_nothing_is_left_of_them() {
    let Some(tools) = tools() else { return };
    let mut bed = Bed::new(tools, folder("bed")).unwrap();
    let server = bed.server(&ServerOptions { dense: true, ..Default::default() }).unwrap();
    bed.watch(server).unwrap();
    for name in ["Ada", "Bob"] {
        bed.client(&ClientOptions::new(name, server)).unwrap();
    }
    let twice = bed.client(&ClientOptions::new("Ada", server));
    assert!(matches!(twice, Err(BedError::Options(_))));
    let spawned = until(|| {
        bed.check().unwrap();
        let tallies = bed.tallies().unwrap();
        ["Ada", "Bob"].iter().all(|name| tallies.get(*name).is_some_and(|tally| tally.spawned > 0))
    });
    assert!(spawned, "{:?}", bed.tallies());
    let piloted =
        until(|| std::fs::read_to_string(bed.log("Ada").unwrap()).unwrap().contains("Bob: Roger taking controls"));
    assert!(piloted, "nobody turned the autopilot on");
    let cpu = bed.cpu_seconds();
    assert_eq!(cpu.iter().map(|(who, _)| who.as_str()).collect::<Vec<_>>(), ["server", "watch", "Ada", "Bob"]);
    assert!(cpu[2].1 > 0.0 && cpu[3].1 > 0.0, "{cpu:?}");
    // Four programs and what holds them together.
    assert_eq!(processes(bed.group()).len(), 5);
    bed.stop();
    assert_eq!(processes(bed.group()), Vec::<String>::new());
}

#[test]
fn a_program_that_ends_by_itself_is_named_with_what_it_said() {
    let Some(tools) = tools() else { return };
    let mut bed = Bed::new(tools, folder("bed-died")).unwrap();
    let options = ServerOptions { extra: vec!["-no-such-option".into()], ..Default::default() };
    let Err(BedError::Died(died)) = bed.server(&options) else { panic!("a server with a wrong option") };
    assert_eq!(died.who, "server");
    assert!(died.log.contains("-no-such-option"), "{died}");
    // Even half a bed ends when it is dropped.
    let group = bed.group();
    assert_eq!(processes(group).len(), 1);
    drop(bed);
    assert_eq!(processes(group), Vec::<String>::new());
}

/// A bed whose owner is killed outright, which the next test does.
#[test]
#[ignore = "run by the test below"]
fn owner() {
    let mut bed = Bed::new(Tools::find().unwrap(), folder("bed-orphaned")).unwrap();
    bed.server(&ServerOptions::default()).unwrap();
    std::fs::write(folder("orphaned-group"), bed.group().to_string()).unwrap();
    thread::sleep(Duration::from_secs(60));
}

#[test]
fn nothing_outlives_an_owner_that_is_killed() {
    if tools().is_none() {
        return;
    }
    let _ = std::fs::remove_file(folder("orphaned-group"));
    let mut owner =
        Command::new(std::env::current_exe().unwrap()).args(["--exact", "owner", "--ignored"]).spawn().unwrap();
    let mut group = 0;
    let started = until(|| {
        let told = std::fs::read_to_string(folder("orphaned-group")).unwrap_or_default();
        told.parse().map(|told| group = told).is_ok()
    });
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(started);
    // They are nobody's children now: whether the dead are buried is not up to us.
    let alive = || processes(group).into_iter().filter(|stat| !stat.contains(") Z ")).collect::<Vec<_>>();
    assert!(until(|| alive().is_empty()), "{:?}", alive());
}
