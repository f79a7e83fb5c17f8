//! How far off players' clocks are, against the server's at the same true instant.

use crate::join::tally::Tally;
use serde_json::Value;

/// Clocks are scored when the run is half over, and after a minute at the latest.
const SETTLED_NANOS: i64 = 60_000_000_000;

/// The errors of one player's clock, in milliseconds.
pub(super) fn errors(server: &Value, player: &Value) -> (Tally, f64) {
    let reference = pairs(server);
    let noted = player["rows"].get(0).map(pairs).unwrap_or_default();
    let mut tally = Tally::default();
    let (Some(first), Some(last)) = (noted.first(), noted.last()) else { return (tally, 0.0) };
    let settled = ((last.0 - first.0) / 2).min(SETTLED_NANOS);
    for (unix, session) in noted.iter().filter(|(unix, _)| unix - first.0 >= settled) {
        if let Some(true_session) = at(&reference, *unix) {
            tally.add(((*session as f64) - true_session).abs() / 1e6);
        }
    }
    (tally, settled as f64 / 1e9)
}

fn pairs(value: &Value) -> Vec<(i64, i64)> {
    let noted = value["clock_unix_ns_session_ns"].as_array().into_iter().flatten();
    noted.filter_map(|pair| Some((pair.get(0)?.as_i64()?, pair.get(1)?.as_i64()?))).collect()
}

/// What the server's clock showed: between two moments at which it was noted it went on evenly.
fn at(reference: &[(i64, i64)], unix: i64) -> Option<f64> {
    let after = reference.partition_point(|(noted, _)| *noted <= unix);
    let (before, next) = (reference.get(after.checked_sub(1)?)?, reference.get(after)?);
    let share = (unix - before.0) as f64 / (next.0 - before.0) as f64;
    Some(before.1 as f64 + share * (next.1 - before.1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn clocks_are_compared_at_the_same_instant() {
        let server: Vec<(i64, i64)> = (0..100).map(|n| (n * 100_000_000, 5_000_000_000 + n * 100_010_000)).collect();
        let player: Vec<(i64, i64)> =
            (0..95).map(|n| (n * 100_000_000 + 7, 5_000_000_000 + n * 100_010_000 + 7 + 2_000_000)).collect();
        let server = json!({ "clock_unix_ns_session_ns": server });
        let player = json!({ "rows": [{ "clock_unix_ns_session_ns": player }] });
        let (tally, settled) = errors(&server, &player);
        assert_eq!((tally.count(), settled), (48, 4.7));
        assert!((tally.mean().unwrap() - 2.0).abs() < 1e-3, "{tally:?}");
    }
}
