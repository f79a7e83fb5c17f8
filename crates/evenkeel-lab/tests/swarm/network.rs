//! Networks: what a swarm's datagrams go through.

use crate::draw::Draw;
use evenkeel::Duration;
use evenkeel_link::{Conditions, Jitter, Loss};

/// The longest time by which one datagram overtakes another, in milliseconds.
const REORDERING_MS: f64 = 1_000.0;

/// One direction of a path: reordering up to a second, duplicates, and up to 40 % lost.
pub fn conditions(draw: &mut Draw) -> Conditions {
    let conditions = Conditions::delay(Duration::from_millis(5) + draw.millis(400.0));
    // Most networks reorder a little, some a lot.
    let reordering = REORDERING_MS * draw.unit() * draw.unit();
    let (jittered, held_back) = (Duration::from_secs_f64(reordering / 2e3), Duration::from_secs_f64(reordering / 2e3));
    let conditions = match draw.below(4) {
        0 => conditions,
        1 => conditions.with_jitter(Jitter::Uniform { plus_minus: jittered / 2 }),
        2 => conditions.with_jitter(Jitter::Exponential { mean: jittered / 10 }),
        _ => conditions.with_jitter(Jitter::Bursts {
            probability: 0.5 * draw.unit(),
            height: jittered,
            length: draw.millis(50.0),
        }),
    };
    let conditions = match draw.below(3) {
        0 => conditions,
        1 => conditions.with_loss(Loss::Independent(0.4 * draw.unit())),
        _ => conditions.with_loss(Loss::GilbertElliott {
            mean_good: Duration::from_secs(2),
            mean_bad: Duration::from_millis(400),
            loss_good: 0.01,
            loss_bad: 0.9,
        }),
    };
    conditions.with_duplicate(0.2 * draw.unit()).with_reorder(0.3 * draw.unit(), held_back)
}

/// The same path while nothing gets through.
pub fn black_out(conditions: &Conditions) -> Conditions {
    conditions.clone().with_loss(Loss::Independent(1.0))
}

/// The same path without anything but its delay.
pub fn calm(conditions: &Conditions) -> Conditions {
    Conditions::delay(conditions.delay)
}
