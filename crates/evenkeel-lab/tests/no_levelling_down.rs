//! No levelling down: what `even` takes from some receivers is at most the exchange rate times what it gives to those who are worse
//! off, against the same world at an exchange rate of 1 with the same number of vectors.
#![allow(clippy::unwrap_used)]

use evenkeel_lab::Budget;
use evenkeel_lab::experiment::{Row, Settings, Source, run};
use evenkeel_lab::workload::Motion;
use rayon::prelude::*;

/// What may be lost on top, as a share of all errors at a rate of 1. Two runs of one policy with other seeds differ by about that much.
const TOLERANCE: f64 = 0.05;
/// Worlds in which more is lost, and why.
const SHORT: [(u64, &str); 2] = [
    (8, "ten vectors a minute to eight ships: chance decides which come in time"),
    (
        32,
        "most of what the farthest receiver is off by follows from its delay: more vectors hardly help, which is not learned",
    ),
];
const MOTIONS: [Motion; 4] = [Motion::Tank, Motion::TankInertia, Motion::Random, Motion::Spaceship];

/// Numbers that follow from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

struct World {
    rate: u32,
    settings: Settings,
}

impl World {
    fn random(seed: u64) -> Self {
        let mut dice = Dice(seed);
        (0..8).for_each(|_| _ = dice.below(2));
        let (rate, entities) = (dice.one_of(&[2, 3, 10]), dice.one_of(&[2, 4, 8]));
        let delays: Vec<f64> = (0..2 + dice.below(5)).map(|_| 10.0 + dice.below(790) as f64).collect();
        let settings = Settings {
            source: Source::Motion { motion: dice.one_of(&MOTIONS), entities },
            policies: vec!["even:1".into(), format!("even:{rate}")],
            budget: Budget::of_base(1, dice.one_of(&[2, 3, 6, 10])),
            seeds: 3,
            seed,
            seconds: Some(150.0),
            ..Settings::default()
        };
        Self { rate, settings: settings.over(&delays, 0.0, dice.one_of(&[0.0, 0.02])) }
    }

    /// What receivers lose, what those gain who are worse off than the mean, and all errors at a rate of 1.
    fn exchange(&self) -> (f64, f64, f64) {
        let rows = run(&self.settings, &|_| {}).unwrap().rows;
        let [efficient, fair] = &rows[..] else { panic!("two policies") };
        let errors = |row: &Row| row.receivers.iter().map(|receiver| receiver.export_error).collect::<Vec<f64>>();
        let (before, after) = (errors(efficient), errors(fair));
        let all: f64 = before.iter().sum();
        let mean = all / before.len() as f64;
        let pairs = || before.iter().zip(&after);
        let lost: f64 = pairs().map(|(before, after)| (after - before).max(0.0)).sum();
        let gained =
            pairs().filter(|(before, _)| **before > mean).map(|(before, after)| (before - after).max(0.0)).sum();
        (lost, gained, all)
    }
}

fn judge(worlds: u64) {
    let one = |seed: u64| {
        let world = World::random(seed);
        let (lost, gained, all) = world.exchange();
        println!("world {seed}: even:{} lost {:.3}, gained {:.3}, of all errors", world.rate, lost / all, gained / all);
        (seed, (lost - f64::from(world.rate) * gained) / all, gained / all)
    };
    let judged: Vec<(u64, f64, f64)> = (1..=worlds).into_par_iter().map(one).collect();
    let gained = judged.iter().map(|(.., gained)| gained).sum::<f64>() / worlds as f64;
    assert!(gained > 0.02, "those who are worse off gain {gained:.3} only: nothing is tested");
    let short = |seed: u64| SHORT.iter().any(|(known, _)| *known == seed);
    let beyond: Vec<_> = judged.iter().filter(|(seed, beyond, _)| *beyond > TOLERANCE && !short(*seed)).collect();
    assert!(beyond.is_empty(), "{beyond:?}");
}

#[test]
fn nobody_loses_more_than_the_exchange_rate_allows() {
    judge(16);
}

#[test]
#[ignore = "minutes; part of the long runs"]
fn nobody_loses_more_than_the_exchange_rate_allows_in_many_worlds() {
    judge(48);
}
