//! What the heart's [`trade`] predicts against what was measured: with which power of the missing time errors grow.

use super::sweep::{Figure, Sweep};
use crate::study::Exhibit;
use crate::study::cells::{self, average};
use crate::study::measure::millis;
use evenkeel::Duration;
use evenkeel::lag::trade;

/// Powers that are tried, in hundredths.
const POWERS: std::ops::RangeInclusive<u32> = 50..=350;

/// What lags leave of mean and standard deviation of the base case's errors.
struct Measured {
    delays: Vec<Duration>,
    /// By lag: the shares left of both.
    left: Vec<(Duration, [f64; 2])>,
}

impl Measured {
    fn new(sweep: &Sweep) -> Self {
        let delays: Vec<Duration> = sweep.network.delays_ms().iter().map(|ms| millis(*ms)).collect();
        let longest = sweep.network.delays_ms().iter().copied().fold(0.0, f64::max);
        let left = |lag| (millis(lag), [Figure::Mean, Figure::Std].map(|figure| sweep.left("base", lag, figure)));
        // Without lag everything is left, and with the longest nothing, whatever the power.
        Self { delays, left: sweep.lags_ms().filter(|lag| *lag > 0.0 && *lag < longest).map(left).collect() }
    }

    /// How far a power's prediction is off, as a root mean square over lags of both shares.
    fn off(&self, power: f64) -> f64 {
        let one = |(lag, left): &(Duration, [f64; 2])| {
            let predicted = trade(*lag, &self.delays, power);
            let (mean, std) = (predicted.mean_error - left[0], predicted.error_spread - left[1]);
            mean * mean + std * std
        };
        (self.left.iter().map(one).sum::<f64>() / (2 * self.left.len()).max(1) as f64).sqrt()
    }

    /// The power that is least off.
    fn best(&self) -> f64 {
        let powers = POWERS.map(|power| f64::from(power) / 100.0);
        powers.min_by(|a, b| self.off(*a).total_cmp(&self.off(*b))).unwrap_or(f64::NAN)
    }
}

/// With which power errors grow from the nearest receiver to the farthest without lag: the slope in logarithms.
fn slope(sweep: &Sweep) -> f64 {
    let delays = sweep.network.delays_ms();
    let error = |(i, delay): (usize, &f64)| {
        let errors: Vec<f64> = sweep.takes("base", 0.0).iter().map(|take| take.distances[i]).collect();
        (delay.ln(), average(&errors).ln())
    };
    let points: Vec<(f64, f64)> = delays.iter().enumerate().map(error).collect();
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
    let (xy, xx) =
        points.iter().fold((0.0, 0.0), |(xy, xx), p| (xy + (p.0 - x) * (p.1 - y), xx + (p.0 - x) * (p.0 - x)));
    xy / xx
}

/// The power that fits, and how far the others are off.
pub(super) fn table(sweeps: &[Sweep]) -> Exhibit {
    let row = |sweep: &Sweep| {
        let measured = Measured::new(sweep);
        let best = measured.best();
        let off = [best, 2.0, 3.0].map(|power| format!("{:.3}", measured.off(power)));
        [sweep.name(), format!("{:.2}", slope(sweep)), format!("{best:.2}")].into_iter().chain(off).collect()
    };
    let head =
        ["cell", "slope over delays", "power that fits lags", "off with it", "off with power 2", "off with power 3"];
    let note = "The base case's export error against the time for which a change is missing. Slope: of the errors of \
                receivers without lag, in logarithms. Fit: the power with which the heart's `trade` comes nearest to what \
                lags leave of mean and standard deviation, and how far off it is then, as a root mean square of shares.";
    cells::table("Which power of the missing time errors grow with", note, &head, sweeps.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_is_found_again() {
        let delays: Vec<Duration> = [20, 100, 180, 250].map(Duration::from_millis).into();
        for power in [1.3, 2.0, 2.75] {
            let left = [25, 50, 100, 200].map(|ms| {
                let lag = Duration::from_millis(ms);
                let trade = trade(lag, &delays, power);
                (lag, [trade.mean_error, trade.error_spread])
            });
            let measured = Measured { delays: delays.clone(), left: left.into() };
            assert!((measured.best() - power).abs() < 0.011, "{} for {power}", measured.best());
        }
    }
}
