//! Rows beside the least mean that any policy could have with as many vectors.

use super::{Experiment, Row};
use crate::bound::{Bound, gap_closed};
use crate::world::{Fleet, Outcome};
use anyhow::Result;

/// Rows count as equal in vectors if they are this close.
const SAME_COUNT: f64 = 0.05;
/// Between this policy and the bound is the gap.
const REFERENCE: &str = "tolerance";

/// Adds the bound to every row, given what came of the base case.
pub(super) fn add(experiment: &Experiment<'_>, base: &[Outcome], mut rows: Vec<&mut Row>) -> Result<()> {
    let (settings, scenes) = (experiment.settings, &experiment.scenes);
    // A trace is the same for all seeds, and so is the base case where delays are constant.
    let fleets: Vec<&Fleet> = scenes.iter().flat_map(|scene| &scene.fleets).collect();
    let base = &base[..fleets.len()];
    let mut bound = Bound::new(&fleets, base, &settings.rules, &settings.paths, settings.uplink.as_ref())?;
    for row in &mut rows {
        row.bound = Some(bound.mean(row.vectors_sent * scenes.len() as f64));
    }
    let reference = rows.iter().find(|row| row.policy == REFERENCE).map(|row| (row.vectors_sent, row.mean));
    let Some((vectors, mean)) = reference else { return Ok(()) };
    for row in rows {
        let same = (row.vectors_sent / vectors.max(1.0) - 1.0).abs() <= SAME_COUNT;
        row.gap_closed = row.bound.filter(|_| same).and_then(|bound| gap_closed(mean, row.mean, bound));
    }
    Ok(())
}
