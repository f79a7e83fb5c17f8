//! Prints how good the clock is: `cargo run --release -p evenkeel-lab --example clock -- [runs] [seed]`.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let runs = arguments.next().map_or(Ok(20), |runs| runs.parse())?;
    let seed = arguments.next().map_or(Ok(1), |seed| seed.parse())?;
    println!("{}", evenkeel_lab::clock::measure(runs, seed)?);
    Ok(())
}
