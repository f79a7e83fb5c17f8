//! Traces of real games, from traffic and from the game's own recordings.
//!
//! A [`Recorder`] takes what tanks did, as it is seen: a [`CsvRecorder`] writes a trace that the laboratory reads, a
//! [`LinkRecorder`] a recording of [`evenkeel_link`]. What the server records itself (`/record`) is read by a [`Replay`].
//!
//! ```
//! use evenkeel::GlobalTime;
//! use evenkeel_bzflag::message::TankUpdate;
//! use evenkeel_bzflag::record::{CsvRecorder, Recorder};
//! let mut file = Vec::new();
//! let mut recorder = CsvRecorder::new(&mut file)?;
//! let update = TankUpdate { position: [10.0, -5.5, 0.0], order: 7, ..TankUpdate::of(3) };
//! recorder.record(GlobalTime::from_millis(2_000), &update)?;
//! recorder.record(GlobalTime::from_millis(2_016), &TankUpdate { order: 8, ..update })?;
//! recorder.finish()?;
//! assert!(file.ends_with(b"\n0,3,10,-5.5,0,0,0,0,0,0,1,7\n0.016,3,10,-5.5,0,0,0,0,0,0,1,8\n"));
//! # Ok::<(), std::io::Error>(())
//! ```

mod csv;
mod link;
mod replay;
mod stamps;

pub use csv::CsvRecorder;
pub use link::LinkRecorder;
pub use replay::{Packet, PacketKind, Replay, ReplayError, ReplayHeader};
pub use stamps::Stamps;

use crate::message::TankUpdate;
use evenkeel::GlobalTime;
use std::io::{self, Read};

/// Where it is written down how tanks moved.
pub trait Recorder {
    /// Takes an update of a tank and when it was made, on one clock for all (see [`Stamps`]). The times of a player's
    /// updates must not decrease.
    fn record(&mut self, at: GlobalTime, update: &TankUpdate) -> io::Result<()>;

    /// Ends the record, and says so if not all of it could be written. Nothing is taken after that.
    fn finish(&mut self) -> io::Result<()>;
}

/// Hands all tank updates of a replay file to a recorder, and says how many there were. Those of a damaged file are handed
/// over up to the damage; the recorder is not finished. What cannot be read as an update is left out.
pub fn record_replay(replay: &mut Replay<impl Read>, recorder: &mut dyn Recorder) -> Result<u64, ReplayError> {
    let mut stamps = Stamps::default();
    let mut count = 0;
    for packet in replay {
        let packet = packet?;
        // State packets repeat what was said before.
        let Some(Ok(update)) = (packet.kind == PacketKind::Real).then(|| TankUpdate::parse(packet.frame())) else {
            continue;
        };
        recorder.record(stamps.time(packet.at, &update), &update).map_err(ReplayError::Io)?;
        count += 1;
    }
    Ok(count)
}
