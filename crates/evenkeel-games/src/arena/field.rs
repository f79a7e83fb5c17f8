//! The walls of the arena.

use super::RADIUS;
use crate::touch;
use alloc::vec::Vec;
use evenkeel::Vec3;

/// A box on the ground that nothing drives or shoots through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Obstacle {
    /// Its south-western corner.
    pub low: Vec3,
    /// Its north-eastern corner.
    pub high: Vec3,
}

impl Obstacle {
    fn around(x: f64, y: f64, half_width: f64, half_depth: f64) -> Self {
        let (centre, half) = (Vec3::new(x, y, 0.0), Vec3::new(half_width, half_depth, 0.0));
        Self { low: centre - half, high: centre + half }
    }

    /// Whether something of this radius at this place gets into it.
    fn holds(&self, place: Vec3, radius: f64) -> bool {
        let within = |x: f64, low: f64, high: f64| x > low - radius && x < high + radius;
        within(place.x, self.low.x, self.high.x) && within(place.y, self.low.y, self.high.y)
    }
}

/// A square with a wall around it and a few boxes in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    half_side: f64,
    obstacles: Vec<Obstacle>,
}

impl Field {
    /// One box in the middle, four around it that break the long views, and four walls to hide behind, all in proportion.
    pub fn new(half_side: f64) -> Self {
        let layout = [
            (0.0, 0.0, 0.08, 0.08),
            (0.45, 0.45, 0.05, 0.12),
            (-0.45, 0.45, 0.12, 0.05),
            (-0.45, -0.45, 0.05, 0.12),
            (0.45, -0.45, 0.12, 0.05),
            (0.72, 0.0, 0.04, 0.2),
            (0.0, 0.72, 0.2, 0.04),
            (-0.72, 0.0, 0.04, 0.2),
            (0.0, -0.72, 0.2, 0.04),
        ];
        let scaled =
            layout.map(|(x, y, w, d)| Obstacle::around(x * half_side, y * half_side, w * half_side, d * half_side));
        Self { half_side, obstacles: scaled.into() }
    }

    /// Half the side of the square, whose middle is the origin. Metres.
    pub fn half_side(&self) -> f64 {
        self.half_side
    }

    /// The boxes.
    pub fn obstacles(&self) -> &[Obstacle] {
        &self.obstacles
    }

    /// Whether a tank cannot be at a place.
    pub fn blocks(&self, place: Vec3) -> bool {
        place.max_axis() > self.half_side - RADIUS
            || self.obstacles.iter().any(|obstacle| obstacle.holds(place, RADIUS))
    }

    /// How far along the line from one point to another, 0 to 1, it meets a wall; nothing if the way is free.
    pub fn meets(&self, from: Vec3, to: Vec3) -> Option<f64> {
        let boxes = self.obstacles.iter().filter_map(|o| touch::block(from, to, o.low, o.high));
        boxes.chain(self.leaves(from, to)).min_by(f64::total_cmp)
    }

    /// How far along the line it leaves the square.
    fn leaves(&self, from: Vec3, to: Vec3) -> Option<f64> {
        let axis = |from: f64, to: f64| {
            let out = libm::fabs(to) - self.half_side;
            (out > 0.0).then(|| (1.0 - out / libm::fabs(to - from)).max(0.0))
        };
        axis(from.x, to.x).into_iter().chain(axis(from.y, to.y)).min_by(f64::total_cmp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tanks_keep_their_radius_from_walls() {
        let field = Field::new(100.0);
        let at = |x: f64, y: f64| field.blocks(Vec3::new(x, y, 0.0));
        assert!(at(0.0, 0.0) && at(10.9, 0.0) && !at(11.0, 0.0), "the box in the middle");
        assert!(at(0.0, -97.1) && !at(0.0, -97.0), "the wall");
    }

    #[test]
    fn lines_meet_the_nearest_wall() {
        let field = Field::new(100.0);
        let line = |from: [f64; 3], to: [f64; 3]| field.meets(from.into(), to.into());
        assert_eq!(line([-28.0, 0.0, 0.0], [12.0, 0.0, 0.0]), Some(0.5));
        assert_eq!(line([90.0, 90.0, 0.0], [110.0, 90.0, 0.0]), Some(0.5));
        assert_eq!(line([20.0, 20.0, 0.0], [20.0, -20.0, 0.0]), None);
    }
}
