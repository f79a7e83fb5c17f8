//! What it costs to decide well: `even` against the base case at the same number of vectors.

use super::load::Load;
use evenkeel::Policy;
use evenkeel::policy::{Budget, Even, EveryKth};
use evenkeel::wire::Format;
use std::hint::black_box;
use std::num::NonZeroU32;
use std::time::Instant;

/// Of so many vectors that the base case would send, one is sent.
const EVERY: NonZeroU32 = NonZeroU32::new(3).expect("not zero");
/// One in so many entities changes course per tick.
const DUE: u64 = 10;

/// 1,000 entities, 32 receivers, a tenth of the entities due per tick, a third of the vectors sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deciding {
    /// Per tick, with every third vector sent to everybody.
    pub base_ms: f64,
    /// Per tick, with `even` within the same budget.
    pub even_ms: f64,
    /// Vectors that `even` sent, as a multiple of the base case's.
    pub vectors: f64,
}

impl Deciding {
    /// The figure with a target: at most 1.5.
    pub fn ratio(&self) -> f64 {
        self.even_ms / self.base_ms
    }
}

/// Measures both in turn, tick by tick, receipts included.
pub fn deciding(ticks: u32) -> Deciding {
    let even = Even::new(Budget::of_base(1, EVERY.get()));
    let mut loads = [load(Box::new(EveryKth::new(EVERY))), load(Box::new(even))];
    let mut seconds = [0.0; 2];
    let mut before = [0; 2];
    for tick in 0..u64::from(120 + ticks) {
        for (which, load) in loads.iter_mut().enumerate() {
            load.prepare(|i| tick == 0 || (u64::from(i) + tick).is_multiple_of(DUE));
            let started = Instant::now();
            load.observe();
            black_box(load.transmit());
            load.acknowledge();
            if tick >= 120 {
                seconds[which] += started.elapsed().as_secs_f64();
            } else {
                before[which] = load.sender.ledger().spent().vectors;
            }
        }
    }
    let [base, even] = [0, 1].map(|which| (loads[which].sender.ledger().spent().vectors - before[which]) as f64);
    let [base_ms, even_ms] = seconds.map(|seconds| seconds * 1e3 / f64::from(ticks));
    Deciding { base_ms, even_ms, vectors: even / base }
}

fn load(policy: Box<dyn Policy>) -> Load {
    Load::with_policy(1_000, 32, Format::bzflag(), true, policy)
}
