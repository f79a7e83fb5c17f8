//! How long verdicts should wait: until what they depend on has arrived from the farthest player, nearly always.

use super::Network;
use evenkeel::Duration;

/// The share of what is sent that is to be there before a verdict.
const SHARE: f64 = 0.95;

/// How long verdicts wait, and what is there by then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waiting {
    /// How long they wait.
    pub lag: Duration,
    /// How long they should; nothing can be long enough if too much gets lost.
    pub wanted: Option<Duration>,
    /// The share of what is sent to or from the farthest player that is there by then.
    pub covered: f64,
}

impl Waiting {
    /// A quantile of the farthest player's delays and a tick, as far as the limit allows. Nobody is to be worse off for where
    /// it lives, so it is the farthest's and not that of all together.
    pub(super) fn new(network: &Network, limit: Duration, tick: Duration) -> Self {
        let farthest = network.delays_ms.iter().copied().fold(0.0, f64::max);
        let tick_ms = tick.as_millis_f64();
        // What is lost does not come in time, so that more of the rest must.
        let quantile = SHARE / (1.0 - network.loss).max(1e-9);
        let late_ms = network.jitter_ms * (2.0 * quantile.min(1.0) - 1.0);
        let wanted = Duration::from_millis((farthest + late_ms + tick_ms).ceil() as i64);
        let lag = wanted.min(limit);
        let covered = network.arrived(farthest, lag.as_millis_f64() - tick_ms);
        Self { lag, wanted: (quantile <= 1.0).then_some(wanted), covered }
    }

    /// Whether nearly everything is there in time.
    pub fn is_enough(&self) -> bool {
        self.wanted.is_some_and(|wanted| wanted <= self.lag)
    }
}

impl Network {
    /// The share of what is sent over this delay that has arrived after so many milliseconds.
    fn arrived(&self, delay_ms: f64, after_ms: f64) -> f64 {
        let spare = after_ms - delay_ms;
        let in_time = match self.jitter_ms {
            jitter if jitter > 0.0 => ((spare / jitter + 1.0) / 2.0).clamp(0.0, 1.0),
            _ => f64::from(u8::from(spare >= -1e-9)),
        };
        in_time * (1.0 - self.loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(delays_ms: &[f64], jitter_ms: f64, loss: f64, limit_ms: i64) -> Waiting {
        let network = Network { delays_ms: delays_ms.to_vec(), jitter_ms, loss };
        Waiting::new(&network, Duration::from_millis(limit_ms), Duration::from_millis(20))
    }

    #[test]
    fn verdicts_wait_for_the_farthest_and_a_tick() {
        let fine = waiting(&[30.0, 80.0, 200.0], 0.0, 0.0, 250);
        assert_eq!((fine.lag.as_millis(), fine.covered, fine.is_enough()), (220, 1.0, true));
        let shaky = waiting(&[100.0], 40.0, 0.0, 250);
        assert_eq!((shaky.lag.as_millis(), shaky.is_enough()), (156, true));
        assert!((shaky.covered - 0.95).abs() < 1e-9);
    }

    #[test]
    fn the_limit_holds_and_is_said_to_be_too_short() {
        let short = waiting(&[30.0, 500.0], 0.0, 0.0, 250);
        assert_eq!((short.lag.as_millis(), short.covered, short.is_enough()), (250, 0.0, false));
        assert_eq!(short.wanted, Some(Duration::from_millis(520)));
    }

    #[test]
    fn losses_must_be_made_up_for_and_too_many_cannot() {
        let some = waiting(&[100.0], 40.0, 0.02, 250);
        assert!(some.is_enough() && (some.covered - 0.95).abs() < 0.02 && some.lag.as_millis() > 156, "{some:?}");
        let many = waiting(&[100.0], 0.0, 0.2, 250);
        assert!(!many.is_enough() && many.wanted.is_none() && many.lag.as_millis() == 120, "{many:?}");
    }
}
