//! What was found of each claim.

use super::account::Account;
use super::claims::{
    FLOOD_OF_WORK, LONG_LAG_SPARES, LONGER_MORE_PARADOXES, PARTIAL_REDUCES, SHORT_LAG_FLOODS, STATES_DECREASED,
    STATES_NO_CONSTRAINT,
};
use super::grid::{DELAYS_MS, Grid, HALF, MORE, NONE, Which};
use super::states::{Kind, MOTIONS, Shown, kinds};
use crate::study::measure::observe;
use crate::study::{Finding, Observation};

pub(super) fn findings(grid: &Grid, states: &[Vec<Shown>]) -> Vec<Finding> {
    let one = |share: usize, of: fn(&Account) -> f64| each(grid, |accounts| of(&accounts(share)));
    let reduced = each(grid, |accounts| accounts(HALF).time_apart() / accounts(NONE).time_apart());
    let paradoxes = each(grid, |accounts| accounts(NONE).paradoxes() - accounts(HALF).paradoxes());
    let vectors = of_states(states, |quarter, _, whole| quarter.vectors / whole.vectors);
    let decreased = of_states(states, |quarter, none, _| quarter.off / none.off);
    vec![
        Finding::new(PARTIAL_REDUCES, reduced),
        Finding::new(LONGER_MORE_PARADOXES, paradoxes).remarking(
            "In the spaceship game a beam strikes at once: whoever did not fire it hears of its hit too late, however short the \
             rest of the delay is, and there is little to gain before the lag comes near the delay.",
        ),
        Finding::new(SHORT_LAG_FLOODS, one(HALF, Account::late_share)),
        Finding::new(FLOOD_OF_WORK, one(HALF, Account::replay_share)).remarking(
            "What a repair costs grows with the delay and the number of operations. Players who do a few things a second do not \
             flood a machine that can execute the game several times as fast as it is played.",
        ),
        Finding::new(LONG_LAG_SPARES, one(MORE, Account::late_share)),
        Finding::new(STATES_NO_CONSTRAINT, vectors)
            .remarking("A receiver of states executes nothing again: a vector that comes late replaces the one before."),
        Finding::new(STATES_DECREASED, decreased),
    ]
}

/// One value per seed for both games and all delays, with jitter. A seed's accounts are asked for by lag.
fn each(grid: &Grid, of: impl Fn(&dyn Fn(usize) -> Account) -> f64) -> Vec<Observation> {
    let all = Which::ALL.into_iter().flat_map(|game| DELAYS_MS.map(|delay| (game, delay)));
    all.map(|(game, delay)| {
        observe(format!("{}, {delay} ms", game.name()), &grid.seeds, |seed| {
            of(&|share| seed[grid.cell(game, delay, true, share)])
        })
    })
    .collect()
}

/// The same of states: what is shown with a lag of a quarter of the delay, with none, and with the delay.
fn of_states(states: &[Vec<Shown>], of: impl Fn(&Shown, &Shown, &Shown) -> f64) -> Vec<Observation> {
    let kinds = kinds();
    let find = |seed: &[Shown], motion, delay_ms, share| {
        kinds.iter().position(|kind| *kind == Kind { motion, delay_ms, share }).map_or(Shown::default(), |n| seed[n])
    };
    let all = MOTIONS.into_iter().flat_map(|motion| DELAYS_MS.map(|delay| (motion, delay)));
    all.map(|(motion, delay)| {
        observe(format!("{}, {delay} ms", motion.name()), states, |seed| {
            let [quarter, none, whole] = [0.25, 0.0, 1.0].map(|share| find(seed, motion, delay, share));
            of(&quarter, &none, &whole)
        })
    })
    .collect()
}
