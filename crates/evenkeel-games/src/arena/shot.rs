//! Shots under way.

use super::grid::Grid;
use super::{Field, RADIUS, SHOT_SPEED, Tank};
use crate::touch;
use core::hash::Hasher;
use evenkeel::{HostId, Vec3};

/// A shot under way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shot {
    /// Who fired it.
    pub shooter: HostId,
    /// Its number among the shooter's, from 1.
    pub number: u32,
    /// Where it is. Metres.
    pub position: Vec3,
    /// Metres per second.
    pub velocity: Vec3,
    /// Steps until it is gone.
    pub left: u32,
}

/// A shot meets a tank.
pub(super) struct Strike {
    /// When in the step, 0 to 1.
    pub(super) along: f64,
    pub(super) shooter: u32,
    pub(super) shot: u32,
    pub(super) target: usize,
}

impl Shot {
    pub(super) fn from_muzzle(shooter: u32, tank: &Tank, left: u32) -> Self {
        let ahead = Vec3::from_heading(tank.heading);
        // A tank keeps this far from walls: the muzzle is never inside one.
        let position = tank.position + ahead * RADIUS;
        Self { shooter: HostId(shooter), number: tank.fired, position, velocity: ahead * SHOT_SPEED, left }
    }

    pub(super) fn is_under_way(&self) -> bool {
        self.left > 0
    }

    /// Flies for a step, and answers the tank it strikes, if any. It ends there, at a wall, or when its time is over.
    pub(super) fn fly(&mut self, dt: f64, field: &Field, grid: &Grid, tanks: &[Tank]) -> Option<Strike> {
        let (from, to) = (self.position, self.position + self.velocity * dt);
        self.position = to;
        self.left = self.left.saturating_sub(1);
        let wall = field.meets(from, to);
        if wall.is_some() {
            self.left = 0;
        }
        let (shooter, shot) = (self.shooter.0, self.number);
        let (along, target) = self.nearest(from, to, grid, tanks)?;
        if wall.is_some_and(|wall| wall < along) {
            return None;
        }
        self.left = 0;
        Some(Strike { along, shooter, shot, target })
    }

    fn nearest(&self, from: Vec3, to: Vec3, grid: &Grid, tanks: &[Tank]) -> Option<(f64, usize)> {
        let mut nearest: Option<(f64, usize)> = None;
        grid.near(from, to, |n| {
            let tank = &tanks[n];
            if n as u32 == self.shooter.0 || !tank.is_alive() {
                return;
            }
            if let Some(along) = touch::circle(from, to, tank.position, RADIUS) {
                // By number where two are equally near, whatever order the grid has them in.
                let nearer = nearest.is_none_or(|(best, m)| (along, n) < (best, m));
                nearest = if nearer { Some((along, n)) } else { nearest };
            }
        });
        nearest
    }

    pub(super) fn write(&self, hasher: &mut dyn Hasher) {
        hasher.write_u32(self.shooter.0);
        hasher.write_u32(self.number);
        hasher.write_u32(self.left);
        for number in [self.position.x, self.position.y, self.velocity.x, self.velocity.y] {
            hasher.write_u64(number.to_bits());
        }
    }
}
