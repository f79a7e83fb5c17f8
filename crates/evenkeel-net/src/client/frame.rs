//! All that a game loop wants to know, in one call per frame.

use super::Client;
use crate::seat::SeatEvent;
use evenkeel::{EntityId, GlobalTime, Placement};

/// What there is to know at one moment.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The session's time, once it is known.
    pub time: Option<GlobalTime>,
    /// What happened since the last frame.
    pub events: Vec<SeatEvent>,
    /// Everything of others' that is to be shown, and where.
    pub placed: Vec<(EntityId, Placement)>,
}

impl Client {
    /// Everything a frame needs, as of one moment: what happened, what time it is, and where everything is.
    pub fn frame(&self) -> Frame {
        let now = self.shared.ticking.now();
        let mut seat = self.shared.seat();
        let events = std::iter::from_fn(|| seat.poll_event()).collect();
        let time = seat.now(now);
        let place = |receiver: &evenkeel::Receiver, time| {
            let placed = receiver.entities().filter_map(|entity| Some((entity, receiver.place(entity, time).ok()?)));
            placed.collect()
        };
        let placed = seat.receiver().zip(time).map(|(receiver, time)| place(receiver, time)).unwrap_or_default();
        Frame { time, events, placed }
    }
}
