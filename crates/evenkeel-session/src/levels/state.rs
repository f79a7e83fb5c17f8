//! One end of a connection as it is written down, to go on elsewhere.

use super::heard::Heard;
use super::kept::Kept;
use super::wire::{self, Parsed};
use super::{Envelope, Level, LevelError, LevelLimits, Levels, Outgoing, Party, QUICKEST_WINDOW};
use evenkeel::{HostId, Instant};
use serde::{Deserialize, Serialize};

/// For whom, or for everybody, and what.
type Pending = (Option<HostId>, Vec<u8>);

/// What [`Levels`] must know to go on where they were, on another host. See [`Levels::state`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelsState {
    /// What must arrive and is not acknowledged: the first one's number, and all of them as they are sent.
    kept: (u32, Vec<Vec<u8>>),
    /// What has arrived: the first that has not, and those after it that have.
    heard: (u32, Vec<u32>),
    /// The number of the last `Newest` message.
    newest: u32,
    /// `Quickest` messages that are not acknowledged: the first one's number, and from it on for whom and what.
    repeating: (u32, Vec<Option<Pending>>),
    /// `Quickest` messages that have arrived: the first that has not, and bits for those after it.
    arrivals: (u32, u64),
}

impl Levels {
    /// What another host must know to go on where this one is. What waits for the game is not among it: hand it out before.
    pub fn state(&self) -> LevelsState {
        let bytes = |message: &Outgoing| match message {
            Outgoing::Ordered(bytes) | Outgoing::Unordered(bytes) | Outgoing::Datagram(bytes) => bytes.clone(),
        };
        let party = |party: Party| match party {
            Party::Everybody => None,
            Party::Host(host) => Some(host),
        };
        let pending = |envelope: &Envelope| (party(envelope.party), envelope.bytes.clone());
        let acknowledgement = self.arrivals.acknowledgement();
        LevelsState {
            kept: (self.kept.first(), self.kept.messages().map(bytes).collect()),
            heard: (self.heard.expected(), self.heard.after().collect()),
            newest: self.newest.upcoming().wrapping_sub(1),
            repeating: (self.repeating.first(), self.repeating.envelopes().map(|some| some.map(pending)).collect()),
            arrivals: (acknowledgement.expected, acknowledgement.after),
        }
    }

    /// Goes on where another host was. What cannot be is refused.
    pub fn restore(limits: LevelLimits, state: LevelsState, now: Instant) -> Result<Self, LevelError> {
        let mut levels = Self::new(limits);
        let (first, messages) = state.kept;
        let number = |index: usize| first.wrapping_add(index as u32);
        let read = messages.into_iter().enumerate().map(|(index, bytes)| reliable(number(index), bytes));
        let messages = read.collect::<Result<Vec<_>, _>>()?;
        levels.kept = Kept::restore(first, messages, limits.queued_bytes).ok_or(LevelError::Full)?;
        levels.heard = Heard::restore(state.heard.0, &state.heard.1).ok_or(LevelError::Impossible)?;
        levels.newest.count_from(state.newest);
        let (first, pending) = state.repeating;
        if pending.len() > QUICKEST_WINDOW || pending.first() == Some(&None) {
            return Err(LevelError::Impossible);
        }
        let envelope = |(party, bytes): (Option<HostId>, _)| Envelope {
            party: party.map_or(Party::Everybody, Party::Host),
            bytes,
        };
        let pending: Vec<_> = pending.into_iter().map(|some| some.map(envelope)).collect();
        let longest = limits.longest(Level::Quickest);
        if let Some(long) = pending.iter().flatten().find(|envelope| envelope.bytes.len() > longest) {
            return Err(LevelError::TooLong { length: long.bytes.len(), longest });
        }
        levels.repeating.restore(first, pending, now);
        levels.arrivals.restore(state.arrivals.0, state.arrivals.1);
        Ok(levels)
    }
}

/// A message that must arrive, as it was sent under that number.
fn reliable(number: u32, bytes: Vec<u8>) -> Result<Outgoing, LevelError> {
    match wire::parse(&bytes)? {
        Parsed::Reliable(Level::Ordered, found, _) if found == number => Ok(Outgoing::Ordered(bytes)),
        Parsed::Reliable(Level::Unordered, found, _) if found == number => Ok(Outgoing::Unordered(bytes)),
        _ => Err(LevelError::Impossible),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Instant {
        Instant::from_millis(millis)
    }

    const LEVELS: [Level; 3] = [Level::Ordered, Level::Unordered, Level::Quickest];

    /// Carries everything; answers what was handed out at the second end.
    fn carry(from: &mut Levels, to: &mut Levels, now: Instant, got: &mut Vec<u8>) {
        for _ in 0..2 {
            while let Some(out) = from.poll_transmit(now) {
                let handled = match &out {
                    Outgoing::Ordered(bytes) => to.handle_ordered(bytes),
                    Outgoing::Unordered(bytes) => to.handle_unordered(bytes),
                    Outgoing::Datagram(bytes) => to.handle_datagram(bytes, now),
                };
                handled.unwrap();
            }
            got.extend(std::iter::from_fn(|| to.poll_message()).map(|(_, envelope)| envelope.bytes[0]));
        }
    }

    #[test]
    fn another_host_goes_on_and_everything_comes_once() {
        let limits = LevelLimits::default();
        let [mut player, mut server] = [(); 2].map(|()| Levels::new(limits));
        let mut got = Vec::new();
        for number in 0..9u8 {
            player.send(LEVELS[usize::from(number) % 3], Envelope::to_everybody(vec![number]), at(0)).unwrap();
        }
        carry(&mut player, &mut server, at(0), &mut got);
        // Acknowledgements of it are lost with the server's host; some more never arrive there.
        let state = server.state();
        for number in 9..18u8 {
            player.send(LEVELS[usize::from(number) % 3], Envelope::to_everybody(vec![number]), at(1)).unwrap();
        }
        while player.poll_transmit(at(1)).is_some() {}
        let mut server = Levels::restore(limits, state.clone(), at(2)).unwrap();
        assert_eq!(server.state(), state);
        player.begin_again(at(2));
        carry(&mut player, &mut server, at(2), &mut got);
        let ordered: Vec<u8> = got.iter().copied().filter(|number| number % 3 == 0).collect();
        assert_eq!(ordered, [0, 3, 6, 9, 12, 15], "in order");
        got.sort_unstable();
        assert_eq!(got, (0..18).collect::<Vec<u8>>(), "once");
        [300, 600].iter().for_each(|now| carry(&mut server, &mut player, at(*now), &mut Vec::new()));
        assert_eq!((player.state().kept, player.unacknowledged()), ((12, Vec::new()), 0), "and it is known there");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let mut levels = Levels::new(LevelLimits::default());
        LEVELS.iter().for_each(|level| levels.send(*level, Envelope::to_everybody(vec![7; 900]), at(0)).unwrap());
        let good = levels.state();
        let restore = |state| Levels::restore(LevelLimits::default(), state, at(0)).map(drop);
        assert_eq!(restore(good.clone()), Ok(()));
        let kept = |first, messages| LevelsState { kept: (first, messages), ..good.clone() };
        assert_eq!(restore(kept(3, good.kept.1.clone())), Err(LevelError::Impossible), "other numbers");
        assert_eq!(restore(kept(0, vec![vec![0xA0, 9]])), Err(LevelError::Malformed));
        assert_eq!(restore(LevelsState { heard: (0, vec![0]), ..good.clone() }), Err(LevelError::Impossible));
        let long = vec![Some((None, vec![0; 5_000]))];
        let long = restore(LevelsState { repeating: (0, long), ..good.clone() });
        assert_eq!(long, Err(LevelError::TooLong { length: 5_000, longest: 1_073 }));
        assert_eq!(restore(LevelsState { repeating: (0, vec![None]), ..good }), Err(LevelError::Impossible));
    }
}
