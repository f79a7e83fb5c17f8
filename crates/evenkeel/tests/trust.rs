//! What disbelief costs the honest, and what it takes from liars.

#![allow(clippy::unwrap_used)]

mod common;

use common::{SENDER, TANK, at, ms, zigzag};
use evenkeel::ledger::{Ledger, ReceiverIndex};
use evenkeel::policy::{Decision, Policy, Trigger};
use evenkeel::wire::Format;
use evenkeel::{HostId, Receiver, ReceiverConfig, Sender, SenderConfig, Threshold};
use std::collections::BTreeMap;

/// Two vectors per trigger on average, more likely to those who suffered more: the lottery of the thesis in its simplest
/// form. Whoever is believed to suffer more gets more.
struct Lottery(u64);

impl Policy for Lottery {
    fn name(&self) -> String {
        "lottery".into()
    }

    fn decide(&mut self, ledger: &Ledger, trigger: &Trigger, decisions: &mut [Decision]) {
        let suffered = |r: ReceiverIndex| ledger.pair(trigger.entity, r).recent(trigger.at);
        let total: f64 = ledger.receivers().map(suffered).sum();
        for receiver in ledger.receivers() {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let draw = (self.0 >> 11) as f64 / (1u64 << 53) as f64;
            let chance = if total > 0.0 { 2.0 * suffered(receiver) / total } else { 0.66 };
            if draw < chance {
                decisions[receiver.0] = Decision::Now;
            }
        }
    }
}

/// How receiver 0 behaves.
#[derive(Clone, Copy)]
struct Subject {
    down_ms: i64,
    up_ms: i64,
    /// What it adds to its reception times after ten seconds.
    lie_ms: i64,
}

/// The mean distance between exported path and what receiver 0 really shows, sampled every millisecond.
fn mean_error(trust_receipts: bool, subject: Subject) -> f64 {
    let config = SenderConfig { policy: Box::new(Lottery(1)), trust_receipts, ..SenderConfig::default() };
    let mut sender = Sender::new(config).unwrap();
    sender.add_entity(TANK, Threshold::within(0.1), at(0)).unwrap();
    let listener = || {
        let mut receiver = Receiver::new(ReceiverConfig::default()).unwrap();
        receiver.add_sender(SENDER, receiver.agreement(&Format::default()), at(0)).unwrap();
        receiver
    };
    let mut receivers = [listener(), listener(), listener()];
    let mut eyes = listener(); // sees what receiver 0 sees, and tells nobody
    (0..3).for_each(|i| sender.add_receiver(HostId(i), at(0)).unwrap());
    let ways = [(subject.down_ms, subject.up_ms), (100, 100), (150, 150)];
    let mut network: BTreeMap<(i64, u64), (usize, bool, Vec<u8>)> = BTreeMap::new();
    let (mut sum, mut count, mut packets) = (0.0, 0, 0);
    for t in 1..200_000i64 {
        let now = at(t);
        let lie = |i: usize| if i == 0 && t > 10_000 { ms(subject.lie_ms) } else { ms(0) };
        sender.observe(TANK, zigzag(now), now).unwrap();
        while network.first_key_value().is_some_and(|((due, _), _)| *due <= t) {
            let (_, (i, up, bytes)) = network.pop_first().unwrap();
            if up {
                sender.handle_datagram(HostId(i as u32), &bytes, now).unwrap();
                continue;
            }
            if i == 0 {
                eyes.handle_datagram(SENDER, &bytes, now).unwrap();
            }
            receivers[i].handle_datagram(SENDER, &bytes, now + lie(i)).unwrap();
        }
        packets += 1;
        sender.handle_timeout(now);
        while let Some(datagram) = sender.poll_transmit(now) {
            let i = datagram.to.0 as usize;
            packets += 1;
            network.insert((t + ways[i].0, packets), (i, false, datagram.bytes.to_vec()));
        }
        for (i, receiver) in receivers.iter_mut().enumerate() {
            while let Some(datagram) = receiver.poll_transmit(now + lie(i)) {
                packets += 1;
                network.insert((t + ways[i].1, packets), (i, true, datagram.bytes.to_vec()));
            }
        }
        let ledger = sender.ledger();
        let newest = ledger.newest(ledger.entity(TANK).unwrap()).unwrap();
        let exported = newest.motion.position_at(now.since(newest.generated).as_secs_f64());
        if let (true, Ok(placed)) = (t > 15_000, eyes.place(TANK, now)) {
            sum += placed.position.distance(exported);
            count += 1;
        }
    }
    sum / f64::from(count)
}

#[test]
fn an_honest_receiver_on_an_asymmetric_path_suffers_less_than_five_percent() {
    for (down_ms, up_ms) in [(150, 50), (50, 150), (250, 100), (200, 150)] {
        let subject = Subject { down_ms, up_ms, lie_ms: 0 };
        let (believed, bounded) = (mean_error(true, subject), mean_error(false, subject));
        assert!(bounded <= 1.05 * believed, "{down_ms} ms down, {up_ms} ms up: {bounded} m instead of {believed} m");
    }
}

#[test]
fn a_liar_that_adds_a_second_gains_less_than_ten_percent() {
    for delay in [50, 100, 200] {
        let honest = Subject { down_ms: delay, up_ms: delay, lie_ms: 0 };
        let liar = Subject { lie_ms: 1_000, ..honest };
        let (fair, gained, believed) = (mean_error(false, honest), mean_error(false, liar), mean_error(true, liar));
        assert!(gained >= 0.9 * fair, "at {delay} ms: {gained} m instead of {fair} m");
        assert!(believed < gained, "believing it would have given it more");
    }
}
