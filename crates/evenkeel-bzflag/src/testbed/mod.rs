//! The real game on one machine: a server and clients that play by themselves, started and stopped.
//!
//! The game's programs run as they were installed. A client gets a small library of ours ahead of its own
//! ([`Bed::client`]): it draws nothing, shows a frame 60 times a second and presses the two keys that spawn the tank
//! and turn on the game's own autopilot. So it needs neither a display nor a graphics driver, and takes a few per
//! cent of a core. Everything listens on loopback alone and nothing outside this machine is asked.
//!
//! ```no_run
//! use evenkeel_bzflag::testbed::{Bed, ClientOptions, ServerOptions, Tools};
//! use std::{thread, time::Duration};
//!
//! let mut bed = Bed::new(Tools::find()?, "target/bed")?;
//! let server = bed.server(&ServerOptions { dense: true, ..Default::default() })?;
//! bed.watch(server)?;
//! for name in ["Ada", "Bob"] {
//!     bed.client(&ClientOptions::new(name, server))?;
//! }
//! for _ in 0..60 {
//!     thread::sleep(Duration::from_secs(1));
//!     bed.check()?;
//! }
//! for (name, tally) in bed.tallies()? {
//!     println!("{name}: {} spawns, {} deaths", tally.spawned, tally.died);
//! }
//! bed.stop();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bed;
mod child;
mod error;
mod eyes;
mod options;
mod tools;
mod watch;

pub use bed::Bed;
pub use child::own_cpu_seconds;
pub use error::{BedError, Died};
pub use eyes::Drawn;
pub use options::{ClientOptions, ServerOptions, Team};
pub use tools::{Missing, Tools};
pub use watch::Tally;
