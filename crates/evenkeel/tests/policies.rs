//! What each policy promises, over whole sessions.

#![allow(clippy::unwrap_used)]

mod common;

use common::{TANK, World, at, ms, zigzag};
use evenkeel::policy::{
    Decision, Instantaneous, LastSent, NAMES, Overtaken, Past, Policy, Readings, Scales, Schedule, SchedulePaper,
    Scope, Settled, Spent, Trigger, Weights, by_name,
};
use evenkeel::wire::Format;
use evenkeel::{
    Budget, Cause, Duration, EntityId, Fairness, HostId, Ledger, Placing, ReceiverConfig, Relevance, Sender,
    SenderConfig, Threshold,
};
use evenkeel_lab::workload::Tank as Drive;

const PAPER_MS: [i64; 3] = [800, 500, 200];
const EIGHT_MS: [i64; 8] = [20, 50, 80, 120, 150, 180, 220, 250];

fn config(policy: Box<dyn Policy>) -> SenderConfig {
    SenderConfig { policy, ..SenderConfig::default() }
}

fn named(name: &str, budget: Budget) -> Box<dyn Policy> {
    by_name(&name.replace("/k", "/3"), budget, 7).unwrap()
}

/// A tank on its zigzag, 2.5 triggers a second.
fn zigzagging(policy: Box<dyn Policy>, delays: &[i64], seconds: i64) -> World {
    let mut world = World::new(config(policy), delays);
    world.sender.add_entity(TANK, Threshold::within(0.1), world.now).unwrap();
    world.run(seconds * 1_000, |sender, now| {
        sender.observe(TANK, zigzag(now), now).unwrap();
    });
    world
}

/// Tanks driven at random, at 50 frames a second.
fn driving(policy: Box<dyn Policy>, delays: &[i64], tanks: u32, seconds: i64) -> World {
    let mut world = World::new(config(policy), delays);
    let mut drives: Vec<_> = (0..tanks).map(|i| Drive::new(3, u64::from(i))).collect();
    for i in 0..tanks {
        world.sender.add_entity(EntityId(i), Threshold::within(0.1), world.now).unwrap();
    }
    drive_on(&mut world, &mut drives, seconds);
    world
}

fn drive_on(world: &mut World, drives: &mut [Drive], seconds: i64) {
    world.run(seconds * 1_000, |sender, now| {
        if now.as_nanos() % 20_000_000 == 0 {
            for (i, drive) in drives.iter_mut().enumerate() {
                sender.observe(EntityId(i as u32), drive.to(now), now).unwrap();
            }
        }
    });
}

fn fairness(world: &World) -> Fairness {
    world.sender.fairness(world.now)
}

#[test]
fn budgets_are_kept_over_a_thousand_triggers() {
    let names =
        ["lottery-pa", "lottery-pi", "lottery-pt", "lottery-case4", "lottery-case5", "lottery-one", "lottery-fixed"];
    let credits = ["credits-pa", "credits-pi", "credits-pt", "credits-mix", "credits-fixed"];
    for name in names.into_iter().chain(credits) {
        for k in [2, 3, 6, 10] {
            for delays in [&PAPER_MS[..], &EIGHT_MS] {
                let world = zigzagging(named(name, Budget::of_base(1, k)), delays, 400);
                let spent = world.sender.ledger().spent();
                let share = spent.share_of_base() * f64::from(k);
                assert!(spent.triggers >= 1_000 && (share - 1.0).abs() < 0.03, "{name} 1/{k}: {share} {spent:?}");
            }
        }
    }
}

#[test]
fn a_rate_is_kept_over_all_entities() {
    for name in ["lottery", "credits", "tolerance"] {
        let world = driving(named(name, Budget::PerSecond(6.0)), &PAPER_MS, 3, 200);
        let rate = world.sender.ledger().spent().vectors as f64 / 200.0;
        assert!((rate - 6.0).abs() < 0.6, "{name}: {rate}/s");
    }
}

#[test]
fn tolerance_converges_to_its_budget() {
    for k in [2, 3, 6, 10] {
        // Heartbeats must be allowed to become rare, too.
        let placing = Placing { max_age: Duration::from_secs(20), ..Placing::default() };
        let config = SenderConfig { placing, ..config(named("tolerance", Budget::of_base(1, k))) };
        let mut world = World::new(config, &PAPER_MS);
        let mut drives: Vec<_> = (0..4).map(|i| Drive::new(3, i)).collect();
        for i in 0..4 {
            world.sender.add_entity(EntityId(i), Threshold::within(0.1), world.now).unwrap();
        }
        drive_on(&mut world, &mut drives, 120);
        let before = world.sender.ledger().spent();
        drive_on(&mut world, &mut drives, 240);
        let share = world.sender.ledger().spent().since(&before).share_of_base() * f64::from(k);
        assert!((share - 1.0).abs() < 0.1, "1/{k}: {share}");
    }
}

#[test]
fn scheduling_makes_errors_equal() {
    let run = |name: &str| fairness(&zigzagging(named(name, Budget::Unlimited), &PAPER_MS, 120));
    let base = run("base");
    for (name, most) in [("schedule-drop", 0.2), ("schedule-drop-projected", 0.2), ("schedule-send", 0.9)] {
        let fairness = run(name);
        assert!(fairness.std < most * base.std, "{name}: {} against {}", fairness.std, base.std);
    }
    let projected = run("schedule-drop-projected");
    assert!(projected.max < 1.5 * base.max, "{} against {}", projected.max, base.max);
}

#[test]
fn the_papers_schedule_evens_out_delays_that_it_did_not_expect() {
    let run = |name: &str| {
        let mut world = World::new(config(named(name, Budget::Unlimited)), &[300, 200, 100]);
        let mut drives = [Drive::new(3, 0), Drive::new(3, 1)];
        for i in 0..2 {
            world.sender.add_entity(EntityId(i), Threshold::within(0.1), world.now).unwrap();
        }
        for second in 0..120 {
            // Up to 90 ms more than at best, differently for everybody.
            world.delays =
                [300, 200, 100].iter().enumerate().map(|(i, d)| ms(d + (second * 37 + i as i64 * 53) % 90)).collect();
            drive_on(&mut world, &mut drives, 1);
        }
        fairness(&world)
    };
    let (base, paper) = (run("base"), run("schedule-paper"));
    assert!(paper.std < 0.6 * base.std, "{} against {}", paper.std, base.std);
}

#[test]
fn budgets_are_fairer_than_every_third_vector() {
    let third = Budget::of_base(1, 3);
    let run = |name: &str| fairness(&driving(named(name, third), &PAPER_MS, 2, 200));
    let plain = run("base/3");
    for name in ["lottery-pi", "credits-pa"] {
        let fairness = run(name);
        assert!(fairness.std < 0.9 * plain.std, "{name}: {} against {}", fairness.std, plain.std);
    }
}

/// Asks another policy and checks that nothing is held for longer than it may.
struct Checked<P>(P, Duration);

impl<P: Policy> Policy for Checked<P> {
    fn name(&self) -> String {
        self.0.name()
    }

    fn decide(&mut self, ledger: &Ledger, trigger: &Trigger, decisions: &mut [Decision]) {
        self.0.decide(ledger, trigger, decisions);
        for decision in decisions {
            if let Decision::At(until) = decision {
                assert!((Duration::ZERO..=self.1).contains(&until.since(trigger.at)), "{decision:?} at {trigger:?}");
            }
        }
    }

    fn overtaken(&self) -> Overtaken {
        self.0.overtaken()
    }

    fn wants_settled(&self) -> bool {
        self.0.wants_settled()
    }

    fn settled(&mut self, ledger: &Ledger, settled: &Settled) {
        self.0.settled(ledger, settled);
    }
}

#[test]
fn nothing_is_held_longer_than_it_may() {
    let most = ms(150);
    for projected in [false, true] {
        let policy = Schedule { projected, max_hold: most, ..Schedule::default() };
        zigzagging(Box::new(Checked(policy, most)), &PAPER_MS, 20);
    }
    zigzagging(Box::new(Checked(SchedulePaper::new(most), most)), &PAPER_MS, 20);
}

#[test]
fn equal_seeds_give_equal_bytes_and_other_seeds_others() {
    let bytes = |seed| {
        let policy = by_name("lottery", Budget::of_base(1, 3), seed).unwrap();
        zigzagging(policy, &PAPER_MS, 20).sent
    };
    assert_eq!(bytes(5), bytes(5));
    assert_ne!(bytes(5), bytes(6));
}

#[test]
fn every_policy_serves_nobody_one_and_those_who_come_and_go() {
    for (name, _) in NAMES {
        zigzagging(named(name, Budget::of_base(1, 3)), &[], 5);
        let mut world = zigzagging(named(name, Budget::of_base(1, 3)), &[100], 5);
        assert!(world.receivers[0].place(TANK, world.now).is_ok(), "{name}");
        world.join(Format::default(), ReceiverConfig::default(), 300);
        world.join(Format::default(), ReceiverConfig::default(), 20);
        let drive = |sender: &mut Sender, now| {
            sender.observe(TANK, zigzag(now), now).unwrap();
        };
        world.run(5_000, drive);
        world.sender.set_relevance(TANK, HostId(1), Relevance::OutOfScope, world.now).unwrap();
        world.sender.set_relevance(TANK, HostId(2), Relevance::Weight(0.0), world.now).unwrap();
        world.run(5_000, drive);
        world.sender.remove_receiver(HostId(0)).unwrap();
        world.sender.set_relevance(TANK, HostId(1), Relevance::Weight(5.0), world.now).unwrap();
        world.run(5_000, drive);
        world.sender.remove_entity(TANK, world.now).unwrap();
        world.sender.add_entity(TANK, Threshold::within(0.1), world.now).unwrap();
        world.run(5_000, drive);
        let fairness = fairness(&world);
        assert!(fairness.mean.is_finite() && fairness.std.is_finite(), "{name}: {fairness:?}");
        assert!(world.now > at(20_000) && world.receivers[1].place(TANK, world.now).is_ok(), "{name}");
    }
}

#[test]
fn joins_do_not_count_against_the_budget() {
    let mut world = zigzagging(named("credits", Budget::of_base(1, 3)), &PAPER_MS, 60);
    for delay in [10, 20, 30] {
        world.join(Format::default(), ReceiverConfig::default(), delay);
        world.run(20_000, |sender, now| {
            sender.observe(TANK, zigzag(now), now).unwrap();
        });
    }
    let spent = world.sender.ledger().spent();
    let counted = spent.since(&Spent { due: 6, vectors: 6, ..Default::default() });
    assert!((counted.share_of_base() * 3.0 - 1.0).abs() < 0.05, "{spent:?}");
}

fn shares(world: &World, weights: Weights) -> Vec<f64> {
    let ledger = world.sender.ledger();
    let entity = ledger.entity(TANK).unwrap();
    let vector = ledger.newest(entity).unwrap().number;
    let trigger = Trigger { entity, vector, cause: Cause::Distance, at: world.now };
    Scales::new(weights).weigh(ledger, &trigger).iter().map(|s| s.share).collect()
}

#[test]
fn shares_add_up_and_readings_differ() {
    let mut world = zigzagging(named("base", Budget::Unlimited), &[300, 200, 100], 20);
    world.run(130, |_, _| {});
    let readings = Readings {
        scope: Scope::Total,
        past: Past::Whole,
        instantaneous: Instantaneous::SinceGeneration,
        last_sent: LastSent::SinceAcknowledged,
    };
    let all = [Weights::EVEN, Weights::ACCUMULATED, Weights::INSTANTANEOUS, Weights::LAST_SENT, Weights::THIRDS];
    for weights in all.into_iter().chain(all.map(|w| w.read_as(readings))) {
        let shares = shares(&world, weights);
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12 && shares.iter().all(|s| *s >= 0.0), "{shares:?}");
    }
    let third = 1.0 / 3.0;
    let even = |shares: &[f64]| shares.iter().all(|s| (s - third).abs() < 1e-9);
    assert!(even(&shares(&world, Weights::EVEN)));
    // Everybody is sent everything at once, but what is far acknowledges what is old.
    assert!(even(&shares(&world, Weights::LAST_SENT)));
    for weights in [Weights::ACCUMULATED, Weights::LAST_SENT.read_as(readings), Weights::ACCUMULATED.read_as(readings)]
    {
        let shares = shares(&world, weights);
        assert!(shares[0] > shares[1] && shares[1] >= shares[2], "{weights:?}: {shares:?}");
    }
    let (reception, generation) =
        (shares(&world, Weights::INSTANTANEOUS), shares(&world, Weights::INSTANTANEOUS.read_as(readings)));
    assert!(reception != generation && reception[0] > reception[2], "{reception:?} {generation:?}");
}

#[test]
fn importance_multiplies_errors() {
    let mut world = zigzagging(named("base", Budget::Unlimited), &[300, 300], 20);
    assert!((shares(&world, Weights::ACCUMULATED)[0] - 0.5).abs() < 1e-9);
    world.sender.set_relevance(TANK, HostId(0), Relevance::Weight(3.0), world.now).unwrap();
    assert!((shares(&world, Weights::ACCUMULATED)[0] - 0.75).abs() < 1e-9);
    world.sender.set_relevance(TANK, HostId(0), Relevance::OutOfScope, world.now).unwrap();
    assert_eq!(shares(&world, Weights::ACCUMULATED), [1.0]);
}

#[test]
fn a_late_joiner_is_soon_an_equal_if_the_past_fades() {
    let mut world = zigzagging(named("base", Budget::Unlimited), &[300], 200);
    world.join(Format::default(), ReceiverConfig::default(), 300);
    world.run(40_000, |sender, now| {
        sender.observe(TANK, zigzag(now), now).unwrap();
    });
    let whole = Weights::ACCUMULATED.read_as(Readings { past: Past::Whole, ..Readings::default() });
    assert!(shares(&world, whole)[1] < 0.2, "{:?}", shares(&world, whole));
    assert!(shares(&world, Weights::ACCUMULATED)[1] > 0.4, "{:?}", shares(&world, Weights::ACCUMULATED));
}

#[test]
fn what_is_overtaken_is_dropped_sent_or_replaced() {
    let vectors = |name: &str| {
        let spent = zigzagging(named(name, Budget::Unlimited), &PAPER_MS, 60).sender.ledger().spent();
        spent.share_of_base()
    };
    assert!(vectors("schedule-drop") < 0.9);
    assert!((vectors("schedule-send") - 1.0).abs() < 0.02);
    let newest = vectors("schedule-send-newest");
    assert!(newest < 0.9, "{newest}");
}
