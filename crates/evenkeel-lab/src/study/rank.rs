//! Whether one thing rises with another, whatever the shape of the curve.

/// Spearman's rank correlation: 1 if the one always rises with the other. Not a number if one of them never changes.
pub(super) fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt()
}

/// Each value's place among all; equal values share theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count();
        let equal = values.iter().filter(|other| *other == value).count();
        below as f64 + (equal as f64 - 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_order_counts() {
        assert_eq!(rank_correlation(&[1.0, 2.0, 3.0, 9.0], &[0.1, 5.0, 6.0, 7.0]), 1.0);
        assert_eq!(rank_correlation(&[1.0, 2.0, 3.0], &[3.0, 2.0, -8.0]), -1.0);
        assert!((rank_correlation(&[1.0, 2.0, 3.0], &[0.0, 0.0, 1.0]) - 0.75_f64.sqrt()).abs() < 1e-12);
        assert!(rank_correlation(&[1.0, 2.0], &[0.0, 0.0]).is_nan());
    }
}
