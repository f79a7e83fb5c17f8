//! A million players of 300 sites, merged as they come: `cargo run --release -p evenkeel-sites --example crowd`.
//!
//! With a number, players have so many milliseconds of noise of their own, and rows are rounded to 10 ms.

use evenkeel_sites::Crowd;
use evenkeel_sites::topology::Cities;
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let noise_ms: f64 = std::env::args().nth(1).map_or(Ok(0.0), |text| text.parse())?;
    let cities = Cities { noise_ms, ..Cities::default() };
    let world = cities.generate(1);
    let mut crowd = Crowd::new(cities.sites, if noise_ms > 0.0 { 10.0 } else { 0.0 })?;
    let (mut players, mut row) = (world.players(), vec![0.0; cities.sites]);
    let start = Instant::now();
    while players.next_into(&mut row) {
        crowd.push("", 1.0, &row)?;
    }
    let (groups, error_ms) = (crowd.groups(), crowd.error_ms());
    println!("{} players in {groups} groups, at most {error_ms} ms off, in {:.1?}", cities.players, start.elapsed());
    let problem = crowd.into_problem(world.sites(), world.between().to_vec())?;
    println!("{} players, {} sites, weight {}", problem.players().len(), problem.sites().len(), problem.weight());
    Ok(())
}
