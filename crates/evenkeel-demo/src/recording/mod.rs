//! Runs to be kept: written down as they are shown, and shown again.
//!
//! The format is that of all recordings (`docs/RECORDING.md`): where every craft really is, and where each receiver of each
//! world shows it. What the page needs besides is in notes, as JSON; the laboratory does without. The other way round, a
//! recording of any other program is shown as far as it goes.

mod film;
mod reel;
mod remark;
mod replay;
mod store;
mod tally;

pub(crate) use film::Film;
pub use film::{MAX_BYTES, MAX_SECONDS};
pub(crate) use replay::{Replay, Scene};
pub(crate) use store::{Recordings, Spool};
