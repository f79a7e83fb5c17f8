//! Axes: from values to places, and the marks beside them.

/// Values that span more than this need a logarithmic axis to be told apart.
const DECADES: f64 = 100.0;
/// A logarithmic axis reaches so far below its largest value at most.
const DEEPEST: f64 = 1e8;

/// An axis of a plot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    log: bool,
}

impl Axis {
    /// From zero to a largest value, with some room above.
    pub(super) fn up_to(max: f64) -> Self {
        Self { low: 0.0, high: if max > 0.0 && max.is_finite() { max * 1.08 } else { 1.0 }, log: false }
    }

    /// From zero to exactly this.
    pub(super) fn exactly(max: f64) -> Self {
        Self { low: 0.0, high: max.max(1e-9), log: false }
    }

    /// From one value to another.
    pub(super) fn between(low: f64, high: f64) -> Self {
        Self { low, high: high.max(low + 1e-9), log: false }
    }

    /// For all these values: from zero or below to the largest, logarithmic if all are positive and span decades.
    pub(super) fn over(values: impl Iterator<Item = f64>) -> Self {
        let finite = values.filter(|value| value.is_finite());
        let (min, max) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        if min > 0.0 && max / min > DECADES {
            return Self::logarithmic(min, max);
        }
        Self { low: if min < 0.0 { min * 1.08 } else { 0.0 }, ..Self::up_to(max) }
    }

    /// In decades, from well below the smallest value to a bit above the largest.
    pub(super) fn logarithmic(min: f64, max: f64) -> Self {
        let low = 10f64.powf((0.9 * min.max(max / DEEPEST)).log10().floor());
        Self { low, high: (max * 1.25).max(low * 10.0), log: true }
    }

    /// For curves: logarithmic if the largest values of the curves span decades, not because one of them starts at zero.
    pub(super) fn over_curves(curves: &[Vec<f64>]) -> Self {
        let finite = |curve: &Vec<f64>| curve.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
        let tops = || curves.iter().map(finite).filter(|top| *top > 0.0);
        let (least, most) = tops().fold((f64::INFINITY, 0.0f64), |(a, b), top| (a.min(top), b.max(top)));
        let negative = curves.iter().flatten().any(|value| *value < 0.0);
        if most / least > DECADES && !negative {
            return Self::logarithmic(least / 10.0, most);
        }
        let Self { low, .. } = Self::over(curves.iter().flatten().copied().filter(|value| *value <= 0.0));
        Self { low, ..Self::up_to(most) }
    }

    /// For what curves run along: from zero to the last value, logarithmic if the values are crowded at the low end of
    /// decades. A time axis is not, wherever it starts.
    pub(super) fn along(values: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else { return Self::up_to(1.0) };
        let middle = sorted[sorted.len() / 2];
        match min {
            min if min > 0.0 && max / min > DECADES && middle < max / 5.0 => Self::logarithmic(min, max),
            min if min < 0.0 => Self { low: min, high: max.max(0.0), log: false },
            _ => Self::exactly(max),
        }
    }

    /// Where on the axis a value is, from 0 to 1. What is off a logarithmic axis is at its end.
    pub(super) fn part(&self, value: f64) -> f64 {
        if self.log {
            let value = value.max(self.low);
            return (value / self.low).log10() / (self.high / self.low).log10();
        }
        (value - self.low) / (self.high - self.low)
    }

    /// The lowest value, or zero if that is on the axis: where bars stand.
    pub(super) fn floor(&self) -> f64 {
        if self.log { self.low } else { 0.0 }
    }

    /// Round values along the axis, with what to write beside them.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        if self.log {
            return self.decades();
        }
        let step = step(self.high - self.low);
        let first = (self.low / step).ceil() as i64;
        let values = (first..).map(|n| n as f64 * step).take_while(|value| *value <= self.high);
        values.map(|value| (value, tick_label(value, step))).collect()
    }

    fn decades(&self) -> Vec<(f64, String)> {
        let first = self.low.log10().round() as i32;
        let values = (first..).map(|power| 10f64.powi(power)).take_while(|value| *value <= self.high * 1.001);
        values.map(|value| (value, tick_label(value, value))).collect()
    }
}

/// The next round step that divides a range into about five.
fn step(range: f64) -> f64 {
    let rough = range.max(1e-9) / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|step| *step >= rough * 0.999).unwrap_or(rough)
}

fn tick_label(value: f64, step: f64) -> String {
    let digits = (-step.log10().floor()).clamp(0.0, 8.0) as usize;
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_labels_have_the_digits_they_need() {
        assert_eq!([0.9, 4.2, 23.0, 1000.0].map(step), [0.2, 1.0, 5.0, 200.0]);
        assert_eq!([tick_label(0.2, 0.2), tick_label(10.0, 5.0), tick_label(0.05, 0.01)], ["0.2", "10", "0.05"]);
    }

    #[test]
    fn axes_are_logarithmic_only_for_what_spans_decades() {
        let labels = |axis: Axis| axis.ticks().into_iter().map(|(_, label)| label).collect::<Vec<_>>();
        assert_eq!(labels(Axis::over([0.5, 3.0].into_iter())), ["0", "1", "2", "3"]);
        assert_eq!(labels(Axis::over([0.02, 30.0].into_iter())), ["0.01", "0.1", "1", "10"]);
        assert_eq!(labels(Axis::over([-2.0, 2.0, f64::NAN].into_iter())), ["-2", "-1", "0", "1", "2"]);
        assert_eq!(labels(Axis::over([].into_iter())), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        let time = Axis::along((1..600).map(|n| f64::from(n) * 0.1));
        assert_eq!((time.log, time.high), (false, 59.900000000000006));
        assert!(Axis::along([0.01, 0.1, 1.0, 10.0].into_iter()).log);
        assert!(!Axis::over_curves(&[vec![0.001, 5.0], vec![0.002, 3.0]]).log);
        assert!(Axis::over_curves(&[vec![0.0, 5.0], vec![0.0, 0.01]]).log);
        let axis = Axis::logarithmic(2.0, 80.0);
        assert_eq!((axis.part(0.0), axis.part(10.0), axis.floor()), (0.0, 0.5, 1.0));
    }
}
