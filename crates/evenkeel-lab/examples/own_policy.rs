//! A policy of one's own in the laboratory, beside the others.
//!
//! `cargo run --release -p evenkeel-lab --example own_policy`
//!
//! What to look for: a policy is one function over the ledger. Registered as [`Own`] it has a row in every table that compares
//! policies within a budget, with as many vectors as the others.

use evenkeel::Budget;
use evenkeel::ledger::{Ledger, ReceiverIndex};
use evenkeel::policy::{Decision, Policy, Trigger};
use evenkeel_lab::experiment::{Settings, run};
use evenkeel_lab::policies::Own;
use evenkeel_lab::report::to_table;
use evenkeel_lab::study::{Brief, Entry, Exhibit, Size};
use std::error::Error;

/// What tables call it, and how to make one.
pub const FARTHEST: Own =
    Own { name: "farthest", make: |budget, _seed| Box::new(Farthest { share: budget.share_of_base(0.0), owed: 0.0 }) };

/// Every vector to those who would be farthest off without it: so many of them per trigger.
struct Farthest {
    /// Of the base case's vectors; a budget per second would need to know their rate.
    share: f64,
    /// Vectors that may be sent by now, and were not.
    owed: f64,
}

impl Policy for Farthest {
    fn name(&self) -> String {
        FARTHEST.name.into()
    }

    fn decide(&mut self, ledger: &Ledger, trigger: &Trigger, decisions: &mut [Decision]) {
        let Some(newest) = ledger.newest(trigger.entity) else { return };
        let position = newest.motion.position_at(trigger.at.since(newest.generated).as_secs_f64());
        // What is on its way counts as if it were there: nobody is sent the same twice for being far away.
        let off = |receiver: &ReceiverIndex| {
            let shown = ledger.pair(trigger.entity, *receiver).reference()?;
            Some(position.distance(shown.motion.position_at(trigger.at.since(shown.generated).as_secs_f64())))
        };
        let mut order: Vec<(f64, ReceiverIndex)> =
            ledger.receivers().map(|receiver| (off(&receiver).unwrap_or(f64::INFINITY), receiver)).collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0));
        self.owed += self.share * order.len() as f64;
        for (_, receiver) in order.iter().take(self.owed as usize) {
            decisions[receiver.0] = Decision::Now;
            self.owed -= 1.0;
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let rivals = ["base", "base/3", "credits", "tolerance", "accumulator", "tang-zhou", "even", FARTHEST.name];
    let settings = Settings {
        policies: rivals.map(str::to_owned).to_vec(),
        own: vec![FARTHEST],
        budget: Budget::of_base(1, 3),
        ..Settings::default()
    };
    println!("Four tanks for two minutes, a third of the vectors:\n");
    println!("{}", to_table(&run(&settings.over(&[800.0, 500.0, 200.0], 0.0, 0.0), &|_| {})?));

    println!("In the tables of `budget`, a very small one:\n");
    let brief = Brief { own: vec![FARTHEST], ..Brief::new(Size { seeds: 1, seconds: 40.0, seed: 1 }) };
    for exhibit in Entry::by_name("budget")?.run(&brief, &|_| {})?.exhibits {
        let Exhibit::Table { title, head, rows, .. } = exhibit else { continue };
        for row in rows.iter().filter(|row| row.iter().any(|cell| cell == FARTHEST.name)) {
            let cells: Vec<String> = head.iter().zip(row).map(|(name, cell)| format!("{name}: {cell}")).collect();
            println!("{title}\n  {}\n", cells.join(", "));
        }
    }
    Ok(())
}
