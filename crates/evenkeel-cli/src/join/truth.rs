//! Where things really are: worked out from what their owners said of how they move.

use super::about::{About, FleetName, Mover};
use anyhow::{Context, Result};
use evenkeel::{Duration, GlobalTime, Vec3};
use evenkeel_lab::workload::trace::{Cuts, Trace};
use evenkeel_lab::world::{Fleet, Rules};
use std::path::Path;
use std::sync::Arc;

/// So many fleets are known at once; of others nothing is known. Each may take tens of megabytes.
const MAX_FLEETS: usize = 16;

/// Fleets that were worked out.
#[derive(Default)]
pub(crate) struct Truth {
    fleets: Vec<(FleetName, Option<Arc<Fleet>>)>,
}

/// One entity of which everything is known.
#[derive(Clone)]
pub(crate) struct Known {
    fleet: Arc<Fleet>,
    life: usize,
    start: i64,
}

impl Truth {
    /// A recorded game is known from now on.
    pub(crate) fn learn(&mut self, name: FleetName, fleet: Arc<Fleet>) {
        self.fleets.push((name, Some(fleet)));
    }

    /// The fleet of that name, worked out if need be.
    pub(crate) fn fleet(&mut self, name: FleetName) -> Option<Arc<Fleet>> {
        if let Some((_, fleet)) = self.fleets.iter().find(|(known, _)| *known == name) {
            return fleet.clone();
        }
        let Mover::Body(body) = name.mover else { return None };
        if self.fleets.len() >= MAX_FLEETS || !name.is_bounded() {
            return None;
        }
        let entities = body.entities(name.entities, f64::from(name.millis) / 1e3, name.seed);
        let fleet = Fleet::new("fleet".into(), entities, &Rules::default()).ok().map(Arc::new);
        self.fleets.push((name, fleet.clone()));
        fleet
    }

    /// What is known of an entity about which this was said.
    pub(crate) fn of(&mut self, about: &[u8]) -> Option<Known> {
        let about = About::decode(about)?;
        let fleet = self.fleet(about.fleet)?;
        let life = about.life as usize;
        (life < fleet.lives()).then_some(Known { fleet, life, start: about.start })
    }
}

impl Known {
    /// Where it is, and where the base case says that it is, at a moment of the time that all processes have in common; nothing
    /// while it does not live.
    pub(crate) fn at(&self, unix: i64) -> Option<(Vec3, Vec3)> {
        let at = fleet_time(self.start, unix);
        Some((self.fleet.real_at(self.life, at)?, self.fleet.exported_at(self.life, at)?))
    }
}

/// The fleet's own time.
pub(crate) fn fleet_time(start: i64, unix: i64) -> GlobalTime {
    GlobalTime::ZERO + Duration::from_nanos(unix.saturating_sub(start))
}

/// The first seconds of a recorded game as a fleet that begins at zero.
pub(crate) fn read_trace(path: &Path, seconds: f64) -> Result<(FleetName, Arc<Fleet>)> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let digest = ring::digest::digest(&ring::digest::SHA256, &bytes);
    let first = digest.as_ref().first_chunk::<8>().copied().unwrap_or_default();
    let name = path.display().to_string();
    let mut entities = Trace::read(path, Cuts::default())?.truth(&name, Some(seconds), false)?;
    let begin = entities.iter().flat_map(|entity| &entity.lives).map(|life| life.span().0).min();
    let shift = begin.unwrap_or(GlobalTime::ZERO).since(GlobalTime::ZERO);
    for entity in &mut entities {
        let lives = std::mem::take(&mut entity.lives).into_iter();
        let moved = |life: evenkeel_lab::workload::Life| {
            let samples =
                life.samples().iter().map(|sample| evenkeel_lab::workload::Sample { at: sample.at - shift, ..*sample });
            evenkeel_lab::workload::Life::new(samples)
        };
        entity.lives = lives.filter_map(moved).collect();
    }
    let number = entities.len() as u32;
    let fleet = Fleet::new("trace".into(), entities, &Rules::default())?;
    let name = FleetName {
        mover: Mover::Trace,
        seed: u64::from_le_bytes(first),
        entities: number,
        millis: (seconds * 1e3).min(f64::from(u32::MAX)) as u32,
    };
    Ok((name, Arc::new(fleet)))
}
