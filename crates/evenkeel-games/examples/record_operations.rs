//! Makes the recordings in `data/operations` anew, or prints what happens in them.
//!
//! `cargo run -p evenkeel-games --example record_operations` writes the files; with `--show`, it only tells about them.

use evenkeel::{Duration, HostId};
use evenkeel_games::operations::record;
use evenkeel_games::{Arena, Game, Pilot, Recording, Setup, ShipPilot, Spaceship, TankPilot, arena, spaceship};
use std::error::Error;
use std::path::Path;

/// Two pilots, 65 s.
fn duel(seed: u64) -> Setup<spaceship::Rules> {
    Setup { rules: spaceship::Rules::default(), players: 2, seed, ticks: 3_250 }
}

/// Four tanks, 60 s.
fn four(seed: u64) -> Setup<arena::Rules> {
    Setup { rules: arena::Rules::default(), players: 4, seed, ticks: 3_000 }
}

fn make<G: Game, P: Pilot<G>>(name: &str, setup: Setup<G::Rules>, write: bool) -> Result<Recording<G>, Box<dyn Error>> {
    let recording = record::<G, P>(setup)?;
    if write {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/operations");
        std::fs::write(folder.join(name), recording.to_text())?;
    }
    Ok(recording)
}

fn tell_duel(seed: u64, recording: &Recording<Spaceship>) -> Result<(), Box<dyn Error>> {
    let mut replay = recording.replay()?;
    let (mut hits, mut end) = ([0; 2], None);
    while let Some(tick) = replay.advance() {
        for verdict in replay.verdicts() {
            match verdict {
                spaceship::Verdict::Hit { shooter, .. } => hits[shooter.0 as usize] += 1,
                spaceship::Verdict::Removed { ship } => end = Some((tick, *ship)),
            }
        }
    }
    let operations = recording.operations();
    let fires = operations.iter().filter(|operation| operation.act == spaceship::Act::Fire).count();
    let count = operations.len();
    println!("spaceship seed {seed}: {count} operations, {fires} shots, hits {hits:?}, removed {end:?}");
    Ok(())
}

fn tell_four(seed: u64, recording: &Recording<Arena>) -> Result<(), Box<dyn Error>> {
    let mut replay = recording.replay()?;
    while replay.advance().is_some() {}
    let scores: Vec<_> = replay.game().tanks().iter().map(|tank| (tank.fired, tank.kills, tank.deaths)).collect();
    println!("arena seed {seed}: {} operations, (fired, kills, deaths) {scores:?}", recording.operations().len());
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().any(|argument| argument == "--show") {
        for seed in 0..12 {
            tell_duel(seed, &make::<Spaceship, ShipPilot>("", duel(seed), false)?)?;
            tell_four(seed, &make::<Arena, TankPilot>("", four(seed), false)?)?;
        }
        return Ok(());
    }
    tell_duel(7, &make::<Spaceship, ShipPilot>("spaceship-duel.csv", duel(7), true)?)?;
    tell_four(7, &make::<Arena, TankPilot>("arena-four.csv", four(7), true)?)?;
    let _ = (Duration::ZERO, HostId(0));
    Ok(())
}
