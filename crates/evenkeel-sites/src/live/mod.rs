//! Players come, go and move: whether other servers would be worth the trouble.
//!
//! A [`Keeper`] knows who plays and which servers run. It keeps everybody's response up to date, one player at a time, and
//! advises a [`Change`] only if it gains enough. [`stream`] is the same for a program that has lines of text.
//!
//! ```
//! use std::time::Duration;
//! use evenkeel_sites::{Request, Site, live::{Keeper, Settings}};
//!
//! let sites = ["Frankfurt", "Tokyo"].map(Site::new).to_vec();
//! let mut keeper = Keeper::new(sites, vec![0.0, 225.0, 225.0, 0.0], Request::default(), Settings::default())?;
//! keeper.run(&[0])?;
//! keeper.join("Ada", 1.0, &[20.0, 240.0])?;
//! assert_eq!(keeper.advise(Duration::from_secs(1)), None, "Frankfurt is best for Ada");
//! keeper.join("Bo", 1.0, &[230.0, 10.0])?;
//! assert_eq!(keeper.value(), Ok(230.0));
//!
//! let change = keeper.advise(Duration::from_secs(2)).expect("Bo waits too long");
//! assert_eq!((change.start.as_slice(), change.stop.as_slice()), (&[1][..], &[][..]));
//! assert_eq!(change.gain_ms, Some(230.0 - 132.5));
//! assert_eq!(change.moves[0].player, "Bo");
//! keeper.accept(&change, Duration::from_secs(2))?;
//! assert_eq!(keeper.value(), Ok(132.5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod advice;
mod error;
mod keeper;
mod look;
mod seats;
pub mod stream;
#[cfg(test)]
mod stream_tests;
#[cfg(test)]
mod tests;

pub use advice::{Change, Move};
pub use error::{KeeperError, Trouble};
pub use keeper::{Keeper, Settings};
