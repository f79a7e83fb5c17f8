//! What disbelief costs the honest, and what it takes from liars.

mod common;

use common::{TANK, World, ms, zigzag};
use evenkeel::ledger::{Ledger, ReceiverIndex};
use evenkeel::policy::{Decision, Policy, Trigger};
use evenkeel::{SenderConfig, Threshold};

/// Two receivers of three per trigger: those that have suffered most. Whoever is believed to suffer more gets more.
struct WorstTwo;

impl Policy for WorstTwo {
    fn name(&self) -> String {
        "worst-two".into()
    }

    fn decide(&mut self, ledger: &Ledger, trigger: &Trigger, decisions: &mut [Decision]) {
        let suffered = |r: ReceiverIndex| ledger.pair(trigger.entity, r).recent(trigger.at);
        let mut order: Vec<_> = ledger.receivers().collect();
        order.sort_by(|a, b| suffered(*b).total_cmp(&suffered(*a)));
        for receiver in order.iter().take(2) {
            decisions[receiver.0] = Decision::Now;
        }
    }
}

/// The mean distance between exported and placed path at receiver 0, sampled every millisecond.
fn mean_error(trust_receipts: bool, down_ms: i64, up_ms: i64) -> f64 {
    let config = SenderConfig { policy: Box::new(WorstTwo), trust_receipts, ..SenderConfig::default() };
    let mut world = World::new(config, &[down_ms, 100, 150]);
    world.up_delays[0] = ms(up_ms);
    world.sender.add_entity(TANK, Threshold::within(0.1), world.now).unwrap();
    let (mut sum, mut count) = (0.0, 0);
    for _ in 0..120_000 {
        world.run(1, |sender, now| {
            sender.observe(TANK, zigzag(now), now).unwrap();
        });
        let ledger = world.sender.ledger();
        let newest = ledger.newest(ledger.entity(TANK).unwrap()).unwrap();
        let exported = newest.motion.position_at(world.now.since(newest.generated).as_secs_f64());
        if let Ok(placed) = world.receivers[0].place(TANK, world.now) {
            sum += placed.position.distance(exported);
            count += 1;
        }
    }
    sum / f64::from(count)
}

#[test]
fn an_honest_receiver_on_an_asymmetric_path_suffers_less_than_five_percent() {
    for (down, up) in [(150, 50), (50, 150), (250, 100), (100, 250)] {
        let (believed, bounded) = (mean_error(true, down, up), mean_error(false, down, up));
        assert!(bounded <= 1.05 * believed, "{down} ms down, {up} ms up: {bounded} m instead of {believed} m");
    }
}
