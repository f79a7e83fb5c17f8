//! What a lag costs and what it buys.

use crate::time::Duration;

/// What a lag costs and what it buys, over the ways to all receivers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trade {
    /// The lag.
    pub lag: Duration,
    /// The price: how much later players see what they do.
    pub response: Duration,
    /// The share of deliveries that arrive before they are shown: nothing of the delay is left of them.
    pub covered: f64,
    /// For how long a change is missing where it is shown, on average: what is left of the delays.
    pub mean_window: Duration,
    /// The same where it is longest.
    pub longest_window: Duration,
    /// The error that is left on average, as a share of the error without lag.
    pub mean_error: f64,
    /// How much the error that is left differs between deliveries, as a share of how much it does without lag: the standard
    /// deviation. For receivers with steady delays: the unfairness that is left.
    pub error_spread: f64,
}

/// What a lag costs and buys where these are the delays: of several receivers, or of many deliveries to one.
///
/// A change of course that is missing for a time `w` leaves an error that grows with a power of `w`. In theory it is the square:
/// the longer the time, the more changes fall into it, and the further each of them leads astray. Measured, on tanks with and
/// without inertia at delays of 20 to 800 ms, powers of 1.75 to 2.3 fit best (`evenkeel lab run lag-fairness`). What thresholds leave
/// comes on top, with or without lag.
///
/// ```
/// use evenkeel::{Duration, lag::trade};
/// let ms = Duration::from_millis;
/// let delays = [20, 60, 120, 250].map(ms);
/// let bought = trade(ms(100), &delays, 2.0);
/// assert_eq!((bought.covered, bought.longest_window), (0.5, ms(150)));
/// assert!(bought.mean_error < 0.3);
/// assert_eq!(trade(ms(250), &delays, 2.0).mean_error, 0.0);
/// ```
pub fn trade(lag: Duration, delays: &[Duration], power: f64) -> Trade {
    let power = if power.is_finite() { power.max(0.0) } else { 1.0 };
    let window = |delay: &Duration| (*delay - lag.max(Duration::ZERO)).max(Duration::ZERO);
    let count = delays.len().max(1) as f64;
    let error = |span: Duration| libm::pow(span.max(Duration::ZERO).as_secs_f64(), power);
    let (with, without) = (delays.iter().map(|d| error(window(d))), delays.iter().map(|d| error(*d)));
    let (with, without) = (moments(with), moments(without));
    let share = |with: f64, without: f64| if without > 0.0 { with / without } else { 0.0 };
    Trade {
        lag,
        response: lag.max(Duration::ZERO),
        covered: delays.iter().filter(|d| **d <= lag).count() as f64 / count,
        mean_window: Duration::from_secs_f64(delays.iter().map(|d| window(d).as_secs_f64()).sum::<f64>() / count),
        longest_window: delays.iter().map(window).max().unwrap_or(Duration::ZERO),
        mean_error: share(with.0, without.0),
        error_spread: share(with.1, without.1),
    }
}

/// Mean and standard deviation.
fn moments(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.clone().count().max(1) as f64;
    let mean = values.clone().sum::<f64>() / count;
    let variance = values.map(|v| (v - mean) * (v - mean)).sum::<f64>() / count;
    (mean, libm::sqrt(variance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn no_lag_buys_nothing_and_nobody_needs_none() {
        let delays = [30, 200].map(Duration::from_millis);
        let none = trade(Duration::ZERO, &delays, 2.0);
        assert_eq!((none.covered, none.mean_error, none.error_spread), (0.0, 1.0, 1.0));
        assert_eq!(trade(Duration::from_millis(50), &[], 2.0).mean_error, 0.0);
    }

    proptest! {
        #[test]
        fn more_lag_never_buys_less(delays in prop::collection::vec(1i64..1_000, 1..20), lag in 0i64..900, more in 0i64..200) {
            let delays: alloc::vec::Vec<_> = delays.into_iter().map(Duration::from_millis).collect();
            let [less, more] = [lag, lag + more].map(|lag| trade(Duration::from_millis(lag), &delays, 1.8));
            prop_assert!(more.mean_error <= less.mean_error + 1e-12);
            prop_assert!(more.covered >= less.covered && more.longest_window <= less.longest_window);
        }
    }
}
