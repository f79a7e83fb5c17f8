//! Which tanks are near a line, without looking at all of them.

use super::{RADIUS, Tank};
use alloc::vec;
use alloc::vec::Vec;
use evenkeel::Vec3;

/// Cells along a side, at most: thousands of tanks, a few to a cell.
const MOST_CELLS: f64 = 64.0;
/// A cell is at least this wide, in metres: most shots then look at one to four cells.
const SMALLEST_CELL: f64 = 16.0;

/// Tanks sorted by the cell of the arena they are in.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    half_side: f64,
    cell: f64,
    side: usize,
    /// Where each cell's tanks begin in `tanks`, and where the last one's end.
    starts: Vec<u32>,
    tanks: Vec<u32>,
}

impl Grid {
    pub(super) fn new(half_side: f64) -> Self {
        let cell = (2.0 * half_side / MOST_CELLS).max(SMALLEST_CELL);
        let side = libm::ceil(2.0 * half_side / cell) as usize;
        Self { half_side, cell, side, starts: vec![0; side * side + 1], tanks: Vec::new() }
    }

    fn index(&self, x: f64) -> usize {
        let index = libm::floor((x + self.half_side) / self.cell);
        (index.max(0.0) as usize).min(self.side - 1)
    }

    fn cell_of(&self, place: Vec3) -> usize {
        self.index(place.y) * self.side + self.index(place.x)
    }

    /// Sorts the tanks by counting: each cell's end first, which every tank put into it moves to its beginning.
    pub(super) fn fill(&mut self, tanks: &[Tank]) {
        self.starts.fill(0);
        for tank in tanks {
            let cell = self.cell_of(tank.position);
            self.starts[cell] += 1;
        }
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        self.tanks.clear();
        self.tanks.resize(tanks.len(), 0);
        for (n, tank) in tanks.iter().enumerate() {
            let cell = self.cell_of(tank.position);
            self.starts[cell] -= 1;
            self.tanks[self.starts[cell] as usize] = n as u32;
        }
    }

    /// Calls for each tank that may touch the line, and perhaps for others.
    pub(super) fn near(&self, from: Vec3, to: Vec3, mut visit: impl FnMut(usize)) {
        let columns = self.index(from.x.min(to.x) - RADIUS)..=self.index(from.x.max(to.x) + RADIUS);
        for row in self.index(from.y.min(to.y) - RADIUS)..=self.index(from.y.max(to.y) + RADIUS) {
            let first = self.starts[row * self.side + columns.start()];
            let end = self.starts[row * self.side + columns.end() + 1];
            self.tanks[first as usize..end as usize].iter().for_each(|&n| visit(n as usize));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Draws;

    #[test]
    fn nobody_near_is_overlooked() {
        let mut draws = Draws::new(1, 1);
        let mut place = || Vec3::new(draws.between(-150.0, 150.0), draws.between(-150.0, 150.0), 0.0);
        let tanks: Vec<Tank> = (0..300).map(|_| Tank::new(place(), 0.0)).collect();
        let mut grid = Grid::new(150.0);
        grid.fill(&tanks);
        for _ in 0..300 {
            let (from, to) = (place(), place());
            let mut seen = vec![0; tanks.len()];
            grid.near(from, to, |n| seen[n] += 1);
            for (tank, seen) in tanks.iter().zip(seen) {
                let touched = crate::touch::circle(from, to, tank.position, RADIUS).is_some();
                assert!(seen <= 1 && (seen == 1 || !touched));
            }
        }
    }
}
