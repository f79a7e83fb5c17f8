//! A piecewise path that owns its pieces.

use super::{Piece, SplitError, export_error};
use crate::geometry::Vec3;
use crate::motion::State;
use crate::time::GlobalTime;
use alloc::collections::{VecDeque, vec_deque};
use core::fmt;

/// A piecewise path that owns its pieces, up to a given number: the oldest make room for the newest.
///
/// ```
/// use evenkeel::{GlobalTime, Motion, Vec3, VectorNumber, path::{Path, Piece}};
/// let ms = GlobalTime::from_millis;
/// let motion = Motion::linear(Vec3::ZERO, Vec3::new(10.0, 0.0, 0.0));
/// let (mut exported, mut placed) = (Path::with_capacity(64), Path::with_capacity(64));
/// exported.push(Piece::new(ms(0), ms(0), motion, VectorNumber::new(1)))?;
/// placed.push(Piece::new(ms(200), ms(0), Motion::stationary(Vec3::ZERO), None))?;
/// assert_eq!(exported.position_at(ms(500)), Some(Vec3::new(5.0, 0.0, 0.0)));
/// assert_eq!(placed.position_at(ms(100)), None);
/// let error = exported.error_against(&placed, ms(0), ms(1_000));
/// assert!((error.before - 4.8).abs() < 1e-12); // 2 m to 10 m within 0.8 s
/// # Ok::<(), evenkeel::path::OutOfOrder>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    pieces: VecDeque<Piece>,
    capacity: usize,
}

/// A piece was to start before the last one did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfOrder {
    /// When the last piece starts.
    pub last: GlobalTime,
    /// When the refused one would.
    pub start: GlobalTime,
}

impl fmt::Display for OutOfOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a piece that starts at {} cannot follow one that starts at {}", self.start, self.last)
    }
}

impl core::error::Error for OutOfOrder {}

impl Path {
    /// A path without pieces that will hold at most `capacity` of them; at least one.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { pieces: VecDeque::new(), capacity: capacity.max(1) }
    }

    /// Adds a piece at the end. It may start together with the last one, which then never holds, but not before.
    ///
    /// # Errors
    /// [`OutOfOrder`] if it starts before the last one; the path is as it was.
    pub fn push(&mut self, piece: Piece) -> Result<(), OutOfOrder> {
        if let Some(last) = self.pieces.back().map(|last| last.start).filter(|&last| last > piece.start) {
            return Err(OutOfOrder { last, start: piece.start });
        }
        if self.pieces.len() == self.capacity {
            self.pieces.pop_front();
        }
        self.pieces.push_back(piece);
        Ok(())
    }

    /// How many pieces there are.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Whether there is no piece.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// How many pieces there may be.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The pieces, in order of their start.
    pub fn iter(&self) -> vec_deque::Iter<'_, Piece> {
        self.pieces.iter()
    }

    /// The newest piece.
    pub fn last(&self) -> Option<&Piece> {
        self.pieces.back()
    }

    /// The piece that holds at `t`; none before the first.
    pub fn piece_at(&self, t: GlobalTime) -> Option<&Piece> {
        self.pieces.iter().rev().find(|piece| piece.start <= t)
    }

    /// The state at `t`; none before the first piece.
    pub fn at(&self, t: GlobalTime) -> Option<State> {
        self.piece_at(t).map(|piece| piece.at(t))
    }

    /// The position at `t`; none before the first piece.
    pub fn position_at(&self, t: GlobalTime) -> Option<Vec3> {
        self.piece_at(t).map(|piece| piece.position_at(t))
    }

    /// The export error of a receiver that placed `placed` while this was exported: see [`export_error`].
    pub fn error_against(&self, placed: &Self, from: GlobalTime, to: GlobalTime) -> SplitError {
        export_error(self, placed, from, to)
    }
}

impl<'a> IntoIterator for &'a Path {
    type Item = &'a Piece;
    type IntoIter = vec_deque::Iter<'a, Piece>;
    fn into_iter(self) -> Self::IntoIter {
        self.pieces.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::VectorNumber;
    use crate::motion::Motion;
    use crate::path::position_on;

    fn parked(start_ms: i64, x: f64) -> Piece {
        let start = GlobalTime::from_millis(start_ms);
        Piece::new(start, start, Motion::stationary(Vec3::new(x, 0.0, 0.0)), VectorNumber::new(start_ms as u32))
    }

    #[test]
    fn the_oldest_piece_makes_room() {
        let mut path = Path::with_capacity(2);
        for i in 0..3 {
            path.push(parked(i * 100, i as f64)).unwrap();
        }
        assert_eq!(path.len(), 2);
        assert_eq!(path.position_at(GlobalTime::from_millis(50)), None);
        assert_eq!(path.position_at(GlobalTime::from_millis(150)), Some(Vec3::new(1.0, 0.0, 0.0)));
        assert_eq!(path.last().and_then(|piece| piece.vector), VectorNumber::new(200));
        assert_eq!(Path::with_capacity(0).capacity(), 1);
    }

    #[test]
    fn a_piece_cannot_start_before_the_last() {
        let mut path = Path::with_capacity(8);
        path.push(parked(100, 1.0)).unwrap();
        path.push(parked(100, 2.0)).unwrap();
        let refused = path.push(parked(99, 3.0)).unwrap_err();
        assert_eq!(refused, OutOfOrder { last: GlobalTime::from_millis(100), start: GlobalTime::from_millis(99) });
        // Of those that start together the last holds, however one asks.
        let t = GlobalTime::from_millis(100);
        assert_eq!(path.position_at(t), Some(Vec3::new(2.0, 0.0, 0.0)));
        assert_eq!(path.position_at(t), position_on(&path, t));
        assert_eq!(path.at(t).map(|state| state.position), position_on(path.iter(), t));
    }
}
