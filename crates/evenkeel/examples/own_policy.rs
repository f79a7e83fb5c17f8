//! A policy of one's own, against the base case.
//!
//! `cargo run -p evenkeel --example own_policy`
//!
//! What to look for: the policy is one function over the ledger, and decides from what a real sender can know.

use evenkeel::ledger::{Ledger, ReceiverIndex};
use evenkeel::policy::{Base, Decision, Policy, Trigger};
use evenkeel::{
    Duration, EntityId, Fairness, GlobalTime, HostId, Pose, Receiver, ReceiverConfig, Sender, SenderConfig, Threshold,
    Vec3,
};
use std::collections::BTreeMap;
use std::error::Error;

const OWNER: HostId = HostId(0);
const TANK: EntityId = EntityId(1);
const DELAYS_MS: [i64; 3] = [200, 80, 20];

/// Every vector to the receiver that has suffered most lately, and to whoever has not heard anything for a second.
struct WorstFirst;

impl Policy for WorstFirst {
    fn name(&self) -> String {
        "worst-first".into()
    }

    fn decide(&mut self, ledger: &Ledger, trigger: &Trigger, decisions: &mut [Decision]) {
        let suffered = |r: &ReceiverIndex| ledger.pair(trigger.entity, *r).recent(trigger.at);
        let worst = ledger.receivers().max_by(|a, b| suffered(a).total_cmp(&suffered(b)));
        for receiver in ledger.receivers() {
            let last = ledger.pair(trigger.entity, receiver).last_sent();
            let neglected = last.is_none_or(|(_, sent)| trigger.at.since(sent) > Duration::from_secs(1));
            if neglected || Some(receiver) == worst {
                decisions[receiver.0] = Decision::Now;
            }
        }
    }
}

/// A minute of a tank that turns four times a second.
fn run(policy: Box<dyn Policy>) -> Result<Fairness, Box<dyn Error>> {
    let mut now = GlobalTime::ZERO;
    let mut sender = Sender::new(SenderConfig { policy, ..SenderConfig::default() })?;
    sender.add_entity(TANK, Threshold::within(0.1), now)?;
    let mut receivers = BTreeMap::new();
    for host in (1..).map(HostId).take(DELAYS_MS.len()) {
        sender.add_receiver(host, now)?;
        let mut receiver = Receiver::new(ReceiverConfig::default())?;
        receiver.add_sender(OWNER, sender.agreement(), now)?;
        receivers.insert(host, receiver);
    }
    // (when, count) -> (the receiver at one end, whether it goes to the sender, bytes)
    let mut network: BTreeMap<(GlobalTime, u32), (HostId, bool, Vec<u8>)> = BTreeMap::new();
    let (mut position, mut count) = (Vec3::ZERO, 0);
    for frame in 0..6_000 {
        now += Duration::from_millis(10);
        let velocity = Vec3::new(5.0, if frame / 25 % 2 == 0 { 5.0 } else { -5.0 }, 0.0);
        position += velocity * 0.01;
        while network.first_key_value().is_some_and(|((due, _), _)| *due <= now) {
            match network.pop_first() {
                Some((_, (host, true, bytes))) => drop(sender.handle_datagram(host, &bytes, now)?),
                Some((_, (host, false, bytes))) => {
                    receivers.get_mut(&host).ok_or("a receiver")?.handle_datagram(OWNER, &bytes, now)?;
                }
                None => {}
            }
        }
        sender.observe(TANK, Pose::at(position).moving(velocity), now)?;
        let delay = |host: HostId| Duration::from_millis(DELAYS_MS[host.0 as usize - 1]);
        sender.handle_timeout(now);
        while let Some(datagram) = sender.poll_transmit(now) {
            count += 1;
            network.insert((now + delay(datagram.to), count), (datagram.to, false, datagram.bytes.to_vec()));
        }
        for (host, receiver) in &mut receivers {
            while let Some(receipt) = receiver.poll_transmit(now) {
                count += 1;
                network.insert((now + delay(*host), count), (*host, true, receipt.bytes.to_vec()));
            }
        }
    }
    Ok(sender.fairness(now))
}

/// The example. Public for the test that runs it.
pub fn main() -> Result<(), Box<dyn Error>> {
    println!("metres between exported and placed path, receivers at {DELAYS_MS:?} ms\n");
    println!("{:<12} {:>6} {:>6} {:>6} {:>8}", "policy", "mean", "std", "max", "vectors");
    let policies: [Box<dyn Policy>; 2] = [Box::new(Base), Box::new(WorstFirst)];
    for policy in policies {
        let name = policy.name();
        let Fairness { mean, std, max, spent, .. } = run(policy)?;
        println!("{name:<12} {mean:>6.3} {std:>6.3} {max:>6.3} {:>8}", spent.vectors);
    }
    Ok(())
}
