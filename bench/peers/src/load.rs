//! What serving costs: a thousand entities, many receivers, and only the server's tick is timed.

use crate::connections::Connections;
use crate::cost::Cost;
use crate::entrant::Entrant;
use crate::scenario::Scenario;
use anyhow::Result;
use evenkeel::{Duration, GlobalTime};

/// How much to measure.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// How many entities.
    pub entities: u32,
    /// How many receivers.
    pub receivers: usize,
    /// Ticks of each scenario.
    pub ticks: u32,
    /// Ticks that a contender has in a row before the next has its turn.
    pub block: u32,
}

/// All scenarios. `enter` makes new contenders for each kind of connections; none of their clocks goes backwards.
pub fn run(
    enter: &dyn Fn(Connections, GlobalTime) -> Result<Vec<Entrant>>,
    size: &Size,
    progress: &dyn Fn(&str),
) -> Result<Vec<Cost>> {
    let mut costs = Vec::new();
    let mut start = GlobalTime::from_millis(1_000);
    for connections in Connections::ALL {
        progress("connecting, and spawning everything");
        let mut entrants = enter(connections, start)?;
        entrants.iter_mut().try_for_each(|entrant| entrant.enter(size))?;
        for scenario in Scenario::ALL.into_iter().filter(|scenario| scenario.connections() == connections) {
            progress(scenario.name());
            costs.extend(one(&mut entrants, size, scenario)?);
        }
        let end = entrants.iter().map(Entrant::now).max().unwrap_or(start);
        start = end + Duration::from_secs(1);
    }
    Ok(costs)
}

/// One scenario. The contenders take turns every few ticks, so that a noisy moment meets all of them.
fn one(entrants: &mut [Entrant], size: &Size, scenario: Scenario) -> Result<Vec<Cost>> {
    entrants.iter_mut().try_for_each(|entrant| entrant.settle(size, scenario))?;
    let mut left = size.ticks;
    while left > 0 {
        let block = size.block.min(left);
        entrants.iter_mut().try_for_each(|entrant| entrant.play(size, scenario, block))?;
        left -= block;
    }
    entrants.iter_mut().map(|entrant| entrant.finish(size, scenario)).collect()
}
