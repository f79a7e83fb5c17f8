//! The network as a queue of packets under way: [`Link`].

use crate::conditions::{Conditions, ConditionsError, RateLimit};
use crate::path::{Fate, Path};
use crate::topology::Topology;
use evenkeel::{Duration, GlobalTime};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

/// The id of the [`Path`] from one host to another within a [`Link`].
pub fn path_id(from: u32, to: u32) -> u64 {
    u64::from(from) << 32 | u64::from(to)
}

/// A network between hosts: packets go in, and come out when their time has come.
///
/// * Commands: [`send`](Self::send), [`set_conditions`](Self::set_conditions).
/// * Polls: [`poll_timeout`](Self::poll_timeout) says when to come back, [`poll`](Self::poll) hands out what is due.
/// * Getters: [`statistics`](Self::statistics), [`in_flight`](Self::in_flight), [`path`](Self::path).
///
/// Packets come out in order of arrival, and in the order they were sent if they arrive at the same moment. The link
/// holds at most [`capacity`](Self::with_capacity) packets; what is sent beyond that is dropped and counted.
///
/// ```
/// use evenkeel::GlobalTime;
/// use evenkeel_link::{Link, Topology};
/// let mut link = Link::new(Topology::uniform("delay=50ms".parse()?)?, 42);
/// link.send(GlobalTime::ZERO, 0, 1, 20, "hello");
/// assert_eq!(link.poll(GlobalTime::ZERO), None);
/// let due = link.poll_timeout().expect("one packet is under way");
/// let delivery = link.poll(due).expect("it is due");
/// assert_eq!((delivery.payload, delivery.arrived), ("hello", GlobalTime::from_millis(50)));
/// # Ok::<(), evenkeel_link::ConditionsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Link<T> {
    topology: Topology,
    seed: u64,
    capacity: usize,
    channels: BTreeMap<(u32, u32), Channel>,
    under_way: BinaryHeap<UnderWay<T>>,
    /// Counts what enters the queue: the order of packets that arrive together.
    next_serial: u64,
    total: Statistics,
}

/// One direction of a connection as traffic has left it.
#[derive(Clone, Debug)]
struct Channel {
    path: Path,
    /// When the rate limit will have let through all it has accepted.
    busy_until: GlobalTime,
    statistics: Statistics,
}

/// A packet that has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery<T> {
    /// The host that sent it.
    pub from: u32,
    /// The host it is for.
    pub to: u32,
    /// When it was sent.
    pub sent: GlobalTime,
    /// When it arrived.
    pub arrived: GlobalTime,
    /// Its size.
    pub bytes: usize,
    /// Whether it arrived before already.
    pub duplicate: bool,
    /// What was sent.
    pub payload: T,
}

/// What became of a packet when it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is under way.
    UnderWay {
        /// When it will arrive.
        arrives: GlobalTime,
    },
    /// It will never arrive.
    Lost,
    /// The queue before the rate limit was full.
    DroppedByQueue,
    /// The link held as many packets as it may.
    DroppedByCapacity,
}

/// What a [`Link`], or one direction of a connection in it, has done so far.
///
/// `sent + duplicated == lost + dropped_by_queue + dropped_by_capacity + delivered +` what is still under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Packets sent.
    pub sent: u64,
    /// Bytes sent.
    pub bytes_sent: u64,
    /// Packets lost on the way.
    pub lost: u64,
    /// Copies the network made.
    pub duplicated: u64,
    /// Packets and copies handed out.
    pub delivered: u64,
    /// Bytes handed out.
    pub bytes_delivered: u64,
    /// Packets that did not fit into the queue before a rate limit.
    pub dropped_by_queue: u64,
    /// Packets and copies that the link could not hold.
    pub dropped_by_capacity: u64,
}

#[derive(Clone, Debug)]
struct UnderWay<T> {
    serial: u64,
    delivery: Delivery<T>,
}

impl<T> UnderWay<T> {
    fn key(&self) -> (GlobalTime, u64) {
        (self.delivery.arrived, self.serial)
    }
}

impl<T> Ord for UnderWay<T> {
    /// Reversed, because the heap hands out the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl<T> PartialOrd for UnderWay<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for UnderWay<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for UnderWay<T> {}

impl<T: Clone> Link<T> {
    /// How many packets a link holds unless told otherwise.
    pub const DEFAULT_CAPACITY: usize = 1 << 20;

    /// A network in which nothing is under way.
    pub fn new(topology: Topology, seed: u64) -> Self {
        Self {
            topology,
            seed,
            capacity: Self::DEFAULT_CAPACITY,
            channels: BTreeMap::new(),
            under_way: BinaryHeap::new(),
            next_serial: 0,
            total: Statistics::default(),
        }
    }

    /// Holding so many packets at most.
    pub fn with_capacity(self, packets: usize) -> Self {
        Self { capacity: packets, ..self }
    }

    /// Sends a packet of so many bytes.
    ///
    /// Packets sent on one path in the same nanosecond share their fate, as [`Path`](crate::Path) has it: whoever sends
    /// several at once and wants them to differ spaces them by a nanosecond.
    pub fn send(&mut self, now: GlobalTime, from: u32, to: u32, bytes_len: usize, payload: T) -> Outcome {
        let room = self.capacity.saturating_sub(self.under_way.len());
        let channel = channel(&mut self.channels, &self.topology, self.seed, from, to);
        let (outcome, again) = channel.accept(now, bytes_len, room);
        let mut change = Statistics { sent: 1, bytes_sent: bytes_len as u64, ..Statistics::default() };
        match outcome {
            Outcome::UnderWay { .. } => {
                change.duplicated = u64::from(again.is_some());
                change.dropped_by_capacity = u64::from(again.is_some() && room < 2);
            }
            Outcome::Lost => change.lost = 1,
            Outcome::DroppedByQueue => change.dropped_by_queue = 1,
            Outcome::DroppedByCapacity => change.dropped_by_capacity = 1,
        }
        channel.statistics.add(&change);
        self.total.add(&change);
        if let Outcome::UnderWay { arrives } = outcome {
            let packet =
                Delivery { from, to, sent: now, arrived: arrives, bytes: bytes_len, duplicate: false, payload };
            if let Some(again) = again.filter(|_| room >= 2) {
                // The copy is put in second, so that it comes second if both arrive at once.
                let copy = Delivery { arrived: again, duplicate: true, ..packet.clone() };
                self.put(packet);
                self.put(copy);
            } else {
                self.put(packet);
            }
        }
        outcome
    }

    /// The path from one host to another.
    pub fn path(&mut self, from: u32, to: u32) -> &Path {
        &channel(&mut self.channels, &self.topology, self.seed, from, to).path
    }

    /// Changes what happens from one host to another to packets sent from now on.
    pub fn set_conditions(&mut self, from: u32, to: u32, conditions: Conditions) -> Result<(), ConditionsError> {
        let path = Path::new(conditions.clone(), self.seed, path_id(from, to))?;
        self.topology.set(from, to, conditions)?;
        channel(&mut self.channels, &self.topology, self.seed, from, to).path = path;
        Ok(())
    }

    fn put(&mut self, delivery: Delivery<T>) {
        self.under_way.push(UnderWay { serial: self.next_serial, delivery });
        self.next_serial += 1;
    }
}

impl<T> Link<T> {
    /// When the next packet arrives, if any is under way.
    pub fn poll_timeout(&self) -> Option<GlobalTime> {
        self.under_way.peek().map(|next| next.delivery.arrived)
    }

    /// The next packet that has arrived by now. Call it until there is none.
    pub fn poll(&mut self, now: GlobalTime) -> Option<Delivery<T>> {
        if self.poll_timeout()? > now {
            return None;
        }
        let delivery = self.under_way.pop()?.delivery;
        let change = Statistics { delivered: 1, bytes_delivered: delivery.bytes as u64, ..Statistics::default() };
        self.total.add(&change);
        if let Some(channel) = self.channels.get_mut(&(delivery.from, delivery.to)) {
            channel.statistics.add(&change);
        }
        Some(delivery)
    }

    /// How many packets and copies are under way.
    pub fn in_flight(&self) -> usize {
        self.under_way.len()
    }

    /// What the link has done so far.
    pub fn statistics(&self) -> Statistics {
        self.total
    }

    /// What it has done so far from one host to another.
    pub fn statistics_between(&self, from: u32, to: u32) -> Statistics {
        self.channels.get(&(from, to)).map_or_else(Statistics::default, |channel| channel.statistics)
    }

    /// Which conditions hold between which hosts.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }
}

/// The channel from one host to another, made when it is first needed.
fn channel<'a>(
    channels: &'a mut BTreeMap<(u32, u32), Channel>,
    topology: &Topology,
    seed: u64,
    from: u32,
    to: u32,
) -> &'a mut Channel {
    channels.entry((from, to)).or_insert_with(|| Channel {
        path: Path::of_valid(topology.conditions(from, to), seed, path_id(from, to)),
        busy_until: GlobalTime::MIN,
        statistics: Statistics::default(),
    })
}

impl Channel {
    /// What becomes of a packet, and when its copy arrives if there is one.
    fn accept(&mut self, now: GlobalTime, bytes: usize, room: usize) -> (Outcome, Option<GlobalTime>) {
        let queueing = match self.path.conditions().rate {
            None => Duration::ZERO,
            Some(rate) => match self.queue(rate, now, bytes) {
                None => return (Outcome::DroppedByQueue, None),
                Some(queueing) => queueing,
            },
        };
        // The fate goes by the time of sending, not of leaving the queue: it must not depend on other packets.
        match self.path.fate(now) {
            Fate::Lost => (Outcome::Lost, None),
            Fate::Arrives { .. } if room == 0 => (Outcome::DroppedByCapacity, None),
            Fate::Arrives { at, again } => {
                (Outcome::UnderWay { arrives: at + queueing }, again.map(|again| again + queueing))
            }
        }
    }

    /// How long a packet waits and takes to pass the rate limit; nothing if the queue has no room for it. A limiter
    /// that is idle takes any packet.
    fn queue(&mut self, rate: RateLimit, now: GlobalTime, bytes: usize) -> Option<Duration> {
        const NANOS_PER_SECOND: u128 = 1_000_000_000;
        let waiting = self.busy_until.max(now).since(now);
        let backlog_bytes = waiting.as_nanos() as u128 * u128::from(rate.bytes_per_second) / NANOS_PER_SECOND;
        if waiting > Duration::ZERO && backlog_bytes + bytes as u128 > u128::from(rate.queue_bytes) {
            return None;
        }
        let passing = (bytes as u128 * NANOS_PER_SECOND).div_ceil(u128::from(rate.bytes_per_second));
        let queueing = waiting + Duration::from_nanos(i64::try_from(passing).unwrap_or(i64::MAX));
        self.busy_until = now + queueing;
        Some(queueing)
    }
}

impl Statistics {
    fn add(&mut self, change: &Self) {
        self.sent += change.sent;
        self.bytes_sent += change.bytes_sent;
        self.lost += change.lost;
        self.duplicated += change.duplicated;
        self.delivered += change.delivered;
        self.bytes_delivered += change.bytes_delivered;
        self.dropped_by_queue += change.dropped_by_queue;
        self.dropped_by_capacity += change.dropped_by_capacity;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tests::any_conditions;
    use proptest::prelude::*;

    fn link<T: Clone>(text: &str) -> Link<T> {
        Link::new(Topology::uniform(text.parse().unwrap()).unwrap(), 42)
    }

    fn drain<T: Clone>(link: &mut Link<T>) -> Vec<Delivery<T>> {
        std::iter::from_fn(|| link.poll(GlobalTime::MAX)).collect()
    }

    fn balance(link: &Link<u32>) -> bool {
        let s = link.statistics();
        s.sent + s.duplicated
            == s.lost + s.dropped_by_queue + s.dropped_by_capacity + s.delivered + link.in_flight() as u64
    }

    #[test]
    fn ties_come_out_in_the_order_they_went_in() {
        let mut link = link("delay=10ms,duplicate=100%");
        for i in 0..100u32 {
            link.send(GlobalTime::ZERO, i % 3, 7, 1, i);
        }
        let order: Vec<u32> = drain(&mut link).iter().map(|delivery| delivery.payload).collect();
        assert!(order.is_sorted() && order.len() == 200);
    }

    #[test]
    fn the_link_agrees_with_the_path_and_does_not_mind_other_packets() {
        let mut busy = link("far,loss=10%");
        let mut quiet = link("far,loss=10%");
        for i in 0..1000 {
            let now = GlobalTime::from_millis(i);
            let outcome = busy.send(now, 1, 2, 10, i);
            if i % 7 == 0 {
                assert_eq!(quiet.send(now, 1, 2, 10, i), outcome);
                let arrival = busy.path(1, 2).fate(now).arrival();
                assert_eq!(arrival.map_or(Outcome::Lost, |arrives| Outcome::UnderWay { arrives }), outcome);
            }
        }
    }

    #[test]
    fn the_rate_limit_spaces_packets_and_drops_what_does_not_fit() {
        // 1,000 bytes per second: 100 bytes take 100 ms. The first passes at once, and 250 bytes may wait.
        let mut link = link("delay=10ms,rate=1000:250");
        let outcomes: Vec<_> = (0..4).map(|i| link.send(GlobalTime::ZERO, 0, 1, 100, i)).collect();
        let arrives = |millis| Outcome::UnderWay { arrives: GlobalTime::from_millis(millis) };
        assert_eq!(outcomes, [arrives(110), arrives(210), Outcome::DroppedByQueue, Outcome::DroppedByQueue]);
        assert_eq!(link.statistics().dropped_by_queue, 2);
        // Half a packet later there is room again, and another direction was never limited by this one.
        assert_eq!(link.send(GlobalTime::from_millis(50), 0, 1, 100, 9), arrives(310));
        assert_eq!(link.send(GlobalTime::from_millis(50), 1, 0, 100, 9), arrives(160));
        // Over a long time as much passes as should.
        for i in 0..100_000 {
            link.send(GlobalTime::from_millis(1_000 + i), 0, 1, 20, 0);
        }
        let passed = link.statistics_between(0, 1).sent - link.statistics_between(0, 1).dropped_by_queue;
        assert!((passed as f64 * 20.0 / 100.0 - 1000.0).abs() < 15.0, "{passed} packets");
    }

    #[test]
    fn an_idle_limiter_takes_a_packet_larger_than_its_queue() {
        let mut link = link("rate=1000:10");
        assert!(matches!(link.send(GlobalTime::ZERO, 0, 1, 1000, ()), Outcome::UnderWay { .. }));
        assert_eq!(link.send(GlobalTime::from_millis(999), 0, 1, 10, ()), Outcome::DroppedByQueue);
        assert!(matches!(link.send(GlobalTime::from_millis(1000), 0, 1, 1000, ()), Outcome::UnderWay { .. }));
    }

    #[test]
    fn the_link_is_bounded() {
        let mut link = link::<u32>("delay=1s,duplicate=100%").with_capacity(5);
        let outcomes: Vec<_> = (0..4).map(|i| link.send(GlobalTime::from_millis(i), 0, 1, 1, 0)).collect();
        assert_eq!(link.in_flight(), 5);
        assert_eq!(outcomes[3], Outcome::DroppedByCapacity);
        assert!(balance(&link));
        drain(&mut link);
        assert!(balance(&link));
        assert_eq!(link.statistics().delivered, 5);
    }

    #[test]
    fn conditions_can_change_under_way() {
        let mut link = link("delay=1s");
        link.send(GlobalTime::ZERO, 0, 1, 1, "slow");
        link.set_conditions(0, 1, "delay=1ms".parse().unwrap()).unwrap();
        link.send(GlobalTime::ZERO, 0, 1, 1, "fast");
        assert_eq!(drain(&mut link).iter().map(|d| d.payload).collect::<Vec<_>>(), ["fast", "slow"]);
        assert!(link.set_conditions(0, 1, Conditions::ideal().with_duplicate(-1.0)).is_err());
    }

    proptest! {
        #[test]
        fn the_books_balance_and_time_goes_forwards(
            conditions in any_conditions(),
            seed: u64,
            capacity in 0usize..30,
            sends in prop::collection::vec((0i64..2_000_000_000, 0u32..3, 0u32..3, 0usize..2000), 0..60),
        ) {
            let mut link = Link::new(Topology::uniform(conditions).unwrap(), seed).with_capacity(capacity);
            let mut now = GlobalTime::ZERO;
            for (i, (gap, from, to, bytes)) in (0..).zip(sends) {
                now += Duration::from_nanos(gap);
                link.send(now, from, to, bytes, i);
                prop_assert!(link.in_flight() <= capacity);
                if i % 2 == 0 {
                    while let Some(delivery) = link.poll(now) {
                        prop_assert!(delivery.sent <= delivery.arrived && delivery.arrived <= now);
                    }
                }
                prop_assert!(balance(&link));
            }
            prop_assert!(drain(&mut link).is_sorted_by_key(|delivery| delivery.arrived));
            prop_assert!(balance(&link));
        }
    }
}
