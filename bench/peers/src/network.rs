//! The network between a server and its receivers: the same delays and losses for everybody, in virtual time.

use crate::contender::Parcel;
use anyhow::Result;
use evenkeel::{Duration, GlobalTime};
use evenkeel_link::{Conditions, Fate, Path};
use std::collections::{BTreeMap, HashMap};

/// What IPv4 and UDP add to every datagram.
pub const HEADER: u64 = 28;

/// Whom a parcel is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// From the server to a receiver.
    Down,
    /// From a receiver to the server.
    Up,
}

/// What went one way of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traffic {
    /// Bytes of the contender's own.
    pub bytes: u64,
    /// Datagrams.
    pub datagrams: u64,
}

impl Traffic {
    /// Bytes with what carries them.
    pub fn on_the_wire(&self) -> u64 {
        self.bytes + self.datagrams * HEADER
    }
}

/// The network.
pub struct Network {
    /// Down and up, by receiver.
    paths: Vec<[Path; 2]>,
    under_way: BTreeMap<(GlobalTime, u64), (Way, Parcel)>,
    serial: u64,
    /// When the last ordered parcel of a channel arrives.
    ordered: HashMap<(usize, Way, usize), GlobalTime>,
    traffic: Vec<[Traffic; 2]>,
    /// How many were sent in this nanosecond and on this path, so that no two share their fate.
    sent: HashMap<(usize, Way), (GlobalTime, i64)>,
}

impl Network {
    /// One connection for each of these conditions, the same both ways.
    pub fn new(conditions: &[Conditions], seed: u64) -> Result<Self> {
        let path = |n: usize, way: u64| Path::new(conditions[n].clone(), seed, 2 * n as u64 + way);
        let paths = (0..conditions.len()).map(|n| Ok([path(n, 0)?, path(n, 1)?])).collect::<Result<Vec<_>>>()?;
        let traffic = vec![[Traffic::default(); 2]; paths.len()];
        let (under_way, ordered, sent) = (BTreeMap::new(), HashMap::new(), HashMap::new());
        Ok(Self { paths, under_way, serial: 0, ordered, traffic, sent })
    }

    /// What went to, and came from, a receiver since the last [`reset`](Self::reset).
    pub fn traffic(&self, receiver: usize, way: Way) -> Traffic {
        self.traffic[receiver][way as usize]
    }

    /// Counts from now on.
    pub fn reset(&mut self) {
        self.traffic.fill([Traffic::default(); 2]);
    }

    /// Sends a parcel. What must arrive is sent again a round trip and a bit after each loss, and counted again.
    pub fn send(&mut self, way: Way, parcel: Parcel, now: GlobalTime) {
        let mut sent = self.moment(parcel.receiver, way, now);
        let count = &mut self.traffic[parcel.receiver][way as usize];
        let path = &self.paths[parcel.receiver][way as usize];
        let again = path.conditions().delay * 2 + Duration::from_millis(50);
        loop {
            count.bytes += parcel.bytes.len() as u64;
            count.datagrams += 1;
            match path.fate(sent) {
                Fate::Arrives { at, .. } => return self.put(way, parcel, at),
                Fate::Lost if !parcel.reliable => return,
                Fate::Lost => sent += again,
            }
        }
    }

    fn moment(&mut self, receiver: usize, way: Way, now: GlobalTime) -> GlobalTime {
        let last = self.sent.entry((receiver, way)).or_insert((now, 0));
        *last = if last.0 == now { (now, last.1 + 1) } else { (now, 0) };
        now + Duration::from_nanos(last.1)
    }

    fn put(&mut self, way: Way, parcel: Parcel, mut at: GlobalTime) {
        if parcel.reliable {
            let last = self.ordered.entry((parcel.receiver, way, parcel.channel)).or_insert(at);
            at = at.max(*last);
            *last = at;
        }
        self.serial += 1;
        self.under_way.insert((at, self.serial), (way, parcel));
    }

    /// The next parcel that has arrived by now, and when it did.
    pub fn arrived(&mut self, now: GlobalTime) -> Option<(Way, Parcel, GlobalTime)> {
        let next = self.under_way.first_entry().filter(|next| next.key().0 <= now)?;
        let at = next.key().0;
        let (way, parcel) = next.remove();
        Some((way, parcel, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parcel(reliable: bool, number: u16) -> Parcel {
        Parcel { receiver: 0, channel: 0, reliable, bytes: number.to_be_bytes().to_vec().into() }
    }

    /// What arrives of a thousand parcels, ten a tick.
    fn arrivals(reliable: bool) -> (Vec<(GlobalTime, u16)>, Traffic) {
        let mut network = Network::new(&evenkeel_lab::experiment::paths(&[50.0], 20.0, 0.1), 3).unwrap();
        for number in 0..1_000 {
            network.send(Way::Down, parcel(reliable, number), GlobalTime::from_millis(i64::from(number / 10) * 16));
        }
        let number = |parcel: &Parcel| u16::from_be_bytes([parcel.bytes[0], parcel.bytes[1]]);
        let all = std::iter::from_fn(|| network.arrived(GlobalTime::MAX).map(|(_, parcel, at)| (at, number(&parcel))));
        let all: Vec<_> = all.collect();
        (all, network.traffic(0, Way::Down))
    }

    #[test]
    fn what_must_arrive_does_in_order_and_is_paid_for_again() {
        let (all, traffic) = arrivals(true);
        assert!(all.iter().map(|(_, number)| *number).eq(0..1_000));
        assert!((1_050..1_200).contains(&traffic.datagrams), "{traffic:?}");
        assert_eq!(traffic.on_the_wire(), traffic.bytes + 28 * traffic.datagrams);
    }

    #[test]
    fn the_rest_gets_lost_and_overtaken_and_always_in_the_same_way() {
        let (all, traffic) = arrivals(false);
        assert!((850..950).contains(&all.len()) && traffic.datagrams == 1_000, "{}", all.len());
        assert!(all.is_sorted_by_key(|(at, _)| *at) && !all.is_sorted_by_key(|(_, number)| *number));
        assert_eq!(all, arrivals(false).0);
        // Of ten that are sent at once some arrive and some do not: no two share their fate.
        let arrived = |tick: u16| all.iter().filter(|(_, number)| number / 10 == tick).count();
        assert!((0..100).filter(|tick| (1..10).contains(&arrived(*tick))).count() > 40);
    }
}
