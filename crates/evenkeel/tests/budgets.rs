//! Budgets are used, and kept: in every minute, by a sender or for each receiver, with and without losses.

#![allow(clippy::unwrap_used)]

mod common;

use common::World;
use evenkeel::policy::by_name;
use evenkeel::wire::Format;
use evenkeel::{Budget, EntityId, HostId, ReceiverConfig, SenderConfig, Threshold};
use evenkeel_lab::workload::Tank as Drive;
use std::ops::Range;

const DELAYS_MS: [i64; 3] = [20, 80, 150];
const TANKS: u32 = 5;
const SECONDS: usize = 200;
const POLICIES: [&str; 4] = ["even", "accumulator", "accumulator-distance", "tang-zhou"];
/// The base case would send about 24 vectors or 430 bytes per second.
const BUDGETS: [&str; 10] = [
    "1/3",
    "1/6",
    "6/s",
    "10/s",
    "150B/s",
    "230B/s",
    "2/s/receiver",
    "3.3/s/receiver",
    "50B/s/receiver",
    "80B/s/receiver",
];

/// What each receiver was sent by the end of every second, in the unit of the budget.
type Log = Vec<Vec<f64>>;

struct Game {
    world: World,
    drives: Vec<Drive>,
    budget: Budget,
    log: Log,
    /// What the base case would have sent by the end of every second.
    due: Vec<f64>,
}

impl Game {
    fn new(policy: &str, budget: &str, loss: f64) -> Self {
        let budget: Budget = budget.parse().unwrap();
        let config = SenderConfig { policy: by_name(policy, budget, 7).unwrap(), ..SenderConfig::default() };
        let mut world = World::new(config, &DELAYS_MS);
        let mut random = 1u64;
        world.lost = Box::new(move |_, _, _| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((random >> 33) as f64) < loss * (1u64 << 31) as f64
        });
        for i in 0..TANKS {
            world.sender.add_entity(EntityId(i), Threshold::within(0.1), world.now).unwrap();
        }
        let drives = (0..TANKS).map(|i| Drive::new(3, u64::from(i))).collect();
        Self { world, drives, budget, log: Vec::new(), due: Vec::new() }
    }

    fn play(&mut self, seconds: usize) {
        let Self { world, drives, .. } = self;
        for _ in 0..seconds {
            world.run(1_000, |sender, now| {
                if now.as_nanos() % 20_000_000 == 0 {
                    for (i, drive) in (0..).zip(drives.iter_mut()) {
                        sender.observe(EntityId(i), drive.to(now), now).unwrap();
                    }
                }
            });
            let ledger = world.sender.ledger();
            let sent = |host| ledger.receiver(host).map_or((0, 0), |receiver| ledger.sent_to(receiver));
            let sent = (0..world.receivers.len() as u32).map(|host| sent(HostId(host)));
            self.due.push(ledger.spent().due as f64);
            self.log.push(sent.map(|sent| if self.budget.is_in_bytes() { sent.1 } else { sent.0 } as f64).collect());
        }
    }

    /// What was spent by the end of a second, for each receiver or for all together.
    fn spent(&self, second: usize) -> Vec<f64> {
        let log = &self.log[second];
        if self.budget.is_per_receiver() { log.clone() } else { vec![log.iter().sum()] }
    }

    /// What the budget allows by the end of a second.
    fn allowed(&self, second: usize) -> f64 {
        match self.budget.rate() {
            Some(rate) => rate * (second + 1) as f64,
            None => self.budget.share_of_base(0.0) * self.due[second],
        }
    }

    /// The least and the largest share of the budget that was used in a minute: any that begins after 20 s.
    fn used(&self) -> (f64, f64) {
        let minutes = (20..SECONDS - 60).map(|second| {
            let allowed = self.allowed(second + 60) - self.allowed(second);
            let spent = self.spent(second).into_iter().zip(self.spent(second + 60));
            spent.map(move |(from, to)| (to - from) / allowed)
        });
        let shares = minutes.flatten();
        shares.fold((f64::INFINITY, 0.0), |(least, most), share| (share.min(least), share.max(most)))
    }
}

/// What is used of a minute's budget. `even` saves up for busy moments, and spends in one minute what it did not spend in the one
/// before: most within a share of the base case, a little within a rate.
fn expected(game: &Game, policy: &str) -> Range<f64> {
    match (policy, game.budget) {
        ("even", Budget::OfBase { .. }) => 0.95..1.05,
        ("even", _) => 0.97..1.035,
        _ => 0.97..1.03,
    }
}

#[test]
fn budgets_are_used_and_kept_in_every_minute() {
    for (policy, budget) in POLICIES.iter().flat_map(|policy| BUDGETS.map(|budget| (*policy, budget))) {
        for loss in [0.0, 0.05] {
            let mut game = Game::new(policy, budget, loss);
            game.play(SECONDS);
            let (least, most) = game.used();
            println!("{policy:20} {budget:15} {:3.0} % lost: {least:.3} to {most:.3}", 100.0 * loss);
            assert!(
                expected(&game, policy).contains(&least) && expected(&game, policy).contains(&most),
                "{policy} at {budget}, {loss} lost: {least:.3} to {most:.3}"
            );
            // First vectors, which nobody may refuse, and a loan of two vectors for each of them.
            let first = f64::from(TANKS) * if game.budget.is_per_receiver() { 1.0 } else { 3.0 };
            let free = 3.0 * first * if game.budget.is_in_bytes() { 30.0 } else { 1.0 };
            for second in 0..SECONDS {
                let allowed = game.allowed(second) + free;
                let spent = game.spent(second);
                assert!(
                    spent.iter().all(|spent| *spent <= allowed),
                    "{policy} at {budget}: {spent:?} after {second} s"
                );
            }
        }
    }
}

/// The index of a receiver changes when another leaves; its budget goes with it.
#[test]
fn each_keeps_its_own_budget_while_others_come_and_go() {
    for (policy, budget) in POLICIES.iter().flat_map(|policy| ["2/s/receiver", "50B/s/receiver"].map(|b| (*policy, b)))
    {
        let mut game = Game::new(policy, budget, 0.0);
        game.play(40);
        game.world.sender.remove_receiver(HostId(0)).unwrap();
        game.play(20);
        game.world.join(Format::default(), ReceiverConfig::default(), 50);
        game.play(140);
        let minute = 60.0 * game.budget.rate().unwrap();
        for (host, seconds) in [(1, 20..140), (2, 20..140), (3, 80..140)] {
            for second in seconds {
                let share = (game.log[second + 60][host] - game.log[second].get(host).unwrap_or(&0.0)) / minute;
                assert!(
                    expected(&game, policy).contains(&share),
                    "{policy} at {budget}: {share} to {host} from {second} s"
                );
            }
        }
        assert_eq!(game.log[60][0], 0.0);
    }
}

/// The papers' policies keep bytes as well as vectors, and repetitions of what was lost are paid for.
#[test]
fn the_papers_policies_keep_bytes_on_average() {
    for (policy, expected) in [("credits", 0.97..1.03), ("lottery", 0.95..1.03), ("tolerance", 0.9..1.1)] {
        let mut game = Game::new(policy, "230B/s", 0.05);
        game.play(SECONDS);
        let share = game.spent(SECONDS - 1)[0] / (230.0 * SECONDS as f64);
        assert!(expected.contains(&share), "{policy}: {share}");
    }
}

/// What one receiver has no use for, no other gets.
#[test]
fn nothing_is_left_to_others() {
    for policy in POLICIES {
        let mut game = Game::new(policy, "50B/s/receiver", 0.0);
        for i in 0..TANKS {
            let (sender, now) = (&mut game.world.sender, game.world.now);
            sender.set_relevance(EntityId(i), HostId(0), evenkeel::Relevance::OutOfScope, now).unwrap();
        }
        game.play(SECONDS);
        let at = |second: usize, host: usize| game.log[second][host];
        assert!(at(SECONDS - 1, 0) < 100.0, "{policy}: {} bytes about nothing", at(SECONDS - 1, 0));
        for host in [1, 2] {
            let share = (at(140, host) - at(80, host)) / (60.0 * 50.0);
            assert!((0.97..1.03).contains(&share), "{policy}: {share} to {host}");
        }
    }
}
