//! What a player owns: a fleet, driven in real time.

use super::about::{About, FleetName};
use super::truth::fleet_time;
use super::wall::Wall;
use anyhow::{Result, anyhow};
use evenkeel::{Duration, EntityConfig, EntityId};
use evenkeel_lab::workload::FRAME;
use evenkeel_lab::world::{Fleet, Rules};
use evenkeel_net::Client;
use evenkeel_net::seat::SeatError;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Entities are made so long before they move: whoever is to see them knows of them by then.
const AHEAD: Duration = Duration::from_millis(500);

/// A fleet at the wheel.
pub(super) struct Bots {
    name: FleetName,
    fleet: Arc<Fleet>,
    start: i64,
    /// Frames that are over.
    frames: i64,
    /// Lives in order of their beginnings; those before this have been made.
    next: usize,
    alive: BTreeMap<usize, EntityId>,
}

impl Bots {
    pub(super) fn new(name: FleetName, fleet: Arc<Fleet>, start: i64) -> Self {
        Self { name, fleet, start, frames: 0, next: 0, alive: BTreeMap::new() }
    }

    /// When to call [`drive`](Self::drive) again.
    pub(super) fn due(&self) -> i64 {
        self.start.saturating_add(FRAME.as_nanos().saturating_mul(self.frames))
    }

    /// Whether everything has come to its end.
    pub(super) fn is_over(&self) -> bool {
        self.next == self.fleet.lives() && self.alive.is_empty()
    }

    /// Tells the session where everything is now.
    pub(super) fn drive(&mut self, client: &Client, wall: &Wall) -> Result<()> {
        // A frame that was missed is missed: what counts is where things are now.
        let now = fleet_time(self.start, wall.now());
        self.frames = now.since(fleet_time(0, 0)).as_nanos().div_euclid(FRAME.as_nanos()) + 1;
        while self.next < self.fleet.lives() && self.fleet.life_span(self.next).0 - AHEAD <= now {
            self.make(client, self.next)?;
            self.next += 1;
        }
        let over: Vec<usize> = self.alive.keys().copied().filter(|life| self.fleet.life_span(*life).1 < now).collect();
        for life in over {
            if let Some(entity) = self.alive.remove(&life) {
                forgive(client.unmake(entity))?;
            }
        }
        for (life, entity) in &self.alive {
            let observed = client.with(|seat, local| {
                // As late as possible: nothing comes between this moment and the stamp.
                match self.fleet.pose_at(*life, fleet_time(self.start, wall.now())) {
                    Some(pose) => seat.observe(*entity, pose, local),
                    None => Ok(()),
                }
            });
            forgive(observed)?;
        }
        Ok(())
    }

    fn make(&mut self, client: &Client, life: usize) -> Result<()> {
        let about = About { fleet: self.name, life: life as u32, start: self.start };
        let config = EntityConfig::from(Rules::default().threshold);
        let made = client.make(config, about.encode()).map_err(|error| anyhow!("an entity cannot be made: {error}"))?;
        self.alive.insert(life, made);
        Ok(())
    }
}

/// While the session's time is being found again, or the connection is lost, things move on unseen.
fn forgive(result: Result<(), SeatError>) -> Result<()> {
    match result {
        Ok(()) | Err(SeatError::NotReady | SeatError::Lost) => Ok(()),
        Err(error) => Err(anyhow!("an entity cannot be moved: {error}")),
    }
}
