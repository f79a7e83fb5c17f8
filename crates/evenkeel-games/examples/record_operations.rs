//! Makes the recordings in `data/operations`.
//!
//! `cargo run -p evenkeel-games --example record_operations` writes the files. With `-- --seeds 20` it writes nothing and tells
//! what would happen with the first twenty seeds.

use evenkeel_games::operations::record;
use evenkeel_games::{Arena, Game, Recording, Setup, ShipPilot, Spaceship, TankPilot, arena, spaceship};
use std::error::Error;
use std::path::Path;

/// This duel is fought for more than a minute, and then one ship is removed.
const DUEL_SEED: u64 = 13;
/// Everybody hits and is hit.
const FOUR_SEED: u64 = 6;

/// Two pilots, 65 s.
fn duel(seed: u64) -> Setup<spaceship::Rules> {
    let rules = spaceship::Rules { life: 15, ..spaceship::Rules::default() };
    Setup { rules, players: 2, seed, ticks: 3_250 }
}

/// Four tanks, 60 s.
fn four(seed: u64) -> Setup<arena::Rules> {
    Setup { rules: arena::Rules::default(), players: 4, seed, ticks: 3_000 }
}

fn write<G: Game>(name: &str, recording: &Recording<G>) -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/operations");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join(name), recording.to_text())
}

fn tell_duel(recording: &Recording<Spaceship>) -> Result<(), Box<dyn Error>> {
    let mut replay = recording.replay()?;
    let (mut hits, mut removed) = ([0; 2], None);
    while let Some(tick) = replay.advance() {
        for verdict in replay.verdicts() {
            match verdict {
                spaceship::Verdict::Hit { shooter, .. } => hits[shooter.0 as usize] += 1,
                spaceship::Verdict::Removed { ship } => removed = Some((tick, *ship)),
            }
        }
    }
    let (seed, operations) = (recording.setup().seed, recording.operations());
    let shots = operations.iter().filter(|operation| operation.act == spaceship::Act::Fire).count();
    println!("duel {seed}: {} operations, {shots} shots, hits {hits:?}, removed {removed:?}", operations.len());
    Ok(())
}

fn tell_four(recording: &Recording<Arena>) -> Result<(), Box<dyn Error>> {
    let mut replay = recording.replay()?;
    while replay.advance().is_some() {}
    let scores: Vec<_> = replay.game().tanks().iter().map(|tank| (tank.fired, tank.kills, tank.deaths)).collect();
    let (seed, operations) = (recording.setup().seed, recording.operations().len());
    println!("four {seed}: {operations} operations, (fired, kills, deaths) {scores:?}");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let seeds: Option<u64> = match arguments.as_slice() {
        [] => None,
        [flag, seeds] if flag == "--seeds" => Some(seeds.parse()?),
        _ => return Err("expected nothing, or --seeds and a number".into()),
    };
    for seed in 0..seeds.unwrap_or(0) {
        tell_duel(&record::<Spaceship, ShipPilot>(duel(seed))?)?;
        tell_four(&record::<Arena, TankPilot>(four(seed))?)?;
    }
    if seeds.is_none() {
        let (duel, four) = (record::<_, ShipPilot>(duel(DUEL_SEED))?, record::<_, TankPilot>(four(FOUR_SEED))?);
        write("spaceship-duel.csv", &duel)?;
        write("arena-four.csv", &four)?;
        tell_duel(&duel)?;
        tell_four(&four)?;
    }
    Ok(())
}
