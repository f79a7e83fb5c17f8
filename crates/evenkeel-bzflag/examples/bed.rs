//! The real game, playing by itself for a while: `cargo run -p evenkeel-bzflag --example bed -- [CLIENTS] [SECONDS]`.

use evenkeel_bzflag::testbed::{Bed, ClientOptions, ServerOptions, Tools};
use std::{env, thread, time::Duration};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = env::args().skip(1).map(|argument| argument.parse::<u32>());
    let clients = numbers.next().transpose()?.unwrap_or(4);
    let seconds = numbers.next().transpose()?.unwrap_or(60);

    let mut bed = Bed::new(Tools::find()?, env::temp_dir().join(format!("evenkeel-bed-{}", std::process::id())))?;
    let server = bed.server(&ServerOptions { dense: true, ..Default::default() })?;
    bed.watch(server)?;
    for tank in 1..=clients {
        bed.client(&ClientOptions::new(format!("Tank{tank}"), server))?;
    }
    println!(
        "{clients} tanks play on {server} for {seconds} s; {}",
        bed.log("server").unwrap_or("".as_ref()).display()
    );
    for _ in 0..seconds {
        thread::sleep(Duration::from_secs(1));
        bed.check()?;
    }
    for (who, tally) in bed.tallies()? {
        println!("{who:10} {tally:?}");
    }
    for (who, cpu) in bed.cpu_seconds() {
        println!("{who:10} {:5.1} % of a core", 100.0 * cpu / f64::from(seconds));
    }
    bed.stop();
    Ok(())
}
