//! What is held back until its time has come: the conditions that clients are put under.

use super::HostId;
use crate::relay::Way;
use evenkeel::GlobalTime;
use evenkeel_link::{Conditions, ConditionsError, Path};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// So many messages may wait at once; more are dropped.
const MOST: usize = 65_536;

/// From a client to the server or the other way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Direction {
    Up,
    Down,
}

/// A message on its way through the relay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) client: HostId,
    pub(super) direction: Direction,
    pub(super) way: Way,
    pub(super) received: GlobalTime,
    pub(super) bytes: Vec<u8>,
}

/// Messages under way, in the order in which they come out.
#[derive(Default)]
pub(super) struct Queue {
    paths: BTreeMap<(HostId, Direction), Path>,
    /// When the last of a stream comes out: nothing overtakes there.
    streams: BTreeMap<(HostId, Direction), GlobalTime>,
    waiting: BinaryHeap<Reverse<(GlobalTime, u64)>>,
    messages: BTreeMap<u64, Message>,
    next: u64,
    last: GlobalTime,
}

impl Queue {
    /// Puts a client under conditions, both ways.
    pub(super) fn set(&mut self, client: HostId, conditions: &Conditions, seed: u64) -> Result<Path, ConditionsError> {
        let id = u64::from(client.0) << 1;
        self.paths.insert((client, Direction::Up), Path::new(conditions.clone(), seed, id)?);
        let down = Path::new(conditions.clone(), seed, id | 1)?;
        self.paths.insert((client, Direction::Down), down.clone());
        Ok(down)
    }

    /// Whether a client's messages wait here.
    pub(super) fn holds(&self, client: HostId, direction: Direction) -> bool {
        self.paths.contains_key(&(client, direction))
    }

    /// A moment at or just after this one that no other message was given: two that share it would share their fate.
    pub(super) fn moment(&mut self, now: GlobalTime) -> GlobalTime {
        self.last = now.max(GlobalTime::from_nanos(self.last.as_nanos() + 1));
        self.last
    }

    /// A client is gone. Answers what was under way.
    pub(super) fn remove(&mut self, client: HostId) -> impl Iterator<Item = Message> {
        for direction in [Direction::Up, Direction::Down] {
            self.paths.remove(&(client, direction));
            self.streams.remove(&(client, direction));
        }
        self.messages.extract_if(.., move |_, message| message.client == client).map(|(_, message)| message)
    }

    /// Takes a message in at this moment. Streams lose nothing and keep their order; `keep` is for what must not get lost.
    pub(super) fn push(&mut self, message: Message, keep: bool, now: GlobalTime) {
        let key = (message.client, message.direction);
        let Some(path) = self.paths.get(&key) else { return };
        let mut at = match path.fate(now).arrival() {
            Some(at) => at,
            None if keep || message.way == Way::Tcp => now + path.delay(now),
            None => return,
        };
        if self.messages.len() >= MOST {
            tracing::warn!("too much is under way: a message is dropped");
            return;
        }
        if message.way == Way::Tcp {
            let last = self.streams.entry(key).or_insert(at);
            at = at.max(*last);
            *last = at;
        }
        self.next += 1;
        self.waiting.push(Reverse((at, self.next)));
        self.messages.insert(self.next, message);
    }

    /// When the next message comes out.
    pub(super) fn poll_timeout(&self) -> Option<GlobalTime> {
        self.waiting.peek().map(|Reverse((at, _))| *at)
    }

    /// The next message whose time has come.
    pub(super) fn poll(&mut self, now: GlobalTime) -> Option<Message> {
        while self.poll_timeout().is_some_and(|at| at <= now) {
            let Some(Reverse((_, number))) = self.waiting.pop() else { break };
            // One whose client is gone is gone.
            if let Some(message) = self.messages.remove(&number) {
                return Some(message);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(way: Way, n: u8) -> Message {
        Message { client: HostId(1), direction: Direction::Up, way, received: GlobalTime::ZERO, bytes: vec![n] }
    }

    fn drain(queue: &mut Queue) -> Vec<u8> {
        std::iter::from_fn(|| queue.poll(GlobalTime::from_millis(10_000))).map(|m| m.bytes[0]).collect()
    }

    #[test]
    fn a_stream_keeps_its_order_and_loses_nothing() {
        let conditions = "delay=50ms,jitter=uniform:40ms,loss=30%".parse().expect("these are conditions");
        let mut queue = Queue::default();
        queue.set(HostId(1), &conditions, 7).expect("they make sense");
        let send = |queue: &mut Queue, way| {
            for n in 0..100 {
                let now = queue.moment(GlobalTime::from_millis(i64::from(n)));
                queue.push(message(way, n), false, now);
            }
            drain(queue)
        };
        assert_eq!(send(&mut queue, Way::Tcp), (0..100).collect::<Vec<u8>>());
        let datagrams = send(&mut queue, Way::Udp);
        assert!(datagrams.len() < 90 && !datagrams.is_sorted(), "{datagrams:?}");
    }

    #[test]
    fn what_must_not_get_lost_does_not() {
        let mut queue = Queue::default();
        queue.set(HostId(1), &"loss=100%".parse().expect("these are conditions"), 7).expect("they make sense");
        queue.push(message(Way::Udp, 1), false, GlobalTime::ZERO);
        queue.push(message(Way::Udp, 2), true, GlobalTime::ZERO);
        assert_eq!(drain(&mut queue), [2]);
        queue.push(message(Way::Udp, 3), true, GlobalTime::ZERO);
        assert_eq!(queue.remove(HostId(1)).map(|m| m.bytes[0]).collect::<Vec<_>>(), [3]);
        assert_eq!(drain(&mut queue), []);
    }
}
