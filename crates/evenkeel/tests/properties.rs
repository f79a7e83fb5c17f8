//! What must not matter: when a session takes place, and what its hosts are called.
#![allow(clippy::unwrap_used)]

use evenkeel::wire::Format;
use evenkeel::{
    Budget, Duration, EntityId, GlobalTime, HostId, Pose, Receiver, ReceiverConfig, Sender, SenderConfig, Threshold,
    Vec3, policy,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

const TANK: EntityId = EntityId(4);

/// What a session came to: per receiver the error booked and the places shown, and the vectors spent.
#[derive(Debug, PartialEq)]
struct Story {
    errors: Vec<f64>,
    places: Vec<Vec<Vec3>>,
    vectors: u64,
}

/// Legs of driving: (milliseconds, metres per second along x, along y).
type Legs = Vec<(i64, f64, f64)>;

fn session(legs: &Legs, delays_ms: &[i64], hosts: &[u32], policy: &str, start: GlobalTime) -> Story {
    let policy = policy::by_name(policy, Budget::of_base(1, 3), 0).unwrap();
    let config = SenderConfig { format: Format::default(), policy, ..SenderConfig::default() };
    let mut sender = Sender::new(config).unwrap();
    sender.add_entity(TANK, Threshold::within(0.1), start).unwrap();
    let mut receivers = BTreeMap::new();
    for host in hosts {
        sender.add_receiver(HostId(*host), start).unwrap();
        let mut receiver = Receiver::new(ReceiverConfig::default()).unwrap();
        receiver.add_sender(HostId(999), receiver.agreement(&Format::default()), start).unwrap();
        receivers.insert(*host, receiver);
    }
    let delay = |host: u32| delays_ms[hosts.iter().position(|h| *h == host).unwrap()];
    let mut network: BTreeMap<(GlobalTime, u64), (u32, bool, Vec<u8>)> = BTreeMap::new();
    let mut places = vec![Vec::new(); hosts.len()];
    let (mut now, mut position, mut count) = (start, Vec3::ZERO, 0);
    for (millis, vx, vy) in legs {
        for _ in 0..*millis / 10 {
            now += Duration::from_millis(10);
            let velocity = Vec3::new(*vx, *vy, 0.0);
            position += velocity * 0.01;
            while network.first_key_value().is_some_and(|((due, _), _)| *due <= now) {
                let (_, (host, up, bytes)) = network.pop_first().unwrap();
                if up {
                    sender.handle_datagram(HostId(host), &bytes, now).unwrap();
                } else {
                    receivers.get_mut(&host).unwrap().handle_datagram(HostId(999), &bytes, now).unwrap();
                }
            }
            sender.observe(TANK, Pose::at(position).moving(velocity), now).unwrap();
            sender.handle_timeout(now);
            while let Some(datagram) = sender.poll_transmit(now) {
                count += 1;
                let due = now + Duration::from_millis(delay(datagram.to.0));
                network.insert((due, count), (datagram.to.0, false, datagram.bytes.to_vec()));
            }
            for (i, host) in hosts.iter().enumerate() {
                let receiver = receivers.get_mut(host).unwrap();
                while let Some(receipt) = receiver.poll_transmit(now) {
                    count += 1;
                    let due = now + Duration::from_millis(delay(*host));
                    network.insert((due, count), (*host, true, receipt.bytes.to_vec()));
                }
                places[i].extend(receiver.place(TANK, now).map(|placed| placed.position));
            }
        }
    }
    let ledger = sender.ledger();
    let entity = ledger.entity(TANK).unwrap();
    let error = |host: &u32| ledger.pair(entity, ledger.receiver(HostId(*host)).unwrap()).accumulated(now).total();
    Story { errors: hosts.iter().map(error).collect(), places, vectors: ledger.spent().vectors }
}

fn legs() -> impl Strategy<Value = Legs> {
    prop::collection::vec((50..600i64, -20.0..20.0f64, -20.0..20.0f64), 1..8)
}

fn policies() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "base",
        "base/2",
        "base/3",
        "schedule-paper",
        "schedule-drop",
        "schedule-drop-projected",
        "schedule-send",
        "schedule-send-newest",
        "credits-pa",
        "credits-pi",
        "credits-pt",
        "credits-mix",
        "tolerance",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// By whole ticks and whole stamps of the wire, which fall together every 256 ms.
    #[test]
    fn shifting_time_shifts_results(legs in legs(), policy in policies(), shift in -15_000_000i64..15_000_000) {
        let (delays, hosts) = ([20, 130, 300], [1, 2, 3]);
        let now = session(&legs, &delays, &hosts, policy, GlobalTime::from_millis(1_000));
        let then = session(&legs, &delays, &hosts, policy, GlobalTime::from_millis(1_000 + 256 * shift));
        prop_assert_eq!(now, then);
    }

    #[test]
    fn renaming_receivers_changes_nothing(legs in legs(), policy in policies(), names in prop::sample::subsequence((0..50u32).collect::<Vec<_>>(), 3)) {
        let delays = [20, 130, 300];
        let plain = session(&legs, &delays, &[1, 2, 3], policy, GlobalTime::ZERO);
        let renamed = session(&legs, &delays, &[names[2], names[0], names[1]], policy, GlobalTime::ZERO);
        prop_assert_eq!(plain, renamed);
    }
}
