//! Runs files through a target without a fuzzer, to see what one of them breaks:
//! `cargo run -p evenkeel-fuzz --example run -- sender corpus/sender/*`.

use evenkeel_fuzz::TARGETS;
use std::error::Error;
use std::fs;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let wanted = arguments.next().ok_or("which target?")?;
    let (_, target) = TARGETS.iter().find(|(name, _)| *name == wanted).ok_or("there is no such target")?;
    for file in arguments {
        println!("{file}");
        target(&fs::read(file)?);
    }
    Ok(())
}
