//! What was newest on each channel.

use super::{Channel, Party};
use std::collections::BTreeMap;

/// Numbers what is sent, and knows what was handed out last.
///
/// There is one count for all channels: the sender needs to remember nothing else, and a receiver that forgets a stream still knows
/// what is older than everything it has forgotten.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Newest {
    /// The number of the last that was sent.
    sent: u32,
    /// The highest number seen, in full: numbers on the wire are its lower half.
    highest: u64,
    /// What was handed out last of each stream.
    last: BTreeMap<(Party, Channel), u64>,
    /// The newest of all streams that were forgotten.
    floor: u64,
    most: usize,
}

impl Newest {
    pub(super) fn new(most: usize) -> Self {
        // Far from zero, so that what is a little older has a number too.
        let before = 1 << 32;
        Self { sent: 0, highest: before, last: BTreeMap::new(), floor: 0, most: most.max(1) }
    }

    /// The number that the next message will have.
    pub(super) fn upcoming(&self) -> u32 {
        self.sent.wrapping_add(1)
    }

    /// A message with that number is on its way.
    pub(super) fn count(&mut self) {
        self.sent = self.upcoming();
    }

    /// Goes on after the message of that number, which was sent from elsewhere.
    pub(super) fn count_from(&mut self, sent: u32) {
        self.sent = sent;
    }

    /// The number in full: the one nearest to the highest that was seen.
    fn in_full(&self, sequence: u32) -> u64 {
        let ahead = sequence.wrapping_sub(self.highest as u32) as i32;
        self.highest.saturating_add_signed(i64::from(ahead))
    }

    /// Whether nothing newer was handed out.
    pub(super) fn is_newer(&self, party: Party, channel: Channel, sequence: u32) -> bool {
        let last = self.last.get(&(party, channel)).copied().unwrap_or(self.floor);
        self.in_full(sequence) > last
    }

    /// It is handed out.
    pub(super) fn note(&mut self, party: Party, channel: Channel, sequence: u32) {
        let number = self.in_full(sequence);
        self.highest = self.highest.max(number);
        if self.last.insert((party, channel), number).is_none() && self.last.len() > self.most {
            self.forget_one();
        }
    }

    /// Forgets the stream on which nothing was handed out for the longest time.
    fn forget_one(&mut self) {
        let oldest = self.last.iter().min_by_key(|(_, number)| **number).map(|(stream, _)| *stream);
        if let Some(number) = oldest.and_then(|stream| self.last.remove(&stream)) {
            self.floor = self.floor.max(number);
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.last.len() * size_of::<((Party, Channel), u64)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: (Party, Channel) = (Party::Everybody, Channel(3));

    fn offer(newest: &mut Newest, (party, channel): (Party, Channel), sequence: u32) -> bool {
        let newer = newest.is_newer(party, channel, sequence);
        if newer {
            newest.note(party, channel, sequence);
        }
        newer
    }

    #[test]
    fn numbers_wrap_around() {
        let mut newest = Newest::new(4);
        for step in 0..20u32 {
            let sequence = step.wrapping_mul(0x3000_0000).wrapping_add(1);
            assert!(offer(&mut newest, HERE, sequence), "{step}");
            assert!(!offer(&mut newest, HERE, sequence) && !offer(&mut newest, HERE, sequence.wrapping_sub(9)));
        }
    }

    #[test]
    fn what_is_forgotten_does_not_come_back() {
        let mut newest = Newest::new(2);
        let channel = |n| (Party::Everybody, Channel(n));
        assert!((1..=5).all(|n| offer(&mut newest, channel(n), u32::from(n) * 10)));
        assert_eq!(newest.last.len(), 2);
        assert!(!offer(&mut newest, channel(1), 10) && !offer(&mut newest, channel(3), 29));
        assert!(offer(&mut newest, channel(1), 51));
    }

    #[test]
    fn channels_and_parties_do_not_disturb_each_other() {
        let mut newest = Newest::new(8);
        assert!(offer(&mut newest, HERE, 9) && !offer(&mut newest, HERE, 8));
        assert!(offer(&mut newest, (Party::Everybody, Channel(4)), 8));
        assert!(offer(&mut newest, (Party::Host(evenkeel::HostId(1)), Channel(3)), 7));
    }
}
