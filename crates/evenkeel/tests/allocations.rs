//! In steady state neither half of the state machine allocates: every buffer has its size and is used again.

#![allow(clippy::unwrap_used)]

use allocation_counter::{measure, opt_out};
use evenkeel::policy::{Base, Budget, Even};
use evenkeel::wire::Format;
use evenkeel::{
    Duration, EntityId, GlobalTime, HostId, Policy, Pose, Receiver, ReceiverConfig, Sender, SenderConfig, Threshold,
    Vec3,
};
use std::collections::VecDeque;

const OWNER: HostId = HostId(100);
const ENTITIES: u32 = 200;
const RECEIVERS: u32 = 8;
const TICK: Duration = Duration::from_millis(50);
/// Datagrams and receipts are under way for so many ticks.
const DELAY_TICKS: usize = 2;
/// Books are trimmed in batches, every few seconds: all buffers have had their largest size after this many ticks.
const WARM_UP: usize = 120;
const MEASURED: usize = 90;

/// Allocations by call.
#[derive(Debug, Default, PartialEq)]
struct Allocations {
    observe: u64,
    transmit: u64,
    receipts: u64,
    datagrams: u64,
    place: u64,
    acknowledge: u64,
}

/// To or from which receiver, and what.
type Packets = Vec<(HostId, Vec<u8>)>;

struct World {
    sender: Sender,
    receivers: Vec<Receiver>,
    now: GlobalTime,
    tick: u64,
    down: VecDeque<Packets>,
    up: VecDeque<Packets>,
}

impl World {
    fn new(policy: Box<dyn Policy>) -> Self {
        let (now, format) = (GlobalTime::ZERO, Format::bzflag());
        let mut sender = Sender::new(SenderConfig { format, policy, ..SenderConfig::default() }).unwrap();
        for i in 0..ENTITIES {
            sender.add_entity(EntityId(i), Threshold::within(0.1), now).unwrap();
        }
        let mut receivers = Vec::new();
        for host in 0..RECEIVERS {
            sender.add_receiver(HostId(host), now).unwrap();
            let mut receiver = Receiver::new(ReceiverConfig::default()).unwrap();
            receiver.add_sender(OWNER, receiver.agreement(&format), now).unwrap();
            receivers.push(receiver);
        }
        Self { sender, receivers, now, tick: 0, down: VecDeque::new(), up: VecDeque::new() }
    }

    /// Every entity takes another course, every receiver is told, shows it and says so.
    fn tick(&mut self) -> Allocations {
        self.now += TICK;
        self.tick += 1;
        let (now, tick) = (self.now, self.tick);
        let mut count = Allocations::default();

        let sender = &mut self.sender;
        count.observe = allocations(|| {
            for i in 0..ENTITIES {
                let cause = sender.observe(EntityId(i), turned(i, tick), now).unwrap();
                assert!(cause.is_some(), "everything triggers in every tick");
            }
        });
        let mut sent = Packets::new();
        count.transmit = allocations(|| {
            sender.handle_timeout(now);
            while let Some(datagram) = sender.poll_transmit(now) {
                opt_out(|| sent.push((datagram.to, datagram.bytes.to_vec())));
            }
        });
        self.down.push_back(sent);
        while sender.poll_event().is_some() {}

        let arriving = due(&mut self.down);
        let receivers = &mut self.receivers;
        count.datagrams = allocations(|| {
            for (to, bytes) in &arriving {
                receivers[to.0 as usize].handle_datagram(OWNER, bytes, now).unwrap();
            }
        });
        let mut receipts = Packets::new();
        for (host, receiver) in (0..).map(HostId).zip(receivers) {
            count.acknowledge += allocations(|| {
                while let Some(receipt) = receiver.poll_transmit(now) {
                    opt_out(|| receipts.push((host, receipt.bytes.to_vec())));
                }
            });
            count.place += allocations(|| {
                let placed = (0..ENTITIES).filter(|i| receiver.place(EntityId(*i), now).is_ok()).count();
                assert!(placed == ENTITIES as usize || tick <= DELAY_TICKS as u64);
                while receiver.poll_event(now).is_some() || receiver.poll_updated().is_some() {}
            });
        }
        self.up.push_back(receipts);

        let arriving = due(&mut self.up);
        count.receipts = allocations(|| {
            for (from, bytes) in &arriving {
                sender.handle_datagram(*from, bytes, now).unwrap();
            }
        });
        count
    }
}

fn allocations(body: impl FnOnce()) -> u64 {
    measure(body).count_total
}

fn due(under_way: &mut VecDeque<Packets>) -> Packets {
    if under_way.len() > DELAY_TICKS { under_way.pop_front().unwrap() } else { Packets::new() }
}

/// A new course, every tick another.
fn turned(i: u32, tick: u64) -> Pose {
    let phase = f64::from(i) * 0.61 + tick as f64 * 1.7;
    let position = Vec3::new(f64::from(i % 40) * 18.0 - 350.0 + phase.sin() * 8.0, phase.cos() * 300.0, 0.0);
    Pose::at(position).facing(phase % 3.0).moving(Vec3::from_heading(phase % 3.0) * 20.0).turning(0.3)
}

#[test]
fn nothing_is_allocated_in_steady_state() {
    let mut world = World::new(Box::new(Base));
    let mut warm_up = Allocations::default();
    for _ in 0..WARM_UP {
        let count = world.tick();
        warm_up.observe += count.observe;
        warm_up.datagrams += count.datagrams;
    }
    assert!(warm_up.observe > 0 && warm_up.datagrams > 0, "the counter counts: {warm_up:?}");
    for tick in 0..MEASURED {
        assert_eq!(world.tick(), Allocations::default(), "in tick {tick}");
    }
    let spent = world.sender.ledger().spent();
    assert_eq!(spent.vectors, u64::from(ENTITIES * RECEIVERS) * (WARM_UP + MEASURED) as u64);
    assert_eq!(spent.resent, 0);
}

/// The policy itself does not allocate. Books of pairs that are sent something now and then still grow: for less than one in
/// fifty vectors.
#[test]
fn even_allocates_next_to_nothing_in_steady_state() {
    let mut world = World::new(Box::new(Even::new(Budget::of_base(1, 3))));
    (0..2 * WARM_UP).for_each(|_| _ = world.tick());
    let before = world.sender.ledger().spent().vectors;
    let (mut allocated, mut quiet) = (0, 0);
    for _ in 0..MEASURED {
        let count = world.tick();
        allocated += count.observe + count.transmit + count.receipts;
        quiet += usize::from(count == Allocations::default());
    }
    let sent = world.sender.ledger().spent().vectors - before;
    assert!(sent > 10_000 && allocated < sent / 50, "{allocated} for {sent} vectors");
    assert!(quiet > MEASURED / 4, "nothing at all is allocated in {quiet} of {MEASURED} ticks only");
}
