//! What everybody who is measured must be able to do. One file per contender, all of them behind this trait.

use anyhow::Result;
use bytes::Bytes;
use evenkeel::{Duration, GlobalTime, Pose, Vec3};

/// Sixty ticks a second, for servers and clients.
pub const TICK: Duration = Duration::from_nanos(16_666_667);

/// The same as the standard library has it.
pub const STD_TICK: std::time::Duration = std::time::Duration::from_nanos(16_666_667);

/// Something on its way between the server and one receiver.
#[derive(Clone, Debug)]
pub struct Parcel {
    /// From whom, or to whom.
    pub receiver: usize,
    /// Which of the contender's channels it belongs to.
    pub channel: usize,
    /// Whether the contender leaves it to others that it arrives, and in order.
    pub reliable: bool,
    /// What is carried.
    pub bytes: Bytes,
}

/// A server that replicates moving entities, and its receivers, stepped by hand.
///
/// A tick is [`tell`](Self::tell) for every entity, [`serve`](Self::serve), [`sent`](Self::sent), and for every
/// receiver [`frame`](Self::frame) and [`show`](Self::show). Only `serve` is timed.
pub trait Contender {
    /// An entity comes into being.
    fn spawn(&mut self, id: u32, pose: &Pose, now: GlobalTime) -> Result<()>;

    /// It is gone.
    fn despawn(&mut self, id: u32, now: GlobalTime) -> Result<()>;

    /// Where an entity is now. `due` says whether a game that decides for itself what to send would send this.
    fn tell(&mut self, id: u32, pose: &Pose, due: bool);

    /// The server's tick: takes in what has arrived, decides, writes what is to be sent.
    fn serve(&mut self, now: GlobalTime) -> Result<()>;

    /// What the last tick sends.
    fn sent(&mut self) -> Vec<Parcel>;

    /// Something from a receiver has arrived at the server.
    fn arrive_at_server(&mut self, parcel: Parcel, at: GlobalTime);

    /// Something has arrived at a receiver.
    fn arrive_at_receiver(&mut self, parcel: Parcel, at: GlobalTime) -> Result<()>;

    /// A receiver's frame. Answers what it sends.
    fn frame(&mut self, receiver: usize, now: GlobalTime) -> Result<Vec<Parcel>>;

    /// No receiver may be further off than this once everything has arrived, in metres: ours have a threshold of 0.1 m.
    fn tolerance(&self) -> f64 {
        0.12
    }

    /// What a receiver shows in this frame: every entity that it has, and where.
    fn show(&mut self, receiver: usize, now: GlobalTime, to: &mut dyn FnMut(u32, Vec3));
}
