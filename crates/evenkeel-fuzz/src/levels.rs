//! Two ends that exchange the game's messages, and a third that hears anything.

use crate::input::Input;
use crate::script::levels as op;
use evenkeel::{Duration, HostId, Instant};
use evenkeel_net::levels::{
    Channel, Envelope, Level, LevelError, LevelLimits, Levels, Outgoing, Party, QUICKEST_WINDOW, RELIABLE_WINDOW,
};
use std::collections::{BTreeMap, BTreeSet};

const MAX_OPERATIONS: usize = 400;
/// So much is under way at most; datagrams beyond are lost.
const MAX_FLYING: usize = 200;
const LIMITS: LevelLimits =
    LevelLimits { max_datagram: 300, max_message: 500, quickest_bytes: 1_000, queued_bytes: 2_000, newest_streams: 4 };
/// All queues, what is not acknowledged, what was newest, and what came before others.
const MAX_MEMORY: usize = 3 * 2_000 + 1_000 + QUICKEST_WINDOW * 128 + 4 * 64 + RELIABLE_WINDOW * 8;
/// The end that hears anything.
const STRANGER: usize = 2;

/// [`Levels`] hand out nothing that was not sent: what is quickest once, what is newest never after something newer. They are not
/// changed by what they refuse, do not grow beyond their limits, and once the network lets everything through, everything that was
/// promised arrives.
pub fn levels(data: &[u8]) {
    let mut input = Input(data);
    let mut bench = Bench {
        ends: [(); 3].map(|()| Levels::new(LIMITS)),
        now: Instant::ZERO,
        latest: Instant::ZERO,
        flying: Vec::new(),
        sent: Default::default(),
        got: Default::default(),
        newest: BTreeMap::new(),
        numbers: 0,
    };
    for _ in 0..MAX_OPERATIONS {
        let Some(operation) = input.next() else { break };
        bench.perform(operation % op::COUNT, &mut input);
        bench.check();
    }
    bench.finish();
}

struct Bench {
    ends: [Levels; 3],
    now: Instant,
    latest: Instant,
    /// To which end, and what.
    flying: Vec<(usize, Outgoing)>,
    /// What each end has sent, and got: levels and numbers.
    sent: [BTreeSet<(Level, u32)>; 2],
    got: [BTreeSet<(Level, u32)>; 2],
    newest: BTreeMap<(usize, Party, Channel), u32>,
    numbers: u32,
}

fn level(byte: u8) -> Level {
    match byte % 5 {
        0 => Level::Ordered,
        1 => Level::Unordered,
        2 => Level::Unreliable,
        3 => Level::Newest(Channel(byte / 5)),
        _ => Level::Quickest,
    }
}

impl Bench {
    fn perform(&mut self, operation: u8, input: &mut Input<'_>) {
        match operation {
            op::WAIT => {
                self.now += input.span();
                self.latest = self.latest.max(self.now);
            }
            op::SEND => {
                let (end, level, party) = (usize::from(input.byte() & 1), level(input.byte()), input.byte());
                let party = if party == 0 { Party::Everybody } else { Party::Host(HostId(u32::from(party) * 65_537)) };
                self.send(end, level, party, usize::from(input.u16() % 600));
            }
            op::TRANSMIT => {
                let end = usize::from(input.byte() & 1);
                self.transmit(end);
                self.transmit(STRANGER);
            }
            op::ALONG => {
                let (end, room) = (usize::from(input.byte() & 1), usize::from(input.u16()));
                self.go_along(end, room);
                self.go_along(STRANGER, room);
            }
            op::DELIVER => {
                let (which, again) = (usize::from(input.byte()), input.byte().is_multiple_of(2));
                self.deliver(which, again);
            }
            op::LOSE => {
                let which = usize::from(input.byte());
                if self.flying.get(which).is_some_and(|(_, out)| matches!(out, Outgoing::Datagram(_))) {
                    self.flying.remove(which);
                }
            }
            op::MESSAGES => self.collect(usize::from(input.byte() & 1)),
            op::BYTES => {
                let way = input.byte();
                self.hear(way, input.chunk());
            }
            _ => {
                let end = usize::from(input.byte() & 1);
                self.ends[end].set_round_trip(input.span());
            }
        }
    }

    fn send(&mut self, end: usize, level: Level, party: Party, length: usize) {
        self.numbers += 1;
        let mut bytes = self.numbers.to_le_bytes().to_vec();
        bytes.resize(length.max(4), 7);
        let envelope = Envelope { party, bytes };
        for end in [end, STRANGER] {
            let before = self.ends[end].clone();
            match self.ends[end].send(level, envelope.clone(), self.now) {
                Ok(()) if end == STRANGER => {}
                Ok(()) => _ = self.sent[end].insert((level, self.numbers)),
                Err(error) => {
                    let long = envelope.bytes.len() > LIMITS.longest(level);
                    assert_eq!(matches!(error, LevelError::TooLong { .. }), long, "{error}");
                    assert_eq!(self.ends[end], before, "refused: {error}");
                }
            }
        }
    }

    fn transmit(&mut self, end: usize) {
        for sent in 0.. {
            assert!(sent < 1_000, "it never comes to an end");
            let Some(out) = self.ends[end].poll_transmit(self.now) else { break };
            self.fly(end, out);
        }
        let due = self.ends[end].poll_timeout();
        assert!(due.is_none_or(|due| due > self.now || self.now == Instant::MAX), "all that was due is sent");
    }

    fn go_along(&mut self, end: usize, room: usize) {
        if let Some(bytes) = self.ends[end].ride_along(self.now, room) {
            assert!(bytes.len() <= room);
            self.fly(end, Outgoing::Datagram(bytes));
        }
    }

    fn fly(&mut self, from: usize, out: Outgoing) {
        let mut lost = from == STRANGER;
        if let Outgoing::Datagram(bytes) = &out {
            assert!(bytes.len() <= LIMITS.max_datagram);
            lost |= self.flying.len() >= MAX_FLYING;
        }
        if !lost {
            self.flying.push((1 - from, out));
        }
    }

    fn deliver(&mut self, which: usize, again: bool) {
        let Some((to, out)) = self.flying.get(which).cloned() else { return };
        let (handled, datagram) = match &out {
            Outgoing::Ordered(bytes) => (self.ends[to].handle_ordered(bytes), false),
            Outgoing::Unordered(bytes) => (self.ends[to].handle_unordered(bytes), false),
            Outgoing::Datagram(bytes) => (self.ends[to].handle_datagram(bytes, self.now), true),
        };
        // Whoever carries messages keeps them until there is room.
        if handled == Err(LevelError::Full) && !datagram {
            return;
        }
        assert_eq!(handled, Ok(()), "an honest end is understood");
        if !(again && datagram) {
            self.flying.remove(which);
        }
    }

    fn collect(&mut self, end: usize) {
        while let Some((level, Envelope { party, bytes })) = self.ends[end].poll_message() {
            let number = bytes.first_chunk().map(|number| u32::from_le_bytes(*number)).expect("as it was sent");
            assert!(self.sent[1 - end].contains(&(level, number)), "nobody sent that");
            let first = self.got[end].insert((level, number));
            assert!(first || level == Level::Unreliable, "it came twice");
            if let Level::Newest(channel) = level {
                let last = self.newest.insert((end, party, channel), number);
                assert!(last.is_none_or(|last| last < number), "it went back");
            }
        }
    }

    fn hear(&mut self, way: u8, bytes: &[u8]) {
        let stranger = &mut self.ends[STRANGER];
        let before = stranger.clone();
        let handled = match way % 3 {
            0 => stranger.handle_ordered(bytes),
            1 => stranger.handle_unordered(bytes),
            _ => stranger.handle_datagram(bytes, self.now),
        };
        if let Err(error) = handled {
            assert!(!error.to_string().is_empty());
            assert_eq!(*stranger, before, "refused: {error}");
        }
        if way & 0x80 != 0 {
            while stranger.poll_message().is_some() {}
        }
    }

    fn check(&self) {
        for end in &self.ends {
            assert!(end.memory_bytes() <= MAX_MEMORY, "{} bytes", end.memory_bytes());
            assert!(end.unacknowledged() <= QUICKEST_WINDOW);
        }
    }

    /// From now on nothing is lost: all that was promised comes.
    fn finish(&mut self) {
        self.now = self.latest;
        if self.now > Instant::from_nanos(i64::MAX / 2) {
            return;
        }
        for _ in 0..100 {
            self.now += Duration::from_millis(300);
            (0..2).for_each(|end| self.transmit(end));
            (0..2).for_each(|end| self.collect(end));
            while !self.flying.is_empty() {
                self.deliver(0, false);
                (0..2).for_each(|end| self.collect(end));
            }
            self.check();
        }
        for end in 0..2 {
            assert_eq!(self.ends[end].unacknowledged(), 0);
            let promised = |level: Level| matches!(level, Level::Ordered | Level::Unordered | Level::Quickest);
            let missing = self.sent[end].difference(&self.got[1 - end]).find(|(level, _)| promised(*level));
            assert_eq!(missing, None);
        }
    }
}
