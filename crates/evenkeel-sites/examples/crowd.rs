//! A million players of 300 sites, merged as they come, and at most 8 servers for them.
//!
//! `cargo run --release -p evenkeel-sites --example crowd [noise in ms] [sites] [players] [rounding in ms]`

use evenkeel_sites::topology::Cities;
use evenkeel_sites::{Crowd, Objective, Request, solve};
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let number = |n: usize, otherwise: f64| std::env::args().nth(n).map_or(Ok(otherwise), |text| text.parse());
    let (noise_ms, step_ms) = (number(1, 0.0)?, number(4, 0.0)?);
    let usual = Cities::default();
    let (sites, players) = (number(2, usual.sites as f64)? as usize, number(3, usual.players as f64)? as usize);
    let cities = Cities { noise_ms, sites, players, ..usual };
    let world = cities.generate(1);
    let mut crowd = Crowd::new(cities.sites, step_ms)?;
    let (mut players, mut row) = (world.players(), vec![0.0; cities.sites]);
    let start = Instant::now();
    while players.next_into(&mut row) {
        crowd.push("", 1.0, &row)?;
    }
    let (groups, error_ms) = (crowd.groups(), crowd.error_ms());
    println!("{} players in {groups} groups, at most {error_ms} ms off, in {:.1?}", cities.players, start.elapsed());
    let problem = crowd.into_problem(world.sites(), world.between().to_vec())?;
    for objective in [Objective::Critical, Objective::Mean, Objective::MeanPlusStd] {
        let start = Instant::now();
        let answer = solve(&problem, &Request { objective, max_servers: Some(8), ..Request::default() })?;
        println!(
            "{objective:?}: {:.2} ms with {} servers, bound {:.2}, gap {:.2} %, in {:.1?}",
            answer.value,
            answer.plan.servers.len(),
            answer.bound,
            answer.gap * 100.0,
            start.elapsed()
        );
    }
    Ok(())
}
