//! What a receiver is sent does not depend on who else is served: receivers that are due the same share what was written once, and each
//! gets the very bytes that it would get alone.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use evenkeel::policy::by_name;
use evenkeel::{
    Budget, Duration, EntityId, GlobalTime, HostId, Placing, Pose, Receiver, ReceiverConfig, Relevance, Sender,
    SenderConfig, Threshold, Vec3,
};
use std::collections::BTreeMap;

const SENDER: HostId = HostId(1_000);
const TICK: Duration = Duration::from_millis(16);
const TICKS: u32 = 240;
const ENTITIES: u32 = 90;

/// A number from 0 up to 1, by what it is for.
fn chance(seed: u64, of: [u64; 3]) -> f64 {
    let mixed = of.iter().fold(seed, |hash, of| {
        let hash = (hash ^ of).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        hash ^ hash >> 29
    });
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}

/// The way to a receiver and back, and how often it answers: two receivers each are alike.
struct Way {
    delay: Duration,
    loss: f64,
    every: u32,
}

fn way(host: u32) -> Way {
    let delay = Duration::from_millis([0, 0, 20, 20, 90, 90, 20, 20][host as usize]);
    Way {
        delay,
        loss: [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.1, 0.1][host as usize],
        every: [2, 2, 2, 3, 2, 2, 3, 3][host as usize],
    }
}

struct Client {
    receiver: Receiver,
    sent: Vec<Vec<u8>>,
}

/// Plays a session for these receivers and answers what each was sent.
fn sent_to(hosts: &[u32], max_datagram: usize, seed: u64) -> BTreeMap<u32, Vec<Vec<u8>>> {
    let mut now = GlobalTime::from_millis(10);
    let policy = by_name("base", Budget::Unlimited, 1).unwrap();
    let mut sender = Sender::new(SenderConfig { policy, max_datagram, ..SenderConfig::default() }).unwrap();
    let mut clients = BTreeMap::new();
    for host in hosts {
        sender.add_receiver(HostId(*host), now).unwrap();
        let config = ReceiverConfig { placing: Placing::default(), ..ReceiverConfig::default() };
        let mut receiver = Receiver::new(config).unwrap();
        receiver.add_sender(SENDER, sender.agreement(), now).unwrap();
        clients.insert(*host, Client { receiver, sent: Vec::new() });
    }
    let threshold = Threshold::within(0.1).at_least_every(Duration::from_secs(1));
    (0..ENTITIES).for_each(|id| sender.add_entity(EntityId(id), threshold, now).unwrap());
    let mut network: BTreeMap<(GlobalTime, u32, bool, u32), Vec<u8>> = BTreeMap::new();
    let mut counts: BTreeMap<(u32, bool), u32> = BTreeMap::new();
    for tick in 0..TICKS {
        now += TICK;
        while let Some(entry) = network.first_entry().filter(|entry| entry.key().0 <= now) {
            let ((at, host, up, _), bytes) = entry.remove_entry();
            if up {
                sender.handle_datagram(HostId(host), &bytes, at.max(now)).unwrap();
            } else {
                clients.get_mut(&host).unwrap().receiver.handle_datagram(SENDER, &bytes, at).unwrap();
            }
        }
        for id in 0..ENTITIES {
            if tick == 100 && id % 7 == 0 {
                sender.remove_entity(EntityId(id), now).unwrap();
                sender.add_entity(EntityId(id), threshold, now).unwrap();
            }
            // Of two receivers that are alike, one loses sight of the last few entities. (One that comes back into somebody's sight is
            // told anew, and for that exported again, for everybody.)
            for host in hosts.iter().filter(|host| (*host % 2 == 1) == (**host >= 4) && id + 5 > ENTITIES) {
                if chance(seed, [5, u64::from(id), u64::from(host << 16 | tick)]) < 0.01 {
                    sender.set_relevance(EntityId(id), HostId(*host), Relevance::OutOfScope, now).unwrap();
                }
            }
            // Sometimes all turn, sometimes a few.
            let turns = chance(seed, [1, u64::from(id), u64::from(tick)]) < [1.0, 0.1][(tick / 30 % 2) as usize];
            let phase = if turns { tick } else { tick / 4 };
            let place = Vec3::new(f64::from(id) * 9.0, 5.0 * chance(seed, [2, u64::from(id), u64::from(phase)]), 0.0);
            sender.observe(EntityId(id), Pose::at(place), now).unwrap();
        }
        sender.handle_timeout(now);
        let mut post = |host: u32, up: bool, bytes: &[u8]| {
            let count = counts.entry((host, up)).or_default();
            *count += 1;
            // Receivers that are alike lose alike.
            if chance(seed, [3 + u64::from(up), u64::from(host / 2), u64::from(*count)]) >= way(host).loss {
                network.insert((now + way(host).delay, host, up, *count), bytes.to_vec());
            }
        };
        while let Some(datagram) = sender.poll_transmit(now) {
            post(datagram.to.0, false, datagram.bytes);
            clients.get_mut(&datagram.to.0).unwrap().sent.push(datagram.bytes.to_vec());
        }
        for (host, client) in &mut clients {
            while tick % way(*host).every == 0
                && let Some(receipt) = client.receiver.poll_transmit(now)
            {
                post(*host, true, receipt.bytes);
            }
            while client.receiver.poll_event(now).is_some() {}
        }
    }
    clients.into_iter().map(|(host, client)| (host, client.sent)).collect()
}

#[test]
fn a_receiver_gets_the_bytes_that_it_would_get_alone() {
    for (seed, max_datagram) in [(1, 1_200), (2, 400), (3, 700)] {
        let hosts: Vec<u32> = (0..8).collect();
        let together = sent_to(&hosts, max_datagram, seed);
        for host in hosts {
            let alone = &sent_to(&[host], max_datagram, seed)[&host];
            assert!(alone.len() > 200, "{} datagrams", alone.len());
            assert_eq!(together[&host].len(), alone.len(), "datagrams to {host}");
            let differs = together[&host].iter().zip(alone).position(|(a, b)| a != b);
            assert_eq!(differs, None, "the first datagram to {host} that differs, of {}", alone.len());
        }
    }
}
