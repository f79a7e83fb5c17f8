//! What serving costs a contender in one scenario, from the figures of every tick.

use crate::contender::TICK;
use crate::load::Size;
use crate::scenario::Scenario;

/// What one tick of a server came to.
#[derive(Clone, Copy, Debug)]
pub struct Tick {
    /// CPU time of the server's thread, in seconds.
    pub seconds: f64,
    /// Bytes to all receivers.
    pub down: u64,
    /// Bytes from all receivers.
    pub up: u64,
    /// Bytes of heap that the server held at its end.
    pub held: i64,
}

/// What one contender needed in one scenario.
#[derive(Clone, Debug)]
pub struct Cost {
    /// Who.
    pub name: &'static str,
    /// What for.
    pub scenario: Scenario,
    /// Median of the server's CPU time per tick, in seconds.
    pub median: f64,
    /// Mean of it. Some do part of their work every few ticks: the mean has it, the median has not.
    pub mean: f64,
    /// What 99 % of all ticks are at or below.
    pub p99: f64,
    /// The longest tick.
    pub longest: f64,
    /// The mean for each entity and receiver, in nanoseconds.
    pub nanos_per_pair: f64,
    /// To each receiver.
    pub bytes_per_second: f64,
    /// From each receiver.
    pub bytes_per_second_back: f64,
    /// For each entity that turned, and each receiver; nothing if none did.
    pub bytes_per_update: Option<f64>,
    /// The most bytes of heap that the server held at the end of a tick, for each entity and receiver. Only where
    /// everything is due: elsewhere buffers keep what an earlier scenario made them grow to.
    pub heap_per_pair: Option<f64>,
}

impl Cost {
    /// What these ticks of a scenario came to; there must be one.
    pub fn of(name: &'static str, scenario: Scenario, size: &Size, ticks: &[Tick]) -> Self {
        let mut seconds: Vec<f64> = ticks.iter().map(|tick| tick.seconds).collect();
        seconds.sort_by(f64::total_cmp);
        let (count, receivers) = (ticks.len() as f64, size.receivers as f64);
        let pairs = f64::from(size.entities) * receivers;
        let mean = seconds.iter().sum::<f64>() / count;
        let down = ticks.iter().map(|tick| tick.down).sum::<u64>() as f64 / count / receivers;
        let up = ticks.iter().map(|tick| tick.up).sum::<u64>() as f64 / count / receivers;
        let turning = (0..size.entities).filter(|i| scenario.turns(*i, 0)).count() as f64;
        let held = ticks.iter().map(|tick| tick.held).max().filter(|_| scenario.is_all_due());
        let rate = 1.0 / TICK.as_secs_f64();
        Self {
            name,
            scenario,
            median: seconds[seconds.len() / 2],
            mean,
            p99: nearest_rank(&seconds, 0.99),
            longest: seconds[seconds.len() - 1],
            nanos_per_pair: mean * 1e9 / pairs,
            bytes_per_second: down * rate,
            bytes_per_second_back: up * rate,
            bytes_per_update: (turning > 0.0).then(|| down / turning),
            heap_per_pair: held.map(|bytes| bytes as f64 / pairs),
        }
    }
}

/// The least of these sorted values that so large a share of them does not exceed.
fn nearest_rank(sorted: &[f64], share: f64) -> f64 {
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_tick_shows_in_the_longest_and_two_of_a_hundred_in_p99() {
        let size = Size { entities: 10, receivers: 2, ticks: 100, block: 10 };
        let cost = |scenario, slow: usize| {
            let tick = |n: usize| {
                let seconds = if n < slow { 9.0 } else { 1.0 };
                Tick { seconds, down: 40, up: 4, held: 1_000 + n as i64 }
            };
            Cost::of("any", scenario, &size, &(0..100).map(tick).collect::<Vec<_>>())
        };
        let one = cost(Scenario::AllDue, 1);
        assert_eq!((one.median, one.mean, one.p99, one.longest), (1.0, 1.08, 1.0, 9.0));
        assert_eq!((one.bytes_per_update, one.heap_per_pair), (Some(2.0), Some(1_099.0 / 20.0)));
        let two = cost(Scenario::Idle, 2);
        assert_eq!((two.p99, two.longest, two.heap_per_pair), (9.0, 9.0, None));
    }
}
