//! The module that browsers load answers as a native player does, bit for bit.
//!
//! Needs `node`, and the module that `tools/web` builds; `EVENKEEL_WEB` may say where that is. Without either, the test says so and
//! is passed over; `EVENKEEL_WEB_TESTS=1` makes that a failure, for machines that should have both.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Call, Seen, World};
use evenkeel_games::words::{GameKind, Hit, Rules, Word};
use evenkeel_net::hub::HubConfig;
use std::path::{Path, PathBuf};
use std::process::Command;

fn module() -> Result<PathBuf, String> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../evenkeel-demo/page/evenkeel.wasm");
    let path = std::env::var_os("EVENKEEL_WEB").map_or(built, PathBuf::from);
    if path.is_file() { Ok(path) } else { Err(format!("{} is not there: run tools/web", path.display())) }
}

fn node() -> Result<(), String> {
    let version = Command::new("node").arg("--version").output();
    version.map(|_| ()).map_err(|error| format!("node does not run ({error}): install Node.js"))
}

/// A minute and a half among three, with turns all the time, a loss, a hit, and another game: everything that is told to the first.
fn script() -> Vec<u8> {
    let mut world = World::new(HubConfig::default());
    for (name, delay) in [("Ada", 20), ("Bob", 60), ("Cleo", 140)] {
        world.join(name, delay);
    }
    world.run(2_000, |_| {});
    let mut way = 0i64;
    let mut play = |world: &mut World, millis: i64| {
        world.run(millis, |world| {
            way += 1;
            if way % 700 == 0 {
                let guest = (way / 700 % 3) as usize;
                let turn = [100, -35, 60, -100, 7][(way / 700 % 5) as usize];
                world.call(guest, |_| Call::Keys(40 + (way % 61) as i32, turn), &[]);
            }
            if way % 1_900 == 0 {
                world.call((way / 1_900 % 3) as usize, Call::Fire, &[]);
            }
        });
    };
    play(&mut world, 30_000);
    world.say(&Word::Hit(Hit { shooter: world.you(1), target: world.you(0), shot: 1 }));
    play(&mut world, 20_000);
    world.lose(0);
    play(&mut world, 2_000);
    world.reconnect(0);
    play(&mut world, 10_000);
    world.say(&Word::Rules(Rules { game: GameKind::Ships, ..Rules::default() }));
    play(&mut world, 25_000);
    world.call(0, |_| Call::Texts, &[]);
    world.call(0, Call::Timeout, &[]);
    assert_eq!(Seen(&world.guests[0].frame).others().len(), 2);
    std::mem::take(&mut world.guests[0].machine.log)
}

#[test]
fn the_module_answers_as_a_native_player_does() {
    let (module, _) = match module().and_then(|module| Ok((module, node()?))) {
        Ok(found) => found,
        Err(why) if std::env::var_os("EVENKEEL_WEB_TESTS").is_some() => panic!("{why}"),
        Err(why) => return eprintln!("SKIPPED, nothing was compared: {why}"),
    };
    let log = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replay.log");
    std::fs::write(&log, script()).unwrap();
    let replay = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/replay.mjs");
    let run = Command::new("node").arg(replay).arg(module).arg(&log).output().unwrap();
    let [said, wrong] = [&run.stdout, &run.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert!(run.status.success(), "{wrong}{said}(If the module is older than the sources: tools/web.)");
    println!("{said}");
}
